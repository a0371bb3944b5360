/// Solo: a unit simulated by itself, to guess from an older value what a newer one will be.
///
/// Both ends of a connection compute the same guess from what the receiver has acknowledged, and
/// only what differs from it is sent. The game's step is used as it is, on a scene in which nobody
/// else is there: entities of one owner see each other and the referee, but have no neighbours;
/// the owner's input is what the game predicts from the one in the value. So a player who goes on
/// as it did costs a bit, with acceleration, walls, cooldowns, flying and new shots and all.
#pragma once

#include "common/scene.h"
#include "common/unit.h"

enum {
    HC_SOLO_TICKS_MAX = 32, ///< farther than this nothing is guessed: the states are held
};

struct hc_solo;

/// Bytes that it takes.
size_t hc_solo_memory(const struct hc_world *world);

/// For `world`, which is borrowed; its allocator is used. NULL when memory is short.
struct hc_solo *hc_solo_create(const struct hc_world *world);
/// Frees it; NULL is allowed.
void hc_solo_destroy(struct hc_solo *solo);

/// What `from` becomes at `tick` >= from->tick. `referee` is the referee's state (state_size
/// bytes), the same at all the ticks between; NULL when it is unknown. The referee itself is held,
/// its countdowns falling; everything else is held as it is beyond HC_SOLO_TICKS_MAX. An unknown
/// entity stays unknown and counts as absent for others.
///
/// The owner is taken to go on as at from->tick: the age of its newest input stays what it was, so
/// `out->known` is from->known + (tick - from->tick) and every step is given what the game predicts
/// from from->input at that age; without any, `out->known` is HC_NO_TICK and the input all zeros.
/// Hence a guess of a guess is the guess over both stretches. `out` must have its pointers set and
/// may be `from`.
void hc_solo_guess(struct hc_solo *solo, hc_unit unit, const struct hc_unit_value *from,
                   const void *referee, hc_tick tick, struct hc_unit_value *out);

/// What a unit is guessed to be of which the receiver has nothing: everything absent, no input.
void hc_solo_nothing(const struct hc_world *world, hc_unit unit, hc_tick tick,
                     struct hc_unit_value *out);
