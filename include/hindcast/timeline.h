/// The timeline as a game may read it: the ticks in [oldest, head], their states and their inputs.
///
/// A client's timeline (hc_client_timeline) holds its predicted ticks. It holds the last W ticks,
/// and inputs for up to `future` ticks after its head; the server announces both numbers. Pointers
/// into it are valid until the next hc_client_receive or hc_client_advance, and those into a game's
/// own timeline until its next change.
///
/// A game that runs without a server has a timeline of its own: hc_timeline_create,
/// hc_timeline_start, then for each tick hc_timeline_put_roster and hc_timeline_put_input, also of
/// earlier ticks, and hc_timeline_advance (examples/offline).
#pragma once

#include "hindcast/api.h"
#include "hindcast/counter.h"
#include "hindcast/game.h"
#include "hindcast/scene.h"

HC_C_BEGIN

struct hc_timeline;

enum {
    HC_HISTORY_MAX = 512, ///< the longest history, ticks
    HC_FUTURE_MAX = 512,  ///< the farthest future, ticks
};

/// The state of an input slot.
enum hc_slot {
    HC_SLOT_UNKNOWN,   ///< not received: predicted, and predicted again when an older one arrives
    HC_SLOT_KNOWN,     ///< received
    HC_SLOT_FORCED,    ///< closed before it was received: holds the prediction that was used
    HC_SLOT_RETRACTED, ///< a replica's own input that the authority forced: always predicted
};

/// The counters of a timeline (hindcast/counter.h), by their keys in `server` of a report.
#define HC_TIMELINE_COUNTERS(X)                                                                    \
    X(advances, SUM, "ticks", "ticks_simulated", "Ticks simulated for the first time.")            \
    X(steps, SUM, "steps", "entity_steps", "Steps of entities in those.")                          \
    X(resimulated_steps, SUM, "steps", "resimulated_entity_steps",                                 \
      "Steps of entities in ticks that had been simulated before.")                                \
    X(resimulated_ticks, SUM, "ticks", "resimulated_ticks",                                        \
      "Past ticks in which at least one entity was stepped again.")                                \
    X(rewinds, SUM, "rewinds", "rewinds",                                                          \
      "Ticks before which at least one entity was stepped again, for late inputs.")                \
    X(changed, SUM, "states", "resimulated_states_changed",                                        \
      "States of entities that were other ones after such a step.")                                \
    X(depth_max, MAX, "ticks", "rewind_depth_ticks_max", "The most ticks that a rewind went back.")

/// Counts since creation; except for `depth` they only grow.
struct hc_timeline_stats {
    HC_TIMELINE_COUNTERS(HC_COUNTER_MEMBER)
    uint32_t depth; ///< ticks from the earliest one stepped again to the head, in the newest
                    ///< resimulation; 0: none was
};

/// The work of a timeline.
enum hc_timeline_work {
    HC_TIMELINE_REWIND, ///< past ticks are stepped again: a server's rewind, or a client's rollback
    HC_TIMELINE_STEP,   ///< a new tick is simulated
};

/// Called when work of a timeline begins, and when it `ends`. It must not change the timeline.
typedef void hc_timeline_watch(void *context, enum hc_timeline_work work, bool ends);

enum {
    HC_OVERFLOWS_MAX = 16,      ///< listed by a timeline
    HC_OVERFLOW_TEXT_MAX = 240, ///< bytes of hc_overflow_text
};

/// A value that a step wrote, although it does not fit the bits of its field: a fault of the rule.
/// It cannot be sent, so every client that is shown it computes another world than the server.
struct hc_overflow {
    hc_tick tick; ///< tick of the state that the step wrote
    hc_entity entity;
    uint16_t field; ///< index in the fields of the entity's kind
    int64_t value;
};

// ---- A timeline of the game's own ---------------------------------------------------------------

/// The configuration of a game's own timeline.
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

/// For 60 Hz: history 64, future 64, an authority, not full. The caller sets `world`.
HC_API struct hc_timeline_config hc_timeline_config_default(void);

/// NULL when the configuration is valid, else the name of the first field out of its range, in
/// static storage.
HC_API const char *hc_timeline_config_check(const struct hc_timeline_config *config);

/// Creates a timeline without a state; the caller frees it with hc_timeline_destroy. NULL: the
/// configuration is invalid, or memory is short.
HC_API struct hc_timeline *hc_timeline_create(const struct hc_timeline_config *config);

