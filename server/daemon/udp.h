/// The server's UDP port: many peers, in batches, and what they send sorted by the system into
/// lanes.
///
/// Each lane is a socket with a receive buffer of its own, so that whatever fills one displaces
/// nothing of another, and what nobody has time to read costs nothing but its arrival. While the
/// port is shared by the lanes a program of the same user could share it, too.
#pragma once

#include "proto/address.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_SV_UDP_BATCH = 64 }; ///< datagrams of one system call

/// By the first byte of a datagram.
enum hc_sv_udp_lane {
    HC_SV_UDP_DATA,    ///< all there is where the system cannot sort
    HC_SV_UDP_CONNECT, ///< who has had an answer
    HC_SV_UDP_HELLO,   ///< and whatever is of no kind
    HC_SV_UDP_LANES
};

struct hc_sv_udp;

/// What the port has seen.
struct hc_sv_udp_stats {
    bool sorted;              ///< there is more than one lane
    uint64_t send_errors;     ///< datagrams that the system would not take
    uint64_t receive_drops;   ///< datagrams that found the receive buffer of DATA full, or were
                              ///< not DATA, though sent to all lanes
    uint64_t handshake_drops; ///< those of the other lanes: nobody had the time to read them
};

/// Non-blocking sockets, bound to the numeric address `bind` and `port` (0: any); "::" takes IPv4
/// as well, and falls back to IPv4 alone where the system has no IPv6. NULL: it cannot be had, for
/// instance because the port is another's, and `why` says why.
struct hc_sv_udp *hc_sv_udp_open(const char *bind, uint16_t port, char *why, size_t why_size);

/// Closes it; NULL is allowed.
void hc_sv_udp_close(struct hc_sv_udp *udp);

/// The descriptor of a lane, to wait on; -1: nothing comes there, for the system cannot sort.
int hc_sv_udp_descriptor(const struct hc_sv_udp *udp, enum hc_sv_udp_lane lane);

/// Where it is bound to.
struct hc_address hc_sv_udp_address(const struct hc_sv_udp *udp);

/// Bytes of each lane's receive buffer that the system granted.
unsigned hc_sv_udp_receive_buffer(const struct hc_sv_udp *udp);

/// Takes up to HC_SV_UDP_BATCH datagrams of a lane; they are read with hc_sv_udp_received until the
/// next call. Returns how many; 0: none are there.
unsigned hc_sv_udp_receive(struct hc_sv_udp *udp, enum hc_sv_udp_lane lane);

/// Datagram `index` of the last batch. One longer than HC_DATAGRAM_MAX has a `size` above it.
const uint8_t *hc_sv_udp_received(const struct hc_sv_udp *udp, unsigned index,
                                  struct hc_address *from, size_t *size);

/// Room of HC_DATAGRAM_MAX bytes for the next datagram to send.
uint8_t *hc_sv_udp_room(struct hc_sv_udp *udp);

/// The room now holds `size` bytes for `to`; a full batch is sent at once.
void hc_sv_udp_queue(struct hc_sv_udp *udp, const struct hc_address *to, size_t size);

/// Sends what is queued. What the system refuses is dropped, as a network would, and counted.
void hc_sv_udp_flush(struct hc_sv_udp *udp);

/// What has happened since it was opened. The system counts drops up to 2^32, so this is to be
/// asked more often than that many can occur.
struct hc_sv_udp_stats hc_sv_udp_stats(struct hc_sv_udp *udp);
