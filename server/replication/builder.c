/// Deltas of units for the snapshot that is being made: cached, or encoded within the budget.
#include "server/replication/builder.h"

enum { ITEM_BITS = 40 }; ///< of a forced range, a join or a leave, at most

struct hc_sv_sent_value hc_sv_builder_acked(const struct hc_sv_builder *builder, hc_unit unit,
                                            hc_sv_value_id value_id) {
    // A pinned value may be so old that its number is another value's by now.
    const struct hc_unit_value *value = hc_sv_pinned_get(&builder->client->pinned, unit, value_id);
    if (value == NULL)
        value = hc_sv_sent_values_get(&builder->replicator->sent_values, value_id);
    return (struct hc_sv_sent_value){.id = value == NULL ? 0 : value_id, .value = value};
}

struct hc_sv_interest_look hc_sv_builder_look(const struct hc_sv_builder *builder, hc_tick tick) {
    const struct hc_sv_client *client = builder->client;
    return hc_sv_interest_look_at(&client->interest, builder->timeline, tick, client->own,
                                  client->own_count);
}

uint32_t hc_sv_builder_steps(hc_tick from, hc_tick to) {
    return to - from <= HC_EXTRAPOLATE_TICKS_MAX ? to - from : 0;
}

static struct hc_sv_delta_key key_of(const struct hc_sv_builder *builder, hc_unit unit,
                                     struct hc_sv_sent_value base, struct hc_sv_sent_value value) {
    return (struct hc_sv_delta_key){.base = base.id,
                                    .value = value.id,
                                    .referee = unit == 0 || base.id == 0 ? 0 : builder->referee_id,
                                    .unit = unit};
}

bool hc_sv_builder_too_dear(const struct hc_sv_builder *builder, hc_unit unit,
                            struct hc_sv_sent_value base, struct hc_sv_sent_value value) {
    if (base.id == 0 || unit == 0 ||
        hc_sv_extrapolation_fits(&builder->extrapolation, HC_EXTRAPOLATE_TICKS_MAX))
        return false;
    struct hc_sv_delta_key key = key_of(builder, unit, base, value);
    if (hc_sv_delta_cache_find(&builder->replicator->delta_cache, &key) != NULL)
        return false;
    uint32_t steps = hc_sv_builder_steps(base.value->tick, value.value->tick);
    return !hc_sv_extrapolation_fits(&builder->extrapolation, steps);
}

static void encode(struct hc_sv_builder *builder, hc_unit unit, struct hc_sv_sent_value base,
                   struct hc_sv_sent_value value) {
    struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_value_base against = {.extrapolator = replicator->extrapolator,
                                    .world = builder->world,
                                    .unit = unit,
                                    .from = base.value,
                                    .referee = unit == 0 ? NULL : builder->referee,
                                    .scratch = replicator->extrapolation};
    hc_tick since = hc_tick_back(builder->header.as_of, replicator->config.history);
    if (base.id != 0 && unit != 0 &&
        (!builder->gathered || value.value->tick != builder->header.tick)) {
        uint32_t steps = hc_sv_builder_steps(base.value->tick, value.value->tick);
        hc_sv_extrapolation_take(&builder->extrapolation, steps);
        builder->counts->extrapolation_steps += steps;
    }
    hc_sv_encode_value(replicator->encoding, builder->timeline, since, &against, value.value);
}

struct hc_sv_delta hc_sv_builder_delta(struct hc_sv_builder *builder, hc_unit unit,
                                       struct hc_sv_sent_value base,
                                       struct hc_sv_sent_value value) {
    struct hc_sv_replicator *replicator = builder->replicator;
    struct hc_sv_delta_key key = key_of(builder, unit, base, value);
    const struct hc_sv_delta_entry *entry = hc_sv_delta_cache_find(&replicator->delta_cache, &key);
    if (entry != NULL)
        return (struct hc_sv_delta){.data = entry->data, .bits = entry->bits, .reused = true};
    encode(builder, unit, base, value);
    const struct hc_sv_encoding *encoding = replicator->encoding;
    struct hc_sv_delta delta = {.data = encoding->data[encoding->best], .bits = encoding->bits};
    hc_sv_delta_cache_put(&replicator->delta_cache, &key, delta.data, delta.bits);
    return delta;
}

bool hc_sv_builder_fits_item(const struct hc_sv_builder *builder) {
    return hc_bits_written(&builder->bits) + ITEM_BITS <= builder->room * 8 * 3 / 4;
}

void hc_sv_builder_count_delta(struct hc_sv_builder *builder, const struct hc_sv_delta *delta) {
    builder->counts->deltas_reused += delta->reused;
    builder->counts->deltas_encoded += !delta->reused;
}
