/// The timeline: every tick's world and inputs in [oldest, head], recomputed when the past changes.
///
///     state(t + 1) = step(state(t), inputs(t))
///
/// A change of an input or a state at some tick spreads through the timeline until it dies out:
/// only entities that it can have reached are stepped again. The result equals, byte for byte, that
/// of stepping everything. The server's rewind and the client's rollback are both this operation.
///
/// Calls belong in this order:
///   1. hc_timeline_create; then an authority calls hc_timeline_start, a replica its first
///      hc_timeline_put_state;
///   2. any number of put_input, put_roster, force, retract, put_state, redo;
///   3. hc_timeline_advance, which spreads all changes and simulates one more tick; back to 2;
///   4. hc_timeline_destroy.
/// Nothing is allocated after 1. Pointers into the timeline are valid until the next call of 2
/// or 3. hindcast/timeline.h declares the queries that a game may use too.
#pragma once

#include "hindcast/game.h"
#include "hindcast/rewind.h"
#include "hindcast/scene.h"
#include "hindcast/timeline.h"

/// One entity's state for hc_timeline_put_state: `state` is borrowed, and read only when HC_ALIVE.
struct hc_entity_state {
    hc_entity entity;
    uint8_t presence; ///< an enum hc_presence
    const void *state;
};

/// The bytes that a timeline of this configuration allocates; `config` must be valid.
size_t hc_timeline_memory(const struct hc_timeline_config *config);

/// Forces the unknown slots of `player` in [head - W, head + future] before `before`: each keeps
/// its prediction. Returns how many were forced; authority only.
uint32_t hc_timeline_force(struct hc_timeline *timeline, hc_player player, hc_tick before);

/// Retracts an input that the authority forced: the slot is never known again, and is predicted
/// from the newest known input before it. Replica only.
/// HC_DUPLICATE: retracted already. HC_TOO_OLD: before head - W; predictions no longer start from
/// the input of that tick. HC_TOO_NEW: after head + future. HC_UNEXPECTED: no state yet.
enum hc_status hc_timeline_retract(struct hc_timeline *timeline, hc_player player, hc_tick tick);

/// Stores the authoritative states of `count` entities at `tick`, as the authority had them when
/// its head was `as_of`. Replica only.
///
/// An authoritative state stops a change that spreads from an earlier tick. Only an authoritative
/// state with a newer `as_of` replaces it. After the head, or without any state yet, the timeline
/// restarts at `tick` with all other entities unknown.
/// HC_TOO_OLD: before the oldest tick. HC_INVALID: an entity or presence out of range. In both
/// cases nothing changes.
enum hc_status hc_timeline_put_state(struct hc_timeline *timeline, hc_tick tick, hc_tick as_of,
                                     const struct hc_entity_state *entities, uint32_t count);

/// Marks every step from `from` on, as far as it is in the ring, to be taken again although nothing
/// changed. The states come out the same: this measures the cost of a rewind of that depth.
/// Authoritative states stay. A state is required.
void hc_timeline_redo(struct hc_timeline *timeline, hc_tick from);

/// Records the rewinds from now on in `log`, of the same world and borrowed; NULL: in none.
void hc_timeline_log_rewinds(struct hc_timeline *timeline, struct hc_rewind_log *log);

/// Calls `watch` for all work from now on; NULL: calls nobody.
void hc_timeline_set_watch(struct hc_timeline *timeline, hc_timeline_watch *watch, void *context);

/// The earliest tick before the head whose step will be taken again by hc_timeline_resimulate;
/// HC_NO_TICK: none will.
hc_tick hc_timeline_earliest(const struct hc_timeline *timeline);

/// Spreads all changes since the last call, without a new tick. A state is required.
void hc_timeline_resimulate(struct hc_timeline *timeline);

/// Simulates one more tick; nothing has changed since hc_timeline_resimulate. hc_timeline_advance
/// is both.
void hc_timeline_simulate(struct hc_timeline *timeline);

/// The input of a HC_SLOT_KNOWN slot: input_size bytes; NULL: the slot is another.
const void *hc_timeline_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick);

/// Finds the newest known input of `player` before `tick` since its join, also one that has left
/// the ring: writes its tick to `*known` and input_size bytes to `input`. False when there is none.
bool hc_timeline_newest_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick,
                              hc_tick *known, void *input);

/// A(p): the newest tick up to which every input of `player` since its newest join is known or
/// forced; the tick of the join when none is. Authority only.
hc_tick hc_timeline_inputs_through(const struct hc_timeline *timeline, hc_player player);

/// The first entity from `from` on that has game events at `tick`, in [oldest, head]; the number of
/// entities: there is none.
uint32_t hc_timeline_next_emitter(const struct hc_timeline *timeline, hc_tick tick, uint32_t from);

/// A number that grows whenever game events of `tick`, in [oldest, head], change: greater than it
/// was for any tick before. 0: the tick had none so far.
uint64_t hc_timeline_events_changed(const struct hc_timeline *timeline, hc_tick tick);

/// The head at which the states of `tick`, in [oldest, head], last changed: `tick`, or a later head
/// if a rewind or an authoritative state has changed any since.
hc_tick hc_timeline_changed(const struct hc_timeline *timeline, hc_tick tick);
