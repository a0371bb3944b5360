/// Fuzzes names and addresses: the name check against the pre-check's UTF-8, escaped bytes read
/// back, formatted addresses parsed by the system.
///
/// The input is a byte for the room of the escaped text, and the bytes.
#include "hindcast/check.h"
#include "hindcast/address.h"
#include "proto/name.h"
#include "proto/precheck.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const uint8_t *bytes, size_t size) {
    uint8_t text[2 + UINT8_MAX] = {0xd9, (uint8_t)size}; // a msgpack string
    size_t used;
    enum hc_status status = hc_name_check(bytes, size);
    memcpy(text + 2, bytes, size);
    bool utf8 = hc_precheck(text, 2 + size, &used) == HC_OK;
    HC_ASSERT((status == HC_INVALID) == (size == 0 || size > HC_NAME_MAX));
    HC_ASSERT(status != HC_OK || utf8);
    HC_ASSERT(!utf8 || (status != HC_MALFORMED && status != HC_TRUNCATED));
    for (size_t i = 0; status == HC_OK && i < size; i++)
        HC_ASSERT(bytes[i] >= 0x20 && bytes[i] != 0x7f);
    if (status != HC_OK)
        return;
    uint8_t padded[HC_NAME_MAX] = {0};
    memcpy(padded, bytes, size);
    HC_ASSERT(hc_name_size(padded) == size);
}

/// Escapes the bytes and reads them back.
static void escape(const uint8_t *bytes, size_t size, size_t room) {
    char text[4 * UINT8_MAX + 1];
    size_t written = hc_name_escape(bytes, size, text, room), at = 0;
    HC_ASSERT(written <= size && strlen(text) < room);
    HC_ASSERT(written == size || strlen(text) + 4 >= room);
    for (size_t i = 0; i < written; i++) {
        char digits[3] = {0};
        HC_ASSERT(text[at] >= 0x20 && text[at] <= 0x7e && strchr("\"%$", text[at]) == NULL);
        if (text[at] != '\\') {
            HC_ASSERT((uint8_t)text[at++] == bytes[i]);
            continue;
        }
        HC_ASSERT(text[at + 1] == 'x');
        memcpy(digits, text + at + 2, 2);
        HC_ASSERT(strtoul(digits, NULL, 16) == bytes[i]);
        at += 4;
    }
    HC_ASSERT(text[at] == '\0');
}

static void print_address(const uint8_t *bytes) {
    struct hc_address address = {.port = (uint16_t)(bytes[16] << 8 | bytes[17])};
    char text[HC_ADDRESS_TEXT_MAX];
    uint8_t read[16] = {[10] = 0xff, [11] = 0xff};
    memcpy(address.ip, bytes, sizeof address.ip);
    HC_ASSERT(hc_address_format(&address, text) == text && strlen(text) < sizeof text);
    bool v4 = hc_address_is_ipv4(&address);
    char *colon = strrchr(text, ':');
    HC_ASSERT(colon != NULL && strtoul(colon + 1, NULL, 10) == address.port);
    colon[v4 ? 0 : -1] = '\0'; // "a.b.c.d:" and "[x]:"
    HC_ASSERT(v4 ? inet_pton(AF_INET, text, read + 12) == 1
                 : inet_pton(AF_INET6, text + 1, read) == 1);
    HC_ASSERT(memcmp(read, address.ip, sizeof read) == 0);
    struct hc_address home = hc_address_ipv4(127, bytes[0], bytes[1], bytes[2], address.port);
    HC_ASSERT(hc_address_is_loopback(&home) && hc_address_is_ipv4(&home));
    HC_ASSERT(!hc_address_is_loopback(&address) || !v4 || address.ip[12] == 127);
    HC_ASSERT(hc_address_equal(&address, &address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size - 1 > UINT8_MAX)
        return 0;
    check_name(data + 1, size - 1);
    escape(data + 1, size - 1, 1 + (size_t)4 * data[0]);
    if (size - 1 >= sizeof(struct hc_address))
        print_address(data + 1);
    if (size - 1 >= HC_NAME_MAX)
        HC_ASSERT(hc_name_size(data + 1) <= HC_NAME_MAX);
    return 0;
}
