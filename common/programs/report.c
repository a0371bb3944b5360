/// Owns the form of JSON values, verdicts and lines in reports.
#define _GNU_SOURCE // getrusage

#include "common/programs/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    LABEL_COLUMNS = 18,
    TEXT_MAX = 512,
    OVER_BUDGET_ONE_IN = 1000, ///< an OK run has at most one tick in this many over budget
};

json_t *hc_report_ratio(double part, double whole) {
    return whole > 0 ? json_real(part / whole) : json_null();
}

json_t *hc_report_unknown(const char *const *keys) {
    json_t *object = json_object();
    for (; *keys != NULL; keys++)
        json_object_set_new(object, *keys, json_null());
    return object;
}

json_t *hc_report_unknown_histogram(void) {
    return hc_report_unknown((const char *const[]){"p50", "p90", "p99", "max", "count", NULL});
}

json_t *hc_report_histogram(const struct hc_histogram *values, double unit) {
    static const struct {
        const char *key;
        uint32_t permille;
    } rows[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"max", 1000}};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint64_t value = hc_histogram_percentile(values, rows[i].permille);
        json_object_set_new(object, rows[i].key,
                            values->count == 0 ? json_null()
                            : unit > 1         ? json_real((double)value / unit)
                                               : json_integer((json_int_t)value));
    }
    json_object_set_new(object, "count", json_integer((json_int_t)values->count));
    return object;
}

json_t *hc_report_rejected(const uint64_t counts[HC_STATUS_COUNT]) {
    json_t *object = json_object();
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        if (counts[i] > 0)
            json_object_set_new(object, hc_status_text((enum hc_status)i),
                                json_integer((json_int_t)counts[i]));
    return object;
}

uint64_t hc_report_cpu_us(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// ---- Verdict ------------------------------------------------------------------------------------

void hc_report_reason(json_t *reasons, uint64_t count, const char *key, const char *format, ...) {
    char text[TEXT_MAX];
    va_list arguments;
    if (count == 0)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    json_array_append_new(reasons, json_pack("{s:s, s:s}", "key", key, "text", text));
}

static uint64_t count_of(const json_t *report, const char *path) {
    return (uint64_t)hc_report_number(report, path);
}

/// The server's ticks over budget.
static uint64_t over_budget(const json_t *server) {
    return count_of(server, "ticks_over_budget.worked_too_long") +
           count_of(server, "ticks_over_budget.began_late");
}

/// The sentence of the first entry of a list in a report; empty: there is none.
static const char *first_text(const json_t *report, const char *list) {
    const json_t *first = json_array_get(hc_report_find(report, list), 0);
    const char *text = json_string_value(json_object_get(first, "text"));
    return text != NULL ? text : "";
}

/// Appends the faults of the game's rule.
static void judge_rule(json_t *reasons, const json_t *server) {
    uint64_t overflows = json_array_size(hc_report_find(server, "overflows"));
    uint64_t desyncs = count_of(server, "desync_count");
    hc_report_reason(reasons, overflows, "overflows",
                     "fields that the game's rule overflowed: %" PRIu64 "; first, %s", overflows,
                     first_text(server, "overflows"));
    hc_report_reason(reasons, desyncs, "desyncs",
                     "clients that computed another world than the server: %" PRIu64 "; first, %s",
                     desyncs, first_text(server, "desyncs"));
}

void hc_report_judge_server(json_t *reasons, const json_t *server) {
    uint64_t lost = count_of(server, "inputs.lost"), drops = count_of(server, "receive_drops");
    uint64_t worked = count_of(server, "ticks_over_budget.worked_too_long");
    uint64_t late = count_of(server, "ticks_over_budget.began_late");
    uint64_t missed = count_of(server, "ticks_missed");
    uint64_t ticks = count_of(server, "tick_lateness_ms.count");
    uint64_t hangs = json_array_size(hc_report_find(server, "hangs"));
    bool often = over_budget(server) * OVER_BUDGET_ONE_IN > ticks;
    judge_rule(reasons, server);
    hc_report_reason(reasons, hangs, "match_hangs", "matches that hang: %" PRIu64, hangs);
    hc_report_reason(reasons, lost, "inputs_lost", "inputs lost in the server: %" PRIu64, lost);
    hc_report_reason(reasons, often ? worked : 0, "ticks_worked_too_long",
                     "ticks that worked longer than a tick lasts: %" PRIu64 " of %" PRIu64, worked,
                     ticks);
    hc_report_reason(reasons, often ? late : 0, "ticks_began_late",
                     "ticks that began more than a tick late: %" PRIu64 " of %" PRIu64, late,
                     ticks);
    hc_report_reason(reasons, missed, "ticks_missed", "ticks left out: %" PRIu64, missed);
    hc_report_reason(reasons, drops, "receive_drops",
                     "datagrams that the server dropped unread: %" PRIu64, drops);
}

/// Writes the end of an OK verdict's text.
static void describe_ticks(const json_t *server, char *text, size_t size) {
    uint64_t over = over_budget(server);
    if (server == NULL)
        snprintf(text, size, "; the server's own report has its ticks");
    else if (over == 0)
        snprintf(text, size, ", no tick over its budget");
    else
        snprintf(text, size, ", %" PRIu64 " of %" PRIu64 " ticks over their budget", over,
                 count_of(server, "tick_lateness_ms.count"));
}

json_t *hc_report_verdict(json_t *reasons, const json_t *server) {
    char text[4 * TEXT_MAX], ticks[80];
    size_t index, count = json_array_size(reasons);
    json_t *reason;
    int at = 0;
    describe_ticks(server, ticks, sizeof(ticks));
    if (count == 0)
        snprintf(text, sizeof(text), "OK: nothing lost, nothing mismatched%s", ticks);
    json_array_foreach(reasons, index, reason) {
        if ((size_t)at < sizeof(text))
            at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s",
                           index == 0 ? "NOT OK: " : "; ",
                           json_string_value(json_object_get(reason, "text")));
    }
    return json_pack("{s:b, s:s, s:o}", "ok", count == 0, "text", text, "reasons", reasons);
}

