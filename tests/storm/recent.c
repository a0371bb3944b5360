#include "tests/storm/recent.h"

#include <inttypes.h>
#include <stdarg.h>

void storm_recent_add(struct storm_recent *recent, uint64_t at_us, uint32_t head,
                      const char *format, ...) {
    va_list arguments;
    struct storm_happening *entry = &recent->ring[recent->count++ % STORM_RECENT];
    entry->at_us = at_us;
    entry->head = head;
    va_start(arguments, format);
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
    va_end(arguments);
}

void storm_recent_print(const struct storm_recent *recent, FILE *out) {
    uint64_t first = recent->count > STORM_RECENT ? recent->count - STORM_RECENT : 0;
    for (uint64_t i = first; i < recent->count; i++) {
        const struct storm_happening *entry = &recent->ring[i % STORM_RECENT];
        fprintf(out, "  %10.3f ms, head %4u: %s\n", (double)entry->at_us / 1000, entry->head,
                entry->text);
    }
}
