/// What the arena's steps share with each other: conversions, and predicates that two must agree
/// on.
#pragma once

#include "hindcast/arena.h"
#include "hindcast/scene.h"

/// Purposes of random numbers.
enum { HC_ARENA_RANDOM_CELL, HC_ARENA_RANDOM_PICKUP, HC_ARENA_RANDOM_SPAWN };

/// What the referee's first field group says.
struct hc_arena_rules {
    uint8_t phase; ///< an enum hc_arena_phase
    uint8_t match;
};

/// A displacement in units.
struct hc_arena_path {
    int32_t dx, dy;
    bool blocked; ///< a wall ends it
};

/// `duration_ms` in ticks; at least 1.
uint16_t hc_arena_ticks(const struct hc_world *world, enum hc_arena_duration duration_ms);

/// The part of `per_second` that falls to the scene's tick; the parts of a second's ticks add up
/// to exactly `per_second`, whatever the tick rate.
int32_t hc_arena_share(const struct hc_scene *scene, int32_t per_second);

/// The referee's phase and match, of which the step becomes a reader; while the referee is
/// unknown, HC_ARENA_PLAYING and `match` as given.
struct hc_arena_rules hc_arena_rules(struct hc_scene *scene, uint8_t match);

/// The shot slot that the owner of `self` fires into at this tick: the lowest free one, if the
/// player may and wants to shoot; else HC_REFEREE. The player and its slots all ask the same.
hc_entity hc_arena_fires(struct hc_scene *scene);

/// Where a shot flies in this tick.
struct hc_arena_path hc_arena_shot_path(const struct hc_scene *scene,
                                        const struct hc_arena_shot *shot);

/// Whether the shot strikes the player in this tick. Both ask the same, of the same tick before; a
/// shot that touches several players strikes them all, for one need not see the other.
bool hc_arena_strikes(struct hc_scene *scene, hc_entity shot, hc_entity player);

// The steps of each kind: hc_game.step says when they are called. Each makes the state of `self` at
// the next tick in *out, or returns false: it is absent then, and *out is of no account.

/// Counts the clock down, and goes on to the next phase when that or the scores ask for it.
bool hc_arena_step_referee(struct hc_scene *scene, hc_entity self, struct hc_arena_referee *out);

/// Lets a player join, leave, begin a match, run, shoot, be hit and wait to appear again.
bool hc_arena_step_player(struct hc_scene *scene, hc_entity self, struct hc_arena_player *out);

/// Flies a shot on until it is spent, or begins one in the slot that its owner fires into.
bool hc_arena_step_shot(struct hc_scene *scene, hc_entity self, struct hc_arena_shot *out);

/// Gives a pickup to the nearest living player in its reach, and fills it again some time after.
bool hc_arena_step_pickup(struct hc_scene *scene, hc_entity self, struct hc_arena_pickup *out);
