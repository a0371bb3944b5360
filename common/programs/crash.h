/// The last words of a program that crashes: the signal, and the function and line.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// From now on a crash writes a line to standard error before it ends the process as ever. It
/// begins with the name of the program, or is an object if `json`. A place in the file of `game`, a
/// symbol of it, is told rather than others.
void hc_crash_watch(const char *program, const void *game, bool json);

enum { HC_CRASH_FACTS_MAX = 8 };

/// A fact about the place of a crash.
struct hc_crash_fact {
    const char *name;
    const char *word; ///< its value; NULL: `number` is
    uint64_t number;
};

/// Lets a crash call both functions in its handler, so they may do only what is safe there:
/// `describes`, in the thread that crashed, writes facts for the line and returns their number;
/// `end` comes after it, before the line, whose search takes seconds.
void hc_crash_call(unsigned (*describes)(struct hc_crash_fact facts[static HC_CRASH_FACTS_MAX]),
                   void (*end)(void));

/// Puts `text` (borrowed for ever) before the line, such as a priority for the journal of systemd.
void hc_crash_begin_with(const char *text);

/// Gives this thread a stack for it until it ends, because a crash may have used up its own. At
/// most once.
void hc_crash_watch_thread(void);
