/// The counters of hindcast-bot and hindcast-load, each said once; hindcast/counter.h describes the
/// lists. Keys are those of a report.
#pragma once

#include "hindcast/counter.h"

/// Of hc_cl_fleet_ends: clients by how they ended.
#define HC_CL_ENDS_COUNTERS(X)                                                                     \
    X(accepted, SUM, "clients", "client.accepted", "Clients that were admitted.")                  \
    X(left, SUM, "clients", "client.left", "Clients that played to the end and left.")             \
    X(cut_off, SUM, "clients", "client.cut_off",                                                   \
      "Clients that were admitted, and received nothing just before the end.")                     \
    X(denied, SUM, "clients", "client.denied",                                                     \
      "Clients that the server denied, or that are of another build.")                             \
    X(closed, SUM, "clients", "client.closed_by_server",                                           \
      "Clients whose connection the server closed.")                                               \
    X(desynced, SUM, "clients", "client.desynced",                                                 \
      "Clients that computed another world than the server, and left.")                            \
    X(timeout, SUM, "clients", "client.timeouts",                                                  \
      "Clients to which the server sent nothing, or no more.")                                     \
    X(failed, SUM, "clients", "client.failed",                                                     \
      "Clients that could not be started, because there was no memory.")

/// Of hc_cl_due_snapshots: snapshots of sessions that have ended.
#define HC_CL_DUE_COUNTERS(X)                                                                      \
    X(sessions, SUM, "sessions", "load.snapshots.sessions",                                        \
      "Sessions whose snapshots were counted.")                                                    \
    X(incomplete, SUM, "sessions", "load.snapshots.sessions_incomplete",                           \
      "Of those, sessions that lack more than 0.5 % and three.")                                   \
    X(starved, SUM, "sessions", "load.snapshots.sessions_starved",                                 \
      "Of those, sessions that lack more than 5 % and three.")                                     \
    X(due, SUM, "snapshots", "load.snapshots.due", "Snapshots that were due.")                     \
    X(received, SUM, "snapshots", "load.snapshots.received", "Snapshots that arrived.")            \
    X(lost, SUM, "snapshots", "load.snapshots.lost_on_link",                                       \
      "Snapshots that the simulated link lost.")

/// Of hc_cl_fleet_self: how well the program itself kept its time.
#define HC_CL_SELF_COUNTERS(X)                                                                     \
    X(processes, SUM, "processes", "load.processes", "Processes of the clients.")                  \
    X(cpu_us, SUM, "ms", "load.cpu_ms", "Processor time of these, user and system.")               \
    X(due, SUM, "datagrams", "load.datagrams_due", "Datagrams of playing clients that were due.")  \
    X(sent, SUM, "datagrams", "load.datagrams_sent", "Of those, datagrams that were sent.")        \
    X(dropped, SUM, "datagrams", "load.receive_drops",                                             \
      "Datagrams to the clients that were dropped unread.")                                        \
    X(send_errors, SUM, "datagrams", "load.send_errors",                                           \
      "Datagrams of light clients that the kernel refused to send.")                               \
    X(lateness_us, HISTOGRAM, "ms", "load.lateness_ms",                                            \
      "Time from when each datagram was due to its sending.")

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

/// Of hc_cl_fleet_result.
#define HC_CL_RUN_COUNTERS(X)                                                                      \
    X(join_us, HISTOGRAM, "ms", "load.join_ms", "Time from a client's first HELLO to its ACCEPT.") \
    X(snapshot_age_us, HISTOGRAM, "ms", "snapshot_age_ms",                                         \
      "Time since the newest snapshot arrived, at each tick of each client that plays.")           \
    X(input_delay, HISTOGRAM, "ticks", "client.input_delay_ticks",                                 \
      "Input delay of the admitted clients, limited to the ticks for which the server takes "      \
      "inputs in advance.")
