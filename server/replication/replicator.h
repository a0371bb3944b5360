/// The state that replication shares among all clients of one world: the values and deltas that
/// they were sent, the roster, the extrapolator and its budget, and memory for the snapshot that is
/// being built.
///
/// Calls belong in this order:
///   1. hc_sv_replicator_init;
///   2. at each tick: hc_sv_roster_stamp for its joins and leaves, hc_timeline_advance, then
///      hc_sv_replicator_advance;
///   3. for each client that is due: hc_sv_snapshot_send; back to 2;
///   4. hc_sv_replicator_free.
#pragma once

#include "common/extrapolate.h"
#include "proto/snapshot.h"
#include "server/replication/delta_cache.h"
#include "server/replication/encode.h"
#include "server/replication/extrapolation_budget.h"
#include "server/replication/priority.h"
#include "server/replication/roster.h"

struct hc_sv_client;
struct hc_sv_selection;

struct hc_sv_replicator_config {
    const struct hc_world *world;       ///< borrowed
    const struct hc_timeline *timeline; ///< of the world; borrowed
    uint32_t history, future;           ///< of the timeline, ticks
    uint16_t snapshot_rate;             ///< Hz; 0: a snapshot at every tick
    bool show_head;                     ///< shows the head in every snapshot, see hc_sv_host_config
    uint8_t chain_key[HC_CHAIN_KEY_SIZE];
    const struct hc_allocator *allocator; ///< NULL: malloc
};

struct hc_sv_replicator {
    struct hc_sv_replicator_config config;
    const struct hc_world *world;
    const struct hc_timeline *timeline;
    hc_tick final;  ///< F, the newest tick that can no longer change
    uint64_t chain; ///< the chain hash at F
    struct hc_sv_roster roster;
    struct hc_sv_sent_values sent_values;
    struct hc_sv_delta_cache delta_cache;
    struct hc_extrapolator *extrapolator;
    struct hc_sv_extrapolation_budget extrapolation_budget;

    // Of the snapshot that is being built.
    struct hc_sv_selection *selections; ///< [units]
    struct hc_sv_candidate *candidates; ///< [units]
    struct hc_sv_encoding *encoding;
    uint8_t *extrapolation; ///< one unit's value

    uint8_t *memory; ///< of all of these
};

/// Bytes that hc_sv_replicator_init obtains.
size_t hc_sv_replicator_memory(const struct hc_sv_replicator_config *config);

/// Obtains all memory, at tick 0; false: there is too little. hc_sv_replicator_free in any case.
bool hc_sv_replicator_init(struct hc_sv_replicator *replicator,
                           const struct hc_sv_replicator_config *config);

/// Gives the memory back. A replicator of all zeros is allowed.
void hc_sv_replicator_free(struct hc_sv_replicator *replicator);

/// The timeline has advanced by a tick, and `final` is F now; it never decreases.
void hc_sv_replicator_advance(struct hc_sv_replicator *replicator, hc_tick final);
