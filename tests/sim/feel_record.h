/// The screens of a match, recorded frame after frame, and compared with the final states.
///
/// Order of calls: hc_feel_record_create; for each frame hc_feel_record_frame, then
/// hc_feel_record_press for the keys that are pressed after it; hc_feel_record_final whenever the
/// host has ticked, and until all shown ticks are final; hc_feel_record_judge.
#pragma once

#include "tests/sim/feel_match.h"
#include "tests/sim/walkers.h"

enum { HC_FEEL_PRESSES_MAX = 64 };

/// A walker as a screen shows it in a frame.
struct hc_feel_sample {
    float x, y;        ///< Its place in pixels.
    hc_tick tick;      ///< The tick at which it is shown; HC_NO_TICK: it is not shown.
    uint16_t fraction; ///< The part of the way to the next tick, in 1/65536.
};

/// A walk: the key is down from one frame to another.
struct hc_feel_press {
    uint32_t down, up; ///< The frames after which it is pressed and released.
    uint32_t trigger;  ///< The frame after which the trigger is pulled.
    hc_tick head;      ///< The server's newest tick at the press.
    hc_tick fired;     ///< The server's newest tick when the trigger is pulled.
};

struct hc_feel_record {
    unsigned walkers; ///< The clients that are measured, and their players.
    uint32_t frames_max, frames;
    hc_tick first, final; ///< The final states are known from `first` to `final`.
    hc_tick ticks_max;
    struct hc_feel_sample *samples;                       ///< [walkers][walkers][frames_max]
    struct hc_walker *truth;                              ///< [walkers][ticks_max]
    struct hc_feel_press (*presses)[HC_FEEL_PRESSES_MAX]; ///< [walkers]
    uint32_t press_count[HC_FEEL_CLIENTS_MAX];
};

/// Records `walkers` clients for `frames` frames and up to `ticks` ticks from the newest final one
/// on. NULL: no memory.
struct hc_feel_record *hc_feel_record_create(struct hc_sim *sim, unsigned walkers, uint32_t frames,
                                             hc_tick ticks);
void hc_feel_record_destroy(struct hc_feel_record *record);

/// Samples all screens.
void hc_feel_record_frame(struct hc_feel_record *record, struct hc_sim *sim);

/// Notes a walk that begins after the newest frame; false: there were too many.
bool hc_feel_record_press(struct hc_feel_record *record, unsigned client,
                          const struct hc_feel_press *press);

/// Notes the states of ticks that became final.
void hc_feel_record_final(struct hc_feel_record *record, struct hc_sim *sim);

/// The frames from the trigger of a walker's shot at `tick` to the newest frame; false: none of its
/// triggers was pulled about then.
bool hc_feel_record_trigger(const struct hc_feel_record *record, unsigned walker, hc_tick tick,
                            uint32_t *frames);

/// Adds what was shown to the result.
void hc_feel_record_judge(const struct hc_feel_record *record, struct hc_feel_result *result);
