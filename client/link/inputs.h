/// The inputs of the own players: those that are pressed now, and those stamped with ticks, for as
/// long as the server may still need them.
#pragma once

#include "client/link/latches.h"
#include "hindcast/connection.h"
#include "hindcast/game.h"
#include "hindcast/tick.h"

enum { HC_CL_INPUTS = 1024 }; ///< ticks of own inputs in the ring

/// The ticks that the players are shown when an input is sampled.
struct hc_cl_inputs_shown {
    hc_tick own;    ///< The own players are shown at this tick.
    hc_tick others; ///< The others are shown at this tick.
};

/// Only inputs.c writes to it. Zeros, then hc_cl_inputs_init.
struct hc_cl_inputs {
    const struct hc_game *game;    ///< The game whose inputs these are; borrowed.
    uint8_t players;               ///< The number of own players.
    bool any;                      ///< An input of this connection was stamped.
    hc_tick next;                  ///< The next stamp; those before it are in the ring.
    uint8_t buttons[HC_INPUT_MAX]; ///< The mask of hc_input_latches.
    struct hc_cl_latches latches[HC_OWN_PLAYERS_MAX]; ///< The samples of each player, sanitized.
    /// A bit for each place of the ring: hc_cl_inputs_force has counted it.
    uint64_t forced[HC_OWN_PLAYERS_MAX][HC_CL_INPUTS / 64];
    /// The ring of stamped inputs by tick, see hc_cl_inputs_at. It has no gaps between inputs,
    /// because each DATA reads many ticks of it.
    uint8_t stamped[HC_CL_INPUTS * HC_OWN_PLAYERS_MAX * HC_INPUT_MAX];
};

/// Sets the game, which is borrowed, and the number of own players.
void hc_cl_inputs_init(struct hc_cl_inputs *inputs, const struct hc_game *game, uint8_t players);

/// Begins a new connection: no input is stamped. What is held stays so; presses before it are gone.
void hc_cl_inputs_begin(struct hc_cl_inputs *inputs);

/// Takes a sample of player `index`, any number of them between two stamps: copies it, limits its
/// fields to their ranges and sanitizes it.
void hc_cl_inputs_press(struct hc_cl_inputs *inputs, unsigned index, const void *input);

/// Stamps the samples since the newest stamp with `end`, unless that tick has its inputs: then they
/// wait for the next stamp. Ticks since the newest stamp first repeat it, as far back as `wanted`,
/// the oldest one that the server can still use. Returns the first tick that was stamped; the last
/// one is before `next`.
hc_tick hc_cl_inputs_sample(struct hc_cl_inputs *inputs, hc_tick wanted, hc_tick end,
                            const struct hc_cl_inputs_shown *shown);

/// The stamped input of player `index` at `tick`, which is one of the newest HC_CL_INPUTS stamps.
const uint8_t *hc_cl_inputs_at(const struct hc_cl_inputs *inputs, hc_tick tick, unsigned index);

/// Counts the inputs of player `index` at `count` ticks from `first` on as forced by the server.
/// Returns how many of them are in the ring and were not counted before.
uint32_t hc_cl_inputs_force(struct hc_cl_inputs *inputs, unsigned index, hc_tick first,
                            uint32_t count);
