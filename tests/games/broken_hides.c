/// A player is hidden in turns, by a count of the questions.
#include "hindcast/plugin.h"

static bool hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state) {
    static unsigned questions;
    (void)world, (void)viewer, (void)viewer_state, (void)other, (void)other_state;
    return ++questions % 3 == 0;
}

#define TAG_HIDES hides

#include "tests/games/tag.h"
