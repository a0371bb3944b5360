/// Whether a player is hidden depends on the state that lies behind its own in memory.
#include "hindcast/plugin.h"

static bool hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state) {
    (void)viewer, (void)viewer_state;
    return ((const uint8_t *)other_state)[world->game->kinds[world->kind_of[other]].state_size] > 9;
}

#define TAG_HIDES hides

#include "tests/games/tag.h"
