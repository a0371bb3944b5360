/// A snapshot: which units it sends, against which baselines, and the order in which it is filled.
#include "server/replication/snapshot.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "server/replication/builder.h"
#include "server/replication/corrections.h"

#include <string.h>

enum {
    ROOM_MIN = 160,     ///< bytes; with less to spend a snapshot waits for the next tick
    INTEREST_TICKS = 8, ///< between two full looks at a client's interest
    PIN_TICKS = 48,     ///< age of the newest base from which on its values are pinned
    BYTES_MAX = HC_DATA_BODY_MAX - HC_SNAPSHOT_OVERHEAD, ///< of a snapshot
    AGAIN_BITS = 1,            ///< estimated, of the name of a unit that the base carried
    NAME_BITS = 8,             ///< of another name
    INPUT_BITS = 8,            ///< of an input
    NOT_GATHERED = UINT32_MAX, ///< the place of a delta for which there was no room
};

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

hc_tick hc_sv_snapshot_tick(const struct hc_sv_replicator *replicator,
                            const struct hc_sv_client *client) {
    const struct hc_timeline *timeline = replicator->config.timeline;
    hc_tick tick = hc_timeline_head(timeline);
    for (unsigned i = 0; !replicator->config.show_head && i < client->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, client->own[i]) + 1);
    return tick;
}

// ---- Beginning ----------------------------------------------------------------------------------

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
                                           .base = client->sent_log.base,
                                           .own_count = client->own_count};
    client->newest_head = head;
    for (unsigned i = 0; i < client->own_count; i++) // with show_head the tick may exceed A
        builder->header.complete[i] = hc_tick_max(
            hc_timeline_inputs_through(builder->timeline, client->own[i]), hc_tick_back(tick, 1));
}

static struct hc_sv_value *pin_of(const struct hc_sv_builder *builder,
                                  const struct hc_sv_slot *slot) {
    const struct hc_sv_replicator *replicator = builder->replicator;
    size_t number = (size_t)(slot - replicator->slots.at);
    return (struct hc_sv_value *)(void *)(replicator->pins +
                                          number * hc_sv_values_pin_size(builder->world));
}

/// Pins the values of the base, unless they are pinned already. The client stores them until it
/// receives a newer one. Without them a crowded snapshot would not fit into a datagram for a client
/// that has acked nothing for a long time.
static void pin(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    const struct hc_sv_view *view = &client->interest.view;
    hc_tick base = client->sent_log.base;
    if (base == client->pinned)
        return;
    client->pinned = base;
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (; slot != NULL; slot = hc_sv_view_slot(view, slot->next)) {
        struct hc_sv_acked acked = hc_sv_slot_acked(slot, &client->sent_log);
        slot->pinned = acked.value_id != 0 && acked.as_of == base;
        if (slot->pinned)
            hc_sv_values_pin(&builder->replicator->values, slot->unit, acked.value_id,
                             pin_of(builder, slot));
    }
}

/// Logs the snapshot, and evicts from the log, and from all items, what is too old.
static void begin_log(struct hc_sv_builder *builder, uint32_t seq) {
    struct hc_sv_client *client = builder->client;
    const struct hc_sv_view *view = &client->interest.view;
    hc_tick head = hc_timeline_head(builder->timeline);
    hc_tick tick = hc_sv_snapshot_tick(builder->replicator, client);
    hc_sv_places gone = hc_sv_sent_log_evict(&client->sent_log, head);
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (; slot != NULL && gone != 0; slot = hc_sv_view_slot(view, slot->next))
        hc_sv_slot_evict(slot, &client->sent_log, gone);
    hc_sv_lists_evict(client->lists, &client->sent_log, gone, &builder->replicator->roster,
                      hc_tick_back(tick, builder->replicator->config.future));
    hc_sv_sent_log_begin(&client->sent_log, head, tick, seq);
    if (head - client->sent_log.base >= PIN_TICKS)
        pin(builder);
}

