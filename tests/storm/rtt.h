/// The round trips that a client measures, and what it makes of them: each taken as PROTOCOL.md
/// says, the deviation as RFC 6298 has it, the least one of those it may still remember. And the
/// delays that both sides say to have acknowledged with. How late inputs may be is the server's own
/// answer; test_server_lateness and the attacks judge that.
#pragma once

#include "proto/datagram.h"

struct storm_match;
struct storm_conn;

enum {
    STORM_RTT_SENT = 512, ///< datagrams that wait for an answer
    STORM_RTT_TAKEN = 64, ///< round trips remembered
};

/// The newest DATA that one side has taken, and when by its clock; all zeros: none yet. Who
/// acknowledges it says how long ago that was.
struct storm_wait {
    uint32_t seq;
    uint64_t at_us;
};

/// One client's since it was created, by its own clock.
struct storm_rtt {
    struct storm_rtt_sent {
        uint32_t seq;
        uint64_t at_us;
    } sent[STORM_RTT_SENT];
    struct storm_rtt_taken {
        uint64_t at_us, rtt_us;
        int64_t offset_us; ///< by which the server's clock is ahead, if both ways are equally long
    } taken[STORM_RTT_TAKEN];
    struct storm_wait in;  ///< of the server's
    uint32_t measured;     ///< the newest datagram whose round trip was
    uint64_t earlier;      ///< taken on connections that it had before
    uint64_t count, first; ///< taken; and the first of them that still counts
    bool any;              ///< it has taken a snapshot
    hc_tick as_of;
    uint64_t srtt, rttvar; ///< in 1/1024 us
    uint64_t stamp_us;     ///< the server's time by the stamp of the newest round trip
    bool handed;           ///< it was handed a datagram just now
};

/// A client was handed a datagram; it has received or has advanced: while it plays it is at the
/// server's tick, by the newest stamp, and its lead.
void storm_rtt_handed(struct storm_match *match, unsigned client);
void storm_rtt_changed(struct storm_match *match, unsigned client);

/// A client has been created, or is accepted again; it sends a datagram; it has taken one.
void storm_rtt_created(struct storm_match *match, unsigned client);
void storm_rtt_sent(struct storm_match *match, unsigned client, const uint8_t *bytes, size_t size);
void storm_rtt_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                        size_t size);

/// A DATA with this seq has been taken at `now_us`.
void storm_rtt_take(struct storm_wait *wait, uint32_t seq, uint64_t now_us);

/// Whether inputs may be refused that the window would still take.
bool storm_rtt_refuses(const struct storm_match *match);

/// By how many ticks inputs of the connection's client may be late now: those before the head less
/// so many are refused.
uint32_t storm_rtt_late_limit(const struct storm_match *match, const struct storm_conn *conn);

/// The server sends a SNAPSHOT on the connection.
void storm_rtt_shown(struct storm_match *match, const struct storm_conn *conn, const uint8_t *bytes,
                     size_t size);
