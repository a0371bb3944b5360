#include "server/replication/builder.h"

const struct hc_unit_value *hc_sv_builder_held(const struct hc_sv_builder *builder, hc_unit unit,
                                               hc_sv_value_id value_id, struct hc_unit_value *out) {
    // A kept one first: numbers of versions come round, and it may be very old.
    const struct hc_unit_value *value =
        hc_sv_pinned_get(&builder->peer->pinned, unit, value_id, out);
    return value != NULL ? value
                         : hc_sv_sent_values_get(&builder->host->sent_values, value_id, out);
}

uint32_t hc_sv_builder_steps(hc_tick from, hc_tick to) {
    return to - from <= HC_EXTRAPOLATE_TICKS_MAX ? to - from : 0;
}

static void take(struct hc_sv_builder *builder, uint32_t steps) {
    hc_sv_extrapolation_take(&builder->extrapolation, steps);
    builder->host->stats.extrapolation_steps += steps;
}

void hc_sv_builder_write(struct hc_sv_builder *builder, hc_unit unit, hc_sv_value_id base,
                         hc_sv_value_id value, struct hc_bits_writer *bits,
                         struct hc_delta_counts *counts) {
    struct hc_sv_host *host = builder->host;
    struct hc_unit_value from, to;
    bool there = hc_sv_sent_values_get(&host->sent_values, value, &to) != NULL;
    bool against = hc_sv_builder_held(builder, unit, base, &from) != NULL;
    HC_ASSERT(there && against == (base != 0));
    struct hc_value_base told = {.extrapolator = host->extrapolator,
                                 .world = &host->world,
                                 .unit = unit,
                                 .from = against ? &from : NULL,
                                 .referee = unit == 0 ? NULL : builder->referee,
                                 .scratch = host->extrapolation};
    hc_tick since = hc_tick_back(hc_timeline_head(host->timeline), host->config.history);
    if (against && unit != 0 && counts == NULL)
        take(builder, hc_sv_builder_steps(from.tick, to.tick));
    hc_sv_encode_value(bits, host->timeline, since, &told, &to, counts);
}

struct hc_sv_builder_bits hc_sv_builder_delta(struct hc_sv_builder *builder, hc_unit unit,
                                              hc_sv_value_id base, hc_sv_value_id value,
                                              uint8_t scratch[static HC_SV_ENCODE_BYTES]) {
    struct hc_sv_delta_key key = {.base = base,
                                  .value = value,
                                  .referee = unit == 0 || base == 0 ? 0 : builder->referee_version,
                                  .unit = unit};
    const struct hc_sv_delta_entry *entry =
        hc_sv_delta_cache_find(&builder->host->delta_cache, &key);
    if (entry != NULL)
        return (struct hc_sv_builder_bits){
            .data = entry->data, .bits = entry->bits, .reused = true};
    struct hc_bits_writer bits = hc_bits_writer(scratch, HC_SV_ENCODE_BYTES);
    hc_sv_builder_write(builder, unit, base, value, &bits, NULL);
    struct hc_sv_builder_bits delta = {.data = scratch, .bits = (uint32_t)hc_bits_written(&bits)};
    HC_ASSERT(!bits.failed);
    hc_bits_finish(&bits);
    hc_sv_delta_cache_put(&builder->host->delta_cache, &key, scratch, delta.bits);
    return delta;
}

bool hc_sv_builder_too_dear(struct hc_sv_builder *builder, hc_unit unit, hc_sv_value_id base,
                            hc_sv_value_id value, hc_tick tick) {
    struct hc_unit_value from;
    struct hc_sv_delta_key key = {
        .base = base, .value = value, .referee = builder->referee_version, .unit = unit};
    if (base == 0 || unit == 0 ||
        hc_sv_extrapolation_fits(&builder->extrapolation, HC_EXTRAPOLATE_TICKS_MAX))
        return false;
    if (hc_sv_builder_held(builder, unit, base, &from) == NULL ||
        hc_sv_delta_cache_find(&builder->host->delta_cache, &key) != NULL)
        return false;
    uint32_t steps = hc_sv_builder_steps(from.tick, tick);
    return !hc_sv_extrapolation_fits(&builder->extrapolation, steps);
}

struct hc_sv_builder_bits hc_sv_builder_counted(struct hc_sv_builder *builder, hc_unit unit,
                                                hc_sv_value_id base, hc_sv_value_id value,
                                                uint8_t scratch[static HC_SV_ENCODE_BYTES]) {
    struct hc_sv_builder_bits delta = hc_sv_builder_delta(builder, unit, base, value, scratch);
    builder->host->stats.deltas_reused += delta.reused;
    builder->host->stats.deltas_encoded += !delta.reused;
    return delta;
}
