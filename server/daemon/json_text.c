/// Owns the forms of JSON's numbers and strings in a growing text.
#include "server/daemon/json_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM_MIN = 4096, ///< bytes
    NUMBER_MAX = 24, ///< bytes of a number
};

/// Makes room for `more` bytes and returns their place; NULL: no memory.
static char *extend(struct hc_sv_json_text *text, size_t more) {
    size_t room = text->room < ROOM_MIN ? ROOM_MIN : text->room;
    while (room < text->size + more)
        room *= 2;
    if (room > text->room) {
        char *bytes = realloc(text->bytes, room);
        if (bytes == NULL) {
            text->failed = true;
            return NULL;
        }
        text->bytes = bytes;
        text->room = room;
    }
    text->size += more;
    return text->bytes + text->size - more;
}

void hc_sv_json_text_clear(struct hc_sv_json_text *text) {
    text->size = 0;
    text->failed = false;
}

void hc_sv_json_text_free(struct hc_sv_json_text *text) {
    free(text->bytes);
    *text = (struct hc_sv_json_text){.bytes = NULL};
}

static void add_bytes(struct hc_sv_json_text *text, const char *bytes, size_t size) {
    char *place = extend(text, size);
    if (place != NULL)
        memcpy(place, bytes, size);
}

void hc_sv_json_text_add(struct hc_sv_json_text *text, const char *plain) {
    add_bytes(text, plain, strlen(plain));
}

/// Adds the decimal digits of a number, at least `least` of them.
static void add_digits(struct hc_sv_json_text *text, uint64_t number, size_t least) {
    char digits[NUMBER_MAX];
    size_t at = sizeof(digits);
    while (number > 0 || sizeof(digits) - at < least) {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    add_bytes(text, digits + at, sizeof(digits) - at);
}

/// Adds the sign of a number, and returns its amount.
static uint64_t add_sign(struct hc_sv_json_text *text, int64_t number) {
    if (number >= 0)
        return (uint64_t)number;
    add_bytes(text, "-", 1);
    return -(uint64_t)number;
}

void hc_sv_json_text_number(struct hc_sv_json_text *text, int64_t number) {
    add_digits(text, add_sign(text, number), 1);
}

void hc_sv_json_text_next(struct hc_sv_json_text *text, int64_t number) {
    add_bytes(text, ",", 1);
    hc_sv_json_text_number(text, number);
}

void hc_sv_json_text_long(struct hc_sv_json_text *text, uint64_t number) {
    add_bytes(text, "\"", 1);
    add_digits(text, number, 1);
    add_bytes(text, "\"", 1);
}

void hc_sv_json_text_decimal(struct hc_sv_json_text *text, int64_t thousandths) {
    uint64_t amount = add_sign(text, thousandths);
    add_digits(text, amount / 1000, 1);
    if (amount % 1000 == 0)
        return;
    add_bytes(text, ".", 1);
    add_digits(text, amount % 1000, 3);
}

void hc_sv_json_text_string(struct hc_sv_json_text *text, const char *bytes, size_t size) {
    static const char hex[] = "0123456789abcdef";
    add_bytes(text, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        char escaped[] = {'\\', 'u', '0', '0', hex[byte / 16], hex[byte % 16]};
        if (byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\')
            add_bytes(text, escaped, sizeof(escaped));
        else
            add_bytes(text, bytes + i, 1);
    }
    add_bytes(text, "\"", 1);
}
