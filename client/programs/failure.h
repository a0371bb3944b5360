/// The sentences for people on why a client was not admitted, or lost its connection.
#pragma once

#include "client/programs/tokens.h"
#include "client/programs/udp.h"
#include "hindcast/client.h"

/// A client that was not admitted.
struct hc_cl_failure {
    struct hc_client_attempt attempt; ///< newest attempt of the client
    struct hc_cl_udp_stats udp;       ///< of its socket
    bool gave_up;                     ///< the client no longer tries; otherwise it was stopped
    bool expired;                     ///< the token has expired by this machine's clock
    uint64_t late_us; ///< how late this program gave it its turns while it tried, at most
};

/// Writes to `text` why a client was not admitted.
void hc_cl_failure_text(char *text, size_t size, const struct hc_cl_failure *failure);

/// Describes why a connection was lost; in static storage.
const char *hc_cl_failure_loss(enum hc_client_loss loss);

/// Writes that a server plays another game than `game`, or another build of it. Both are given with
/// their protocol_id. `theirs`: name and version of the server's, such as "pong 3"; empty: unknown.
void hc_cl_failure_game(char *text, size_t size, const struct hc_game *game, uint64_t protocol_id,
                        const char *theirs, uint64_t their_id);

/// Whether the server that issued tokens plays `game`, or does not tell. False: `why` is a
/// sentence; `name` is the server's as the user wrote it.
bool hc_cl_failure_check_game(const struct hc_game *game, uint64_t protocol_id,
                              const struct hc_cl_tokens_issuer *issuer, const char *name, char *why,
                              size_t why_size);
