/// Random inputs of any game, held as by people, for clients that know nothing of the game, and the
/// times at which a client's user is idle.
#pragma once

#include "hindcast/game.h"
#include "hindcast/rng.h"

struct hc_cl_keys {
    struct hc_rng rng;
    hc_tick change_at; ///< when it draws another input
    uint8_t input[HC_INPUT_MAX];
};

/// Begins the inputs of this `seed` and `number`.
void hc_cl_keys_init(struct hc_cl_keys *keys, uint64_t seed, uint32_t number);

/// The input for the tick `tick`, until the next call: random, and held for 120 to 320 ms, as by
/// people.
const void *hc_cl_keys_choose(struct hc_cl_keys *keys, const struct hc_game *game, hc_tick tick,
                              uint32_t tick_rate);

/// Whether the user `number` presses keys at `tick`: for `percent` of the time, in spans of 2 s.
bool hc_cl_keys_active(uint64_t seed, uint32_t number, hc_tick tick, uint32_t tick_rate,
                       uint32_t percent);
