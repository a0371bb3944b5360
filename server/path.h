/// Validates the addresses that a client's datagrams come from.
#pragma once

#include "server/state.h"

/// The order of a DATA among those that were received before.
enum hc_sv_arrival { HC_SV_ARRIVAL_NEWEST, HC_SV_ARRIVAL_LATE, HC_SV_ARRIVAL_DUPLICATE };

/// Whether a duplicate with this seq may show an address of the peer, and must be opened.
bool hc_sv_path_wants_duplicate(const struct hc_sv_peer *peer, const struct hc_address *from,
                                uint32_t seq, uint64_t now_us);

/// A DATA of `size` bytes was received from an address.
void hc_sv_path_received(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from, uint32_t seq, size_t size,
                         enum hc_sv_arrival how, uint64_t now_us);

/// Copies a snapshot of the peer, `size` bytes at `bytes`, for the address that the peer still has
/// to validate, if the path's limit allows it.
void hc_sv_path_copy(struct hc_server *server, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size, uint64_t now_us);

/// The peer sent a PATH_RESPONSE from an address.
void hc_sv_path_response(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE],
                         uint64_t now_us);

/// Writes a PATH_CHALLENGE into `out` if one is due, and its address into `to`. Returns the
/// datagram's size; 0: none is due, or the address may not be sent so much.
size_t hc_sv_path_challenge(struct hc_sv_peer *peer, struct hc_address *to,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);
