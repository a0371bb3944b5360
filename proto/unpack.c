/// Unpacking: msgpack-c's parser template, compiled so that it fills a flat list.
#include "proto/unpack.h"

#include "hindcast/check.h"

#include <assert.h> // the template uses it
#include <msgpack.h>
#include <msgpack/unpack_define.h>

/// The list that the parser fills.
struct sink {
    struct hc_value *list;
    uint32_t count;
};

/// A value for the parser: the place of an array in the list; 0 for other values.
typedef uint32_t place;

static struct hc_value *add(struct sink *sink, enum hc_value_type type) {
    HC_ASSERT(sink->count < HC_PRECHECK_NODES_MAX);
    struct hc_value *value = &sink->list[sink->count++];
    value->type = (uint8_t)type;
    return value;
}

static inline int add_unsigned(struct sink *sink, uint64_t number) {
    add(sink, HC_VALUE_UNSIGNED)->as.number = number;
    return 0;
}

static inline int add_signed(struct sink *sink, int64_t number) {
    if (number >= 0)
        return add_unsigned(sink, (uint64_t)number);
    add(sink, HC_VALUE_NEGATIVE)->as.negative = number;
    return 0;
}

static inline int add_bytes(struct sink *sink, enum hc_value_type type, const char *bytes,
                            unsigned size) {
    struct hc_value *value = add(sink, type);
    value->size = (uint16_t)size;
    value->as.bytes = (const uint8_t *)bytes;
    return 0;
}

// ---- Callbacks of the template ------------------------------------------------------------------

#define SIMPLE(name, type)                                                                         \
    static inline int take_##name(struct sink *sink, place *out) {                                 \
        *out = 0;                                                                                  \
        add(sink, type);                                                                           \
        return 0;                                                                                  \
    }
SIMPLE(nil, HC_VALUE_NIL)
SIMPLE(false, HC_VALUE_FALSE)
SIMPLE(true, HC_VALUE_TRUE)

#define INTEGER(name, type, add_it)                                                                \
    static inline int take_##name(struct sink *sink, type number, place *out) {                    \
        *out = 0;                                                                                  \
        return add_it(sink, number);                                                               \
    }
INTEGER(uint8, uint8_t, add_unsigned)
INTEGER(uint16, uint16_t, add_unsigned)
INTEGER(uint32, uint32_t, add_unsigned)
INTEGER(uint64, uint64_t, add_unsigned)
INTEGER(int8, int8_t, add_signed)
INTEGER(int16, int16_t, add_signed)
INTEGER(int32, int32_t, add_signed)
INTEGER(int64, int64_t, add_signed)

static inline int take_str(struct sink *sink, const char *base, const char *bytes, unsigned size,
                           place *out) {
    (void)base;
    *out = 0;
    return add_bytes(sink, HC_VALUE_TEXT, bytes, size);
}

static inline int take_bin(struct sink *sink, const char *base, const char *bytes, unsigned size,
                           place *out) {
    (void)base;
    *out = 0;
    return add_bytes(sink, HC_VALUE_BINARY, bytes, size);
}

static inline int take_array(struct sink *sink, unsigned count, place *out) {
    *out = sink->count;
    struct hc_value *value = add(sink, HC_VALUE_ARRAY);
    value->size = (uint16_t)count;
    value->span = 1;
    return 0;
}

static inline int take_array_item(struct sink *sink, const place *array, place item) {
    (void)item;
    sink->list[*array].span = (uint16_t)(sink->count - *array);
    return 0;
}

// The pre-check refuses these types. The parser passes pointers to fill in, so none is const.
// NOLINTBEGIN(readability-non-const-parameter)

static inline int take_float(struct sink *sink, float number, place *out) {
    (void)sink, (void)number, (void)out;
    return -1;
}

static inline int take_double(struct sink *sink, double number, place *out) {
    (void)sink, (void)number, (void)out;
    return -1;
}

static inline int take_ext(struct sink *sink, const char *base, const char *bytes, unsigned size,
                           place *out) {
    (void)sink, (void)base, (void)bytes, (void)size, (void)out;
    return -1;
}

static inline int take_map(struct sink *sink, unsigned count, place *out) {
    (void)sink, (void)count, (void)out;
    return -1;
}

// NOLINTEND(readability-non-const-parameter)

static inline int take_map_item(struct sink *sink, const place *map, place key, place item) {
    (void)sink, (void)map, (void)key, (void)item;
    return -1;
}

static inline place take_root(const struct sink *sink) {
    (void)sink;
    return 0;
}

// NOLINTBEGIN(readability-identifier-naming): the template's names
#define msgpack_unpack_struct(name) struct parser##name
#define msgpack_unpack_func(type, name) static inline type parser##name
#define msgpack_unpack_callback(name) take##name
#define msgpack_unpack_object place
#define msgpack_unpack_user struct sink
#include <msgpack/unpack_template.h>
// NOLINTEND(readability-identifier-naming)

void hc_unpack(const uint8_t *bytes, size_t size,
               struct hc_value list[static HC_PRECHECK_NODES_MAX]) {
    struct parser_context parser;
    size_t at = 0;
    parser_init(&parser);
    parser.user = (struct sink){.list = list};
    int done = parser_execute(&parser, (const char *)bytes, size, &at);
    HC_ASSERT(done > 0 && at == size);
}
