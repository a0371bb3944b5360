/// The order in which a snapshot is filled, and its lists of forced inputs, joins and leaves.
#include "server/replication/snapshot.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "server/replication/corrections.h"
#include "server/replication/selection.h"

enum {
    ROOM_MIN = 160,     ///< bytes; with less to spend a snapshot waits for the next tick
    INTEREST_TICKS = 8, ///< between two full looks at a client's interest
    PIN_TICKS = 48,     ///< age of the newest base from which on its values are pinned
    BYTES_MAX = HC_DATA_BODY_MAX - HC_SNAPSHOT_OVERHEAD, ///< of a snapshot
};

hc_tick hc_sv_snapshot_tick(const struct hc_sv_replicator *replicator,
                            const struct hc_sv_client *client) {
    const struct hc_timeline *timeline = replicator->timeline;
    hc_tick tick = hc_timeline_head(timeline);
    for (unsigned i = 0; !replicator->config.show_head && i < client->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, client->own[i]) + 1);
    return tick;
}

// ---- Forced inputs, joins and leaves ------------------------------------------------------------

static void put_forced(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    for (unsigned i = 0; i < client->forced.count; i++) {
        struct hc_sv_forced_range *range = &client->forced.ranges[i];
        struct hc_snapshot_forced forced = {.first = range->first, .count = range->count};
        while (client->own[forced.own] != range->player)
            forced.own++;
        if (range->first > builder->header.tick || !hc_sv_builder_fits_item(builder)) {
            range->sent_since = 0; // an ack of this snapshot does not cover the range
            continue;
        }
        hc_snapshot_put_forced(&builder->bits, builder->header.tick, &forced);
        if (range->sent_since == 0)
            range->sent_since = builder->seq;
    }
    hc_snapshot_put_end(&builder->bits);
}

/// Whether to send the client a join or leave: of another player that it sees, and that is still in
/// view where the change takes effect, as far as that is simulated.
static bool sends_change(const struct hc_sv_builder *builder,
                         const struct hc_snapshot_roster *change) {
    hc_unit unit = (hc_unit)(1 + change->player);
    const struct hc_sv_selection *selection = hc_sv_selection_find(builder, unit);
    if (hc_sv_client_owns(builder->client, change->player) || selection == NULL ||
        hc_sv_selection_drops(selection))
        return false;
    if (change->tick < builder->header.tick || change->tick >= builder->header.as_of)
        return true;
    struct hc_sv_interest_look look = hc_sv_builder_look(builder, change->tick + 1);
    return hc_sv_interest_in_view(&look, unit);
}

/// Joins and leaves that the client may not have received yet, also some before the tick shown: the
/// client may know early inputs of a player's earlier life after them. Those from that tick on are
/// sent in any case, because a client that begins anew there has lost them.
static void put_recent_roster(struct hc_sv_builder *builder) {
    const struct hc_sv_replicator *replicator = builder->replicator;
    const struct hc_sv_roster *roster = &replicator->roster;
    struct hc_sv_client *client = builder->client;
    hc_tick tick = builder->header.tick, since = hc_tick_back(tick, replicator->config.future);
    for (uint64_t n = hc_sv_roster_since(roster, since); n < roster->end; n++) {
        const struct hc_snapshot_roster *change = hc_sv_roster_at(roster, n);
        uint32_t *sent_since = hc_sv_roster_sent_since(&client->roster_sent, roster, n);
        bool received = *sent_since != 0 && client->acked_snapshot >= *sent_since;
        if (received && change->tick < tick)
            continue;
        if (!sends_change(builder, change) || !hc_sv_builder_fits_item(builder)) {
            if (!received)
                *sent_since = 0; // an ack of this snapshot does not cover the change
            continue;
        }
        hc_snapshot_put_roster(&builder->bits, tick, change);
        if (*sent_since == 0)
            *sent_since = builder->seq;
    }
}

