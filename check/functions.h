/// The checks of a game's `start`, `predict_input` and `sanitize_input`.
#pragma once

#include "check/faults.h"
#include "hindcast/rng.h"

/// Calls them with random arguments, and reports to `faults`.
void hc_ck_functions(const struct hc_world *world, struct hc_ck_faults *faults, struct hc_rng *rng);
