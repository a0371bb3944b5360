/// Clients that the server's owner refuses: listed client_ids, and every session or token older
/// than a given time.
#pragma once

#include "hindcast/server.h"

#include <stdbool.h>
#include <stdint.h>

struct hc_sv_refused {
    uint64_t client_ids[HC_SERVER_REFUSED_MAX]; ///< the first `count`, ascending
    uint32_t count;
    uint64_t not_before_s; ///< older sessions and tokens are refused; Unix time, 0: none
};

/// Whether `client_id` is refused.
bool hc_sv_refused_has(const struct hc_sv_refused *refused, uint64_t client_id);
