/// Calls of a game's functions, which may crash or never return.
///
///   1. hc_guard_begin, once;
///   2. hc_guard_call for each call; the program goes on after one that a signal ended;
///   3. hc_guard_ending says what happened, and where;
///   4. hc_guard_end, if the rest of the process shall end by its crashes again.
///
/// From 1 to 4 one thread calls them, and the process leaves SIGALRM and the interval timer alone.
/// Other threads, such as those of a graphics driver, may run beside it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HC_GUARD_TEXT = 512 }; ///< bytes that hold the text of an end

/// The end of a call that did not return.
struct hc_guard_end {
    int signal;         ///< 0: the call returned; SIGALRM: it lasted too long
    const char *failed; ///< the assertion that failed last, of the program or the game; NULL: none
    const char *source; ///< the file of that assertion
    int line;           ///< of the assertion
    const void *place;  ///< in the game, see backtrace.h; NULL: unknown
};

/// Catches the signals of crashes, and tells assertions not to print.
void hc_guard_begin(void);

/// Takes back what hc_guard_begin has done.
void hc_guard_end(void);

/// Lets a place be looked for in the file of `symbol`, such as a plugin's hindcast_game. Without a
/// place there the innermost place is told.
void hc_guard_game(const void *symbol);

/// Takes back hc_guard_game, before the file is unloaded. A `symbol` of no such file is allowed.
void hc_guard_forget(const void *symbol);

/// Calls `function` for at most `most_s` seconds of processor time, and 60 s if it waits. Sets
/// `end`; false: the call did not return. What it had allocated or locked stays so.
bool hc_guard_call(void (*function)(void *context), void *context, unsigned most_s,
                   struct hc_guard_end *end);

/// Writes the end of a sentence about the last call that did not return to `text`, such as "ends by
/// signal 11 (Segmentation fault) in step_ball (pong.c:120)". Returns `text`.
const char *hc_guard_ending(const struct hc_guard_end *end, char text[HC_GUARD_TEXT]);
