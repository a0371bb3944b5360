/// The timeline as a game may read it: the ticks in [oldest, head], their states and their inputs.
///
/// A client's timeline (hc_client_timeline) holds its predicted ticks. It holds the last W ticks,
/// and inputs for up to `future` ticks after its head; the server announces both numbers. Pointers
/// into it are valid until the next hc_client_receive or hc_client_advance.
#pragma once

#include "hindcast/api.h"
#include "hindcast/game.h"

HC_C_BEGIN

struct hc_timeline;

/// The state of an input slot.
enum hc_slot {
    HC_SLOT_UNKNOWN,   ///< not received: predicted, and predicted again when an older one arrives
    HC_SLOT_KNOWN,     ///< received
    HC_SLOT_FORCED,    ///< closed before it was received: holds the prediction that was used
    HC_SLOT_RETRACTED, ///< a replica's own input that the authority forced: always predicted
};

/// Counts since creation; except for `depth` they only grow.
struct hc_timeline_stats {
    uint64_t advances;          ///< ticks simulated for the first time
    uint64_t steps;             ///< entity steps of those
    uint64_t resimulated_steps; ///< entity steps of ticks simulated before
    uint64_t resimulated_ticks; ///< ticks in which at least one entity was stepped again
    uint64_t rewinds;           ///< calls that stepped at least one entity again
    uint64_t changed;           ///< entity states that the new step changed
    uint32_t depth;     ///< ticks from the earliest one stepped again to the head, in the newest
                        ///< resimulation; 0: none was
    uint32_t depth_max; ///< the greatest `depth`
};

/// Whether the timeline has any state.
HC_API bool hc_timeline_started(const struct hc_timeline *timeline);

/// The head: the newest tick with states.
HC_API hc_tick hc_timeline_head(const struct hc_timeline *timeline);

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

/// The hash of the world at `tick` in [oldest, head], see hc_world_hash.
HC_API uint64_t hc_timeline_hash(const struct hc_timeline *timeline, hc_tick tick);

/// The statistics; the pointer is valid as long as the timeline.
HC_API const struct hc_timeline_stats *hc_timeline_stats(const struct hc_timeline *timeline);

HC_C_END
