/// Forged DATA: how many datagrams of one tick did not open, or were opened again as duplicates, by
/// where they came from and whose connection they named. From then on such a source's datagrams are
/// dropped before they are opened, until the next tick, so that a flood of them costs little and
/// delays nobody else's.
///
/// A client's own address is never dropped here, whoever else names its connection.
///
/// Calls belong in this order: hc_sv_forged_drops before a DATA is opened, hc_sv_forged_add if it
/// does not open, or is a duplicate that was opened; hc_sv_forged_renew at each tick.
#pragma once

#include "proto/address.h"
#include "proto/limits.h"

enum {
    HC_SV_FORGED_SOURCES = 1024, ///< counted apart; several may share a count
    HC_SV_FORGED_EACH = HC_FORGED_PER_SOURCE,
    HC_SV_FORGED_CONNECTION = HC_FORGED_PER_CONNECTION,
};

/// All zeros but for `seed`, which is random, is a tick without any.
struct hc_sv_forged {
    uint64_t seed;
    uint8_t counts[HC_SV_FORGED_SOURCES]; ///< of IPv4 addresses and IPv6 /64s; loopback with ports
};

/// Whether so many came from that source in this tick, or `named` of the connection from anywhere,
/// that another one is not opened.
bool hc_sv_forged_drops(const struct hc_sv_forged *forged, const struct hc_address *from,
                        uint32_t named);

/// One from there was opened in vain.
void hc_sv_forged_add(struct hc_sv_forged *forged, const struct hc_address *from);

/// Another tick begins.
void hc_sv_forged_renew(struct hc_sv_forged *forged);
