/// Tests of scenes: allowed reads, reductions, random bits, and the held referee.
#include "common/scene.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 4, ENTITIES = 1 + PLAYERS * 3 + 3 + 2, STRIDE = 16 };

static struct hc_world world;
static uint8_t presence[ENTITIES], states[ENTITIES * STRIDE];

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, PLAYERS, 60, 1, NULL), HC_OK);
    ck_assert_uint_eq(world.entities, ENTITIES);
    ck_assert_uint_eq(world.stride, STRIDE);
}

static void tear_down(void) {
    hc_world_free(&world);
}

static void set(hc_entity entity, unsigned field, int64_t value) {
    hc_field_set(&hc_world_kind(&world, entity)->fields[field], states + entity * STRIDE, value);
}

/// Places all entities in a square of three reaches, most of them alive.
static void scatter(struct hc_rng *rng) {
    memset(states, 0, sizeof states);
    for (hc_entity entity = 0; entity < ENTITIES; entity++) {
        uint32_t die = hc_rng_below(rng, 6);
        presence[entity] = (uint8_t)(die < 2 ? die : HC_ALIVE);
        if (hc_world_kind(&world, entity)->x == NULL)
            continue;
        set(entity, 0, (int64_t)hc_rng_below(rng, 300) - 150);
        set(entity, 1, (int64_t)hc_rng_below(rng, 300) - 150);
    }
}

/// The rule of hc_scene_may_read, computed from plain integers.
static bool allowed(hc_entity self, hc_entity other) {
    if (self == other)
        return true;
    if (other == HC_REFEREE || self == HC_REFEREE)
        return false;
    unsigned owner = (self - 1u) / 3, others = (other - 1u) / 3;
    if (owner < PLAYERS && owner == others)
        return true;
    int64_t x, y, other_x, other_y;
    return presence[self] == HC_ALIVE && presence[other] == HC_ALIVE &&
           hc_world_position(&world, self, states + self * STRIDE, &x, &y) &&
           hc_world_position(&world, other, states + other * STRIDE, &other_x, &other_y) &&
           llabs(x - other_x) <= 100 && llabs(y - other_y) <= 100;
}

START_TEST(a_step_may_read_itself_its_owners_entities_and_its_neighbours) {
    unsigned near = 0;
    for (uint32_t stream = 0; stream < 500; stream++) {
        struct hc_rng rng = hc_rng_init(31, stream);
        scatter(&rng);
        struct hc_scene scene = {.world = &world, .states = states, .presence = presence};
        for (hc_entity self = 0; self < ENTITIES; self++)
            for (hc_entity other = 0; other < ENTITIES; other++) {
                scene.self = self;
                bool may = hc_scene_may_read(&scene, other);
                ck_assert_msg(may == allowed(self, other), "stream %u: %u reads %u", stream, self,
                              other);
                near += may;
            }
        ck_assert(!hc_scene_may_read(&scene, ENTITIES));
        ck_assert(!hc_scene_may_read(&scene, UINT16_MAX));
    }
    // Unless many are near and many are not, the property shows nothing.
    ck_assert(near > 500 * ENTITIES * 3 && near < 500 * ENTITIES * (ENTITIES - 3));
}
END_TEST

START_TEST(reach_includes_its_border) {
    memset(states, 0, sizeof states);
    memset(presence, HC_ALIVE, sizeof presence);
    hc_entity a = hc_world_player(&world, 0), b = hc_world_player(&world, 1);
    struct hc_scene scene = {.world = &world, .states = states, .presence = presence, .self = a};
    set(a, 1, INT32_MIN);
    set(b, 0, -100);
    set(b, 1, (int64_t)INT32_MIN + 100);
    ck_assert(hc_scene_may_read(&scene, b));
    set(b, 0, -101);
    ck_assert(!hc_scene_may_read(&scene, b));
    // The greatest distance of coordinates, which wraps to 1 in 32 bits.
    set(b, 0, 0);
    set(b, 1, INT32_MAX);
    ck_assert(!hc_scene_may_read(&scene, b));
}
END_TEST

START_TEST(reductions_count_only_alive_players) {
    memset(states, 0, sizeof states);
    memset(presence, HC_ALIVE, sizeof presence);
    for (hc_player player = 0; player < PLAYERS; player++) {
        set(hc_world_player(&world, player), 2, 60000 + player);
        set(hc_world_player(&world, player), 3, -10 - player);
    }
    presence[hc_world_player(&world, 0)] = HC_UNKNOWN;
    presence[hc_world_player(&world, 2)] = HC_ABSENT;
    int64_t results[3];
    hc_scene_reduce(&world, presence, states, results);
    ck_assert_int_eq(results[0], 2);
    ck_assert_int_eq(results[1], 60001 + 60003);
    // All are negative, so that their maximum differs from that of none.
    ck_assert_int_eq(results[2], -11);

    memset(presence, HC_ABSENT, sizeof presence);
    hc_scene_reduce(&world, presence, states, results);
    ck_assert(results[0] == 0 && results[1] == 0 && results[2] == 0);
}
END_TEST

START_TEST(players_are_known_although_other_entities_are_not) {
    memset(presence, HC_UNKNOWN, sizeof presence);
    for (hc_player player = 0; player < PLAYERS; player++) {
        ck_assert(!hc_scene_players_known(&world, presence));
        presence[hc_world_player(&world, player)] = player % 2 == 0 ? HC_ABSENT : HC_ALIVE;
    }
    ck_assert(hc_scene_players_known(&world, presence));
}
END_TEST

