/// Tests of hc_game.step_run: it is equal to `step`, or the checks of the dev preset abort.
#include "common/timeline.h"
#include "hindcast/arena.h"
#include "hindcast/scene.h"
#include "tests/run_suite.h"

#include <signal.h>
#include <string.h>

enum { PLAYERS = 30, HISTORY = 16, TICKS = 120 };

/// A mistake of step_run in one slot.
static enum lie { HONEST, OTHER_STATE, OTHER_PRESENCE, UNREAD_GROUP } lie;

static uint32_t calls, longest;
static bool misused; ///< a call broke the contract

/// The arena's steps, one after the other; it leaves pickups to `step`.
static bool step_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t *out,
                     uint8_t *presence) {
    const struct hc_world *world = scene->world;
    misused |= first == HC_REFEREE;
    if (world->kind_of[first] == HC_ARENA_KIND_PICKUP)
        return false;
    calls++;
    longest = count > longest ? count : longest;
    for (uint32_t i = 0; i < count; i++) {
        hc_entity e = (hc_entity)(first + i);
        misused |= world->kind_of[e] != world->kind_of[first] || scene->presence[e] == HC_UNKNOWN;
        hc_scene_turn(scene, e);
        bool alive = hc_arena.step(scene, e, out + (size_t)i * world->stride);
        presence[i] = alive ? HC_ALIVE : HC_ABSENT;
    }
    if (world->kind_of[first] != HC_ARENA_KIND_PLAYER || presence[0] != HC_ALIVE)
        return true;
    if (lie == OTHER_STATE)
        out[0] ^= 1;
    if (lie == OTHER_PRESENCE)
        presence[0] = HC_ABSENT;
    if (lie == UNREAD_GROUP)
        scene->groups_read = 0;
    return true;
}

static struct hc_game run_game;
static struct hc_world world, run_world;

enum { STEPS, RUNS, FULL_RUNS, TIMELINES };
static struct hc_timeline *timelines[TIMELINES];

static void set_up(void) {
    run_game = hc_arena;
    run_game.step_run = step_run;
    lie = HONEST;
    calls = longest = 0;
    misused = false;
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, NULL), HC_OK);
    ck_assert_int_eq(hc_world_init(&run_world, &run_game, PLAYERS, 60, 1, NULL), HC_OK);
    for (int i = 0; i < TIMELINES; i++) {
        struct hc_timeline_config config = hc_timeline_config_default();
        config.world = i == STEPS ? &world : &run_world;
        config.history = HISTORY;
        config.full = i == FULL_RUNS;
        timelines[i] = hc_timeline_create(&config);
        ck_assert_ptr_nonnull(timelines[i]);
        hc_timeline_start(timelines[i]);
    }
}

static void tear_down(void) {
    for (int i = 0; i < TIMELINES; i++)
        hc_timeline_destroy(timelines[i]);
    hc_world_free(&world);
    hc_world_free(&run_world);
}

/// Puts an input of `player` at `tick` into all timelines.
static void put(hc_player player, hc_tick tick) {
    uint64_t random = hc_random(9, player, tick, 0);
    struct hc_arena_input input = {.move_x = (int8_t)((int)(random % 3) - 1),
                                   .move_y = (int8_t)((int)(random / 3 % 3) - 1),
                                   .aim = (uint8_t)(random >> 16),
                                   .fire = random >> 24 & 1};
    for (int i = 0; i < TIMELINES; i++)
        (void)hc_timeline_put_input(timelines[i], player, tick, &input);
}

/// Lets all players join and plays TICKS ticks. Every `late_every`th player is late, the others are
/// in time.
static void play(hc_player late_every) {
    for (hc_tick t = 0; t < TICKS; t++) {
        for (hc_player p = 0; p < PLAYERS; p++) {
            if (t == 0)
                for (int i = 0; i < TIMELINES; i++)
                    hc_timeline_put_roster(timelines[i], p, 0, HC_ROSTER_JOIN);
            hc_tick late = p % late_every == 0 ? 6 : 0;
            if (t > late)
                put(p, t - late);
        }
        for (int i = 0; i < TIMELINES; i++)
            hc_timeline_advance(timelines[i]);
    }
}

static void check_equal(void) {
    ck_assert(!misused);
    for (hc_tick t = hc_timeline_oldest(timelines[STEPS]); t <= TICKS; t++) {
        uint64_t hash = hc_timeline_hash(timelines[STEPS], t);
        ck_assert(hc_timeline_hash(timelines[RUNS], t) == hash);
        ck_assert(hc_timeline_hash(timelines[FULL_RUNS], t) == hash);
    }
}

START_TEST(runs_of_slots_give_the_same_states_as_single_steps) {
    play(7);
    check_equal();
    ck_assert_uint_gt(calls, 0);
    ck_assert_uint_eq(longest, HC_ARENA_SHOTS);
}
END_TEST

