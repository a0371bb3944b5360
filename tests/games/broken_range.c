/// A player runs out of the range of its fields.
#define TAG_LIMIT(value) ((value) > 1020 ? 1030 : (value) < -1020 ? -1030 : (value))

#include "tests/games/tag.h"
