/// The comparison of two builds of a game, such as with -O0 and -O3: all their results are equal.
#pragma once

#include "check/faults.h"
#include "check/plain.h"

struct hc_ck_builds;

/// A second simulation, of `other`, the world of the other build. Both are borrowed. NULL: no
/// memory.
struct hc_ck_builds *hc_ck_builds_create(const struct hc_world *other, struct hc_ck_faults *faults);

/// Frees it; NULL is allowed.
void hc_ck_builds_destroy(struct hc_ck_builds *builds);

/// Steps it with the inputs and the roster changes with which `plain` came to its tick, and reports
/// the first difference of all. Compares `sanitize_input` and `predict_input` for these inputs too.
void hc_ck_builds_step(struct hc_ck_builds *builds, const struct hc_world *world,
                       const struct hc_plain *plain, const uint8_t *inputs,
                       const uint8_t *roster_changes);
