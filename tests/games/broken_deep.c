/// A step calls itself until the stack is used up.
#include <stdint.h>

static int dig(int depth) {
    volatile int hole[64];
    hole[depth & 63] = depth;
    return depth == INT32_MAX ? 0 : dig(depth + 1) + hole[depth & 31];
}

#define TAG_BALL_STEP(scene, out)                                                                  \
    if (hc_scene_tick(scene) > 20)                                                                 \
    (out)->vx = (int16_t)dig(1)

#include "tests/games/tag.h"
