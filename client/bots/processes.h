/// A fleet spread over several processes, as one core drives only so many clients: each process has
/// an even share of them, and what they count is merged.
#pragma once

#include "client/bots/fleet.h"

/// The processes that use every core that this one may run on; no more than `clients`, at least 1.
uint32_t hc_cl_processes_default(uint32_t clients);

/// Plays as hc_cl_fleet_run, in `processes` processes, in [1, config->clients], into `*result`; one
/// is this process itself. `config` is for all clients: `first` and `count` are set here, and its
/// progress is called with the sum of all. False: it could not be done, or a process failed, and
/// `why` says why; what the others counted stands in `*result`.
bool hc_cl_processes_run(const struct hc_cl_fleet_config *config, uint32_t processes,
                         struct hc_cl_fleet_result *result, char *why, size_t why_size);
