/// The wall clock, for the expiry of tokens and for the log. It may step; ticks never read it.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Unix time in microseconds.
uint64_t hc_sv_wall_clock_us(void);

/// Writes the time as RFC 3339 in UTC with milliseconds: 24 characters and the end of the text.
void hc_sv_wall_clock_format(char *text, size_t size);
