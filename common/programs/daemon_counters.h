/// The counters of hindcastd beside those of its servers, each said once; hindcast/counter.h
/// describes the lists. A load test that has no report of the server says null for them.
#pragma once

#include "hindcast/counter.h"

/// Of hc_daemon_work, of one match or of all, by their keys in `server` of a report.
#define HC_DAEMON_WORK_COUNTERS(X)                                                                 \
    X(client_ticks, SUM, "ticks", "client_ticks", "Ticks of all clients together.")                \
    X(worked_too_long, SUM, "ticks", "ticks_over_budget.worked_too_long",                          \
      "Ticks that worked longer than a tick lasts.", LESS)                                         \
    X(tick_us, HISTOGRAM, "ms", "tick_ms",                                                         \
      "Time to receive what arrived before a tick, to simulate it and to send its snapshots.",     \
      LESS)

/// Of hc_daemon_process, by their keys in `server`.
#define HC_DAEMON_PROCESS_COUNTERS(X)                                                              \
    X(started_us, GAUGE, "ms", "start_time_ms", "Unix time at which the matches began.")           \
    X(cpu_us, SUM, "ms", "cpu_ms", "Processor time of the process, without its start.", LESS)      \
    X(resident_bytes, GAUGE, "bytes", "resident_bytes", "Memory of the process.", LESS)            \
    X(reloads, SUM, "reloads", "reloads", "Readings of the configuration while it ran.")           \
    X(reloads_refused, SUM, "reloads", "reloads_refused",                                          \
      "Those that changed nothing, because the configuration had faults.", LESS)

/// Of hc_daemon_doors, of one worker or of all, by their keys in `server`.
#define HC_DAEMON_DOORS_COUNTERS(X)                                                                \
    X(receive_drops, SUM, "datagrams", "receive_drops",                                            \
      "Datagrams dropped unread because the receive buffer was full.", LESS)                       \
    X(send_errors, SUM, "datagrams", "send_errors", "Datagrams that the kernel refused to send.",  \
      LESS)                                                                                        \
    X(handshakes_us, HISTOGRAM, "ms", "handshakes_ms_of_a_tick",                                   \
      "Time that handshakes took of a tick with some.")

/// Of hc_daemon_lanes, by their keys in `server`; null where the kernel cannot sort datagrams.
#define HC_DAEMON_LANES_COUNTERS(X)                                                                \
    X(handshakes, SUM, "datagrams", "handshakes_read", "Datagrams received that are not DATA.")    \
    X(handshake_drops, SUM, "datagrams", "handshakes_dropped_unread",                              \
      "Those dropped unread because the time budget of handshakes was used up.", LESS)

/// Of hc_sv_match_counts, by their keys in each of `matches`. Some are counters of other lists.
#define HC_DAEMON_MATCH_COUNTERS(X)                                                                \
    X(worlds, SUM, "worlds", "worlds", "Worlds that the match has had, one after another.")        \
    X(seed, GAUGE, "number", "seed", "Seed of its world.")                                         \
    X(ticks, SUM, "ticks", "ticks", "Ticks that its server simulated.")                            \
    X(clients_most, MAX, "clients", "clients", "Its clients at once.")                             \
    X(clients_now, GAUGE, "clients", "clients_now", "Its clients.")                                \
    X(work.client_ticks, SUM, "ticks", "client_ticks", "As `server.client_ticks`.")                \
    X(work.tick_us, HISTOGRAM, "ms", "tick_ms", "As `server.tick_ms`.")                            \
    X(host.lateness, HISTOGRAM, "ms", "tick_lateness_ms", "As `server.tick_lateness_ms`.")         \
    X(host.ticks_missed, SUM, "ticks", "ticks_missed", "As `server.ticks_missed`.")                \
    X(host.ticks_late, SUM, "ticks", "began_late", "As `server.ticks_over_budget.began_late`.")    \
    X(work.worked_too_long, SUM, "ticks", "worked_too_long",                                       \
      "As `server.ticks_over_budget.worked_too_long`.")                                            \
    X(host.joins, SUM, "clients", "joins", "As `server.joins`.")                                   \
    X(host.denied, SUM, "datagrams", "denied", "As `server.denied`.")                              \
    X(host.rewind_depth.count, SUM, "rewinds", "rewinds", "Rewinds of its server.")                \
    X(timeline.resimulated_ticks, SUM, "ticks", "resimulated_ticks",                               \
      "As `server.resimulated_ticks`.")                                                            \
    X(host.overload.highest, LEVEL, "level", "overload_highest", "As `server.overload.highest`.")  \
    X(host.memory_bytes, GAUGE, "bytes", "memory_bytes", "As `server.memory_bytes`.")

/// The work of ticks.
struct hc_daemon_work {
    HC_DAEMON_WORK_COUNTERS(HC_COUNTER_MEMBER)
};

struct hc_daemon_process {
    HC_DAEMON_PROCESS_COUNTERS(HC_COUNTER_MEMBER)
};

/// The doors and the handshakes.
struct hc_daemon_doors {
    HC_DAEMON_DOORS_COUNTERS(HC_COUNTER_MEMBER)
};

/// The lanes of handshakes.
struct hc_daemon_lanes {
    HC_DAEMON_LANES_COUNTERS(HC_COUNTER_MEMBER)
};
