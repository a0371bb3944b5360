#include "server/kept.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "proto/snapshot.h"

#include <string.h>

size_t hc_sv_kept_layout(struct hc_sv_kept *kept, const struct hc_world *world, uint8_t *base) {
    size_t used = 0;
    uint32_t most = hc_snapshot_units_most(world);
    kept->world = world;
    kept->values = hc_carve(base, &used, most * sizeof *kept->values);
    kept->states = hc_carve(base, &used, most * hc_unit_bytes(world));
    return used;
}

void hc_sv_kept_clear(struct hc_sv_kept *kept) {
    kept->as_of = HC_NO_TICK;
    kept->count = 0;
}

void hc_sv_kept_take(struct hc_sv_kept *kept, const struct hc_sv_ledger *ledger,
                     const struct hc_sv_versions *versions) {
    hc_unit units[HC_SNAPSHOT_UNITS_MAX];
    hc_tick base = hc_sv_ledger_base(ledger);
    if (base == kept->as_of)
        return;
    hc_sv_kept_clear(kept);
    kept->as_of = base;
    uint32_t count =
        base == HC_NO_TICK ? 0 : hc_sv_ledger_units(ledger, base, units, HC_SNAPSHOT_UNITS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        hc_sv_version version = hc_sv_ledger_unit(ledger, units[i])->acked;
        struct hc_unit_value from, to;
        if (hc_sv_versions_get(versions, version, &from) == NULL)
            continue;
        struct hc_sv_kept_value *value = &kept->values[kept->count];
        *value = (struct hc_sv_kept_value){
            .version = version, .tick = from.tick, .known = from.known, .unit = units[i]};
        memcpy(value->input, from.input, sizeof value->input);
        hc_unit_place(kept->world, &to, kept->states + kept->count * hc_unit_bytes(kept->world));
        hc_unit_copy(kept->world, units[i], &to, &from);
        kept->count++;
    }
}

const struct hc_unit_value *hc_sv_kept_get(const struct hc_sv_kept *kept, hc_unit unit,
                                           hc_sv_version version, struct hc_unit_value *out) {
    uint32_t low = 0, high = kept->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (kept->values[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    const struct hc_sv_kept_value *value = &kept->values[low];
    if (version == 0 || low == kept->count || value->unit != unit || value->version != version)
        return NULL;
    HC_MARK("value-kept");
    out->tick = value->tick;
    out->known = value->known;
    memcpy(out->input, value->input, sizeof out->input);
    hc_unit_place(kept->world, out, kept->states + low * hc_unit_bytes(kept->world));
    return out;
}
