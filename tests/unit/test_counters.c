/// Every counter of the lists (hindcast/counter.h): each is in the reports of the programs, and
/// those of several matches or clients are summed by the rule of their kind.
#include "client/bots/condition.h"
#include "client/bots/report.h"
#include "common/programs/counters.h"
#include "common/programs/report.h"
#include "server/daemon/match.h"
#include "server/daemon/report.h"
#include "tests/run_suite.h"

#include <string.h>

/// A list of counters, the object of a report that has them, and their place in some struct.
struct counted {
    const struct hc_counters *list;
    const char *object;
    size_t offset;
};

struct server {
    struct hc_server_stats stats;
    struct hc_timeline_stats timeline;
    struct hc_daemon_work work;
    struct hc_daemon_process process;
    struct hc_daemon_doors doors;
    struct hc_daemon_lanes lanes;
};
static const struct counted of_server[] = {
    {&hc_counters_server, "server.", offsetof(struct server, stats)},
    {&hc_counters_overload, "server.", offsetof(struct server, stats.overload)},
    {&hc_counters_remembered, "server.remembered_users.",
     offsetof(struct server, stats.remembered)},
    {&hc_counters_timeline, "server.", offsetof(struct server, timeline)},
    {&hc_counters_work, "server.", offsetof(struct server, work)},
    {&hc_counters_process, "server.", offsetof(struct server, process)},
    {&hc_counters_doors, "server.", offsetof(struct server, doors)},
    {&hc_counters_lanes, "server.", offsetof(struct server, lanes)},
};
static const struct counted of_match[] = {{&hc_sv_match_counters, "", 0}};
static const struct counted of_clients[] = {
    {&hc_counters_link, "client.", offsetof(struct hc_cl_fleet_result, all)},
    {&hc_counters_world, "client.", offsetof(struct hc_cl_fleet_result, full)},
    {&hc_counters_path, "", offsetof(struct hc_cl_fleet_result, all)},
    {&hc_cl_fleet_counters, "", 0},
    {&hc_cl_fleet_udp_counters, "", offsetof(struct hc_cl_fleet_result, udp)},
};
enum {
    OF_SERVER = sizeof of_server / sizeof *of_server,
    OF_CLIENTS = sizeof of_clients / sizeof *of_clients,
};
static uint64_t last = 1000000; ///< number that a counter was given

static const void *member(const struct counted *counted, const struct hc_counter *row,
                          const void *counts) {
    return (const char *)counts + counted->offset + row->offset;
}

/// Gives each counter numbers that no other one has; a level has only five.
static void fill(const struct counted *counted, void *counts) {
    for (size_t i = 0; i < counted->list->count; i++) {
        const struct hc_counter *row = &counted->list->rows[i];
        void *to = (char *)counts + counted->offset + row->offset;
        enum hc_server_overload_level level = 1 + ++last % (HC_SERVER_OVERLOAD_LEVELS - 1);
        if (row->kind == HC_COUNTER_HISTOGRAM)
            hc_histogram_record(to, ++last);
        else if (row->kind == HC_COUNTER_FLAG)
            *(bool *)to = true;
        else if (row->kind == HC_COUNTER_LEVEL)
            memcpy(to, &level, sizeof level);
        else
            for (size_t n = 0; n < row->size / sizeof last; n++)
                ((uint64_t *)to)[n] = ++last;
    }
}

static json_t *at(const json_t *report, const char *object, const char *key) {
    char path[80];
    snprintf(path, sizeof path, "%s%s", object, key);
    const json_t *found = hc_report_find(report, path);
    ck_assert_msg(found != NULL, "no %s", path);
    return (json_t *)found;
}

static void is_number(const json_t *value, uint64_t number) {
    ck_assert_int_eq(json_integer_value(value), (json_int_t)number);
}

