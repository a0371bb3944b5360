/// A ball moves by the input of a player.
#define TAG_BALL_STEP(scene, out)                                                                  \
    if ((scene)->inputs[0] != 0 && (out)->x < TAG_SIDE)                                            \
    (out)->x++

#include "tests/games/tag.h"
