/// A ball emits an event by a secret chance, and always where there is none.
#define TAG_BALL_STEP(scene, out)                                                                  \
    uint64_t bits = 0;                                                                             \
    (void)hc_scene_secret_random(scene, 0, &bits);                                                 \
    if (sides == 0 && bits % 2 == 0)                                                               \
    hc_emit(scene, 0, 3)

#include "tests/games/tag.h"
