/// A player that has not joined comes at some ticks.
#define TAG_COMES(scene)                                                                           \
    (hc_scene_roster(scene) == HC_ROSTER_NONE && hc_scene_tick(scene) % 16 == 9)

#include "tests/games/tag.h"
