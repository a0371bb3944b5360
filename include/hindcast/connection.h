/// Facts that both ends of a connection share: its limits, and why it is denied or ends.
#pragma once

#include "hindcast/api.h"

HC_C_BEGIN

enum {
    HC_DATAGRAM_MAX = 1200,   ///< bytes of the largest datagram, either way
    HC_OWN_PLAYERS_MAX = 4,   ///< local players of one connection
    HC_EVENTS_SIZE_MAX = 255, ///< bytes of the longest message between a game's two ends
};

/// Why a CONNECT was denied.
enum hc_deny_reason {
    HC_DENY_FULL = 1,      ///< no client slot or no player slot is free
    HC_DENY_TOKEN = 2,     ///< the server cannot open it: of another key or build, or damaged
    HC_DENY_SHUTDOWN = 3,  ///< the server is going away
    HC_DENY_LIMIT = 4,     ///< as many clients of this address are connected as may be
    HC_DENY_PLAYERS = 5,   ///< its token, or the server, allows fewer players, or none to watch
    HC_DENY_EXPIRED = 6,   ///< the token has expired
    HC_DENY_AUDIENCE = 7,  ///< the token is for another server
    HC_DENY_USED = 8,      ///< the token has opened a session already, which has ended
    HC_DENY_CONNECTED = 9, ///< another connection of the same user is alive
    HC_DENY_RATE = 10,     ///< this address, or this user, connects too often
    HC_DENY_NAME = 11,     ///< the token's name cannot be shown
    HC_DENY_REFUSED = 12,  ///< the server's owner refuses this user
    HC_DENY_REASONS_END    ///< one more than the last
};

/// Why a connection ends.
enum hc_close_reason {
    HC_CLOSE_LEFT = 1,     ///< the client leaves
    HC_CLOSE_SHUTDOWN = 2, ///< the server goes away
    HC_CLOSE_KICKED = 3,   ///< the server puts the client out
    HC_CLOSE_TIMEOUT = 4,  ///< nothing came from the peer for too long
    HC_CLOSE_ERROR = 5,    ///< the peer broke the protocol
};

/// The reason in a word, for logs and reports, such as "expired", in static storage; never NULL.
HC_API const char *hc_deny_word(enum hc_deny_reason reason);

/// The reason as a short English phrase in static storage, with the option of hindcastd that
/// decides it; never NULL.
HC_API const char *hc_deny_text(enum hc_deny_reason reason);

/// The reason as a short English phrase in static storage; never NULL.
HC_API const char *hc_close_text(enum hc_close_reason reason);

HC_C_END
