/// Chooses a level by the work that it should take.
#include "server/overload.h"

#include "common/elapsed.h"

#include "hindcast/check.h"
#include "server/replication/cadence.h"

/// A client is sent one in so many of its snapshots: [level][far]. Each divides TWELFTHS, and lets
/// clients share bases, see hc_sv_overload_init.
static const uint8_t divisors[HC_SERVER_OVERLOAD_LEVELS][2] = {{1, 1}, {1, 2}, {1, 4},
                                                               {2, 4}, {3, 6}, {3, 6}};

enum { TWELFTHS = 12 }; ///< of a tick's snapshot

void hc_sv_overload_init(struct hc_sv_overload *overload, uint32_t history) {
    for (unsigned i = 0; i < 2 * HC_SERVER_OVERLOAD_LEVELS; i++) {
        uint8_t every = divisors[i / 2][i % 2];
        HC_ASSERT(TWELFTHS % every == 0 && hc_sv_cadence_shares_bases(every));
    }
    *overload = (struct hc_sv_overload){.history = history,
                                        .late_most = history,
                                        .late_target = history,
                                        .wait = HC_SV_OVERLOAD_WAIT,
                                        .settled = HC_SV_OVERLOAD_SETTLE};
}

void hc_sv_overload_tick(struct hc_sv_overload *overload, uint32_t near, uint32_t far) {
    overload->near = near;
    overload->far = far;
    // So the oldest tick of which inputs are accepted never goes back.
    overload->late_most += overload->late_most < overload->late_target;
}

/// Snapshots of a level, in twelfths of a tick's.
static uint64_t snapshots_of(const struct hc_sv_overload *overload,
                             enum hc_server_overload_level level) {
    return (uint64_t)overload->near * TWELFTHS / divisors[level][0] +
           (uint64_t)overload->far * TWELFTHS / divisors[level][1];
}

/// The work that another level would have taken in the window.
static uint64_t expected_us(const struct hc_sv_overload *overload,
                            enum hc_server_overload_level level) {
    uint64_t now = snapshots_of(overload, overload->level);
    uint64_t send_us = overload->work.send_us;
    if (now > 0)
        send_us = send_us * snapshots_of(overload, level) / now;
    return overload->work.other_us + overload->work.rewind_us + send_us;
}

/// The lowest level in [from, to] that should take at most `most_us`; `to` if none does.
static enum hc_server_overload_level lowest(const struct hc_sv_overload *overload,
                                            enum hc_server_overload_level from,
                                            enum hc_server_overload_level to, uint64_t most_us) {
    enum hc_server_overload_level level = from;
    while (level < to && expected_us(overload, level) > most_us)
        level++;
    return level;
}

static void raise(struct hc_sv_overload *overload, uint64_t window_us) {
    enum hc_server_overload_level most = overload->level < HC_SERVER_OVERLOAD_THIRD
                                             ? HC_SERVER_OVERLOAD_THIRD
                                             : HC_SERVER_OVERLOAD_REFUSE;
    overload->helpless += overload->level >= HC_SERVER_OVERLOAD_THIRD;
    if (overload->level == HC_SERVER_OVERLOAD_REFUSE ||
        (most == HC_SERVER_OVERLOAD_REFUSE && overload->helpless < HC_SV_OVERLOAD_HELPLESS))
        return;
    if (overload->settled < HC_SV_OVERLOAD_SETTLE && overload->wait < HC_SV_OVERLOAD_WAIT_MAX)
        overload->wait++; // it was lowered too early
    overload->level =
        lowest(overload, overload->level + 1, most, window_us * HC_SV_OVERLOAD_AIM / 1000);
}

static void lower(struct hc_sv_overload *overload, uint64_t window_us) {
    overload->helpless = 0;
    enum hc_server_overload_level level = lowest(overload, HC_SERVER_OVERLOAD_NONE, overload->level,
                                                 window_us * HC_SV_OVERLOAD_LOWER / 1000);
    overload->calm = level < overload->level ? overload->calm + 1 : 0;
    if (overload->calm < overload->wait)
        return;
    overload->level = level;
    overload->calm = 0;
    overload->settled = 0;
}

