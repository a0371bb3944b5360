/// What goes to addresses that clients have not shown: questions whether they are theirs, and
/// copies of what goes to the address that they have shown; three bytes for each that came, and no
/// more, and only where the newest datagram came from. A question is asked as soon as it may be,
/// and where nobody answers ever more rarely.
#pragma once

#include "server/host.h"

struct storm_match;
struct storm_conn;

/// Of one connection.
struct storm_elsewhere {
    uint16_t home;       ///< the port that it has shown; 0: unknown
    uint64_t newest;     ///< digest of the newest snapshot that went home
    uint32_t newest_seq; ///< of what has come from it,
    uint16_t away;       ///< from this port; 0: from home
    uint64_t in, out;    ///< bytes from there and to there since then
    uint32_t asked;      ///< questions in a row that nobody has answered,
    uint64_t asked_us;   ///< the last one then
    bool due;            ///< when the server ticked last another one was
};

/// The server has let a client in, or followed it.
void storm_elsewhere_event(struct storm_conn *conn, const struct hc_sv_event *event);

/// The server was handed a datagram from `port`.
void storm_elsewhere_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                              size_t size, enum hc_status status);

/// The server has ticked.
void storm_elsewhere_ticked(struct storm_match *match);

/// The server sends a DATA, shown as it was before it was sealed. Whether it is a copy.
bool storm_elsewhere_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size);
