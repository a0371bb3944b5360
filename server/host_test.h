/// The settings of a server that no program changes.
#pragma once

#include "hindcast/tick.h"

#include <stdbool.h>
#include <stdint.h>

/// Settings of a server that only tests change.
struct hc_sv_host_test {
    uint32_t future;            ///< inputs are accepted up to head + future; ticks
    hc_tick last_tick;          ///< after it the server shuts down; [1, HC_SNAPSHOT_TICK_MAX]
    uint32_t ticks_per_advance; ///< the most ticks of one call, to catch up after a stall
    bool show_head; ///< shows the head instead of T in every snapshot, as naive servers do
};
