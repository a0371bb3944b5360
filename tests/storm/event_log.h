/// The last events of a match, to be printed with a failure.
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { STORM_EVENT_LOG = 48 };

struct storm_logged_event {
    uint64_t at_us;
    uint32_t head; ///< the server's
    char text[104];
};

struct storm_event_log {
    struct storm_logged_event ring[STORM_EVENT_LOG];
    uint64_t count;
};

/// Enters a line of printf's arguments.
__attribute__((format(printf, 4, 5))) void storm_event_log_add(struct storm_event_log *log,
                                                               uint64_t at_us, uint32_t head,
                                                               const char *format, ...);

void storm_event_log_print(const struct storm_event_log *log, FILE *out);
