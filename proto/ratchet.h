/// Ratchet: draws random bytes, such as nonces, cids and ephemeral keys, from 32 secret ones.
///
///     serial  = 1, 2, ...
///     out 32 | next key 32 = BLAKE2b-512(serial 8, keyed by key)
///
/// Each draw replaces the key ("fast key erasure", Bernstein 2017): the state reveals nothing of
/// earlier draws. Two ratchets with one key draw the same bytes.
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

/// Starts with `key`; the caller must erase its copy.
void hc_ratchet_init(struct hc_ratchet *ratchet, const uint8_t key[static HC_RATCHET_SIZE]);

/// Draws `size` bytes, in [1, HC_RATCHET_SIZE].
void hc_ratchet_draw(struct hc_ratchet *ratchet, uint8_t *out, size_t size);
