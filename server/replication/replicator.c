/// The memory that all clients of a world share, and the ticks that pass over it.
#include "server/replication/replicator.h"

#include "common/alloc.h"
#include "server/replication/builder.h"

#include <string.h>

enum {
    VALUES_EACH = 3,  ///< of a unit for each tick that is stored: rewinds rewrite ticks
    DELTAS_EACH = 64, ///< of a unit: for every tick shown and every baseline
};

/// Slots of the pool: as many as all clients can take, or the usual share of each.
static uint32_t slot_count(const struct hc_sv_replicator_config *config) {
    uint32_t units = hc_unit_total(config->world), most = units * config->clients;
    uint32_t each = units < HC_SV_UNITS_EACH ? units : HC_SV_UNITS_EACH;
    uint32_t count = each * config->clients;
    if (count < HC_SV_UNITS_MIN)
        count = HC_SV_UNITS_MIN;
    return count < most ? count : most;
}

/// Lays everything out from `base` (NULL: only measures); returns the bytes needed.
static size_t layout(struct hc_sv_replicator *replicator,
                     const struct hc_sv_replicator_config *config, uint8_t *base) {
    const struct hc_world *world = config->world;
    uint32_t units = hc_unit_total(world), rows = config->history + 1, slots = slot_count(config);
    // A value that a client acked longer ago is pinned, or no longer a baseline.
    uint32_t each = (rows + HC_SNAPSHOT_AGE_MAX) * VALUES_EACH;
    // The values that are stored at one head stay until its end, one of every tick at most: the
    // ring keeps a new value for a quarter of its length.
    each = each > 4 * rows ? each : 4 * rows;
    size_t used = 0;
    replicator->builder = hc_carve(base, &used, sizeof *replicator->builder);
    replicator->selections = hc_carve(base, &used, units * sizeof *replicator->selections);
    size_t changes = HC_SNAPSHOT_ROSTER_MAX + (size_t)world->players;
    replicator->changes = hc_carve(base, &used, changes * sizeof *replicator->changes);
    replicator->change_items = hc_carve(base, &used, changes * sizeof *replicator->change_items);
    replicator->order = hc_carve(base, &used, units * sizeof *replicator->order);
    replicator->gathered = hc_carve(base, &used, HC_SV_GATHERED_BYTES);
    replicator->seen_players =
        hc_carve(base, &used, HC_SV_PLAYER_WORDS(world) * sizeof *replicator->seen_players);
    used += hc_sv_roster_layout(&replicator->roster, world, base == NULL ? NULL : base + used);
    used += hc_sv_final_events_layout(&replicator->final_events, world,
                                      base == NULL ? NULL : base + used);
    used += hc_sv_open_events_layout(&replicator->open_events, world,
                                     base == NULL ? NULL : base + used);
    used += hc_sv_values_layout(&replicator->values, world, rows, each, slots,
                                base == NULL ? NULL : base + used);
    used += hc_sv_slots_layout(&replicator->slots, slots, config->clients,
                               base == NULL ? NULL : base + used);
    used += hc_sv_index_layout(&replicator->index, world, base == NULL ? NULL : base + used);
    used += hc_sv_encoder_layout(&replicator->encoder, world, replicator->extrapolator, DELTAS_EACH,
                                 base == NULL ? NULL : base + used);
    return used;
}

bool hc_sv_replicator_init(struct hc_sv_replicator *replicator,
                           const struct hc_sv_replicator_config *config) {
    memset(replicator, 0, sizeof *replicator); // too large for a copy on the stack
    replicator->config = *config;
    replicator->extrapolator = hc_extrapolator_create(config->world);
    size_t bytes = layout(replicator, config, NULL);
    replicator->memory = hc_allocate(config->allocator, bytes);
    replicator->memory_bytes = bytes + hc_extrapolator_memory(config->world);
    if (replicator->extrapolator == NULL || replicator->memory == NULL)
        return false;
    layout(replicator, config, replicator->memory);
    hc_sv_roster_clear(&replicator->roster, config->world);
    hc_sv_values_begin(&replicator->values);
    hc_sv_slots_clear(&replicator->slots);
    hc_sv_index_clear(&replicator->index);
    hc_sv_encoder_share(&replicator->encoder);
    return true;
}

void hc_sv_replicator_free(struct hc_sv_replicator *replicator) {
    hc_release(replicator->config.allocator, replicator->memory);
    hc_extrapolator_destroy(replicator->extrapolator);
}

void hc_sv_replicator_turn(struct hc_sv_replicator *replicator, hc_player player,
                           const uint8_t *before, const uint8_t *input) {
    if (hc_sv_input_changes_keys_differ(&replicator->encoder.input_changes, before, input))
        replicator->roster.players[player].turned_at =
            hc_timeline_head(replicator->config.timeline);
}

void hc_sv_replicator_advance(struct hc_sv_replicator *replicator, hc_tick final) {
    hc_sv_extrapolation_tick(&replicator->extrapolation_budget);
    while (replicator->final < final) {
        replicator->final++;
        hc_sv_final_events_add(&replicator->final_events, replicator->config.timeline);
        replicator->chain =
            hc_snapshot_chain(replicator->config.chain_key, replicator->chain,
                              hc_timeline_hash(replicator->config.timeline, replicator->final));
    }
}
