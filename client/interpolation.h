/// The shown state: interpolated between recorded ticks, with corrections that fade, not pop.
///
/// Every entity has an error for each field, in 1/256 of a unit, which is added to the recorded
/// value and halves again and again. Around each change of the timeline's past:
///   1. hc_cl_interpolation_capture; 2. the change; 3. hc_cl_interpolation_correct, which puts the
///   difference of the state shown before and the one shown now into the errors: so nothing jumps.
/// Without corrections the errors are 0, and the shown state is exactly the recorded one.
#pragma once

#include "hindcast/client.h"

enum {
    HC_CL_INTERPOLATION_UNIT = 256,    ///< parts of a unit in shown values
    HC_CL_INTERPOLATION_WHOLE = 65536, ///< a fraction of a tick is in [0, this)
};

/// A moment between two recorded ticks.
struct hc_cl_interpolation_time {
    hc_tick tick;      ///< recorded; the next one too unless `fraction` is 0
    uint32_t fraction; ///< of the way to the next tick, in 1/HC_CL_INTERPOLATION_WHOLE
};

struct hc_cl_interpolation {
    const struct hc_world *world;
    uint32_t smoothing_us; ///< time in which an error halves; 0: no errors
    uint32_t width;        ///< the most fields of any kind
    int64_t *errors;       ///< [entities * width] at `since_us`
    uint64_t *since_us;    ///< [entities]

    // The state captured before a change.
    bool captured;
    struct hc_cl_interpolation_time time;
    uint8_t *presence[2]; ///< [entities] each, at time.tick and after
    uint8_t *states[2];   ///< [entities * stride] each
};

/// Lays it out from `base` (zeroed; NULL: only measures) and returns the bytes needed.
/// `world` is borrowed.
size_t hc_cl_interpolation_layout(struct hc_cl_interpolation *interpolation,
                                  const struct hc_world *world, uint32_t smoothing_us,
                                  uint8_t *base);

/// The time shown `elapsed_us` after the newest tick was due, with ticks `interval_us` apart: the
/// tick `offset` + 1 before it, plus the elapsed fraction. It rests at `offset` before it when no
/// newer tick comes, and is never before the oldest. The timeline must be started.
struct hc_cl_interpolation_time hc_cl_interpolation_at(const struct hc_timeline *timeline,
                                                       uint32_t offset, uint64_t elapsed_us,
                                                       uint64_t interval_us);

/// Copies the timeline's state at `time`.
void hc_cl_interpolation_capture(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 struct hc_cl_interpolation_time time);

/// Turns changes since the capture into errors; `time` is the time shown now. An entity pops that
/// is not alive in both, or would be off by more than its kind's teleport distance.
void hc_cl_interpolation_correct(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 struct hc_cl_interpolation_time time, uint64_t now_us);

/// Writes the fields of `entity` as it is drawn at `time`, which is the local `now_us`, in table
/// order and in 1/HC_CL_INTERPOLATION_UNIT. False, and nothing written: it is not alive.
bool hc_cl_interpolation_show(const struct hc_cl_interpolation *interpolation,
                              const struct hc_timeline *timeline,
                              struct hc_cl_interpolation_time time, uint64_t now_us,
                              hc_entity entity, int64_t fields[static HC_FIELDS_MAX]);

/// `error`, `elapsed_us` later: halved every `half_us` (> 0), and straight in between.
int64_t hc_cl_interpolation_decay(int64_t error, uint64_t elapsed_us, uint32_t half_us);
