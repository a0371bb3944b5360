/// The body of hindcast-view, from the command line to the exit status.
#pragma once

/// Runs the program and returns its exit status.
int hc_cl_view_run(int argc, char **argv);
