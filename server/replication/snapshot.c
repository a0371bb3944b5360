/// A snapshot: its units, its lists and its corrections, gathered once and written as far as they
/// fit.
#include "server/replication/snapshot.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "server/replication/builder.h"
#include "server/replication/corrections.h"
#include "server/replication/look.h"
#include "server/replication/priority.h"

#include <string.h>

enum {
    ROOM_MIN = 160,      ///< bytes; with less to spend a snapshot waits for the next tick
    CROWD = 24,          ///< units of a view that is crowded
    ALTERNATES_AGE = 40, ///< heads; from an older base all units go on from the newest
    PIN_TICKS = 48,      ///< age of the newest base from which on its values are pinned
    AGAIN_BITS = 1,      ///< estimated, of the name of a unit that the base carried
    NAME_BITS = 8,       ///< of another name
    INPUT_BITS = 8,      ///< of an input
};

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// ---- The header ---------------------------------------------------------------------------------

/// Whether this head's snapshot is the client's first of a group of HC_SNAPSHOT_CHAIN_TICKS heads.
/// Groups begin at another head for each client, which spreads the chain hashes over the ticks.
static bool begins_group(const struct hc_sv_client *client, hc_tick head) {
    uint64_t offset = HC_SNAPSHOT_CHAIN_TICKS - client->cid % HC_SNAPSHOT_CHAIN_TICKS;
    return client->newest_head == HC_NO_TICK ||
           (head + offset) / HC_SNAPSHOT_CHAIN_TICKS !=
               (client->newest_head + offset) / HC_SNAPSHOT_CHAIN_TICKS;
}

/// The most precise extrapolation that the client computes, and that the server can afford.
static enum hc_extrapolation best_of(const struct hc_sv_client *client) {
    enum hc_extrapolation how =
        client->replicator->linear ? HC_EXTRAPOLATION_LINEAR : HC_EXTRAPOLATION_STEP;
    while (!hc_sv_client_computes(client, how))
        how--;
    return how;
}

/// Chooses the base so that many clients choose the same one, and sets builder->usable. In a
/// crowded view, a whole snapshot gets a whole base. With linear deltas about every 8th tick may be
/// a base (HC_SV_BASE_EVERY): deltas grow little, and more clients share them. The client is sent
/// one in `every` snapshots.
static hc_tick choose_base(struct hc_sv_builder *builder, bool each_tick, hc_tick tick,
                           uint32_t every) {
    bool shares = each_tick && best_of(builder->client) < HC_EXTRAPOLATION_STEP;
    struct hc_sv_cadence bases = hc_sv_cadence_of_bases(
        tick, builder->alternates ? HC_SV_WHOLE_EVERY : 1, shares ? every : 0);
    return hc_sv_sent_log_next_base(&builder->client->sent_log, &bases, &builder->usable);
}

/// The ticks from the one that the snapshot before has shown to `tick`. Their inputs are sent where
/// not each tick has a snapshot: the client shows those ticks too, and simulates them.
static uint32_t ticks_between(const struct hc_timeline *timeline, const struct hc_sv_client *client,
                              hc_tick tick) {
    const struct hc_sv_sent_log *sent_log = &client->sent_log;
    hc_tick before = sent_log->logged != 0 ? sent_log->tick[sent_log->newest] : tick;
    before = hc_tick_max(before, hc_timeline_oldest(timeline));
    return least(tick > before ? tick - before : 0, HC_SNAPSHOT_INPUTS_BEFORE);
}

