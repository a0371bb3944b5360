/// The body of hindcast-view, from the command line to the exit status.
#pragma once

/// Runs the program of this version and returns its exit status.
int hc_cl_view_run(const char *version, int argc, char **argv);
