/// A player changes its state of the tick before.
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)(((struct tag_player *)(now))->score = (uint16_t)((count) % 1000))

#include "tests/games/tag.h"
