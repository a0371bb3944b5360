/// A client chooses its input delay and its lead, and a game changes them while playing.
#include "tests/scenario/scenario.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum { LATENCY_MS = 50, JITTER_MS = 5, STOP_US = 60 * MS_US, STOPS_US = 3 * SECOND_US };

static struct scenario *begin(const char *preset, uint32_t latency_ms, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, latency_ms, seed);
    struct hc_client_timing timing;
    ck_assert(hc_client_timing_preset(preset, &timing));
    config.up.jitter_us = config.down.jitter_us = latency_ms > JITTER_MS ? JITTER_MS * MS_US : 0;
    config.client.input_delay = timing.input_delay;
    config.client.input_delay_max = timing.input_delay_max;
    config.client.lead = timing.lead;
    config.client.lead_max = timing.lead_max;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 8 * SECOND_US);
    return scenario;
}

static struct hc_client_recent recent_of(const struct scenario *scenario) {
    struct hc_client_recent recent;
    ck_assert(hc_client_recent(hc_sim_client(scenario->sim, 0), &recent));
    return recent;
}

/// Inputs that were late, or not there at all, within `us`.
static uint64_t late_within(struct scenario *scenario, uint64_t us) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    uint64_t before = stats->inputs_late + stats->inputs_forced + stats->inputs_refused;
    hc_sim_run(scenario->sim, us);
    return stats->inputs_late + stats->inputs_forced + stats->inputs_refused - before;
}

START_TEST(automatic_input_delay_is_small_nearby_and_at_its_maximum_far_away) {
    struct scenario *near = begin("balanced", 0, 1), *far = begin("balanced", LATENCY_MS, 2);
    ck_assert_uint_le(recent_of(near).input_delay, 1);
    ck_assert_uint_eq(recent_of(far).input_delay, 3);
    ck_assert_uint_eq(recent_of(near).lead, 0);
    ck_assert_uint_eq(recent_of(far).lead, 1); // no more: farther paths are rewound
    ck_assert_uint_eq(late_within(near, 4 * SECOND_US), 0);
    scenario_destroy(near);
    scenario_destroy(far);
}
END_TEST

/// A path of 50 ms takes 3 ticks, and one of 55 ms takes 4.
START_TEST(default_delays_rewind_next_to_nothing_at_a_round_trip_of_100_ms) {
    enum { SECONDS = 20 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 4, LATENCY_MS, 7);
    config.up.jitter_us = config.down.jitter_us = JITTER_MS * MS_US;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 8 * SECOND_US);
    const struct hc_server *host = hc_sim_host(scenario->sim);
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_server_timeline(host));
    const struct hc_server_stats before = *hc_server_stats(host);
    uint64_t again = stats->resimulated_ticks;
    hc_tick ticks = hc_timeline_head(hc_server_timeline(host));
    hc_sim_run(scenario->sim, SECONDS * SECOND_US);
    const struct hc_server_stats *after = hc_server_stats(host);
    again = stats->resimulated_ticks - again;
    ticks = hc_timeline_head(hc_server_timeline(host)) - ticks;
    printf("%lu of %u ticks simulated again, %lu of %lu inputs late\n", (unsigned long)again, ticks,
           (unsigned long)(after->inputs_late - before.inputs_late),
           (unsigned long)(after->inputs_received - before.inputs_received));
    ck_assert_uint_ge(ticks, SECONDS * 60 - 1);
    ck_assert_uint_le(again * 50, ticks);
    ck_assert_uint_eq(after->inputs_forced, before.inputs_forced);
    ck_assert_uint_eq(after->inputs_refused, before.inputs_refused);
    scenario_destroy(scenario);
}
END_TEST

/// The link up holds everything back for a moment, and then delivers it at once.
static void stop_now_and_then(void *context, struct hc_sim *sim, unsigned client,
                              const uint8_t *bytes, size_t size) {
    struct hc_network_sim_config link = hc_sim_link(20, 0);
    uint32_t since_us = (uint32_t)(hc_sim_now(sim) % STOPS_US);
    (void)context, (void)bytes, (void)size;
    link.latency_us += since_us < STOP_US ? STOP_US - since_us : 0;
    hc_sim_set_link(sim, client, &link, NULL);
}

static void note_lead(void *context, struct hc_sim *sim, unsigned client) {
    struct hc_client_recent recent;
    uint32_t *most = context;
    if (hc_client_recent(hc_sim_client(sim, client), &recent) && recent.lead > *most)
        *most = recent.lead;
}

