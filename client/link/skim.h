/// Snapshots for a client without a world, as of a load test: their headers and forced inputs.
///
/// Such a client reads no values. It acks snapshots that it has not decoded, and so the server
/// encodes the next ones against them, as for any client.
#pragma once

#include "proto/snapshot.h"

/// The beginning of a snapshot.
struct hc_cl_skimmed {
    struct hc_snapshot header;
    uint32_t forced_count;
    struct hc_snapshot_forced forced[HC_SNAPSHOT_FORCED_MAX]; ///< [forced_count]
};

/// Reads the beginning of the SNAPSHOT that is the present message of `body`, for a client of
/// `own_count` players. `near` is a tick within 32767 of its server tick. HC_MALFORMED, with `*out`
/// unspecified.
enum hc_status hc_cl_skim(const struct hc_body *body, hc_tick near, uint8_t own_count,
                          struct hc_cl_skimmed *out);
