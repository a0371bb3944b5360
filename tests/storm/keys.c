/// Owns the inputs that players make.
#include "common/draw_input.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/sim/games.h"
#include "tests/storm/examples.h"
#include "tests/storm/match_internal.h"

#include <string.h>

enum { HOLD_FOR_A_WHILE, MASH, HOLD_ONE, CHASE, FLIP };

static void press(const struct storm_match *match, uint64_t random, void *input) {
    const struct hc_game *example =
        storm_examples_game((unsigned)storm_match_get(match, STORM_example));
    if (example != NULL) {
        struct hc_rng rng = hc_rng_init(random, 0);
        hc_draw_input(example, &rng, input);
        return;
    }
    if (storm_match_get(match, STORM_lanes) != 0) {
        struct lanes_input keys = {.push = (int8_t)((int)(random % 16) - 8),
                                   .touch = (uint8_t)(random >> 8)};
        memcpy(input, &keys, sizeof keys);
        return;
    }
    struct hc_arena_input keys = {.move_x = (int8_t)((int)(random % 3) - 1),
                                  .move_y = (int8_t)((int)(random / 8 % 3) - 1),
                                  .aim = (uint8_t)(random >> 16),
                                  .fire = (random >> 24) % 4 == 0};
    memcpy(input, &keys, sizeof keys);
}

bool storm_keys_look(const struct storm_plan *plan, unsigned client) {
    return plan->client[client][STORM_C_script] == CHASE && plan->match[STORM_lanes] == 0 &&
           plan->match[STORM_example] == 0;
}

void storm_keys(struct storm_match *match, unsigned client, unsigned index, hc_tick tick,
                void *input) {
    uint32_t who = client * HC_OWN_PLAYERS_MAX + index, seed = (uint32_t)match->plan->seed;
    int64_t script = storm_client_get(match, client, STORM_C_script);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_player player = hc_client_player(core, index);
    if (match->quiet)
        return;
    if (storm_keys_look(match->plan, client) && player != HC_NO_PLAYER) {
        struct hc_world world = *hc_client_world(core);
        world.game =
            &hc_arena; // the quick arena has the same tables, and a bot looks at nothing else
        hc_thinker_think(&match->seats[client].bots[index], &world, tick,
                         hc_timeline_presence(timeline, tick), hc_timeline_states(timeline, tick),
                         player, input);
        return;
    }
    uint32_t part = tick / (5 + who % 8); // keys are held for a while, each player's differently
    if (script == MASH)
        part = tick;
    else if (script == HOLD_ONE)
        part = 0;
    else if (script == FLIP)
        part = tick & 1;
    press(match, hc_random(seed, who, part, 7), input);
}
