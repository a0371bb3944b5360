/// Tests of NOTICE: what may be sent, what is read, and the line that is shown.
#include "proto/notice.h"

#include "proto/limits.h"
#include "proto/reliable.h"
#include "tests/run_suite.h"

#include <string.h>

static uint8_t buffer[HC_DATA_BODY_MAX];
static struct hc_body body;

/// Reads the `size` bytes at `bytes` as a body of one NOTICE.
static enum hc_status read_notice(const uint8_t *bytes, size_t size, uint32_t *number,
                                  struct hc_notice *out) {
    enum hc_status status = hc_body_begin(&body, bytes, size);
    if (status != HC_OK)
        return status;
    ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_NOTICE);
    return hc_notice_get(&body, number, out);
}

static void fill(char *text, size_t size) {
    memset(text, 'x', size);
    text[size] = '\0';
}

START_TEST(a_notice_reads_back_and_the_longest_one_has_its_size) {
    struct hc_notice in = {.kind = HC_NOTICE_ENDING, .seconds = HC_NOTICE_SECONDS_MAX}, out;
    uint32_t number;
    fill(in.where, HC_NOTICE_WHERE_MAX);
    fill(in.text, HC_NOTICE_TEXT_MAX);
    for (int longest = 0; longest < 2; longest++) {
        struct hc_writer writer = hc_bytes_writer(buffer, sizeof buffer);
        ck_assert_ptr_null(hc_notice_check(&in));
        ck_assert(hc_notice_put(&writer, UINT32_MAX, &in));
        ck_assert_uint_le(writer.at, HC_NOTICE_SIZE_MAX);
        ck_assert_int_eq(read_notice(buffer, writer.at, &number, &out), HC_OK);
        ck_assert_uint_eq(number, UINT32_MAX);
        ck_assert_int_eq(out.kind, in.kind);
        ck_assert_uint_eq(out.seconds, in.seconds);
        ck_assert_str_eq(out.where, in.where);
        ck_assert_str_eq(out.text, in.text);
        in.where[0] = in.text[0] = '\0'; // an end without words
    }
}
END_TEST

START_TEST(a_notice_without_room_leaves_the_body_as_it_was) {
    struct hc_notice notice = {.kind = HC_NOTICE_OPERATOR, .text = "twenty bytes of text"};
    for (size_t room = 0; room < 29; room++) {
        struct hc_writer writer = hc_bytes_writer(buffer, room);
        ck_assert(!hc_notice_put(&writer, 1, &notice));
        ck_assert_uint_eq(writer.at, 0);
        ck_assert(!writer.failed);
    }
}
END_TEST

START_TEST(a_server_sends_no_notice_that_cannot_be_shown) {
    static const struct {
        struct hc_notice notice;
        const char *fault;
    } rows[] = {
        {{.kind = HC_NOTICE_OPERATOR, .text = "a"}, NULL},
        {{.kind = HC_NOTICE_OPERATOR, .text = "J\xc3\xbcrgen, 5 \xe2\x82\xac"}, NULL},
        {{.kind = HC_NOTICE_RESTARTING}, NULL},
        {{.kind = HC_NOTICE_ENDING, .where = "[::1]:40000", .seconds = 1}, NULL},
        {{.kind = HC_NOTICE_OPERATOR}, "text"},
        {{.kind = 0, .text = "a"}, "kind"},
        {{.kind = 4, .text = "a"}, "kind"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "a", .seconds = 1}, "seconds"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "a", .where = "b"}, "where"},
        {{.kind = HC_NOTICE_ENDING, .seconds = HC_NOTICE_SECONDS_MAX + 1}, "seconds"},
        {{.kind = HC_NOTICE_ENDING, .where = "a b"}, "where"},
        {{.kind = HC_NOTICE_ENDING, .where = "\x1b[31m"}, "where"},
        {{.kind = HC_NOTICE_ENDING, .where = "\xc3\xbc"}, "where"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "a\nb"}, "text"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "\x1b[31m"}, "text"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "\xe2\x80\xae"}, "text"}, // right to left
        {{.kind = HC_NOTICE_OPERATOR, .text = "\xc2\x85"}, "text"},     // a C1 control
        {{.kind = HC_NOTICE_OPERATOR, .text = "cut \xe2\x82"}, "text"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "\xff"}, "text"},
        {{.kind = HC_NOTICE_OPERATOR, .text = " "}, "text"},
        {{.kind = HC_NOTICE_OPERATOR, .text = "a "}, "text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *fault = hc_notice_check(&rows[i].notice);
        ck_assert_msg((fault == NULL) == (rows[i].fault == NULL) &&
                          (fault == NULL || strcmp(fault, rows[i].fault) == 0),
                      "row %zu: %s", i, fault);
    }
    struct hc_notice endless = {.kind = HC_NOTICE_OPERATOR};
    memset(endless.text, 'x', sizeof endless.text);
    ck_assert_str_eq(hc_notice_check(&endless), "text");
}
END_TEST

