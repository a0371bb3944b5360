/// The state that replication shares among all clients of one world: the values and deltas that
/// they were sent, their slots, the positions of entities, the roster, the extrapolator and its
/// budget, and memory for the snapshot that is being built.
///
/// Calls belong in this order:
///   1. hc_sv_replicator_init;
///   2. at each tick: hc_sv_roster_stamp for its joins and leaves, hc_timeline_advance, then
///      hc_sv_replicator_advance;
///   3. for each client that is due: hc_sv_look, then hc_sv_snapshot_send; back to 2;
///   4. hc_sv_replicator_free.
#pragma once

#include "common/extrapolate.h"
#include "proto/snapshot.h"
#include "server/replication/encoder.h"
#include "server/replication/final_events.h"
#include "server/replication/interest.h"
#include "server/replication/lists.h"
#include "server/replication/open_events.h"

struct hc_sv_builder;
struct hc_sv_selection;

enum {
    HC_SV_UNITS_EACH = 256,       ///< slots of the pool for each client, or all units if fewer
    HC_SV_UNITS_MIN = 16384,      ///< slots of the pool, at least, if there may be so many
    HC_SV_GATHERED_BYTES = 65536, ///< of deltas that one snapshot gathers; others are fetched again
};

/// Words of a set of players.
#define HC_SV_PLAYER_WORDS(world) (((world)->players + 63u) / 64)

struct hc_sv_replicator_config {
    const struct hc_world *world;       ///< borrowed
    const struct hc_timeline *timeline; ///< of the world; borrowed
    uint16_t clients;                   ///< at once, at most
    uint32_t history, future;           ///< of the timeline, ticks
    uint16_t snapshot_rate;             ///< Hz; 0: a snapshot at every tick
    bool show_head;                     ///< shows the head in every snapshot, see hc_sv_host_test
    uint8_t chain_key[HC_CHAIN_KEY_SIZE];
    const struct hc_allocator *allocator; ///< NULL: malloc
};

struct hc_sv_replicator {
    struct hc_sv_replicator_config config;
    bool linear; ///< snapshots extrapolate linearly at best, which is cheaper but takes more bytes
    hc_tick final;  ///< F, the newest tick that can no longer change
    uint64_t chain; ///< the chain hash at F
    struct hc_sv_roster roster;
    struct hc_sv_final_events final_events;
    struct hc_sv_open_events open_events;
    struct hc_sv_values values; ///< with a pin for each slot
    struct hc_sv_slots slots;
    struct hc_sv_index index;
    struct hc_sv_encoder_shared encoder;
    struct hc_extrapolator *extrapolator;
    struct hc_sv_extrapolation_budget extrapolation_budget;

    // Of the snapshot that is being built, or was built last.
    struct hc_sv_builder *builder;
    struct hc_sv_selection *selections; ///< [units]
    struct hc_snapshot_roster *changes; ///< [HC_SNAPSHOT_ROSTER_MAX + world.players]
    uint16_t *change_items;             ///< [the same] see lists.c
    uint64_t *order;                    ///< [units] keys of the selections, see snapshot.c
    uint64_t *seen_players;             ///< [HC_SV_PLAYER_WORDS] a bit for each, see lists.c
    uint8_t *gathered;                  ///< [HC_SV_GATHERED_BYTES] their deltas

    uint8_t *memory;     ///< of all of these
    size_t memory_bytes; ///< of that and of the extrapolator
};

/// Obtains all memory, at tick 0; false: there is too little. hc_sv_replicator_free in any case.
bool hc_sv_replicator_init(struct hc_sv_replicator *replicator,
                           const struct hc_sv_replicator_config *config);

/// Gives the memory back. A replicator of all zeros is allowed.
void hc_sv_replicator_free(struct hc_sv_replicator *replicator);

/// Whether each tick has a snapshot, as far as the configuration goes.
static inline bool hc_sv_replicator_sends_each_tick(const struct hc_sv_replicator *replicator) {
    uint32_t rate = replicator->config.snapshot_rate;
    return rate == 0 || rate == replicator->config.world->tick_rate;
}

/// An input of `player` has come that differs from its input before. A change of keys is sent to
/// everybody at once, see snapshot.c.
void hc_sv_replicator_turn(struct hc_sv_replicator *replicator, hc_player player,
                           const uint8_t *before, const uint8_t *input);

/// The timeline has advanced by a tick, and `final` is F now; it never decreases.
void hc_sv_replicator_advance(struct hc_sv_replicator *replicator, hc_tick final);
