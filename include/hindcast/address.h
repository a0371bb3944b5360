/// Network addresses as plain bytes, which can be compared, hashed and printed.
#pragma once

#include "hindcast/api.h"

#include <stdbool.h>
#include <stdint.h>

HC_C_BEGIN

enum {
    HC_ADDRESS_TEXT_MAX = 54, ///< "[" 45 characters "]:" 5 digits and the end, rounded up
};

/// The source or the destination of a datagram. No padding: equal bytes are equal addresses.
struct hc_address {
    uint8_t ip[16]; ///< IPv6, network order; IPv4 is mapped: ::ffff:a.b.c.d
    uint16_t port;  ///< host order
};

/// The address a.b.c.d:port; `port` in host order.
HC_API struct hc_address hc_address_ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port);

/// Whether both name the same host and port.
HC_API bool hc_address_equal(const struct hc_address *a, const struct hc_address *b);

/// Whether `address` is a mapped IPv4 address, whose four bytes are the last of `ip`.
HC_API bool hc_address_is_ipv4(const struct hc_address *address);

/// Whether `address` is in 127.0.0.0/8 or is ::1.
HC_API bool hc_address_is_loopback(const struct hc_address *address);

/// Writes "a.b.c.d:port" or "[x:y::z]:port" (RFC 5952), terminated, to `text`
/// (HC_ADDRESS_TEXT_MAX bytes), and returns `text`.
HC_API const char *hc_address_format(const struct hc_address *address,
                                     char text[HC_AT_LEAST(HC_ADDRESS_TEXT_MAX)]);

HC_C_END
