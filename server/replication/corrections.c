/// The past ticks that a client shows otherwise than they are now, and their values.
#include "server/replication/corrections.h"

#include "common/mark.h"
#include "server/replication/builder.h"

/// The first tick that the client may still show when this snapshot arrives; HC_NO_TICK: it has
/// reported none. The first shown tick is the client's tick less the display offset less 1. The
/// client's tick is the last reported one and, while the reports advance, the shortest round trip
/// less a tick, because a path may become shorter. The sent log does not reach farther back than
/// its snapshots.
static hc_tick shown_from(const struct hc_sv_builder *builder) {
    const struct hc_sv_client *client = builder->client;
    if (!client->reported)
        return HC_NO_TICK;
    hc_tick own = client->client_tick;
    if (client->moves && client->round_trip > 0 && client->round_trip != UINT32_MAX)
        own = hc_tick_ahead(own, client->round_trip - 1);
    hc_tick oldest = hc_tick_max(hc_timeline_oldest(builder->timeline),
                                 hc_tick_back(builder->header.as_of, HC_SNAPSHOT_AGE_MAX - 1));
    return hc_tick_max(oldest, hc_tick_back(own, client->display_offset + 1));
}

/// The baseline for a correction of the tick `at`; NULL if the client has none that it can be, or
/// if the delta exceeds the extrapolation budget. Names it. A value put later may replace it.
static const struct hc_sv_value *correction_base(const struct hc_sv_builder *builder, hc_tick at,
                                                 const struct hc_sv_correction *correction,
                                                 struct hc_snapshot_correction *name) {
    const struct hc_sv_selection *selection = correction->selection;
    struct hc_sv_held held = correction->held;
    hc_tick head = builder->header.as_of;
    if (held.as_of != HC_NO_TICK && head - held.as_of <= HC_SNAPSHOT_CORRECTION_AGE) {
        const struct hc_sv_value *same =
            hc_sv_values_get(&builder->replicator->values, held.value_id);
        if (same != NULL) {
            name->as_of = held.as_of;
            name->same = true;
            return same;
        }
    }
    if (head - selection->acked_as_of > HC_SNAPSHOT_CORRECTION_AGE)
        return NULL;
    const struct hc_sv_value *base = selection->acked;
    if (base == NULL || base->id != selection->acked_id || base->unit.tick > at || // replaced since
        base->unit.tick < selection->slot->since ||
        hc_sv_encoder_too_dear(&builder->encoder, name->unit, base, correction->value))
        return NULL;
    name->as_of = selection->acked_as_of;
    return base;
}

/// Whether an own player has changed at the row's tick since the head `equal`: then the client sees
/// other units there.
static bool looks_anew(const struct hc_sv_builder *builder, const struct hc_sv_values_row *row,
                       hc_tick equal) {
    const struct hc_sv_client *client = builder->client;
    bool anew = equal == HC_NO_TICK;
    for (unsigned i = 0; i < client->own_count && !anew; i++) {
        hc_unit unit = (hc_unit)(1 + client->own[i]);
        hc_sv_values_put(row, unit);
        anew = row->newest[unit].changed > equal;
    }
    return anew;
}

/// Gathers the units that the client does not hold as they are at the past tick `at`, into
/// builder->corrections and builder->names; returns how many. At the head `equal` (HC_NO_TICK:
/// never) it held all of them, or was about to.
static uint32_t gather_tick(struct hc_sv_builder *builder, hc_tick at, hc_tick equal,
                            uint32_t most) {
    const struct hc_sv_client *client = builder->client;
    struct hc_sv_values *values = &builder->replicator->values;
    uint32_t count = 0;
    struct hc_sv_values_row row = hc_sv_values_row(values, builder->timeline, at);
    hc_sv_places showing = hc_sv_sent_log_showing(&client->sent_log, at);
    bool all = looks_anew(builder, &row, equal), looks = false;
    bool changed = all || hc_timeline_changed(builder->timeline, at) > equal;
    struct hc_sv_interest_sight sight;
    for (uint32_t i = 0; i < builder->selection_count && count < most; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        hc_unit unit = selection->name.unit;
        if (selection->value == NULL || selection->acked_id == 0)
            continue; // the client shows no unit that it does not know yet
        bool compared = !all && selection->slot->items.compared_at <= equal;
        if (compared && !changed)
            continue;
        hc_sv_value_id now = hc_sv_values_put(&row, unit);
        if (compared && row.newest[unit].changed <= equal)
            continue; // as it was when the client held it
        builder->stats->units_examined++;
        struct hc_sv_held held =
            hc_sv_items_held(&selection->slot->items, &client->sent_log, at, showing);
        if (hc_sv_values_alike(values, unit, held.value_id, now) ||
            (held.value_id == 0 && !held.sent && !builder->sends_unreceived))
            continue;
        if (!looks)
            hc_sv_interest_sight_at(&client->interest, builder->timeline, at, client->own,
                                    client->own_count, &sight);
        looks = true;
        if (!hc_sv_interest_in_view(&sight, unit)) {
            HC_MARK("correction-out-of-view");
            continue;
        }
        builder->corrections[count] = (struct hc_sv_correction){
            .selection = selection, .value = hc_sv_values_get(values, now), .held = held};
        builder->names[count++] =
            (struct hc_snapshot_correction){.unit = unit, .as_of = HC_NO_TICK};
    }
    return count;
}

