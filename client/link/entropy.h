/// The source of a client's randomness: the one place of the library that asks the operating system
/// for random bytes.
#pragma once

#include "hindcast/client.h"
#include "proto/ratchet.h"

/// Begins the ratchet that draws the client's nonces and ephemeral keys.
///
///     key = BLAKE2b-256("HCAST03 client" | token 244 | now_us 8, keyed by the entropy)
///
/// The entropy is config->entropy, or 32 bytes of the operating system if that is NULL. Token and
/// time separate two runs to which a caller gave the same 32 bytes.
void hc_cl_entropy_begin(const struct hc_client_config *config, uint64_t now_us,
                         struct hc_ratchet *out);

/// Draws an unpredictable number below `bound`, which is not 0.
uint32_t hc_cl_entropy_draw_below(struct hc_ratchet *ratchet, uint32_t bound);
