/// The counters of a server, each said once; hindcast/counter.h describes the lists.
#pragma once

#include "hindcast/counter.h"

/// Of hc_server_stats, by their keys in `server` of a report.
#define HC_SERVER_COUNTERS(X)                                                                      \
    X(datagrams_in, SUM, "datagrams", "datagrams_received", "Datagrams received.")                 \
    X(datagrams_out, SUM, "datagrams", "datagrams_sent", "Datagrams sent.")                        \
    X(bytes_in, SUM, "bytes", "bytes_received",                                                    \
      "Bytes of the datagrams received, without the headers of IP and UDP.")                       \
    X(bytes_out, SUM, "bytes", "bytes_sent",                                                       \
      "Bytes of the datagrams sent, without these headers.")                                       \
    X(datagrams_lost, SUM, "datagrams", "datagrams_lost",                                          \
      "Datagrams sent to clients that were not acked in time.", LESS)                              \
    X(rejected, CAUSES, "datagrams", "rejected",                                                   \
      "Datagrams refused, by cause: they changed nothing.")                                        \
    X(forged, SUM, "datagrams", "data_forged", "DATA that could not be opened.")                   \
    X(dropped, SUM, "datagrams", "data_unopened",                                                  \
      "DATA that was not opened, because too many of its source or connection were forged.")       \
    X(joins, SUM, "clients", "joins", "Clients that joined.")                                      \
    X(leaves, SUM, "clients", "leaves", "Clients that left, or whose session the server ended.")   \
    X(timeouts, SUM, "clients", "timeouts",                                                        \
      "Clients that were silent for too long and did not reconnect in time.", LESS)                \
    X(denied, SUM, "datagrams", "denied", "CONNECTs denied.", LESS)                                \
    X(desyncs, SUM, "clients", "desync_count",                                                     \
      "Clients that left because they computed another world.", LESS)                              \
    X(other_builds, SUM, "datagrams", "other_builds",                                              \
      "HELLOs and CONNECTs of other games and builds, answered with VERSION.")                     \
    X(unproven, SUM, "datagrams", "unproven",                                                      \
      "CONNECTs without the secret of their token, which are not answered.")                       \
    X(lost, SUM, "connections", "connections_lost", "Connections that fell silent for too long.",  \
      LESS)                                                                                        \
    X(resumed, SUM, "connections", "connections_reconnected",                                      \
      "Connections that a reconnect replaced.")                                                    \
    X(moved, SUM, "connections", "connections_moved",                                              \
      "Changes of a connection to another address.")                                               \
    X(resets, SUM, "datagrams", "resets",                                                          \
      "RESETs sent, to clients whose connection the server does not know.")                        \
    X(inputs_received, SUM, "inputs", "inputs.received", "Inputs that took effect, each once.")    \
    X(inputs_late, SUM, "inputs", "inputs.late",                                                   \
      "Of those, inputs for a tick that was already simulated.")                                   \
    X(inputs_forced, SUM, "inputs", "inputs.forced",                                               \
      "Inputs that the server forced, because their slots closed before they came.", LESS)         \
    X(forced_late, SUM, "inputs", "inputs.forced_late",                                            \
      "Of those, inputs that were later than the client's late limit, or never came.", LESS)       \
    X(forced_given_up, SUM, "inputs", "inputs.forced_given_up",                                    \
      "Of those, inputs that the client said it sends no more.", LESS)                             \
    X(forced_silent, SUM, "inputs", "inputs.forced_silent",                                        \
      "Of those, inputs of clients that had lost their connection.", LESS)                         \
    X(inputs_refused, SUM, "inputs", "inputs.refused",                                             \
      "Inputs that came too late, counted once each, or for ticks too far ahead, counted each "    \
      "time.",                                                                                     \
      LESS)                                                                                        \
    X(refused_late, SUM, "inputs", "inputs.refused_late",                                          \
      "Of those, inputs that came after their slots had closed.", LESS)                            \
    X(refused_ahead, SUM, "inputs", "inputs.refused_ahead",                                        \
      "Of those, inputs for ticks too far ahead.", LESS)                                           \
    X(inputs_lost, SUM, "inputs", "inputs.lost",                                                   \
      "Inputs that the server dropped although they came in time: their slots were forced.", LESS) \
    X(shown_ago_unsent, SUM, "inputs", "inputs.shown_ago_unsent",                                  \
      "Inputs whose shown tick the server moved forward, because the client had been sent "        \
      "nothing so old.")                                                                           \
    X(shown_ago_limited, SUM, "inputs", "inputs.shown_ago_limited",                                \
      "Inputs whose shown tick the server moved forward, because it was farther back than "        \
      "`lag_compensation_ms` or the lookback.")                                                    \
    X(unreliable_received, SUM, "messages", "unreliable_received",                                 \
      "Unreliable messages of the clients' games.")                                                \
    X(unreliable_dropped, SUM, "messages", "unreliable_dropped",                                   \
      "Unreliable messages that found no room, in either direction.", LESS)                        \
    X(notices, SUM, "notices", "notices", "Notices to the people who play.")                       \
    X(notices_missed, SUM, "notices", "notices_missed",                                            \
      "Notices that a client was not sent, because it had not acked the 32 before: each once for " \
      "each client.",                                                                              \
      LESS)                                                                                        \
    X(snapshots, SUM, "snapshots", "snapshots", "Snapshots sent.")                                 \
    X(snapshots_rewound, SUM, "snapshots", "snapshots_rewound",                                    \
      "Of those, snapshots of a resimulated tick.")                                                \
    X(snapshots_held_back, SUM, "snapshots", "snapshots_held_back",                                \
      "Snapshots that were not sent yet, because the path to the client was congested: each tick " \
      "counts.",                                                                                   \
      LESS)                                                                                        \
    X(in_flight_max, MAX, "bytes", "in_flight_bytes_max",                                          \
      "The most bytes that were in flight to a client when a snapshot was sent.")                  \
    X(copies, SUM, "datagrams", "copies",                                                          \
      "Copies of snapshots, sent to addresses that were not validated yet.")                       \
    X(copied_bytes, SUM, "bytes", "copied_bytes", "Bytes of these copies.")                        \
    X(corrections, SUM, "units", "corrections", "Units of past ticks that were sent.")             \
    X(deltas_encoded, SUM, "units", "deltas_encoded",                                              \
      "Units whose delta was encoded for a snapshot.")                                             \
    X(deltas_reused, SUM, "units", "deltas_reused",                                                \
      "Units whose delta another snapshot had encoded already.")                                   \
    X(extrapolation_steps, SUM, "ticks", "extrapolation_steps",                                    \
      "Ticks that the extrapolations of snapshots simulated.")                                     \
    X(units_examined, SUM, "units", "units_examined",                                              \
      "Units examined for snapshots, and of past ticks for corrections.")                          \
    X(game_events, SUM, "events", "game_events", "Game events of final ticks.")                    \
    X(game_events_left_out, SUM, "events", "game_events_left_out",                                 \
      "Game events that were not sent to a client, because it saw too many in one tick: each "     \
      "once for each client.",                                                                     \
      LESS)                                                                                        \
    X(ticks_missed, SUM, "ticks", "ticks_missed",                                                  \
      "Ticks that the server skipped, because it was too late for them.", LESS)                    \
    X(ticks_late, SUM, "ticks", "ticks_over_budget.began_late",                                    \
      "Ticks that began more than a tick after they were due.", LESS)                              \
    X(longest_unsent_ticks, MAX, "ticks", "longest_unsent_ticks",                                  \
      "The longest time that a change in a client's view waited to be sent.", LESS)                \
    X(rewind_depth, HISTOGRAM, "ticks", "rewind_depth_ticks",                                      \
      "Ticks that a rewind went back, at most `--history`.")                                       \
    X(lateness, HISTOGRAM, "ms", "tick_lateness_ms",                                               \
      "Time from when a tick was due to its begin.", LESS)                                         \
    X(memory_bytes, GAUGE, "bytes", "memory_bytes",                                                \
      "Memory that the configuration takes, all allocated at the start.", LESS)