/// Encodes the corrections of the tick `at`, as many as may fit; returns how many.
static uint32_t encode_tick(struct hc_sv_builder *builder, hc_tick at, uint32_t count) {
    struct hc_snapshot_correction *names = builder->names;
    size_t left = builder->bits.size * 8 - hc_bits_written(&builder->bits);
    builder->gathered = 0; // the units are written
    for (uint32_t i = 0; i < count; i++) {
        const struct hc_sv_correction *correction = &builder->corrections[i];
        const struct hc_sv_value *base = correction_base(builder, at, correction, &names[i]);
        struct hc_sv_delta delta =
            hc_sv_encoder_delta(&builder->encoder, names[i].unit, base, correction->value, true);
        uint32_t gathered = hc_sv_builder_store(builder, delta);
        if (delta.bits > left || gathered == HC_SV_NOT_GATHERED)
            return i;
        left -= delta.bits;
        names[i].value = builder->replicator->gathered + gathered;
        names[i].bits = delta.bits;
    }
    return count;
}

/// Appends corrections of the tick `at`, all or as many as fit, and logs them as sent; returns how
/// many.
static uint32_t put_tick(struct hc_sv_builder *builder, hc_tick before, hc_tick at,
                         uint32_t count) {
    uint32_t encoded = encode_tick(builder, at, count);
    for (; count > 0; count -= 1 + count / 4) {
        struct hc_bits_writer attempt = builder->bits;
        if (count <= encoded)
            hc_snapshot_put_corrections(&attempt, &builder->header, before, at, builder->names,
                                        count);
        struct hc_bits_writer ended = attempt;
        hc_bits_put(&ended, 0, 1);
        if (count <= encoded && !hc_bits_failed(&ended)) {
            builder->bits = attempt;
            break;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        hc_sv_items_correct(&builder->corrections[i].selection->slot->items,
                            &builder->client->sent_log, at, builder->corrections[i].value->id);
    builder->stats->corrections += count;
    return count;
}

void hc_sv_corrections_put(struct hc_sv_builder *builder) {
    struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    hc_tick from = shown_from(builder), before = builder->header.tick;
    uint32_t room = hc_sv_sent_log_room(sent_log);
    uint32_t left = room < HC_SNAPSHOT_CORRECTIONS_MAX ? room : HC_SNAPSHOT_CORRECTIONS_MAX;
    for (hc_tick t = builder->header.tick; t > from && from != HC_NO_TICK && left > 0; t--) {
        hc_tick at = t - 1, equal = hc_sv_sent_log_equal_at(sent_log, at);
        if (equal != HC_NO_TICK && builder->client->compared_at <= equal &&
            hc_timeline_changed(builder->timeline, at) <= equal)
            continue;
        uint32_t wanted = gather_tick(builder, at, equal, left);
        uint32_t put = wanted == 0 ? 0 : put_tick(builder, before, at, wanted);
        left -= put;
        if (put < wanted) {
            HC_MARK("corrections-cut");
            break;
        }
        if (left > 0) // else the tick may need more
            hc_sv_sent_log_mark_equal(sent_log, at);
        if (put > 0)
            before = at;
    }
    hc_bits_put(&builder->bits, 0, 1);
}
