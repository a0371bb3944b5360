/// One client's UDP socket, connected to its server, or its place on shared sockets, with a network
/// simulation in each direction.
///
/// A datagram from the client passes through the simulation up and then the socket; a datagram from
/// the socket passes through the simulation down and then to the client. Without conditions a
/// simulation delays and drops nothing.
#pragma once

#include "client/programs/counters.h"
#include "client/programs/sockets.h"
#include "hindcast/network_sim.h"
#include "proto/datagram.h"

#include <stdbool.h>

struct hc_cl_udp;

/// The counts of a client's socket and its simulations.
struct hc_cl_udp_stats {
    HC_CL_UDP_COUNTERS(HC_COUNTER_MEMBER)
};

/// Opens a socket for `server`, with network simulations of this `seed`. NULL: failed, and `why` is
/// a sentence.
struct hc_cl_udp *hc_cl_udp_open(const struct hc_cl_udp_peer *server,
                                 const struct hc_network_sim_config *config, uint64_t seed,
                                 char *why, size_t why_size);

/// Makes `client` of shared sockets, which are borrowed, the transport instead of a socket of its
/// own. NULL: failed, and `why` is a sentence.
struct hc_cl_udp *hc_cl_udp_share(struct hc_cl_sockets *sockets, uint32_t client,
                                  const struct hc_network_sim_config *config, uint64_t seed,
                                  char *why, size_t why_size);

/// Changes the conditions of both directions at `now_us`, for datagrams sent from then on. The
/// simulations keep the room for datagrams in flight that they were opened with: more of them are
/// dropped.
void hc_cl_udp_set_link(struct hc_cl_udp *udp, const struct hc_network_sim_config *up,
                        const struct hc_network_sim_config *down, uint64_t now_us);

/// Closes it and drops datagrams in flight; NULL is allowed.
void hc_cl_udp_close(struct hc_cl_udp *udp);

/// The descriptor, to wait on; not on shared sockets.
int hc_cl_udp_descriptor(const struct hc_cl_udp *udp);

/// Moves all received datagrams from the socket into the simulation down; not on shared sockets.
void hc_cl_udp_receive(struct hc_cl_udp *udp, uint64_t now_us);

/// Puts a datagram that arrived on shared sockets into the simulation down.
void hc_cl_udp_put(struct hc_cl_udp *udp, const uint8_t *bytes, size_t size, uint64_t now_us);

/// Takes the next datagram that leaves the simulation down and returns its size, HC_DATAGRAM_MAX +
/// 1 for a longer one; -1: none is due.
int hc_cl_udp_take(struct hc_cl_udp *udp, uint8_t out[static HC_DATAGRAM_MAX + 1], uint64_t now_us);

/// Sends a datagram into the simulation up.
void hc_cl_udp_send(struct hc_cl_udp *udp, const uint8_t *bytes, size_t size, uint64_t now_us);

/// Sends the datagrams that leave the simulation up, or queues them on shared sockets.
void hc_cl_udp_flush(struct hc_cl_udp *udp, uint64_t now_us);

/// When a datagram leaves a simulation next; UINT64_MAX: both are empty.
uint64_t hc_cl_udp_deadline(const struct hc_cl_udp *udp);

/// Whether the simulation up is empty.
bool hc_cl_udp_idle(const struct hc_cl_udp *udp);

/// Asks the processor to load what the next call uses.
void hc_cl_udp_prefetch(const struct hc_cl_udp *udp);

/// The datagrams that its socket has dropped unread; 0 on shared sockets.
uint64_t hc_cl_udp_dropped(const struct hc_cl_udp *udp);

/// Counts since it was opened.
struct hc_cl_udp_stats hc_cl_udp_stats(const struct hc_cl_udp *udp);
