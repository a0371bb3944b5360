/// What a game may read of a timeline: the ticks in [oldest, head], their states and their inputs.
///
/// A client's timeline (hc_client_timeline) is its predicted past and present. It keeps the last W
/// ticks and inputs for up to `future` ticks after its head, both as the server announced them.
/// Pointers into it are valid until it changes: until the next hc_client_receive or
/// hc_client_advance.
#pragma once

#include "hindcast/api.h"
#include "hindcast/game.h"

HC_C_BEGIN

struct hc_timeline;

/// How an input slot stands.
enum hc_slot {
    HC_SLOT_UNKNOWN,   ///< not arrived: predicted, and predicted anew when an older one arrives
    HC_SLOT_KNOWN,     ///< arrived
    HC_SLOT_FORCED,    ///< closed before it came: keeps the prediction that was used
    HC_SLOT_RETRACTED, ///< a follower's own, forced by the authority: predicted, never known
};

/// What has been done since creation; counts only grow.
struct hc_timeline_stats {
    uint64_t advances;          ///< ticks simulated for the first time
    uint64_t steps;             ///< entity steps of those
    uint64_t resimulated_steps; ///< entity steps of ticks simulated before
    uint64_t resimulated_ticks; ///< ticks in which at least one entity was stepped again
    uint64_t rewinds;           ///< calls of settle or advance in which that happened
    uint64_t changed;           ///< entity states that came out different from before
    uint32_t depth;     ///< of the newest rewind: head - earliest tick stepped again; else 0
    uint32_t depth_max; ///< the greatest of those
};

/// Whether there is any state.
HC_API bool hc_timeline_started(const struct hc_timeline *timeline);

/// The newest tick simulated.
HC_API hc_tick hc_timeline_head(const struct hc_timeline *timeline);

/// The oldest tick whose states are in the ring.
HC_API hc_tick hc_timeline_oldest(const struct hc_timeline *timeline);

/// The states at `tick` in [oldest, head]: `entities * stride` bytes, zeros where not alive.
HC_API const uint8_t *hc_timeline_states(const struct hc_timeline *timeline, hc_tick tick);

/// The presence of every entity at `tick` in [oldest, head]: `entities` bytes.
HC_API const uint8_t *hc_timeline_presence(const struct hc_timeline *timeline, hc_tick tick);

/// How the slot of (`player`, `tick`) stands, by what was put there (so a slot up to a join that
/// nobody put is unknown); unknown outside of [head - W, head + future].
HC_API enum hc_slot hc_timeline_slot(const struct hc_timeline *timeline, hc_player player,
                                     hc_tick tick);

/// The effective input of a slot in [head - W, head): what the step of `tick` was given.
HC_API const void *hc_timeline_effective(const struct hc_timeline *timeline, hc_player player,
                                         hc_tick tick);

/// The server's word at a slot in [head - W, head + future]; HC_ROSTER_NONE outside.
HC_API enum hc_roster hc_timeline_roster(const struct hc_timeline *timeline, hc_player player,
                                         hc_tick tick);

/// The hash of the tick's world (hc_world_hash); `tick` in [oldest, head].
HC_API uint64_t hc_timeline_hash(const struct hc_timeline *timeline, hc_tick tick);

/// What has been done; valid until the timeline changes.
HC_API const struct hc_timeline_stats *hc_timeline_stats(const struct hc_timeline *timeline);

HC_C_END
