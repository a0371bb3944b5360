/// The spread of a change: the marks of the steps that have read it. Part of the timeline.
#pragma once

#include "common/ring.h"

/// Marks the step of (`row`, `entity`) to be taken again, if it has been taken.
void hc_spread_mark(struct hc_timeline *timeline, const struct hc_ring_row *row, hc_entity entity);

/// Marks the steps of the entities of `owner`, as hc_spread_mark does.
void hc_spread_mark_owned(struct hc_timeline *timeline, const struct hc_ring_row *row,
                          hc_player owner);

/// Marks every step of the ticks in [from, head).
void hc_spread_mark_all(struct hc_timeline *timeline, hc_tick from);

/// Notes that the input of `player` at `tick` may have changed, as hc_inputs.changed.
void hc_spread_input(void *timeline, hc_player player, hc_tick tick);

/// Marks the players whose input at the tick of `row` differs from the one that the step was given.
void hc_spread_inputs(struct hc_timeline *timeline, const struct hc_ring_row *row);

/// Recomputes the reductions of the tick of `row` if they may have changed; marks the referee if
/// any has.
void hc_spread_reductions(struct hc_timeline *timeline, const struct hc_ring_row *row);

/// Rewrites the state of `entity` at the tick of `row`, which is at most the head: `is` and, if
/// alive, `state` of state_size bytes, else zeros. Marks every entity that read the old state or
/// would read the new one. False when both are the same: the change has died out.
bool hc_spread_rewrite(struct hc_timeline *timeline, const struct hc_ring_row *row,
                       hc_entity entity, uint8_t is, const uint8_t *state);

/// Of `count` entities from `first` on, how many hc_spread_rewrite_all would change; 0 if their
/// changes need no marks.
uint32_t hc_spread_differing(const struct hc_timeline *timeline, const struct hc_ring_row *row,
                             hc_entity first, uint32_t count, const uint8_t *presence,
                             const uint8_t *states);

/// Whether only the states themselves depend on a change of `entity`, and fill their strides.
bool hc_spread_is_plain(const struct hc_timeline *timeline, hc_entity entity);

/// Rewrites `count` entities from `first` on, as hc_spread_rewrite does; their states in `states`
/// are stride bytes apart. Returns how many have changed.
uint32_t hc_spread_rewrite_all(struct hc_timeline *timeline, const struct hc_ring_row *row,
                               hc_entity first, uint32_t count, const uint8_t *presence,
                               const uint8_t *states);

/// hc_scene.past of the scenes whose source is a timeline.
bool hc_spread_past(const struct hc_scene *scene, uint32_t ago, struct hc_past *past);

/// hc_scene.past_neighbours of these.
uint32_t hc_spread_past_neighbours(struct hc_scene *scene, hc_entity self, uint32_t ago,
                                   const hc_entity **ids);

/// hc_scene.neighbours of these.
uint32_t hc_spread_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids);
