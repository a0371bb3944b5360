/// What hindcast-bot and hindcast-load do from their command line to their exit status: the first
/// is the second without a server of its own.
#pragma once

#include "client/bots/options.h"

/// Runs the program; `version` is for --version and the report. Returns the exit status.
int hc_cl_program_run(enum hc_cl_options_program program, const char *version, int argc,
                      char **argv);
