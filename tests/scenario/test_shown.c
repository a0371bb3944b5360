/// A game draws all visible entities, once each and with typed fields.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 4, SECONDS = 5 };

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
    tcase_add_test_raise_signal(tests, field_of_another_kind_aborts, SIGABRT);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
