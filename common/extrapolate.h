/// Solo: a unit simulated by itself, to guess from an older value what a newer one will be.
///
/// Both ends of a connection compute the same guess from what the receiver has acknowledged, and
/// only what differs from it is sent. The game's step is used as it is, on a scene in which nobody
/// else is there: entities of one owner see each other and the referee, but have no neighbours;
/// the owner's input is what the game predicts from the one in the value, until another is listed.
/// So a player who goes on as it did costs a bit, with acceleration, walls, cooldowns, flying and
/// new shots and all, and one who turned costs little more than when it did.
#pragma once

#include "common/unit.h"
#include "hindcast/scene.h"

enum {
    HC_EXTRAPOLATE_TICKS_MAX = 32, ///< farther than this nothing is guessed: the states are held
};

/// What the owner's steps are given from a tick on.
struct hc_input_change {
    hc_tick tick;
    uint8_t input[HC_INPUT_MAX]; ///< as sanitize_input leaves it
};

/// Changes of the owner's input, in ascending ticks.
struct hc_input_changes {
    unsigned count;
    struct hc_input_change at[HC_EXTRAPOLATE_TICKS_MAX];
};

struct hc_extrapolator;

/// Bytes that it takes.
size_t hc_extrapolator_memory(const struct hc_world *world);

/// For `world`, which is borrowed; its allocator is used. NULL when memory is short.
struct hc_extrapolator *hc_extrapolator_create(const struct hc_world *world);
/// Frees it; NULL is allowed.
void hc_extrapolator_destroy(struct hc_extrapolator *extrapolator);

/// What `from` becomes at `tick` >= from->tick. `referee` is the referee's state (state_size
/// bytes), the same at all the ticks between; NULL when it is unknown. The referee itself is held,
/// its countdowns falling; everything else is held as it is beyond HC_EXTRAPOLATE_TICKS_MAX. An
/// unknown entity stays unknown and counts as absent for others.
///
/// The owner is taken to go on as at from->tick: the age of its newest input stays what it was, so
/// `out->known` is from->known + (tick - from->tick) and every step is given what the game predicts
/// from from->input at that age; without any, `out->known` is HC_NO_TICK and the input all zeros.
/// Hence a guess of a guess is the guess over both stretches. `out` must have its pointers set and
/// may be `from`.
///
/// With `changes` (NULL: none), in [from->tick, tick), every step from one of them on is given its
/// input instead, and `out->input` is the last; where `from` knows of none its age is 1. Only those
/// who may list changes are given any.
void hc_extrapolate(struct hc_extrapolator *extrapolator, hc_unit unit,
                    const struct hc_unit_value *from, const struct hc_input_changes *changes,
                    const void *referee, hc_tick tick, struct hc_unit_value *out);

/// Whether changes can be listed for a guess of `unit` at `tick` from `from`: it is a player's, and
/// simulated for a tick at least.
bool hc_extrapolate_takes_changes(const struct hc_world *world, hc_unit unit,
                                  const struct hc_unit_value *from, hc_tick tick);

/// The input that the steps from `from` on are given until one is listed, into `out`.
void hc_extrapolate_input(const struct hc_world *world, const struct hc_unit_value *from,
                          uint8_t *out);

/// What a unit is guessed to be of which the receiver has nothing: everything absent, no input.
void hc_extrapolate_absent(const struct hc_world *world, hc_unit unit, hc_tick tick,
                           struct hc_unit_value *out);
