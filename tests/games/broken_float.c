/// A player moves by a fraction.
#define TAG_BALL_STEP(scene, out) (out)->x = (int16_t)((out)->x * 0.999f)

#include "tests/games/tag.h"