START_TEST(holding_the_referee_changes_only_its_countdowns) {
    const struct small_referee before = {.clock = 2, .phase = 3, .lead = -7};
    struct small_referee state = before;
    static const unsigned clocks[] = {2, 1, 0, 0};
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(state.clock, clocks[i]);
        ck_assert(state.phase == before.phase && state.lead == before.lead);
        struct small_referee next;
        memset(&next, 0xee, sizeof next);
        hc_scene_hold_referee(&world, (const uint8_t *)&state, (uint8_t *)&next);
        state = next;
    }
}
END_TEST

START_TEST(reading_the_referee_records_the_group) {
    memset(presence, HC_ALIVE, sizeof presence);
    struct hc_scene scene = {.world = &world, .states = states, .presence = presence, .self = 1};
    ck_assert_ptr_eq(hc_scene_referee(&scene, 2), states);
    ck_assert_ptr_eq(hc_scene_referee(&scene, 7), states);
    ck_assert_uint_eq(scene.groups_read, 1 << 2 | 1 << 7);
    presence[HC_REFEREE] = HC_UNKNOWN;
    ck_assert_ptr_null(hc_scene_referee(&scene, 0));
    ck_assert_uint_eq(scene.groups_read, 1 << 0 | 1 << 2 | 1 << 7);
}
END_TEST

START_TEST(random_numbers_differ_by_tick_self_and_purpose) {
    struct hc_scene scene = {.world = &world, .tick = 5, .self = 3};
    uint64_t bits = hc_scene_random(&scene, 1);
    ck_assert_uint_eq(bits, hc_random(1, 5, 3, 1));
    ck_assert_uint_ne(bits, hc_scene_random(&scene, 2));
    scene.self = 4;
    ck_assert_uint_ne(bits, hc_scene_random(&scene, 1));
}
END_TEST

START_TEST(secret_random_numbers_differ_by_secret_tick_self_and_purpose) {
    uint8_t secret[HC_SCENE_SECRET_SIZE] = {1}, other[HC_SCENE_SECRET_SIZE] = {2};
    struct hc_scene scene = {.world = &world, .tick = 5, .self = 3, .secret = secret};
    uint64_t bits = 0, again = 0;
    ck_assert(hc_scene_secret_random(&scene, 1, &bits));
    ck_assert_uint_ne(bits, hc_scene_random(&scene, 1));
    ck_assert(hc_scene_secret_random(&scene, 1, &again) && again == bits);
    ck_assert(hc_scene_secret_random(&scene, 2, &again) && again != bits);
    scene.tick = 6;
    ck_assert(hc_scene_secret_random(&scene, 1, &again) && again != bits);
    scene.tick = 5;
    scene.self = 4;
    ck_assert(hc_scene_secret_random(&scene, 1, &again) && again != bits);
    scene.self = 3;
    scene.secret = other;
    ck_assert(hc_scene_secret_random(&scene, 1, &again) && again != bits);
}
END_TEST

START_TEST(without_the_secret_there_are_no_secret_random_numbers) {
    struct hc_scene scene = {.world = &world, .tick = 5, .self = 3};
    uint64_t bits = 77;
    ck_assert(!hc_scene_secret_random(&scene, 1, &bits));
    ck_assert_uint_eq(bits, 77);
}
END_TEST

START_TEST(emitted_events_are_a_set_in_order_and_bounded) {
    static const struct hc_game_event_kind events[] = {{.name = "step"},
                                                       {.name = "hit", .bits = 4}};
    struct hc_game emitting = small_game;
    struct hc_kind emitters[SMALL_KINDS];
    struct hc_world emitting_world = world;
    memcpy(emitters, small_kinds, sizeof emitters);
    emitters[SMALL_PLAYER].events_max = 3;
    emitting.kinds = emitters;
    emitting.event_kinds = events;
    emitting.event_kind_count = 2;
    emitting_world.game = &emitting;
    hc_game_event emitted[3];
    uint8_t count = 0;
    struct hc_scene scene = {.world = &emitting_world,
                             .self = 4,
                             .event_first = 4,
                             .events = emitted,
                             .event_counts = &count};
    hc_emit(&scene, 1, 9);
    hc_emit(&scene, 0, 0);
    hc_emit(&scene, 1, 9);
    hc_emit(&scene, 1, 2);
    ck_assert_uint_eq(count, 3);
    ck_assert(!scene.event_refused);
    ck_assert_uint_eq(emitted[0], hc_game_event_of(0, 0));
    ck_assert_uint_eq(emitted[1], hc_game_event_of(1, 2));
    ck_assert_uint_eq(hc_game_event_number(emitted[2]), 9);
    hc_emit(&scene, 1, 3); // one too many
    ck_assert(scene.event_refused && count == 3);
    scene.event_refused = false;
    count = 0;
    hc_emit(&scene, 1, 16); // it does not fit 4 bits
    hc_emit(&scene, 2, 0);  // no such kind
    ck_assert(scene.event_refused && count == 0);
    scene.events = NULL;
    hc_emit(&scene, 1, 3); // dropped, as in an extrapolation
    ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("scene");
    TCase *tests = tcase_create("scene");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_step_may_read_itself_its_owners_entities_and_its_neighbours);
    tcase_add_test(tests, reach_includes_its_border);
    tcase_add_test(tests, reductions_count_only_alive_players);
    tcase_add_test(tests, players_are_known_although_other_entities_are_not);
    tcase_add_test(tests, holding_the_referee_changes_only_its_countdowns);
    tcase_add_test(tests, reading_the_referee_records_the_group);
    tcase_add_test(tests, random_numbers_differ_by_tick_self_and_purpose);
    tcase_add_test(tests, secret_random_numbers_differ_by_secret_tick_self_and_purpose);
    tcase_add_test(tests, without_the_secret_there_are_no_secret_random_numbers);
    tcase_add_test(tests, emitted_events_are_a_set_in_order_and_bounded);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
