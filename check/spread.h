/// The comparison of timelines with the record: what late inputs change must be what a simulation
/// from scratch gives.
#pragma once

#include "check/faults.h"
#include "hindcast/rng.h"

/// Plays a history of `ticks` ticks with joins, leaves, late and missing inputs in a selective
/// timeline, a full one and the record of check/history.h. Reports the first difference to
/// `faults`. False: no memory.
bool hc_ck_spread(const struct hc_world *world, struct hc_ck_faults *faults, struct hc_rng *rng,
                  uint32_t ticks);
