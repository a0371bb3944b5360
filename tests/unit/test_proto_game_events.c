/// Tests of the bits of game events in a snapshot.
#include "hindcast/arena.h"
#include "proto/game_events.h"
#include "tests/run_suite.h"

enum { PLAYERS = 4, FINAL = 3000 };

static struct hc_world world;
static uint8_t room[256];
static struct hc_bits_writer out;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL), HC_OK);
    out = hc_bits_writer(room, sizeof room);
}

static void tear_down(void) {
    hc_world_free(&world);
}

static struct hc_bits_reader written(void) {
    return hc_bits_reader(room, hc_bits_finish(&out));
}

START_TEST(events_are_read_as_they_were_written) {
    const hc_game_event hit = hc_game_event_of(HC_ARENA_EVENT_HIT, 3);
    hc_tick first = 0;
    uint32_t count = 0;
    hc_entity entity = 0;
    hc_game_event event = 0;
    hc_game_events_put(&out, FINAL, FINAL - 7, 3);
    hc_game_events_put_end(&out); // none at the first tick
    size_t before = hc_bits_written(&out);
    hc_game_events_put_event(&out, &world, 2, hit);
    ck_assert_uint_eq(hc_bits_written(&out) - before,
                      hc_game_events_bits(&world, HC_ARENA_EVENT_HIT));
    hc_game_events_put_event(&out, &world, 6, hc_game_event_of(HC_ARENA_EVENT_DEATH, 0));
    hc_game_events_put_end(&out);
    hc_game_events_put_event(&out, &world, 2, hit);
    hc_game_events_put_end(&out);

    struct hc_bits_reader in = written();
    ck_assert(hc_game_events_get(&in, FINAL, &first, &count));
    ck_assert_uint_eq(first, FINAL - 9);
    ck_assert_uint_eq(count, 3);
    ck_assert(!hc_game_events_get_event(&in, &world, true, &entity, &event));
    ck_assert(hc_game_events_get_event(&in, &world, true, &entity, &event));
    ck_assert(entity == 2 && event == hit);
    ck_assert(hc_game_events_get_event(&in, &world, false, &entity, &event));
    ck_assert(entity == 6 && hc_game_event_kind(event) == HC_ARENA_EVENT_DEATH);
    ck_assert(!hc_game_events_get_event(&in, &world, false, &entity, &event));
    ck_assert(hc_game_events_get_event(&in, &world, true, &entity, &event));
    ck_assert(!hc_game_events_get_event(&in, &world, false, &entity, &event));
    ck_assert(hc_bits_done(&in));
}
END_TEST

START_TEST(a_snapshot_without_events_takes_one_bit) {
    hc_tick first;
    uint32_t count;
    hc_game_events_put_end(&out);
    ck_assert_uint_eq(hc_bits_written(&out), 1);
    struct hc_bits_reader in = written();
    ck_assert(!hc_game_events_get(&in, FINAL, &first, &count));
    ck_assert(hc_bits_done(&in));
}
END_TEST

START_TEST(early_ticks_descend_up_to_the_padding) {
    enum { SHOWN = FINAL + 20 };
    const hc_tick ticks[] = {SHOWN, SHOWN - 1, SHOWN - 9};
    hc_tick tick = SHOWN + 1;
    hc_entity entity = 0;
    hc_game_event event = 0;
    struct hc_bits_reader in = written();
    ck_assert(!hc_game_events_get_early(&in, FINAL, SHOWN, &tick)); // without any, no bit
    ck_assert(hc_bits_done(&in));
    for (unsigned i = 0; i < 3; i++) {
        hc_game_events_put_early(&out, i == 0 ? SHOWN + 1 : ticks[i - 1], ticks[i]);
        if (i != 1) // the events of this tick are taken back
            hc_game_events_put_event(&out, &world, 2, hc_game_event_of(HC_ARENA_EVENT_HIT, 3));
        hc_game_events_put_end(&out);
    }
    in = written();
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(hc_game_events_get_early(&in, FINAL, SHOWN, &tick));
        ck_assert_uint_eq(tick, ticks[i]);
        ck_assert(hc_game_events_get_event(&in, &world, true, &entity, &event) == (i != 1));
        ck_assert(i == 1 || !hc_game_events_get_event(&in, &world, false, &entity, &event));
    }
    ck_assert(!hc_game_events_get_early(&in, FINAL, SHOWN, &tick));
    ck_assert(hc_bits_done(&in));
}
END_TEST

