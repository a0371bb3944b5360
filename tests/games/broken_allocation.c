/// A step allocates.
#include <stdlib.h>
#define TAG_SCORE(scene, now, out, count)                                                          \
    volatile uint16_t *memory = malloc(sizeof(*memory));                                           \
    *memory = (uint16_t)((count) % 1000);                                                          \
    (out)->score = *memory;                                                                        \
    free((void *)memory)

#include "tests/games/tag.h"
