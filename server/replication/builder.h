/// The builder: a snapshot while it is made, and the deltas that it is made of.
#pragma once

#include "server/replication/snapshot.h"

/// A stored value and its number; {0, NULL}: none.
struct hc_sv_sent_value {
    hc_sv_value_id id;
    const struct hc_unit_value *value; ///< among the sent values, or pinned
};

struct hc_sv_builder {
    struct hc_sv_replicator *replicator;
    struct hc_sv_client *client;
    const struct hc_world *world;
    const struct hc_timeline *timeline;
    uint32_t seq;
    struct hc_snapshot header;
    size_t room; ///< bytes of the snapshot that the bandwidth allows
    struct hc_bits_writer bits;
    struct hc_snapshot_set base;        ///< the units of the base
    struct hc_sv_sent_values_row shown; ///< of the tick shown
    hc_sv_value_id referee_id;
    const void *referee;                ///< its state at the tick shown; NULL unless it is alive
    struct hc_sv_selection *selections; ///< ascending units
    uint32_t selection_count;
    struct hc_sv_candidate *candidates; ///< of the selections
    bool ordered;                       ///< the candidates are; else they are in ascending order
    uint32_t inputs;                    ///< ticks of inputs that are sent from the tick shown on
    struct hc_sv_extrapolation_cost extrapolation;
    bool gathered;      ///< the selections are: their deltas are paid for
    uint32_t own_steps; ///< steps of that reserved for the client's own units
    struct hc_sv_snapshot_counts *counts;
};

/// A delta as bits, borrowed until the next one.
struct hc_sv_delta {
    const uint8_t *data;
    uint32_t bits;
    bool reused; ///< from the cache
};

/// The value of the unit that the client has acked, with its number; {0, NULL}: it is gone.
struct hc_sv_sent_value hc_sv_builder_acked(const struct hc_sv_builder *builder, hc_unit unit,
                                            hc_sv_value_id value_id);

/// The view of the client's players at `tick`.
struct hc_sv_interest_look hc_sv_builder_look(const struct hc_sv_builder *builder, hc_tick tick);

/// Ticks that an extrapolation from `from` to `to` simulates; 0 beyond HC_EXTRAPOLATE_TICKS_MAX,
/// where the value is held.
uint32_t hc_sv_builder_steps(hc_tick from, hc_tick to);

/// Whether the delta exceeds the extrapolation budget: it is not cached, and its extrapolation
/// takes more steps than are left. A client that acks late, at times of its own, has old baselines
/// that no other client has, and each would be extrapolated for it alone.
bool hc_sv_builder_too_dear(const struct hc_sv_builder *builder, hc_unit unit,
                            struct hc_sv_sent_value base, struct hc_sv_sent_value value);

/// The delta of `value` against `base`, from the cache or encoded into it.
struct hc_sv_delta hc_sv_builder_delta(struct hc_sv_builder *builder, hc_unit unit,
                                       struct hc_sv_sent_value base, struct hc_sv_sent_value value);

/// Whether the lists before the units may have one more item. They leave a quarter to the units; a
/// later snapshot carries the items left out.
bool hc_sv_builder_fits_item(const struct hc_sv_builder *builder);

/// Counts a delta as encoded or reused, once for each unit.
void hc_sv_builder_count_delta(struct hc_sv_builder *builder, const struct hc_sv_delta *delta);