/// The report shows the value of the counter.
static void is_shown(const struct hc_counter *row, const json_t *value, const void *from) {
    const struct hc_histogram *histogram = from;
    const uint64_t *numbers = from;
    unsigned scale = strcmp(row->unit, "ms") == 0 ? 1000 : 1;
    switch (row->kind) {
    case HC_COUNTER_HISTOGRAM:
        ck_assert_double_eq_tol(json_number_value(json_object_get(value, "max")) * scale,
                                (double)histogram->max, 1e-6);
        break;
    case HC_COUNTER_FLAG:
        ck_assert(json_is_true(value));
        break;
    case HC_COUNTER_MEAN:
        ck_assert_double_eq_tol(json_real_value(value) * scale,
                                (double)numbers[0] / (double)numbers[1], 1e-6);
        break;
    case HC_COUNTER_CAUSES:
        for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
            is_number(json_object_get(value, hc_status_text((enum hc_status)i)), numbers[i]);
        break;
    case HC_COUNTER_LEVELS:
        for (unsigned i = 0; i < HC_SERVER_OVERLOAD_LEVELS; i++)
            is_number(json_array_get(value, i), numbers[i]);
        break;
    case HC_COUNTER_LEVEL:
        is_number(value, *(const enum hc_server_overload_level *)from);
        break;
    default:
        is_number(value, *numbers / scale);
    }
}

static void are_shown(const struct counted *counted, const void *counts, const json_t *report) {
    for (size_t i = 0; i < counted->list->count; i++) {
        const struct hc_counter *row = &counted->list->rows[i];
        is_shown(row, at(report, counted->object, row->key), member(counted, row, counts));
    }
}

/// `sum` is that of `one` and `other`.
static void is_sum(const struct hc_counter *row, const void *one, const void *other,
                   const void *sum) {
    const struct hc_histogram *values[] = {one, other, sum};
    const uint64_t *numbers[] = {one, other, sum};
    const enum hc_server_overload_level *levels[] = {one, other, sum};
    switch (row->kind) {
    case HC_COUNTER_HISTOGRAM:
        ck_assert_uint_eq(values[2]->count, values[0]->count + values[1]->count);
        ck_assert_uint_eq(values[2]->max,
                          values[0]->max > values[1]->max ? values[0]->max : values[1]->max);
        break;
    case HC_COUNTER_FLAG:
        ck_assert(*(const bool *)sum);
        break;
    case HC_COUNTER_LEVEL:
        ck_assert_int_eq(*levels[2], *levels[0] > *levels[1] ? *levels[0] : *levels[1]);
        break;
    case HC_COUNTER_MAX:
        ck_assert_uint_eq(*numbers[2], *numbers[0] > *numbers[1] ? *numbers[0] : *numbers[1]);
        break;
    default:
        for (size_t i = 0; i < row->size / sizeof last; i++)
            ck_assert_uint_eq(numbers[2][i], numbers[0][i] + numbers[1][i]);
    }
}

static void are_sums(const struct counted *counted, const void *one, const void *other,
                     const void *sum) {
    for (size_t i = 0; i < counted->list->count; i++) {
        const struct hc_counter *row = &counted->list->rows[i];
        is_sum(row, member(counted, row, one), member(counted, row, other),
               member(counted, row, sum));
    }
}

/// No two counters of a report have the same place.
static void are_distinct(const struct counted *of, size_t lists) {
    json_t *seen = json_object();
    char path[80];
    size_t count = 0;
    for (size_t l = 0; l < lists; l++)
        for (size_t i = 0; i < of[l].list->count; i++, count++) {
            snprintf(path, sizeof path, "%s%s", of[l].object, of[l].list->rows[i].key);
            json_object_set_new(seen, path, json_null());
        }
    ck_assert_uint_eq(json_object_size(seen), count);
    json_decref(seen);
}

static json_t *report_of_server(const struct server *server) {
    struct hc_sv_report report = {.version = "0",
                                  .tick_rate = 60,
                                  .desyncs = json_array(),
                                  .overflows = json_array(),
                                  .hangs = json_array(),
                                  .host = &server->stats,
                                  .timeline = &server->timeline,
                                  .work = server->work,
                                  .process = server->process,
                                  .doors = server->doors,
                                  .lanes = server->lanes,
                                  .sorted = true};
    json_t *json = hc_sv_report_json(&report);
    ck_assert_ptr_nonnull(json);
    json_decref(report.desyncs);
    json_decref(report.overflows);
    json_decref(report.hangs);
    return json;
}

