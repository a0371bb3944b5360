/// UDP sockets that many light clients share, because one system call can then serve many of them.
///
/// Towards a server on loopback each client has an address of its own, 127.x.y.z, on a shared
/// socket: IP_PKTINFO selects the source of a sent datagram, and names the destination of a
/// received one. With fewer sources than clients more sockets share the addresses. Towards other
/// servers each client has a socket of its own.
#pragma once

#include "client/programs/follow.h"
#include "proto/datagram.h"

#include <stdbool.h>

struct hc_cl_sockets;

/// Counts of all clients since the sockets were opened.
struct hc_cl_sockets_stats {
    uint64_t send_errors; ///< datagrams that the kernel refused to send
    uint64_t dropped;     ///< datagrams dropped unread because a receive buffer was full
};

/// Called with each received datagram, borrowed; `client` is in [0, count). A `size` of
/// HC_DATAGRAM_MAX + 1 shows that it was longer.
typedef void hc_cl_sockets_receiver(void *context, uint32_t client, const uint8_t *bytes,
                                    size_t size);

/// Whether the server is on this machine's loopback.
bool hc_cl_sockets_is_loopback(const struct hc_cl_udp_peer *server);

/// Sets the receive buffer and the path MTU discovery of a UDP socket. It works without: a kernel
/// may refuse some, such as an IPv4 option on an IPv6 socket.
void hc_cl_sockets_set_options(int descriptor);

/// Raises the limit of descriptors for a socket of each client. If it stays too low, opening a
/// socket fails.
void hc_cl_sockets_raise_limit(uint32_t clients);

/// The datagrams that a socket has dropped unread since it was opened, because its receive buffer
/// was full.
uint64_t hc_cl_sockets_dropped(int descriptor);

/// Opens sockets for `count` clients, of which the first has the number `first` in the whole run,
/// with `sources` source addresses, >= 1. NULL: failed, and `why` is a sentence.
struct hc_cl_sockets *hc_cl_sockets_open(const struct hc_cl_udp_peer *server, uint32_t first,
                                         uint32_t count, uint32_t sources, char *why,
                                         size_t why_size);

/// Closes them; NULL is allowed.
void hc_cl_sockets_close(struct hc_cl_sockets *sockets);

/// Reads everything that has arrived. Datagrams of others than the server are dropped.
void hc_cl_sockets_receive(struct hc_cl_sockets *sockets, hc_cl_sockets_receiver *receiver,
                           void *context);

/// Queues a datagram of `client` of at most HC_DATAGRAM_MAX bytes, copied.
void hc_cl_sockets_send(struct hc_cl_sockets *sockets, uint32_t client, const uint8_t *bytes,
                        size_t size);

/// Sends all queued datagrams.
void hc_cl_sockets_flush(struct hc_cl_sockets *sockets);

/// The counts so far.
struct hc_cl_sockets_stats hc_cl_sockets_stats(const struct hc_cl_sockets *sockets);
