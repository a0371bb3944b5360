/// A ball emits an event for each side that it bounces from, and the table allows one.
#define TAG_EMIT(scene, sides)                                                                     \
    do {                                                                                           \
        hc_emit(scene, 0, 0);                                                                      \
        hc_emit(scene, 0, sides);                                                                  \
    } while (0)

#include "tests/games/tag.h"
