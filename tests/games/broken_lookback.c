/// A player looks back further than the game declares.
#define TAG_LOOKBACK 4
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)((count) + hc_scene_past_neighbours(scene, 5, &ids))

#include "tests/games/tag.h"
