/// The stepping of entities: of a new tick, and again of ticks that a change has reached. Part of
/// the timeline.
#pragma once

#include "common/ring.h"

/// Fills hc_timeline.run_end and alike_end.
void hc_stepping_find_runs(struct hc_timeline *timeline);

/// Empties the marks of a slot that `tick` takes.
void hc_stepping_clear(struct hc_timeline *timeline, hc_tick tick);

/// Fills hc_timeline.event_at.
void hc_stepping_place_events(struct hc_timeline *timeline);

/// Replaces the game events of `entity` at `tick` by the `count` at `events`.
void hc_stepping_put_events(struct hc_timeline *timeline, hc_tick tick, hc_entity entity,
                            const hc_game_event *events, uint32_t count);

/// Simulates the tick after the head into its slot.
void hc_stepping_simulate(struct hc_timeline *timeline);

/// Takes the marked steps from the earliest one on again, and those that their changes reach.
void hc_stepping_resimulate(struct hc_timeline *timeline);
