/// The score of a player outgrows its field, after some ticks.
#define TAG_SCORE(scene, now, out, count) (out)->score = (uint16_t)((now)->score + 1 + (count))

#include "tests/games/tag.h"
