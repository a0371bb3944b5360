/// What one client has been told of each tick of the window: the newest value of every unit, by a
/// snapshot or by a correction.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"

struct storm_held;

/// For a window of `rows` ticks; `world` is borrowed. NULL when memory is short.
struct storm_held *storm_held_create(const struct hc_world *world, uint32_t rows);
void storm_held_destroy(struct storm_held *held);

/// It is told of a unit at a tick as the timeline has it, in datagram `seq`. Returns the datagram
/// that said the same last; 0: there is none.
uint32_t storm_held_told(struct storm_held *held, const struct hc_timeline *timeline, hc_tick tick,
                         hc_unit unit, uint32_t seq);

/// It is told to forget a unit, from `tick` on, in datagram `seq`; 0: whichever that is.
void storm_held_dropped(struct storm_held *held, hc_tick tick, hc_unit unit, uint32_t seq);

/// Whether what it was told last of the unit at `tick` is not what the timeline has; `*seq` is the
/// datagram that said that, or that told it to forget the unit; 0: none did.
bool storm_held_lacks(const struct storm_held *held, const struct hc_timeline *timeline,
                      hc_tick tick, hc_unit unit, uint32_t *seq);
