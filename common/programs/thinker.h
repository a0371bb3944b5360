/// Chooses the inputs of a bot: as its game's `think` does, or at random.
///
/// The input depends only on the state and on the bot's random numbers: the same seed and states
/// give the same inputs on every machine.
#pragma once

#include "hindcast/plugin.h"

struct hc_thinker {
    hc_bot_think *think; ///< NULL: inputs are random
    struct hc_rng rng;
    uint64_t memory[HC_BOT_MEMORY / sizeof(uint64_t)]; ///< of `think`
    hc_tick until;                                     ///< tick of the next random input
    uint8_t input[HC_INPUT_MAX];                       ///< random input until that tick
};

/// Makes the bot of this `seed` and `number`.
void hc_thinker_init(struct hc_thinker *bot, hc_bot_think *think, uint64_t seed, uint32_t number);

/// Chooses the input of `player` for the step from `tick`, and writes input_size bytes to `input`.
/// `presence` and `states` are the arrays of all entities at `tick`, also of unknown ones. Call it
/// once for each tick in ascending order; a restart of the world may go back.
void hc_thinker_think(struct hc_thinker *bot, const struct hc_world *world, hc_tick tick,
                      const uint8_t *presence, const uint8_t *states, hc_player player,
                      void *input);
