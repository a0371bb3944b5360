/// Owns the choice of a drawing, and the dots of games without one.
#include "client/view/drawings.h"

#include "client/view/arena.h"
#include "client/view/canvas.h"
#include "hindcast/arena.h"

#include <stdio.h>
#include <string.h>

enum { DOT = 6, OWN_DOT = 9, NAME = 16 }; ///< pixels: from the centre; of letters

/// A dot at the entity's position, in its kind's colour; the own player's is larger, and a player
/// has its name.
static void draw_dot(const struct hc_frame *frame, const struct hc_client_shown *shown) {
    static const uint32_t colours[HC_KINDS_MAX] = {0xc9ada7ff, 0xf72585ff, 0xffe066ff, 0x80ed99ff,
                                                   0x9b5de5ff, 0xff9f1cff, 0xf15bb5ff, 0xffd6a5ff};
    const struct hc_cl_canvas *canvas = frame->canvas->context;
    const struct hc_kind *table = shown->table;
    if (table->x == NULL)
        return;
    double x = shown->values[hc_kind_field(table, table->x)];
    double y = shown->values[hc_kind_field(table, table->y)];
    bool own = shown->owner == frame->own && frame->own != HC_NO_PLAYER;
    frame->canvas->disc(frame->canvas, x, y, (own ? OWN_DOT : DOT) / canvas->scale,
                        own ? 0x4cc9f0ff : colours[shown->kind]);
    if (shown->entity == hc_world_player(frame->world, shown->owner) &&
        frame->names[shown->owner] != NULL)
        frame->canvas->text(frame->canvas, x, y - 1.5 * NAME / canvas->scale, NAME / canvas->scale,
                            frame->names[shown->owner], 0xf4f6faff);
}

static const struct hc_drawing dots = {
    .abi = HC_DRAWING_ABI, .game = "", .backdrop = 0x14171dff, .entity = draw_dot};

/// Checks that a drawing is one of this program's, and of this game; false: `why` tells why not.
static bool check(const struct hc_drawing *drawing, const struct hc_game *game, char *why,
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

/// Loads the drawing at `path`; NULL: `why` tells why not.
static const struct hc_drawing *load(struct hc_library *library, const char *path, bool anew,
                                     const struct hc_game *game, char *why, size_t why_size) {
    if (!hc_library_open(library, path, anew, why, why_size))
        return NULL;
    const struct hc_drawing *found = hc_library_find(library, "hindcast_drawing");
    if (found == NULL)
        snprintf(why, why_size, "it has no symbol hindcast_drawing, see hindcast/drawing.h");
    if (found != NULL && check(found, game, why, why_size))
        return found;
    hc_library_close(library);
    return NULL;
}

const struct hc_drawing *hc_cl_drawings_find(struct hc_library *library, const struct hc_game *game,
                                             const char *path, bool anew, char *why,
                                             size_t why_size) {
    char cause[4500];
    *library = (struct hc_library){.handle = NULL};
    if (path == NULL)
        return game == &hc_arena ? &hc_cl_arena_drawing : &dots;
    const struct hc_drawing *found = load(library, path, anew, game, cause, sizeof(cause));
    if (found == NULL)
        snprintf(why, why_size, "--drawing '%s': %s", path, cause);
    return found;
}
