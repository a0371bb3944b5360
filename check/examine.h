/// The examination of single steps: each is taken several times, under conditions that must not
/// change its result.
#pragma once

#include "check/call.h"
#include "hindcast/rng.h"

struct hc_ck_examiner;

/// An examiner of the steps in `world`, which reports to `faults`; both are borrowed. NULL: no
/// memory.
struct hc_ck_examiner *hc_ck_examiner_create(const struct hc_world *world,
                                             struct hc_ck_faults *faults, uint64_t seed);

/// Frees it; NULL is allowed.
void hc_ck_examiner_destroy(struct hc_ck_examiner *examiner);

/// Examines the step of `self` and writes its result to `out`: a hc_plain_stepper, whose `context`
/// is the examiner. All entities are known.
bool hc_ck_examine(void *context, struct hc_scene *scene, hc_entity self, void *out);

/// Whether a step has crashed: the history ends there, because no state follows.
bool hc_ck_examiner_crashed(const struct hc_ck_examiner *examiner);

/// The number of examined steps.
uint64_t hc_ck_examiner_steps(const struct hc_ck_examiner *examiner);
