/// A player scores by the place that the first player had when its step ran last.
#include <stdint.h>
static int16_t first_x;
#define TAG_SCORE(scene, now, out, count)                                                          \
    if ((scene)->self == 1)                                                                        \
        first_x = (now)->x;                                                                        \
    (out)->score = (uint16_t)((unsigned)first_x + (count))

#include "tests/games/tag.h"
