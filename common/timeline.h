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
#include "hindcast/scene.h"
#include "hindcast/timeline.h"

enum {
    HC_HISTORY_MAX = 512, ///< ticks
    HC_FUTURE_MAX = 512,  ///< ticks
};

struct hc_timeline_config {
    const struct hc_world *world; ///< borrowed; must outlive the timeline
    uint32_t history; ///< W: the ring holds [head - W, head]; ticks in [0, HC_HISTORY_MAX]
    uint32_t future;  ///< inputs are accepted up to head + future; ticks in [1, HC_FUTURE_MAX]
    /// False: the authority, which forces the unknown slots that leave the window. True: a replica,
    /// which takes states from the authority, forces nothing, and predicts from inputs older than
    /// its window too.
    bool replica;
    /// True: after a change every entity is stepped at every later tick. Slow; for comparison.
    bool full;
    uint8_t secret[HC_SCENE_SECRET_SIZE]; ///< key of hc_scene_secret_random; a replica's steps
                                          ///< have none
    const struct hc_allocator *allocator; ///< NULL: malloc
};

/// One entity's state for hc_timeline_put_state: `state` is borrowed, and read only when HC_ALIVE.
struct hc_entity_state {
    hc_entity entity;
    uint8_t presence; ///< an enum hc_presence
    const void *state;
};

/// For 60 Hz: history 64, future 64, an authority, not full. The caller sets `world`.
struct hc_timeline_config hc_timeline_config_default(void);

/// NULL when the configuration is valid, else the name of the first field out of its range.
const char *hc_timeline_config_check(const struct hc_timeline_config *config);

/// The bytes that a timeline of this configuration allocates; `config` must be valid.
size_t hc_timeline_memory(const struct hc_timeline_config *config);

/// A timeline without a state; NULL when the configuration is invalid or memory is short.
struct hc_timeline *hc_timeline_create(const struct hc_timeline_config *config);

/// Frees it; NULL is allowed.
void hc_timeline_destroy(struct hc_timeline *timeline);

/// Starts the authority at tick 0, with every slot in the state that the game's `start` gives it.
void hc_timeline_start(struct hc_timeline *timeline);

/// Stores the input of `player` (< players) at `tick`. `input`, input_size sanitized bytes, is
/// copied. The first write wins.
/// HC_DUPLICATE: the slot is known, forced or retracted, or, on the authority, not after the
/// player's newest join.
/// HC_TOO_OLD: before head - W; a replica still predicts the player's inputs from it.
/// HC_TOO_NEW: after head + future.
/// HC_UNEXPECTED: no state yet, or, on the authority, the player is not joined. (A replica takes
/// inputs after a leave, because it may have missed the next join.)
enum hc_status hc_timeline_put_input(struct hc_timeline *timeline, hc_player player, hc_tick tick,
                                     const void *input);

/// Stores a roster change of `player` at `tick`, at most one for each player and tick.
///
/// The player's inputs start after the tick of a join: the input of that tick is all zeros, and the
/// authority counts every input up to it as known. After a leave the input is all zeros until the
/// next join. A roster change clears the known inputs after it, up to the next roster change,
/// because they belong to another stay of the player.
///
/// The authority's roster changes must be at its head: a join of a player that is out, or a leave
/// of one that is in. Its leave also forces the unknown slots up to `tick`. A replica takes roster
/// changes at any tick.
/// HC_UNEXPECTED: no state yet, or, on the authority, any other roster change. HC_DUPLICATE: the
/// slot has a roster change. HC_TOO_OLD: before head - W; on a replica it still clears inputs and
/// predictions when it is the player's newest from before the window. HC_TOO_NEW: after
/// head + future.
enum hc_status hc_timeline_put_roster(struct hc_timeline *timeline, hc_player player, hc_tick tick,
                                      enum hc_roster roster_change);

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

/// Spreads all changes since the last call, without a new tick. A state is required.
void hc_timeline_resimulate(struct hc_timeline *timeline);

/// Resimulates, then simulates one new tick. On the authority a slot that leaves the window unknown
/// counts as forced. A state is required.
void hc_timeline_advance(struct hc_timeline *timeline);

/// The input of a HC_SLOT_KNOWN slot: input_size bytes.
const void *hc_timeline_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick);

/// Finds the newest known input of `player` before `tick` since its join, also one that has left
/// the ring: writes its tick to `*known` and input_size bytes to `input`. False when there is none.
bool hc_timeline_newest_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick,
                              hc_tick *known, void *input);

/// A(p): the newest tick up to which every input of `player` since its newest join is known or
/// forced; the tick of the join when none is. Authority only.
hc_tick hc_timeline_inputs_through(const struct hc_timeline *timeline, hc_player player);

/// The head at which the states of `tick`, in [oldest, head], last changed: `tick`, or a later head
/// if a rewind or an authoritative state has changed any since.
hc_tick hc_timeline_changed(const struct hc_timeline *timeline, hc_tick tick);
