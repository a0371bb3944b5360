/// The configurations of server, client and timeline: every number at both ends of its range, and
/// beyond.
#include "client/config.h"
#include "common/timeline.h"
#include "hindcast/arena.h"
#include "hindcast/client.h"
#include "server/host.h"
#include "tests/run_suite.h"
#include "tests/sim/endpoint.h"

#include <stddef.h>
#include <string.h>

// ---- The server ---------------------------------------------------------------------------------

static struct hc_server_config host_config(void) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.clients = 4;
    config.tick_rate = 60;
    return config;
}

static void check_host(const struct hc_server_config *config, const struct hc_sv_host_test *test,
                       const char *name, bool fits) {
    char why[256] = "";
    bool accepted = hc_sv_host_config_check(config, test, why, sizeof why) == NULL;
    ck_assert_msg(accepted == fits, "%s: %s", name, why);
    if (fits)
        return;
    ck_assert_msg(strstr(why, name) != NULL, "%s: %s", name, why);
    ck_assert_ptr_null(hc_sv_host_create(config, test, HC_TEST_UNIX_US, 0));
}

/// `where` is one of the two structs, and `name` its member.
#define HOST_RANGE(where, name, least, most)                                                       \
    do {                                                                                           \
        struct hc_server_config config = host_config();                                            \
        struct hc_sv_host_test test = hc_sv_host_test_default();                                   \
        where.name = least;                                                                        \
        check_host(&config, &test, #name, true);                                                   \
        where.name = most;                                                                         \
        check_host(&config, &test, #name, true);                                                   \
        where.name++;                                                                              \
        check_host(&config, &test, #name, where.name == 0 && (least) == 0);                        \
        where.name = least;                                                                        \
        where.name--;                                                                              \
        check_host(&config, &test, #name, (least) == 0 && (uint64_t)(most) == UINT32_MAX);         \
    } while (0)

START_TEST(every_number_of_a_server_has_its_range) {
    HOST_RANGE(config, clients, 1, hc_arena.players_max);
    HOST_RANGE(config, tick_rate, 1, HC_TICK_RATE_MAX);
    HOST_RANGE(config, history, 0, HC_HISTORY_MAX);
    HOST_RANGE(test, future, 1, HC_FUTURE_MAX);
    HOST_RANGE(test, last_tick, 1, HC_SNAPSHOT_TICK_MAX);
    HOST_RANGE(test, ticks_per_advance, 1, 1024);
    HOST_RANGE(config, force_rewind, 0, config.history);
    HOST_RANGE(config, spectators, 0, HC_SERVER_CLIENTS_MAX);
    HOST_RANGE(config, timeout_us, 1, UINT32_MAX);
    HOST_RANGE(config, client_rate, HC_SERVER_CLIENT_RATE_MIN, UINT32_MAX);
    HOST_RANGE(config, snapshot_rate, 0, config.tick_rate);
    HOST_RANGE(config, late_margin, 0, HC_HISTORY_MAX);
    HOST_RANGE(config, lag_compensation_ms, 0, 10000);
    struct hc_server_config config = host_config();
    config.game = NULL;
    check_host(&config, NULL, "game", false);
}
END_TEST

// ---- The client ---------------------------------------------------------------------------------

static struct hc_client_config client_config(void) {
    struct hc_client_config config = hc_client_config_default();
    config.game = &hc_arena;
    return config;
}

static void check_client(const struct hc_client_config *config, const char *wrong) {
    const char *why = hc_client_config_check(config);
    if (wrong == NULL) {
        ck_assert_ptr_null(why);
        return;
    }
    ck_assert_ptr_nonnull(why);
    ck_assert_str_eq(why, wrong);
    ck_assert_ptr_null(hc_client_create(config, 0));
}

#define CLIENT_MOST(name, most)                                                                    \
    do {                                                                                           \
        struct hc_client_config config = client_config();                                          \
        config.prediction_limit = HC_PREDICTION_LIMIT_MAX;                                         \
        config.name = most;                                                                        \
        check_client(&config, NULL);                                                               \
        config.name++;                                                                             \
        check_client(&config, #name);                                                              \
    } while (0)

START_TEST(every_number_of_a_client_has_its_range) {
    CLIENT_MOST(players, HC_OWN_PLAYERS_MAX);
    CLIENT_MOST(input_delay, HC_INPUT_DELAY_MAX);
    CLIENT_MOST(display_offset, HC_DISPLAY_OFFSET_MAX);
    CLIENT_MOST(display_offset_max, HC_DISPLAY_OFFSET_MAX);
    CLIENT_MOST(others, HC_OTHERS_AS_RECEIVED);
    CLIENT_MOST(lead, HC_LEAD_MAX);
    CLIENT_MOST(input_delay_max, HC_INPUT_DELAY_MAX);
    CLIENT_MOST(lead_max, HC_LEAD_MAX);
    CLIENT_MOST(prediction_limit, HC_PREDICTION_LIMIT_MAX);
    CLIENT_MOST(input_redundancy, HC_INPUT_RUN_MAX);
    CLIENT_MOST(ticks_per_advance, HC_TICKS_PER_ADVANCE_MAX);
    struct hc_client_config config = client_config();
    config.timeout_us = 0;
    check_client(&config, "timeout_us");
    config = client_config();
    config.game = NULL;
    check_client(&config, "game");
}
END_TEST

START_TEST(a_client_of_another_version_is_refused_by_the_size_of_its_configuration) {
    struct hc_client_config config = client_config();
    ck_assert_uint_eq(config.size, sizeof config);
    config.size += 8; // newer than this library
    check_client(&config, "size");
    config.size = 8;
    check_client(&config, "size");
    _Alignas(8) uint8_t more[sizeof config + 8];
    static const uint8_t zeros[8];
    hc_client_config_init((struct hc_client_config *)(void *)more, sizeof more);
    ck_assert_mem_eq(more + sizeof config, zeros, sizeof zeros);
}
END_TEST

/// Programs that were compiled before delays could be automatic have no maxima: what they set is
/// what they get, and an input delay of 3 by default.
START_TEST(a_configuration_without_maxima_has_fixed_delays) {
    enum { BEFORE = offsetof(struct hc_client_config, ticks_per_advance) };
    struct hc_client_config config = client_config(), whole;
    hc_client_config_init(&config, BEFORE);
    ck_assert(hc_cl_config_complete(&config, &whole));
    ck_assert_uint_eq(whole.input_delay, 3);
    ck_assert_uint_eq(whole.input_delay_max + whole.lead + whole.lead_max, 0);
    hc_client_config_init(&config, sizeof config);
    ck_assert(hc_cl_config_complete(&config, &whole));
    struct hc_client_timing balanced;
    ck_assert(hc_client_timing_preset("balanced", &balanced));
    struct hc_client_timing timing = hc_cl_config_timing(&whole);
    ck_assert_mem_eq(&timing, &balanced, sizeof timing);
}
END_TEST

START_TEST(a_prediction_limit_exceeds_the_lead) {
    struct hc_client_config config = client_config();
    config.prediction_limit = 1;
    config.lead_max = 0;
    check_client(&config, NULL);
    config.lead_max = 1;
    check_client(&config, "prediction_limit");
    config.lead_max = 0;
    config.lead = 1;
    check_client(&config, "prediction_limit");
}
END_TEST

// ---- The timeline -------------------------------------------------------------------------------

static void check_timeline(const struct hc_timeline_config *config, const char *wrong) {
    const char *why = hc_timeline_config_check(config);
    if (wrong == NULL) {
        ck_assert_ptr_null(why);
        return;
    }
    ck_assert_ptr_nonnull(why);
    ck_assert_str_eq(why, wrong);
    ck_assert_ptr_null(hc_timeline_create(config));
}

START_TEST(every_number_of_a_timeline_has_its_range) {
    struct hc_timeline_config config = hc_timeline_config_default();
    struct hc_world world;
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, 4, 60, 1, NULL), HC_OK);
    check_timeline(&config, "world");
    config.world = &world;
    check_timeline(&config, NULL);
    config.history = HC_HISTORY_MAX;
    config.future = 1;
    check_timeline(&config, NULL);
    config.history++;
    check_timeline(&config, "history");
    config.history = 0;
    config.future--;
    check_timeline(&config, "future");
    config.future = HC_FUTURE_MAX;
    check_timeline(&config, NULL);
    config.future++;
    check_timeline(&config, "future");
    hc_world_free(&world);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("config ranges");
    TCase *tests = tcase_create("config ranges");
    tcase_add_test(tests, every_number_of_a_server_has_its_range);
    tcase_add_test(tests, every_number_of_a_client_has_its_range);
    tcase_add_test(tests, a_client_of_another_version_is_refused_by_the_size_of_its_configuration);
    tcase_add_test(tests, a_configuration_without_maxima_has_fixed_delays);
    tcase_add_test(tests, a_prediction_limit_exceeds_the_lead);
    tcase_add_test(tests, every_number_of_a_timeline_has_its_range);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
