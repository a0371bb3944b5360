/// The past ticks that a client still shows, and its outdated values of them.
#include "server/replication/corrections.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "server/replication/builder.h"

#include <string.h>

/// A unit that the client may show wrongly at a tick.
struct correction {
    struct hc_snapshot_correction name;
    struct hc_sv_slot *slot;
    const struct hc_sv_value *base, *value;
};

/// The first tick that the client may still show when this snapshot arrives; HC_NO_TICK: it has
/// reported none. The first shown tick is the client's tick less the display offset less 1. The
/// client's tick is the last reported one and, while the reports advance, the shortest round trip
/// less a tick, because a path may become shorter. The sent log does not reach farther back than
/// its snapshots.
static hc_tick shown_from(const struct hc_sv_builder *builder) {
    const struct hc_sv_client *client = builder->client;
    if (!client->reported)
        return HC_NO_TICK;
    uint64_t rtt_us = client->rtt_min_us == UINT64_MAX ? 0 : client->rtt_min_us;
    uint32_t under_way = hc_tick_at_us(rtt_us, builder->world->tick_rate);
    hc_tick own = client->client_tick;
    if (client->moves && under_way > 0)
        own = hc_tick_ahead(own, under_way - 1);
    hc_tick oldest = hc_tick_max(hc_timeline_oldest(builder->timeline),
                                 hc_tick_back(builder->header.as_of, HC_SNAPSHOT_AGE_MAX - 1));
    return hc_tick_max(oldest, hc_tick_back(own, client->display_offset + 1));
}

/// Whether two values of the unit, of one tick, have the same states. The client shows nothing of
/// the inputs in which they may differ.
static bool alike(const struct hc_sv_builder *builder, hc_unit unit, hc_sv_value_id a,
                  hc_sv_value_id b) {
    if (a == b)
        return true;
    const struct hc_sv_values *values = &builder->replicator->values;
    const struct hc_sv_value *x = hc_sv_values_get(values, a), *y = hc_sv_values_get(values, b);
    size_t count = hc_unit_count(builder->world, unit);
    return x != NULL && y != NULL && memcmp(x->unit.presence, y->unit.presence, count) == 0 &&
           memcmp(x->unit.states, y->unit.states, count * builder->world->stride) == 0;
}

/// Whether to send a past tick that the client never received. With a snapshot at every tick it is
/// sent all, also those that T leapt over. With fewer it simulates the ticks between two snapshots,
/// and only values that were lost are sent again.
static bool sends_unreceived(const struct hc_sv_builder *builder, const struct hc_sv_slot *slot,
                             hc_tick at, hc_sv_places showing) {
    uint32_t rate = builder->replicator->config.snapshot_rate;
    return rate == 0 || rate == builder->world->tick_rate ||
           hc_sv_slot_has(slot, &builder->client->sent_log, at, showing);
}