/// Frees a timeline; NULL is allowed.
HC_API void hc_timeline_destroy(struct hc_timeline *timeline);

/// Starts the authority at tick 0, with every slot in the state that the game's `start` gives it.
HC_API void hc_timeline_start(struct hc_timeline *timeline);

/// Stores the input of `player` (< players) at `tick`. `input`, input_size sanitized bytes, is
/// copied. The first write wins.
/// HC_DUPLICATE: the slot is known, forced or retracted, or, on the authority, not after the
/// player's newest join.
/// HC_TOO_OLD: before head - W; a replica still predicts the player's inputs from it.
/// HC_TOO_NEW: after head + future.
/// HC_UNEXPECTED: no state yet, or, on the authority, the player is not joined. (A replica takes
/// inputs after a leave, because it may have missed the next join.)
HC_API enum hc_status hc_timeline_put_input(struct hc_timeline *timeline, hc_player player,
                                            hc_tick tick, const void *input);

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
HC_API enum hc_status hc_timeline_put_roster(struct hc_timeline *timeline, hc_player player,
                                             hc_tick tick, enum hc_roster roster_change);

/// Resimulates, then simulates one new tick. On the authority a slot that leaves the window unknown
/// counts as forced. A state is required.
HC_API void hc_timeline_advance(struct hc_timeline *timeline);

// ---- Queries ------------------------------------------------------------------------------------

/// Whether the timeline has any state.
HC_API bool hc_timeline_started(const struct hc_timeline *timeline);

/// The head: the newest tick with states.
HC_API hc_tick hc_timeline_head(const struct hc_timeline *timeline);

/// The step that is being taken, of `*entity` from `*tick` to the next: for a handler that has
/// interrupted it. With the game's step_run, `*entity` is the first of the run. False: none is.
HC_API bool hc_timeline_stepping(const struct hc_timeline *timeline, hc_tick *tick,
                                 hc_entity *entity);

/// The oldest tick whose states are in the ring.
HC_API hc_tick hc_timeline_oldest(const struct hc_timeline *timeline);

/// The states at `tick` in [oldest, head]: `entities * stride` bytes, zeros where not alive.
HC_API const uint8_t *hc_timeline_states(const struct hc_timeline *timeline, hc_tick tick);

/// The presence of every entity at `tick` in [oldest, head]: `entities` bytes.
HC_API const uint8_t *hc_timeline_presence(const struct hc_timeline *timeline, hc_tick tick);

/// The state of the slot of (`player`, `tick`). A slot that was never written is unknown, also up
/// to a join. Slots outside of [head - W, head + future] are unknown.
HC_API enum hc_slot hc_timeline_slot(const struct hc_timeline *timeline, hc_player player,
                                     hc_tick tick);

/// The effective input of a slot in [head - W, head), which the step of `tick` was given:
/// input_size bytes.
HC_API const void *hc_timeline_effective(const struct hc_timeline *timeline, hc_player player,
                                         hc_tick tick);

/// The roster change of `player` at `tick`, in [head - W, head + future]; HC_ROSTER_NONE outside.
HC_API enum hc_roster hc_timeline_roster(const struct hc_timeline *timeline, hc_player player,
                                         hc_tick tick);

/// The game events of `entity` at `tick` in [oldest, head], which its step to this tick emitted, in
/// ascending order; `*count` of them. An authoritative state that a client received has none: they
/// come from the server (hc_client_next_game_event).
HC_API const hc_game_event *hc_timeline_events(const struct hc_timeline *timeline, hc_tick tick,
                                               hc_entity entity, uint32_t *count);

/// The hash of the world at `tick` in [oldest, head], see hc_world_hash.
HC_API uint64_t hc_timeline_hash(const struct hc_timeline *timeline, hc_tick tick);

/// The overflows since the authority's start, the first of each field of a kind, `*count` of them,
/// at most HC_OVERFLOWS_MAX. The presets dev and asan abort at the first one instead.
HC_API const struct hc_overflow *hc_timeline_overflows(const struct hc_timeline *timeline,
                                                       uint32_t *count);

/// Writes an overflow as a sentence to `text` (`size` bytes), which it returns.
HC_API const char *hc_overflow_text(const struct hc_world *world,
                                    const struct hc_overflow *overflow, char *text, size_t size);

/// The statistics; the pointer is valid as long as the timeline.
HC_API const struct hc_timeline_stats *hc_timeline_stats(const struct hc_timeline *timeline);

HC_C_END