/// Whether an early list of `tick`, of a snapshot that shows `shown`, is refused.
static bool refuses_early(hc_tick final, hc_tick shown, hc_tick tick) {
    hc_tick read = shown + 1;
    out = hc_bits_writer(room, sizeof room);
    hc_game_events_put_early(&out, shown + 1, tick);
    hc_game_events_put_end(&out);
    struct hc_bits_reader in = written();
    return !hc_game_events_get_early(&in, final, shown, &read) && in.failed;
}

START_TEST(early_lists_of_final_and_old_ticks_are_refused) {
    ck_assert(!refuses_early(FINAL, FINAL + 2, FINAL + 1));
    ck_assert(refuses_early(FINAL, FINAL + 2, FINAL));
    ck_assert(refuses_early(FINAL, FINAL, FINAL));
    ck_assert(refuses_early(FINAL + 9, FINAL, FINAL));
    ck_assert(!refuses_early(FINAL, FINAL + 500, FINAL + 501 - HC_GAME_EVENTS_EARLY));
    ck_assert(refuses_early(FINAL, FINAL + 500, FINAL + 500 - HC_GAME_EVENTS_EARLY));
    ck_assert(!refuses_early(0, 2, 1));
    ck_assert(refuses_early(0, 2, 0));
}
END_TEST

/// Whether a tick with these two events is refused.
static bool refuses(hc_entity a, hc_game_event x, hc_entity b, hc_game_event y) {
    hc_entity entity = 0;
    hc_game_event event = 0;
    out = hc_bits_writer(room, sizeof room);
    hc_game_events_put_event(&out, &world, a, x);
    hc_game_events_put_event(&out, &world, b, y);
    hc_game_events_put_end(&out);
    struct hc_bits_reader in = written();
    for (bool first = true; hc_game_events_get_event(&in, &world, first, &entity, &event);
         first = false)
        ;
    return in.failed;
}

START_TEST(events_out_of_order_are_refused) {
    const hc_game_event hit = hc_game_event_of(HC_ARENA_EVENT_HIT, 3);
    const hc_game_event kill = hc_game_event_of(HC_ARENA_EVENT_KILL, 3);
    const hc_game_event other = hc_game_event_of(HC_ARENA_EVENT_HIT, 2);
    ck_assert(!refuses(2, hit, 3, hit));
    ck_assert(refuses(3, hit, 2, hit));
    ck_assert(refuses(2, hit, 2, hit));
    ck_assert(!refuses(2, hit, 2, kill));
    ck_assert(refuses(2, kill, 2, hit));
    ck_assert(!refuses(2, other, 2, hit));
    ck_assert(refuses(2, hit, 2, other));
    ck_assert(refuses(2, hit, (hc_entity)world.entities, hit)); // no such entity
}
END_TEST

START_TEST(ticks_too_old_or_before_the_first_are_refused) {
    static const struct {
        hc_tick final, last;
        uint32_t count;
        bool fails;
    } cases[] = {{FINAL, FINAL, HC_GAME_EVENTS_TICKS, false},
                 {FINAL, FINAL - 1, HC_GAME_EVENTS_TICKS, true},
                 {FINAL, FINAL - HC_GAME_EVENTS_TICKS + 1, 1, false},
                 {FINAL, FINAL - HC_GAME_EVENTS_TICKS, 1, true},
                 {2, 2, 3, false}};
    hc_tick first;
    uint32_t count;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        out = hc_bits_writer(room, sizeof room);
        hc_game_events_put(&out, cases[i].final, cases[i].last, cases[i].count);
        struct hc_bits_reader in = written();
        ck_assert(hc_game_events_get(&in, cases[i].final, &first, &count) != cases[i].fails);
        ck_assert_msg(in.failed == cases[i].fails, "case %zu", i);
    }
    out = hc_bits_writer(room, sizeof room);
    hc_game_events_put(&out, 5, 5, 3);
    struct hc_bits_reader in = written();
    ck_assert(!hc_game_events_get(&in, 1, &first, &count)); // three ticks up to tick 1
    ck_assert(in.failed);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto game events");
    TCase *tests = tcase_create("game events");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, events_are_read_as_they_were_written);
    tcase_add_test(tests, a_snapshot_without_events_takes_one_bit);
    tcase_add_test(tests, events_out_of_order_are_refused);
    tcase_add_test(tests, ticks_too_old_or_before_the_first_are_refused);
    tcase_add_test(tests, early_ticks_descend_up_to_the_padding);
    tcase_add_test(tests, early_lists_of_final_and_old_ticks_are_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