/// Renews the client's interest: a full look now and then, else only the seen units are checked.
static void look(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    hc_tick head = builder->header.as_of, tick = builder->header.tick;
    if (client->interest_at == HC_NO_TICK || head - client->interest_at >= INTEREST_TICKS) {
        hc_sv_interest_update(&client->interest, &builder->replicator->index, builder->timeline,
                              tick, client->own, client->own_count);
        client->interest_at = head;
    } else {
        hc_sv_interest_narrow(&client->interest, builder->timeline, tick, client->own,
                              client->own_count);
    }
}

static void begin(struct hc_sv_builder *builder, const struct hc_sv_snapshot_datagram *datagram) {
    struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_client *client = builder->client;
    begin_log(builder, datagram->seq);
    begin_header(builder, datagram);
    look(builder);
    hc_tick head = builder->header.as_of, tick = builder->header.tick;
    hc_tick base = builder->header.base == HC_NO_TICK ? tick : builder->header.base;
    builder->own_steps = client->own_count * hc_sv_deltas_steps(hc_tick_min(base, tick), tick);
    builder->shown = hc_sv_values_row(&replicator->values, builder->timeline, tick);
    bool alive = builder->shown.presence[HC_REFEREE] == HC_ALIVE;
    builder->encoder =
        (struct hc_sv_encoder){.deltas = &replicator->deltas,
                               .timeline = builder->timeline,
                               .since = hc_tick_back(head, replicator->config.history),
                               .cost = hc_sv_extrapolation_begin(
                                   &replicator->extrapolation_budget, client->extrapolation_saved,
                                   head - base, head - tick, builder->own_steps)};
    hc_sv_encoder_begin(&builder->encoder, hc_sv_values_put(&builder->shown, 0),
                        alive ? builder->shown.states : NULL);
}

// ---- Gathering ----------------------------------------------------------------------------------

const struct hc_sv_value *hc_sv_builder_value(const struct hc_sv_builder *builder,
                                              const struct hc_sv_selection *selection) {
    hc_sv_value_id id = selection->acked.value_id;
    if (selection->slot->pinned && id != 0) {
        // A pinned value may be so old that its number is another value's by now.
        const struct hc_sv_value *pinned = pin_of(builder, selection->slot);
        if (pinned->id == id) {
            HC_MARK("value-pinned");
            return pinned;
        }
    }
    return hc_sv_values_get(&builder->replicator->values, id);
}

/// The baseline that the unit's value is encoded against, and its name; NULL if the client has
/// acked none that it can be.
static const struct hc_sv_value *base_of(const struct hc_sv_builder *builder,
                                         struct hc_sv_selection *selection) {
    const struct hc_snapshot *header = &builder->header;
    struct hc_snapshot_unit *name = &selection->name;
    name->from = HC_SNAPSHOT_NOTHING;
    name->as_of = selection->acked.as_of;
    const struct hc_sv_value *base = hc_sv_builder_value(builder, selection);
    // A delta may list what the owner did since the baseline; the client may not know what the unit
    // did out of its view.
    if (base == NULL || base->unit.tick > header->tick || base->unit.tick < selection->slot->since)
        return NULL;
    bool newest = name->as_of == header->base;
    if (!newest && header->base - name->as_of > HC_SNAPSHOT_AGE_MAX)
        return NULL;
    if (!selection->own &&
        hc_sv_encoder_too_dear(&builder->encoder, name->unit, base, selection->value)) {
        HC_MARK("extrapolations-all-taken");
        return NULL;
    }
    name->from = newest ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER;
    return base;
}

/// Fetches the delta of a unit in view, as far as there is room.
static void gather_delta(struct hc_sv_builder *builder, struct hc_sv_selection *selection) {
    const struct hc_sv_value *base = base_of(builder, selection);
    struct hc_sv_delta delta =
        hc_sv_encoder_delta(&builder->encoder, selection->name.unit, base, selection->value, true);
    uint32_t bytes = (delta.bits + 7) / 8;
    if (selection->name.from == HC_SNAPSHOT_BASE)
        selection->bits = AGAIN_BITS;
    selection->bits += delta.bits;
    selection->delta = delta.bits;
    selection->gathered = NOT_GATHERED;
    if (bytes > HC_SV_GATHERED_BYTES - builder->gathered)
        return;
    selection->gathered = builder->gathered;
    memcpy(builder->replicator->gathered + builder->gathered, delta.data, bytes);
    builder->gathered += bytes;
}

