/// Owns the draws of inputs by a game's table, and of idle times.
#include "client/bots/keys.h"

#include "common/draw_input.h"

#include <string.h>

enum {
    HOLD_MS = 120,      ///< an input lasts at least this long
    HOLD_MORE_MS = 200, ///< an input lasts up to this much longer
    TURN_S = 2,         ///< of activity or idleness
    PURPOSE_ACTIVITY = 64,
};

void hc_cl_keys_init(struct hc_cl_keys *keys, uint64_t seed, uint32_t number) {
    *keys = (struct hc_cl_keys){.rng = hc_rng_init(seed, number)};
}

const void *hc_cl_keys_choose(struct hc_cl_keys *keys, const struct hc_game *game, hc_tick tick,
                              uint32_t tick_rate) {
    uint32_t least = HOLD_MS * tick_rate / 1000 + 1, more = HOLD_MORE_MS * tick_rate / 1000 + 1;
    // A plan for a tick that is farther ahead is from before a restart of the world.
    if (tick < keys->change_at && keys->change_at - tick <= least + more)
        return keys->input;
    keys->change_at = hc_tick_ahead(tick, least + hc_rng_below(&keys->rng, more));
    memset(keys->input, 0, sizeof(keys->input));
    hc_draw_input(game, &keys->rng, keys->input);
    return keys->input;
}

bool hc_cl_keys_active(uint64_t seed, uint32_t number, hc_tick tick, uint32_t tick_rate,
                       uint32_t percent) {
    uint64_t bits = hc_random(seed, number, PURPOSE_ACTIVITY, tick / (TURN_S * tick_rate));
    return (bits >> 32) % 100 < percent;
}
