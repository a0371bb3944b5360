/// A player writes a byte behind its state.
#define TAG_SCORE(scene, now, out, count)                                                          \
    ((uint8_t *)(out))[sizeof(*(out))] = (uint8_t)(count);                                         \
    (out)->score = 0

#include "tests/games/tag.h"
