/// The counters of a client, each said once; hindcast/counter.h describes the lists.
#pragma once

#include "hindcast/counter.h"

/// Of every client, by their keys in `client` of a report.
#define HC_CLIENT_LINK_COUNTERS(X)                                                                 \
    X(datagrams_in, SUM, "datagrams", "datagrams_received", "Datagrams received.")                 \
    X(datagrams_out, SUM, "datagrams", "datagrams_sent", "Datagrams sent.")                        \
    X(datagrams_lost, SUM, "datagrams", "datagrams_lost",                                          \
      "Of those, datagrams that were not acked in time.", LESS)                                    \
    X(held_back, SUM, "datagrams", "datagrams_held_back",                                          \
      "Datagrams that were not sent when they were due, because the path was congested.", LESS)    \
    X(in_flight_max, MAX, "bytes", "in_flight_bytes_max",                                          \
      "The most bytes that were in flight from a client when a datagram was due.")                 \
    X(bytes_in, SUM, "bytes", "bytes_received",                                                    \
      "Bytes of the datagrams received, without the headers of IP and UDP.")                       \
    X(bytes_out, SUM, "bytes", "bytes_sent",                                                       \
      "Bytes of the datagrams sent, without these headers.")                                       \
    X(snapshots, SUM, "snapshots", "snapshots", "Snapshots received and applied.")                 \
    X(inputs_sampled, SUM, "inputs", "inputs_sampled",                                             \
      "Inputs of all local players that the clients stamped, repeated ones included.")             \
    X(inputs_forced, SUM, "inputs", "inputs_forced", "Own inputs that the server forced.", LESS)   \
    X(forced_late, SUM, "inputs", "inputs_forced_late",                                            \
      "Of those, inputs that came later than the server takes them, or never. The client had "     \
      "given up the others.",                                                                      \
      LESS)                                                                                        \
    X(snapshots_stale, SUM, "snapshots", "snapshots_stale",                                        \
      "Snapshots that were older than one before: they change only the past.")                     \
    X(restarts, SUM, "restarts", "restarts", "Timelines that began anew at a received state.",     \
      LESS)                                                                                        \
    X(stalls, SUM, "stalls", "stalls",                                                             \
      "Times that a client stalled because it was too far ahead of the newest snapshot.", LESS)    \
    X(stalled_ticks, SUM, "ticks", "stalled_ticks", "Ticks that became due during stalls.", LESS)  \
    X(clock_jumps, SUM, "jumps", "clock_jumps",                                                    \
      "Times that simulated time jumped, because it was more than 250 ms off.", LESS)              \
    X(losses, SUM, "connections", "connections_lost", "Connections lost.", LESS)                   \
    X(reconnects, SUM, "connections", "reconnects", "Connections that replaced a lost one.")       \
    X(unreliable_received, SUM, "messages", "unreliable_received",                                 \
      "Unreliable messages of the server's game.")                                                 \
    X(unreliable_dropped, SUM, "messages", "unreliable_dropped",                                   \
      "Unreliable messages that found no room, in either direction.", LESS)                        \
    X(notices, SUM, "notices", "notices", "Notices of the server, each once for each client.")     \
    X(rejected, CAUSES, "datagrams", "rejected",                                                   \
      "Datagrams refused, by cause: they changed nothing.")                                        \
    X(memory_bytes, GAUGE, "bytes", "memory_bytes", "Memory of the clients.", LESS)

/// Of the world that a client predicts, by their keys in `client`. Light clients have none.
#define HC_CLIENT_WORLD_COUNTERS(X)                                                                \
    X(snapshots_matched, SUM, "snapshots", "snapshots_matched",                                    \
      "Snapshots after which nothing was resimulated, because the client had predicted all that "  \
      "they hold.",                                                                                \
      MORE)                                                                                        \
    X(rollbacks, SUM, "rollbacks", "rollbacks", "Times that a client resimulated past ticks.",     \
      LESS)                                                                                        \
    X(hash_checks, SUM, "snapshots", "hash_checks",                                                \
      "Snapshots whose hash was compared with that of the decoded state.")                         \
    X(hash_mismatches, SUM, "snapshots", "hash_mismatches",                                        \
      "Of those, snapshots whose hash differed.", LESS)                                            \
    X(desyncs, SUM, "clients", "desyncs",                                                          \
      "Clients that computed another world than the server: three mismatches within a second, "    \
      "counted once for each connection.",                                                         \
      LESS)                                                                                        \
    X(corrections, SUM, "states", "corrections", "States of past ticks received.")                 \
    X(game_events_predicted, SUM, "events", "game_events.predicted",                               \
      "Game events that a client predicted and delivered to its game.")                            \
    X(game_events_confirmed, SUM, "events", "game_events.confirmed",                               \
      "Of those, events that happened.")                                                           \
    X(game_events_cancelled, SUM, "events", "game_events.cancelled",                               \
      "Of those, events that did not happen, or were not sent.", LESS)                             \
    X(game_events_late, SUM, "events", "game_events.late",                                         \
      "Game events that only the server knew, delivered after it listed them.")                    \
    X(game_events_unread, SUM, "events", "game_events.unread",                                     \
      "Game events dropped, because the game left too many unread.", LESS)                         \
    X(rollback_depth, HISTOGRAM, "ticks", "rollback_depth_ticks",                                  \
      "Ticks from the earliest one that a rollback resimulated to the predicted tick.", LESS)

/// Of the path to the server, by their keys in a report itself.
#define HC_CLIENT_PATH_COUNTERS(X)                                                                 \
    X(rtt_us, HISTOGRAM, "ms", "rtt_ms",                                                           \
      "Time from a datagram to its ack, less the wait that the server reports.", LESS)             \
    X(rtt_min_us, MAX, "us", "rtt_min_us_max",                                                     \
      "The least of the recent round trips; 0 before the first. Of several clients the longest.")  \
    X(jitter_us, MAX, "us", "jitter_us_max",                                                       \
      "Mean deviation of the round trip (RFC 6298). Of several clients the greatest.")             \
    X(margin_early_us, HISTOGRAM, "ms", "margin_ms.early",                                         \
      "Of each report of the margin (ten a second) whose low margin is not negative, that one: "   \
      "the time from the arrival of an input at the server to the step that it drives, in all "    \
      "but the worst 2 % of 2 s.")                                                                 \
    X(margin_late_us, HISTOGRAM, "ms", "margin_ms.late",                                           \
      "Of each other report, how late the latest input was, but the worst 2 % of 2 s.", LESS)