/// Fills in the header, all but the hash. Evicts from the log what is too old; returns the places.
static hc_sv_places begin(struct hc_sv_builder *builder,
                          const struct hc_sv_snapshot_datagram *datagram) {
    const struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_client *client = builder->client;
    hc_tick head = hc_timeline_head(builder->timeline);
    hc_tick tick = client->shown;
    bool has_chain = begins_group(client, head);
    hc_sv_places gone = hc_sv_sent_log_evict(&client->sent_log, head);
    bool each_tick = hc_sv_replicator_sends_each_tick(replicator);
    hc_tick newest_base = client->sent_log.base;
    builder->alternates = each_tick && client->interest.view.count >= CROWD &&
                          newest_base != HC_NO_TICK && head - newest_base < ALTERNATES_AGE;
    builder->sends_unreceived = each_tick && !builder->alternates;
    hc_tick base = choose_base(builder, each_tick, tick, datagram->every);
    builder->header = (struct hc_snapshot){.as_of = head,
                                           .phase_us = datagram->phase_us,
                                           .ack_delay_us = datagram->ack_delay_us,
                                           .tick = tick,
                                           .refused_before = datagram->refused_before,
                                           .final = replicator->final,
                                           .has_chain = has_chain,
                                           .chain = replicator->chain,
                                           .base = base,
                                           .own_count = client->own_count,
                                           .has_margin = datagram->has_margin,
                                           .margin = datagram->margin};
    builder->header.inputs_before = each_tick ? 0 : ticks_between(builder->timeline, client, tick);
    client->newest_head = head;
    for (unsigned i = 0; i < client->own_count; i++) // with show_head the tick may exceed A
        builder->header.inputs_through[i] = hc_tick_max(
            hc_timeline_inputs_through(builder->timeline, client->own[i]), hc_tick_back(tick, 1));
    return gone;
}

/// Begins the deltas, which share the extrapolation, the referee's value and the budget of
/// extrapolations.
static void begin_deltas(struct hc_sv_builder *builder) {
    struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_client *client = builder->client;
    hc_tick head = builder->header.as_of, tick = builder->header.tick;
    hc_tick base = builder->header.base == HC_NO_TICK ? tick : builder->header.base;
    enum hc_extrapolation how = best_of(client);
    if (builder->header.base == HC_NO_TICK)
        how = HC_EXTRAPOLATION_HOLD; // of nothing
    builder->header.how = how;
    builder->own_steps =
        client->own_count * hc_sv_encoder_steps(how, hc_tick_min(base, tick), tick);
    builder->encoder =
        (struct hc_sv_encoder){.shared = &replicator->encoder,
                               .how = how,
                               .timeline = builder->timeline,
                               .since = hc_tick_back(head, replicator->config.history),
                               .cost = hc_sv_extrapolation_begin(
                                   &replicator->extrapolation_budget, client->extrapolation_saved,
                                   head - base, head - tick, builder->own_steps)};
    hc_sv_deltas_serve(&replicator->encoder.deltas, replicator->values.units);
    hc_sv_encoder_begin(&builder->encoder,
                        hc_sv_values_get(&replicator->values, client->referee_id));
}

// ---- Units --------------------------------------------------------------------------------------

/// The place of the slot's pinned value.
static uint32_t pin_of(const struct hc_sv_builder *builder, const struct hc_sv_slot *slot) {
    return (uint32_t)(slot - builder->replicator->slots.at);
}

