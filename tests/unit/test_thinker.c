/// Tests client/bots/bot: bots turn and shoot often, and the same seed gives the same inputs.
#include "common/programs/thinker.h"

#include "common/timeline.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 8, SECONDS = 100, RATE = 60 };

/// Actions of one bot in a whole game.
struct counts {
    uint32_t turns, shots, ticks_playing;
};

/// Plays SECONDS of the arena with PLAYERS bots that see the newest tick. Returns the hash of the
/// last tick.
static uint64_t play(uint64_t seed, struct counts counts[PLAYERS]) {
    struct hc_world world;
    ck_assert(hc_world_init(&world, &hc_arena, PLAYERS, RATE, seed, NULL) == HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    struct hc_thinker bots[PLAYERS];
    struct hc_arena_input last[PLAYERS] = {0};
    hc_timeline_start(timeline);
    for (unsigned p = 0; p < PLAYERS; p++) {
        ck_assert(hc_timeline_put_roster(timeline, (hc_player)p, 0, HC_ROSTER_JOIN) == HC_OK);
        hc_thinker_init(&bots[p], hc_arena_think, seed, p);
    }
    hc_timeline_advance(timeline);
    memset(counts, 0, PLAYERS * sizeof(*counts));

    for (hc_tick tick = 1; tick < SECONDS * RATE; tick++) {
        const uint8_t *presence = hc_timeline_presence(timeline, tick);
        const uint8_t *states = hc_timeline_states(timeline, tick);
        const struct hc_arena_referee *referee = (const struct hc_arena_referee *)states;
        for (unsigned p = 0; p < PLAYERS; p++) {
            struct hc_arena_input input;
            hc_thinker_think(&bots[p], &world, tick, presence, states, (hc_player)p, &input);
            const struct hc_arena_player *me =
                (const void *)(states +
                               (size_t)hc_world_player(&world, (hc_player)p) * world.stride);
            if (referee->phase != HC_ARENA_OVER) {
                counts[p].ticks_playing++;
                counts[p].turns += input.move_x != last[p].move_x || input.move_y != last[p].move_y;
                counts[p].shots += input.fire && me->health > 0 && me->cooldown == 0;
            }
            last[p] = input;
            ck_assert(hc_timeline_put_input(timeline, (hc_player)p, tick, &input) == HC_OK);
        }
        hc_timeline_advance(timeline);
    }
    uint64_t hash = hc_timeline_hash(timeline, hc_timeline_head(timeline));
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
    return hash;
}

START_TEST(every_bot_turns_three_times_a_second_and_shoots_every_other_second) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct counts counts[PLAYERS];
        play(seed, counts);
        for (unsigned p = 0; p < PLAYERS; p++) {
            ck_assert_msg(counts[p].turns >= 3 * counts[p].ticks_playing / RATE,
                          "seed %d, player %u: %u turns in %u ticks", (int)seed, p, counts[p].turns,
                          counts[p].ticks_playing);
            ck_assert_msg(2 * counts[p].shots >= counts[p].ticks_playing / RATE,
                          "seed %d, player %u: %u shots in %u ticks", (int)seed, p, counts[p].shots,
                          counts[p].ticks_playing);
        }
    }
}
END_TEST

START_TEST(same_seed_gives_the_same_game) {
    struct counts counts[PLAYERS];
    ck_assert(play(3, counts) == play(3, counts));
    ck_assert(play(3, counts) != play(4, counts));
}
END_TEST

START_TEST(bot_keeps_playing_when_its_world_restarts_at_an_earlier_tick) {
    struct hc_world world;
    ck_assert(hc_world_init(&world, &hc_arena, 2, RATE, 1, NULL) == HC_OK);
    uint8_t *presence = calloc(1, world.entities);
    uint8_t *states = calloc(world.entities, world.stride);
    hc_entity self = hc_world_player(&world, 0);
    struct hc_arena_player me = {.x = 3 * HC_ARENA_TILE, .y = 3 * HC_ARENA_TILE, .health = 100};
    memcpy(states + (size_t)self * world.stride, &me, sizeof(me));
    presence[self] = HC_ALIVE;

    struct hc_thinker bot;
    struct hc_arena_input input, last = {0};
    hc_thinker_init(&bot, hc_arena_think, 1, 0);
    unsigned turns = 0;
    for (hc_tick tick = 100000; tick < 100010; tick++)
        hc_thinker_think(&bot, &world, tick, presence, states, 0, &input);
    for (hc_tick tick = 10; tick < 10 + RATE; tick++) {
        hc_thinker_think(&bot, &world, tick, presence, states, 0, &input);
        turns += input.move_x != last.move_x || input.move_y != last.move_y;
        last = input;
    }
    ck_assert_uint_ge(turns, 3);
    free(presence);
    free(states);
    hc_world_free(&world);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bot");
    TCase *tests = tcase_create("bot");
    tcase_add_test(tests, every_bot_turns_three_times_a_second_and_shoots_every_other_second);
    tcase_add_test(tests, same_seed_gives_the_same_game);
    tcase_add_test(tests, bot_keeps_playing_when_its_world_restarts_at_an_earlier_tick);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
