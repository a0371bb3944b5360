/// Tests proto/name: the accepted names, and the escaping for logs.
#include "hindcast/rng.h"
#include "proto/name.h"
#include "proto/precheck.h"
#include "tests/run_suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// A text with its length, because some have zeros.
#define TEXT(literal) (const uint8_t *)(literal), sizeof(literal) - 1

/// Encodes any number like UTF-8, also surrogates and numbers above its range.
static size_t encode(uint32_t point, uint8_t out[static 4]) {
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--, point >>= 6)
        out[i] = (uint8_t)(0x80 | (point & 0x3f));
    out[0] = (uint8_t)(leads[size] | point);
    return size;
}

START_TEST(names_of_many_scripts_are_accepted) {
    static const struct {
        const uint8_t *bytes;
        size_t size;
    } names[] = {
        {TEXT("a")},
        {TEXT("Ada Lovelace")},
        {TEXT("~!@#$%^&*()_+`-={}|[]\\:\";'<>?,.")},
        {TEXT("Jos\xc3\xa9")},
        {TEXT("\xc5\x81ukasz \xc5\xbb")},
        {TEXT("\xce\x95\xce\xbb\xce\xad\xce\xbd\xce\xb7")},
        {TEXT("\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0")},
        {TEXT("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d")},
        {TEXT("\xd9\x85\xd8\xb1\xd9\x8a\xd9\x85")},
        {TEXT("\xe0\xa4\x85\xe0\xa4\xa8\xe0\xa4\xbf")},
        {TEXT("\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99")},
        {TEXT("\xed\x95\x9c\xea\xb5\xad")},
        {TEXT("\xf0\x9f\x90\x89 dragon")},
        {TEXT("e\xcc\x81")},
        {TEXT("12345678901234567890123456789012")},
        {TEXT("\xf0\x9f\x90\x89\xf0\x9f\x90\x89\xf0\x9f\x90\x89\xf0\x9f\x90\x89"
              "\xf0\x9f\x90\x89\xf0\x9f\x90\x89\xf0\x9f\x90\x89\xf0\x9f\x90\x89")},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_msg(hc_name_check(names[i].bytes, names[i].size) == HC_OK, "name %zu", i);
}
END_TEST

START_TEST(each_bad_name_is_refused_for_its_reason) {
    static const struct {
        const uint8_t *bytes;
        size_t size;
        enum hc_status status;
    } lines[] = {
        // Lengths.
        {TEXT(""), HC_INVALID},
        {TEXT("123456789012345678901234567890123"), HC_INVALID},
        {TEXT("1234567890123456789012345678901\xc3\xa9"), HC_INVALID},
        // Continuation bytes without a lead byte.
        {TEXT("\x80"), HC_MALFORMED},
        {TEXT("\xbf"), HC_MALFORMED},
        {TEXT("a\x80z"), HC_MALFORMED},
        {TEXT("\xc3\xa9\xa9"), HC_MALFORMED},
        // Lead bytes without continuation bytes, at the end and before other bytes.
        {TEXT("\xc3"), HC_TRUNCATED},
        {TEXT("ab\xe2"), HC_TRUNCATED},
        {TEXT("ab\xe2\x82"), HC_TRUNCATED},
        {TEXT("ab\xf0\x9f\x90"), HC_TRUNCATED},
        {TEXT("1234567890123456789012345678901\xc3"), HC_TRUNCATED},
        {TEXT("\xc3 "), HC_MALFORMED},
        {TEXT("\xe2\x82 "), HC_MALFORMED},
        {TEXT("\xe2 \x82"), HC_MALFORMED},
        {TEXT("\xf0\x9f\x90z"), HC_MALFORMED},
        {TEXT("\xc3\xc3\xa9"), HC_MALFORMED},
        // Bytes that UTF-8 never has.
        {TEXT("\xc0"), HC_MALFORMED},
        {TEXT("\xc1\xbf"), HC_MALFORMED},
        {TEXT("\xf5"), HC_MALFORMED},
        {TEXT("\xf5\x80\x80\x80"), HC_MALFORMED},
        {TEXT("\xf8\x88\x80\x80\x80"), HC_MALFORMED},
        {TEXT("\xfc\x84\x80\x80\x80\x80"), HC_MALFORMED},
        {TEXT("\xfe"), HC_MALFORMED},
        {TEXT("\xff\xff"), HC_MALFORMED},
        // Overlong forms: of a slash, the greatest ones, and of a zero.
        {TEXT("\xc0\xaf"), HC_MALFORMED},
        {TEXT("\xe0\x80\xaf"), HC_MALFORMED},
        {TEXT("\xf0\x80\x80\xaf"), HC_MALFORMED},
        {TEXT("\xe0\x9f\xbf"), HC_MALFORMED},
        {TEXT("\xf0\x8f\xbf\xbf"), HC_MALFORMED},
        {TEXT("\xc0\x80"), HC_MALFORMED},
        // Surrogates, alone and in pairs; the first number above Unicode.
        {TEXT("\xed\xa0\x80"), HC_MALFORMED},
        {TEXT("\xed\xbf\xbf"), HC_MALFORMED},
        {TEXT("\xed\xa0\xbd\xed\xb0\x89"), HC_MALFORMED},
        {TEXT("\xf4\x90\x80\x80"), HC_MALFORMED},
        // Well formed, but invisible or a control character.
        {TEXT("a\0b"), HC_UNEXPECTED},
        {TEXT("a\nb"), HC_UNEXPECTED},
        {TEXT("a\r"), HC_UNEXPECTED},
        {TEXT("\x1b[31mred"), HC_UNEXPECTED},
        {TEXT("del\x7f"), HC_UNEXPECTED},
        {TEXT("\xc2\x85next line"), HC_UNEXPECTED},
        {TEXT("\xc2\x9b"
              "31m"),
         HC_UNEXPECTED},
        {TEXT("line\xe2\x80\xa8separator"), HC_UNEXPECTED},
        {TEXT("admin\xe2\x80\xae"
              "gnp"),
         HC_UNEXPECTED},
        {TEXT("\xe2\x81\xa6isolate"), HC_UNEXPECTED},
        {TEXT("\xd8\x9cmark"), HC_UNEXPECTED},
        {TEXT("ad\xe2\x80\x8bmin"), HC_UNEXPECTED},
        {TEXT("ad\xe2\x80\x8dmin"), HC_UNEXPECTED},
        {TEXT("\xef\xbb\xbfmark"), HC_UNEXPECTED},
        {TEXT("\xe3\x85\xa4"), HC_UNEXPECTED},
        {TEXT("\xef\xb7\x90"), HC_UNEXPECTED},
        {TEXT("\xef\xbf\xbe"), HC_UNEXPECTED},
        {TEXT("\xf4\x8f\xbf\xbf"), HC_UNEXPECTED},
        // The first fault counts.
        {TEXT("\n\xff"), HC_UNEXPECTED},
        {TEXT("\xff\n"), HC_MALFORMED},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        enum hc_status status = hc_name_check(lines[i].bytes, lines[i].size);
        ck_assert_msg(status == lines[i].status, "line %zu: %s", i, hc_status_text(status));
    }
}
END_TEST

/// Whether a character must be refused, by its class. The test counts the others that are refused.
static bool must_be_refused(uint32_t point) {
    bool is_control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool bidi = point == 0x61c || point == 0x200e || point == 0x200f ||
                (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    bool zero_width = (point >= 0x200b && point <= 0x200d) || point == 0x2060 || point == 0xfeff;
    bool none = (point >= 0xfdd0 && point <= 0xfdef) || point % 0x10000 >= 0xfffe;
    bool space = point == 0xa0 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f ||
                 point == 0x205f || point == 0x3000 || point == 0x1680;
    return is_control || bidi || zero_width || space || none || point == 0x2028 ||
           point == 0x2029 || point == 0x2800;
}

/// The status of a name of a character between two letters.
static enum hc_status check_between(uint32_t point) {
    uint8_t bytes[6] = {'A'};
    size_t size = encode(point, bytes + 1);
    bytes[1 + size] = 'b';
    return hc_name_check(bytes, size + 2);
}

START_TEST(only_invisible_characters_are_refused) {
    unsigned others = 0, others_of_plane_14 = 0;
    for (uint32_t point = 0; point < 0x200000; point++) {
        enum hc_status status = check_between(point);
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
            if (status != HC_MALFORMED)
                ck_abort_msg("U+%04X: %s", point, hc_status_text(status));
            continue;
        }
        bool refused = status == HC_UNEXPECTED;
        if (!refused && (status != HC_OK || must_be_refused(point)))
            ck_abort_msg("U+%04X: %s", point, hc_status_text(status));
        if (refused && !must_be_refused(point))
            *(point >> 16 == 14 ? &others_of_plane_14 : &others) += 1;
    }
    // Default_Ignorable_Code_Point has 4174 members: 4096 in plane 14, and 17 that are bidi or
    // zero-width. Three of interlinear annotation are refused too, 11 Arabic and Syriac signs and 2
    // of Kaithi, 16 controls of hieroglyphs, and 4 blank letters.
    ck_assert_uint_eq(others_of_plane_14, 4096);
    ck_assert_uint_eq(others, 4174 - 4096 - 17 + 3 + 11 + 2 + 16 + 4);
}
END_TEST

START_TEST(a_combining_mark_needs_a_character_before_it) {
    unsigned marks = 0;
    for (uint32_t point = 0x80; point < 0x110000; point++) {
        uint8_t alone[4], after[6] = {'A', ' '};
        size_t size = point >= 0xd800 && point <= 0xdfff ? 0 : encode(point, alone);
        if (size == 0 || check_between(point) != HC_OK)
            continue;
        memcpy(after + 2, alone, size);
        bool is_mark = hc_name_check(alone, size) == HC_UNEXPECTED;
        if (is_mark != (hc_name_check(after, size + 2) == HC_UNEXPECTED))
            ck_abort_msg("U+%04X", point);
        marks += is_mark;
    }
    // 1998 characters are of the categories Mn and Me; 264 of them are refused anyway.
    ck_assert_uint_eq(marks, 1998 - 264);
}
END_TEST

START_TEST(a_space_stands_between_other_characters) {
    static const char *const refused[] = {" ", "  ", " Ada", "Ada ", " A "};
    static const char *const names[] = {"A b", "A  b", "a b c"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_int_eq(hc_name_check((const uint8_t *)refused[i], strlen(refused[i])),
                         HC_UNEXPECTED);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_int_eq(hc_name_check((const uint8_t *)names[i], strlen(names[i])), HC_OK);
}
END_TEST

START_TEST(the_name_check_and_the_precheck_agree_about_utf8) {
    // All pairs of bytes, followed by bytes at the ends of the allowed ranges.
    static const uint8_t edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    enum { EDGES = sizeof edges };
    unsigned agreed_good = 0, agreed_bad = 0;
    for (uint32_t i = 0; i < 256 * 256 * EDGES * EDGES; i += i < 256 * 256 * EDGES ? 1 : 3) {
        uint8_t packed[5] = {0, (uint8_t)i, (uint8_t)(i >> 8), edges[(i >> 16) % EDGES],
                             edges[(i >> 16) / EDGES]};
        uint8_t size = i < 256 ? 1 : i < 256 * 256 ? 2 : i < 256 * 256 * EDGES ? 3 : 4;
        packed[0] = (uint8_t)(0xa0 | size); // msgpack's short string
        size_t used;
        enum hc_status name = hc_name_check(packed + 1, size);
        bool utf8 = hc_precheck(packed, 1u + size, &used) == HC_OK;
        // The bytes after a refused character are not checked.
        bool agree = utf8 ? name == HC_OK || name == HC_UNEXPECTED : name != HC_OK;
        if (!agree)
            ck_abort_msg("%02x %02x %02x %02x, %d bytes: %s", packed[1], packed[2], packed[3],
                         packed[4], size, hc_status_text(name));
        agreed_good += utf8 && name == HC_OK;
        agreed_bad += !utf8 && name != HC_UNEXPECTED;
    }
    ck_assert_uint_gt(agreed_good, 10000);
    ck_assert_uint_gt(agreed_bad, 1000000);
}
END_TEST

START_TEST(a_padded_name_ends_where_its_zeros_begin) {
    uint8_t padded[HC_NAME_MAX] = {0};
    ck_assert_uint_eq(hc_name_size(padded), 0);
    for (size_t size = 1; size <= HC_NAME_MAX; size++) {
        padded[size - 1] = 'x';
        ck_assert_uint_eq(hc_name_size(padded), size);
        ck_assert_int_eq(hc_name_check(padded, hc_name_size(padded)), HC_OK);
    }
    // Bytes behind a zero count.
    padded[5] = 0;
    ck_assert_uint_eq(hc_name_size(padded), HC_NAME_MAX);
    ck_assert_int_eq(hc_name_check(padded, HC_NAME_MAX), HC_UNEXPECTED);
}
END_TEST

/// Reads an escaped text back; returns its length, SIZE_MAX for a text that is not escaped.
static size_t unescape(const char *text, uint8_t *out) {
    size_t size = 0;
    for (; *text != '\0'; size++) {
        unsigned char c = (unsigned char)*text++;
        if (c < 0x20 || c > 0x7e || strchr("\"%$", c) != NULL)
            return SIZE_MAX;
        out[size] = c;
        if (c != '\\')
            continue;
        if (*text++ != 'x')
            return SIZE_MAX;
        unsigned value = 0;
        for (int i = 0; i < 2; i++, text++) {
            const char *digit = *text == '\0' ? NULL : strchr("0123456789abcdef", *text);
            if (digit == NULL)
                return SIZE_MAX;
            value = value << 4 | (unsigned)(digit - "0123456789abcdef");
        }
        out[size] = (uint8_t)value;
    }
    return size;
}

START_TEST(escaped_bytes_are_one_printable_line_and_read_back) {
    struct hc_rng rng = hc_rng_init(51, 0);
    for (int round = 0; round < 30000; round++) {
        uint8_t bytes[48], back[48];
        size_t size = hc_rng_below(&rng, sizeof bytes + 1);
        // In every second round only bytes that look like escapes.
        for (size_t i = 0; i < size; i++)
            bytes[i] = round % 2 ? (uint8_t)hc_rng_next(&rng)
                                 : (uint8_t) "\\x5cn\n\"0%$\xff"[hc_rng_below(&rng, 11)];
        char *text = malloc(4 * size + 1); // exactly, for the sanitizers
        ck_assert_uint_eq(hc_name_escape(bytes, size, text, 4 * size + 1), size);
        ck_assert_msg(unescape(text, back) == size, "round %d: %s", round, text);
        ck_assert_mem_eq(back, bytes, size);
        free(text);
    }
}
END_TEST

START_TEST(every_byte_is_written_as_itself_or_as_its_number) {
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t one = (uint8_t)byte;
        char text[5], number[] = {'\\', 'x', "0123456789abcdef"[byte / 16],
                                  "0123456789abcdef"[byte % 16], '\0'};
        char itself[] = {(char)byte, '\0'};
        bool plain = byte >= 0x20 && byte < 0x7f && strchr("\\\"%$", (int)byte) == NULL;
        ck_assert_uint_eq(hc_name_escape(&one, 1, text, sizeof text), 1);
        ck_assert_str_eq(text, plain ? itself : number);
    }
}
END_TEST

START_TEST(text_that_would_forge_a_log_stays_one_line) {
    static const struct {
        const char *bytes, *text;
    } lines[] = {
        {"eve\n12:00 admin joined", "eve\\x0a12:00 admin joined"},
        {"\x1b[2Jeve", "\\x1b[2Jeve"},
        {"%n%s%n", "\\x25n\\x25s\\x25n"},
        {"${jndi:ldap://x/a}", "\\x24{jndi:ldap://x/a}"},
        {"\" level=\"info", "\\x22 level=\\x22info"},
        {"\\x0a", "\\x5cx0a"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[HC_NAME_ESCAPED_MAX];
        size_t size = strlen(lines[i].bytes);
        ck_assert_uint_eq(hc_name_escape(lines[i].bytes, size, text, sizeof text), size);
        ck_assert_str_eq(text, lines[i].text);
    }
}
END_TEST

START_TEST(a_small_buffer_gets_whole_escapes_and_an_end) {
    static const uint8_t bytes[] = "a\nb\xff\\c";
    static const size_t widths[] = {1, 4, 1, 4, 4, 1};
    char whole[HC_NAME_ESCAPED_MAX];
    ck_assert_uint_eq(hc_name_escape(bytes, 6, whole, sizeof whole), 6);
    for (size_t room = 1; room <= 16; room++) {
        char *text = malloc(room);
        size_t fit = 0, length = 0;
        while (fit < 6 && length + widths[fit] < room)
            length += widths[fit++];
        ck_assert_uint_eq(hc_name_escape(bytes, 6, text, room), fit);
        ck_assert_uint_eq(strlen(text), length);
        ck_assert_mem_eq(text, whole, length);
        free(text);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_name");
    TCase *tests = tcase_create("name");
    tcase_add_test(tests, names_of_many_scripts_are_accepted);
    tcase_add_test(tests, each_bad_name_is_refused_for_its_reason);
    tcase_add_test(tests, only_invisible_characters_are_refused);
    tcase_add_test(tests, a_combining_mark_needs_a_character_before_it);
    tcase_add_test(tests, a_space_stands_between_other_characters);
    tcase_add_test(tests, the_name_check_and_the_precheck_agree_about_utf8);
    tcase_add_test(tests, a_padded_name_ends_where_its_zeros_begin);
    tcase_add_test(tests, escaped_bytes_are_one_printable_line_and_read_back);
    tcase_add_test(tests, every_byte_is_written_as_itself_or_as_its_number);
    tcase_add_test(tests, text_that_would_forge_a_log_stays_one_line);
    tcase_add_test(tests, a_small_buffer_gets_whole_escapes_and_an_end);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
