/// Owns the last events of a match.
#include "tests/storm/event_log.h"

#include <inttypes.h>
#include <stdarg.h>

void storm_event_log_add(struct storm_event_log *log, uint64_t at_us, uint32_t head,
                         const char *format, ...) {
    va_list arguments;
    struct storm_logged_event *entry = &log->ring[log->count++ % STORM_EVENT_LOG];
    entry->at_us = at_us;
    entry->head = head;
    va_start(arguments, format);
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
    va_end(arguments);
}

void storm_event_log_print(const struct storm_event_log *log, FILE *out) {
    uint64_t first = log->count > STORM_EVENT_LOG ? log->count - STORM_EVENT_LOG : 0;
    for (uint64_t i = first; i < log->count; i++) {
        const struct storm_logged_event *entry = &log->ring[i % STORM_EVENT_LOG];
        fprintf(out, "  %10.3f ms, head %4u: %s\n", (double)entry->at_us / 1000, entry->head,
                entry->text);
    }
}
