/// Notices: their check, their line of English, and the codec of NOTICE.
#include "proto/notice.h"

#include "hindcast/check.h"
#include "proto/name.h"
#include "proto/pack.h"

#include <stdio.h>
#include <string.h>

enum { NOTICE_VALUES = 6 };

// ---- Check --------------------------------------------------------------------------------------

/// Whether the bytes are an address: ASCII that can be seen.
static bool is_where(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] <= 0x20 || bytes[i] > 0x7e)
            return false;
    return size <= HC_NOTICE_WHERE_MAX;
}

static bool is_text(const uint8_t *bytes, size_t size) {
    return size <= HC_NOTICE_TEXT_MAX && (size == 0 || hc_text_check(bytes, size) == HC_OK);
}

/// Bytes of a text that ends with a zero; `size`: it has no end.
static size_t size_of(const char *text, size_t size) {
    const char *end = memchr(text, 0, size);
    return end == NULL ? size : (size_t)(end - text);
}

const char *hc_notice_check(const struct hc_notice *notice) {
    size_t where = size_of(notice->where, sizeof notice->where);
    size_t text = size_of(notice->text, sizeof notice->text);
    bool spoken = notice->kind == HC_NOTICE_OPERATOR;
    if (notice->kind < HC_NOTICE_OPERATOR || notice->kind > HC_NOTICE_RESTARTING)
        return "kind";
    if (notice->seconds > (spoken ? 0 : HC_NOTICE_SECONDS_MAX))
        return "seconds";
    if (!is_where((const uint8_t *)notice->where, where) || (spoken && where > 0))
        return "where";
    if (!is_text((const uint8_t *)notice->text, text) || (spoken && text == 0))
        return "text";
    return NULL;
}

// ---- English ------------------------------------------------------------------------------------

const char *hc_notice_line(const struct hc_notice *notice, char line[static HC_NOTICE_LINE_SIZE]) {
    const char *what = notice->kind == HC_NOTICE_ENDING       ? "the server ends"
                       : notice->kind == HC_NOTICE_RESTARTING ? "the server restarts"
                                                              : "the server says";
    char when[32] = "";
    if (notice->seconds > 0)
        snprintf(when, sizeof when, " within %u s", (unsigned)notice->seconds);
    snprintf(line, HC_NOTICE_LINE_SIZE, "%s%s%s%s%s%s", what, when,
             notice->where[0] != '\0' ? "; play on at " : "", notice->where,
             notice->text[0] != '\0' ? ": " : "", notice->text);
    return line;
}

// ---- NOTICE -------------------------------------------------------------------------------------

static void put_text(struct hc_writer *body, const char *text) {
    size_t size = strlen(text);
    hc_pack_bin(body, size);
    hc_pack_bin_body(body, text, size);
}

bool hc_notice_put(struct hc_writer *body, uint32_t number, const struct hc_notice *notice) {
    HC_ASSERT(number >= 1 && hc_notice_check(notice) == NULL);
    struct hc_writer before = *body;
    hc_pack_array(body, NOTICE_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_NOTICE);
    hc_pack_uint32(body, number);
    hc_pack_uint8(body, (uint8_t)notice->kind);
    hc_pack_uint32(body, notice->seconds);
    put_text(body, notice->where);
    put_text(body, notice->text);
    return hc_body_commit(body, &before);
}

/// Reads a binary of which `is_valid` holds, and ends it with a zero.
static void get_text(struct hc_values *values, bool (*is_valid)(const uint8_t *bytes, size_t size),
                     char *out) {
    size_t size;
    const uint8_t *bytes = hc_values_binary(values, &size);
    out[0] = '\0';
    if (bytes == NULL || !is_valid(bytes, size)) {
        values->failed = true;
        return;
    }
    memcpy(out, bytes, size);
    out[size] = '\0';
}

enum hc_status hc_notice_get(const struct hc_body *body, uint32_t *number, struct hc_notice *out) {
    if (body->type != HC_MESSAGE_NOTICE)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    *number = (uint32_t)hc_values_unsigned(&values, UINT32_MAX);
    *out = (struct hc_notice){.kind = (enum hc_notice_kind)hc_values_unsigned(&values, UINT8_MAX)};
    out->seconds = (uint32_t)hc_values_unsigned(&values, HC_NOTICE_SECONDS_MAX);
    get_text(&values, is_where, out->where);
    get_text(&values, is_text, out->text);
    if (*number == 0 || out->kind == 0)
        return HC_MALFORMED;
    return hc_values_done(&values);
}
