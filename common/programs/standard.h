/// Standard input, output and error of a program.
#pragma once

#include <stdbool.h>
#include <stdio.h>

/// Opens those of the three that are closed, on /dev/null: otherwise the next files and sockets
/// would take their numbers, and output would go into them. The first call of a program.
void hc_standard_open(void);

/// Writes what `out` holds. False: something was not written, with a sentence on standard error
/// that begins with the name of the program.
bool hc_standard_flush(FILE *out, const char *program);
