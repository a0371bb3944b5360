/// The brain of a bot that plays the arena: it chases, dodges and shoots at what its client
/// predicts, and changes its mind often, as people do.
///
/// It is a function of a world's tick and of its own random numbers: the same seed and the same
/// worlds give the same inputs, everywhere.
#pragma once

#include "common/timeline.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"

struct hc_cl_bot {
    struct hc_rng rng;
    hc_tick turn_at;  ///< when it chooses another direction, at the latest
    hc_tick shoot_at; ///< when it may shoot again
    hc_tick blind_at; ///< when it shoots even without seeing anybody
    int8_t move_x, move_y;
    uint8_t aim, aim_error; ///< angles; the error may wrap below 0
};

/// A bot of its own for each `seed` and `number`.
void hc_cl_bot_init(struct hc_cl_bot *bot, uint64_t seed, uint32_t number);

/// What `player` does after `tick`, of which `presence` and `states` are all entities, those that
/// are unknown included. Called once a tick, in the order of ticks; a restart may go back.
struct hc_arena_input hc_cl_bot_think(struct hc_cl_bot *bot, const struct hc_world *world,
                                      hc_tick tick, const uint8_t *presence, const uint8_t *states,
                                      hc_player player);
