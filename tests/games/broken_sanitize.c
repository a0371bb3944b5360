/// A sanitized input changes when it is sanitized again.
#define TAG_SANITIZE(in) (in)->x = (int8_t)((in)->y != 0 && (in)->x == 0 ? 1 : 0)

#include "tests/games/tag.h"
