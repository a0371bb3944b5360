/// The score is of the last ball, which may be out of reach.
#define TAG_SCORE(scene, now, out, count)                                                          \
    const struct hc_world *world = (scene)->world;                                                 \
    const void *last = (scene)->states + (world->entities - 1) * (size_t)world->stride;            \
    (out)->score = (uint16_t)((count) + (unsigned)((const struct tag_ball *)last)->x / 2)

#include "tests/games/tag.h"
