/// The score is of the last ball four ticks ago, which may be out of reach.
#define TAG_LOOKBACK 4
#define TAG_SCORE(scene, now, out, count)                                                          \
    struct hc_past past;                                                                           \
    const struct hc_world *world = (scene)->world;                                                 \
    (out)->score = (uint16_t)(count);                                                              \
    if ((scene)->past != NULL && (scene)->past(scene, 4, &past))                                   \
    (out)->score = (uint16_t)past.states[(world->entities - 1) * (size_t)world->stride]

#include "tests/games/tag.h"