/// Two datagrams of 120 are late by more than the input delay can make good.
START_TEST(a_lone_stop_of_the_link_raises_no_lead) {
    struct scenario *scenario = begin("ahead", 20, 8);
    uint32_t most = 0;
    hc_sim_observe(
        scenario->sim,
        &(struct hc_sim_hooks){.client_sent = stop_now_and_then, .client_changed = note_lead},
        &most);
    ck_assert_uint_gt(late_within(scenario, 40 * SECOND_US), 20);
    ck_assert_uint_eq(most, 0);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(automatic_lead_makes_nothing_late_on_a_longer_path) {
    struct scenario *scenario = begin("ahead", LATENCY_MS, 3);
    ck_assert_uint_eq(recent_of(scenario).input_delay, 3);
    ck_assert_uint_ge(recent_of(scenario).lead, 1);
    ck_assert_uint_eq(late_within(scenario, 4 * SECOND_US), 0);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(automatic_delays_follow_a_path_that_becomes_longer_and_shorter) {
    struct scenario *scenario = begin("ahead", LATENCY_MS, 4);
    uint32_t before = recent_of(scenario).lead;
    hc_sim_set_links(scenario->sim, hc_sim_link(LATENCY_MS + 40, 0));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    ck_assert_uint_ge(recent_of(scenario).lead, before + 2);
    ck_assert_uint_eq(late_within(scenario, SECOND_US), 0);
    hc_sim_set_links(scenario->sim, hc_sim_link(LATENCY_MS, 0));
    hc_sim_run(scenario->sim, 8 * SECOND_US);
    ck_assert_uint_le(recent_of(scenario).lead, before);
    scenario_destroy(scenario);
}
END_TEST

/// Each tick has one input, which is never stamped again, whatever the game changes.
START_TEST(changes_while_playing_leave_each_tick_its_one_input) {
    enum { CHANGES = 60, KEPT = 40 };
    struct scenario *scenario = begin("rewind", 20, 5);
    struct hc_client *client = hc_sim_client(scenario->sim, 0);
    const struct hc_cl_inputs *inputs = &client->link.inputs;
    struct hc_rng rng = hc_rng_init(5, 0);
    uint64_t sampled = hc_client_stats(client)->inputs_sampled;
    hc_tick first = inputs->next;
    for (unsigned i = 0; i < CHANGES; i++) {
        struct hc_arena_input kept[KEPT];
        hc_tick next = inputs->next;
        for (hc_tick back = 0; back < KEPT; back++)
            memcpy(&kept[back], hc_cl_inputs_at(inputs, next - 1 - back, 0), sizeof kept[back]);
        struct hc_client_timing timing = {.input_delay = hc_rng_below(&rng, 10),
                                          .lead = hc_rng_below(&rng, 10)};
        ck_assert_int_eq(hc_client_set_timing(client, &timing), HC_OK);
        hc_sim_run(scenario->sim, 100 * MS_US);
        for (hc_tick back = 0; back < KEPT; back++)
            ck_assert_mem_eq(&kept[back], hc_cl_inputs_at(inputs, next - 1 - back, 0),
                             sizeof kept[back]);
        ck_assert_uint_eq(recent_of(scenario).input_delay, timing.input_delay);
        ck_assert_uint_eq(recent_of(scenario).lead, timing.lead);
    }
    ck_assert_uint_eq(hc_client_stats(client)->inputs_sampled - sampled, inputs->next - first);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(scenario->sim))->inputs_lost, 0);
    ck_assert_uint_eq(hc_client_stats(client)->clock_jumps, 0);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    scenario_check_final(scenario, 0);
    scenario_destroy(scenario);
}
END_TEST

/// After the lead of `ahead` has gone inputs are many ticks later than usual.
START_TEST(late_limit_follows_another_preset_within_two_seconds_and_each_loss_has_its_cause) {
    static const char *const turns[] = {"ahead", "rewind", "balanced", "ahead", "rewind"};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 0, 21);
    ck_assert(hc_network_sim_preset("bad", &config.up));
    config.down = config.up;
    config.host.late_margin = 3;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(scenario->sim));
    uint64_t missed = 0;
    for (unsigned i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct hc_client_timing timing;
        ck_assert(hc_client_timing_preset(turns[i], &timing));
        ck_assert_int_eq(hc_client_set_timing(hc_sim_client(scenario->sim, 0), &timing), HC_OK);
        uint64_t before = stats->inputs_forced + stats->inputs_refused;
        hc_sim_run(scenario->sim, 2 * SECOND_US);
        missed += stats->inputs_forced + stats->inputs_refused - before;
        struct hc_server_stats settled = *stats;
        hc_sim_run(scenario->sim, 6 * SECOND_US);
        printf("%s: %lu inputs forced or refused in 2 s, then %lu and %lu in 6 s\n", turns[i],
               (unsigned long)(settled.inputs_forced + settled.inputs_refused - before),
               (unsigned long)(stats->inputs_forced - settled.inputs_forced),
               (unsigned long)(stats->inputs_refused - settled.inputs_refused));
        ck_assert_uint_eq(stats->inputs_forced, settled.inputs_forced);
        ck_assert_uint_eq(stats->inputs_refused, settled.inputs_refused);
    }
    ck_assert_uint_gt(missed, 0);
    ck_assert_uint_eq(stats->inputs_lost, 0);
    ck_assert_uint_gt(stats->forced_late, 0);
    ck_assert_uint_eq(stats->forced_late + stats->forced_given_up + stats->forced_silent,
                      stats->inputs_forced);
    ck_assert_uint_eq(stats->refused_late + stats->refused_ahead, stats->inputs_refused);
    const struct hc_client_stats *client = hc_client_stats(hc_sim_client(scenario->sim, 0));
    ck_assert_uint_gt(client->forced_late, 0);
    ck_assert_uint_le(client->forced_late, client->inputs_forced);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(timing_out_of_its_range_is_refused_and_changes_nothing) {
    static const struct hc_client_timing bad[] = {
        {.input_delay = HC_INPUT_DELAY_MAX + 1},
        {.input_delay_max = HC_INPUT_DELAY_MAX + 1},
        {.lead = HC_LEAD_MAX + 1},
        {.lead_max = HC_LEAD_MAX + 1},
        {.input_delay_max = 29, .lead = 20},
    };
    struct scenario *scenario = begin("rewind", 20, 6);
    struct hc_client *client = hc_sim_client(scenario->sim, 0);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(hc_client_set_timing(client, &bad[i]), HC_INVALID);
    ck_assert_int_eq(
        hc_client_set_timing(client, &(struct hc_client_timing){.input_delay = 28, .lead = 20}),
        HC_OK);
    scenario_destroy(scenario);
}
END_TEST

