/// The score counts the calls of the step.
static unsigned calls;
#define TAG_SCORE(scene, now, out, count) (out)->score = (uint16_t)((calls++ + (count)) % 1000)

#include "tests/games/tag.h"
