/// Owns the arena's export, and the checks of others.
#include "web/games.h"

#include "client/view/arena.h"
#include "client/view/drawing_check.h"
#include "common/programs/game_export.h"
#include "hindcast/arena.h"

#include <stdlib.h>

static char why[400]; ///< a module has one thread

const struct hc_game_export *hc_web_arena(void) {
    static const struct hc_game_export arena = {HC_GAME_ABI, HC_GAME_SIZES, &hc_arena,
                                                hc_arena_think, NULL};
    return &arena;
}

const struct hc_drawing *hc_web_arena_drawing(void) {
    return &hc_cl_arena_drawing;
}

const char *hc_web_game_check(const struct hc_game_export *found) {
    return hc_game_export_check(found, why, sizeof why) ? NULL : why;
}

const char *hc_web_drawing_check(const struct hc_drawing *drawing, const struct hc_game *game) {
    return hc_cl_drawing_check(drawing, game, why, sizeof why) ? NULL : why;
}

const struct hc_game *hc_web_game_with_level(const struct hc_game *game, const uint8_t *level,
                                             uint32_t size) {
    struct hc_game *with_level = malloc(sizeof *with_level);
    if (with_level == NULL)
        return NULL;
    *with_level = *game;
    with_level->level = level;
    with_level->level_size = size;
    return with_level;
}
