/// Owns the check that a game was compiled for this program.
#include "common/programs/game_export.h"

#include <stdio.h>

bool hc_game_export_check(const struct hc_game_export *found, char *why, size_t why_size) {
    static const char *const names[HC_GAME_STRUCTS] = {"hc_game",  "hc_kind",  "hc_field",
                                                       "hc_world", "hc_scene", "hc_bot"};
    static const uint32_t sizes[HC_GAME_STRUCTS] = HC_GAME_SIZES;
    if (found->abi != HC_GAME_ABI) {
        snprintf(why, why_size,
                 "it was compiled for version %u of the game interface, and this program has "
                 "version %u: compile it with this program's headers",
                 (unsigned)found->abi, (unsigned)HC_GAME_ABI);
        return false;
    }
    for (unsigned i = 0; i < HC_GAME_STRUCTS; i++)
        if (found->sizes[i] != sizes[i]) {
            snprintf(why, why_size,
                     "its struct %s has %u bytes, and this program's %u: compile it with this "
                     "program's headers",
                     names[i], (unsigned)found->sizes[i], (unsigned)sizes[i]);
            return false;
        }
    if (found->game == NULL) {
        snprintf(why, why_size, "it exports no game");
        return false;
    }
    return hc_game_check(found->game, why, why_size) == NULL;
}
