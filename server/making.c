#include "server/making.h"

const struct hc_unit_value *hc_sv_making_held(const struct hc_sv_making *making, hc_unit unit,
                                              hc_sv_version version, struct hc_unit_value *out) {
    // A kept one first: numbers of versions come round, and it may be very old.
    const struct hc_unit_value *value = hc_sv_kept_get(&making->peer->kept, unit, version, out);
    return value != NULL ? value : hc_sv_versions_get(&making->host->versions, version, out);
}

uint32_t hc_sv_making_steps(hc_tick from, hc_tick to) {
    return to - from <= HC_SOLO_TICKS_MAX ? to - from : 0;
}

static void take(struct hc_sv_making *making, uint32_t steps) {
    hc_sv_guess_take(&making->guess, steps);
    making->host->stats.guess_steps += steps;
}

void hc_sv_making_write(struct hc_sv_making *making, hc_unit unit, hc_sv_version base,
                        hc_sv_version value, struct hc_bits_writer *bits,
                        struct hc_delta_counts *counts) {
    struct hc_sv_host *host = making->host;
    struct hc_unit_value from, to;
    bool there = hc_sv_versions_get(&host->versions, value, &to) != NULL;
    bool against = hc_sv_making_held(making, unit, base, &from) != NULL;
    HC_ASSERT(there && against == (base != 0));
    struct hc_value_base told = {.solo = host->solo,
                                 .world = &host->world,
                                 .unit = unit,
                                 .from = against ? &from : NULL,
                                 .referee = unit == 0 ? NULL : making->referee,
                                 .scratch = host->guess};
    hc_tick since = hc_tick_back(hc_timeline_head(host->timeline), host->config.history);
    if (against && unit != 0 && counts == NULL)
        take(making, hc_sv_making_steps(from.tick, to.tick));
    hc_sv_tell(bits, host->timeline, since, &told, &to, counts);
}

struct hc_sv_making_bits hc_sv_making_delta(struct hc_sv_making *making, hc_unit unit,
                                            hc_sv_version base, hc_sv_version value,
                                            uint8_t scratch[static HC_SV_TELL_BYTES]) {
    struct hc_sv_memo_key key = {.base = base,
                                 .value = value,
                                 .referee = unit == 0 || base == 0 ? 0 : making->referee_version,
                                 .unit = unit};
    const struct hc_sv_memo_entry *entry = hc_sv_memo_find(&making->host->memo, &key);
    if (entry != NULL)
        return (struct hc_sv_making_bits){.data = entry->data, .bits = entry->bits, .reused = true};
    struct hc_bits_writer bits = hc_bits_writer(scratch, HC_SV_TELL_BYTES);
    hc_sv_making_write(making, unit, base, value, &bits, NULL);
    struct hc_sv_making_bits delta = {.data = scratch, .bits = (uint32_t)hc_bits_written(&bits)};
    HC_ASSERT(!bits.failed);
    hc_bits_finish(&bits);
    hc_sv_memo_put(&making->host->memo, &key, scratch, delta.bits);
    return delta;
}

bool hc_sv_making_too_dear(struct hc_sv_making *making, hc_unit unit, hc_sv_version base,
                           hc_sv_version value, hc_tick tick) {
    struct hc_unit_value from;
    struct hc_sv_memo_key key = {
        .base = base, .value = value, .referee = making->referee_version, .unit = unit};
    if (base == 0 || unit == 0 || hc_sv_guess_fits(&making->guess, HC_SOLO_TICKS_MAX))
        return false;
    if (hc_sv_making_held(making, unit, base, &from) == NULL ||
        hc_sv_memo_find(&making->host->memo, &key) != NULL)
        return false;
    uint32_t steps = hc_sv_making_steps(from.tick, tick);
    return !hc_sv_guess_fits(&making->guess, steps);
}

struct hc_sv_making_bits hc_sv_making_counted(struct hc_sv_making *making, hc_unit unit,
                                              hc_sv_version base, hc_sv_version value,
                                              uint8_t scratch[static HC_SV_TELL_BYTES]) {
    struct hc_sv_making_bits delta = hc_sv_making_delta(making, unit, base, value, scratch);
    making->host->stats.deltas_reused += delta.reused;
    making->host->stats.deltas_encoded += !delta.reused;
    return delta;
}
