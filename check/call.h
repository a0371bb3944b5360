/// Calls of a game's functions that survive a crash or an endless loop of theirs, and bytes around
/// their output.
#pragma once

#include "check/faults.h"
#include "common/programs/guard.h"
#include "hindcast/scene.h"

/// The output of a step, or of another function of a game.
struct hc_ck_result {
    struct hc_guard_end end; ///< how the call ended; signal 0: it returned
    bool alive;              ///< the function's own result
    bool inside;             ///< nothing was written outside of the output
    bool refused;            ///< the function emitted an event that the tables do not allow
    uint8_t event_count;
    hc_game_event events[HC_EMITTED_MAX]; ///< events that the function emitted
    uint8_t bytes[HC_STATE_MAX];
};

/// Catches the signals of crashes for the rest of the process, and ends calls that last too long: 2
/// s of processor time for a function of the game. After such a one, which is added to `faults`,
/// `give_up` is called, because others would last as long; it must not return. See guard.h.
void hc_ck_call_begin(struct hc_ck_faults *faults, void (*give_up)(void *context), void *context);

/// The end of a sentence about a call that did not return. Another call of this overwrites it.
const char *hc_ck_ending(const struct hc_guard_end *end);

/// Adds the fault that a call did not return: a sentence that begins as formatted, as by printf.
/// Only the first one in each place of the game counts.
__attribute__((format(printf, 3, 4))) void
hc_ck_crash(struct hc_ck_faults *faults, const struct hc_guard_end *end, const char *format, ...);

/// Calls a function, such as one that calls the game, for at most `most_s` seconds of processor
/// time. `name` begins a sentence about it. Sets `end`; false: it did not return.
bool hc_ck_call_guarded(void (*function)(void *context), void *context, unsigned most_s,
                        const char *name, struct hc_guard_end *end);

/// Calls the step of `self`. Its output is of `pattern` in every byte before.
void hc_ck_call_step(struct hc_scene *scene, hc_entity self, uint8_t pattern,
                     struct hc_ck_result *result);

/// Calls `step_run` for `count` slots from `first` on. Every byte of `out`, of count * stride
/// bytes, and of `presence` is of `pattern` before. Sets `end`. Returns the function's own result;
/// false if the call did not return.
bool hc_ck_call_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t pattern,
                    uint8_t *out, uint8_t *presence, struct hc_guard_end *end);

/// Calls `start`, whose output is zeroed.
void hc_ck_call_start(const struct hc_world *world, hc_entity self, struct hc_ck_result *result);

/// Calls `predict_input` for `last`, into output of `pattern`.
void hc_ck_call_predict(const struct hc_game *game, const void *last, uint32_t age, uint8_t pattern,
                        struct hc_ck_result *result);

/// Calls `hides` for copies of the states, with bytes of `pattern` around them. The result is alive
/// if the entity is hidden, and inside if the copies are unchanged.
void hc_ck_call_hides(const struct hc_world *world, hc_entity viewer, const void *viewer_state,
                      hc_entity other, const void *other_state, uint8_t pattern,
                      struct hc_ck_result *result);

/// Calls `sanitize_input` for a copy of `input`.
void hc_ck_call_sanitize(const struct hc_game *game, const void *input,
                         struct hc_ck_result *result);