/// Chooses the extrapolation of snapshots. Returns whether they have become linear: then nothing is
/// known yet of the work that they take.
static bool choose_extrapolation(struct hc_sv_overload *overload, uint64_t work_us,
                                 uint64_t window_us) {
    bool before = overload->linear, calm = work_us < window_us * HC_SV_OVERLOAD_STEPS / 1000;
    overload->calm_linear = calm ? overload->calm_linear + 1 : 0;
    if (work_us > window_us * HC_SV_OVERLOAD_LINEAR / 1000)
        overload->linear = true;
    else if (overload->calm_linear >= HC_SV_OVERLOAD_WAIT_MAX)
        overload->linear = false;
    return overload->linear && !before;
}

struct hc_sv_work hc_sv_overload_split(struct hc_sv_overload *overload, uint64_t steps,
                                       uint64_t again, uint64_t advance_us) {
    uint64_t new_again = again - overload->again;
    uint64_t all = steps - overload->steps + new_again;
    struct hc_sv_work work = {.rewind_us = all > 0 ? advance_us * new_again / all : 0};
    work.other_us = hc_since(work.rewind_us, advance_us);
    overload->steps = steps;
    overload->again = again;
    return work;
}

static void limit_rewinds(struct hc_sv_overload *overload, uint64_t window_us) {
    bool many = overload->work.rewind_us > window_us * HC_SV_OVERLOAD_REWINDS / 1000;
    overload->calm_rewinds = many ? 0 : overload->calm_rewinds + 1;
    if (many && overload->late_most > HC_SV_OVERLOAD_LATE_MIN) {
        uint32_t half = overload->late_most / 2;
        overload->late_most = half > HC_SV_OVERLOAD_LATE_MIN ? half : HC_SV_OVERLOAD_LATE_MIN;
        overload->late_target = overload->late_most;
    }
    if (overload->calm_rewinds >= HC_SV_OVERLOAD_WAIT_MAX)
        overload->late_target = overload->history;
}

void hc_sv_overload_note(struct hc_sv_overload *overload, const struct hc_sv_work *work,
                         uint64_t now_us) {
    if (overload->begun_us == 0) { // the work before has no known beginning
        overload->begun_us = now_us;
        return;
    }
    overload->work.send_us += work->send_us;
    overload->work.rewind_us += work->rewind_us;
    overload->work.other_us += work->other_us;
    uint64_t window_us = hc_since(overload->begun_us, now_us);
    if (window_us < HC_SV_OVERLOAD_WINDOW_US)
        return;
    limit_rewinds(overload, window_us);
    uint64_t work_us = expected_us(overload, overload->level);
    bool cheaper = choose_extrapolation(overload, work_us, window_us);
    overload->settled += overload->settled < HC_SV_OVERLOAD_SETTLE;
    if (overload->settled == HC_SV_OVERLOAD_SETTLE)
        overload->wait = HC_SV_OVERLOAD_WAIT;
    bool strained = !cheaper && work_us > window_us * HC_SV_OVERLOAD_RAISE / 1000;
    if (strained)
        overload->calm = 0;
    else
        lower(overload, window_us);
    if (strained && (overload->strained || work_us > window_us * HC_SV_OVERLOAD_URGENT / 1000))
        raise(overload, window_us);
    overload->strained = strained;
    overload->work = (struct hc_sv_work){.send_us = 0};
    overload->begun_us = now_us;
}

const char *hc_server_overload_text(enum hc_server_overload_level level) {
    static const char *const texts[HC_SERVER_OVERLOAD_LEVELS] = {
        "nothing is left out",
        "far and idle clients are sent half of their snapshots",
        "far and idle clients are sent a quarter of their snapshots",
        "all are sent half of their snapshots, far and idle clients a quarter",
        "all are sent a third of their snapshots, far and idle clients a sixth",
        "all are sent a third of their snapshots, and new clients are refused",
    };
    HC_ASSERT(level < HC_SERVER_OVERLOAD_LEVELS);
    return texts[level];
}

uint8_t hc_sv_overload_every(const struct hc_sv_overload *overload, bool far) {
    return divisors[overload->level][far];
}