/// Of hc_server_overload, by their keys in `server`. Their kinds are also LEVEL, an
/// hc_server_overload_level, of several the highest; LEVELS, a SUM for each level; and FLAG, a bool
/// that is set when one of several is.
#define HC_SERVER_OVERLOAD_COUNTERS(X)                                                             \
    X(level, LEVEL, "level", "overload.level", "The present level; at the end, that of the end.")  \
    X(highest, LEVEL, "level", "overload.highest", "The highest level so far.", LESS)              \
    X(ticks, LEVELS, "ticks", "overload.ticks_by_level", "Ticks of each level.")                   \
    X(snapshots, SUM, "snapshots", "overload.snapshots_left_out",                                  \
      "Snapshots left out, because the work took too much of the time.", LESS)                     \
    X(far_snapshots, SUM, "snapshots", "overload.far_snapshots_left_out",                          \
      "Of those, snapshots of far and of idle clients.")                                           \
    X(joins, SUM, "datagrams", "overload.joins_refused",                                           \
      "CONNECTs denied as `full`, because the server was overloaded.", LESS)                       \
    X(linear, FLAG, "", "overload.linear",                                                         \
      "Whether snapshots are linear now: cheaper to make, and larger.")                            \
    X(linear_ticks, SUM, "ticks", "overload.linear_ticks", "Ticks with linear snapshots.")         \
    X(late_limited_ticks, SUM, "ticks", "overload.late_limited_ticks",                             \
      "Ticks in which inputs could be less late than `--history`.", LESS)
#define HC_COUNTER_MEMBER_LEVEL(name) enum hc_server_overload_level name;
#define HC_COUNTER_MEMBER_LEVELS(name) uint64_t name[HC_SERVER_OVERLOAD_LEVELS];
#define HC_COUNTER_MEMBER_FLAG(name) bool name;

/// Of hc_server_remembered, by their keys in `server.remembered_users`.
#define HC_SERVER_REMEMBERED_COUNTERS(X)                                                           \
    X(users, GAUGE, "users", "users", "Users whose used tokens are remembered.")                   \
    X(capacity, GAUGE, "users", "capacity",                                                        \
      "Users that may be remembered (`--remembered-users`).")                                      \
    X(forgotten, SUM, "users", "forgotten",                                                        \
      "Users that were forgotten for others, while some of their tokens had not expired.")
