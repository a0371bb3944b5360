/// The plain simulation: a world without a past, in two buffers, as the truth for comparisons.
///
/// It steps every entity at every tick and finds neighbours by comparing with all entities. It
/// shares only the game's step and its scene with the timeline.
#pragma once

#include "hindcast/scene.h"

struct hc_plain;

/// An empty world at tick 0: all slots are unknown for a `replica`, else absent. `world` is
/// borrowed. NULL when memory is short.
struct hc_plain *hc_plain_create(const struct hc_world *world, bool replica);

/// Sets the secret of the steps' scenes, HC_SCENE_SECRET_SIZE bytes, copied; NULL: none. At first a
/// replica has none, and others have zeros.
void hc_plain_set_secret(struct hc_plain *plain, const uint8_t *secret);

/// A step in the place of the game's, with a `context` of its own.
typedef bool hc_plain_stepper(void *context, struct hc_scene *scene, hc_entity self, void *out);

/// Makes all later steps with `stepper` and `context`; NULL: with the game's step.
void hc_plain_set_stepper(struct hc_plain *plain, hc_plain_stepper *stepper, void *context);

/// Frees it; NULL is allowed.
void hc_plain_destroy(struct hc_plain *plain);

/// Starts at tick 0, with every slot in the state that the game's `start` gives it.
void hc_plain_start(struct hc_plain *plain);

/// Replaces the tick and all of its `presence[entities]` and `states[entities * stride]`, both
/// copied. No tick before it is known, until hc_plain_remember.
void hc_plain_load(struct hc_plain *plain, hc_tick tick, const uint8_t *presence,
                   const uint8_t *states);

/// Gives the world at a tick before the current one, for steps that look back; both are copied.
/// Ignored when no step looks back so far.
void hc_plain_remember(struct hc_plain *plain, hc_tick tick, const uint8_t *presence,
                       const uint8_t *states);

/// Replaces one entity at the current tick; `state` (state_size bytes) is read only when HC_ALIVE.
void hc_plain_overlay(struct hc_plain *plain, hc_entity entity, uint8_t presence,
                      const void *state);

/// Steps to the next tick with the effective `inputs[players * input_size]` and
/// `roster_changes[players]` (an enum hc_roster each) of the current one. Unknown entities stay
/// unknown and are no neighbours; the referee is held while a player is unknown.
void hc_plain_step(struct hc_plain *plain, const uint8_t *inputs, const uint8_t *roster_changes);

/// The current tick.
hc_tick hc_plain_tick(const struct hc_plain *plain);

/// The states of the current tick, zeros when not alive; valid until the next call that changes
/// them.
const uint8_t *hc_plain_states(const struct hc_plain *plain);

/// The presence of every entity at the current tick; valid as the states are.
const uint8_t *hc_plain_presence(const struct hc_plain *plain);

/// The game events of every entity that the newest step emitted, HC_EMITTED_MAX places each, with
/// zeros after them.
const hc_game_event *hc_plain_events(const struct hc_plain *plain);

/// How many events each entity has there.
const uint8_t *hc_plain_event_counts(const struct hc_plain *plain);
