/// Extrapolation: computes a newer value of a unit from an older one, without other units.
///
/// Both ends of a connection compute the same extrapolation from a value that the receiver has
/// acked; the server sends only the difference. There are three (enum hc_extrapolation):
///
/// HC_EXTRAPOLATION_STEP simulates the unit alone. The game's step runs on a scene without other
/// units: entities of one owner see each other and the referee, but have no neighbours and no past:
/// hc_scene_past gives NULL. The owner's input is the game's prediction from the value's input,
/// until an input change replaces it. So a player that continues costs one bit, including
/// acceleration, walls, cooldowns and new shots; a player that turns costs little more than the
/// tick of the turn.
///
/// HC_EXTRAPOLATION_LINEAR needs the field tables alone, and constant time. From the tick a to b a
/// countdown falls by b - a, at most to 0. A field that moves by another one, v, per p ticks (the
/// ticks of a second if p is 0) grows by v * b / p - v * a / p, each quotient rounded towards 0.
/// The result is limited to the field's range, or wraps modulo 2^bits if the field is an HC_ANGLE.
///
/// HC_EXTRAPOLATION_HOLD leaves the states as they are.
#pragma once

#include "common/unit.h"
#include "hindcast/scene.h"

enum {
    HC_EXTRAPOLATE_TICKS_MAX = 32, ///< beyond this the states are held as they are
};

/// The input that the owner's steps are given from a tick on.
struct hc_input_change {
    hc_tick tick;
    uint8_t input[HC_INPUT_MAX]; ///< as sanitize_input leaves it
};

/// Changes of the owner's input, in ascending order of their ticks.
struct hc_input_changes {
    unsigned count;
    struct hc_input_change at[HC_EXTRAPOLATE_TICKS_MAX];
};

/// The circumstances of an extrapolation, each NULL if there is none.
struct hc_extrapolate_under {
    const void *referee;                    ///< the referee's state, as at all the ticks between
    const struct hc_input_changes *changes; ///< the changes of the owner's input
};

struct hc_extrapolator;

/// The bytes that hc_extrapolator_create allocates.
size_t hc_extrapolator_memory(const struct hc_world *world);

/// Creates an extrapolator for `world`, which is borrowed, with the world's allocator. NULL when
/// memory is short.
struct hc_extrapolator *hc_extrapolator_create(const struct hc_world *world);
/// Frees it; NULL is allowed.
void hc_extrapolator_destroy(struct hc_extrapolator *extrapolator);

/// Extrapolates `from` by `how` to `tick` >= from->tick, into `out`, `under` these circumstances
/// (NULL: none). Only HC_EXTRAPOLATION_STEP reads the referee (state_size bytes). That holds every
/// value beyond HC_EXTRAPOLATE_TICKS_MAX, and the referee's own value as HC_EXTRAPOLATION_LINEAR
/// does. An unknown entity stays unknown and counts as absent for the others.
///
/// The owner's input keeps its age: `out->known` is from->known + (tick - from->tick), and every
/// step is given the game's prediction from from->input at that age. Without a known input
/// `out->known` is HC_NO_TICK and the input all zeros. Hence extrapolating twice equals
/// extrapolating once over both distances. The caller sets the pointers of `out`; `out` may be
/// `from`.
///
/// The changes have ticks in [from->tick, tick). The steps from a change on are given
/// its input, and `out->input` is the last one's; without a known input in `from`, its age is 1.
/// The unit must take changes, see hc_extrapolate_takes_changes.
void hc_extrapolate(struct hc_extrapolator *extrapolator, enum hc_extrapolation how, hc_unit unit,
                    const struct hc_unit_value *from, const struct hc_extrapolate_under *under,
                    hc_tick tick, struct hc_unit_value *out);

/// The field groups of the referee that the steps of the newest extrapolation have read, bit g for
/// group g: it is the same with any referee that has equal fields in these groups.
uint8_t hc_extrapolator_groups(const struct hc_extrapolator *extrapolator);

// The parts of HC_EXTRAPOLATION_STEP, for a caller that stores every tick: enter; then for each
// tick step and read; leave.

/// Puts a unit with the value `value` alone into the scene. Its owner's input is `input` (unused
/// without an owner) in all steps.
void hc_extrapolator_enter(struct hc_extrapolator *extrapolator, hc_unit unit,
                           const struct hc_unit_value *value, const uint8_t *input,
                           const void *referee);

/// Simulates the next tick.
void hc_extrapolator_step(struct hc_extrapolator *extrapolator);

/// Copies the presence and the states of the unit to those of `out`.
void hc_extrapolator_read(const struct hc_extrapolator *extrapolator, struct hc_unit_value *out);

/// Empties the scene.
void hc_extrapolator_leave(struct hc_extrapolator *extrapolator);

/// Whether an extrapolation of `unit` over so many ticks simulates it.
bool hc_extrapolate_simulates(enum hc_extrapolation how, hc_unit unit, uint32_t ticks);

/// Whether an extrapolation of `unit` from `from` to `tick` takes input changes: the unit is a
/// player's and is simulated for at least one tick.
bool hc_extrapolate_takes_changes(const struct hc_world *world, enum hc_extrapolation how,
                                  hc_unit unit, const struct hc_unit_value *from, hc_tick tick);

/// Writes to `out` the input that the steps after `from` are given until the first input change.
void hc_extrapolate_input(const struct hc_world *world, const struct hc_unit_value *from,
                          uint8_t *out);

/// Writes to `out` the value against which a unit without baseline is encoded: every entity is
/// absent and there is no input.
void hc_extrapolate_absent(const struct hc_world *world, hc_unit unit, hc_tick tick,
                           struct hc_unit_value *out);
