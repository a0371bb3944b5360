/// The lists of counters (hindcast/counter.h) for programs: their sums, and their JSON in reports.
#pragma once

#include <jansson.h>
#include <stddef.h>

/// A counter of a list.
struct hc_counter {
    const char *key; ///< place in a JSON object; each dot leads into an object
    enum hc_counter_kind {
        HC_COUNTER_SUM,
        HC_COUNTER_GAUGE,
        HC_COUNTER_MAX,
        HC_COUNTER_HISTOGRAM,
        HC_COUNTER_MEAN,
        HC_COUNTER_CAUSES,
        HC_COUNTER_LEVEL,
        HC_COUNTER_LEVELS,
        HC_COUNTER_FLAG,
    } kind;
    size_t offset, size; ///< of its member, bytes
    const char *unit;    ///< in reports
    enum hc_counter_better {
        HC_COUNTER_NEITHER,
        HC_COUNTER_LESS,
        HC_COUNTER_MORE,
    } better; ///< of two runs with the same load, the better one has less or more
    const char *sentence;
};

/// A list, whose counters are members of one struct.
struct hc_counters {
    const struct hc_counter *rows; ///< [count]
    size_t count;
};

/// The row of a counter of the struct `type`, for a table of rows; what follows `key` in its list
/// follows here too.
#define HC_COUNTER_ROW(type, name, kind, unit, key, ...)                                           \
    {key,                                                                                          \
     HC_COUNTER_##kind,                                                                            \
     offsetof(type, name),                                                                         \
     sizeof(((type *)NULL)->name),                                                                 \
     unit,                                                                                         \
     HC_COUNTER_BETTER(__VA_ARGS__, NEITHER, NEITHER),                                             \
     HC_COUNTER_SENTENCE(__VA_ARGS__, NEITHER)},
#define HC_COUNTER_BETTER(sentence, better, ...) HC_COUNTER_##better
#define HC_COUNTER_SENTENCE(sentence, ...) sentence
/// The list of an array of rows.
#define HC_COUNTERS_OF(rows)                                                                       \
    { rows, sizeof(rows) / sizeof(*(rows)) }

extern const struct hc_counters hc_counters_server;     ///< of struct hc_server_stats
extern const struct hc_counters hc_counters_overload;   ///< of struct hc_server_overload
extern const struct hc_counters hc_counters_remembered; ///< of struct hc_server_remembered
extern const struct hc_counters hc_counters_timeline;   ///< of struct hc_timeline_stats
extern const struct hc_counters hc_counters_work;       ///< of struct hc_daemon_work
extern const struct hc_counters hc_counters_process;    ///< of struct hc_daemon_process
extern const struct hc_counters hc_counters_doors;      ///< of struct hc_daemon_doors
extern const struct hc_counters hc_counters_lanes;      ///< of struct hc_daemon_lanes
extern const struct hc_counters hc_counters_link;       ///< of struct hc_client_stats
extern const struct hc_counters hc_counters_world;      ///< of struct hc_client_stats
extern const struct hc_counters hc_counters_path;       ///< of struct hc_client_stats

/// Adds the counters of `one` to those of `sum`, each by the rule of its kind. Both are the list's
/// struct.
void hc_counters_add(const struct hc_counters *list, void *sum, const void *one);

/// Puts the counters of the list's struct `counts` into `object` by their keys; NULL: each is null.
void hc_counters_report(const struct hc_counters *list, const void *counts, json_t *object);

/// A new object with these counters, which the caller owns.
json_t *hc_counters_object(const struct hc_counters *list, const void *counts);
