/// The output of another program, line by line.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/// A program that runs, and its output.
struct hc_lines {
    FILE *output;
    pid_t pid;
};

/// Starts the program `arguments[0]`, which is searched as a shell does; a NULL follows its
/// arguments. Its errors are dropped. False: it cannot be started.
bool hc_lines_open(struct hc_lines *lines, char *const arguments[]);

/// Reads the next line without its end to `line`, as far as it fits. False: there is none.
bool hc_lines_next(struct hc_lines *lines, char *line, size_t size);

/// Waits for the program. Returns whether it ended with status 0.
bool hc_lines_close(struct hc_lines *lines);
