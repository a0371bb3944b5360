/// One client's UDP socket, connected to its server, with a simulated link in each direction.
///
/// What the client sends goes into the link upwards and from there to the socket; what comes from
/// the socket goes into the link downwards and from there to the client. Without conditions both
/// links are wires.
#pragma once

#include "common/network_sim.h"
#include "proto/datagram.h"

#include <stdbool.h>
#include <sys/socket.h>

struct hc_cl_udp;

/// A server's address, as the system has it.
struct hc_cl_udp_peer {
    struct sockaddr_storage address;
    socklen_t length;
};

/// Datagrams as their senders sent them: before the link upwards, and before the one downwards.
struct hc_cl_udp_stats {
    uint64_t datagrams_in, bytes_in, datagrams_out, bytes_out;
    uint64_t send_errors;       ///< that the system would not take
    uint64_t too_long;          ///< that it, or a report from the network, called too long
    uint64_t link_lost;         ///< that the links dropped, as they were told to
    uint64_t link_dropped_full; ///< that the links had no room for: the link is not as told
};

/// The address that `host` (a name or a number) and `port` stand for; false, and `why` says why,
/// when there is none. May ask a name server.
bool hc_cl_udp_resolve(const char *host, const char *port, struct hc_cl_udp_peer *peer, char *why,
                       size_t why_size);

/// A socket for `server`, its links drawn from `seed`; NULL: it cannot be had, and `why` says why.
struct hc_cl_udp *hc_cl_udp_open(const struct hc_cl_udp_peer *server,
                                 const struct hc_network_sim_config *link, uint64_t seed, char *why,
                                 size_t why_size);

/// Closes it with what is in flight; NULL is allowed.
void hc_cl_udp_close(struct hc_cl_udp *udp);

/// The descriptor, to wait on.
int hc_cl_udp_descriptor(const struct hc_cl_udp *udp);

/// Moves all that waits in the socket into the link.
void hc_cl_udp_receive(struct hc_cl_udp *udp, uint64_t now_us);

/// Takes the next datagram that has come off the link; its size, which may be above
/// HC_DATAGRAM_MAX by one for a longer one, or -1: none is due.
int hc_cl_udp_take(struct hc_cl_udp *udp, uint8_t out[static HC_DATAGRAM_MAX + 1], uint64_t now_us);

/// Sends a datagram into the link.
void hc_cl_udp_send(struct hc_cl_udp *udp, const uint8_t *bytes, size_t size, uint64_t now_us);

/// Moves what is due in the link to the socket.
void hc_cl_udp_flush(struct hc_cl_udp *udp, uint64_t now_us);

/// When something comes off a link; UINT64_MAX: both are empty.
uint64_t hc_cl_udp_deadline(const struct hc_cl_udp *udp);

/// Whether everything that was sent has left.
bool hc_cl_udp_idle(const struct hc_cl_udp *udp);

/// What has happened since it was opened.
struct hc_cl_udp_stats hc_cl_udp_stats(const struct hc_cl_udp *udp);