/// Of players without a known input since their join also that join, because the client may know
/// inputs of an earlier life.
static void put_joins(struct hc_sv_builder *builder) {
    const struct hc_sv_replicator *replicator = builder->replicator;
    hc_tick tick = builder->header.tick, since = hc_tick_back(tick, replicator->config.future);
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        hc_player player = hc_unit_player(builder->world, selection->name.unit);
        if (player == HC_NO_PLAYER || hc_sv_client_owns(builder->client, player) ||
            hc_sv_selection_drops(selection) || selection->value.value->known != HC_NO_TICK ||
            !hc_sv_builder_fits_item(builder))
            continue;
        hc_tick joined = hc_sv_roster_joined(&replicator->roster, player, tick);
        if (joined == HC_NO_TICK || joined >= since)
            continue;
        // A join farther back than can be named has the same effect there.
        struct hc_snapshot_roster join = {
            .player = player,
            .tick = hc_tick_max(joined, hc_tick_back(tick, HC_SNAPSHOT_SPAN_MAX)),
            .roster_change = HC_ROSTER_JOIN};
        hc_snapshot_put_roster(&builder->bits, tick, &join);
    }
}

static void put_roster(struct hc_sv_builder *builder) {
    put_recent_roster(builder);
    put_joins(builder);
    hc_snapshot_put_end(&builder->bits);
}

// ---- Units --------------------------------------------------------------------------------------

static uint32_t hash_of(const struct hc_sv_builder *builder) {
    const struct hc_world *world = builder->world;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!selection->chosen || hc_sv_selection_drops(selection))
            continue;
        hc_entity first = hc_unit_first(world, selection->name.unit);
        for (uint32_t e = first; e < first + hc_unit_count(world, selection->name.unit); e++)
            hash += hc_unit_entity_hash(world, (hc_entity)e, builder->shown.presence[e],
                                        builder->shown.states + (size_t)e * world->stride);
    }
    return (uint32_t)hash;
}

static void put_names(struct hc_sv_builder *builder) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        if (builder->selections[i].chosen)
            units[count++] = builder->selections[i].name;
    hc_snapshot_put_names(&builder->bits, &builder->header, &builder->base, units, count);
}

/// Where the bits of a unit's value are counted.
static uint64_t *count_of(struct hc_sv_builder *builder, hc_unit unit) {
    struct hc_sv_snapshot_bits *bits = &builder->counts->bits;
    if (hc_unit_player(builder->world, unit) == HC_NO_PLAYER)
        return &bits->unowned;
    return hc_sv_client_owns_unit(builder->client, unit) ? &bits->own : &bits->others;
}

/// Writes the value of a chosen unit and its player's inputs; returns the bits of the value.
static uint32_t put_value(struct hc_sv_builder *builder, const struct hc_sv_selection *selection) {
    hc_unit unit = selection->name.unit;
    hc_player player = hc_unit_player(builder->world, unit);
    struct hc_sv_delta delta =
        hc_sv_builder_delta(builder, unit, selection->base, selection->value);
    uint32_t inputs = selection->inputs < builder->inputs ? selection->inputs : builder->inputs;
    hc_bits_append(&builder->bits, delta.data, delta.bits);
    *count_of(builder, unit) += delta.bits;
    if (player != HC_NO_PLAYER)
        hc_snapshot_put_inputs(&builder->bits, builder->timeline, builder->world->game, player,
                               selection->value.value, builder->header.tick + inputs);
    return delta.bits;
}

/// Writes everything but the corrections; false: it does not fit.
static bool write_units(struct hc_sv_builder *builder) {
    struct hc_sv_snapshot_bits *bits = &builder->counts->bits;
    uint64_t values = 0;
    *bits = (struct hc_sv_snapshot_bits){0};
    builder->header.hash = hash_of(builder);
    hc_snapshot_put(&builder->bits, &builder->header);
    put_forced(builder);
    put_roster(builder);
    bits->header = hc_bits_written(&builder->bits);
    put_names(builder);
    size_t named = hc_bits_written(&builder->bits);
    bits->names = named - bits->header;
    for (uint32_t i = 0; i < builder->selection_count && !builder->bits.failed; i++)
        if (builder->selections[i].chosen && !hc_sv_selection_drops(&builder->selections[i]))
            values += put_value(builder, &builder->selections[i]);
    bits->inputs = hc_bits_written(&builder->bits) - named - values;
    struct hc_bits_writer ended = builder->bits;
    hc_snapshot_put_end(&ended); // of the corrections
    return !ended.failed;
}

