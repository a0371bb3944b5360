/// The commands of hindcastd that start no server: `hindcastd config`, `hindcastd key`, `hindcastd
/// token` and `hindcastd protocol-id`.
#pragma once

#include <stdbool.h>

/// Runs the command that the first argument names, and sets `*status` to the exit status of the
/// program. False: the first argument is no command.
bool hc_sv_commands_run(int argc, char **argv, int *status);
