/// A player appears at a secret place, and where there is none, in the corner.
#include "hindcast/scene.h"

static uint64_t draw(const struct hc_scene *scene) {
    uint64_t bits = 0;
    (void)hc_scene_secret_random(scene, 0, &bits);
    return bits;
}

#define TAG_RANDOM(scene) draw(scene)

#include "tests/games/tag.h"
