/// Tests server/daemon/metrics: every counter of the lists is a metric, with its value.
#define _GNU_SOURCE // open_memstream

#include "server/daemon/metrics.h"
#include "tests/run_suite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MATCHES = 2, RATE = 50, TICK_US = 1000000 / RATE };

static struct hc_sv_match_counts counts[MATCHES];
static struct hc_daemon_process process;
static struct hc_daemon_doors doors;
static struct hc_daemon_lanes lanes;
static struct hc_server_remembered placed;
static const struct hc_sv_metrics metrics = {.version = "1.2.3",
                                             .tick_rate = RATE,
                                             .matches = MATCHES,
                                             .counts = counts,
                                             .process = &process,
                                             .doors = &doors,
                                             .lanes = &lanes,
                                             .placed = &placed,
                                             .ready = true};
static char *text;
static size_t text_size;

/// Writes the metrics to `text`.
static void write_all(void) {
    FILE *out = open_memstream(&text, &text_size);
    ck_assert_ptr_nonnull(out);
    hc_sv_metrics_write(&metrics, out);
    ck_assert_int_eq(fclose(out), 0);
}

static void set_up(void) {
    memset(counts, 0, sizeof counts);
    memset(&process, 0, sizeof process);
    memset(&doors, 0, sizeof doors);
}

static void tear_down(void) {
    free(text);
    text = NULL;
}

/// Whether the text has this line.
static bool has(const char *line) {
    char whole[300];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    return strstr(text, whole) != NULL;
}

static void has_metric(const char *prefix, const struct hc_counter *counter) {
    char name[HC_SV_METRICS_NAME_MAX], line[200];
    hc_sv_metrics_name(prefix, counter, name);
    snprintf(line, sizeof line, "\n# TYPE %s ", name);
    ck_assert_msg(strstr(text, line) != NULL, "%s is not exported as %s", counter->key, name);
    snprintf(line, sizeof line, "\n%s", name);
    ck_assert_msg(strstr(text, line) != NULL, "%s has no value", name);
}

START_TEST(every_counter_of_the_lists_is_a_metric) {
    static const struct {
        const char *prefix;
        const struct hc_counters *list;
    } lists[] = {{"hindcast_", &hc_counters_server},
                 {"hindcast_", &hc_counters_overload},
                 {"hindcast_remembered_", &hc_counters_remembered},
                 {"hindcast_placed_", &hc_counters_remembered},
                 {"hindcast_", &hc_counters_timeline},
                 {"hindcast_", &hc_counters_work},
                 {"hindcast_", &hc_counters_process},
                 {"hindcast_", &hc_counters_doors},
                 {"hindcast_", &hc_counters_lanes}};
    size_t all = 0;
    write_all();
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t i = 0; i < lists[l].list->count; i++, all++)
            has_metric(lists[l].prefix, &lists[l].list->rows[i]);
    // Of a match's own list, those that no other list has.
    for (size_t i = 0; i < hc_sv_match_counters.count; i++)
        if (hc_sv_match_counters.rows[i].offset < offsetof(struct hc_sv_match_counts, work))
            has_metric("hindcast_match_", &hc_sv_match_counters.rows[i]);
    ck_assert_uint_ge(all, 78);
}
END_TEST