START_TEST(ticks_that_many_late_inputs_change_are_taken_as_a_whole_and_stay_equal) {
    play(1);
    check_equal();
    const struct hc_timeline_stats *stats = hc_timeline_stats(timelines[RUNS]);
    ck_assert_uint_gt(stats->resimulated_steps, stats->resimulated_ticks * world.entities / 2);
    hc_timeline_redo(timelines[STEPS], 0);
    hc_timeline_redo(timelines[RUNS], 0);
    for (int i = 0; i < TIMELINES; i++)
        hc_timeline_resimulate(timelines[i]);
    check_equal();
}
END_TEST

START_TEST(a_run_that_differs_from_step_aborts_when_checks_are_on) {
    static const enum lie lies[] = {OTHER_STATE, OTHER_PRESENCE, UNREAD_GROUP};
    lie = lies[_i];
    play(7);
}
END_TEST

// ---- A world without positions ------------------------------------------------------------------

struct count {
    uint32_t sum, input;
};

struct add {
    uint32_t by;
};

static const struct hc_field count_fields[] = {HC_FIELD(struct count, sum, 32, false),
                                               HC_FIELD(struct count, input, 32, false)};
static const struct hc_field add_fields[] = {HC_FIELD(struct add, by, 32, false)};
static const struct hc_kind count_kinds[] = {
    {"clock", sizeof(struct count), 2, count_fields, NULL, NULL, 0, 0},
    {"player", sizeof(struct count), 2, count_fields, NULL, NULL, 0, 0},
    {"counter", sizeof(struct count), 2, count_fields, NULL, NULL, 0, 0},
};
static const struct hc_slots counters[] = {{.kind = 1, .count = 1}, {.kind = 2, .count = 5}};

static bool start_count(const struct hc_world *unused, hc_entity self, void *out) {
    *(struct count *)out = (struct count){.sum = self};
    return unused != NULL;
}

/// Counts up to a limit, is absent for a tick there, and then begins again.
static bool step_count(struct hc_scene *scene, hc_entity self, void *out) {
    const struct count *now = hc_scene_state(scene, self);
    struct count next = {0};
    if (self != HC_REFEREE)
        next.input = ((const struct add *)hc_scene_input(scene))->by;
    next.sum = now == NULL ? 0 : now->sum + next.input % (self % 3 + 1);
    memcpy(out, &next, sizeof next);
    return next.sum < 40;
}

static void repeat_add(const void *last, uint32_t age, void *out) {
    const struct add none = {0};
    memcpy(out, age < 3 ? last : &none, sizeof none);
}

static void keep_add(void *input) {
    (void)input; // all that fits is allowed
}

static const struct hc_game count_game = {
    .name = "counts",
    .version = 1,
    .players_max = PLAYERS,
    .kinds = count_kinds,
    .kind_count = 3,
    .owned = counters,
    .owned_count = 2,
    .input_fields = add_fields,
    .input_field_count = 1,
    .input_size = sizeof(struct add),
    .start = start_count,
    .step = step_count,
    .predict_input = repeat_add,
    .sanitize_input = keep_add,
};

/// The hash at TICKS of a world of counters in which every `late_every`th player is 5 ticks late
/// (0: none), after all inputs are known.
static uint64_t hash_of_counts(const struct hc_world *counted, hc_player late_every, bool full) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = counted;
    config.full = full;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    hc_timeline_start(timeline);
    for (hc_tick t = 0; t < TICKS + 5; t++) {
        for (hc_player p = 0; p < PLAYERS; p++) {
            hc_tick of = t - (late_every != 0 && p % late_every == 0 ? 5 : 0);
            struct add add = {.by = (uint32_t)hc_random(4, p, of / 4, 0) % 4};
            if (t == 0)
                hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
            else if (of > 0 && of < TICKS)
                (void)hc_timeline_put_input(timeline, p, of, &add);
        }
        if (t < TICKS)
            hc_timeline_advance(timeline);
        else
            hc_timeline_resimulate(timeline);
    }
    uint64_t hash = hc_timeline_hash(timeline, TICKS);
    hc_timeline_destroy(timeline);
    return hash;
}

START_TEST(a_world_without_positions_is_the_same_however_many_inputs_are_late) {
    struct hc_world counted;
    ck_assert_int_eq(hc_world_init(&counted, &count_game, PLAYERS, 60, 1, NULL), HC_OK);
    uint64_t in_time = hash_of_counts(&counted, 0, false);
    for (hc_player every = 1; every <= PLAYERS; every++) {
        ck_assert(hash_of_counts(&counted, every, false) == in_time);
        ck_assert(hash_of_counts(&counted, every, true) == in_time);
    }
    hc_world_free(&counted);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("step_run");
    TCase *tc = tcase_create("step_run");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, runs_of_slots_give_the_same_states_as_single_steps);
    tcase_add_test(tc, ticks_that_many_late_inputs_change_are_taken_as_a_whole_and_stay_equal);
    tcase_add_test(tc, a_world_without_positions_is_the_same_however_many_inputs_are_late);
    if (HC_VALIDATE)
        tcase_add_loop_test_raise_signal(tc, a_run_that_differs_from_step_aborts_when_checks_are_on,
                                         SIGABRT, 0, 3);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
