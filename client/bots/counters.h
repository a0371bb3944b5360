/// The counters of hindcast-bot and hindcast-load, each said once; hindcast/counter.h describes the
/// lists. Keys are those of a report.
#pragma once

#include "hindcast/counter.h"

/// Of hc_cl_fleet_ends: clients by how they ended.
#define HC_CL_ENDS_COUNTERS(X)                                                                     \
    X(accepted, SUM, "clients", "client.accepted", "Clients that were admitted.")                  \
    X(left, SUM, "clients", "client.left", "Clients that played to the end and left.", MORE)       \
    X(cut_off, SUM, "clients", "client.cut_off",                                                   \
      "Clients that were admitted, and received nothing just before the end.", LESS)               \
    X(denied, SUM, "clients", "client.denied",                                                     \
      "Clients that the server denied, or that are of another build.", LESS)                       \
    X(closed, SUM, "clients", "client.closed_by_server",                                           \
      "Clients whose connection the server closed.", LESS)                                         \
    X(desynced, SUM, "clients", "client.desynced",                                                 \
      "Clients that computed another world than the server, and left.", LESS)                      \
    X(timeout, SUM, "clients", "client.timeouts",                                                  \
      "Clients to which the server sent nothing, or no more.", LESS)                               \
    X(failed, SUM, "clients", "client.failed",                                                     \
      "Clients that could not be started, because there was no memory.", LESS)

/// Of hc_cl_due_snapshots: snapshots of sessions that have ended.
#define HC_CL_DUE_COUNTERS(X)                                                                      \
    X(sessions, SUM, "sessions", "load.snapshots.sessions",                                        \
      "Sessions whose snapshots were counted.")                                                    \
    X(incomplete, SUM, "sessions", "load.snapshots.sessions_incomplete",                           \
      "Of those, sessions that lack more than 0.5 % and three.", LESS)                             \
    X(starved, SUM, "sessions", "load.snapshots.sessions_starved",                                 \
      "Of those, sessions that lack more than 5 % and three.", LESS)                               \
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

/// Of hc_cl_fleet_result.
#define HC_CL_RUN_COUNTERS(X)                                                                      \
    X(join_us, HISTOGRAM, "ms", "load.join_ms", "Time from a client's first HELLO to its ACCEPT.", \
      LESS)                                                                                        \
    X(snapshot_age_us, HISTOGRAM, "ms", "snapshot_age_ms",                                         \
      "Time since the newest snapshot arrived, at each tick of each client that plays.", LESS)     \
    X(input_delay, HISTOGRAM, "ticks", "client.input_delay_ticks",                                 \
      "Input delay of each client, when it is admitted and once a second: the one in effect.",     \
      LESS)                                                                                        \
    X(lead, HISTOGRAM, "ticks", "client.lead_ticks",                                               \
      "Ticks that each client predicts ahead of the server, at the same moments.")                 \
    X(others, MEAN, "players", "client.others_in_view",                                            \
      "Other players, alive, that a full client sees, once a second after the ramp.")              \
    X(jitter_us, MEAN, "ms", "jitter_ms",                                                          \
      "Mean deviation of the round trip (RFC 6298) of the clients that measured one.")
