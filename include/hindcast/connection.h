/// The limits of a connection, and the reasons why it is denied or ends.
#pragma once

#include "hindcast/api.h"

HC_C_BEGIN

enum {
    HC_DATAGRAM_MAX = 1200,    ///< bytes of a datagram in either direction
    HC_OWN_PLAYERS_MAX = 4,    ///< local players of one connection
    HC_MESSAGE_SIZE_MAX = 255, ///< bytes of a game's message in either direction
};

/// The reason why a CONNECT was denied. A newer server may give one that is not listed here.
enum hc_deny_reason {
    HC_DENY_FULL = 1,        ///< no client slot or no player slot is free
    HC_DENY_TOKEN = 2,       ///< the server cannot open the token: another key or build, or damaged
    HC_DENY_SHUTDOWN = 3,    ///< the server shuts down
    HC_DENY_LIMIT = 4,       ///< too many clients of this address are connected
    HC_DENY_PLAYERS = 5,     ///< the token or the server allows fewer players, or no watching
    HC_DENY_EXPIRED = 6,     ///< the token has expired
    HC_DENY_AUDIENCE = 7,    ///< the token is for another server
    HC_DENY_USED = 8,        ///< the token has opened a session that has ended
    HC_DENY_CONNECTED = 9,   ///< the user has another live connection
    HC_DENY_RATE = 10,       ///< the address or the user connects too often
    HC_DENY_NAME = 11,       ///< the token's name cannot be shown
    HC_DENY_REFUSED = 12,    ///< the server's owner refuses the user
    HC_DENY_OUTDATED = 13,   ///< the token is older than used tokens that the server forgot
    HC_DENY_SPECTATORS = 14, ///< no place of a spectator is free
    HC_DENY_REASONS_END,     ///< one more than the last of the library's
    /// [HC_DENY_GAME, HC_DENY_GAME_LAST] are the game's own: its server chooses one, and its client
    /// reads it.
    HC_DENY_GAME = 64,
    HC_DENY_GAME_LAST = 255
};

/// The reason why a connection ends. A newer peer may give one that is not listed here.
enum hc_close_reason {
    HC_CLOSE_LEFT = 1,         ///< the client leaves
    HC_CLOSE_SHUTDOWN = 2,     ///< the server shuts down
    HC_CLOSE_KICKED = 3,       ///< the server removes the client
    HC_CLOSE_TIMEOUT = 4,      ///< no datagram arrived from the peer for too long
    HC_CLOSE_ERROR = 5,        ///< the peer broke the protocol
    HC_CLOSE_DESYNC = 6,       ///< the client computes another world than the server
    HC_CLOSE_RESTARTING = 7,   ///< the server restarts, and the client reconnects to it
    HC_CLOSE_SESSION_OVER = 8, ///< the session's life has ended: the user needs another token
    HC_CLOSE_REFUSED = 9,      ///< the server's owner refuses the user
    HC_CLOSE_REASONS_END,      ///< one more than the last of the library's
    /// [HC_CLOSE_GAME, HC_CLOSE_GAME_LAST] are the game's own, as those of hc_deny_reason: the
    /// server removes the client.
    HC_CLOSE_GAME = 64,
    HC_CLOSE_GAME_LAST = 255
};

/// The reason in one word for logs and reports, such as "expired", in static storage; never NULL.
HC_API const char *hc_deny_word(enum hc_deny_reason reason);

/// The reason as a short English phrase, with the option of hindcastd that decides it, in static
/// storage; never NULL.
HC_API const char *hc_deny_text(enum hc_deny_reason reason);

/// The reason as a short English phrase in static storage; never NULL.
HC_API const char *hc_close_text(enum hc_close_reason reason);

HC_C_END
