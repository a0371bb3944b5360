/// The commands of hindcastd that start no server: `hindcastd key`, `hindcastd token` and
/// `hindcastd protocol-id`.
#pragma once

#include <stdbool.h>

/// Whether the first argument is such a command; then it is run, and `*status` is what the program
/// exits with.
bool hc_sv_commands_run(int argc, char **argv, int *status);
