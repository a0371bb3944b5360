/// The body of hindcast-bot and hindcast-load, from the command line to the exit status: they
/// differ only in their options.
#pragma once

#include "client/programs/options.h"

/// Runs the program and returns its exit status. `version` is for the report.
int hc_cl_program_run(enum hc_cl_options_program program, const char *version, int argc,
                      char **argv);