/// How many ticks what is shown of `entity` is behind the newest predicted tick.
static hc_tick shown_behind(const struct scenario *scenario, hc_entity entity) {
    const struct hc_client *client = hc_sim_client(scenario->sim, 0);
    hc_tick tick, head = hc_timeline_head(hc_client_timeline(client));
    uint32_t fraction;
    ck_assert(hc_client_show_tick_of(client, hc_sim_now(scenario->sim), entity, &tick, &fraction));
    return head - tick;
}

static enum hc_status set_display(const struct scenario *scenario, uint32_t offset,
                                  enum hc_others others) {
    const struct hc_client_display display = {offset, others};
    return hc_client_set_display(hc_sim_client(scenario->sim, 0), &display,
                                 hc_sim_now(scenario->sim));
}

/// The display offset and the others' tick change while playing, up to what the client has memory
/// for: what is shown follows, and nothing is resimulated otherwise than before.
START_TEST(display_changes_while_playing) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, LATENCY_MS, 7);
    config.client.display_offset_max = 6;
    config.client.others = HC_OTHERS_PREDICTED;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    struct hc_client *client = hc_sim_client(scenario->sim, 0);
    const struct hc_world *world = hc_client_world(client);
    hc_entity own = hc_world_player(world, hc_client_player(client, 0));
    hc_entity other = hc_world_player(world, hc_client_player(hc_sim_client(scenario->sim, 1), 0));
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    hc_tick before = shown_behind(scenario, own);
    ck_assert_uint_le(before, 1);
    ck_assert_int_eq(set_display(scenario, 7, HC_OTHERS_BY_GAME), HC_INVALID);
    ck_assert_int_eq(set_display(scenario, 0, HC_OTHERS_AS_RECEIVED + 1), HC_INVALID);
    ck_assert_int_eq(set_display(scenario, 6, HC_OTHERS_PREDICTED), HC_OK);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    ck_assert_uint_ge(shown_behind(scenario, own), 6);
    ck_assert_uint_eq(shown_behind(scenario, other), shown_behind(scenario, own));
    ck_assert_int_eq(set_display(scenario, 0, HC_OTHERS_AS_RECEIVED), HC_OK);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    ck_assert_uint_le(shown_behind(scenario, own), 1);
    ck_assert_uint_ge(shown_behind(scenario, other), LATENCY_MS * 60 / 1000);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, 2 * SECOND_US);
    scenario_check_final(scenario, 0);
    scenario_destroy(scenario);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("timing");
    TCase *tests = tcase_create("timing");
    tcase_add_test(tests, automatic_input_delay_is_small_nearby_and_at_its_maximum_far_away);
    tcase_add_test(tests, default_delays_rewind_next_to_nothing_at_a_round_trip_of_100_ms);
    tcase_add_test(tests, a_lone_stop_of_the_link_raises_no_lead);
    tcase_add_test(tests, automatic_lead_makes_nothing_late_on_a_longer_path);
    tcase_add_test(tests, automatic_delays_follow_a_path_that_becomes_longer_and_shorter);
    tcase_add_test(tests, changes_while_playing_leave_each_tick_its_one_input);
    tcase_add_test(
        tests, late_limit_follows_another_preset_within_two_seconds_and_each_loss_has_its_cause);
    tcase_add_test(tests, timing_out_of_its_range_is_refused_and_changes_nothing);
    tcase_add_test(tests, display_changes_while_playing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
