/// Owns how a match fails.
#include "tests/storm/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void storm_fail(struct storm_verdict *verdict, enum storm_result result, const char *oracle,
                hc_tick tick, const char *format, ...) {
    va_list arguments;
    if (verdict->result != STORM_FINE)
        return;
    verdict->result = result;
    verdict->tick = tick;
    snprintf(verdict->oracle, sizeof verdict->oracle, "%s", oracle);
    va_start(arguments, format);
    vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
    va_end(arguments);
}

void storm_fail_worlds(struct storm_verdict *verdict, const char *oracle, hc_tick tick,
                       const struct hc_world *world, const char *who, struct storm_state held,
                       struct storm_state right) {
    static const char *const presences[] = {"unknown", "absent", "alive"};
    unsigned different = 0;
    char first[256] = "nothing differs";
    for (uint32_t e = 0; e < world->entities; e++) {
        const uint8_t *a = held.states + (size_t)e * world->stride;
        const uint8_t *b = right.states + (size_t)e * world->stride;
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        if (held.presence[e] == right.presence[e] && memcmp(a, b, world->stride) == 0)
            continue;
        if (different++ > 0)
            continue;
        if (held.presence[e] != right.presence[e])
            snprintf(first, sizeof first, "entity %u (%s of player %d): %s, must be %s", e,
                     kind->name, world->owner_of[e] == HC_NO_PLAYER ? -1 : world->owner_of[e],
                     presences[held.presence[e] % 3], presences[right.presence[e] % 3]);
        for (uint16_t f = 0; held.presence[e] == right.presence[e] && f < kind->field_count; f++) {
            const struct hc_field *field = &kind->fields[f];
            if (hc_field_get(field, a) == hc_field_get(field, b))
                continue;
            snprintf(first, sizeof first,
                     "entity %u (%s of player %d), %s: %" PRId64 ", must be %" PRId64, e,
                     kind->name, world->owner_of[e] == HC_NO_PLAYER ? -1 : world->owner_of[e],
                     field->name, hc_field_get(field, a), hc_field_get(field, b));
            break;
        }
    }
    storm_fail(verdict, STORM_WRONG, oracle, tick, "%s, %u entities differ; %s", who, different,
               first);
}
