/// Tag in which players near each other four ticks ago score.
#define TAG_LOOKBACK 4
#define TAG_SCORE(scene, now, out, count)                                                          \
    const struct tag_player *before = hc_scene_past(scene, 1, (scene)->self);                      \
    (out)->score = (uint16_t)(((now)->score + hc_scene_past_neighbours(scene, 4, &ids)) % 1000 +   \
                              (before != NULL && before->x > (now)->x && (count) > 0))

#include "tests/games/tag.h"
