/// A player that is looked at is marked as seen, in the state that the question shows.
#include "hindcast/plugin.h"

static bool hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state) {
    (void)world, (void)viewer, (void)viewer_state, (void)other;
    *(uint8_t *)(uintptr_t)other_state ^= 1;
    return false;
}

#define TAG_HIDES hides

#include "tests/games/tag.h"
