/// Tag that is over after 25 rounds, more than a usual history has; then the balls whistle.
#include "hindcast/plugin.h"

static bool is_over(const struct hc_world *world, const void *referee);

#define TAG_MORE_EVENTS                                                                            \
    { .name = "whistle" }
#define TAG_ROUND_OVER is_over
#define TAG_BALL_STEP(scene, out)                                                                  \
    const struct tag_referee *referee = hc_scene_referee(scene, TAG_GROUP_ROUND);                  \
    if (sides == 0 && referee != NULL && is_over((scene)->world, referee))                         \
    hc_emit(scene, 2, 0)

#include "tests/games/tag.h"

static bool is_over(const struct hc_world *world, const void *referee) {
    return world->game == &tag && ((const struct tag_referee *)referee)->round >= 25;
}
