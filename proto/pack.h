/// Packing: writes msgpack values to a struct hc_writer, by hc_pack_array, hc_pack_int64 and so on.
///
/// msgpack-c offers its packer as a template. Compiled here, it makes no call through a pointer.
/// Ignore the return values: a failure sticks in the writer.
#pragma once

#include "common/byte_order.h"
#include "common/bytes.h"

#include <msgpack.h>

// With the installed headers of another machine both ends would swap all numbers, and no standard
// peer would understand them.
_Static_assert(MSGPACK_ENDIAN_BIG_BYTE == HC_BIG_ENDIAN,
               "the headers of msgpack-c are those of a machine with another byte order");

// NOLINTBEGIN(readability-identifier-naming): the template's names
#define msgpack_pack_inline_func(name) static inline int hc_pack##name
#define msgpack_pack_inline_func_cint(name) static inline int hc_pack##name
#define msgpack_pack_inline_func_fixint(name) static inline int hc_pack_fix##name
#define msgpack_pack_user struct hc_writer *
#define msgpack_pack_append_buffer(writer, bytes, size)                                            \
    do {                                                                                           \
        hc_bytes_put(writer, bytes, size);                                                         \
        return 0;                                                                                  \
    } while (0)
#include <msgpack/pack_template.h>
// NOLINTEND(readability-identifier-naming)
