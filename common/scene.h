/// What of a scene is the timeline's business alone: what the referee's step is given.
#pragma once

#include "hindcast/scene.h"

/// The game's reductions over the players of a tick, into `results[reduction_count]`; players that
/// are not alive do not count.
void hc_scene_reduce(const struct hc_world *world, const uint8_t *presence, const uint8_t *states,
                     int64_t *results);

/// Whether every player is known (alive or absent), so that the referee may be stepped.
bool hc_scene_players_known(const struct hc_world *world, const uint8_t *presence);

/// The referee while it cannot be stepped: `state` copied to `out`, its countdowns one lower.
void hc_scene_hold_referee(const struct hc_world *world, const uint8_t *state, uint8_t *out);