START_TEST(a_notice_with_a_text_that_cannot_be_shown_is_refused) {
    static const struct {
        uint8_t bytes[20], size;
        enum hc_status status;
    } rows[] = {
        {{0x96, 112, 1, 1, 0, 0xc4, 0, 0xc4, 1, 'a'}, 10, HC_OK},
        {{0x96, 112, 1, 99, 0, 0xc4, 0, 0xc4, 0}, 9, HC_OK}, // a later version's kind
        {{0x96, 112, 0, 1, 0, 0xc4, 0, 0xc4, 1, 'a'}, 10, HC_MALFORMED},
        {{0x96, 112, 1, 0, 0, 0xc4, 0, 0xc4, 1, 'a'}, 10, HC_MALFORMED},
        {{0x96, 112, 1, 2, 0xce, 0, 1, 0x51, 0x81, 0xc4, 0, 0xc4, 0}, 13, HC_MALFORMED},
        {{0x96, 112, 1, 1, 0, 0xc4, 0, 0xc4, 1, '\n'}, 10, HC_MALFORMED},
        {{0x96, 112, 1, 1, 0, 0xc4, 0, 0xc4, 1, 0}, 10, HC_MALFORMED},
        {{0x96, 112, 1, 1, 0, 0xc4, 0, 0xc4, 1, 0xff}, 10, HC_MALFORMED},
        {{0x96, 112, 1, 1, 0, 0xc4, 1, ' ', 0xc4, 1, 'a'}, 11, HC_MALFORMED},
        {{0x96, 112, 1, 1, 0, 0xc4, 0, 0xa1, 'a'}, 9, HC_MALFORMED},
        {{0x95, 112, 1, 1, 0, 0xc4, 0}, 7, HC_MALFORMED},
        {{0x97, 112, 1, 1, 0, 0xc4, 0, 0xc4, 1, 'a', 0}, 11, HC_MALFORMED},
        {{0x91, 112, 0x91, 112}, 4, HC_MALFORMED}, // twice
    };
    uint32_t number;
    struct hc_notice out;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(read_notice(rows[i].bytes, rows[i].size, &number, &out) == rows[i].status,
                      "row %zu", i);
}
END_TEST

START_TEST(a_text_that_is_longer_than_the_limit_is_refused) {
    uint8_t bytes[16 + HC_NOTICE_TEXT_MAX + 1] = {0x96, 112, 1, 1, 0, 0xc4, 0, 0xc4};
    struct hc_notice out;
    uint32_t number;
    memset(bytes + 9, 'x', sizeof bytes - 9);
    for (int more = 0; more < 2; more++) {
        bytes[8] = (uint8_t)(HC_NOTICE_TEXT_MAX + more);
        ck_assert_int_eq(read_notice(bytes, 9u + bytes[8], &number, &out),
                         more ? HC_MALFORMED : HC_OK);
    }
}
END_TEST

START_TEST(a_notice_is_one_line_of_english) {
    static const struct {
        struct hc_notice notice;
        const char *line;
    } rows[] = {
        {{.kind = HC_NOTICE_OPERATOR, .text = "hello"}, "the server says: hello"},
        {{.kind = HC_NOTICE_ENDING}, "the server ends"},
        {{.kind = HC_NOTICE_ENDING,
          .seconds = 60,
          .where = "example.net:40000",
          .text = "maintenance"},
         "the server ends within 60 s; play on at example.net:40000: maintenance"},
        {{.kind = HC_NOTICE_RESTARTING, .seconds = 5}, "the server restarts within 5 s"},
        {{.kind = 9, .text = "of later"}, "the server says: of later"},
    };
    char line[HC_NOTICE_LINE_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(hc_notice_line(&rows[i].notice, line), rows[i].line);
    struct hc_notice longest = {.kind = HC_NOTICE_RESTARTING, .seconds = UINT32_MAX};
    fill(longest.where, HC_NOTICE_WHERE_MAX);
    fill(longest.text, HC_NOTICE_TEXT_MAX);
    const char *end = hc_notice_line(&longest, line) + strlen(line);
    ck_assert_str_eq(end - HC_NOTICE_TEXT_MAX, longest.text); // nothing is cut off
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_notice");
    TCase *tests = tcase_create("proto_notice");
    tcase_add_test(tests, a_notice_reads_back_and_the_longest_one_has_its_size);
    tcase_add_test(tests, a_notice_without_room_leaves_the_body_as_it_was);
    tcase_add_test(tests, a_server_sends_no_notice_that_cannot_be_shown);
    tcase_add_test(tests, a_notice_with_a_text_that_cannot_be_shown_is_refused);
    tcase_add_test(tests, a_text_that_is_longer_than_the_limit_is_refused);
    tcase_add_test(tests, a_notice_is_one_line_of_english);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
