/// What one client has been told of each tick of the window: the newest value of every entity, by a
/// snapshot or by a correction.
#pragma once

#include "common/timeline.h"

struct storm_held;

/// For a window of `rows` ticks; `world` is borrowed. NULL when memory is short.
struct storm_held *storm_held_create(const struct hc_world *world, uint32_t rows);
void storm_held_destroy(struct storm_held *held);

/// It is told the whole tick as the timeline has it, in datagram `seq`; 0: that is not to be
/// returned.
void storm_held_snapshot(struct storm_held *held, const struct hc_timeline *timeline, hc_tick tick,
                         uint32_t seq);

/// It is told of one entity, in datagram `seq`. Returns the datagram that said the same last; 0:
/// there is none.
uint32_t storm_held_correction(struct storm_held *held, const struct hc_timeline *timeline,
                               hc_tick tick, hc_entity entity, uint32_t seq);

/// Finds the newest tick in [from, end) of which it was not told all that the timeline has, and an
/// entity there. False: there is none.
bool storm_held_lacks(const struct storm_held *held, const struct hc_timeline *timeline,
                      hc_tick from, hc_tick end, hc_tick *tick, hc_entity *entity);
