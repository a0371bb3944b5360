/// The timeline: every tick's world and inputs in [oldest, head], kept true as the past changes.
///
///     state(t + 1) = step(state(t), inputs(t))
///
/// A change at some tick, to an input or to a state, spreads through the timeline until it dies
/// out: only what it can have reached is stepped again, and the result equals, byte for byte, that
/// of stepping everything. The server's rewind and the client's rollback are this one thing.
///
/// Calls belong in this order:
///   1. hc_timeline_create; an authority continues with hc_timeline_start, a follower with its
///      first hc_timeline_put_state;
///   2. any number of put_input, put_control, force, retract, put_state, repeat;
///   3. hc_timeline_advance, which spreads all of that and simulates one tick more; back to 2;
///   4. hc_timeline_destroy.
/// Nothing is allocated after 1. Pointers into the timeline are valid until the next call of 2
/// or 3. hindcast/timeline.h has the questions that a game may ask too.
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
    uint32_t history; ///< W: the ring keeps [head - W, head]; ticks in [0, HC_HISTORY_MAX]
    uint32_t future;  ///< inputs are accepted up to head + future; ticks in [1, HC_FUTURE_MAX]
    /// True: states are put, the past beyond the ring renews predictions, nothing is ever forced by
    /// time. False: the authority, whose own word is the truth.
    bool replica;
    /// True: after a change every entity is stepped at every later tick. Slow; the yardstick.
    bool full;
    uint8_t secret[HC_SCENE_SECRET_SIZE]; ///< hc_scene_secret_random draws from it; a follower's
                                          ///< steps are given none
    const struct hc_allocator *allocator; ///< NULL: malloc
};

/// One entity of a state that is put: `state` is borrowed, and read only when HC_ALIVE.
struct hc_entity_state {
    hc_entity entity;
    uint8_t presence; ///< an enum hc_presence
    const void *state;
};

/// 60 Hz figures: W 64, future 64, an authority, selective. `world` must still be set.
struct hc_timeline_config hc_timeline_config_default(void);

/// NULL when the configuration can be used, else the name of the first field out of its range.
const char *hc_timeline_config_check(const struct hc_timeline_config *config);

/// Bytes that a timeline of this configuration allocates; a valid one is required.
size_t hc_timeline_memory(const struct hc_timeline_config *config);

/// A timeline without a state; NULL when the configuration is invalid or memory is short.
struct hc_timeline *hc_timeline_create(const struct hc_timeline_config *config);

/// Frees it; NULL is allowed.
void hc_timeline_destroy(struct hc_timeline *timeline);

/// The authority's beginning: tick 0, every slot as the game's `start` says.
void hc_timeline_start(struct hc_timeline *timeline);

/// The input of `player` (< players) for `tick` became known; `input` has input_size bytes, already
/// sanitized, and is copied. First write wins.
/// HC_DUPLICATE: known already, forced, retracted, or, on the authority, not after the player's
/// newest join.
/// HC_TOO_OLD: before head - W; on a follower it still renews the player's prediction.
/// HC_TOO_NEW: after head + future. HC_UNEXPECTED: no state yet, or the authority has not joined
/// the player, or has seen it leave. (A follower takes inputs after a leave: it may have missed the
/// next join.)
enum hc_status hc_timeline_put_input(struct hc_timeline *timeline, hc_player player, hc_tick tick,
                                     const void *input);

/// The server's word on `player` at `tick`, at most one per player and tick. A join starts the
/// player's inputs after `tick`: the one of `tick` is all zeros, and to the authority those up to
/// it are known. After a leave the input is all zeros until the next join. The authority stamps
/// controls at its head, joins who is out and lets leave who is in, HC_UNEXPECTED otherwise; its
/// leave also closes the unknown slots up to `tick`. A follower takes controls for any tick. What
/// is known after a control, up to the next, is of another life and forgotten. HC_DUPLICATE: that
/// slot has a control. HC_TOO_OLD: before head - W; on a follower it still does so when it is
/// news. HC_TOO_NEW.
enum hc_status hc_timeline_put_roster(struct hc_timeline *timeline, hc_player player, hc_tick tick,
                                      enum hc_roster roster_change);

/// Closes the unknown slots of `player` before `before` that are in the ring, at most up to
/// head + future: each keeps its prediction. Returns how many were closed; authority only.
uint32_t hc_timeline_force(struct hc_timeline *timeline, hc_player player, hc_tick before);

/// The authority did without this input: a known one is cleared, and from then on predicted from
/// the newest known one before it. Follower only. HC_TOO_OLD (a prediction base of that tick is
/// forgotten too), HC_TOO_NEW, HC_UNEXPECTED as above; HC_DUPLICATE when retracted already.
enum hc_status hc_timeline_retract(struct hc_timeline *timeline, hc_player player, hc_tick tick);

/// The states of `count` entities at `tick` became known, as the authority had them when its head
/// was `as_of`; follower only. Each pins (tick, entity): changes from before stop there, and an
/// older or equal `as_of` never replaces a newer one. After the head, or without any state yet, the
/// timeline restarts at `tick`, all other entities unknown. HC_TOO_OLD: before the oldest tick.
/// HC_INVALID: an entity or presence out of range; nothing changed.
enum hc_status hc_timeline_put_state(struct hc_timeline *timeline, hc_tick tick, hc_tick as_of,
                                     const struct hc_entity_state *entities, uint32_t count);

/// The steps of every tick from `from` on, as far as they are in the ring, are to be taken again
/// although nothing has changed, and come out as they are: for measuring what a rewind of that
/// depth costs when everything has to be repeated. Pins stand. A state is required.
void hc_timeline_redo(struct hc_timeline *timeline, hc_tick from);

/// Spreads everything put since the last call, without a new tick. A state is required.
void hc_timeline_resimulate(struct hc_timeline *timeline);

/// Settles, then simulates one new tick. On the authority the slot that leaves the window is
/// forced if unknown. A state is required.
void hc_timeline_advance(struct hc_timeline *timeline);

/// The known input of a HC_SLOT_KNOWN slot: input_size bytes.
const void *hc_timeline_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick);

/// The newest known input of `player` before `tick` since its join, also one that has left the
/// ring: its tick to `*known`, input_size bytes to `input`. False when there is none.
bool hc_timeline_newest_input(const struct hc_timeline *timeline, hc_player player, hc_tick tick,
                              hc_tick *known, void *input);

/// A(p): the newest tick up to which every input of `player` since its newest join is known or
/// forced; the join's tick when none is. Authority only.
hc_tick hc_timeline_inputs_through(const struct hc_timeline *timeline, hc_player player);

/// The head at which the states of `tick`, in [oldest, head], came out as they are now: `tick`, or
/// a later head if a rewind or a received state has changed any since.
hc_tick hc_timeline_changed(const struct hc_timeline *timeline, hc_tick tick);
