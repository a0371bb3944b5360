/// Owns the text of metrics: their names, and what each kind of counter is there.
#include "server/daemon/metrics.h"

#include "hindcast/check.h"

#include <inttypes.h>
#include <string.h>

enum {
    WORD_MAX = 32,
    TICK_PARTS = 16, ///< the bounds of times are in 1 / this of a tick
};

static const char prefix_all[] = "hindcast_";
static const char prefix_match[] = "hindcast_match_";
static const char prefix_remembered[] = "hindcast_remembered_";
static const char prefix_placed[] = "hindcast_placed_";

// ---- Names --------------------------------------------------------------------------------------

static bool is_gauge(const struct hc_counter *counter) {
    return counter->kind == HC_COUNTER_GAUGE || counter->kind == HC_COUNTER_MAX ||
           counter->kind == HC_COUNTER_LEVEL || counter->kind == HC_COUNTER_FLAG;
}

static bool has_unit(const struct hc_counter *counter, const char *unit) {
    return strcmp(counter->unit, unit) == 0;
}

/// The unit that ends the name; NULL: none.
static const char *unit_of(const struct hc_counter *counter) {
    if (has_unit(counter, "ms"))
        return "seconds";
    if (has_unit(counter, "bytes"))
        return "bytes";
    bool grows = !is_gauge(counter) && counter->kind != HC_COUNTER_HISTOGRAM;
    return has_unit(counter, "ticks") && !grows ? "ticks" : NULL;
}

static void append(char *name, const char *word, size_t size) {
    size_t at = strlen(name);
    HC_ASSERT(at + size + 2 <= HC_SV_METRICS_NAME_MAX);
    if (name[at - 1] != '_')
        name[at++] = '_';
    memcpy(name + at, word, size);
    name[at + size] = '\0';
}

void hc_sv_metrics_name(const char *prefix, const struct hc_counter *counter,
                        char name[static HC_SV_METRICS_NAME_MAX]) {
    const char *unit = unit_of(counter), *word = counter->key;
    snprintf(name, HC_SV_METRICS_NAME_MAX, "%s", prefix);
    while (*word != '\0') {
        size_t size = strcspn(word, "._");
        bool is_unit = unit != NULL && size == strlen(counter->unit) &&
                       strncmp(word, counter->unit, size) == 0;
        // A name that ends with _count is a histogram's.
        bool is_count = size == strlen("count") && strncmp(word, "count", size) == 0;
        if (!is_unit && !is_count)
            append(name, word, size);
        word += size + (word[size] != '\0');
    }
    if (unit != NULL)
        append(name, unit, strlen(unit));
    if (!is_gauge(counter) && counter->kind != HC_COUNTER_HISTOGRAM)
        append(name, "total", strlen("total"));
}

// ---- Values -------------------------------------------------------------------------------------

/// A metric, and where its values are.
struct metric {
    char name[HC_SV_METRICS_NAME_MAX];
    const struct hc_counter *counter;
    uint16_t tick_rate; ///< Hz
    FILE *out;
};

static void write_head(const struct metric *metric, const char *type, const char *help) {
    fprintf(metric->out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, help, metric->name, type);
}

/// Writes a name with its labels: of match `match` (0: of none), and `label`="`value`" (NULL: no
/// other).
static void write_name(const struct metric *metric, const char *suffix, unsigned match,
                       const char *label, const char *value) {
    fprintf(metric->out, "%s%s", metric->name, suffix);
    if (match != 0)
        fprintf(metric->out, "{match=\"%u\"", match);
    if (label != NULL)
        fprintf(metric->out, "%s%s=\"%s\"", match != 0 ? "," : "{", label, value);
    fputs(match != 0 || label != NULL ? "} " : " ", metric->out);
}

/// Writes a number, which counts microseconds if the unit is "ms", to `text`.
static const char *number_text(const struct hc_counter *counter, uint64_t number, char text[32]) {
    if (has_unit(counter, "ms"))
        snprintf(text, 32, "%" PRIu64 ".%06" PRIu64, number / 1000000, number % 1000000);
    else
        snprintf(text, 32, "%" PRIu64, number);
    return text;
}

