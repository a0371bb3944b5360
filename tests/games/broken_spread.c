/// The score counts the neighbours of the first player, which may be out of reach.
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)((count) + (scene)->neighbours(scene, 1, &ids))

#include "tests/games/tag.h"
