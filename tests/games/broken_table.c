/// A table is filled when it is read for the first time.
#include <stdint.h>

static int16_t root_of(int32_t square) {
    static int16_t roots[1024];
    for (int16_t i = 0; roots[1023] == 0 && i < 1024; i++)
        for (int16_t root = 1; root * root <= i * 8; root++)
            roots[i] = root;
    return roots[square / 8 % 1024];
}

#define TAG_BALL_STEP(scene, out)                                                                  \
    if ((out)->vx < 0)                                                                             \
    (out)->vx = (int16_t) - (root_of((out)->x) % 5)

#include "tests/games/tag.h"
