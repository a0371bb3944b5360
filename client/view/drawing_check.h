/// The check that a drawing was compiled for this program, and draws its game.
#pragma once

#include "hindcast/drawing.h"

/// Checks a drawing of `game`. False: `why` (`why_size` bytes) is the rest of a sentence that names
/// the fault.
bool hc_cl_drawing_check(const struct hc_drawing *drawing, const struct hc_game *game, char *why,
                         size_t why_size);
