/// The key exchange X25519 (RFC 7748). No table and no branch depends on a secret.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { HC_WEB_X25519 = 32 }; ///< bytes of a secret, of a public key, and of a shared key

/// Writes the shared key of a secret and of another's public key to `out`. False: the public key is
/// one of the few whose shared keys are known to all, and `out` is 0.
bool hc_web_x25519(uint8_t out[static HC_WEB_X25519], const uint8_t secret[static HC_WEB_X25519],
                   const uint8_t key[static HC_WEB_X25519]);

/// Writes the public key of a secret to `out`.
void hc_web_x25519_public(uint8_t out[static HC_WEB_X25519],
                          const uint8_t secret[static HC_WEB_X25519]);
