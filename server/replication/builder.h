/// The builder: a snapshot while it is made. Each unit's value, baseline and delta are fetched
/// once, into its selection.
#pragma once

#include "server/replication/snapshot.h"

/// A unit that a snapshot may send.
struct hc_sv_selection {
    struct hc_snapshot_unit name;
    bool own;                        ///< the client's own, or the referee: sent before all others
    bool chosen;                     ///< the snapshot sends it
    struct hc_sv_slot *slot;         ///< what the client was sent of it
    const struct hc_sv_value *value; ///< of the tick shown; NULL: the unit is dropped
    struct hc_sv_acked acked;        ///< the newest value that the client acked
    uint32_t gathered;               ///< the delta's place in replicator->gathered
    uint32_t delta;                  ///< its bits
    uint32_t bits;                   ///< estimated, in all with the nearest inputs
    uint32_t inputs;                 ///< ticks of inputs from the tick shown on, at most
};

struct hc_sv_builder {
    struct hc_sv_replicator *replicator;
    struct hc_sv_client *client;
    const struct hc_world *world;
    const struct hc_timeline *timeline;
    struct hc_snapshot header;
    size_t room; ///< bytes of the snapshot that the bandwidth allows
    struct hc_bits_writer bits;
    struct hc_snapshot_set base;   ///< the units of the base
    struct hc_sv_values_row shown; ///< of the tick shown
    struct hc_sv_encoder encoder;
    uint32_t own_steps;                 ///< of extrapolations, reserved for the client's own units
    struct hc_sv_selection *selections; ///< ascending units
    uint32_t selection_count;
    uint32_t gathered; ///< bytes of deltas
    bool ordered;      ///< replicator->order is set
    uint32_t inputs;   ///< ticks of inputs that are sent from the tick shown on
    struct hc_sv_snapshot_counts *counts;
};

/// Whether the unit is dropped: the client must forget it.
static inline bool hc_sv_selection_drops(const struct hc_sv_selection *selection) {
    return selection->name.from == HC_SNAPSHOT_DROPPED;
}

/// The selection of `unit`; NULL: it is not gathered.
static inline const struct hc_sv_selection *hc_sv_builder_find(const struct hc_sv_builder *builder,
                                                               hc_unit unit) {
    uint32_t low = 0, high = builder->selection_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (builder->selections[middle].name.unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < builder->selection_count && builder->selections[low].name.unit == unit;
    return found ? &builder->selections[low] : NULL;
}

/// The acked value, from the ring or pinned; NULL: it is gone, or there is none.
const struct hc_sv_value *hc_sv_builder_value(const struct hc_sv_builder *builder,
                                              const struct hc_sv_selection *selection);

/// The view of the client's players at `tick`.
static inline struct hc_sv_interest_look hc_sv_builder_look(const struct hc_sv_builder *builder,
                                                            hc_tick tick) {
    const struct hc_sv_client *client = builder->client;
    return hc_sv_interest_look_at(&client->interest, builder->timeline, tick, client->own,
                                  client->own_count);
}