/// Ticks from the one shown on that have known inputs of the unit's player, unless it is own.
static uint32_t inputs_of(const struct hc_sv_builder *builder,
                          const struct hc_sv_selection *selection) {
    hc_player player = hc_unit_player(builder->world, selection->name.unit);
    if (player == HC_NO_PLAYER || selection->own || hc_sv_selection_drops(selection))
        return 0;
    hc_tick newest = builder->replicator->roster.players[player].newest_input;
    return hc_tick_max(newest + 1, builder->header.tick) - builder->header.tick;
}

/// Adds a unit that the client sees, or must forget.
static void gather_unit(struct hc_sv_builder *builder, struct hc_sv_slot *slot,
                        struct hc_sv_acked acked) {
    struct hc_sv_client *client = builder->client;
    struct hc_sv_selection *selection = &builder->selections[builder->selection_count++];
    *selection = (struct hc_sv_selection){.name = {.unit = slot->unit, .from = HC_SNAPSHOT_DROPPED},
                                          .own = hc_sv_client_owns_unit(client, slot->unit),
                                          .slot = slot,
                                          .acked = acked,
                                          .bits = NAME_BITS};
    if (!slot->sees)
        return;
    selection->value = hc_sv_values_get(&builder->replicator->values,
                                        hc_sv_values_put(&builder->shown, slot->unit));
    gather_delta(builder, selection);
    selection->inputs = inputs_of(builder, selection);
    hc_tick sent = hc_sv_slot_sent(slot, &client->sent_log); // else it was out of view
    uint32_t unsent = sent == HC_NO_TICK ? 0 : builder->header.as_of - sent;
    if (unsent > builder->counts->longest_unsent_ticks)
        builder->counts->longest_unsent_ticks = unsent;
}

/// Notes of a slot whether the base has its unit, and whether corrections compare it from now on:
/// an earlier note of an equal tick does not hold for it.
static void note_acked(struct hc_sv_builder *builder, struct hc_sv_slot *slot,
                       struct hc_sv_acked acked) {
    bool compared = slot->sees && acked.value_id != 0;
    if (acked.value_id != 0 && acked.as_of == builder->header.base)
        builder->base.units[builder->base.count++] = slot->unit;
    if (compared && !slot->compared)
        slot->compared_at = builder->client->compared_at = builder->header.as_of;
    slot->compared = compared;
}

/// Ends the inputs of each player at the tick at which it leaves the view, as far as that is
/// simulated.
static void limit_inputs(struct hc_sv_builder *builder) {
    struct hc_sv_selection *selections = builder->selections;
    hc_tick head = builder->header.as_of, tick = builder->header.tick, end = tick;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        end = hc_tick_max(end, tick + selections[i].inputs);
    for (hc_tick t = tick + 1; t < end && t <= head; t++) {
        struct hc_sv_interest_look seen = hc_sv_builder_look(builder, t);
        uint32_t before = t - tick;
        for (uint32_t i = 0; i < builder->selection_count && !seen.everything; i++)
            if (selections[i].inputs > before &&
                !hc_sv_interest_in_view(&seen, selections[i].name.unit)) {
                HC_MARK("inputs-out-of-view");
                selections[i].inputs = before;
            }
    }
    for (uint32_t i = 0; i < builder->selection_count; i++)
        selections[i].bits += INPUT_BITS * least(selections[i].inputs, HC_SNAPSHOT_INPUTS_NEAR);
}

/// Gathers the units that the client sees, and those that it saw and must forget. Gives back the
/// slots of all others of which nothing is logged.
static void gather(struct hc_sv_builder *builder) {
    struct hc_sv_view *view = &builder->client->interest.view;
    const struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    uint32_t *at = &view->first;
    while (*at != HC_SV_NO_SLOT) {
        struct hc_sv_slot *slot = hc_sv_view_slot(view, *at);
        struct hc_sv_acked acked = hc_sv_slot_acked(slot, sent_log);
        bool gathered = slot->sees || hc_sv_slot_known(slot, sent_log);
        builder->counts->units_examined++;
        note_acked(builder, slot, acked);
        if (gathered)
            gather_unit(builder, slot, acked);
        else
            slot->score = 0; // it waits for nothing
        if (gathered || (slot->values | slot->drops) != 0 || acked.value_id != 0)
            at = &slot->next;
        else
            hc_sv_view_remove(view, at);
    }
    limit_inputs(builder);
}