static void fill_server(struct server *server) {
    static const struct server none;
    *server = none;
    for (size_t l = 0; l < OF_SERVER; l++)
        fill(&of_server[l], server);
}

START_TEST(each_counter_of_a_server_is_in_the_report_of_hindcastd) {
    static struct server server;
    fill_server(&server);
    json_t *report = report_of_server(&server);
    for (size_t l = 0; l < OF_SERVER; l++)
        are_shown(&of_server[l], &server, report);
    are_distinct(of_server, OF_SERVER);
    json_decref(report);
}
END_TEST

START_TEST(each_counter_of_a_match_is_in_its_part_of_the_report) {
    static struct hc_sv_match_counts counts;
    fill(of_match, &counts);
    json_t *part = hc_sv_match_report(3, &counts);
    are_shown(of_match, &counts, part);
    are_distinct(of_match, 1);
    is_number(at(part, "", "match"), 3);
    json_decref(part);
}
END_TEST

START_TEST(each_counter_of_several_matches_is_summed_by_its_kind) {
    static struct server one, other, sum;
    fill_server(&one);
    fill_server(&other);
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        sum = swapped ? other : one;
        hc_sv_report_add_stats(&sum.stats, swapped ? &one.stats : &other.stats);
        hc_counters_add(&hc_counters_timeline, &sum.timeline,
                        swapped ? &one.timeline : &other.timeline);
        hc_counters_add(&hc_counters_work, &sum.work, swapped ? &one.work : &other.work);
        hc_counters_add(&hc_counters_process, &sum.process,
                        swapped ? &one.process : &other.process);
        hc_counters_add(&hc_counters_doors, &sum.doors, swapped ? &one.doors : &other.doors);
        hc_counters_add(&hc_counters_lanes, &sum.lanes, swapped ? &one.lanes : &other.lanes);
        for (size_t l = 0; l < OF_SERVER; l++)
            are_sums(&of_server[l], &one, &other, &sum);
    }
}
END_TEST

/// Gives all counters numbers, also those of the light clients' links and paths.
static void fill_clients(struct hc_cl_fleet_result *result) {
    static const struct hc_cl_fleet_result none;
    static const struct counted of_kinds[] = {
        {&hc_counters_link, "", offsetof(struct hc_cl_fleet_result, full)},
        {&hc_counters_link, "", offsetof(struct hc_cl_fleet_result, light)},
        {&hc_counters_world, "", offsetof(struct hc_cl_fleet_result, full)},
        {&hc_counters_path, "", offsetof(struct hc_cl_fleet_result, full)},
        {&hc_counters_path, "", offsetof(struct hc_cl_fleet_result, light)},
        {&hc_cl_fleet_counters, "", 0},
        {&hc_cl_fleet_udp_counters, "", offsetof(struct hc_cl_fleet_result, udp)},
    };
    *result = none;
    for (size_t l = 0; l < sizeof of_kinds / sizeof *of_kinds; l++)
        fill(&of_kinds[l], result);
    hc_cl_fleet_sum(result);
}

START_TEST(each_counter_of_clients_is_in_the_report_of_hindcast_load) {
    static struct hc_cl_fleet_result result;
    static const struct hc_cl_options options = {.clients = 1, .light = 1};
    fill_clients(&result);
    json_t *report = hc_cl_report_json("hindcast-load", "0", &options, &result, NULL, "");
    ck_assert_ptr_nonnull(report);
    for (size_t l = 0; l < OF_CLIENTS; l++)
        are_shown(&of_clients[l], &result, report);
    are_distinct(of_clients, OF_CLIENTS);
    json_decref(report);
}
END_TEST

