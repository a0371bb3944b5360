/// Owns the choice of a bot's input, and the random inputs of games without bots of their own.
#include "common/programs/thinker.h"

#include "common/draw_input.h"

#include <string.h>

enum { HOLD_MS = 500 }; ///< a random input is held for up to this long

void hc_thinker_init(struct hc_thinker *bot, hc_bot_think *think, uint64_t seed, uint32_t number) {
    *bot = (struct hc_thinker){.think = think, .rng = hc_rng_init(seed, number)};
}

/// Holds a random input for a random time, and then draws the next one.
static void choose_randomly(struct hc_thinker *bot, const struct hc_world *world, hc_tick tick) {
    uint32_t most = (uint32_t)HOLD_MS * world->tick_rate / 1000 + 1;
    // A plan for a tick that is farther ahead is from before a restart of the world.
    if (tick < bot->until && bot->until <= hc_tick_ahead(tick, most))
        return;
    hc_draw_input(world->game, &bot->rng, bot->input);
    bot->until = hc_tick_ahead(tick, 1 + hc_rng_below(&bot->rng, most));
}

void hc_thinker_think(struct hc_thinker *bot, const struct hc_world *world, hc_tick tick,
                      const uint8_t *presence, const uint8_t *states, hc_player player,
                      void *input) {
    if (bot->think == NULL) {
        choose_randomly(bot, world, tick);
        memcpy(input, bot->input, world->game->input_size);
        return;
    }
    struct hc_bot seen = {world, tick, presence, states, player, &bot->rng, bot->memory};
    memset(input, 0, world->game->input_size);
    bot->think(&seen, input);
}