bool hc_report_ok(const json_t *report) {
    return json_is_true(hc_report_find(report, "verdict.ok"));
}

// ---- Tables for people --------------------------------------------------------------------------

const json_t *hc_report_find(const json_t *report, const char *path) {
    while (report != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        char key[40];
        if (length >= sizeof(key))
            return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        report = json_object_get(report, key);
        path += length + (path[length] == '.');
    }
    return json_is_null(report) ? NULL : report;
}

double hc_report_number(const json_t *report, const char *path) {
    return json_number_value(hc_report_find(report, path));
}

void hc_report_line(FILE *out, const char *label, const char *format, ...) {
    va_list arguments;
    fprintf(out, "  %-*s", LABEL_COLUMNS, label);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

void hc_report_line_histogram(FILE *out, const json_t *report, const char *label, const char *path,
                              int decimals, const char *unit, const char *end) {
    const json_t *values = hc_report_find(report, path);
    if (hc_report_find(values, "p50") == NULL)
        return;
    hc_report_line(out, label, "%.*f %s (p90 %.*f, p99 %.*f, max %.*f)%s", decimals,
                   hc_report_number(values, "p50"), unit, decimals, hc_report_number(values, "p90"),
                   decimals, hc_report_number(values, "p99"), decimals,
                   hc_report_number(values, "max"), end);
}

void hc_report_print_bandwidth(FILE *out, const json_t *report) {
    if (hc_report_find(report, "bytes_down_per_client_s") == NULL)
        return;
    hc_report_line(out, "bandwidth",
                   "%.0f bytes/s down, %.0f up, for each client, headers included",
                   hc_report_number(report, "bytes_down_per_client_s"),
                   hc_report_number(report, "bytes_up_per_client_s"));
}

void hc_report_print_server(FILE *out, const json_t *report) {
    const json_t *server = hc_report_find(report, "server");
    if (hc_report_find(server, "rewinds") == NULL)
        return;
    fprintf(out, " server\n");
    hc_report_line(
        out, "inputs", "%.0f taken, %.0f of them late, for which ticks were simulated again",
        hc_report_number(server, "inputs.received"), hc_report_number(server, "inputs.late"));
    hc_report_line(out, "inputs missing", "%.0f forced, %.0f lost in the server",
                   hc_report_number(server, "inputs.forced"),
                   hc_report_number(server, "inputs.lost"));
    hc_report_line(out, "rewinds", "%.0f, which simulated %.0f ticks again",
                   hc_report_number(server, "rewinds"),
                   hc_report_number(server, "resimulated_ticks"));
    hc_report_line_histogram(out, server, "rewind depth", "rewind_depth_ticks", 0, "ticks", "");
    hc_report_line(out, "over budget",
                   "%.0f ticks worked longer than a tick, %.0f began a tick late, %.0f left out",
                   hc_report_number(server, "ticks_over_budget.worked_too_long"),
                   hc_report_number(server, "ticks_over_budget.began_late"),
                   hc_report_number(server, "ticks_missed"));
    hc_report_line_histogram(out, server, "work of a tick", "tick_ms", 3, "ms", "");
    hc_report_line_histogram(out, server, "start of a tick", "tick_lateness_ms", 3, "ms late", "");
    if (hc_report_find(server, "cpu_us_per_client_tick") != NULL)
        hc_report_line(out, "processor", "%.1f us for each client and tick",
                       hc_report_number(server, "cpu_us_per_client_tick"));
    hc_report_line(out, "memory", "%.1f MB", hc_report_number(server, "memory_bytes") / 1e6);
}

/// Says that a file cannot be written, and why; false.
static bool refuse_file(const char *program, const char *option, const char *path, int cause) {
    fprintf(stderr, "%s: --%s '%s': cannot be written: %s\n", program, option, path,
            strerror(cause != 0 ? cause : EIO));
    return false;
}

bool hc_report_can_write(const char *program, const char *option, const char *path) {
    if (strcmp(path, "-") == 0)
        return true;
    FILE *file = fopen(path, "a");
    return (file != NULL && fclose(file) == 0) || refuse_file(program, option, path, errno);
}

bool hc_report_write(const json_t *report, const char *program, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    errno = 0;
    FILE *file = standard ? stdout : fopen(path, "w");
    if (file == NULL)
        return refuse_file(program, "json", path, errno);
    bool written = json_dumpf(report, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
    written = fputc('\n', file) != EOF && written;
    written = fflush(file) == 0 && written;
    int cause = errno;
    if (!standard && fclose(file) != 0) {
        written = false;
        cause = errno;
    }
    return written || refuse_file(program, "json", path, cause);
}
