/// Cookies: making and checking them, with the keys of two slots.
#include "proto/cookie.h"

#include "common/bytes.h"
#include "common/elapsed.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <string.h>

static void derive(struct hc_cookie_jar *jar, uint32_t slot) {
    uint8_t message[4];
    struct hc_writer writer = hc_bytes_writer(message, sizeof message);
    hc_bytes_put_u32(&writer, slot);
    int failed = crypto_generichash(jar->key[slot & 1], HC_COOKIE_SECRET_SIZE, message,
                                    sizeof message, jar->secret, HC_COOKIE_SECRET_SIZE);
    HC_ASSERT(!failed);
    jar->slot[slot & 1] = slot;
}

void hc_cookie_init(struct hc_cookie_jar *jar, const uint8_t secret[static HC_COOKIE_SECRET_SIZE]) {
    memcpy(jar->secret, secret, HC_COOKIE_SECRET_SIZE);
    derive(jar, 0);
    derive(jar, 1);
}

uint32_t hc_cookie_slot(uint64_t now_us) {
    return (uint32_t)(now_us / HC_COOKIE_SLOT_US);
}

void hc_cookie_make(struct hc_cookie_jar *jar, uint32_t slot, const struct hc_address *address,
                    const uint8_t client_nonce[static HC_NONCE_SIZE],
                    uint8_t cookie[static HC_COOKIE_SIZE]) {
    if (jar->slot[slot & 1] != slot)
        derive(jar, slot);
    uint8_t message[4 + 16 + 2 + HC_NONCE_SIZE];
    struct hc_writer writer = hc_bytes_writer(message, sizeof message);
    hc_bytes_put_u32(&writer, slot);
    hc_bytes_put(&writer, address->ip, sizeof address->ip);
    hc_bytes_put_u16(&writer, address->port);
    hc_bytes_put(&writer, client_nonce, HC_NONCE_SIZE);
    HC_ASSERT(!writer.failed && writer.at == sizeof message);
    int failed = crypto_generichash(cookie, HC_COOKIE_SIZE, message, sizeof message,
                                    jar->key[slot & 1], HC_COOKIE_SECRET_SIZE);
    HC_ASSERT(!failed);
}

enum hc_status hc_cookie_check(struct hc_cookie_jar *jar, uint64_t now_us, uint32_t slot,
                               const struct hc_address *address,
                               const uint8_t client_nonce[static HC_NONCE_SIZE],
                               const uint8_t cookie[static HC_COOKIE_SIZE]) {
    uint32_t now = hc_cookie_slot(now_us);
    if (slot > now)
        return HC_TOO_NEW;
    if (hc_since(slot, now) > 1)
        return HC_TOO_OLD;
    uint8_t expected[HC_COOKIE_SIZE];
    hc_cookie_make(jar, slot, address, client_nonce, expected);
    return sodium_memcmp(expected, cookie, sizeof expected) == 0 ? HC_OK : HC_MALFORMED;
}
