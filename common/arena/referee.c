/// The referee's step: the phases of a round.
#include "common/arena/rules.h"

enum { PLAYERS_MIN = 2 };

bool hc_arena_step_referee(struct hc_scene *scene, hc_entity self, struct hc_arena_referee *out) {
    const struct hc_arena_referee *now = hc_scene_state(scene, self);
    if (now == NULL)
        return false;
    *out = *now;
    if (now->clock > 0)
        out->clock--;

    switch ((enum hc_arena_phase)now->phase) {
    case HC_ARENA_WAITING:
        // The scores of the round before would end this one at once.
        if (hc_scene_reduction(scene, HC_ARENA_PRESENT) >= PLAYERS_MIN &&
            hc_scene_reduction(scene, HC_ARENA_TOTAL_SCORE) == 0) {
            out->phase = HC_ARENA_PLAYING;
            out->clock = hc_arena_ticks(scene->world, HC_ARENA_ROUND_MS);
        }
        break;
    case HC_ARENA_PLAYING:
        if (now->clock == 0 ||
            hc_scene_reduction(scene, HC_ARENA_BEST_SCORE) >= HC_ARENA_SCORE_LIMIT) {
            out->phase = HC_ARENA_OVER;
            out->clock = hc_arena_ticks(scene->world, HC_ARENA_PAUSE_MS);
        }
        break;
    case HC_ARENA_OVER:
        if (now->clock == 0) {
            out->phase = HC_ARENA_WAITING;
            out->match = (uint8_t)(now->match + 1);
        }
        break;
    }
    return true;
}
