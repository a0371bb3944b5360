/// The drawing of games that have none: a dot for each entity with a place.
#pragma once

#include "hindcast/drawing.h"

extern const struct hc_drawing hc_cl_dots_drawing;
