/// Functions that several of the arena's steps share: conversions, and rules on which two entities
/// must agree.
#pragma once

#include "hindcast/arena.h"
#include "hindcast/scene.h"

/// The purposes of random numbers.
enum { HC_ARENA_RANDOM_CELL, HC_ARENA_RANDOM_PICKUP, HC_ARENA_RANDOM_SPAWN };

/// The fields of the referee's group HC_ARENA_GROUP_PHASE.
struct hc_arena_rules {
    uint8_t phase; ///< an enum hc_arena_phase
    uint8_t round;
};

/// A move, in units.
struct hc_arena_path {
    int32_t dx, dy;
    bool blocked; ///< a wall ends it
};

/// `duration_ms` in ticks; at least 1.
uint16_t hc_arena_ticks(const struct hc_world *world, enum hc_arena_duration duration_ms);

/// The part of `per_second` for the scene's tick. The parts of a second's ticks add up to exactly
/// `per_second` at any tick rate.
int32_t hc_arena_per_tick(const struct hc_scene *scene, int32_t per_second);

/// Reads the referee's phase and round. While the referee is unknown these are HC_ARENA_PLAYING and
/// the given `round`.
struct hc_arena_rules hc_arena_rules(struct hc_scene *scene, uint8_t round);

/// The shot slot into which the owner of `self` fires at this tick: the lowest free one, if the
/// player fires and may; else HC_REFEREE. The player and all its slots call this and agree.
hc_entity hc_arena_fires(struct hc_scene *scene);

/// The move of a shot in this tick.
struct hc_arena_path hc_arena_shot_path(const struct hc_scene *scene,
                                        const struct hc_arena_shot *shot);

/// Whether the shot strikes the player in this tick. Both call this on the same scene and agree. A
/// shot that touches several players strikes them all, because they may not see each other.
bool hc_arena_strikes(struct hc_scene *scene, hc_entity shot, hc_entity player);

// The steps of the kinds, see hc_game.step. Each writes the next state of `self` to *out and
// returns true, or returns false: then the entity is absent and *out is ignored.

/// Counts the clock down, and starts the next phase when the clock or the scores require it.
bool hc_arena_step_referee(struct hc_scene *scene, hc_entity self, struct hc_arena_referee *out);

/// Joins, leaves, restarts, moves, shoots, is hit and respawns.
bool hc_arena_step_player(struct hc_scene *scene, hc_entity self, struct hc_arena_player *out);

/// Moves a shot until it is spent, or starts one in the slot into which its owner fires.
bool hc_arena_step_shot(struct hc_scene *scene, hc_entity self, struct hc_arena_shot *out);

/// Gives a pickup to the nearest living player within HC_ARENA_GRASP; it returns after
/// HC_ARENA_REFILL_MS.
bool hc_arena_step_pickup(struct hc_scene *scene, hc_entity self, struct hc_arena_pickup *out);
