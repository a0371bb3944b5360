/// Network addresses: comparing and printing them.
#include "hindcast/address.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct hc_address) == 18, "an address has no padding");

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct hc_address hc_address_ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port) {
    struct hc_address address = {.port = port};
    memcpy(address.ip, mapped_prefix, sizeof mapped_prefix);
    address.ip[12] = a;
    address.ip[13] = b;
    address.ip[14] = c;
    address.ip[15] = d;
    return address;
}

bool hc_address_equal(const struct hc_address *a, const struct hc_address *b) {
    return a->port == b->port && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

bool hc_address_is_ipv4(const struct hc_address *address) {
    return memcmp(address->ip, mapped_prefix, sizeof mapped_prefix) == 0;
}

bool hc_address_is_loopback(const struct hc_address *address) {
    static const uint8_t loopback[16] = {[15] = 1};
    if (hc_address_is_ipv4(address))
        return address->ip[12] == 127;
    return memcmp(address->ip, loopback, sizeof loopback) == 0;
}

static unsigned group_of(const struct hc_address *address, unsigned i) {
    return (unsigned)address->ip[2 * i] << 8 | address->ip[2 * i + 1];
}

/// The length of the first of the longest runs of at least two zero groups; 0: there is none.
static unsigned longest_zeros(const struct hc_address *address, unsigned *start) {
    unsigned best = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned run = 0;
        while (i + run < 8 && group_of(address, i + run) == 0)
            run++;
        if (run >= 2 && run > best) {
            best = run;
            *start = i;
        }
    }
    return best;
}

const char *hc_address_format(const struct hc_address *address, char text[HC_ADDRESS_TEXT_MAX]) {
    if (hc_address_is_ipv4(address)) {
        const uint8_t *ip = address->ip + 12;
        (void)snprintf(text, HC_ADDRESS_TEXT_MAX, "%u.%u.%u.%u:%u", ip[0], ip[1], ip[2], ip[3],
                       address->port);
        return text;
    }
    unsigned start = 8;
    unsigned zeros = longest_zeros(address, &start);
    size_t at = 0;
    text[at++] = '[';
    for (unsigned i = 0; i < 8;) {
        if (i == start) {
            // The group behind the zeros writes no colon.
            at += (size_t)snprintf(text + at, HC_ADDRESS_TEXT_MAX - at, "::");
            i += zeros;
            continue;
        }
        const char *colon = i == 0 || i == start + zeros ? "" : ":";
        at += (size_t)snprintf(text + at, HC_ADDRESS_TEXT_MAX - at, "%s%x", colon,
                               group_of(address, i));
        i++;
    }
    (void)snprintf(text + at, HC_ADDRESS_TEXT_MAX - at, "]:%u", address->port);
    return text;
}
