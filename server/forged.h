/// Counts forged DATA datagrams by their source.
///
/// A source's count covers the datagrams of one tick that did not open, or that were opened again
/// as duplicates. When it reaches HC_FORGED_PER_SOURCE, the server drops the source's datagrams
/// unopened until the next tick, so a flood costs little and delays nobody else. The server counts
/// the same for each connection that they name, and never drops datagrams from a client's own
/// address here.
///
/// Calls in this order: hc_sv_forged_drops before a DATA is opened; hc_sv_forged_add if it did not
/// open, or is a duplicate that was opened; hc_sv_forged_renew at each tick.
#pragma once

#include "hindcast/address.h"
#include "proto/limits.h"

enum {
    HC_SV_FORGED_SOURCES = 1024, ///< counts; several sources may share one
};

/// All zeros but `seed`, which is random, is a tick without forged datagrams.
struct hc_sv_forged {
    uint64_t seed;
    uint8_t counts[HC_SV_FORGED_SOURCES]; ///< of IPv4 addresses and IPv6 /64s; loopback with ports
};

/// Returns whether to drop a datagram from `from` unopened. `named` is how many forged datagrams
/// named its connection in this tick.
bool hc_sv_forged_drops(const struct hc_sv_forged *forged, const struct hc_address *from,
                        uint32_t named);

/// Counts a forged datagram from `from`.
void hc_sv_forged_add(struct hc_sv_forged *forged, const struct hc_address *from);

/// Begins a tick: clears all counts.
void hc_sv_forged_renew(struct hc_sv_forged *forged);