// ---- Choosing -----------------------------------------------------------------------------------

/// Orders the selections, once for each snapshot in which not all fit.
static void order(struct hc_sv_builder *builder) {
    const struct hc_sv_client *client = builder->client;
    uint64_t *keys = builder->replicator->order;
    uint32_t view = builder->world->game->view;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        struct hc_sv_slot *slot = selection->slot;
        bool same =
            selection->delta <= 1 && slot->sees && hc_sv_slot_known(slot, &client->sent_log);
        hc_sv_slot_grow(slot, !same,
                        view == 0 ? 0
                                  : hc_sv_interest_distance(&client->interest, builder->timeline,
                                                            builder->header.tick, slot->unit),
                        view);
        keys[i] = hc_sv_slot_key(slot, selection->own, i);
    }
    hc_sv_view_order(keys, builder->selection_count);
    builder->ordered = true;
}

/// Chooses at most `most` units: the referee and the client's own, then those that fit into `room`
/// bits by estimate, the most urgent first; one that does not fit is skipped. Returns their number.
static uint32_t choose(struct hc_sv_builder *builder, uint32_t room, uint32_t most) {
    struct hc_sv_selection *selections = builder->selections;
    uint32_t taken = 0, used = 0, all = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        all += selections[i].bits;
    bool fits = all <= room && builder->selection_count <= most;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        selections[i].chosen = fits;
    if (fits)
        return builder->selection_count;
    if (!builder->ordered)
        order(builder);
    for (uint32_t i = 0; i < builder->selection_count && taken < most; i++) {
        struct hc_sv_selection *selection =
            &selections[hc_sv_view_number(builder->replicator->order[i])];
        if (!selection->own && used + selection->bits > room)
            continue;
        used += selection->bits;
        selection->chosen = true;
        taken++;
    }
    return taken;
}

/// Bits of the chosen units with so many ticks of inputs, by estimate.
static uint32_t bits_with(const struct hc_sv_builder *builder, uint32_t inputs) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        uint32_t near = least(selection->inputs, HC_SNAPSHOT_INPUTS_NEAR);
        if (selection->chosen)
            used += selection->bits + INPUT_BITS * (least(selection->inputs, inputs) - near);
    }
    return used;
}

/// How many ticks of inputs fit beside the chosen units by estimate, the same for every unit.
static uint32_t choose_inputs(const struct hc_sv_builder *builder, uint32_t room) {
    uint32_t low = HC_SNAPSHOT_INPUTS_NEAR, high = HC_SNAPSHOT_INPUTS_MAX;
    if (bits_with(builder, high) <= room)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (bits_with(builder, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// ---- Writing ------------------------------------------------------------------------------------

/// The hash of the chosen values.
static uint32_t hash_of(const struct hc_sv_builder *builder) {
    uint32_t hash = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        if (builder->selections[i].chosen && builder->selections[i].value != NULL)
            hash += builder->selections[i].value->hash;
    return hash;
}

static void put_names(struct hc_sv_builder *builder) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        if (builder->selections[i].chosen)
            units[count++] = builder->selections[i].name;
    hc_snapshot_put_names(&builder->bits, &builder->header, &builder->base, units, count);
}

/// Writes the value of a chosen unit, and its player's inputs.
static void put_value(struct hc_sv_builder *builder, const struct hc_sv_selection *selection) {
    hc_unit unit = selection->name.unit;
    hc_player player = hc_unit_player(builder->world, unit);
    struct hc_sv_delta delta = {.data = builder->replicator->gathered + selection->gathered,
                                .bits = selection->delta};
    if (selection->gathered == NOT_GATHERED) {
        bool none = selection->name.from == HC_SNAPSHOT_NOTHING;
        delta = hc_sv_encoder_delta(&builder->encoder, unit,
                                    none ? NULL : hc_sv_builder_value(builder, selection),
                                    selection->value, false);
    }
    hc_bits_append(&builder->bits, delta.data, delta.bits);
    if (player != HC_NO_PLAYER)
        hc_snapshot_put_inputs(&builder->bits, builder->timeline, builder->world->game, player,
                               &selection->value->unit,
                               builder->header.tick + least(selection->inputs, builder->inputs));
}

/// Writes everything but the corrections; false: it does not fit.
static bool write_units(struct hc_sv_builder *builder) {
    builder->header.hash = hash_of(builder);
    hc_snapshot_put(&builder->bits, &builder->header);
    hc_sv_lists_put(builder);
    put_names(builder);
    for (uint32_t i = 0; i < builder->selection_count && !builder->bits.failed; i++)
        if (builder->selections[i].chosen && builder->selections[i].value != NULL)
            put_value(builder, &builder->selections[i]);
    struct hc_bits_writer ended = builder->bits;
    hc_snapshot_put_end(&ended); // of the corrections
    return !ended.failed;
}

/// Logs the chosen units as sent.
static void log_units(struct hc_sv_builder *builder) {
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!selection->chosen)
            continue;
        hc_sv_slot_put(selection->slot, &builder->client->sent_log,
                       selection->value == NULL ? 0 : selection->value->id);
        selection->slot->score = 0;
    }
}

