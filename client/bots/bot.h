/// Chooses the inputs of a bot in the arena: it chases, dodges and shoots in the predicted state,
/// and often changes its direction, as people do.
///
/// The input depends only on the state and on the bot's random numbers: the same seed and states
/// give the same inputs on every machine.
#pragma once

#include "common/timeline.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"

struct hc_cl_bot {
    struct hc_rng rng;
    hc_tick turn_at;  ///< when it chooses another direction
    hc_tick shoot_at; ///< when it may shoot again
    hc_tick blind_at; ///< when it shoots even without a visible target
    int8_t move_x, move_y;
    uint8_t aim, aim_error; ///< angles; the error may wrap below 0
};

/// Makes the bot of this `seed` and `number`.
void hc_cl_bot_init(struct hc_cl_bot *bot, uint64_t seed, uint32_t number);

/// Chooses the input of `player` for the step from `tick`. `presence` and `states` are the arrays
/// of all entities at `tick`, also of unknown ones. Call it once for each tick in ascending order;
/// a restart of the world may go back.
struct hc_arena_input hc_cl_bot_think(struct hc_cl_bot *bot, const struct hc_world *world,
                                      hc_tick tick, const uint8_t *presence, const uint8_t *states,
                                      hc_player player);
