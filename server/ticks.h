/// Runs the ticks of a server.
#pragma once

#include "server/state.h"

/// Whether the last tick that there is has been simulated.
bool hc_sv_ticks_are_over(const struct hc_server *server);

/// Whether the next tick is due.
bool hc_sv_ticks_are_due(const struct hc_server *server, uint64_t now_us);

/// Runs the next tick, and marks the snapshots that are due after it.
void hc_sv_ticks_run(struct hc_server *server, uint64_t now_us);

/// When the next tick is due; UINT64_MAX: there is none.
uint64_t hc_sv_ticks_deadline_us(const struct hc_server *server);