/// The baseline that the unit's value is encoded against, and its name; NULL if the client has
/// acked none that it can be.
static const struct hc_sv_value *base_of(const struct hc_sv_builder *builder,
                                         struct hc_sv_selection *selection) {
    const struct hc_snapshot *header = &builder->header;
    struct hc_snapshot_unit *name = &selection->name;
    const struct hc_sv_value *base = selection->acked;
    name->from = HC_SNAPSHOT_NOTHING;
    name->as_of = selection->acked_as_of;
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

/// Whether no entity of the unit has come, gone or teleported since the last snapshot, which sent
/// it.
static bool goes_on(const struct hc_sv_builder *builder, const struct hc_sv_slot *slot) {
    const struct hc_world *world = builder->world;
    const struct hc_sv_values *values = &builder->replicator->values;
    const struct hc_sv_value *now = hc_sv_values_get(values, slot->shown.value_id);
    const struct hc_sv_value *sent =
        hc_sv_values_get(values, slot->items.value_ids[builder->client->sent_log.newest]);
    hc_entity first = hc_unit_first(world, slot->unit);
    if (sent == NULL)
        return false;
    for (uint32_t i = 0; i < hc_unit_count(world, slot->unit); i++) {
        size_t at = (size_t)i * world->stride;
        if (now->unit.presence[i] != sent->unit.presence[i] ||
            (now->unit.presence[i] == HC_ALIVE &&
             hc_world_teleports(world, (hc_entity)(first + i), sent->unit.states + at,
                                now->unit.states + at)))
            return false;
    }
    return true;
}

/// Whether the unit waits for the next snapshot: the view is crowded, this snapshot is not whole,
/// the last one sent the unit, and since then it goes on, and its player has changed no keys.
static bool waits(const struct hc_sv_builder *builder, const struct hc_sv_slot *slot,
                  const struct hc_sv_item_state *state) {
    const struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    if (!builder->alternates || slot->shown.own || state->acked == 0 ||
        state->sent_as_of == HC_NO_TICK || hc_sv_cadence_is_whole(builder->header.tick) ||
        state->sent_as_of < sent_log->as_of[sent_log->newest])
        return false;
    hc_player player = hc_unit_player(builder->world, slot->unit);
    return (player == HC_NO_PLAYER ||
            builder->replicator->roster.players[player].turned_at < state->sent_as_of) &&
           goes_on(builder, slot);
}

/// Ticks before the one shown of which the client lacks the inputs of a unit's player: those since
/// the snapshot before, if it had the unit.
static uint32_t inputs_before(const struct hc_sv_builder *builder, const struct hc_sv_slot *slot) {
    const struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    bool was_sent = slot->items.valued_as_of == sent_log->as_of[sent_log->newest];
    bool is_player = hc_unit_player(builder->world, slot->unit) != HC_NO_PLAYER;
    return is_player && was_sent && !slot->shown.own ? builder->header.inputs_before : 0;
}

/// Adds a unit that the client sees, or must forget; begins to load its values and its delta.
static void gather_unit(struct hc_sv_builder *builder, struct hc_sv_slot *slot,
                        const struct hc_sv_item_state *state) {
    const struct hc_sv_values *values = &builder->replicator->values;
    struct hc_sv_selection *selection = &builder->selections[builder->selection_count++];
    *selection = (struct hc_sv_selection){.name = {.unit = slot->unit, .from = HC_SNAPSHOT_DROPPED},
                                          .own = slot->shown.own,
                                          .known = state->known,
                                          .slot = slot,
                                          .acked_id = state->acked,
                                          .acked_as_of = state->acked_as_of,
                                          .bits = NAME_BITS};
    if (!hc_sv_slot_sees(slot))
        return;
    hc_sv_values_prefetch(values, slot->shown.value_id);
    hc_sv_values_prefetch(values, state->acked);
    selection->waits = waits(builder, slot, state);
    if (selection->waits) {
        builder->waiting++;
        return;
    }
    selection->inputs_before = inputs_before(builder, slot);
    hc_sv_encoder_prefetch(&builder->encoder, slot->unit, state->acked, slot->shown.value_id);
    uint32_t unsent = // else it was out of view
        state->sent_as_of == HC_NO_TICK ? 0 : builder->header.as_of - state->sent_as_of;
    if (unsent > builder->stats->longest_unsent_ticks)
        builder->stats->longest_unsent_ticks = unsent;
}

/// Notes of a slot whether the base has its unit, and whether corrections compare it from now on:
/// an earlier note of an equal tick does not hold for it.
static void note_acked(struct hc_sv_builder *builder, struct hc_sv_slot *slot,
                       const struct hc_sv_item_state *state) {
    bool compared = hc_sv_slot_sees(slot) && state->acked != 0;
    if (state->acked != 0 && state->acked_as_of == builder->header.base)
        builder->base.units[builder->base.count++] = slot->unit;
    if (hc_sv_items_compare(&slot->items, compared, builder->header.as_of))
        builder->client->compared_at = builder->header.as_of;
}

/// Whether the values of the base are to be pinned now. The client stores them until it receives a
/// newer one. Without them a crowded snapshot would not fit into a datagram for a client that has
/// acked nothing for a long time.
static bool pins(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    hc_tick base = builder->header.base;
    if (builder->header.as_of - base < PIN_TICKS || base == client->pinned)
        return false;
    client->pinned = base;
    return true;
}

/// Gathers the client's units from its slots, which the log has rid of the evicted places `gone`:
/// the units that it sees, and those that it saw and must forget. Gives back the slots of all
/// others of which nothing is logged.
static void gather_units(struct hc_sv_builder *builder, hc_sv_places gone) {
    struct hc_sv_view *view = &builder->client->interest.view;
    const struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    struct hc_sv_values *values = &builder->replicator->values;
    bool pinning = pins(builder);
    uint32_t *at = &view->first;
    view->ahead_count = 0;
    while (*at != HC_SV_NO_SLOT) {
        struct hc_sv_slot *slot = hc_sv_view_slot(view, *at);
        if (view->ahead_count < HC_SV_AHEAD) {
            view->ahead[view->ahead_count].number = *at;
            view->ahead[view->ahead_count++].unit = slot->unit;
        }
        if (gone != 0)
            hc_sv_items_evict(&slot->items, sent_log, gone);
        struct hc_sv_item_state state = hc_sv_items_state(&slot->items, sent_log, builder->usable);
        bool gathered = hc_sv_slot_sees(slot) || state.known;
        builder->stats->units_examined++;
        if (pinning && state.acked != 0 && state.acked_as_of == builder->header.base)
            hc_sv_values_pin(values, pin_of(builder, slot), slot->unit, state.acked);
        note_acked(builder, slot, &state);
        if (gathered)
            gather_unit(builder, slot, &state);
        else
            slot->score = 0; // it waits for nothing
        if (gathered || (slot->items.values | slot->items.drops) != 0 || state.acked != 0)
            at = &slot->next;
        else
            hc_sv_view_remove(view, at);
    }
}

/// Fetches the delta of a unit in view, as far as there is room.
static void fetch_delta(struct hc_sv_builder *builder, struct hc_sv_selection *selection) {
    selection->base = base_of(builder, selection);
    struct hc_sv_delta delta = hc_sv_encoder_delta(&builder->encoder, selection->name.unit,
                                                   selection->base, selection->value, true);
    if (selection->name.from == HC_SNAPSHOT_BASE)
        selection->bits = AGAIN_BITS;
    selection->inputs = selection->slot->shown.inputs;
    selection->bits += delta.bits + INPUT_BITS * least(selection->inputs, HC_SNAPSHOT_INPUTS_NEAR);
    selection->delta = delta.bits;
    selection->gathered = hc_sv_builder_store(builder, delta);
}

/// Fetches the values of the gathered units, and the deltas of those that do not wait.
static void fetch_units(struct hc_sv_builder *builder) {
    const struct hc_sv_values *values = &builder->replicator->values;
    hc_tick pinned = builder->client->pinned;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        struct hc_sv_selection *selection = &builder->selections[i];
        const struct hc_sv_slot *slot = selection->slot;
        if (!hc_sv_slot_sees(slot))
            continue;
        selection->value = hc_sv_values_get(values, slot->shown.value_id);
        selection->acked =
            selection->acked_as_of == pinned
                ? hc_sv_values_pinned(values, pin_of(builder, slot), selection->acked_id)
                : hc_sv_values_get(values, selection->acked_id);
        if (selection->waits)
            selection->bits = 0;
        else
            fetch_delta(builder, selection);
    }
}

