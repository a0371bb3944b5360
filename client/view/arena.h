/// The drawing of the bundled game.
#pragma once

#include "hindcast/drawing.h"

extern const struct hc_drawing hc_cl_arena_drawing;
