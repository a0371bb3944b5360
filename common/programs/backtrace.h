/// The place in a program: its function and, where a debugger would know it, its line.
///
/// A handler of a signal finds the place that the signal interrupted, and names it:
///
///     const void *places[HC_PLACES_MAX];
///     char name[HC_PLACE_TEXT];
///     unsigned count = hc_backtrace(places);
///     for (unsigned i = 0; i < count; i++)
///         hc_place_name(places[i], name, sizeof(name)); // "step_ball (pong.so+0x12f3)"
///
/// Outside of handlers hc_place_line says "step_ball (pong.c:120)". The functions of a plugin have
/// their names unless it was stripped, also the static ones.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    HC_PLACES_MAX = 32,  ///< places of the calls in progress
    HC_PLACE_TEXT = 256, ///< bytes that hold a place's text
};

/// Writes the places of the calls in progress, the innermost first. In a signal handler they begin
/// with the interrupted one. Returns their number, 0 where the machine has no tables of its calls.
/// A handler may call it, after a first call outside of one.
unsigned hc_backtrace(const void *places[HC_PLACES_MAX]);

/// The place of a function, which the caller casts to `void (*)(void)`.
static inline const void *hc_place_of(void (*function)(void)) {
    const void *place;
    _Static_assert(sizeof place == sizeof function, "a function has a place");
    memcpy(&place, &function, sizeof place);
    return place;
}

/// The start in memory of the program file or library that a place or a symbol belongs to; NULL:
/// none. Places of one file have the same.
const void *hc_place_file(const void *place);

/// Writes "FUNCTION (FILE+0xOFFSET)" to `text`, or "FILE+0xOFFSET" if the function has no name. The
/// offset is that of `addr2line -e FILE`. A handler may call it. Returns `text`.
const char *hc_place_name(const void *place, char *text, size_t size);

/// Writes "FUNCTION (SOURCE:LINE)" to `text`. It needs the file's debug information and the program
/// addr2line (of binutils), which it runs; without them it writes as hc_place_name. Of functions
/// that the compiler has merged it names the innermost that is no hc_ function. Not for handlers.
/// Returns `text`.
const char *hc_place_line(const void *place, char *text, size_t size);
