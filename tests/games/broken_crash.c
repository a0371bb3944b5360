/// A player reads the referee although a client may not know it.
#define TAG_READ_ROUND(scene, referee, old) ((referee)->round)

#include "tests/games/tag.h"
