/// Owns the choice of a drawing.
#include "client/view/drawings.h"

#include "client/view/arena.h"
#include "client/view/dots.h"
#include "client/view/drawing_check.h"
#include "hindcast/arena.h"

#include <stdio.h>

/// Loads the drawing at `path`; NULL: `why` tells why not.
static const struct hc_drawing *load(struct hc_library *library, const char *path, bool anew,
                                     const struct hc_game *game, char *why, size_t why_size) {
    if (!hc_library_open(library, path, anew, why, why_size))
        return NULL;
    const struct hc_drawing *found = hc_library_find(library, "hindcast_drawing");
    if (found == NULL)
        snprintf(why, why_size, "it has no symbol hindcast_drawing, see hindcast/drawing.h");
    if (found != NULL && hc_cl_drawing_check(found, game, why, why_size))
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
        return game == &hc_arena ? &hc_cl_arena_drawing : &hc_cl_dots_drawing;
    const struct hc_drawing *found = load(library, path, anew, game, cause, sizeof(cause));
    if (found == NULL)
        snprintf(why, why_size, "--drawing '%s': %s", path, cause);
    return found;
}
