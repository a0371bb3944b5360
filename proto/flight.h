/// The bound on the bytes in flight: those of DATA that an end has sent and that are neither acked
/// nor lost.
///
/// On a free path there is none, because jitter and random losses are no congestion. A path is
/// congested when for a while (the patience) no round trip was near the least one, which means
/// within HC_FLIGHT_NEAR_US of it: a queue stands somewhere. The patience is twice the longest such
/// while that was seen on the free path, so it is longer on a path with much jitter. It may
/// be longest on a path that reorders, because a queue keeps the order. From then on the bound is
/// what was acked in (least round trip + HC_FLIGHT_QUEUE_US), at the pace of the newest acks: about
/// the bytes that the path holds with a queue of that time. The bound grows by a quarter of what is
/// acked when a round trip shows that the queue is nearly empty (as slow start, RFC 5681, less
/// steep), and by a quarter each second, and falls when the path is congested again. When it has
/// held nothing back for HC_FLIGHT_FREE_US, the path is free.
///
/// The least round trip is that of the newest HC_FLIGHT_WINDOW_US or two. While there is a bound a
/// queue may always stand, so the end drains it at the beginning of each window of its clock: it
/// sends one datagram at a time until one of them has measured the path (ProbeRTT of BBR,
/// draft-cardwell-iccrg-bbr-congestion-control). Connections of one server drain together, so they
/// measure a path that they share.
///
/// Calls belong in this order: hc_flight_begin; for each datagram to be sent hc_flight_room, and
/// hc_flight_sent if it is sent; for each one received hc_flight_acked, and then hc_flight_measured
/// if it has measured a round trip.
#pragma once

#include "proto/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_FLIGHT_CELLS = 8, ///< of HC_FLIGHT_CELL_US, over which acked bytes are counted
};

#define HC_FLIGHT_FREE UINT32_MAX ///< no bound

/// The least of the values of the newest one or two HC_FLIGHT_WINDOW_US. The first window is
/// shorter.
struct hc_least {
    int64_t now, before; ///< of this window and the one before; INT64_MAX: none
    uint64_t begun_us;   ///< when this window began
};

/// Only flight.c writes to it.
struct hc_flight {
    uint32_t bound;        ///< bytes; HC_FLIGHT_FREE: the path is free
    struct hc_least least; ///< round trips, microseconds
    uint64_t near_us;      ///< when a round trip was last near the least one
    uint64_t far_us;       ///< when one was first not, after that
    uint64_t short_us;     ///< when one was last within HC_FLIGHT_QUEUE_US
    uint64_t reordered_us; ///< when an ack last showed that the path reorders; 0: never
    uint64_t away_us[2]; ///< longest time with none near, in the windows of `least`, without bound
    uint64_t changed_us; ///< when the bound last fell, or grew by time alone
    uint64_t held_us;    ///< when something was last held back
    bool doubts;         ///< the least round trip may be too short: the next drain measures it
    bool drains;         ///< the queue is being drained
    uint64_t drain;      ///< number of the HC_FLIGHT_DRAIN_US in which a drain was last considered
    uint64_t drains_us;  ///< when the drain began
    uint64_t probe_us;   ///< when the first datagram that may measure the path was sent; 0: none
    uint64_t alone_us;   ///< when one was sent that was alone on the path; 0: none
    uint64_t probe_rtt_us; ///< the newest round trip of those that may; 0: none
    uint64_t pace;         ///< bytes a second that were acked when the drain began
    uint64_t newest_pace;  ///< bytes a second that were acked when something was acked last
    uint64_t cell;         ///< number of the newest of the cells
    uint32_t acked[HC_FLIGHT_CELLS]; ///< bytes acked, by cell % HC_FLIGHT_CELLS
};

/// Begins without values.
void hc_least_begin(struct hc_least *least, uint64_t now_us);

/// Takes a value. True: a new window began.
bool hc_least_take(struct hc_least *least, int64_t value, uint64_t now_us);

/// The least value; INT64_MAX: there is none.
int64_t hc_least_get(const struct hc_least *least);

/// Begins with a path that nothing is known of: a new connection, or another address.
void hc_flight_begin(struct hc_flight *flight, uint64_t now_us);

/// The state of what was sent.
struct hc_flight_state {
    uint32_t in_flight; ///< bytes
    /// Time since the first datagram was sent after the newest acked one; 0: none was, or silence
    /// holds nothing back.
    uint64_t waits_us;
    bool silent; ///< nothing was sent for HC_KEEP_ALIVE_US
};

/// Bytes that a datagram may have now, headers of IP and UDP included; HC_FLIGHT_FREE: any number;
/// 0: it is held back. At least HC_FLIGHT_LEAST if nothing is in flight or nothing was sent for a
/// while.
uint32_t hc_flight_room(struct hc_flight *flight, const struct hc_flight_state *state,
                        uint64_t now_us);

/// A datagram is sent; `in_flight` bytes were in flight before it.
void hc_flight_sent(struct hc_flight *flight, uint32_t in_flight, uint64_t now_us);

/// The peer acked `bytes`.
void hc_flight_acked(struct hc_flight *flight, uint32_t bytes, uint64_t now_us);

/// A datagram was acked after a newer one.
void hc_flight_reordered(struct hc_flight *flight, uint64_t now_us);

/// The round trip of a datagram that was sent at `sent_us` took `rtt_us`; with its ack came those
/// of `bytes` in all.
void hc_flight_measured(struct hc_flight *flight, uint64_t rtt_us, uint64_t sent_us, uint32_t bytes,
                        uint64_t now_us);
