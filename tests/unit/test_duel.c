/// Tests of the example game Duel: the most that can happen to a player in one tick.
#include "check/plain.h"
#include "examples/duel/duel.h"
#include "tests/run_suite.h"

enum { PLAYERS = 8 };

/// The events that player 0 emits when it has `health`, all others have hit it, and it shoots if it
/// can.
static unsigned count_events(uint8_t health) {
    struct hc_world world;
    struct duel_input inputs[PLAYERS] = {{.fire = 1}};
    uint8_t rosters[PLAYERS] = {0};
    ck_assert_int_eq(hc_world_init(&world, &duel, PLAYERS, 60, 1, NULL), HC_OK);
    struct hc_plain *plain = hc_plain_create(&world, false);
    ck_assert_ptr_nonnull(plain);
    hc_plain_start(plain);
    for (hc_player p = 0; p < PLAYERS; p++) {
        struct duel_player player = {.x = 1000, .y = 1000, .health = DUEL_HEALTH};
        if (p == 0)
            player.health = health;
        else
            player.victim = 1;
        hc_plain_overlay(plain, hc_world_player(&world, p), HC_ALIVE, &player);
    }
    hc_plain_step(plain, (const uint8_t *)inputs, rosters);
    unsigned count = hc_plain_event_counts(plain)[hc_world_player(&world, 0)];
    hc_plain_destroy(plain);
    hc_world_free(&world);
    return count;
}

START_TEST(tables_have_room_for_all_events_of_a_tick) {
    unsigned most = 0;
    for (unsigned health = 1; health <= DUEL_HEALTH; health++) {
        unsigned count = count_events((uint8_t)health);
        most = count > most ? count : most;
    }
    // As many hits as kill the healthiest player, and its death.
    ck_assert_uint_eq(most, 5);
    ck_assert_uint_eq(most, duel.kinds[1].events_max);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("duel");
    TCase *tests = tcase_create("duel");
    tcase_add_test(tests, tables_have_room_for_all_events_of_a_tick);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
