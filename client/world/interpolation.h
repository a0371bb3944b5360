/// The shown state: interpolated between recorded ticks, with corrections that fade, not pop.
///
/// Every entity has an error for each field, in 1/256 of a unit, which is added to the recorded
/// value and halves again and again. Around each change of the timeline's past:
///   1. hc_cl_interpolation_capture; 2. the change; 3. hc_cl_interpolation_correct, which puts the
///   difference of the state shown before and the one shown now into the errors: so nothing jumps.
/// An error ends where the entity teleports, or is not alive, on its way since: it is of the place
/// before. Without corrections the errors are 0, and the shown state is exactly the recorded one.
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

/// The moments at which the own players, what they own and the referee are shown, and all else.
struct hc_cl_interpolation_times {
    struct hc_cl_interpolation_time own, others;
};

struct hc_cl_interpolation {
    const struct hc_world *world;
    const hc_player *own; ///< [own_count] the own players; borrowed
    uint8_t own_count;
    uint32_t smoothing_us; ///< time in which an error halves; 0: no errors
    uint32_t width;        ///< the most fields of any kind
    int64_t *errors;       ///< [entities * width] at `since_us`
    uint64_t *since_us;    ///< [entities]
    hc_tick *since;        ///< [entities] shown tick of the errors; HC_NO_TICK: there are none

    // The state captured before a change.
    bool captured;
    struct hc_cl_interpolation_times times;
    uint8_t *presence[2]; ///< [entities] each, at the tick of its moment and after
    uint8_t *states[2];   ///< [entities * stride] each
};

/// Lays it out from `base` (zeroed; NULL: only measures) and returns the bytes needed.
/// `world` is borrowed.
size_t hc_cl_interpolation_layout(struct hc_cl_interpolation *interpolation,
                                  const struct hc_world *world, uint32_t smoothing_us,
                                  uint8_t *base);

/// The time shown at the `position` in simulated time: a tick before it, less an offset that
/// changes from `from` to `to`, at most by a tick, while the newest tick is shown; all in
/// 1/HC_CL_INTERPOLATION_WHOLE ticks. It rests at `to` before the newest when no newer tick comes,
/// and is never before the oldest. The timeline must be started.
struct hc_cl_interpolation_time hc_cl_interpolation_at(const struct hc_timeline *timeline,
                                                       int64_t from, int64_t to, int64_t position);

/// The time at which `entity` is shown.
struct hc_cl_interpolation_time
hc_cl_interpolation_time_of(const struct hc_cl_interpolation *interpolation,
                            const struct hc_cl_interpolation_times *times, hc_entity entity);

/// Copies the timeline's state at `times`.
void hc_cl_interpolation_capture(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 const struct hc_cl_interpolation_times *times);

/// Turns changes since the capture into errors; `times` are shown now. An entity pops that is not
/// alive in both, or would be off by more than its kind's teleport distance.
void hc_cl_interpolation_correct(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline,
                                 const struct hc_cl_interpolation_times *times, uint64_t now_us);

/// Writes the fields of `entity` as it is drawn at `times`, which are the local `now_us`, in table
/// order and in 1/HC_CL_INTERPOLATION_UNIT. False, and nothing written: it is not alive.
bool hc_cl_interpolation_show(const struct hc_cl_interpolation *interpolation,
                              const struct hc_timeline *timeline,
                              const struct hc_cl_interpolation_times *times, uint64_t now_us,
                              hc_entity entity, int64_t fields[static HC_FIELDS_MAX]);

/// Writes the world of two ticks, that of the own players and that of the others, over the captured
/// one, and sets `*presence` and `*states` to it.
void hc_cl_interpolation_compose(struct hc_cl_interpolation *interpolation,
                                 const struct hc_timeline *timeline, hc_tick own, hc_tick others,
                                 const uint8_t **presence, const uint8_t **states);

/// `error`, `elapsed_us` later: halved every `half_us` (> 0), and straight in between.
int64_t hc_cl_interpolation_decay(int64_t error, uint64_t elapsed_us, uint32_t half_us);
