/// Owns the file of a trace, and the thread that writes it.
#define _GNU_SOURCE // O_CLOEXEC, pthread_cond_timedwait, gmtime_r

#include "common/programs/trace_file.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "common/programs/thread.h"
#include "common/programs/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    BUFFER_SIZE = 1 << 16,
    RECORD_SIZE = 2048,     ///< bytes of a record's line, at most
    END_SIZE = 256,         ///< bytes that the end of the file takes, at most
    WRITE_EVERY_US = 50000, ///< between two searches for records
    CLOSE_EACH_US = 1000,   ///< between two checks whether the thread has ended
    MODE = 0640,
    PROCESS = 1, ///< number of the process in the file
};

static const uint64_t EXACT_MAX = UINT64_C(1) << 53;

/// A track of the trace.
struct listed {
    struct hc_trace_track track;
    uint32_t number;
    uint64_t dropped; ///< drops that the file mentions
    uint64_t last_ns; ///< begin of the newest record in the file
    struct listed *next;
};

/// The work that the thread is ordered to do.
struct order {
    bool begins, ends, closes;
    int descriptor;
    uint64_t limit, began_ns;
    char path[PATH_SIZE];
};

/// The present file, of the thread.
struct file {
    int descriptor; ///< -1: none
    uint64_t limit, began_ns;
    uint64_t size;    ///< bytes in the file, whole records
    uint64_t records; ///< spans and moments in it
    uint64_t dropped;
    bool is_late;
    size_t used; ///< bytes in `buffer`, whole records
    char buffer[BUFFER_SIZE];
    char path[PATH_SIZE];
};

struct hc_trace {
    struct hc_trace_config config;
    atomic_bool on;
    struct listed *tracks;
    pthread_t thread;
    atomic_bool ended;
    pthread_mutex_t lock;
    pthread_cond_t ordered;
    struct order order; ///< locked
    struct file file;
};

// ---- Reports
// ---------------------------------------------------------------------------------------

static void report_as(struct hc_trace *trace, enum hc_trace_report_kind kind, const char *why) {
    const struct file *file = &trace->file;
    const struct hc_trace_report report = {.kind = kind,
                                           .path = file->path,
                                           .why = why,
                                           .bytes = file->size,
                                           .records = file->records,
                                           .dropped = file->dropped};
    if (trace->config.reported != NULL)
        trace->config.reported(trace->config.context, &report);
}

// ---- Lines --------------------------------------------------------------------------------------

/// A line that is being made.
struct line {
    char text[RECORD_SIZE];
    size_t size; ///< at most what a snprintf has wanted to write
};

__attribute__((format(printf, 2, 3))) static void print(struct line *line, const char *format,
                                                        ...) {
    va_list arguments;
    size_t room = line->size < sizeof(line->text) ? sizeof(line->text) - line->size : 0;
    va_start(arguments, format);
    int size = vsnprintf(line->text + sizeof(line->text) - room, room, format, arguments);
    va_end(arguments);
    line->size += size > 0 ? (size_t)size : 0;
}

/// Prints a text as a string of JSON.
static void print_text(struct line *line, const char *text) {
    print(line, "\"");
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter < ' ' || letter == '"' || letter == '\\')
            print(line, "\\u%04x", letter);
        else
            print(line, "%c", *text);
    }
    print(line, "\"");
}

