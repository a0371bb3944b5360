/// The drawing of each game: the arena's, that of a plugin of --drawing FILE, or dots.
#pragma once

#include "common/programs/library.h"
#include "hindcast/drawing.h"

#include <stdbool.h>
#include <stddef.h>

/// Finds the drawing of `game`: that of the plugin `path`, for which `*library` is opened, or, with
/// NULL, one that is built in. `anew`: of the file as it is now, see hc_library_open. NULL: the
/// plugin cannot be used, and `why` is a sentence that names the option and the file.
const struct hc_drawing *hc_cl_drawings_find(struct hc_library *library, const struct hc_game *game,
                                             const char *path, bool anew, char *why,
                                             size_t why_size);
