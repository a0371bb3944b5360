/// Combining marks, which are drawn upon the character before them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether a character is a mark that takes no room of its own: of general category Mn or Me.
bool hc_is_mark(uint32_t point);
