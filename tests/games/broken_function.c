/// A step writes a file.
#include <stdio.h>
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)((count) % 1000);                                                     \
    if ((count) > 1000)                                                                            \
    puts("a crowd")

#include "tests/games/tag.h"
