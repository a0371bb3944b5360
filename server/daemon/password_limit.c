/// Owns the counts of wrong passwords by address.
#include "server/daemon/password_limit.h"

#include "common/limit.h"

#include <sodium.h>
#include <string.h>

enum {
    TABLES = 2,
    BURST_US = HC_SV_PASSWORDS_AT_ONCE * HC_SV_PASSWORD_US,
};

_Static_assert(sizeof(((struct hc_sv_password_limit *)0)->secret) == crypto_shorthash_KEYBYTES,
               "the key of the hash");

void hc_sv_password_limit_init(struct hc_sv_password_limit *limit) {
    memset(limit, 0, sizeof(*limit));
    randombytes_buf(limit->secret, sizeof(limit->secret));
}

/// The place of a peer in each table.
static void find(const struct hc_sv_password_limit *limit, const struct hc_sv_http_peer *peer,
                 unsigned places[static TABLES]) {
    uint64_t hash;
    _Static_assert(sizeof(hash) == crypto_shorthash_BYTES, "a hash of 64 bits");
    crypto_shorthash((uint8_t *)&hash, peer->bytes, sizeof(peer->bytes), limit->secret);
    places[0] = (unsigned)(hash % HC_SV_PASSWORD_LIMIT_PLACES);
    places[1] = (unsigned)(hash / HC_SV_PASSWORD_LIMIT_PLACES % HC_SV_PASSWORD_LIMIT_PLACES);
}

bool hc_sv_password_limit_is_reached(const struct hc_sv_password_limit *limit,
                                     const struct hc_sv_http_peer *peer, uint64_t now_us) {
    unsigned places[TABLES];
    bool reached = true;
    find(limit, peer, places);
    for (unsigned t = 0; t < TABLES; t++) {
        uint64_t until_us = limit->until_us[t][places[t]];
        reached &= hc_limit_exceeds(&until_us, HC_SV_PASSWORD_US, BURST_US, now_us);
    }
    return reached;
}

void hc_sv_password_limit_count(struct hc_sv_password_limit *limit,
                                const struct hc_sv_http_peer *peer, uint64_t now_us) {
    unsigned places[TABLES];
    find(limit, peer, places);
    for (unsigned t = 0; t < TABLES; t++)
        (void)hc_limit_exceeds(&limit->until_us[t][places[t]], HC_SV_PASSWORD_US, BURST_US, now_us);
}
