/// The builder: a snapshot while it is made. It is filled in two steps. The first gathers into its
/// arrays: each unit once, with its value, its baseline and its delta, and the lists. The second
/// writes from the arrays, and logs each unit and item that the datagram carries.
#pragma once

#include "server/replication/early.h"
#include "server/replication/listing.h"
#include "server/replication/lists.h"
#include "server/replication/snapshot.h"

#include <string.h>

#define HC_SV_NOT_GATHERED UINT32_MAX ///< the place of a delta for which there was no room

/// A unit that a snapshot may send.
struct hc_sv_selection {
    struct hc_snapshot_unit name;
    bool own;    ///< the client's own, or the referee: sent before all others
    bool chosen; ///< the snapshot sends it
    bool known;  ///< the client may know it
    bool waits;  ///< the unit waits for the next whole snapshot: this one does not send it
    struct hc_sv_slot *slot;         ///< slot with the unit's items
    const struct hc_sv_value *value; ///< value of the tick shown; NULL: the unit is dropped
    const struct hc_sv_value *base;  ///< value that the delta is against; NULL: none
    const struct hc_sv_value *acked; ///< the newest value that the client acked, unless the ring
                                     ///< has replaced it
    hc_sv_value_id acked_id;         ///< number of that value; 0: none
    hc_tick acked_as_of;             ///< the head of its snapshot
    uint32_t gathered;               ///< the delta's place in replicator->gathered
    uint32_t delta;                  ///< bits of the delta
    uint32_t bits;                   ///< estimated bits in all, with the nearest inputs
    uint32_t inputs;                 ///< ticks of inputs from the tick shown on, at most
    uint32_t inputs_before;          ///< Ticks of inputs before it, if the snapshot sends any.
};

/// A unit that the client may show wrongly at a past tick.
struct hc_sv_correction {
    const struct hc_sv_selection *selection;
    const struct hc_sv_value *value;
    struct hc_sv_held held; ///< value that the client shows instead
};

struct hc_sv_builder {
    struct hc_sv_replicator *replicator;
    struct hc_sv_client *client;
    const struct hc_world *world;
    const struct hc_timeline *timeline;
    struct hc_snapshot header;
    bool alternates;             ///< the view is crowded: not every snapshot is whole
    struct hc_snapshot_set base; ///< the units of the base
    hc_sv_places usable;         ///< acked snapshots that are no newer than the base
    struct hc_sv_encoder encoder;
    uint32_t own_steps;                 ///< of extrapolations, reserved for the client's own units
    struct hc_sv_selection *selections; ///< ascending units
    uint32_t selection_count;
    uint32_t waiting;  ///< selections that wait for the next whole snapshot
    uint32_t gathered; ///< bytes of deltas
    bool ordered;      ///< replicator->order is set
    /// Whether to send past ticks that the client never received. With a snapshot at every tick it
    /// is sent all, also those that T leapt over. With fewer it simulates the ticks between two
    /// snapshots, and only values that were lost are sent again.
    bool sends_unreceived;
    struct hc_snapshot_lists lists;
    struct hc_snapshot_forced forced[HC_SV_FORCED_RANGES];  ///< forced ranges of the snapshot
    struct hc_sv_forced_range *ranges[HC_SV_FORCED_RANGES]; ///< items of the forced ranges
    struct hc_sv_correction corrections[HC_SNAPSHOT_CORRECTIONS_MAX]; ///< of one tick
    struct hc_snapshot_correction names[HC_SNAPSHOT_CORRECTIONS_MAX]; ///< of these corrections
    struct hc_sv_listing_gathered listing; ///< The final list of game events.
    struct hc_sv_early_gathered early;     ///< The early lists.
    uint32_t reserve; ///< The bytes at the end that no other part takes: for the early lists.
    uint32_t room;    ///< bytes of the snapshot that the bandwidth allows
    uint32_t limit;   ///< bytes that its units may take: the room, or more for the client's own
    uint32_t most;    ///< The limit is at most so many bytes, by the body of the connection.
    uint32_t chosen;  ///< units
    uint32_t inputs;  ///< ticks of inputs that are sent from the tick shown on
    uint8_t *packed;  ///< [limit]
    struct hc_bits_writer bits;
    struct hc_server_stats *stats; ///< of the server
};

/// The inputs that the snapshot sends with the value of a player's unit.
static inline struct hc_snapshot_inputs
hc_sv_builder_inputs(const struct hc_sv_builder *builder, const struct hc_sv_selection *selection) {
    const struct hc_snapshot *header = &builder->header;
    uint32_t after = selection->inputs < builder->inputs ? selection->inputs : builder->inputs;
    uint32_t before = header->inputs_before > 0 ? selection->inputs_before : 0;
    return (struct hc_snapshot_inputs){.player =
                                           hc_unit_player(builder->world, selection->name.unit),
                                       .before = header->inputs_before,
                                       .first = header->tick - before,
                                       .end = header->tick + after};
}

/// Stores a delta; returns its place in replicator->gathered, HC_SV_NOT_GATHERED: it has no room.
static inline uint32_t hc_sv_builder_store(struct hc_sv_builder *builder,
                                           struct hc_sv_delta delta) {
    uint32_t words = (delta.bits + 31) / 32, at = builder->gathered;
    if (4 * words > HC_SV_GATHERED_BYTES - at)
        return HC_SV_NOT_GATHERED;
    for (uint32_t i = 0; i < words; i++) // most deltas are short, and calls are slow
        memcpy(builder->replicator->gathered + at + 4 * (size_t)i, delta.data + 4 * (size_t)i, 4);
    builder->gathered += 4 * words;
    return at;
}
