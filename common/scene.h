/// The referee's part of a scene: reductions over players, and the held referee.
#pragma once

#include "hindcast/scene.h"

/// Writes the game's reductions over the alive players of a tick to `results[reduction_count]`.
void hc_scene_reduce(const struct hc_world *world, const uint8_t *presence, const uint8_t *states,
                     int64_t *results);

/// Whether every player is alive or absent, none unknown: only then the referee may be stepped.
bool hc_scene_players_known(const struct hc_world *world, const uint8_t *presence);

/// Replaces the referee's step while a player is unknown: copies `state` to `out` and lowers its
/// countdowns by 1. `out` may be `state`.
void hc_scene_hold_referee(const struct hc_world *world, const uint8_t *state, uint8_t *out);
