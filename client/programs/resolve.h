/// The address of a server from its name.
#pragma once

#include "client/programs/sockets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A name to resolve.
struct hc_cl_resolve_wish {
    const char *host; ///< a name or a number
    const char *port;
    uint64_t protocol_id; ///< of the game, see hc_datagram_protocol_id
    uint64_t patience_us; ///< longest time for an answer of the server
};

/// Resolves a name; may ask a name server. Of several addresses it chooses the one from which the
/// server answers: it sends HELLO to one after another, again and again, until one answers (after
/// RFC 8305, section 5). False: failed, or none answered, and `why` is a sentence.
bool hc_cl_resolve(const struct hc_cl_resolve_wish *wish, struct hc_cl_udp_peer *peer, char *why,
                   size_t why_size);
