/// The check of a game's `hides`, in the states of histories.
#pragma once

#include "check/faults.h"
#include "check/plain.h"
#include "hindcast/rng.h"

/// Asks for each player of the newest tick and an entity that `rng` draws, several times and with
/// other memory around the states. Reports an answer that is not a function of the arguments, or
/// other than that of `other`, a world of the game's other build (NULL: none).
void hc_ck_hides_tick(const struct hc_world *world, const struct hc_world *other,
                      const struct hc_plain *plain, struct hc_ck_faults *faults,
                      struct hc_rng *rng);
