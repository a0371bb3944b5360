/// Opens the datagrams of all connections of a simulation, with the token key and the clients'
/// ephemeral secrets.
///
/// Call hc_unsealer_note_connect for each CONNECT and hc_unsealer_note_accept for each ACCEPT that
/// a host sends; then hc_unsealer_open opens their DATA.
#pragma once

#include "tests/sim/endpoint.h"

struct hc_unsealer;

/// NULL: no memory. `ring` opens the tokens.
struct hc_unsealer *hc_unsealer_create(const struct hc_token_ring *ring, uint64_t protocol_id,
                                       uint64_t audience);
void hc_unsealer_destroy(struct hc_unsealer *unsealer);

/// A client sends CONNECT, and its ephemeral key has this secret. NULL: it has the secret that
/// hc_endpoint_draw_secret draws, unless an earlier CONNECT of this nonce came with another one.
void hc_unsealer_note_connect(struct hc_unsealer *unsealer, const uint8_t *bytes, size_t size,
                              const uint8_t *secret);

/// The host answers with ACCEPT.
void hc_unsealer_note_accept(struct hc_unsealer *unsealer, const uint8_t *bytes, size_t size);

/// The keys of a connection; NULL: unknown.
const struct hc_endpoint *hc_unsealer_endpoint(const struct hc_unsealer *unsealer, uint32_t cid);

/// Opens the datagram into `out`, with zeros for its tag, and returns that; returns `bytes` if it
/// is not sealed, or not with its connection's keys.
const uint8_t *hc_unsealer_open(struct hc_unsealer *unsealer, bool to_server, const uint8_t *bytes,
                                size_t size, uint8_t out[static HC_DATAGRAM_MAX]);
