/// The counters of a client's link, each said once; hindcast/counter.h describes the list. Keys are
/// those of a report.
#pragma once

#include "hindcast/counter.h"

/// Of hc_cl_udp_stats: the clients' sockets and simulated links.
#define HC_CL_UDP_COUNTERS(X)                                                                      \
    X(datagrams_in, SUM, "datagrams", "link.datagrams_received",                                   \
      "Datagrams that came to the clients' sockets, before the simulated link.")                   \
    X(bytes_in, SUM, "bytes", "link.bytes_received", "Bytes of these, without headers.")           \
    X(datagrams_out, SUM, "datagrams", "link.datagrams_sent",                                      \
      "Datagrams that the clients sent, before the simulated link.")                               \
    X(bytes_out, SUM, "bytes", "link.bytes_sent", "Bytes of these, without headers.")              \
    X(send_errors, SUM, "datagrams", "link.send_errors",                                           \
      "Datagrams that the kernel refused to send.")                                                \
    X(refused, SUM, "datagrams", "link.refused",                                                   \
      "Reports from the network that no program listens at the server's address.")                 \
    X(too_long, SUM, "datagrams", "link.too_long",                                                 \
      "Datagrams refused as too long, by the kernel or by a report from the network.")             \
    X(sim_lost, SUM, "datagrams", "link.lost", "Datagrams that the simulated link lost.")          \
    X(sim_lost_down, SUM, "datagrams", "link.lost_down",                                           \
      "Datagrams to the clients that the simulated link lost, or dropped because it or its "       \
      "queue was full.")                                                                           \
    X(sim_dropped_queue, SUM, "datagrams", "link.dropped_queue",                                   \
      "Datagrams that the simulated link dropped because the queue for its bandwidth was full.")   \
    X(sim_dropped_full, SUM, "datagrams", "link.dropped_full",                                     \
      "Datagrams that the simulated link dropped because it was full: it was not as configured.")
