/// Owns the format of a log line and the counts of lines that are missing.
#define _GNU_SOURCE // getrandom

#include "server/daemon/log.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "hindcast/check.h"
#include "server/daemon/wall_clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum {
    SUPPRESSED_US = 10000000, ///< interval of the lines that count suppressed lines
    CLOSE_MS = 200,           ///< longest wait for the reader when the log closes
    CLIENT_MAX = 80,          ///< bytes of a client's name
};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/// The priorities of syslog (RFC 5424): err, warning, info and debug.
static const unsigned priorities[] = {3, 4, 6, 7};

static const struct hc_sv_log_rates normal_rates = {.all = {256, 250000}, .client = {8, 20000000}};
static const struct hc_sv_log_rates debug_rates = {.all = {512, 15625}, .client = {64, 125000}};
static const struct hc_sv_log_rates report_rates = {.all = {4, 1000000}};

/// A line while it is formatted.
struct line {
    size_t size;
    bool full; ///< the line is too long
    char text[HC_SV_LOG_LINE_MAX];
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    size_t room = sizeof(line->text) - line->size;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line->text + line->size, room, format, arguments);
    va_end(arguments);
    line->full |= size < 0 || (size_t)size >= room;
    line->size += line->full ? 0 : (size_t)size;
}

static void add_json(struct line *line, const json_t *value) {
    size_t room = sizeof(line->text) - line->size;
    size_t size =
        json_dumpb(value, line->text + line->size, room,
                   JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(9));
    line->full |= size == 0 || size > room;
    line->size += line->full ? 0 : size;
}

/// Whether a string needs no quotes in a line of key=value.
static bool plain(const char *text) {
    return *text != '\0' &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_.:[]/+")] == '\0';
}

static void make_text(struct line *line, const char *time_text, const char *level,
                      const char *event, const json_t *fields) {
    const char *key;
    json_t *value;
    add(line, "%s %-5s %s", time_text, level, event);
    json_object_foreach((json_t *)fields, key, value) {
        add(line, " %s=", key);
        if (json_is_string(value) && plain(json_string_value(value)))
            add(line, "%s", json_string_value(value));
        else
            add_json(line, value);
    }
}

static void make_json(struct line *line, const char *time_text, const char *level,
                      const char *event, json_t *fields) {
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "time", time_text, "level", level, "event", event);
    json_object_update_missing(object, fields);
    add_json(line, object);
    json_decref(object);
}

static void write_line(struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                       json_t *fields) {
    struct line line;
    char time_text[40];
    hc_sv_wall_clock_format(time_text, sizeof(time_text));
    json_t *none = json_pack("{s:b}", "truncated", 1), *tried[] = {fields, none};
    for (unsigned i = 0; i < 2; i++) {
        line.size = 0;
        line.full = false;
        if (log->has_priorities)
            add(&line, "<%u>", priorities[level]);
        if (log->format == HC_SV_LOG_JSON)
            make_json(&line, time_text, level_names[level], event, tried[i]);
        else
            make_text(&line, time_text, level_names[level], event, tried[i]);
        add(&line, "\n");
        if (!line.full)
            break;
    }
    if (!line.full)
        hc_sv_log_output_put(&log->output, line.text, line.size);
    json_decref(none);
}

/// Writes how many lines were dropped, once there is room again.
static void write_dropped(struct hc_sv_log *log) {
    uint64_t count = hc_sv_log_output_take_dropped(&log->output);
    if (count == 0)
        return;
    json_t *fields = json_pack("{s:I}", "count", (json_int_t)count);
    write_line(log, HC_SV_LOG_WARN, "log-dropped", fields);
    json_decref(fields);
}

/// Writes how many lines of each kind were suppressed.
static void write_suppressed(struct hc_sv_log *log) {
    const char *kind;
    uint64_t count;
    if (log->output.dropped > 0)
        return; // these lines would be dropped too
    while ((kind = hc_sv_log_limit_take_suppressed(&log->limit, &count)) != NULL) {
        json_t *fields = json_pack("{s:s, s:I}", "kind", kind, "count", (json_int_t)count);
        write_line(log, HC_SV_LOG_WARN, "log-suppressed", fields);
        json_decref(fields);
    }
}

