/// The marks of common/mark.h by name, as this program was built with them.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { STORM_MARKS_MAX = 64 };

/// How many names there are; 0 in a build without marks.
unsigned storm_marks_count(void);

const char *storm_marks_name(unsigned mark);

/// Adds what this process has passed since the last call to `counts[STORM_MARKS_MAX]`.
void storm_marks_take(uint64_t *counts);

/// Prints each mark with its count; true when every one was passed.
bool storm_marks_print(const uint64_t *counts, FILE *out);
