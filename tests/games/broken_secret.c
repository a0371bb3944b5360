/// The score is a secret random number, and 0 where there is none.
#define TAG_SCORE(scene, now, out, count)                                                          \
    uint64_t bits = 0;                                                                             \
    (void)hc_scene_secret_random(scene, 0, &bits);                                                 \
    (out)->score = (uint16_t)(((count) + bits) % 1000)

#include "tests/games/tag.h"