/// Fills the room with units. If the estimate was too low, the farthest inputs are left out first,
/// then the least urgent units. The referee and the client's own units may exceed the room, up to a
/// whole datagram: they are in every snapshot.
static void put_units(struct hc_sv_builder *builder, uint32_t room) {
    struct hc_bits_writer before = builder->bits;
    uint32_t count = hc_sv_selection_choose(builder, room, HC_SNAPSHOT_UNITS_MAX);
    uint32_t own = 1 + builder->client->own_count;
    builder->inputs = hc_sv_selection_inputs(builder, room);
    while (!write_units(builder)) {
        builder->bits = before;
        if (builder->inputs > HC_SNAPSHOT_INPUTS_NEAR) {
            builder->inputs -= (builder->inputs - HC_SNAPSHOT_INPUTS_NEAR + 3) / 4;
            continue;
        }
        if (count <= own && before.size < BYTES_MAX) {
            before.size = BYTES_MAX;
            builder->bits.size = before.size;
            continue;
        }
        HC_ASSERT(count > 0); // the header and two lists always fit
        uint32_t fewer = count - 1 - count / 8;
        count = hc_sv_selection_choose(builder, room, count > own && fewer < own ? own : fewer);
    }
    if (before.size > builder->room) // nothing else goes beyond it; the end of the corrections must
        builder->bits.size = hc_bits_written(&builder->bits) / 8 + 1;
    hc_sv_selection_sent(builder);
}

// ---- A snapshot ---------------------------------------------------------------------------------

/// Whether this head's snapshot is the client's first of a group of HC_SNAPSHOT_CHAIN_TICKS heads.
/// Groups begin at another head for each client, which spreads the chain hashes over the ticks.
static bool begins_group(const struct hc_sv_client *client, hc_tick head) {
    uint64_t offset = HC_SNAPSHOT_CHAIN_TICKS - client->cid % HC_SNAPSHOT_CHAIN_TICKS;
    return client->newest_head == HC_NO_TICK ||
           (head + offset) / HC_SNAPSHOT_CHAIN_TICKS !=
               (client->newest_head + offset) / HC_SNAPSHOT_CHAIN_TICKS;
}

static void begin_header(struct hc_sv_builder *builder,
                         const struct hc_sv_snapshot_datagram *datagram) {
    const struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_client *client = builder->client;
    hc_tick head = hc_timeline_head(builder->timeline);
    hc_tick tick = hc_sv_snapshot_tick(replicator, client);
    builder->header = (struct hc_snapshot){.as_of = head,
                                           .phase_us = datagram->phase_us,
                                           .ack_delay_us = datagram->ack_delay_us,
                                           .tick = tick,
                                           .late_limit = datagram->late_limit,
                                           .final = replicator->final,
                                           .has_chain = begins_group(client, head),
                                           .chain = replicator->chain,
                                           .base = hc_sv_sent_log_base(client->sent_log),
                                           .own_count = client->own_count};
    client->newest_head = head;
    for (unsigned i = 0; i < client->own_count; i++) // with show_head the tick may exceed A
        builder->header.complete[i] = hc_tick_max(
            hc_timeline_inputs_through(builder->timeline, client->own[i]), hc_tick_back(tick, 1));
    if (builder->header.base != HC_NO_TICK)
        builder->base.count = hc_sv_sent_log_units(client->sent_log, builder->header.base,
                                                   builder->base.units, HC_SNAPSHOT_UNITS_MAX);
}

/// Renews the client's interest: a full look now and then, else only the seen units are checked.
static void look(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    hc_tick head = builder->header.as_of, tick = builder->header.tick;
    if (client->interest_at == HC_NO_TICK || head - client->interest_at >= INTEREST_TICKS) {
        hc_sv_interest_update(&client->interest, builder->timeline, tick, client->own,
                              client->own_count);
        client->interest_at = head;
    } else {
        hc_sv_interest_narrow(&client->interest, builder->timeline, tick, client->own,
                              client->own_count);
    }
}

