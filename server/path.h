/// Validates the addresses that a client's datagrams come from.
#pragma once

#include "server/peer.h"

/// Writes a PATH_CHALLENGE into `out` if one is due, and its address into `to`. Returns the
/// datagram's size; 0: none is due, or the address may not be sent so much.
size_t hc_sv_path_challenge(struct hc_sv_peer *peer, struct hc_address *to,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);
