/// Owns the check of a drawing.
#include "client/view/drawing_check.h"

#include <stdio.h>
#include <string.h>

bool hc_cl_drawing_check(const struct hc_drawing *drawing, const struct hc_game *game, char *why,
                         size_t why_size) {
    if (drawing->abi != HC_DRAWING_ABI)
        snprintf(why, why_size,
                 "it was compiled for version %u of hindcast/drawing.h, and this program has "
                 "version %d",
                 (unsigned)drawing->abi, HC_DRAWING_ABI);
    else if (drawing->game == NULL || strcmp(drawing->game, game->name) != 0)
        snprintf(why, why_size, "it draws the game '%s', not '%s'",
                 drawing->game != NULL ? drawing->game : "", game->name);
    else if (drawing->entity == NULL)
        snprintf(why, why_size, "it draws no entity");
    else
        return true;
    return false;
}