/// The baseline for a correction of the tick `at`, which the client holds as `held`; NULL if it has
/// none that it can be, or if the delta exceeds the extrapolation budget. Names it.
static const struct hc_sv_value *base_of(const struct hc_sv_builder *builder, hc_tick at,
                                         struct hc_sv_held held,
                                         const struct hc_sv_selection *selection,
                                         struct correction *correction) {
    hc_unit unit = correction->name.unit;
    hc_tick head = builder->header.as_of;
    if (held.as_of != HC_NO_TICK && head - held.as_of <= HC_SNAPSHOT_CORRECTION_AGE) {
        const struct hc_sv_value *same =
            hc_sv_values_get(&builder->replicator->values, held.value_id);
        if (same != NULL) {
            correction->name.as_of = held.as_of;
            correction->name.same = true;
            return same;
        }
    }
    if (head - selection->acked.as_of > HC_SNAPSHOT_CORRECTION_AGE)
        return NULL;
    const struct hc_sv_value *base = hc_sv_builder_value(builder, selection);
    if (base == NULL || base->unit.tick > at || base->unit.tick < selection->slot->since ||
        hc_sv_encoder_too_dear(&builder->encoder, unit, base, correction->value))
        return NULL;
    correction->name.as_of = selection->acked.as_of;
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

/// Gathers the units that the client does not hold as they are at the past tick `at`, into `out`;
/// returns how many. At the head `equal` (HC_NO_TICK: never) it held all of them, or was about to.
static uint32_t gather(struct hc_sv_builder *builder, hc_tick at, hc_tick equal,
                       struct correction *out, uint32_t most) {
    struct hc_sv_values *values = &builder->replicator->values;
    const struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    uint32_t count = 0;
    struct hc_sv_values_row row = hc_sv_values_row(values, builder->timeline, at);
    hc_sv_places showing = hc_sv_sent_log_showing(sent_log, at);
    bool all = looks_anew(builder, &row, equal), looks = false;
    struct hc_sv_interest_look look;
    for (uint32_t i = 0; i < builder->selection_count && count < most; i++) {
        const struct hc_sv_selection *selection = &builder->selections[i];
        hc_unit unit = selection->name.unit;
        if (selection->value == NULL || selection->acked.value_id == 0)
            continue; // the client shows no unit that it does not know yet
        hc_sv_value_id now = hc_sv_values_put(&row, unit);
        if (!all && row.newest[unit].changed <= equal && selection->slot->compared_at <= equal)
            continue; // as it was when the client held it
        builder->counts->units_examined++;
        struct hc_sv_held held = hc_sv_slot_held(selection->slot, sent_log, at, showing);
        if (alike(builder, unit, held.value_id, now) ||
            (held.value_id == 0 && !sends_unreceived(builder, selection->slot, at, showing)))
            continue;
        if (!looks)
            look = hc_sv_builder_look(builder, at);
        looks = true;
        if (!hc_sv_interest_in_view(&look, unit)) {
            HC_MARK("correction-out-of-view");
            continue;
        }
        struct correction *correction = &out[count++];
        *correction = (struct correction){.name = {.unit = unit, .as_of = HC_NO_TICK},
                                          .slot = selection->slot,
                                          .value = hc_sv_values_get(values, now)};
        correction->base = base_of(builder, at, held, selection, correction);
    }
    return count;
}

/// Appends corrections of one tick, all or as many as fit; returns how many.
static uint32_t put_tick(struct hc_sv_builder *builder, hc_tick before, hc_tick at,
                         const struct correction *corrections, uint32_t count) {
    for (; count > 0; count -= 1 + count / 4) {
        struct hc_bits_writer attempt = builder->bits;
        hc_unit next = 0;
        hc_snapshot_put_correction_tick(&builder->bits, before, at, count);
        for (uint32_t i = 0; i < count && !builder->bits.failed; i++) {
            const struct correction *correction = &corrections[i];
            hc_unit unit = correction->name.unit;
            hc_snapshot_put_correction(&builder->bits, &builder->header, next, &correction->name);
            next = (hc_unit)(unit + 1);
            struct hc_sv_delta delta = hc_sv_encoder_delta(
                &builder->encoder, unit, correction->base, correction->value, true);
            hc_bits_append(&builder->bits, delta.data, delta.bits);
        }
        struct hc_bits_writer ended = builder->bits;
        hc_snapshot_put_end(&ended);
        if (!ended.failed)
            return count;
        builder->bits = attempt;
        if (count == 1)
            return 0;
    }
    return 0;
}

/// Logs corrections of one tick as sent.
static void log_sent(struct hc_sv_builder *builder, hc_tick at,
                     const struct correction *corrections, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        hc_sv_sent_log_correct(&builder->client->sent_log, corrections[i].name.unit, at,
                               corrections[i].value->id, &corrections[i].slot->corrected);
    builder->counts->corrections += count;
}

void hc_sv_corrections_put(struct hc_sv_builder *builder) {
    struct hc_sv_sent_log *sent_log = &builder->client->sent_log;
    struct correction corrections[HC_SNAPSHOT_CORRECTIONS_MAX];
    hc_tick from = shown_from(builder), before = builder->header.tick;
    uint32_t left = hc_sv_sent_log_room(sent_log);
    left = left < HC_SNAPSHOT_CORRECTIONS_MAX ? left : HC_SNAPSHOT_CORRECTIONS_MAX;
    for (hc_tick t = builder->header.tick; t > from && from != HC_NO_TICK && left > 0; t--) {
        hc_tick at = t - 1, equal = hc_sv_sent_log_equal_at(sent_log, at);
        if (equal != HC_NO_TICK && builder->client->compared_at <= equal &&
            hc_timeline_changed(builder->timeline, at) <= equal)
            continue;
        uint32_t wanted = gather(builder, at, equal, corrections, left);
        if (wanted == 0) {
            hc_sv_sent_log_mark_equal(sent_log, at);
            continue;
        }
        uint32_t put = put_tick(builder, before, at, corrections, wanted);
        log_sent(builder, at, corrections, put);
        left -= put;
        if (put < wanted) {
            HC_MARK("corrections-cut");
            break;
        }
        if (left > 0) // else the tick may need more
            hc_sv_sent_log_mark_equal(sent_log, at);
        before = at;
    }
    hc_snapshot_put_end(&builder->bits);
}
