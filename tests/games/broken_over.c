/// The end of a match is read from a place that is not there.
#include "hindcast/plugin.h"

static const uint8_t *volatile nowhere; ///< NULL, which the compiler does not know

static bool is_over(const struct hc_world *world, const void *referee) {
    (void)world;
    return referee != NULL && *nowhere != 0;
}

#define TAG_MATCH_OVER is_over

#include "tests/games/tag.h"
