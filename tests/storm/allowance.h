/// What a client may be sent: never more than its rate allows, whatever the server takes the rate
/// for at the moment; and, as long as there is room even if the server has let the rate fall as
/// fast as it may, a snapshot whenever one is due, with all that it has to tell. Where nothing is
/// lost the rate never falls, and rises again. What games say and snapshots take turns where there
/// is not room for both. Before the client is heard it is sent a few datagrams.
#pragma once

#include "hindcast/game.h"
#include "proto/body.h"

struct storm_match;
struct storm_conn;

/// Of one connection, in millionths of a byte.
struct storm_allowance {
    bool begun;
    uint64_t at_us, begun_us;
    int64_t most, least; ///< saved up: at the full rate, and at the least
    uint32_t rate;       ///< when it was looked at last; 0: not looked at, or silent since
    uint64_t rose_us;    ///< when it rose last, was at the cap, or began to be looked at
    bool said;           ///< news went since the newest snapshot
    bool waits;          ///< a snapshot was due since then, and could not be sent
    uint32_t unheard;    ///< datagrams that went before the client was heard
    bool heard;          ///< it had been when the server advanced last
};

/// The server sends it a SNAPSHOT in a datagram of `size` bytes. Whether anything that was to be
/// told may have been left out for want of room; and `cut`, whether that may have been inputs of
/// the first `ticks` from the one shown on.
bool storm_allowance_sent(struct storm_match *match, struct storm_conn *conn, size_t size,
                          uint32_t ticks, bool *cut);

/// The server sends it a DATA that begins with a message of `type`, no SNAPSHOT, which needs no
/// room but some, and makes debts.
void storm_allowance_news(struct storm_match *match, struct storm_conn *conn,
                          enum hc_message_type type, size_t size);

/// The server is about to advance: at its newest tick everybody who is due had a snapshot.
void storm_allowance_advances(struct storm_match *match);
