/// A step of a later tick does not return.
#define TAG_BALL_STEP(scene, out)                                                                  \
    while (hc_scene_tick(scene) > 200)                                                             \
        __asm__ volatile("")

#include "tests/games/tag.h"
