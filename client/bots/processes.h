/// A fleet that is spread evenly over several processes, because one core drives only so many
/// clients. The first process merges their counts.
#pragma once

#include "client/bots/fleet.h"

/// The number of cores that this process may run on; at most `clients`, at least 1.
uint32_t hc_cl_processes_default(uint32_t clients);

/// Plays as hc_cl_fleet_run in `processes` processes, at most as many as clients, and writes
/// the counts to `*result`. One process is this process itself. `config` is for all clients: this
/// function sets the part of each process, and calls `progress` with the sum of all processes.
/// False: a process could not be started or failed, and `why` is a sentence; `*result` has the
/// counts of the others.
bool hc_cl_processes_run(const struct hc_cl_fleet_config *config, uint32_t processes,
                         struct hc_cl_fleet_result *result, char *why, size_t why_size);
