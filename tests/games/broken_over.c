/// The end of a round is read from a place that is not there.
#include "hindcast/plugin.h"

static bool is_over(const struct hc_world *world, const void *referee) {
    const uint8_t *nowhere = (const uint8_t *)(uintptr_t)(world->tick_rate / 250); // NULL
    return referee != NULL && *nowhere != 0;
}

#define TAG_ROUND_OVER is_over

#include "tests/games/tag.h"
