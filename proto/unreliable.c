/// Unreliable messages: their queue, and their encoding and decoding.
#include "proto/unreliable.h"

#include "hindcast/check.h"
#include "proto/pack.h"

#include <string.h>

_Static_assert(HC_MESSAGE_SIZE_MAX <= UINT8_MAX, "a length is one byte, here and on the wire");
_Static_assert(HC_UNRELIABLE_BYTES <= UINT16_MAX, "a queue is indexed by 16 bits");

enum {
    RECORD = 1,     ///< bytes beside each message in a queue
    HEADER_MAX = 4, ///< bytes of UNRELIABLE before the messages: the array with its count, the type
    BINARY_HEADER = 2,
};

void hc_unreliable_begin(struct hc_unreliable *queue) {
    queue->begin = queue->end = 0;
}

enum hc_status hc_unreliable_put(struct hc_unreliable *queue, const void *message, size_t size) {
    if (size == 0 || size > HC_MESSAGE_SIZE_MAX)
        return HC_INVALID;
    size_t used = (size_t)(queue->end - queue->begin);
    if (RECORD + size > sizeof queue->bytes - used)
        return HC_FULL;
    if (RECORD + size > sizeof queue->bytes - queue->end) {
        memmove(queue->bytes, queue->bytes + queue->begin, used);
        queue->begin = 0;
        queue->end = (uint16_t)used;
    }
    queue->bytes[queue->end] = (uint8_t)size;
    memcpy(queue->bytes + queue->end + RECORD, message, size);
    queue->end = (uint16_t)(queue->end + RECORD + size);
    return HC_OK;
}

const uint8_t *hc_unreliable_next(struct hc_unreliable *queue, size_t *size) {
    *size = 0;
    if (queue->begin == queue->end)
        return NULL;
    const uint8_t *message = queue->bytes + queue->begin + RECORD;
    *size = queue->bytes[queue->begin];
    queue->begin = (uint16_t)(queue->begin + RECORD + *size);
    return message;
}

uint32_t hc_unreliable_send(struct hc_unreliable *queue, struct hc_writer *body, size_t room) {
    size_t left = body->failed ? 0 : body->size - body->at;
    room = room < left ? room : left;
    size_t used = HEADER_MAX;
    uint32_t count = 0;
    for (uint32_t at = queue->begin; at < queue->end && count < HC_UNRELIABLE_EACH; count++) {
        used += BINARY_HEADER + queue->bytes[at];
        if (used > room)
            break;
        at += RECORD + queue->bytes[at];
    }
    if (count == 0)
        return 0;
    hc_pack_array(body, 1 + count);
    hc_pack_uint8(body, HC_MESSAGE_UNRELIABLE);
    for (uint32_t i = 0; i < count; i++) {
        size_t size;
        const uint8_t *message = hc_unreliable_next(queue, &size);
        hc_pack_bin(body, size);
        hc_pack_bin_body(body, message, size);
    }
    HC_ASSERT(!body->failed);
    return count;
}

enum hc_status hc_unreliable_check(struct hc_values values) {
    if (values.left == 0 || values.left > HC_UNRELIABLE_EACH)
        return HC_MALFORMED;
    while (values.left > 0 && !values.failed) {
        size_t size;
        const uint8_t *message = hc_values_binary(&values, &size);
        values.failed |= message == NULL || size == 0 || size > HC_MESSAGE_SIZE_MAX;
    }
    return hc_values_done(&values);
}

uint32_t hc_unreliable_take(struct hc_unreliable *queue, struct hc_values values,
                            uint64_t *dropped) {
    uint32_t count = 0;
    while (values.left > 0) {
        size_t size;
        const uint8_t *message = hc_values_binary(&values, &size);
        enum hc_status status = hc_unreliable_put(queue, message, size);
        HC_ASSERT(status != HC_INVALID);
        count += status == HC_OK;
        *dropped += status == HC_FULL;
    }
    return count;
}

uint32_t hc_unreliable_count(const struct hc_unreliable *queue) {
    uint32_t count = 0;
    for (uint32_t at = queue->begin; at < queue->end; at += RECORD + queue->bytes[at])
        count++;
    return count;
}
