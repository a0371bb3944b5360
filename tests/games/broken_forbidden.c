/// A player reads a ball that may be out of its reach, and was compiled with the checks of reads.
#undef HC_VALIDATE
#define HC_VALIDATE 1
#define TAG_SCORE(scene, now, out, count)                                                          \
    (out)->score = (uint16_t)((count) + (hc_scene_state(scene, last_of(scene)) != NULL))

#include "hindcast/scene.h"

static hc_entity last_of(const struct hc_scene *scene) {
    return (hc_entity)(scene->world->entities - 1);
}

#include "tests/games/tag.h"
