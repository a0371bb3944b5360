/// The truth of one random history: joins, leaves and inputs, and the heads at which they arrive.
#pragma once

#include "hindcast/game.h"
#include "hindcast/rng.h"

#define TRUTH_NEVER INT32_MAX ///< the arrival of a lost input

/// The parameters from which a truth is drawn.
struct truth_plan {
    const struct hc_world *world;
    uint32_t ticks;       ///< ticks in [0, ticks) are drawn
    uint32_t hold_max;    ///< ticks for which a player holds an input, at most
    int32_t early_max;    ///< ticks before its own at which an input may arrive
    int32_t late_max;     ///< ticks after its own at which an input may arrive
    uint32_t missing_ppm; ///< inputs that never arrive
    uint32_t leave_ppm;   ///< players that leave at a tick, of those that are in
    bool states;          ///< the states are simulated too
};

struct truth {
    struct truth_plan plan;
    uint8_t *inputs;         ///< [ticks][players][input_size]
    uint8_t *roster_changes; ///< [ticks][players] an enum hc_roster each
    bool *in;                ///< [ticks][players] whether the input of the slot counts
    int32_t *arrival;  ///< [ticks][players] the head at which the input arrives, or TRUTH_NEVER
    uint8_t *states;   ///< [ticks][entities * stride], if simulated
    uint8_t *presence; ///< [ticks][entities], if simulated
};

/// Draws a truth from `rng`; NULL when memory is short.
struct truth *truth_create(const struct truth_plan *plan, struct hc_rng *rng);

/// Frees it; NULL is allowed.
void truth_destroy(struct truth *truth);

/// The input of a slot.
const uint8_t *truth_input(const struct truth *truth, hc_player player, hc_tick tick);

/// The index of (`player`, `tick`) in the arrays.
size_t truth_cell(const struct truth *truth, hc_player player, hc_tick tick);

/// Draws an input that the game allows to `input`.
void truth_draw_input(const struct hc_world *world, struct hc_rng *rng, uint8_t *input);
