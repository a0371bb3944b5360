/// Ratchet: draws from a key that each draw replaces.
#include "proto/ratchet.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <string.h>

void hc_ratchet_init(struct hc_ratchet *ratchet, const uint8_t key[static HC_RATCHET_SIZE]) {
    memcpy(ratchet->key, key, HC_RATCHET_SIZE);
    ratchet->serial = 0;
}

void hc_ratchet_draw(struct hc_ratchet *ratchet, uint8_t *out, size_t size) {
    uint8_t serial[8], both[2 * HC_RATCHET_SIZE];
    struct hc_writer writer = hc_bytes_writer(serial, sizeof serial);
    HC_ASSERT(size >= 1 && size <= HC_RATCHET_SIZE);
    hc_bytes_put_u64(&writer, ++ratchet->serial);
    int failed = crypto_generichash(both, sizeof both, serial, sizeof serial, ratchet->key,
                                    sizeof ratchet->key);
    HC_ASSERT(!failed);
    memcpy(out, both, size);
    memcpy(ratchet->key, both + HC_RATCHET_SIZE, HC_RATCHET_SIZE);
    sodium_memzero(both, sizeof both);
}
