/// The balls of a run are slower than single ones.
#define TAG_RUN_STEP(ball) (ball)->x = (int16_t)((ball)->x > 500 ? (ball)->x - 1 : (ball)->x)

#include "tests/games/tag.h"
