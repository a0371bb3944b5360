/// Unpacking: msgpack-c's parser writes the values of pre-checked bytes into a flat list.
///
/// msgpack-c offers its parser as a template. Compiled here with inline callbacks, it takes a third
/// of the time of the tree of msgpack_object, and no memory.
#pragma once

#include "proto/precheck.h"

#include <stddef.h>
#include <stdint.h>

enum hc_value_type {
    HC_VALUE_NIL,
    HC_VALUE_FALSE,
    HC_VALUE_TRUE,
    HC_VALUE_UNSIGNED, ///< every integer from 0 on, in any form
    HC_VALUE_NEGATIVE,
    HC_VALUE_TEXT,
    HC_VALUE_BINARY,
    HC_VALUE_ARRAY, ///< an array, whose values follow it in the list
};

struct hc_value {
    uint8_t type;  ///< an enum hc_value_type
    uint16_t size; ///< of a text or binary: bytes; of an array: values, not counting nested ones
    uint16_t span; ///< of an array: values from it to the one after it, nested ones included
    union {
        uint64_t number; ///< HC_VALUE_UNSIGNED
        int64_t negative;
        const uint8_t *bytes; ///< of a text or binary, borrowed from the datagram
    } as;
};

/// Writes the value at `bytes`, which hc_precheck has accepted, and all nested values to `list`, in
/// the order of the bytes.
void hc_unpack(const uint8_t *bytes, size_t size,
               struct hc_value list[static HC_PRECHECK_NODES_MAX]);