// ---- The budget of bits -------------------------------------------------------------------------

/// Orders the selections, once for each snapshot in which not all fit.
static void order(struct hc_sv_builder *builder) {
    const struct hc_sv_client *client = builder->client;
    uint64_t *keys = builder->replicator->order;
    uint32_t view = builder->world->game->view;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        struct hc_sv_slot *slot = selection->slot;
        bool same = selection->delta <= 1 && hc_sv_slot_sees(slot) && selection->known;
        hc_sv_priority_grow(&slot->score, !same,
                            view == 0
                                ? 0
                                : hc_sv_interest_distance(&client->interest, builder->timeline,
                                                          builder->header.tick, slot->unit),
                            view);
        keys[i] = hc_sv_priority_key(slot->score, selection->own, i);
    }
    hc_sv_priority_order(keys, builder->selection_count);
    builder->ordered = true;
}

/// Chooses at most `most` units: the referee and the client's own, then those that fit into the
/// room by estimate, the most urgent first; one that does not fit is skipped.
static void choose_units(struct hc_sv_builder *builder, uint32_t most) {
    struct hc_sv_selection *selections = builder->selections;
    uint32_t room = builder->room * 8, used = 0, all = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        all += selections[i].bits;
    bool fits = all <= room && builder->selection_count - builder->waiting <= most;
    for (uint32_t i = 0; i < builder->selection_count; i++)
        selections[i].chosen = fits && !selections[i].waits;
    builder->chosen = fits ? builder->selection_count - builder->waiting : 0;
    if (fits)
        return;
    if (!builder->ordered)
        order(builder);
    for (uint32_t i = 0; i < builder->selection_count && builder->chosen < most; i++) {
        struct hc_sv_selection *selection =
            &selections[hc_sv_priority_number(builder->replicator->order[i])];
        if (selection->waits || (!selection->own && used + selection->bits > room))
            continue;
        used += selection->bits;
        selection->chosen = true;
        builder->chosen++;
    }
}

