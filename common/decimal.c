/// The decimal parser.
#include "common/decimal.h"

#include "hindcast/check.h"

/// Appends one decimal digit; HC_INVALID when the result does not fit.
static enum hc_status append(uint64_t *value, unsigned digit) {
    if (*value > (UINT64_MAX - digit) / 10)
        return HC_INVALID;
    *value = *value * 10 + digit;
    return HC_OK;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

enum hc_status hc_decimal_parse(const char *text, unsigned places, uint64_t *value) {
    HC_ASSERT(places <= HC_DECIMAL_PLACES_MAX);
    uint64_t result = 0;
    enum hc_status status = HC_OK;
    if (!is_digit(*text))
        return HC_MALFORMED;
    for (; is_digit(*text); text++)
        if (append(&result, (unsigned)(*text - '0')) != HC_OK)
            status = HC_INVALID;

    unsigned decimals = 0;
    if (*text == '.') {
        text++;
        for (; is_digit(*text) && decimals < places; text++, decimals++)
            if (append(&result, (unsigned)(*text - '0')) != HC_OK)
                status = HC_INVALID;
        if (decimals == 0)
            return HC_MALFORMED;
    }
    if (*text != '\0')
        return HC_MALFORMED;
    for (; decimals < places; decimals++)
        if (append(&result, 0) != HC_OK)
            status = HC_INVALID;
    if (status == HC_OK)
        *value = result;
    return status;
}