/// Fills the room with units. If the estimate was too low, the farthest inputs are left out first,
/// then the least urgent units. The referee and the client's own units may exceed the room, up to a
/// whole datagram: they are in every snapshot.
static void put_units(struct hc_sv_builder *builder) {
    struct hc_bits_writer before = builder->bits;
    uint32_t room = (uint32_t)builder->room * 8, own = 1 + builder->client->own_count;
    uint32_t count = choose(builder, room, HC_SNAPSHOT_UNITS_MAX);
    builder->inputs = choose_inputs(builder, room);
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
        count = choose(builder, room, count > own && fewer < own ? own : fewer);
    }
    if (before.size > builder->room) // nothing else goes beyond it; the end of the corrections must
        builder->bits.size = hc_bits_written(&builder->bits) / 8 + 1;
    log_units(builder);
}

// ---- A snapshot ---------------------------------------------------------------------------------

/// Steps that all units of the snapshot take when each is extrapolated from the base.
static uint32_t demanded_steps(const struct hc_sv_builder *builder) {
    hc_tick tick = builder->header.tick, base = builder->header.base;
    return base == HC_NO_TICK || base > tick
               ? 0
               : builder->selection_count * hc_sv_deltas_steps(base, tick);
}

static void end(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    struct hc_sv_snapshot_counts *counts = builder->counts;
    hc_tick tick = builder->header.tick, head = builder->header.as_of;
    client->extrapolation_saved = hc_sv_extrapolation_end(
        &builder->replicator->extrapolation_budget, &builder->encoder.cost, demanded_steps(builder),
        builder->own_steps, hc_sv_client_extrapolation_most(client));
    counts->deltas_encoded = builder->encoder.encoded;
    counts->deltas_reused = builder->encoder.reused;
    counts->extrapolation_steps = builder->encoder.steps;
    counts->rewound = tick < head && head - tick <= hc_timeline_stats(builder->timeline)->depth;
    if (counts->rewound)
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
    struct hc_sv_builder *builder = replicator->builder;
    builder->replicator = replicator; // the rest is set below or later, and is large
    builder->client = client;
    builder->world = replicator->config.world;
    builder->timeline = replicator->config.timeline;
    builder->room = size;
    builder->bits = hc_bits_writer(packed, size);
    builder->base.count = 0;
    builder->selections = replicator->selections;
    builder->selection_count = builder->gathered = 0;
    builder->ordered = false;
    builder->counts = counts;
    *counts = (struct hc_sv_snapshot_counts){.rewound = false};
    begin(builder, datagram);
    gather(builder);
    put_units(builder);
    hc_sv_corrections_put(builder);
    end(builder);
    bool fits = hc_snapshot_put_message(body, packed, hc_bits_finish(&builder->bits));
    HC_ASSERT(!builder->bits.failed && fits);
    hc_sv_bandwidth_spend(&client->bandwidth, (uint32_t)body->at);
    return true;
}
