/// Derives the key of the client's ratchet from entropy, token and time, and draws numbers from it.
#include "client/link/entropy.h"

#include "common/bytes.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <string.h>

#define LABEL "HCAST03 client"

enum { LABEL_SIZE = sizeof LABEL - 1, MESSAGE_SIZE = LABEL_SIZE + HC_TOKEN_SIZE + 8 };

void hc_cl_entropy_begin(const struct hc_client_config *config, uint64_t now_us,
                         struct hc_ratchet *out) {
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE], key[HC_RATCHET_SIZE], message[MESSAGE_SIZE];
    if (config->entropy != NULL)
        memcpy(entropy, config->entropy, sizeof entropy);
    else
        randombytes_buf(entropy, sizeof entropy);
    struct hc_writer writer = hc_bytes_writer(message, sizeof message);
    hc_bytes_put(&writer, LABEL, LABEL_SIZE);
    hc_bytes_put(&writer, config->credential.token, HC_TOKEN_SIZE);
    hc_bytes_put_u64(&writer, now_us);
    HC_ASSERT(!writer.failed && writer.at == sizeof message);
    int failed =
        crypto_generichash(key, sizeof key, message, sizeof message, entropy, sizeof entropy);
    HC_ASSERT(!failed);
    hc_ratchet_init(out, key);
    sodium_memzero(entropy, sizeof entropy);
    sodium_memzero(key, sizeof key);
}

uint32_t hc_cl_entropy_draw_below(struct hc_ratchet *ratchet, uint32_t bound) {
    uint8_t drawn[4];
    hc_ratchet_draw(ratchet, drawn, sizeof drawn);
    struct hc_reader reader = hc_bytes_reader(drawn, sizeof drawn);
    return hc_bytes_get_u32(&reader) % bound;
}
