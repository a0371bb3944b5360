/// The keys of --press: their names, separated by commas, are pressed and released one after
/// another, as a person would.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Whether SDL knows all keys of `text`, such as "F3,Left Shift+F7,Space". False: `why` is a
/// sentence.
bool hc_cl_presses_check(const char *text, char *why, size_t why_size);

/// Puts the press and the release of the first key of `*text` into SDL's queue, and moves `*text`
/// behind it. Nothing at the end, or if `*text` is NULL.
void hc_cl_presses_push(const char **text);
