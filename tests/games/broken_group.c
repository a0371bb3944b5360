/// A player reads the referee past its field groups.
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score =                                                                                 \
        (uint16_t)((count) + ((const struct tag_referee *)(const void *)(scene)->states)->clock)

#include "tests/games/tag.h"
