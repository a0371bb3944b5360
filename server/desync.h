/// Answers clients that ask where their world differs, and names the difference when they leave.
#pragma once

#include "server/peer.h"

/// Answers a client that asks where its world differs, with its next DATA, if it may.
void hc_sv_desync_ask(const struct hc_world *world, struct hc_sv_peer *peer,
                      const struct hc_compare *compare);

/// Appends the answer to the peer's next DATA, if one is due.
void hc_sv_desync_put(const struct hc_world *world, struct hc_sv_peer *peer,
                      struct hc_writer *body);

/// The difference that a client's CLOSE names. The server's value is the one that it answered with:
/// the client is believed in nothing but what it says of itself.
struct hc_difference hc_sv_desync_difference(const struct hc_world *world,
                                             const struct hc_sv_peer *peer,
                                             const struct hc_close_desync *close);
