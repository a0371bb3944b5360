/// Cookies: stateless proof that the sender of a HELLO receives at its address.
///
/// cookie = BLAKE2b-128(slot 4 | ip 16 | port 2 | client_nonce 16), keyed by the slot's key, which
/// is BLAKE2b-256(slot 4) keyed by the secret; numbers little-endian. A slot lasts 10 s; cookies of
/// the current and the previous slot are accepted. The idea is that of DTLS (RFC 6347, 4.2.1) and
/// of QUIC's Retry (RFC 9000, 8.1).
#pragma once

#include "hindcast/status.h"
#include "hindcast/address.h"
#include "proto/datagram.h"

#include <stdint.h>

enum {
    HC_COOKIE_SECRET_SIZE = 32,
};

/// Makes and checks cookies; holds no state of a client.
struct hc_cookie_jar {
    uint8_t secret[HC_COOKIE_SECRET_SIZE];
    uint32_t slot[2];                      ///< the slots of the keys
    uint8_t key[2][HC_COOKIE_SECRET_SIZE]; ///< the key of an even and of an odd slot
};

/// Starts with a secret; every process draws a new one.
void hc_cookie_init(struct hc_cookie_jar *jar, const uint8_t secret[static HC_COOKIE_SECRET_SIZE]);

/// The slot at `now_us` on the server's monotonic clock.
uint32_t hc_cookie_slot(uint64_t now_us);

/// The cookie for `address` and `client_nonce` in `slot`.
void hc_cookie_make(struct hc_cookie_jar *jar, uint32_t slot, const struct hc_address *address,
                    const uint8_t client_nonce[static HC_NONCE_SIZE],
                    uint8_t cookie[static HC_COOKIE_SIZE]);

/// HC_OK; HC_TOO_OLD or HC_TOO_NEW for a slot that is not accepted at `now_us`; HC_MALFORMED for a
/// cookie of another address, nonce or slot. The comparison takes constant time.
enum hc_status hc_cookie_check(struct hc_cookie_jar *jar, uint64_t now_us, uint32_t slot,
                               const struct hc_address *address,
                               const uint8_t client_nonce[static HC_NONCE_SIZE],
                               const uint8_t cookie[static HC_COOKIE_SIZE]);
