/// Fuzzes the pre-check and the unpacking against msgpack-c: it must read accepted bytes whole and
/// to the same values. It must refuse refused ones, unless they hold a type that is not allowed.
///
/// The input is a byte for the place where accepted bytes are cut, and the bytes.
#include "hindcast/check.h"
#include "proto/unpack.h"

#include <msgpack.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Compares the list's value at `value` with `object`; returns the value behind it.
static const struct hc_value *compare(const struct hc_value *value, const msgpack_object *object) {
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        HC_ASSERT(value->type == HC_VALUE_NIL);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        HC_ASSERT(value->type == (object->via.boolean ? HC_VALUE_TRUE : HC_VALUE_FALSE));
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        HC_ASSERT(value->type == HC_VALUE_UNSIGNED && value->as.number == object->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        HC_ASSERT(value->type == HC_VALUE_NEGATIVE && value->as.negative == object->via.i64);
        break;
    case MSGPACK_OBJECT_STR:
        HC_ASSERT(value->type == HC_VALUE_TEXT && value->size == object->via.str.size);
        HC_ASSERT((const char *)value->as.bytes == object->via.str.ptr || value->size == 0 ||
                  memcmp(value->as.bytes, object->via.str.ptr, value->size) == 0);
        break;
    case MSGPACK_OBJECT_BIN:
        HC_ASSERT(value->type == HC_VALUE_BINARY && value->size == object->via.bin.size);
        HC_ASSERT(value->size == 0 ||
                  memcmp(value->as.bytes, object->via.bin.ptr, value->size) == 0);
        break;
    case MSGPACK_OBJECT_ARRAY: {
        HC_ASSERT(value->type == HC_VALUE_ARRAY && value->size == object->via.array.size);
        const struct hc_value *next = value + 1;
        for (uint32_t i = 0; i < object->via.array.size; i++)
            next = compare(next, &object->via.array.ptr[i]);
        HC_ASSERT(next - value == value->span);
        return next;
    }
    default:
        HC_ASSERT(false); // the pre-check accepts nothing else
    }
    return value + 1;
}

/// Whether the text is UTF-8 (RFC 3629): it decodes and encodes to the same bytes.
static bool is_utf8(const uint8_t *at, size_t size) {
    while (size > 0) {
        size_t used = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
        uint32_t point = used == 1 ? at[0] : at[0] & (0xffu >> (used + 1));
        uint8_t again[4];
        if (size < used)
            return false;
        for (size_t i = 1; i < used; i++)
            point = point << 6 | (at[i] & 0x3fu);
        size_t wanted = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        if (wanted != used || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return false;
        again[0] = (uint8_t)(used == 1 ? point : (0xf00u >> used | point >> 6 * (used - 1)));
        for (size_t i = 1; i < used; i++)
            again[i] = (uint8_t)(0x80 | (point >> 6 * (used - 1 - i) & 0x3f));
        if (memcmp(again, at, used) != 0)
            return false;
        at += used;
        size -= used;
    }
    return true;
}

/// Whether the pre-check must accept it, if it has no lengths of 32 bits.
static bool is_allowed(const msgpack_object *object, unsigned depth, uint32_t *nodes) {
    if (++*nodes > HC_PRECHECK_NODES_MAX)
        return false;
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
    case MSGPACK_OBJECT_BOOLEAN:
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
    case MSGPACK_OBJECT_BIN:
        return true;
    case MSGPACK_OBJECT_STR:
        return is_utf8((const uint8_t *)object->via.str.ptr, object->via.str.size);
    case MSGPACK_OBJECT_ARRAY:
        if (depth == HC_PRECHECK_DEPTH_MAX)
            return false;
        for (uint32_t i = 0; i < object->via.array.size; i++)
            if (!is_allowed(&object->via.array.ptr[i], depth + 1, nodes))
                return false;
        return true;
    default:
        return false;
    }
}

static bool has_any(const uint8_t *bytes, size_t size, const char *tags) {
    for (; *tags != '\0'; tags++)
        if (memchr(bytes, *tags, size) != NULL)
            return true;
    return false;
}

/// Skips arrays and maps of 32 bits: msgpack-c would allocate gigabytes for them.
static void check_refused(const uint8_t *bytes, size_t size, enum hc_status status) {
    msgpack_unpacked whole;
    size_t end = 0;
    uint32_t nodes = 0;
    if (has_any(bytes, size, "\xdd\xdf"))
        return;
    msgpack_unpacked_init(&whole);
    bool read =
        msgpack_unpack_next(&whole, (const char *)bytes, size, &end) == MSGPACK_UNPACK_SUCCESS;
    HC_ASSERT(!read || status == HC_MALFORMED);
    HC_ASSERT(!read || has_any(bytes, end, "\xc6\xdb") || !is_allowed(&whole.data, 0, &nodes));
    msgpack_unpacked_destroy(&whole);
}

static void check_passed(const uint8_t *bytes, size_t size, size_t used, uint8_t cut) {
    static struct hc_value list[HC_PRECHECK_NODES_MAX];
    msgpack_unpacked whole;
    size_t end = 0, less;
    HC_ASSERT(used > 0 && used <= size);
    msgpack_unpacked_init(&whole);
    HC_ASSERT(msgpack_unpack_next(&whole, (const char *)bytes, size, &end) ==
                  MSGPACK_UNPACK_SUCCESS &&
              end == used);
    uint32_t nodes = 0;
    HC_ASSERT(is_allowed(&whole.data, 0, &nodes));
    hc_unpack(bytes, used, list);
    HC_ASSERT(compare(list, &whole.data) - list == (ptrdiff_t)nodes);
    msgpack_unpacked_destroy(&whole);
    HC_ASSERT(hc_precheck(bytes, used, &less) == HC_OK && less == used);
    HC_ASSERT(hc_precheck(bytes, cut % used, &less) == HC_TRUNCATED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t used;
    if (size == 0)
        return 0;
    enum hc_status status = hc_precheck(data + 1, size - 1, &used);
    if (status == HC_OK)
        check_passed(data + 1, size - 1, used, data[0]);
    else
        check_refused(data + 1, size - 1, status);
    return 0;
}
