/// Bodies: the checked order of their messages, and the reading of one message's values.
#include "proto/body.h"

#include "hindcast/check.h"

#include <string.h>

/// Whether a message of this type is the only one of its body.
static bool stands_alone(uint8_t type) {
    return type == HC_MESSAGE_WELCOME || type == HC_MESSAGE_CLOSE;
}

/// The place of a known type in the bits of those that were seen; that of HC_MESSAGE_END: unknown.
static unsigned bit_of(uint8_t type) {
    _Static_assert((int)HC_MESSAGE_NOTICE + 1 == (int)HC_MESSAGE_SKIPPED,
                   "no known type is skipped");
    if (type == HC_MESSAGE_NOTICE)
        return HC_MESSAGE_TYPES;
    return type < HC_MESSAGE_TYPES ? type : HC_MESSAGE_END;
}

/// The type of the pre-checked message at `bytes`; HC_MESSAGE_END when it is no message. A type is
/// always one byte, so the order of the messages is known without decoding.
static uint8_t type_at(const uint8_t *bytes, size_t used) {
    bool is_short = bytes[0] > 0x90 && bytes[0] <= 0x9f;
    size_t header = bytes[0] == 0xdc ? 3 : 1;
    if ((!is_short && header == 1) || used <= header)
        return HC_MESSAGE_END;
    return bytes[header];
}

enum hc_status hc_body_begin(struct hc_body *body, const uint8_t *bytes, size_t size) {
    bool alone = false;
    uint32_t seen = 0;
    body->count = 0;
    for (size_t at = 0, used; at < size; at += used) {
        enum hc_status status = hc_precheck(bytes + at, size - at, &used);
        if (status != HC_OK)
            return status;
        uint8_t type = type_at(bytes + at, used);
        if (type >= HC_MESSAGE_SKIPPED && type <= INT8_MAX)
            continue;
        unsigned bit = bit_of(type);
        if (bit == HC_MESSAGE_END || (seen >> bit & 1) != 0)
            return HC_MALFORMED;
        if (alone || (stands_alone(type) && seen != 0) || at + used > UINT16_MAX)
            return HC_MALFORMED;
        alone = stands_alone(type);
        seen |= UINT32_C(1) << bit;
        body->types[body->count] = type;
        body->starts[body->count] = (uint16_t)at;
        body->ends[body->count++] = (uint16_t)(at + used);
    }
    body->bytes = bytes;
    hc_body_rewind(body);
    return HC_OK;
}

void hc_body_rewind(struct hc_body *body) {
    body->next = 0;
    body->type = HC_MESSAGE_END;
}

enum hc_message_type hc_body_next(struct hc_body *body) {
    body->type = HC_MESSAGE_END;
    if (body->next == body->count)
        return HC_MESSAGE_END;
    uint16_t start = body->starts[body->next], end = body->ends[body->next];
    body->type = (enum hc_message_type)body->types[body->next++];
    hc_unpack(body->bytes + start, (size_t)(end - start), body->values);
    return body->type;
}

enum hc_message_type hc_body_next_of(struct hc_body *body, enum hc_message_type type) {
    while (body->next < body->count && body->types[body->next] != type)
        body->next++;
    return hc_body_next(body);
}

struct hc_values hc_body_values(const struct hc_body *body) {
    HC_ASSERT(body->type != HC_MESSAGE_END);
    // The array itself and the type come first.
    return (struct hc_values){.next = body->values + 2, .left = body->values[0].size - 1u};
}

/// The next value if it is of `type`; else NULL, and failed.
static const struct hc_value *take(struct hc_values *values, enum hc_value_type type) {
    if (values->failed || values->left == 0 || values->next->type != type) {
        values->failed = true;
        return NULL;
    }
    const struct hc_value *value = values->next;
    values->left--;
    values->next += type == HC_VALUE_ARRAY ? value->span : 1;
    return value;
}

uint64_t hc_values_unsigned(struct hc_values *values, uint64_t max) {
    const struct hc_value *value = take(values, HC_VALUE_UNSIGNED);
    if (value == NULL)
        return 0;
    if (value->as.number > max) {
        values->failed = true;
        return 0;
    }
    return value->as.number;
}

int64_t hc_values_signed(struct hc_values *values, int64_t min, int64_t max) {
    HC_ASSERT(min <= max);
    bool positive = values->left > 0 && values->next->type == HC_VALUE_UNSIGNED;
    const struct hc_value *value = take(values, positive ? HC_VALUE_UNSIGNED : HC_VALUE_NEGATIVE);
    if (value == NULL)
        return 0;
    bool too_big = positive && value->as.number > INT64_MAX;
    if (too_big || value->as.negative < min || value->as.negative > max) {
        values->failed = true;
        return 0;
    }
    return value->as.negative;
}

const uint8_t *hc_values_binary(struct hc_values *values, size_t *size) {
    const struct hc_value *value = take(values, HC_VALUE_BINARY);
    *size = value == NULL ? 0 : value->size;
    return value == NULL ? NULL : value->as.bytes;
}

struct hc_values hc_values_array(struct hc_values *values) {
    const struct hc_value *value = take(values, HC_VALUE_ARRAY);
    if (value == NULL)
        return (struct hc_values){.failed = true};
    return (struct hc_values){.next = value + 1, .left = value->size};
}

enum hc_status hc_values_done(const struct hc_values *values) {
    return values->failed || values->left > 0 ? HC_MALFORMED : HC_OK;
}

bool hc_body_commit(struct hc_writer *writer, const struct hc_writer *before) {
    if (!writer->failed)
        return true;
    *writer = *before;
    return false;
}
