/// A step draws a random number of libc.
#include <stdlib.h>
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)((count) + (unsigned)rand() % 100)

#include "tests/games/tag.h"
