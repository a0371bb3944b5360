/// The plain simulation: a world without a past, in two buffers, against which others are compared.
///
/// It steps every entity at every tick, finds neighbours by looking at all entities, and shares
/// nothing with the timeline but the game's rule and the scene that the rule reads.
#pragma once

#include "hindcast/scene.h"

struct hc_plain;

/// An empty world at tick 0: all slots unknown for a `follower`, else absent. `world` is borrowed.
/// NULL when memory is short.
struct hc_plain *hc_plain_create(const struct hc_world *world, bool replica);

/// The secret that the steps are given, which is copied; NULL: none, as a follower has at first.
/// Others have zeros at first.
void hc_plain_set_secret(struct hc_plain *plain, const uint8_t *secret);

/// Frees it; NULL is allowed.
void hc_plain_destroy(struct hc_plain *plain);

/// Tick 0, every slot as the game's `start` says.
void hc_plain_start(struct hc_plain *plain);

/// Takes over a whole tick: `presence[entities]` and `states[entities * stride]`, both copied.
void hc_plain_load(struct hc_plain *plain, hc_tick tick, const uint8_t *presence,
                   const uint8_t *states);

/// Replaces one entity at the present tick; `state` (state_size bytes) is read only when HC_ALIVE.
void hc_plain_overlay(struct hc_plain *plain, hc_entity entity, uint8_t presence,
                      const void *state);

/// Goes on to the next tick with the effective `inputs[players * input_size]` and
/// `controls[players]` (an enum hc_roster each) of the present one. Unknown entities stay unknown
/// and are nobody's neighbours; the referee is held while a player is unknown.
void hc_plain_step(struct hc_plain *plain, const uint8_t *inputs, const uint8_t *roster_changes);

/// The present tick, its states (zeros where not alive) and its presence; valid until the next
/// call that changes anything.
hc_tick hc_plain_tick(const struct hc_plain *plain);
const uint8_t *hc_plain_states(const struct hc_plain *plain);
const uint8_t *hc_plain_presence(const struct hc_plain *plain);
