/// A ball's step counts its calls, and acts upon one in 20,000.
static unsigned calls;
#define TAG_BALL_STEP(scene, out)                                                                  \
    if (++calls % 20000 == 0)                                                                      \
    (out)->vx = 7

#include "tests/games/tag.h"
