/// The prediction is an input that sanitize_input would change.
#define TAG_PREDICT(out) (out)->x = (int8_t)((out)->x * 2)

#include "tests/games/tag.h"
