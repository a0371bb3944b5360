/// What happened last in a match, to be printed beside a failure.
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { STORM_RECENT = 48 };

struct storm_happening {
    uint64_t at_us;
    uint32_t head; ///< the server's
    char text[104];
};

struct storm_recent {
    struct storm_happening ring[STORM_RECENT];
    uint64_t count;
};

/// Enters a line of printf's arguments.
__attribute__((format(printf, 4, 5))) void storm_recent_add(struct storm_recent *recent,
                                                            uint64_t at_us, uint32_t head,
                                                            const char *format, ...);

void storm_recent_print(const struct storm_recent *recent, FILE *out);
