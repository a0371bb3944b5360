/// A ball emits an event with a number of more bits than its kind has.
#define TAG_EMIT(scene, sides) hc_emit(scene, 0, 4 + (sides))

#include "tests/games/tag.h"
