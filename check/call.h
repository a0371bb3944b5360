/// Calls of a game's functions that survive a crash of theirs, and bytes around their output.
#pragma once

#include "check/faults.h"
#include "hindcast/scene.h"

/// The output of a step, or of another function of a game.
struct hc_ck_result {
    int signal;  ///< that ended the call; 0: none
    bool alive;  ///< the function's own result
    bool inside; ///< nothing was written outside of the output
    uint8_t bytes[HC_STATE_MAX];
};

/// Catches the signals of crashes for the rest of the process.
void hc_ck_call_begin(void);

/// Calls a function, such as one that calls the game. Returns the signal that ended it, or 0.
int hc_ck_call_guarded(void (*function)(void *context), void *context);

/// Calls the step of `self`. Its output is of `pattern` in every byte before.
void hc_ck_call_step(struct hc_scene *scene, hc_entity self, uint8_t pattern,
                     struct hc_ck_result *result);

/// Calls `step_run` for `count` slots from `first` on. Every byte of `out`, of count * stride
/// bytes, and of `presence` is of `pattern` before. Returns the signal that ended the call, or 0;
/// sets
/// `*done` to the function's own result.
int hc_ck_call_run(struct hc_scene *scene, hc_entity first, uint32_t count, uint8_t pattern,
                   uint8_t *out, uint8_t *presence, bool *done);

/// Calls `start`, whose output is zeroed.
void hc_ck_call_start(const struct hc_world *world, hc_entity self, struct hc_ck_result *result);

/// Calls `predict_input` for `last`, into output of `pattern`.
void hc_ck_call_predict(const struct hc_game *game, const void *last, uint32_t age, uint8_t pattern,
                        struct hc_ck_result *result);

/// Calls `sanitize_input` for a copy of `input`.
void hc_ck_call_sanitize(const struct hc_game *game, const void *input,
                         struct hc_ck_result *result);
