/// Makes a failing plan smaller while it fails in the same way.
#pragma once

#include "tests/storm/plan.h"

/// Takes away clients, ticks, faults and oddities of `plan` as long as the same oracle fails; a
/// line to standard error for each that could go. At most `seconds` long. False: it does not fail
/// at all.
bool storm_shrink(struct storm_plan *plan, double seconds);
