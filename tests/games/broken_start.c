/// Each start places the balls elsewhere.
static unsigned starts;
#define TAG_START(out) (out)->x = (int16_t)(starts++ % 1000)

#include "tests/games/tag.h"
