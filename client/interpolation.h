/// What is shown: recorded ticks, interpolated, and corrections that fade instead of popping.
///
/// Every entity carries an error for each of its fields, in 1/256 of a unit, which is added to what
/// the timeline says and halves again and again. Around each change of the timeline's past:
///   1. hc_cl_interpolation_capture; 2. the change; 3. hc_cl_interpolation_correct, which puts what
///   was shown before less what would be shown now into the errors: so nothing jumps.
/// Without corrections the errors are 0, and what is shown is exactly what is recorded.
#pragma once

#include "hindcast/client.h"

enum {
    HC_CL_INTERPOLATION_UNIT = 256,    ///< of shown values
    HC_CL_INTERPOLATION_WHOLE = 65536, ///< a fraction of a tick is in [0, this)
};

/// A moment between two recorded ticks.
struct hc_cl_interpolation_time {
    hc_tick tick;      ///< recorded, and the one after too unless `fraction` is 0
    uint32_t fraction; ///< of the way to the next tick, in 1/HC_CL_INTERPOLATION_WHOLE
};

struct hc_cl_interpolation {
    const struct hc_world *world;
    uint32_t smoothing_us; ///< time in which an error halves; 0: there are none
    uint32_t width;        ///< the most fields of any kind
    int64_t *errors;       ///< [entities * width] at `since_us`
    uint64_t *since_us;    ///< [entities]

    // What was captured.
    bool captured;
    struct hc_cl_interpolation_time time;
    uint8_t *presence[2]; ///< [entities] each, at time.tick and after
    uint8_t *states[2];   ///< [entities * stride] each
};

/// Lays a view out from `base` (zeroed; NULL: only measures) and returns the bytes needed.
/// `world` is borrowed.
size_t hc_cl_interpolation_layout(struct hc_cl_interpolation *view, const struct hc_world *world,
                                  uint32_t smoothing_us, uint8_t *base);

/// What is shown `elapsed_us` after the newest tick was due, ticks being `interval_us` apart: the
/// tick `offset` + 1 before it, plus the fraction passed. Rests at `offset` before it when no newer
/// tick comes, and never lies before the oldest. The timeline must be started.
struct hc_cl_interpolation_time hc_cl_interpolation_at(const struct hc_timeline *timeline,
                                                       uint32_t offset, uint64_t elapsed_us,
                                                       uint64_t interval_us);

/// Remembers what the timeline says at `time`.
void hc_cl_interpolation_capture(struct hc_cl_interpolation *view,
                                 const struct hc_timeline *timeline,
                                 struct hc_cl_interpolation_time time);

/// Turns what has changed since the capture into errors; `time` is what is shown now. An entity
/// that is not alive in both, or would be off by more than its kind's teleport distance, pops.
void hc_cl_interpolation_correct(struct hc_cl_interpolation *view,
                                 const struct hc_timeline *timeline,
                                 struct hc_cl_interpolation_time time, uint64_t now_us);

/// How `entity` is drawn at `time`, which is the local `now_us`.
void hc_cl_interpolation_show(const struct hc_cl_interpolation *view,
                              const struct hc_timeline *timeline,
                              struct hc_cl_interpolation_time time, uint64_t now_us,
                              hc_entity entity, struct hc_client_shown *shown);

/// `error`, `elapsed_us` later: halved every `half_us` (> 0), and straight in between.
int64_t hc_cl_interpolation_decay(int64_t error, uint64_t elapsed_us, uint32_t half_us);
