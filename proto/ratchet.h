/// Random bytes drawn from 32 secret ones: nonces, cids, ephemeral keys.
///
///     serial  = 1, 2, ...
///     out 32 | next key 32 = BLAKE2b-512(serial 8, keyed by key)
///
/// Each draw replaces the key ("fast key erasure", Bernstein 2017): whoever reads the state later
/// learns nothing of what was drawn before. Two ratchets of one key draw the same bytes.
///
/// Calls belong in this order: hc_ratchet_init, then hc_ratchet_draw any number of times. Zeros
/// erase the state.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HC_RATCHET_SIZE = 32 }; ///< bytes of the key, and of one draw at most

struct hc_ratchet {
    uint8_t key[HC_RATCHET_SIZE];
    uint64_t serial; ///< of the newest draw
};

/// Begins with `key`, of which the caller keeps no copy.
void hc_ratchet_init(struct hc_ratchet *ratchet, const uint8_t key[static HC_RATCHET_SIZE]);

/// Draws `size` bytes, in [1, HC_RATCHET_SIZE].
void hc_ratchet_draw(struct hc_ratchet *ratchet, uint8_t *out, size_t size);
