/// Overload: what a server leaves out while its work takes too much of the time, so that its ticks
/// stay in time.
///
/// The work of each quarter of a second determines the level. A level is raised when two in a row
/// take too much of the time, or at once when one takes nearly all of it, as far as the snapshots
/// that it leaves out should suffice: a single burst leaves the ticks in time. A lower level is
/// chosen when the work that it expects is small for several quarters in a row, and for more of
/// them each time that proves too early. Rewinds that take too much of the time shorten how far
/// inputs may be late.
///
/// Before anything is left out, snapshots become cheaper: with more than a moderate load the values
/// in them are extrapolated linearly and no longer by steps, which takes about half of the time and
/// more bytes. The window after that decides whether anything is left out besides.
///
/// Calls belong in this order: hc_sv_overload_init; at each tick hc_sv_overload_tick; after each
/// piece of work hc_sv_overload_split and hc_sv_overload_note; any query.
#pragma once

#include "hindcast/server.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_OVERLOAD_WINDOW_US = 250000, ///< of the work that determines the level
    HC_SV_OVERLOAD_RAISE = 750,        ///< permille of the time; above it two windows raise a level
    HC_SV_OVERLOAD_URGENT = 950,       ///< permille above which a level is raised at once
    HC_SV_OVERLOAD_AIM = 650,          ///< permille that the next level should reach
    HC_SV_OVERLOAD_LOWER = 650,        ///< permille that a lower level must not exceed
    HC_SV_OVERLOAD_LINEAR = 350,       ///< permille above which snapshots become linear
    HC_SV_OVERLOAD_STEPS = 120,        ///< permille below which snapshots are no longer linear
    HC_SV_OVERLOAD_REWINDS = 400,      ///< permille of rewinds, above which inputs may be less late
    HC_SV_OVERLOAD_WAIT = 2,           ///< windows before a level is lowered, at first
    HC_SV_OVERLOAD_WAIT_MAX = 5,       ///< windows before a level is lowered, at most
    HC_SV_OVERLOAD_HELPLESS =
        4,                      ///< windows before new clients are refused: a storm of joins passes
    HC_SV_OVERLOAD_SETTLE = 16, ///< windows after which a lowered level was right
    HC_SV_OVERLOAD_LATE_MIN = 16, ///< ticks that inputs may be late under any load
};

/// Time taken, us.
struct hc_sv_work {
    uint64_t send_us;   ///< by making and sending snapshots
    uint64_t rewind_us; ///< by rewinds
    uint64_t other_us;  ///< by everything else
};

struct hc_sv_overload {
    enum hc_server_overload_level level;
    bool linear;            ///< snapshots extrapolate linearly at best
    uint32_t history;       ///< ticks that inputs may be late without any load
    uint32_t late_most;     ///< ticks that inputs may be late now
    uint32_t late_target;   ///< `late_most` rises to it by a tick each tick
    uint32_t near, far;     ///< clients of the newest tick; far ones include the idle
    struct hc_sv_work work; ///< of the present window
    uint64_t begun_us;      ///< of the window; 0: none yet
    bool strained;          ///< the window before took more than HC_SV_OVERLOAD_RAISE
    uint32_t calm;          ///< windows in a row after which a lower level would do
    uint32_t calm_rewinds;  ///< windows in a row with few rewinds
    uint32_t calm_linear;   ///< windows in a row after which snapshots by steps would do
    uint32_t helpless;      ///< windows in a row in which the fewest snapshots were too many
    uint32_t wait;          ///< windows before a level is lowered
    uint32_t settled;       ///< windows since a level was lowered
    uint64_t steps;         ///< entities that the timeline had stepped at the last split
    uint64_t again;         ///< entities that it had stepped once more then
};

/// Begins without any load. `history`: ticks that inputs may be late.
void hc_sv_overload_init(struct hc_sv_overload *overload, uint32_t history);

/// A tick begins with `near` and `far` clients that play.
void hc_sv_overload_tick(struct hc_sv_overload *overload, uint32_t near, uint32_t far);

/// The work of advances that took `advance_us` since the last call, when the timeline had stepped
/// `steps` and `again` entities, at all and once more.
struct hc_sv_work hc_sv_overload_split(struct hc_sv_overload *overload, uint64_t steps,
                                       uint64_t again, uint64_t advance_us);

/// Counts work that ended at `now_us`; at the end of a window the level follows.
void hc_sv_overload_note(struct hc_sv_overload *overload, const struct hc_sv_work *work,
                         uint64_t now_us);

/// One in so many of its snapshots is sent to a client.
uint8_t hc_sv_overload_every(const struct hc_sv_overload *overload, bool far);
