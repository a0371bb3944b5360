/// Values out of pre-checked msgpack bytes: msgpack-c's parser, which writes
/// them as a flat list.
///
/// msgpack-c offers its parser as a template; compiled here, with what it calls
/// inline, it takes a third of the time that its tree of msgpack_object does,
/// and needs no memory of its own.
#pragma once

#include "proto/precheck.h"

#include <stddef.h>
#include <stdint.h>

enum hc_value_type {
    HC_VALUE_NIL,
    HC_VALUE_FALSE,
    HC_VALUE_TRUE,
    HC_VALUE_UNSIGNED, ///< every integer from 0 on, however it was written
    HC_VALUE_NEGATIVE,
    HC_VALUE_TEXT,
    HC_VALUE_BINARY,
    HC_VALUE_ARRAY, ///< its values follow it in the list
};

struct hc_value {
    uint8_t type;  ///< an enum hc_value_type
    uint16_t size; ///< of a text or binary: bytes; of an array: values, without
                   ///< those inside them
    uint16_t span; ///< of an array: values from it to the one after it, all
                   ///< inside it counted
    union {
        uint64_t number; ///< HC_VALUE_UNSIGNED
        int64_t negative;
        const uint8_t *bytes; ///< of a text or binary, borrowed from the datagram
    } as;
};

/// Writes the value at `bytes`, which hc_precheck has passed, and all inside it
/// to `list`, in the order of the bytes.
void hc_unpack(const uint8_t *bytes, size_t size,
               struct hc_value list[static HC_PRECHECK_NODES_MAX]);