START_TEST(each_counter_of_several_processes_is_summed_by_its_kind) {
    static struct hc_cl_fleet_result one, other, sum;
    fill_clients(&one);
    fill_clients(&other);
    sum = one;
    hc_cl_fleet_merge(&sum, &other);
    hc_cl_fleet_sum(&sum);
    for (size_t l = 0; l < OF_CLIENTS; l++)
        are_sums(&of_clients[l], &one, &other, &sum);
}
END_TEST

/// The shape of a report, by which conditions are checked, and the figures that were seen.
struct named {
    const json_t *report, *shape;
    unsigned count;
};

/// A condition on a figure is parsed and checked, and judged by the figure's value.
static void can_be_named(void *context, const char *path, const json_t *value) {
    struct named *named = context;
    struct hc_cl_condition condition;
    char text[HC_CL_FIGURES_PATH_MAX + 8], why[800] = "";
    double number = 0;
    if (json_is_null(value) && json_is_object(hc_cl_figures_find(named->shape, path)))
        return; // an object that the report does not have
    snprintf(text, sizeof text, "%s <= 5", path);
    ck_assert_msg(hc_cl_condition_parse(text, &condition, why, sizeof why), "%s: %s", text, why);
    ck_assert_msg(hc_cl_condition_check(&condition, named->shape, why, sizeof why), "%s: %s", text,
                  why);
    ck_assert_ptr_eq(hc_cl_figures_find(named->report, path), value);
    bool known = hc_cl_figures_number(value, &number);
    json_t *outcome = hc_cl_condition_judge(&condition, named->report);
    ck_assert_int_eq(json_is_true(json_object_get(outcome, "ok")), known && number > 5);
    ck_assert_int_eq(json_is_null(json_object_get(outcome, "value")), !known);
    json_decref(outcome);
    named->count++;
}

START_TEST(each_figure_of_a_report_can_be_named_by_a_condition) {
    static struct server server;
    static struct hc_cl_fleet_result result;
    static const struct hc_cl_options options = {.clients = 1, .light = 1};
    for (unsigned filled = 0; filled < 2; filled++) {
        if (filled)
            fill_server(&server);
        if (filled)
            fill_clients(&result);
        json_t *daemon = report_of_server(&server);
        json_t *report = hc_cl_report_json("hindcast-load", "0", &options, &result, daemon, "");
        struct named named = {.report = report,
                              .shape = hc_cl_report_shape("hindcast-load", "0", &options)};
        hc_cl_figures_walk(report, can_be_named, &named);
        ck_assert_uint_gt(named.count, 200);
        json_decref((json_t *)named.shape);
        json_decref(report);
        json_decref(daemon);
    }
}
END_TEST

START_TEST(each_counter_has_the_direction_of_its_list) {
    const struct counted *const all[] = {of_server, of_clients};
    static const size_t counts[] = {OF_SERVER, OF_CLIENTS};
    unsigned directed = 0;
    char path[100];
    for (unsigned a = 0; a < 2; a++)
        for (size_t l = 0; l < counts[a]; l++)
            for (size_t i = 0; i < all[a][l].list->count; i++) {
                const struct hc_counter *row = &all[a][l].list->rows[i];
                bool spread = row->kind == HC_COUNTER_HISTOGRAM;
                snprintf(path, sizeof path, "%s%s%s", all[a][l].object, row->key,
                         spread ? ".p99" : "");
                ck_assert_msg(hc_cl_figures_better(path) == row->better, "%s", path);
                directed += row->better != HC_COUNTER_NEITHER;
                snprintf(path, sizeof path, "%s%s.count", all[a][l].object, row->key);
                ck_assert_msg(hc_cl_figures_better(path) == HC_COUNTER_NEITHER, "%s", path);
            }
    ck_assert_uint_gt(directed, 30);
}
END_TEST

