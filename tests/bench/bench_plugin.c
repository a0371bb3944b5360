/// Compares the arena as a plugin with the one that is built in: the time of the same ticks, with
/// all inputs late, in turns.
#define _POSIX_C_SOURCE 200809L

#include "common/programs/plugin.h"
#include "hindcast/arena.h"
#include "hindcast/timeline.h"
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { PLAYERS = 32, TICKS = 600, LATE = 9, ROUNDS = 25, WHY_MAX = 9000 };

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct hc_arena_input input_of(hc_player player, hc_tick tick) {
    uint64_t random = hc_random(7, (uint32_t)player, (tick + player) / 20, 0);
    return (struct hc_arena_input){.move_x = (int8_t)((int)(random % 3) - 1),
                                   .move_y = (int8_t)((int)(random / 3 % 3) - 1),
                                   .aim = (uint8_t)(random >> 16),
                                   .fire = random >> 24 & 1};
}

/// Advances a timeline in which all have joined to TICKS.
static void advance(struct hc_timeline *timeline) {
    for (hc_player p = 0; p < PLAYERS; p++)
        hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
    for (hc_tick tick = 0; tick < TICKS; tick++) {
        for (hc_player p = 0; tick > LATE && p < PLAYERS; p++) {
            struct hc_arena_input input = input_of(p, tick - LATE);
            hc_timeline_put_input(timeline, p, tick - LATE, &input);
        }
        hc_timeline_advance(timeline);
    }
}

/// Plays a match; returns its time in ns, and the hash of its last tick. 0: no memory.
static uint64_t play(const struct hc_game *game, uint64_t *hash) {
    struct hc_world world;
    struct hc_timeline_config config = hc_timeline_config_default();
    if (hc_world_init(&world, game, PLAYERS, 60, 1, NULL) != HC_OK)
        return 0;
    config.world = &world;
    struct hc_timeline *timeline = hc_timeline_create(&config);
    uint64_t took_ns = 0;
    if (timeline != NULL) {
        hc_timeline_start(timeline);
        uint64_t begun_ns = now_ns();
        advance(timeline);
        took_ns = now_ns() - begun_ns;
        *hash = hc_world_hash(&world, hc_timeline_presence(timeline, TICKS),
                              hc_timeline_states(timeline, TICKS));
    }
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
    return took_ns;
}

bool bench_plugin(const struct bench_options *options, json_t *json) {
    char why[WHY_MAX] = "--game FILE: the arena as a plugin";
    struct hc_plugin plugin = {.game = NULL};
    uint64_t least_ns[2] = {UINT64_MAX, UINT64_MAX}, hashes[2] = {0, 1};
    if (options->game == NULL || !hc_plugin_load(&plugin, options->game, why, sizeof(why))) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < 2; i++) {
            uint64_t took_ns = play(i == 0 ? &hc_arena : plugin.game, &hashes[i]);
            least_ns[i] = took_ns < least_ns[i] ? took_ns : least_ns[i];
        }
    if (hashes[0] != hashes[1] || plugin.game == &hc_arena) {
        fprintf(stderr, "%s is not the same arena\n", options->game);
        return false;
    }
    double ratio = (double)least_ns[1] / (double)least_ns[0];
    printf("%d ticks of %d players, all inputs %d ticks late, the least of %d times: built in %.2f "
           "ms, plugin %.2f ms, ratio %.3f, at most 1.02 wanted\n",
           TICKS, PLAYERS, LATE, ROUNDS, (double)least_ns[0] / 1e6, (double)least_ns[1] / 1e6,
           ratio);
    json_array_append_new(json, json_pack("{s:f}", "ratio", ratio));
    return true;
}
