/// Tag as it is, with players that are hidden by their own states. Nobody asks whether the referee
/// or the viewer is hidden.
#include "hindcast/plugin.h"

static bool hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                  hc_entity other, const void *other_state) {
    const struct hc_kind *kind = hc_world_kind(world, other);
    (void)viewer_state;
    if (other == HC_REFEREE || world->owner_of[other] == world->owner_of[viewer])
        __builtin_trap();
    return kind->x != NULL &&
           hc_field_get(&kind->fields[hc_kind_field(kind, kind->x)], other_state) % 4 == 0;
}

#define TAG_HIDES hides

#include "tests/games/tag.h"
