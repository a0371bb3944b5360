/// Reads along on all connections of a simulation, with the token key and the clients' ephemeral
/// secrets.
///
/// hc_tap_connect for each CONNECT, hc_tap_accept for each ACCEPT that a host sends; then
/// hc_tap_open shows DATA as it was before it was sealed.
#pragma once

#include "tests/sim/party.h"

struct hc_tap;

/// NULL: no memory. `ring` opens the tokens.
struct hc_tap *hc_tap_create(const struct hc_token_ring *ring, uint64_t protocol_id,
                             uint64_t audience);
void hc_tap_destroy(struct hc_tap *tap);

/// Somebody sends CONNECT, whose ephemeral key has this secret; NULL: that of a party, unless a
/// CONNECT of this nonce has been sent with another one.
void hc_tap_connect(struct hc_tap *tap, const uint8_t *bytes, size_t size, const uint8_t *secret);

/// The host answers with ACCEPT.
void hc_tap_accept(struct hc_tap *tap, const uint8_t *bytes, size_t size);

/// The keys of a connection; NULL: unknown.
const struct hc_party *hc_tap_party(const struct hc_tap *tap, uint32_t cid);

/// The datagram as it was before it was sealed, its tag zeros, in `room`; or itself, when it is not
/// sealed, or not with the keys that it should be.
const uint8_t *hc_tap_open(struct hc_tap *tap, bool to_server, const uint8_t *bytes, size_t size,
                           uint8_t room[static HC_DATAGRAM_MAX]);
