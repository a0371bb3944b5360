/// A step of a later tick ends the program, past all handlers of its end.
#include <unistd.h>
#define TAG_BALL_STEP(scene, out)                                                                  \
    if (hc_scene_tick(scene) > 200)                                                                \
    _exit(0)

#include "tests/games/tag.h"
