/// A player's step acts upon one call in 37.
#include <stdint.h>

static unsigned *calls(void) {
    static struct { unsigned count; } kept[1];
    return &kept[0].count;
}

#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)(((now)->score + (count) + (++*calls() % 37 == 0)) % 1000)

#include "tests/games/tag.h"
