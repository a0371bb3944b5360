/// The last words of a program that crashes: the signal, and the function and line.
#pragma once

#include <stdbool.h>

/// From now on a crash writes a line to standard error before it ends the process as ever. It
/// begins with the name of the program, or is an object if `json`. A place in the file of `game`, a
/// symbol of it, is told rather than others.
void hc_crash_watch(const char *program, const void *game, bool json);

/// Puts `text` (borrowed for ever) before the line, such as a priority for the journal of systemd.
void hc_crash_begin_with(const char *text);

/// Gives this thread a stack for it until it ends, because a crash may have used up its own. At
/// most once.
void hc_crash_watch_thread(void);
