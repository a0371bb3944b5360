/// A score and an event are drawn at random where the secret is.
#define TAG_SCORE(scene, now, out, count)                                                          \
    uint64_t bits;                                                                                 \
    bool drawn = hc_scene_secret_random(scene, 0, &bits);                                          \
    (out)->score = (uint16_t)(drawn ? bits % 1000 : (now)->score);                                 \
    if (drawn && (count) == 0)                                                                     \
    hc_emit(scene, 1, bits % 32)

#include "tests/games/tag.h"
