#include "proto/body.h"

#include "common/check.h"

#include <string.h>

/// Which of the types refer to the SNAPSHOT before them.
static bool refers_to_snapshot(enum hc_message_type type) {
    return type >= HC_MESSAGE_INPUTS && type <= HC_MESSAGE_CORRECTION;
}

/// Which of the types are alone in their datagram.
static bool stands_alone(enum hc_message_type type) {
    return type == HC_MESSAGE_WELCOME || type == HC_MESSAGE_CLOSE;
}

/// The type of the pre-checked message at `bytes`; HC_MESSAGE_END when it is no message. Types are
/// small enough that their only form is the one byte, which saves decoding to know the order.
static enum hc_message_type type_at(const uint8_t *bytes, size_t used) {
    bool is_short = bytes[0] > 0x90 && bytes[0] <= 0x9f;
    size_t header = bytes[0] == 0xdc ? 3 : 1;
    if ((!is_short && header == 1) || used <= header)
        return HC_MESSAGE_END;
    uint8_t type = bytes[header];
    return type < HC_MESSAGE_TYPES ? (enum hc_message_type)type : HC_MESSAGE_END;
}

enum hc_status hc_body_begin(struct hc_body *body, const uint8_t *bytes, size_t size) {
    bool alone = false, told = false;
    for (size_t at = 0, used; at < size; at += used) {
        enum hc_status status = hc_precheck(bytes + at, size - at, &used);
        if (status != HC_OK)
            return status;
        enum hc_message_type type = type_at(bytes + at, used);
        bool first = at == 0;
        if (type == HC_MESSAGE_END || alone || (stands_alone(type) && !first))
            return HC_MALFORMED;
        if (refers_to_snapshot(type) ? !told : type == HC_MESSAGE_SNAPSHOT && told)
            return HC_MALFORMED;
        alone = stands_alone(type);
        told = told || type == HC_MESSAGE_SNAPSHOT;
    }
    body->bytes = bytes;
    body->size = size;
    body->at = 0;
    body->type = HC_MESSAGE_END;
    return HC_OK;
}

enum hc_message_type hc_body_next(struct hc_body *body) {
    body->type = HC_MESSAGE_END;
    if (body->at == body->size)
        return HC_MESSAGE_END;
    // A zone over our own memory: the pre-check has bounded the tree, so that it cannot ask for
    // more, and msgpack-c never allocates.
    msgpack_zone zone;
    memset(&zone, 0, sizeof zone);
    zone.chunk_list.free = sizeof body->tree;
    zone.chunk_list.ptr = (char *)body->tree;
    msgpack_unpack_return unpacked =
        msgpack_unpack((const char *)body->bytes, body->size, &body->at, &zone, &body->root);
    HC_ASSERT(unpacked == MSGPACK_UNPACK_SUCCESS || unpacked == MSGPACK_UNPACK_EXTRA_BYTES);
    HC_ASSERT(zone.chunk_list.head == NULL && zone.finalizer_array.array == NULL);
    body->type = (enum hc_message_type)body->root.via.array.ptr[0].via.u64;
    return body->type;
}

struct hc_values hc_body_values(const struct hc_body *body) {
    HC_ASSERT(body->type != HC_MESSAGE_END);
    return (struct hc_values){.next = body->root.via.array.ptr + 1,
                              .left = body->root.via.array.size - 1};
}

/// The next value if it is of `type`; else NULL, and failed.
static const msgpack_object *take(struct hc_values *values, msgpack_object_type type) {
    if (values->failed || values->left == 0 || values->next->type != type) {
        values->failed = true;
        return NULL;
    }
    values->left--;
    return values->next++;
}

uint64_t hc_values_unsigned(struct hc_values *values, uint64_t max) {
    const msgpack_object *value = take(values, MSGPACK_OBJECT_POSITIVE_INTEGER);
    if (value == NULL)
        return 0;
    if (value->via.u64 > max) {
        values->failed = true;
        return 0;
    }
    return value->via.u64;
}

int64_t hc_values_signed(struct hc_values *values, int64_t min, int64_t max) {
    HC_ASSERT(min <= max);
    bool positive = values->left > 0 && values->next->type == MSGPACK_OBJECT_POSITIVE_INTEGER;
    const msgpack_object *value =
        take(values, positive ? MSGPACK_OBJECT_POSITIVE_INTEGER : MSGPACK_OBJECT_NEGATIVE_INTEGER);
    if (value == NULL)
        return 0;
    bool too_big = positive && value->via.u64 > INT64_MAX;
    if (too_big || value->via.i64 < min || value->via.i64 > max) {
        values->failed = true;
        return 0;
    }
    return value->via.i64;
}

const uint8_t *hc_values_binary(struct hc_values *values, size_t *size) {
    const msgpack_object *value = take(values, MSGPACK_OBJECT_BIN);
    *size = value == NULL ? 0 : value->via.bin.size;
    return value == NULL ? NULL : (const uint8_t *)value->via.bin.ptr;
}

struct hc_values hc_values_array(struct hc_values *values) {
    const msgpack_object *value = take(values, MSGPACK_OBJECT_ARRAY);
    if (value == NULL)
        return (struct hc_values){.failed = true};
    return (struct hc_values){.next = value->via.array.ptr, .left = value->via.array.size};
}

bool hc_values_nil(struct hc_values *values) {
    if (values->failed || values->left == 0 || values->next->type != MSGPACK_OBJECT_NIL)
        return false;
    values->left--;
    values->next++;
    return true;
}

bool hc_values_false(struct hc_values *values) {
    if (values->failed || values->left == 0 || values->next->type != MSGPACK_OBJECT_BOOLEAN ||
        values->next->via.boolean)
        return false;
    values->left--;
    values->next++;
    return true;
}

enum hc_status hc_values_done(const struct hc_values *values) {
    return values->failed || values->left > 0 ? HC_MALFORMED : HC_OK;
}

static int append(void *data, const char *bytes, size_t size) {
    struct hc_writer *writer = data;
    hc_bytes_put(writer, bytes, size);
    return writer->failed ? -1 : 0;
}

msgpack_packer hc_body_packer(struct hc_writer *writer) {
    msgpack_packer packer;
    msgpack_packer_init(&packer, writer, append);
    return packer;
}

bool hc_body_commit(struct hc_writer *writer, const struct hc_writer *before) {
    if (!writer->failed)
        return true;
    *writer = *before;
    return false;
}
