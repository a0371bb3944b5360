/// JSON as text that grows: for answers that are made many times a second, without an object for
/// each number. The writer sets the brackets and commas.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A text; all zeros is an empty one.
struct hc_sv_json_text {
    char *bytes; ///< [size], without an ending zero
    size_t size, room;
    bool failed; ///< memory was short, so the text is not whole
};

/// Empties the text, and keeps its memory.
void hc_sv_json_text_clear(struct hc_sv_json_text *text);

/// Frees the memory.
void hc_sv_json_text_free(struct hc_sv_json_text *text);

/// Adds `plain` as it is, such as brackets or a key.
void hc_sv_json_text_add(struct hc_sv_json_text *text, const char *plain);

/// Adds a number.
void hc_sv_json_text_number(struct hc_sv_json_text *text, int64_t number);

/// Adds a comma before a number.
void hc_sv_json_text_next(struct hc_sv_json_text *text, int64_t number);

/// Adds a number of 64 bits as a string: not every reader reads it exactly.
void hc_sv_json_text_long(struct hc_sv_json_text *text, uint64_t number);

/// Adds `thousandths` / 1000.
void hc_sv_json_text_decimal(struct hc_sv_json_text *text, int64_t thousandths);

/// Adds `size` bytes of UTF-8 as a string.
void hc_sv_json_text_string(struct hc_sv_json_text *text, const char *bytes, size_t size);