static void write_number(const struct metric *metric, uint64_t number) {
    char text[32];
    fprintf(metric->out, "%s\n", number_text(metric->counter, number, text));
}

/// The upper bounds of a histogram's buckets: parts of a tick, or ticks. Returns their number.
static unsigned bounds_of(const struct metric *metric, uint64_t bounds[static 12]) {
    static const uint64_t parts[] = {1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 256, 1024};
    static const uint64_t ticks[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    bool times = has_unit(metric->counter, "ms");
    unsigned count = times ? sizeof(parts) / sizeof(*parts) : sizeof(ticks) / sizeof(*ticks);
    for (unsigned i = 0; i < count; i++)
        bounds[i] =
            times ? parts[i] * 1000000 / (TICK_PARTS * (uint64_t)metric->tick_rate) : ticks[i];
    return count;
}

static void write_histogram(const struct metric *metric, const struct hc_histogram *histogram,
                            unsigned match) {
    uint64_t bounds[12];
    unsigned count = bounds_of(metric, bounds);
    char text[32];
    for (unsigned i = 0; i < count; i++) {
        write_name(metric, "_bucket", match, "le", number_text(metric->counter, bounds[i], text));
        fprintf(metric->out, "%" PRIu64 "\n", hc_histogram_up_to(histogram, bounds[i]));
    }
    write_name(metric, "_bucket", match, "le", "+Inf");
    fprintf(metric->out, "%" PRIu64 "\n", histogram->count);
    write_name(metric, "_sum", match, NULL, NULL);
    write_number(metric, histogram->sum);
    write_name(metric, "_count", match, NULL, NULL);
    fprintf(metric->out, "%" PRIu64 "\n", histogram->count);
}

/// Writes one number of a counter, whatever its size.
static void write_single(const struct metric *metric, const void *member, unsigned match) {
    uint64_t wide = 0;
    uint32_t level;
    if (metric->counter->size == sizeof(bool)) {
        wide = *(const bool *)member;
    } else if (metric->counter->size == sizeof(level)) {
        memcpy(&level, member, sizeof(level));
        wide = level;
    } else {
        HC_ASSERT(metric->counter->size == sizeof(wide));
        memcpy(&wide, member, sizeof(wide));
    }
    write_name(metric, "", match, NULL, NULL);
    write_number(metric, wide);
}

/// Writes the values of a counter: of match `match`, or of none (0).
static void write_values(const struct metric *metric, const void *member, unsigned match) {
    const uint64_t *numbers = member;
    char level[16];
    switch (metric->counter->kind) {
    case HC_COUNTER_HISTOGRAM:
        write_histogram(metric, member, match);
        break;
    case HC_COUNTER_CAUSES:
        for (unsigned i = HC_OK + 1; i < HC_STATUS_COUNT; i++) {
            write_name(metric, "", match, "cause", hc_status_text((enum hc_status)i));
            write_number(metric, numbers[i]);
        }
        break;
    case HC_COUNTER_LEVELS:
        for (unsigned i = 0; i < metric->counter->size / sizeof(*numbers); i++) {
            snprintf(level, sizeof(level), "%u", i);
            write_name(metric, "", match, "level", level);
            write_number(metric, numbers[i]);
        }
        break;
    default:
        HC_ASSERT(metric->counter->kind != HC_COUNTER_MEAN); // only clients have means
        write_single(metric, member, match);
    }
}

// ---- Lists --------------------------------------------------------------------------------------

static struct metric begin(const struct hc_sv_metrics *metrics, const char *prefix,
                           const struct hc_counter *counter, FILE *out) {
    struct metric metric = {.counter = counter, .tick_rate = metrics->tick_rate, .out = out};
    const char *type = is_gauge(counter) ? "gauge" : "counter";
    hc_sv_metrics_name(prefix, counter, metric.name);
    write_head(&metric, counter->kind == HC_COUNTER_HISTOGRAM ? "histogram" : type,
               counter->sentence);
    return metric;
}

/// Writes a list whose struct `counts` is of no match.
static void write_list(const struct hc_sv_metrics *metrics, const char *prefix,
                       const struct hc_counters *list, const void *counts, FILE *out) {
    for (size_t i = 0; i < list->count; i++) {
        struct metric metric = begin(metrics, prefix, &list->rows[i], out);
        write_values(&metric, (const char *)counts + list->rows[i].offset, 0);
    }
}

/// A list of counters of matches, whose struct is at `offset` of the counts of one.
struct match_list {
    const char *prefix;
    const struct hc_counters *list;
    size_t offset;
};
static const struct match_list match_lists[] = {
    {prefix_match, &hc_sv_match_counters, 0},
    {prefix_all, &hc_counters_server, offsetof(struct hc_sv_match_counts, host)},
    {prefix_all, &hc_counters_overload, offsetof(struct hc_sv_match_counts, host.overload)},
    {prefix_remembered, &hc_counters_remembered,
     offsetof(struct hc_sv_match_counts, host.remembered)},
    {prefix_all, &hc_counters_timeline, offsetof(struct hc_sv_match_counts, timeline)},
    {prefix_all, &hc_counters_work, offsetof(struct hc_sv_match_counts, work)},
};

/// Whether a counter of a match's own list is one of another list, which writes it.
static bool is_of_another_list(const struct match_list *from, const struct hc_counter *counter) {
    return from->list == &hc_sv_match_counters &&
           counter->offset >= offsetof(struct hc_sv_match_counts, work);
}

static void write_match_list(const struct hc_sv_metrics *metrics, const struct match_list *from,
                             FILE *out) {
    for (size_t i = 0; i < from->list->count; i++) {
        const struct hc_counter *counter = &from->list->rows[i];
        if (is_of_another_list(from, counter))
            continue;
        struct metric metric = begin(metrics, from->prefix, counter, out);
        for (unsigned m = 0; m < metrics->matches; m++)
            write_values(&metric,
                         (const char *)&metrics->counts[m] + from->offset + counter->offset, m + 1);
    }
}

static void write_denials(const struct hc_sv_metrics *metrics, FILE *out) {
    const struct metric metric = {.name = "hindcast_denied_by_reason_total", .out = out};
    write_head(&metric, "counter", "CONNECTs denied, by reason.");
    for (unsigned m = 0; m < metrics->matches; m++)
        for (unsigned i = 1; i < HC_DENY_REASONS_END; i++) {
            write_name(&metric, "", m + 1, "reason", hc_deny_word((enum hc_deny_reason)i));
            fprintf(out, "%" PRIu64 "\n", metrics->counts[m].host.denials[i].count);
        }
}

static void write_gauge(FILE *out, const char *name, const char *help, unsigned value) {
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %u\n", name, help, name, name, value);
}

void hc_sv_metrics_write(const struct hc_sv_metrics *metrics, FILE *out) {
    fprintf(out,
            "# HELP hindcast_build_info The version of hindcastd.\n"
            "# TYPE hindcast_build_info gauge\n"
            "hindcast_build_info{version=\"%s\"} 1\n",
            metrics->version);
    write_gauge(out, "hindcast_ready", "Whether the server admits clients, as /readyz says.",
                metrics->ready);
    write_gauge(out, "hindcast_hanging", "Calls into matches that do not return.",
                metrics->hanging);
    write_gauge(out, "hindcast_tick_rate_hertz", "Ticks a second of each match.",
                metrics->tick_rate);
    write_list(metrics, prefix_all, &hc_counters_process, metrics->process, out);
    write_list(metrics, prefix_all, &hc_counters_doors, metrics->doors, out);
    if (metrics->lanes != NULL)
        write_list(metrics, prefix_all, &hc_counters_lanes, metrics->lanes, out);
    if (metrics->placed != NULL)
        write_list(metrics, prefix_placed, &hc_counters_remembered, metrics->placed, out);
    for (size_t i = 0; i < sizeof(match_lists) / sizeof(*match_lists); i++)
        write_match_list(metrics, &match_lists[i], out);
    write_denials(metrics, out);
}
