/// Copies of the values of a client's newest baseline.
#include "server/replication/pinned_values.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "proto/snapshot.h"

#include <string.h>

size_t hc_sv_pinned_layout(struct hc_sv_pinned *pinned, const struct hc_world *world,
                           uint8_t *base) {
    size_t used = 0;
    uint32_t most = hc_snapshot_units_most(world);
    pinned->world = world;
    pinned->values = hc_carve(base, &used, most * sizeof *pinned->values);
    pinned->states = hc_carve(base, &used, most * hc_unit_bytes(world));
    return used;
}

void hc_sv_pinned_clear(struct hc_sv_pinned *pinned) {
    pinned->as_of = HC_NO_TICK;
    pinned->count = 0;
}

static void pin(struct hc_sv_pinned *pinned, hc_unit unit, hc_sv_value_id value_id,
                const struct hc_unit_value *value) {
    struct hc_sv_pinned_value *copy = &pinned->values[pinned->count];
    copy->value_id = value_id;
    copy->unit = unit;
    hc_unit_place(pinned->world, &copy->value,
                  pinned->states + pinned->count * hc_unit_bytes(pinned->world));
    hc_unit_copy(pinned->world, unit, &copy->value, value);
    pinned->count++;
}

void hc_sv_pinned_take(struct hc_sv_pinned *pinned, const struct hc_sv_sent_log *sent_log,
                       const struct hc_sv_sent_values *sent_values) {
    hc_unit units[HC_SNAPSHOT_UNITS_MAX];
    hc_tick base = hc_sv_sent_log_base(sent_log);
    if (base == pinned->as_of)
        return;
    hc_sv_pinned_clear(pinned);
    pinned->as_of = base;
    uint32_t count =
        base == HC_NO_TICK ? 0 : hc_sv_sent_log_units(sent_log, base, units, HC_SNAPSHOT_UNITS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        hc_sv_value_id value_id = hc_sv_sent_log_unit(sent_log, units[i])->acked;
        const struct hc_unit_value *value = hc_sv_sent_values_get(sent_values, value_id);
        if (value != NULL)
            pin(pinned, units[i], value_id, value);
    }
}

const struct hc_unit_value *hc_sv_pinned_get(const struct hc_sv_pinned *pinned, hc_unit unit,
                                             hc_sv_value_id value_id) {
    uint32_t low = 0, high = pinned->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (pinned->values[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    const struct hc_sv_pinned_value *found = &pinned->values[low];
    if (value_id == 0 || low == pinned->count || found->unit != unit || found->value_id != value_id)
        return NULL;
    HC_MARK("value-pinned");
    return &found->value;
}
