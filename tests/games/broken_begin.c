/// The first state of a ball is never found.
#define TAG_START(out)                                                                             \
    while ((out)->vx != 0)                                                                         \
    __asm__ volatile("")

#include "tests/games/tag.h"