/// Bits of the chosen units with so many ticks of inputs, by estimate.
static uint32_t bits_with(const struct hc_sv_builder *builder, uint32_t inputs) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        uint32_t near = least(selection->inputs, HC_SNAPSHOT_INPUTS_NEAR);
        uint32_t before = builder->header.inputs_before > 0 ? selection->inputs_before : 0;
        if (selection->chosen)
            used +=
                selection->bits + INPUT_BITS * (before + least(selection->inputs, inputs) - near);
    }
    return used;
}

/// How many ticks of inputs fit beside the chosen units by estimate, the same for every unit.
static uint32_t choose_inputs(const struct hc_sv_builder *builder) {
    uint32_t low = HC_SNAPSHOT_INPUTS_NEAR, high = HC_SNAPSHOT_INPUTS_MAX;
    if (bits_with(builder, high) <= builder->room * 8)
        return high;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (bits_with(builder, middle) <= builder->room * 8)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/// Chooses the units and inputs that fit into the room by estimate: the referee and the client's
/// own units, then the most urgent ones.
static void choose(struct hc_sv_builder *builder) {
    builder->limit = builder->room;
    choose_units(builder, HC_SNAPSHOT_UNITS_MAX);
    if (bits_with(builder, HC_SNAPSHOT_INPUTS_NEAR) > builder->room * 8)
        builder->header.inputs_before = 0; // units come first
    builder->inputs = choose_inputs(builder);
}

/// Chooses again after the chosen ones did not fit: inputs before the tick shown are left out
/// first, then the farthest inputs, then the least urgent units. The referee and the client's own
/// units may exceed the room, up to a whole datagram: they are in every snapshot.
static void choose_less(struct hc_sv_builder *builder) {
    uint32_t own = 1 + builder->client->own_count, chosen = builder->chosen;
    if (builder->header.inputs_before > 0) {
        builder->header.inputs_before = 0;
    } else if (builder->inputs > HC_SNAPSHOT_INPUTS_NEAR) {
        builder->inputs -= (builder->inputs - HC_SNAPSHOT_INPUTS_NEAR + 3) / 4;
    } else if (chosen <= own && builder->limit < builder->most) {
        builder->limit = builder->most;
    } else {
        HC_ASSERT(chosen > 0); // the header and two lists always fit
        uint32_t fewer = chosen - 1 - chosen / 8;
        choose_units(builder, chosen > own && fewer < own ? own : fewer);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

/// Lists the names of the chosen units, and adds up the hash of their values.
static uint32_t name_units(struct hc_sv_builder *builder, struct hc_snapshot_unit *units) {
    uint32_t count = 0;
    builder->header.hash = 0;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!selection->chosen)
            continue;
        units[count++] = selection->name;
        builder->header.hash += selection->value == NULL ? 0 : selection->value->hash;
    }
    return count;
}

/// Writes the value of a chosen unit, and its player's inputs.
static void put_value(struct hc_sv_builder *builder, const struct hc_sv_selection *selection) {
    hc_unit unit = selection->name.unit;
    hc_player player = hc_unit_player(builder->world, unit);
    struct hc_sv_delta delta = {.data = builder->replicator->gathered + selection->gathered,
                                .bits = selection->delta};
    if (selection->gathered == HC_SV_NOT_GATHERED)
        delta =
            hc_sv_encoder_delta(&builder->encoder, unit, selection->base, selection->value, false);
    hc_bits_append(&builder->bits, delta.data, delta.bits);
    if (player != HC_NO_PLAYER) {
        struct hc_snapshot_inputs inputs = hc_sv_builder_inputs(builder, selection);
        hc_snapshot_put_inputs(&builder->bits, builder->timeline,
                               &builder->replicator->encoder.codec, &selection->value->unit,
                               &inputs);
    }
}

/// Writes everything but the corrections; false: it does not fit.
static bool put_units(struct hc_sv_builder *builder) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    uint32_t count = name_units(builder, units);
    builder->bits = hc_bits_writer(builder->packed, builder->limit - builder->reserve);
    hc_snapshot_put(&builder->bits, &builder->header);
    // The lists leave a quarter to the units; a later snapshot carries the entries left out.
    hc_snapshot_put_lists(&builder->bits, builder->header.tick, builder->room * 8 * 3 / 4,
                          &builder->lists);
    hc_sv_listing_put(builder);
    hc_snapshot_put_names(&builder->bits, &builder->header, &builder->base, units, count);
    for (uint32_t i = 0; i < builder->selection_count && !hc_bits_failed(&builder->bits); i++)
        if (builder->selections[i].chosen && builder->selections[i].value != NULL)
            put_value(builder, &builder->selections[i]);
    struct hc_bits_writer ended = builder->bits;
    hc_bits_put(&ended, 0, 1); // the end of the corrections
    return !hc_bits_failed(&ended);
}