static void begin(struct hc_sv_builder *builder, const struct hc_sv_snapshot_datagram *datagram) {
    struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_client *client = builder->client;
    hc_tick head = hc_timeline_head(builder->timeline);
    hc_sv_sent_log_begin(client->sent_log, head, builder->seq);
    if (head - hc_sv_sent_log_base(client->sent_log) >= PIN_TICKS)
        hc_sv_pinned_take(&client->pinned, client->sent_log, &replicator->sent_values);
    begin_header(builder, datagram);
    look(builder);
    hc_tick tick = builder->header.tick;
    hc_tick base = builder->header.base == HC_NO_TICK ? tick : builder->header.base;
    builder->own_steps = client->own_count * hc_sv_builder_steps(hc_tick_min(base, tick), tick);
    builder->extrapolation =
        hc_sv_extrapolation_begin(&replicator->extrapolation_budget, client->extrapolation_saved,
                                  head - base, head - tick, builder->own_steps);
    builder->shown = hc_sv_sent_values_row(&replicator->sent_values, builder->timeline, tick);
    builder->referee_id = hc_sv_sent_values_put(&builder->shown, 0);
    bool alive = builder->shown.presence[HC_REFEREE] == HC_ALIVE;
    builder->referee = alive ? builder->shown.states : NULL;
}

/// Steps that all units of the snapshot take when each is extrapolated from the base.
static uint32_t demanded_steps(const struct hc_sv_builder *builder) {
    hc_tick tick = builder->header.tick, base = builder->header.base;
    return base == HC_NO_TICK || base > tick
               ? 0
               : builder->selection_count * hc_sv_builder_steps(base, tick);
}

static void end(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    hc_tick tick = builder->header.tick, head = builder->header.as_of;
    client->extrapolation_saved = hc_sv_extrapolation_end(
        &builder->replicator->extrapolation_budget, &builder->extrapolation,
        demanded_steps(builder), builder->own_steps, hc_sv_client_extrapolation_most(client));
    builder->counts->rewound =
        tick < head && head - tick <= hc_timeline_stats(builder->timeline)->depth;
    if (builder->counts->rewound)
        HC_MARK("snapshot-of-rewound-tick");
}

bool hc_sv_snapshot_send(struct hc_sv_replicator *replicator, struct hc_sv_client *client,
                         const struct hc_sv_snapshot_datagram *datagram, struct hc_writer *body,
                         struct hc_sv_snapshot_counts *counts, uint64_t now_us) {
    uint8_t packed[HC_DATA_BODY_MAX];
    int32_t room = hc_sv_bandwidth_room(&client->bandwidth, HC_DATA_BODY_MAX, now_us);
    if (room < ROOM_MIN) {
        HC_MARK("snapshot-starved");
        return false;
    }
    size_t size = (size_t)room - HC_SNAPSHOT_OVERHEAD;
    struct hc_sv_builder builder = {.replicator = replicator,
                                    .client = client,
                                    .world = replicator->world,
                                    .timeline = replicator->timeline,
                                    .seq = datagram->seq,
                                    .room = size,
                                    .bits = hc_bits_writer(packed, size),
                                    .selections = replicator->selections,
                                    .candidates = replicator->candidates,
                                    .counts = counts};
    *counts = (struct hc_sv_snapshot_counts){.rewound = false};
    begin(&builder, datagram);
    hc_sv_selection_gather(&builder);
    put_units(&builder, (uint32_t)size * 8);
    hc_sv_corrections_put(&builder);
    end(&builder);
    bool fits = hc_snapshot_put_message(body, packed, hc_bits_finish(&builder.bits));
    HC_ASSERT(!builder.bits.failed && fits);
    hc_sv_bandwidth_spend(&client->bandwidth, (uint32_t)body->at);
    return true;
}