/// The name of the line's client; NULL: none. An address counts without its port, because a client
/// may use many ports.
static const char *client_of(const json_t *fields, char text[static CLIENT_MAX]) {
    static const char *const keys[] = {"user", "client_id", "cid", "address"};
    for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const json_t *value = json_object_get(fields, keys[i]);
        if (json_is_integer(value)) {
            snprintf(text, CLIENT_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
            return text;
        }
        if (!json_is_string(value))
            continue;
        snprintf(text, CLIENT_MAX, "%s", json_string_value(value));
        char *port = strcmp(keys[i], "address") == 0 ? strrchr(text, ':') : NULL;
        if (port != NULL)
            *port = '\0';
        return text;
    }
    return NULL;
}

bool hc_sv_log_is_journal(int descriptor) {
    const char *stream = getenv("JOURNAL_STREAM");
    uintmax_t device, inode;
    struct stat status;
    char end;
    return stream != NULL && sscanf(stream, "%ju:%ju%c", &device, &inode, &end) == 2 &&
           fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

void hc_sv_log_open(struct hc_sv_log *log, enum hc_sv_log_level level, enum hc_sv_log_format format,
                    int descriptor) {
    memset(log, 0, sizeof(*log));
    atomic_init(&log->level, level);
    log->format = format;
    pthread_mutex_init(&log->lock, NULL);
    log->suppressed_us = hc_clock_us();
    if (getrandom(&log->limit.seed, sizeof(log->limit.seed), GRND_NONBLOCK) < 0)
        log->limit.seed = log->suppressed_us;
    log->has_priorities = hc_sv_log_is_journal(descriptor);
    hc_sv_log_output_open(&log->output, descriptor);
}

void hc_sv_log_redirect(struct hc_sv_log *log, int descriptor) {
    pthread_mutex_lock(&log->lock);
    log->has_priorities = hc_sv_log_is_journal(descriptor);
    hc_sv_log_output_redirect(&log->output, descriptor);
    pthread_mutex_unlock(&log->lock);
}

void hc_sv_log_set_level(struct hc_sv_log *log, enum hc_sv_log_level level) {
    atomic_store_explicit(&log->level, level, memory_order_relaxed);
}

bool hc_sv_log_takes_report(struct hc_sv_log *log) {
    pthread_mutex_lock(&log->lock);
    bool takes = hc_sv_log_limit_allows(&log->limit, &report_rates, "report", NULL, hc_clock_us());
    pthread_mutex_unlock(&log->lock);
    return takes;
}

/// Whether the fields have none of the keys of every line, which they would hide.
static bool are_other_keys(const json_t *fields) {
    return json_object_get(fields, "time") == NULL && json_object_get(fields, "level") == NULL &&
           json_object_get(fields, "event") == NULL;
}

void hc_sv_log_event(struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                     json_t *fields) {
    char client[CLIENT_MAX];
    HC_ASSERT(are_other_keys(fields));
    const struct hc_sv_log_rates *rates = level == HC_SV_LOG_DEBUG ? &debug_rates : &normal_rates;
    pthread_mutex_lock(&log->lock);
    if (hc_sv_log_takes(log, level) &&
        hc_sv_log_limit_allows(&log->limit, rates, event, client_of(fields, client),
                               hc_clock_us())) {
        write_dropped(log);
        write_line(log, level, event, fields);
    }
    pthread_mutex_unlock(&log->lock);
    json_decref(fields);
}

bool hc_sv_log_text(struct hc_sv_log *log, const char *text, size_t size) {
    pthread_mutex_lock(&log->lock);
    write_dropped(log);
    bool good = hc_sv_log_output_put(&log->output, text, size);
    pthread_mutex_unlock(&log->lock);
    return good;
}

void hc_sv_log_advance(struct hc_sv_log *log) {
    uint64_t now_us = hc_clock_us();
    pthread_mutex_lock(&log->lock);
    write_dropped(log);
    hc_sv_log_output_flush(&log->output);
    if (hc_since(log->suppressed_us, now_us) >= SUPPRESSED_US) {
        log->suppressed_us = now_us;
        write_suppressed(log);
    }
    pthread_mutex_unlock(&log->lock);
}

void hc_sv_log_finish(struct hc_sv_log *log) {
    pthread_mutex_lock(&log->lock);
    hc_sv_log_output_wait(&log->output, CLOSE_MS);
    write_dropped(log);
    write_suppressed(log);
    pthread_mutex_unlock(&log->lock);
}

void hc_sv_log_close(struct hc_sv_log *log) {
    hc_sv_log_finish(log);
    hc_sv_log_output_close(&log->output);
    pthread_mutex_destroy(&log->lock);
}