/// Begins an event of a track at `ns` after the file began.
static void begin_event(struct line *line, const char *name, const char *phase, uint32_t track) {
    line->size = 0;
    print(line, "{\"name\":");
    print_text(line, name);
    print(line, ",\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32, phase, PROCESS, track);
}

static void print_time(struct line *line, const char *key, uint64_t ns) {
    print(line, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

/// Makes the line of a record.
static void make_line(struct line *line, const struct hc_trace_record *record, uint32_t track,
                      uint64_t began_ns) {
    begin_event(line, record->name, record->is_moment ? "i" : "X", track);
    print_time(line, "ts", record->begin_ns - began_ns);
    if (record->is_moment)
        print(line, ",\"s\":\"t\"");
    else
        print_time(line, "dur", record->duration_ns);
    for (unsigned i = 0; i < record->count; i++) {
        const struct hc_trace_argument *argument = &record->arguments[i];
        print(line, i == 0 ? ",\"args\":{" : ",");
        print_text(line, argument->key);
        print(line, ":");
        if (argument->text != NULL)
            print_text(line, argument->text);
        else // not every reader reads greater numbers exactly
            print(line, argument->number <= EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"",
                  argument->number);
    }
    print(line, record->count > 0 ? "}}" : "}");
}

/// Makes an event of metadata: `name` of a track has the value `key`: "text".
static void make_metadata(struct line *line, const char *name, uint32_t track, const char *key,
                          const char *text) {
    begin_event(line, name, "M", track);
    print(line, ",\"args\":{\"%s\":", key);
    print_text(line, text);
    print(line, "}}");
}

// ---- Writing ------------------------------------------------------------------------------------

/// Ends the file as it stands, with the last record that is whole.
static void finish(struct hc_trace *trace, enum hc_trace_report_kind kind, const char *why) {
    static const char end[] = "\n]\n";
    struct file *file = &trace->file;
    atomic_store(&trace->on, false);
    if (hc_write_all(file->descriptor, end, strlen(end)))
        file->size += strlen(end);
    close(file->descriptor);
    file->descriptor = -1;
    file->used = 0;
    report_as(trace, kind, why);
}

/// Writes the buffer; false: the file has ended, because it cannot be written.
static bool flush(struct hc_trace *trace) {
    struct file *file = &trace->file;
    char why[HC_TRACE_WHY_MAX];
    if (hc_write_all(file->descriptor, file->buffer, file->used)) {
        file->size += file->used;
        file->used = 0;
        return true;
    }
    snprintf(why, sizeof(why), "'%s': %s", file->path, strerror(errno));
    // A part of the buffer may be there.
    if (ftruncate(file->descriptor, (off_t)file->size) == 0)
        (void)lseek(file->descriptor, (off_t)file->size, SEEK_SET);
    finish(trace, HC_TRACE_REPORT_FAILED, why);
    return false;
}

/// Adds a line to the file; false: the file has ended.
static bool add_line(struct hc_trace *trace, struct line *line) {
    struct file *file = &trace->file;
    bool first = file->size + file->used == 0;
    if (line->size >= sizeof(line->text))
        return true; // no record has so long texts
    if (file->size + file->used + line->size + END_SIZE > file->limit) {
        if (flush(trace))
            finish(trace, HC_TRACE_REPORT_FULL, NULL);
        return false;
    }
    if (file->used + line->size + 2 > sizeof(file->buffer) && !flush(trace))
        return false;
    memcpy(file->buffer + file->used, first ? "[\n" : ",\n", 2);
    memcpy(file->buffer + file->used + 2, line->text, line->size);
    file->used += 2 + line->size;
    return true;
}

/// Adds a moment that counts the records of a track that were dropped since the last one.
static bool add_dropped(struct hc_trace *trace, struct listed *listed) {
    uint64_t dropped = atomic_load_explicit(&listed->track.dropped, memory_order_relaxed);
    if (dropped == listed->dropped)
        return true;
    struct hc_trace_record record = {
        .name = "dropped",
        .is_moment = true,
        .begin_ns = listed->last_ns,
        .count = 1,
        .arguments = {{.key = "records", .number = dropped - listed->dropped}}};
    struct line line;
    trace->file.dropped += dropped - listed->dropped;
    listed->dropped = dropped;
    make_line(&line, &record, listed->number, trace->file.began_ns);
    if (!trace->file.is_late)
        report_as(trace, HC_TRACE_REPORT_LATE, NULL);
    trace->file.is_late = true;
    return add_line(trace, &line);
}

/// Writes the records of a track; false: the file has ended. Those from before the file are left
/// out.
static bool add_records(struct hc_trace *trace, struct listed *listed) {
    struct file *file = &trace->file;
    const struct hc_trace_record *record;
    struct line line;
    while ((record = hc_trace_track_next(&listed->track)) != NULL) {
        bool is_new = record->begin_ns >= file->began_ns;
        if (is_new) {
            listed->last_ns = record->begin_ns;
            make_line(&line, record, listed->number, file->began_ns);
        }
        hc_trace_track_take(&listed->track);
        if (is_new && !add_line(trace, &line))
            return false;
        file->records += is_new;
    }
    return add_dropped(trace, listed);
}

/// Writes all records that are made; false: the file has ended.
static bool add_all(struct hc_trace *trace) {
    for (struct listed *listed = trace->tracks; listed != NULL; listed = listed->next)
        if (!add_records(trace, listed))
            return false;
    return trace->file.used == 0 || flush(trace);
}

// ---- Files --------------------------------------------------------------------------------------

int hc_trace_create_file(const char *path, bool overwrites, char why[static HC_TRACE_WHY_MAX]) {
    struct stat facts;
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int descriptor = open(path, flags | (overwrites ? 0 : O_EXCL), MODE);
    if (descriptor < 0) {
        snprintf(why, HC_TRACE_WHY_MAX, "'%s': %s", path, strerror(errno));
        return -1;
    }
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && ftruncate(descriptor, 0) == 0)
        return descriptor;
    snprintf(why, HC_TRACE_WHY_MAX, "'%s': it is no regular file", path);
    close(descriptor);
    return -1;
}

bool hc_trace_begin_at(struct hc_trace *trace, const char *path, uint64_t limit,
                       char why[static HC_TRACE_WHY_MAX]) {
    char cause[HC_TRACE_WHY_MAX];
    int descriptor = hc_trace_create_file(path, true, cause);
    if (descriptor >= 0)
        hc_trace_begin_file(trace, path, descriptor, limit);
    else
        snprintf(why, HC_TRACE_WHY_MAX, "--trace %.*s", HC_TRACE_WHY_MAX - 20, cause);
    return descriptor >= 0;
}

void hc_trace_print_report(void *context, const struct hc_trace_report *report) {
    const char *program = context;
    if (report->kind == HC_TRACE_REPORT_FAILED)
        fprintf(stderr, "%s: --trace %s\n", program, report->why);
    else if (report->kind == HC_TRACE_REPORT_FULL)
        fprintf(stderr, "%s: --trace '%s': it has reached --trace-limit, and ends\n", program,
                report->path);
    else if (report->kind == HC_TRACE_REPORT_LATE)
        fprintf(stderr, "%s: --trace '%s': it takes records too slowly, and some are left out\n",
                program, report->path);
}

/// Writes the names of the program and of the tracks; false: the file has ended.
static bool add_names(struct hc_trace *trace) {
    char label[100], now[40];
    struct line line;
    struct tm parts;
    time_t seconds = time(NULL);
    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    snprintf(label, sizeof(label), "%s, from %s on", trace->config.version, now);
    make_metadata(&line, "process_name", 0, "name", trace->config.program);
    bool good = add_line(trace, &line);
    make_metadata(&line, "process_labels", 0, "labels", label);
    good = good && add_line(trace, &line);
    for (struct listed *listed = trace->tracks; good && listed != NULL; listed = listed->next) {
        make_metadata(&line, "thread_name", listed->number, "name", listed->track.name);
        good = add_line(trace, &line);
    }
    return good;
}

/// Begins the file of an order.
static void begin_file(struct hc_trace *trace, const struct order *order) {
    struct file *file = &trace->file;
    char why[HC_TRACE_WHY_MAX];
    file->limit = order->limit;
    file->size = file->records = file->dropped = file->used = 0;
    file->is_late = false;
    snprintf(file->path, sizeof(file->path), "%s", order->path);
    file->descriptor =
        order->descriptor >= 0 ? order->descriptor : hc_trace_create_file(order->path, false, why);
    if (file->descriptor < 0) {
        report_as(trace, HC_TRACE_REPORT_FAILED, why);
        return;
    }
    file->began_ns = order->descriptor >= 0 ? order->began_ns : hc_clock_ns();
    for (struct listed *listed = trace->tracks; listed != NULL; listed = listed->next) {
        listed->dropped = atomic_load(&listed->track.dropped);
        listed->last_ns = file->began_ns;
    }
    report_as(trace, HC_TRACE_REPORT_BEGAN, NULL);
    atomic_store(&trace->on, true);
    if (add_names(trace))
        (void)flush(trace);
}

static void end_file(struct hc_trace *trace) {
    if (trace->file.descriptor < 0)
        return;
    atomic_store(&trace->on, false);
    if (add_all(trace))
        finish(trace, HC_TRACE_REPORT_ENDED, NULL);
}

// ---- The thread ---------------------------------------------------------------------------------

/// Waits for an order, while there is a file for some time only, and takes it.
static struct order take_order(struct hc_trace *trace) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)WRITE_EVERY_US * 1000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&trace->lock);
    struct order *order = &trace->order;
    int status = 0;
    while (!order->begins && !order->ends && !order->closes && status == 0)
        status = trace->file.descriptor >= 0
                     ? pthread_cond_timedwait(&trace->ordered, &trace->lock, &until)
                     : pthread_cond_wait(&trace->ordered, &trace->lock);
    struct order taken = *order;
    order->begins = order->ends = false;
    pthread_mutex_unlock(&trace->lock);
    return taken;
}

