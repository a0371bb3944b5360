/// The drawing of each game: the arena's, that of a plugin of --drawing FILE, or dots.
#pragma once

#include "hindcast/drawing.h"

#include <stdbool.h>
#include <stddef.h>

/// Finds the drawing of `game`: that of the plugin `path`, which is loaded for the rest of the
/// process, or, with NULL, one that is built in. NULL: the plugin cannot be used, and `why` is a
/// sentence that names the option and the file.
const struct hc_drawing *hc_cl_drawings_find(const struct hc_game *game, const char *path,
                                             char *why, size_t why_size);