/// Logs the chosen units as sent.
static void log_units(struct hc_sv_builder *builder) {
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        if (!selection->chosen)
            continue;
        hc_sv_items_put(&selection->slot->items, &builder->client->sent_log,
                        selection->value == NULL ? 0 : selection->value->id);
        selection->slot->score = 0;
    }
    if (builder->chosen + builder->waiting == builder->selection_count) // no correction sends one
        hc_sv_sent_log_mark_equal(&builder->client->sent_log, builder->header.tick);
}

// ---- A snapshot ---------------------------------------------------------------------------------

uint32_t hc_sv_snapshot_room(struct hc_sv_client *client, uint32_t body_max, uint64_t now_us) {
    int32_t room = hc_sv_bandwidth_room(&client->bandwidth, body_max, now_us);
    if (room >= ROOM_MIN)
        return (uint32_t)room - HC_SNAPSHOT_OVERHEAD;
    HC_MARK("snapshot-starved");
    return 0;
}

/// Begins the inputs of the units that are out of view at `tick`, before the one shown, after it:
/// they were in view at the snapshot before, so they have left and come back.
static void begin_inputs(void *context, const struct hc_sv_interest_sight *sight, hc_tick tick) {
    struct hc_sv_builder *builder = context;
    uint32_t before = builder->header.tick - tick;
    for (uint32_t i = 0; i < builder->selection_count; i++) {
        struct hc_sv_selection *selection = &builder->selections[i];
        if (selection->inputs_before < before ||
            hc_sv_interest_in_view(sight, selection->name.unit))
            continue;
        HC_MARK("inputs-before-out-of-view");
        selection->inputs_before = before - 1;
    }
}