static void *run(void *context) {
    struct hc_trace *trace = context;
    struct order order;
    do {
        order = take_order(trace);
        if (order.begins || order.ends || order.closes)
            end_file(trace);
        else
            (void)add_all(trace);
        if (order.begins)
            begin_file(trace, &order);
    } while (!order.closes || order.begins);
    atomic_store(&trace->ended, true);
    return NULL;
}

// ---- Lifecycle ----------------------------------------------------------------------------------

static void free_trace(struct hc_trace *trace) {
    for (struct listed *listed = trace->tracks, *next; listed != NULL; listed = next) {
        next = listed->next;
        hc_trace_track_close(&listed->track);
        free(listed);
    }
    pthread_cond_destroy(&trace->ordered);
    pthread_mutex_destroy(&trace->lock);
    free(trace);
}

struct hc_trace *hc_trace_open(const struct hc_trace_config *config) {
    struct hc_trace *trace = calloc(1, sizeof(*trace));
    pthread_condattr_t monotonic;
    if (trace == NULL)
        return NULL;
    trace->config = *config;
    trace->file.descriptor = -1;
    pthread_mutex_init(&trace->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&trace->ordered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (hc_thread_start(&trace->thread, run, trace))
        return trace;
    free_trace(trace);
    return NULL;
}

struct hc_trace_track *hc_trace_add(struct hc_trace *trace, uint32_t number, uint32_t capacity,
                                    const char *name) {
    struct listed *listed = calloc(1, sizeof(*listed)), **last = &trace->tracks;
    if (listed == NULL || !hc_trace_track_open(&listed->track, &trace->on, capacity, name)) {
        free(listed);
        return NULL;
    }
    listed->number = number;
    while (*last != NULL)
        last = &(*last)->next;
    *last = listed;
    return &listed->track;
}

/// Gives the thread an order. One to begin a file replaces one that it has not taken yet.
static void give(struct hc_trace *trace, const struct order *order) {
    pthread_mutex_lock(&trace->lock);
    struct order *present = &trace->order;
    if ((order->begins || order->ends) && present->begins) {
        if (present->descriptor >= 0)
            close(present->descriptor);
        present->begins = false;
    }
    bool closes = present->closes;
    if (order->begins)
        *present = *order;
    present->closes = closes;
    present->ends |= order->ends;
    present->closes |= order->closes;
    pthread_cond_signal(&trace->ordered);
    pthread_mutex_unlock(&trace->lock);
}

void hc_trace_begin_file(struct hc_trace *trace, const char *path, int descriptor, uint64_t limit) {
    struct order order = {
        .begins = true, .descriptor = descriptor, .limit = limit, .began_ns = hc_clock_ns()};
    snprintf(order.path, sizeof(order.path), "%s", path);
    if (descriptor >= 0)
        atomic_store(&trace->on, true); // what follows at once is in the file, too
    give(trace, &order);
}

void hc_trace_end_file(struct hc_trace *trace) {
    give(trace, &(const struct order){.ends = true});
}

bool hc_trace_close(struct hc_trace *trace, unsigned wait_ms) {
    if (trace == NULL)
        return true;
    uint64_t began_us = hc_clock_us();
    give(trace, &(const struct order){.closes = true});
    while (!atomic_load(&trace->ended)) {
        if (hc_since(began_us, hc_clock_us()) >= (uint64_t)wait_ms * 1000)
            return false;
        hc_clock_sleep(CLOSE_EACH_US);
    }
    pthread_join(trace->thread, NULL);
    free_trace(trace);
    return true;
}
