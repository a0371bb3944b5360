/// Finds and lists the fields that do not fit.
#include "common/overflows.h"

#include "hindcast/check.h"

#include <inttypes.h>
#include <stdio.h>

/// Adds the bits of `field` in a state to `words`, those from `low` on, as they lie in memory.
static void add_bits(const struct hc_field *field, unsigned low, uint32_t *words) {
    uint8_t *bytes = (uint8_t *)words;
    uint32_t ones = low < 32 ? UINT32_MAX << low : 0;
    uint16_t half = (uint16_t)ones;
    uint8_t byte = (uint8_t)ones;
    const void *from = field->size == 1   ? (void *)&byte
                       : field->size == 2 ? (void *)&half
                                          : (void *)&ones;
    memcpy(bytes + field->offset, from, field->size);
}

void hc_overflows_init(struct hc_overflows *overflows, const struct hc_world *world) {
    *overflows = (struct hc_overflows){.world = world};
    for (unsigned k = 0; k < world->game->kind_count; k++) {
        const struct hc_kind *kind = &world->game->kinds[k];
        struct hc_overflows_kind *out = &overflows->kinds[k];
        for (unsigned f = 0; f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            add_bits(field, field->bits, out->beyond);
            if (field->is_signed)
                add_bits(field, field->bits, out->of_signed);
        }
        for (uint32_t i = 0; i < HC_OVERFLOWS_WORDS; i++)
            if (out->beyond[i] != 0)
                out->words = i + 1;
    }
}

/// Lists an overflow, once for each field of a kind.
static void add(struct hc_overflows *overflows, const struct hc_overflow *overflow) {
    const uint8_t *kind_of = overflows->world->kind_of;
    for (uint32_t i = 0; i < overflows->count; i++)
        if (overflows->list[i].field == overflow->field &&
            kind_of[overflows->list[i].entity] == kind_of[overflow->entity])
            return;
    if (overflows->count < HC_OVERFLOWS_MAX)
        overflows->list[overflows->count++] = *overflow;
}

void hc_overflows_list(struct hc_overflows *overflows, hc_tick tick, hc_entity entity,
                       const uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(overflows->world, entity);
    for (uint16_t f = 0; f < kind->field_count; f++) {
        int64_t value = hc_field_get(&kind->fields[f], state);
        if (hc_field_fits(&kind->fields[f], value))
            continue;
        struct hc_overflow overflow = {.tick = tick, .entity = entity, .field = f, .value = value};
        add(overflows, &overflow);
#if HC_VALIDATE
        char text[HC_OVERFLOW_TEXT_MAX];
        hc_check_failed(__FILE__, __LINE__,
                        hc_overflow_text(overflows->world, &overflow, text, sizeof text));
#endif
    }
}

const char *hc_overflow_text(const struct hc_world *world, const struct hc_overflow *overflow,
                             char *text, size_t size) {
    const struct hc_kind *kind = hc_world_kind(world, overflow->entity);
    const struct hc_field *field = &kind->fields[overflow->field];
    int64_t values = INT64_C(1) << field->bits, low = field->is_signed ? -values / 2 : 0;
    snprintf(text, size,
             "the step of the %s with entity %u wrote %" PRId64 " to %s for tick %" PRIu32
             ", but its %u bits hold %" PRId64 " to %" PRId64,
             kind->name, overflow->entity, overflow->value, field->name, overflow->tick,
             field->bits, low, low + values - 1);
    return text;
}