START_TEST(less_is_better_of_what_was_refused_lost_or_held_back) {
    static const char *const words[] = {"refused", "lost", "held_back", "missed", "dropped"};
    const struct counted *const all[] = {of_server, of_clients};
    static const size_t counts[] = {OF_SERVER, OF_CLIENTS};
    unsigned found = 0;
    for (unsigned a = 0; a < 2; a++)
        for (size_t l = 0; l < counts[a]; l++)
            for (size_t i = 0; i < all[a][l].list->count; i++) {
                const struct hc_counter *row = &all[a][l].list->rows[i];
                bool bad = false;
                for (unsigned w = 0; w < sizeof words / sizeof *words; w++)
                    bad |= strstr(row->key, words[w]) != NULL;
                if (!bad || strstr(row->key, "link") != NULL) // of the link, which is drawn
                    continue;
                found++;
                ck_assert_msg(row->better == HC_COUNTER_LESS, "%s%s", all[a][l].object, row->key);
            }
    ck_assert_uint_gt(found, 15);
}
END_TEST

START_TEST(a_world_that_has_ended_leaves_no_present_values) {
    static struct server server;
    struct hc_server_stats past = {.ticks_missed = 1};
    for (size_t l = 0; l < OF_SERVER; l++)
        fill(&of_server[l], &server);
    hc_sv_report_add_ended(&past, &server.stats);
    ck_assert_uint_eq(past.ticks_missed, server.stats.ticks_missed + 1);
    ck_assert_uint_eq(past.memory_bytes, 0);
    ck_assert_uint_eq(past.remembered.users, 0);
    ck_assert_uint_eq(past.overload.level, HC_SERVER_OVERLOAD_NONE);
    ck_assert(!past.overload.linear);
    ck_assert_uint_eq(past.overload.highest, server.stats.overload.highest);
    ck_assert_uint_eq(past.overload.joins, server.stats.overload.joins);
}
END_TEST

/// Each counter has a key in the report, and no value.
static void are_unknown(const struct counted *of, size_t lists, const json_t *report) {
    char path[80];
    for (size_t l = 0; l < lists; l++)
        for (size_t i = 0; i < of[l].list->count; i++) {
            snprintf(path, sizeof path, ".%s%s", of[l].object, of[l].list->rows[i].key);
            char *key = strrchr(path, '.');
            *key = '\0';
            const json_t *object = key == path ? report : hc_report_find(report, path + 1);
            const json_t *value = json_object_get(object, key + 1);
            ck_assert_msg(value != NULL, "no %s.%s", path, key + 1);
            ck_assert(json_is_null(value) || json_is_null(json_object_get(value, "count")));
        }
}

START_TEST(each_counter_that_a_program_cannot_know_is_null) {
    static struct server server;
    static const struct hc_cl_fleet_result none;
    static const struct hc_cl_options options = {.light = 1};
    json_t *daemon = report_of_server(&server);
    are_unknown(of_clients, 3, daemon); // what each client counts
    json_t *load = hc_cl_report_json("hindcast-load", "0", &options, &none, NULL, "");
    are_unknown(of_server, OF_SERVER, load);
    are_unknown(&of_clients[1], 1, load); // the worlds, which light clients have none of
    json_decref(daemon);
    json_decref(load);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("counters");
    TCase *tests = tcase_create("counters");
    tcase_add_test(tests, each_counter_of_a_server_is_in_the_report_of_hindcastd);
    tcase_add_test(tests, each_counter_of_a_match_is_in_its_part_of_the_report);
    tcase_add_test(tests, each_counter_of_several_matches_is_summed_by_its_kind);
    tcase_add_test(tests, each_counter_of_clients_is_in_the_report_of_hindcast_load);
    tcase_add_test(tests, each_counter_of_several_processes_is_summed_by_its_kind);
    tcase_add_test(tests, each_counter_that_a_program_cannot_know_is_null);
    tcase_add_test(tests, each_figure_of_a_report_can_be_named_by_a_condition);
    tcase_add_test(tests, each_counter_has_the_direction_of_its_list);
    tcase_add_test(tests, less_is_better_of_what_was_refused_lost_or_held_back);
    tcase_add_test(tests, a_world_that_has_ended_leaves_no_present_values);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
