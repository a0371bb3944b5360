/// The layouts of the structs of the public headers, by the names of their members: hindcast.js
/// reads and writes structs with them, so that it repeats neither offsets nor lists of members.
#pragma once

#include "hindcast/api.h"

#include <stdint.h>

/// How the bytes of a member are read.
enum hc_web_type {
    HC_WEB_BOOL,
    HC_WEB_U8,
    HC_WEB_U16,
    HC_WEB_U32,
    HC_WEB_I32,
    HC_WEB_U64,       ///< a JavaScript number, exact up to 2^53: a count or a time
    HC_WEB_I64,       ///< a JavaScript number, as exact
    HC_WEB_ID,        ///< 64 bits, a BigInt: a hash, a seed, or a number that a backend gave
    HC_WEB_F64,       ///< a double
    HC_WEB_POINTER,   ///< an address in the module's memory
    HC_WEB_STRING,    ///< an address of UTF-8 with a zero at its end; 0: null
    HC_WEB_TEXT,      ///< UTF-8 in so many bytes, padded with zeros or ended by one
    HC_WEB_BYTES,     ///< so many bytes
    HC_WEB_WORD,      ///< an enum, read as the word for it
    HC_WEB_STRUCT,    ///< a struct with a layout
    HC_WEB_HISTOGRAM, ///< a struct hc_histogram
};

/// A member of a struct.
struct hc_web_member {
    const char *name;
    uint32_t offset; ///< bytes
    uint16_t type;   ///< enum hc_web_type
    uint16_t count;  ///< of an array: elements; of TEXT and BYTES: bytes; 0: no array
    const void *of;  ///< STRUCT: its struct hc_web_layout; WORD: `const char *` each, then NULL
};

/// A struct.
struct hc_web_layout {
    const char *name; ///< as in C, without `hc_`
    uint32_t size;    ///< bytes
    uint32_t count;   ///< of members
    const struct hc_web_member *members;
};

/// All layouts, in an array of pointers that NULL ends.
HC_EXPORT const struct hc_web_layout *const *hc_web_layouts(void);
