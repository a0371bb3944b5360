/// A game draws all visible entities, once each and with typed fields.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, SECONDS = 5, FRAME_US = 7000, WHOLE = 65536 };

/// Draws at several moments between two ticks, and adds the visible entities of each kind to
/// `seen`.
static void draw(const struct hc_client *client, uint64_t now_us, uint64_t seen[HC_KINDS_MAX]) {
    const struct hc_world *world = hc_client_world(client);
    struct hc_client_shown shown, alone;
    hc_tick tick;
    uint32_t fraction;
    ck_assert(hc_client_show_tick(client, now_us, &tick, &fraction));
    const uint8_t *presence = hc_timeline_presence(hc_client_timeline(client), tick);
    hc_entity next = 0, expected = 0;
    while (hc_client_show_next(client, now_us, &next, &shown)) {
        for (; expected < shown.entity; expected++)
            ck_assert_uint_ne(presence[expected], HC_ALIVE);
        ck_assert_uint_eq(presence[expected++], HC_ALIVE);
        ck_assert_uint_eq(next, expected);
        ck_assert_uint_eq(shown.kind, world->kind_of[shown.entity]);
        ck_assert_uint_eq(shown.owner, world->owner_of[shown.entity]);
        ck_assert(hc_client_show(client, now_us, shown.entity, &alone));
        ck_assert_mem_eq(alone.values, shown.values,
                         shown.table->field_count * sizeof *shown.values);
        seen[shown.kind]++;
    }
    for (; expected < world->entities; expected++) {
        ck_assert_uint_ne(presence[expected], HC_ALIVE);
        ck_assert(!hc_client_show(client, now_us, expected, &alone));
    }
}

static struct scenario *begin(void) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, 7);
    return scenario_create(&config);
}

START_TEST(every_visible_entity_is_drawn_once) {
    struct scenario *scenario = begin();
    uint64_t seen[HC_KINDS_MAX] = {0};
    struct hc_client_shown shown;
    hc_entity next = 0;
    hc_sim_connect(scenario->sim, 0);
    ck_assert(!hc_client_show_next(hc_sim_client(scenario->sim, 0), 0, &next, &shown));
    ck_assert(!hc_client_show(hc_sim_client(scenario->sim, 0), 0, HC_REFEREE, &shown));
    ck_assert(hc_sim_join_all(scenario->sim));
    for (unsigned i = 0; i < SECONDS * 20; i++) {
        hc_sim_run(scenario->sim, SECOND_US / 20);
        for (unsigned c = 0; c < CLIENTS; c++)
            draw(hc_sim_client(scenario->sim, c), hc_sim_client_now(scenario->sim, c), seen);
    }
    for (unsigned kind = 0; kind < hc_arena.kind_count; kind++)
        ck_assert_uint_gt(seen[kind], 0);
    scenario_destroy(scenario);
}
END_TEST

START_TEST(drawn_field_is_between_those_of_two_ticks_in_its_own_unit) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, 7);
    config.client.smoothing_us = 0;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    const struct hc_client *client = hc_sim_client(scenario->sim, 0);
    const struct hc_world *world = hc_client_world(client);
    const struct hc_timeline *timeline = hc_client_timeline(client);
    hc_entity self = hc_world_player(world, hc_client_player(client, 0));
    unsigned between = 0;
    for (unsigned i = 0; i < SECONDS * 600; i++) {
        struct hc_client_shown shown;
        struct hc_arena_player from, to;
        hc_tick tick;
        uint32_t fraction;
        hc_sim_run(scenario->sim, SECOND_US / 600);
        uint64_t now_us = hc_sim_client_now(scenario->sim, 0);
        ck_assert(hc_client_show_tick(client, now_us, &tick, &fraction));
        ck_assert(hc_client_show(client, now_us, self, &shown));
        size_t at = (size_t)self * world->stride;
        memcpy(&from, hc_timeline_states(timeline, tick) + at, sizeof from);
        memcpy(&to, hc_timeline_states(timeline, tick + (fraction > 0)) + at, sizeof to);
        double x = HC_SHOWN(&shown, struct hc_arena_player, x);
        double way = ((double)to.x - from.x) * fraction / 65536;
        bool teleports = labs((long)to.x - from.x) > (long)shown.table->teleport ||
                         labs((long)to.y - from.y) > (long)shown.table->teleport;
        ck_assert_double_eq_tol(x, from.x + (teleports ? 0 : way), 1.0 / 128);
        ck_assert_double_eq(HC_SHOWN(&shown, struct hc_arena_player, health), from.health);
        between += !teleports && from.x != to.x && x != from.x && x != to.x;
    }
    ck_assert_uint_gt(between, 100);
    scenario_destroy(scenario);
}
END_TEST

/// The shown time in 1/65536 ticks.
static int64_t shown_at(struct hc_sim *sim, unsigned client) {
    hc_tick tick;
    uint32_t fraction;
    uint64_t now_us = hc_sim_client_now(sim, client);
    ck_assert(hc_client_show_tick(hc_sim_client(sim, client), now_us, &tick, &fraction));
    return (int64_t)tick * WHOLE + fraction;
}

/// Jitter, clocks that drift, and a server that misses ticks and sets its clock back.
START_TEST(shown_time_never_goes_back_or_leaps) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, 71);
    config.up.jitter_us = config.down.jitter_us = 30 * MS_US;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    int64_t before[CLIENTS], frame = (int64_t)FRAME_US * WHOLE * config.host.tick_rate / SECOND_US;
    for (unsigned i = 0; i < CLIENTS; i++) {
        hc_sim_setup(sim, i)->clock_ppm = 100 * (int32_t)i - 150;
        ck_assert(hc_sim_connect(sim, i));
    }
    hc_sim_run(sim, 2 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        before[i] = shown_at(sim, i);
    for (uint64_t us = 0; us < 12 * SECOND_US; us += FRAME_US) {
        if (us / FRAME_US == 250) // the server makes up for 16 ticks and misses 5
            hc_sim_freeze_host(sim, hc_sim_now(sim) + 350 * MS_US);
        hc_sim_run(sim, FRAME_US);
        for (unsigned i = 0; i < CLIENTS; i++) {
            int64_t shown = shown_at(sim, i);
            ck_assert_int_ge(shown - before[i], frame * 94 / 100);
            ck_assert_int_le(shown - before[i], frame * 106 / 100);
            before[i] = shown;
        }
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, i))->clock_jumps, 0);
    ck_assert_uint_ge(hc_server_stats(hc_sim_host(sim))->ticks_missed, 5);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(field_of_another_kind_aborts) {
    struct scenario *scenario = begin();
    struct hc_client_shown shown;
    ck_assert(hc_sim_join_all(scenario->sim));
    ck_assert(hc_client_show(hc_sim_client(scenario->sim, 0), hc_sim_client_now(scenario->sim, 0),
                             HC_REFEREE, &shown));
    ck_assert_double_ge(HC_SHOWN(&shown, struct hc_arena_referee, clock), 0);
    (void)HC_SHOWN(&shown, struct hc_arena_player, x);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("shown");
    TCase *tests = tcase_create("shown");
    tcase_add_test(tests, every_visible_entity_is_drawn_once);
    tcase_add_test(tests, drawn_field_is_between_those_of_two_ticks_in_its_own_unit);
    tcase_add_test(tests, shown_time_never_goes_back_or_leaps);
    tcase_add_test_raise_signal(tests, field_of_another_kind_aborts, SIGABRT);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