/// Gathers the units and the lists.
static void gather(struct hc_sv_builder *builder, const struct hc_sv_snapshot_datagram *datagram) {
    hc_sv_places gone = begin(builder, datagram);
    begin_deltas(builder);
    gather_units(builder, gone);
    hc_tick shown = builder->header.tick;
    hc_sv_look_walk(builder->client, builder->timeline, shown - builder->header.inputs_before,
                    shown, begin_inputs, builder);
    fetch_units(builder);
    hc_sv_lists_gather(builder, gone);
    hc_sv_listing_gather(builder, gone);
    hc_sv_early_gather(builder, gone);
    builder->reserve = hc_sv_early_reserve(builder);
}

/// Writes what was gathered, as much as fits, then corrections, then the early lists, which have
/// their own room; logs all of it as sent.
static void write_all(struct hc_sv_builder *builder, uint32_t seq) {
    hc_sv_sent_log_begin(&builder->client->sent_log, builder->header.as_of, builder->header.tick,
                         seq);
    choose(builder);
    while (!put_units(builder))
        choose_less(builder);
    if (builder->limit >
        builder->room) // nothing else goes beyond it; the end of the corrections must
        builder->bits.size = hc_bits_written(&builder->bits) / 8 + 1;
    log_units(builder);
    hc_sv_lists_log(builder);
    hc_sv_corrections_put(builder);
    builder->bits.size += builder->reserve;
    hc_sv_early_put(builder);
}

/// Counts the snapshot and its work, and gives back what is left of the budget of extrapolations.
static void end(struct hc_sv_builder *builder) {
    struct hc_sv_client *client = builder->client;
    struct hc_server_stats *stats = builder->stats;
    hc_tick tick = builder->header.tick, head = builder->header.as_of, base = builder->header.base;
    uint32_t demanded = base == HC_NO_TICK || base > tick // when each unit's is from the base
                            ? 0
                            : (builder->selection_count - builder->waiting) *
                                  hc_sv_encoder_steps(builder->header.how, base, tick);
    client->extrapolation_saved = hc_sv_extrapolation_end(
        &builder->replicator->extrapolation_budget, &builder->encoder.cost, demanded,
        builder->own_steps, hc_sv_client_extrapolation_most(client));
    bool rewound = tick < head && head - tick <= hc_timeline_stats(builder->timeline)->depth;
    if (rewound)
        HC_MARK("snapshot-of-rewound-tick");
    stats->snapshots++;
    stats->snapshots_rewound += rewound;
    stats->deltas_encoded += builder->encoder.encoded;
    stats->deltas_reused += builder->encoder.reused;
    stats->extrapolation_steps += builder->encoder.steps;
}

void hc_sv_snapshot_send(struct hc_sv_replicator *replicator, struct hc_sv_client *client,
                         const struct hc_sv_snapshot_datagram *datagram, struct hc_writer *body,
                         struct hc_server_stats *stats) {
    uint8_t packed[HC_DATA_BODY_MAX];
    HC_ASSERT(datagram->room > 0 && datagram->room + HC_SNAPSHOT_OVERHEAD <= body->size &&
              body->size <= sizeof packed && body->at == 0);
    HC_ASSERT(client->viewed_at == hc_timeline_head(replicator->config.timeline));
    struct hc_sv_builder *builder = replicator->builder;
    builder->replicator = replicator; // the rest is set below or later, and is large
    builder->client = client;
    builder->world = replicator->config.world;
    builder->timeline = replicator->config.timeline;
    builder->base.count = 0;
    builder->selections = replicator->selections;
    builder->selection_count = builder->gathered = builder->waiting = 0;
    builder->ordered = false;
    builder->room = datagram->room;
    builder->most = (uint32_t)body->size - HC_SNAPSHOT_OVERHEAD;
    builder->packed = packed;
    builder->stats = stats;
    gather(builder, datagram);
    write_all(builder, datagram->seq);
    size_t size = hc_bits_finish(&builder->bits);
    end(builder);
    bool fits = hc_snapshot_put_message(body, packed, size);
    HC_ASSERT(size > 0 && fits);
    hc_sv_bandwidth_spend(&client->bandwidth, (uint32_t)body->at);
}
