/// The server's UDP socket: many peers on one descriptor, in batches.
#pragma once

#include "proto/address.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_SV_UDP_BATCH = 64 }; ///< datagrams of one system call

struct hc_sv_udp;

/// What the socket has seen.
struct hc_sv_udp_stats {
    uint64_t send_errors;   ///< datagrams that the system would not take
    uint64_t receive_drops; ///< datagrams that found the receive buffer full
};

/// A non-blocking socket, bound to the numeric address `bind` and `port` (0: any); "::" takes IPv4
/// as well, and falls back to IPv4 alone where the system has no IPv6. NULL: it cannot be had, and
/// `why` says why.
struct hc_sv_udp *hc_sv_udp_open(const char *bind, uint16_t port, char *why, size_t why_size);

/// Closes it; NULL is allowed.
void hc_sv_udp_close(struct hc_sv_udp *udp);

/// The descriptor, to wait on.
int hc_sv_udp_descriptor(const struct hc_sv_udp *udp);

/// Where it is bound to.
struct hc_address hc_sv_udp_address(const struct hc_sv_udp *udp);

/// Bytes of the receive buffer that the system granted.
unsigned hc_sv_udp_receive_buffer(const struct hc_sv_udp *udp);

/// Takes up to HC_SV_UDP_BATCH datagrams; they are read with hc_sv_udp_received until the next
/// call. Returns how many; 0: none are there.
unsigned hc_sv_udp_receive(struct hc_sv_udp *udp);

/// Datagram `index` of the last batch. One longer than HC_DATAGRAM_MAX has a `size` above it.
const uint8_t *hc_sv_udp_received(const struct hc_sv_udp *udp, unsigned index,
                                  struct hc_address *from, size_t *size);

/// Room of HC_DATAGRAM_MAX bytes for the next datagram to send.
uint8_t *hc_sv_udp_room(struct hc_sv_udp *udp);

/// The room now holds `size` bytes for `to`; a full batch is sent at once.
void hc_sv_udp_queue(struct hc_sv_udp *udp, const struct hc_address *to, size_t size);

/// Sends what is queued. What the system refuses is dropped, as a network would, and counted.
void hc_sv_udp_flush(struct hc_sv_udp *udp);

/// What has happened since it was opened.
struct hc_sv_udp_stats hc_sv_udp_stats(const struct hc_sv_udp *udp);
