/// Tag as it is, with players that are hidden by their own states.
#include "hindcast/plugin.h"

static bool hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state) {
    const struct hc_kind *kind = hc_world_kind(world, other);
    (void)viewer, (void)viewer_state;
    return kind->x >= 0 && hc_field_get(&kind->fields[kind->x], other_state) % 4 == 0;
}

#define TAG_HIDES hides

#include "tests/games/tag.h"