START_TEST(names_have_base_units_and_say_what_only_grows) {
    static const struct {
        struct hc_counter counter;
        const char *name;
    } cases[] = {
        {{.key = "inputs.late", .kind = HC_COUNTER_SUM, .unit = "inputs"}, "x_inputs_late_total"},
        {{.key = "cpu_ms", .kind = HC_COUNTER_SUM, .unit = "ms"}, "x_cpu_seconds_total"},
        {{.key = "bytes_sent", .kind = HC_COUNTER_SUM, .unit = "bytes"}, "x_sent_bytes_total"},
        {{.key = "memory_bytes", .kind = HC_COUNTER_GAUGE, .unit = "bytes"}, "x_memory_bytes"},
        {{.key = "most_ticks_max", .kind = HC_COUNTER_MAX, .unit = "ticks"}, "x_most_max_ticks"},
        {{.key = "ticks_missed", .kind = HC_COUNTER_SUM, .unit = "ticks"}, "x_ticks_missed_total"},
        {{.key = "desync_count", .kind = HC_COUNTER_SUM, .unit = "clients"}, "x_desync_total"},
        {{.key = "ms_of_a_tick", .kind = HC_COUNTER_HISTOGRAM, .unit = "ms"},
         "x_of_a_tick_seconds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[HC_SV_METRICS_NAME_MAX];
        hc_sv_metrics_name("x_", &cases[i].counter, name);
        ck_assert_str_eq(name, cases[i].name);
    }
}
END_TEST

START_TEST(each_match_has_its_values) {
    counts[0].host.joins = 7;
    counts[1].host.joins = 8;
    counts[1].host.rejected[HC_MALFORMED] = 5;
    counts[1].host.denials[HC_DENY_FULL].count = 3;
    counts[1].host.overload.level = HC_SERVER_OVERLOAD_HALF;
    counts[1].host.overload.ticks[2] = 11;
    counts[1].host.overload.linear = true;
    process.cpu_us = 1234567;
    write_all();
    ck_assert(has("hindcast_joins_total{match=\"1\"} 7"));
    ck_assert(has("hindcast_joins_total{match=\"2\"} 8"));
    char line[100];
    snprintf(line, sizeof line, "hindcast_rejected_total{match=\"2\",cause=\"%s\"} 5",
             hc_status_text(HC_MALFORMED));
    ck_assert(has(line));
    ck_assert(has("hindcast_denied_by_reason_total{match=\"2\",reason=\"full\"} 3"));
    ck_assert(has("hindcast_overload_level{match=\"2\"} 3"));
    ck_assert(has("hindcast_overload_ticks_by_level_total{match=\"2\",level=\"2\"} 11"));
    ck_assert(has("hindcast_overload_linear{match=\"2\"} 1"));
    ck_assert(has("hindcast_cpu_seconds_total 1.234567"));
    ck_assert(has("hindcast_ready 1"));
}
END_TEST

START_TEST(buckets_are_parts_of_a_tick_and_cumulative) {
    struct hc_histogram *lateness = &counts[0].host.lateness;
    hc_histogram_record(lateness, 0);
    hc_histogram_record(lateness, TICK_US / 16);
    hc_histogram_record(lateness, TICK_US * 3 / 4 + 1000);
    hc_histogram_record(lateness, 100 * TICK_US);
    hc_histogram_record(&counts[0].host.rewind_depth, 3);
    hc_histogram_record(&counts[0].host.rewind_depth, 4);
    write_all();
    ck_assert(has("hindcast_tick_lateness_seconds_bucket{match=\"1\",le=\"0.015000\"} 2"));
    ck_assert(has("hindcast_tick_lateness_seconds_bucket{match=\"1\",le=\"0.020000\"} 3"));
    ck_assert(has("hindcast_tick_lateness_seconds_bucket{match=\"1\",le=\"1.280000\"} 3"));
    ck_assert(has("hindcast_tick_lateness_seconds_bucket{match=\"1\",le=\"+Inf\"} 4"));
    ck_assert(has("hindcast_tick_lateness_seconds_count{match=\"1\"} 4"));
    ck_assert(has("hindcast_tick_lateness_seconds_sum{match=\"1\"} 2.017250"));
    ck_assert(has("hindcast_tick_lateness_seconds_count{match=\"2\"} 0"));
    ck_assert(has("hindcast_rewind_depth_ticks_bucket{match=\"1\",le=\"2\"} 0"));
    ck_assert(has("hindcast_rewind_depth_ticks_bucket{match=\"1\",le=\"4\"} 2"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_metrics");
    TCase *tests = tcase_create("metrics");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_counter_of_the_lists_is_a_metric);
    tcase_add_test(tests, names_have_base_units_and_say_what_only_grows);
    tcase_add_test(tests, each_match_has_its_values);
    tcase_add_test(tests, buckets_are_parts_of_a_tick_and_cumulative);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
