/// Handshakes: who is let in, once, and what is said at the end.
///
/// While the match lasts a connection is made at most once by each nonce, and answered by the same
/// ACCEPT. After some matches, which must not go on then, all that came is said again; a stranger
/// shakes hands by the book, and not; fresh clients are told what is not for them; and everybody
/// says goodbye.
#pragma once

#include "proto/datagram.h"
#include "server/host.h"

struct storm_match;

enum { STORM_SHAKES = 64 };

/// An attempt of an honest client that the server has taken a CONNECT of.
struct storm_shake {
    unsigned seat;
    uint16_t port;
    uint32_t cid; ///< of the connection that was made; 0: none
    bool moved;   ///< its client's address is another one since
    bool ended;   ///< the server has let go of it,
    bool unheard; ///< after nothing but silence
    uint64_t ended_us;
    struct hc_connect connect;
    uint8_t said[HC_DATAGRAM_CONNECT_SIZE]; ///< the same as it was sent
    size_t accept_size;
    uint8_t accept[HC_DATAGRAM_MAX];
};

/// All zeros is the beginning.
struct storm_shakes {
    struct storm_shake shakes[STORM_SHAKES];
    unsigned count; ///< of all there were; the newest are kept
};

/// The server was handed a datagram from `port`.
void storm_shakes_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                           size_t size, enum hc_status status);

/// The newest CONNECT with this nonce of the honest client in this seat; NULL: it is not
/// remembered.
const struct storm_shake *storm_shakes_of(struct storm_match *match, unsigned seat,
                                          const uint8_t *nonce);

/// The server answers a handshake of the client in this seat.
void storm_shakes_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size);

/// The server lets go of a connection.
void storm_shakes_event(struct storm_match *match, const struct hc_sv_event *event);

/// The match is over: all of the above, of some.
void storm_shakes_end(struct storm_match *match);
