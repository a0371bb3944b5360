/// Tests server/daemon/log: it never waits, it counts missing lines, and no client can fill it.
#define _GNU_SOURCE
#include "server/daemon/log.h"
#include "tests/run_suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECOND = 1000000, PIPE = 4096, LINES_MAX = 4096 };

static struct hc_sv_log testee;
static int reading, writing;

static void open_log(enum hc_sv_log_level level) {
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    reading = ends[0];
    writing = ends[1];
    ck_assert_int_eq(fcntl(writing, F_SETPIPE_SZ, PIPE), PIPE);
    hc_sv_log_open(&testee, level, HC_SV_LOG_JSON, writing);
}

static void close_log(void) {
    hc_sv_log_close(&testee);
    close(reading);
    close(writing);
}

/// Reads all available bytes into `text` and returns their number.
static size_t read_all(char *text, size_t size) {
    size_t got = 0;
    ssize_t piece;
    ck_assert_int_eq(fcntl(reading, F_SETFL, O_NONBLOCK), 0);
    do { // each read makes room for buffered lines
        hc_sv_log_advance(&testee);
        piece = read(reading, text + got, size - 1 - got);
        got += piece > 0 ? (size_t)piece : 0;
    } while (piece > 0);
    text[got] = '\0';
    return got;
}

/// Parses the next line of `*text` and advances `*text` past it; NULL: none.
static json_t *next_line(char **text) {
    char *end = strchr(*text, '\n');
    if (end == NULL)
        return NULL;
    json_t *line = json_loadb(*text, (size_t)(end - *text), 0, NULL);
    ck_assert_msg(line != NULL, "no JSON: %.*s", (int)(end - *text), *text);
    *text = end + 1;
    return line;
}

/// The sum of `field` over the lines of this event in `text`; NULL: the number of these lines.
static uint64_t sum(char *text, const char *event, const char *field) {
    uint64_t result = 0;
    json_t *line;
    while ((line = next_line(&text)) != NULL) {
        if (strcmp(json_string_value(json_object_get(line, "event")), event) == 0)
            result +=
                field != NULL ? (uint64_t)json_integer_value(json_object_get(line, field)) : 1;
        json_decref(line);
    }
    return result;
}

static void log_number(const char *event, const char *client, unsigned number) {
    json_t *fields = json_pack("{s:i}", "number", (int)number);
    if (client != NULL)
        json_object_set_new(fields, "user", json_string(client));
    hc_sv_log_event(&testee, HC_SV_LOG_INFO, event, fields);
}

START_TEST(unread_log_never_waits_and_counts_dropped_lines) {
    static char text[2 * HC_SV_LOG_BUFFER];
    char line[100];
    unsigned taken = 0, lines = 3000;
    open_log(HC_SV_LOG_INFO);
    memset(line, 'x', sizeof line);
    line[0] = '"';
    line[sizeof line - 2] = '"';
    line[sizeof line - 1] = '\n';
    for (unsigned i = 0; i < lines; i++)
        taken += hc_sv_log_text(&testee, line, sizeof line);
    ck_assert_uint_ge(taken, HC_SV_LOG_BUFFER / sizeof line);
    ck_assert_uint_lt(taken, lines);
    size_t size = read_all(text, sizeof text);
    ck_assert_uint_gt(size, taken * sizeof line); // and the line log-dropped
    char *rest = text + taken * sizeof line;
    ck_assert_uint_eq(sum(rest, "log-dropped", "count"), lines - taken);
    ck_assert_uint_eq(sum(rest, "log-dropped", NULL), 1);
    ck_assert(hc_sv_log_text(&testee, line, sizeof line));
    ck_assert_uint_eq(read_all(text, sizeof text), sizeof line);
    close_log();
}
END_TEST

START_TEST(flags_of_the_descriptor_do_not_change) {
    open_log(HC_SV_LOG_INFO);
    log_number("started", NULL, 0);
    ck_assert_int_eq(fcntl(writing, F_GETFL) & O_NONBLOCK, 0);
    close_log();
}
END_TEST

/// Writes 1000 texts of 4000 bytes to an unread descriptor. `shared`: as if it could not be opened
/// again.
static void overfill(int descriptor, bool shared) {
    char text[4000];
    unsigned taken = 0;
    memset(text, 'x', sizeof text);
    hc_sv_log_open(&testee, HC_SV_LOG_INFO, HC_SV_LOG_TEXT, descriptor);
    if (shared) {
        hc_sv_log_output_close(&testee.output);
        testee.output.descriptor = descriptor;
    }
    for (unsigned i = 0; i < 1000; i++)
        taken += hc_sv_log_text(&testee, text, sizeof text);
    ck_assert_uint_ge(taken, 16);
    ck_assert_uint_lt(taken, 1000);
    ck_assert_uint_eq(testee.output.dropped, 1000 - taken);
}

START_TEST(unread_sockets_and_terminals_never_make_the_log_wait) {
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    overfill(ends[0], false);
    hc_sv_log_close(&testee);
    close(ends[0]);
    close(ends[1]);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return; // no terminals on this system
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    overfill(slave, false);
    hc_sv_log_close(&testee);
    close(slave);
    close(master);
}
END_TEST

START_TEST(unread_pipe_that_cannot_be_reopened_never_makes_the_log_wait) {
    open_log(HC_SV_LOG_INFO);
    hc_sv_log_close(&testee);
    overfill(writing, true);
    close_log();
}
END_TEST

START_TEST(each_client_has_its_own_rate_for_each_kind_of_line) {
    static char text[2 * HC_SV_LOG_BUFFER];
    open_log(HC_SV_LOG_INFO);
    for (unsigned i = 0; i < 1000; i++)
        log_number("moved", "17", i);
    for (unsigned i = 0; i < 1000; i++)
        log_number("left", "17", i);
    for (unsigned i = 0; i < 8; i++)
        log_number("moved", "18", i);
    log_number("stopping", NULL, 0);
    hc_sv_log_close(&testee); // writes log-suppressed
    read_all(text, sizeof text);
    ck_assert_uint_eq(sum(text, "moved", NULL), 8 + 8);
    ck_assert_uint_eq(sum(text, "left", NULL), 8);
    ck_assert_uint_eq(sum(text, "stopping", NULL), 1);
    ck_assert_uint_eq(sum(text, "log-suppressed", NULL), 2);
    ck_assert_uint_eq(sum(text, "log-suppressed", "count"), 992 + 992);
    close(reading);
    close(writing);
}
END_TEST

START_TEST(user_then_cid_then_address_without_port_names_the_client) {
    static char text[2 * HC_SV_LOG_BUFFER];
    open_log(HC_SV_LOG_INFO);
    for (int i = 0; i < 20; i++) {
        hc_sv_log_event(&testee, HC_SV_LOG_INFO, "a",
                        json_pack("{s:s, s:i}", "user", "1", "cid", i));
        hc_sv_log_event(
            &testee, HC_SV_LOG_INFO, "b",
            json_pack("{s:i, s:o}", "cid", 5, "address", json_sprintf("192.0.2.%d:1", i)));
        hc_sv_log_event(&testee, HC_SV_LOG_INFO, "c",
                        json_pack("{s:o}", "address", json_sprintf("[2001:db8::1]:%d", i)));
        hc_sv_log_event(&testee, HC_SV_LOG_INFO, "d",
                        json_pack("{s:o}", "address", json_sprintf("192.0.2.%d:1", i)));
    }
    read_all(text, sizeof text);
    ck_assert_uint_eq(sum(text, "a", NULL), 8);
    ck_assert_uint_eq(sum(text, "b", NULL), 8);
    ck_assert_uint_eq(sum(text, "c", NULL), 8);
    ck_assert_uint_eq(sum(text, "d", NULL), 20);
    close_log();
}
END_TEST

START_TEST(a_kind_of_line_has_a_rate_in_all_for_any_number_of_clients) {
    static struct hc_sv_log_limit limit;
    const struct hc_sv_log_rates rates = {.all = {256, SECOND / 4}, .client = {8, 20 * SECOND}};
    char client[16];
    unsigned allowed = 0, asked = 0;
    uint64_t now_us = 100 * SECOND, count;
    for (unsigned second = 0; second < 60; second++, now_us += SECOND)
        for (unsigned i = 0; i < 5000; i++, asked++) {
            snprintf(client, sizeof client, "%u", asked);
            allowed += hc_sv_log_limit_allows(&limit, &rates, "joined", client, now_us);
        }
    ck_assert_uint_eq(allowed, 256 + 59 * 4);
    ck_assert_str_eq(hc_sv_log_limit_take_suppressed(&limit, &count), "joined");
    ck_assert_uint_eq(count, asked - allowed);
    ck_assert_ptr_null(hc_sv_log_limit_take_suppressed(&limit, &count));
    ck_assert(hc_sv_log_limit_allows(&limit, &rates, "stopping", NULL, now_us));
}
END_TEST

START_TEST(rate_recovers_with_time_and_surplus_kinds_share_one_place) {
    static struct hc_sv_log_limit limit;
    const struct hc_sv_log_rates rates = {.all = {256, SECOND / 4}, .client = {8, 20 * SECOND}};
    uint64_t now_us = 100 * SECOND, count;
    unsigned allowed = 0;
    for (unsigned i = 0; i < 600; i++, now_us += SECOND)
        allowed += hc_sv_log_limit_allows(&limit, &rates, "moved", "7", now_us);
    ck_assert_uint_eq(allowed, 8 + 599 / 20);
    hc_sv_log_limit_take_suppressed(&limit, &count);
    allowed = 0;
    for (unsigned i = 0; i < LINES_MAX; i++) {
        char kind[64];
        snprintf(kind, sizeof kind, "%u-is-a-kind-with-a-long-name-that-is-cut", i);
        allowed += hc_sv_log_limit_allows(&limit, &rates, kind, NULL, now_us);
    }
    ck_assert_uint_eq(allowed, HC_SV_LOG_KINDS - 2 + 256);
    ck_assert_str_eq(hc_sv_log_limit_take_suppressed(&limit, &count), "others");
    ck_assert_uint_eq(count, LINES_MAX - allowed);
}
END_TEST

START_TEST(too_long_line_loses_its_fields_and_stays_one_line) {
    static char text[2 * HC_SV_LOG_BUFFER], why[HC_SV_LOG_LINE_MAX];
    memset(why, '\n', sizeof why - 1);
    for (enum hc_sv_log_format format = HC_SV_LOG_TEXT; format <= HC_SV_LOG_JSON; format++) {
        open_log(HC_SV_LOG_INFO);
        testee.format = format;
        hc_sv_log_event(&testee, HC_SV_LOG_ERROR, "keys-refused", json_pack("{s:s}", "why", why));
        size_t size = read_all(text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "truncated"));
        ck_assert_ptr_eq(strchr(text, '\n'), text + size - 1);
        close_log();
    }
}
END_TEST

/// Sets $JOURNAL_STREAM to the device and inode of a descriptor, plus `more`.
static void set_journal(int descriptor, unsigned more) {
    struct stat status;
    char text[64];
    ck_assert_int_eq(fstat(descriptor, &status), 0);
    snprintf(text, sizeof text, "%ju:%ju", (uintmax_t)status.st_dev,
             (uintmax_t)status.st_ino + more);
    ck_assert_int_eq(setenv("JOURNAL_STREAM", text, 1), 0);
}

START_TEST(lines_have_priorities_if_the_output_is_the_journal) {
    static const char *const begins[] = {"<3>", "<4>", "<6>", "<7>"};
    static char text[2 * HC_SV_LOG_BUFFER];
    for (unsigned more = 0; more < 2; more++) {
        int ends[2];
        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        reading = ends[0];
        writing = ends[1];
        set_journal(writing, more); // with `more` it is another file
        hc_sv_log_open(&testee, HC_SV_LOG_DEBUG, HC_SV_LOG_TEXT, writing);
        for (enum hc_sv_log_level level = HC_SV_LOG_ERROR; level <= HC_SV_LOG_DEBUG; level++)
            hc_sv_log_event(&testee, level, "line", NULL);
        read_all(text, sizeof text);
        char *line = text;
        for (unsigned i = 0; i < 4; i++, line = strchr(line, '\n') + 1)
            ck_assert_msg((strncmp(line, begins[i], 3) == 0) == (more == 0), "%s", line);
        ck_assert_str_eq(line, "");
        close_log();
    }
    unsetenv("JOURNAL_STREAM");
}
END_TEST

START_TEST(level_and_output_change_while_the_log_is_open) {
    static char text[2 * HC_SV_LOG_BUFFER];
    int ends[2];
    open_log(HC_SV_LOG_INFO);
    hc_sv_log_event(&testee, HC_SV_LOG_DEBUG, "hidden", NULL);
    hc_sv_log_set_level(&testee, HC_SV_LOG_DEBUG);
    hc_sv_log_event(&testee, HC_SV_LOG_DEBUG, "shown", NULL);
    read_all(text, sizeof text);
    ck_assert_ptr_null(strstr(text, "hidden"));
    ck_assert_ptr_nonnull(strstr(text, "shown"));
    // The second output takes the rest of the first one's lines, and nothing is lost.
    unsigned lines = 0;
    while (testee.output.buffered == 0 && lines < LINES_MAX)
        ck_assert(hc_sv_log_text(&testee, "line\n", 5) && ++lines > 0);
    size_t left = testee.output.buffered;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    hc_sv_log_redirect(&testee, ends[1]);
    size_t first = read_all(text, sizeof text);
    ck_assert_uint_eq(first + left, 5 * (size_t)lines);
    close(reading);
    close(writing);
    reading = ends[0];
    writing = ends[1];
    ck_assert_uint_eq(read_all(text, sizeof text), left);
    close_log();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server log");
    TCase *tests = tcase_create("log");
    tcase_add_test(tests, unread_log_never_waits_and_counts_dropped_lines);
    tcase_add_test(tests, flags_of_the_descriptor_do_not_change);
    tcase_add_test(tests, unread_sockets_and_terminals_never_make_the_log_wait);
    tcase_add_test(tests, unread_pipe_that_cannot_be_reopened_never_makes_the_log_wait);
    tcase_add_test(tests, each_client_has_its_own_rate_for_each_kind_of_line);
    tcase_add_test(tests, user_then_cid_then_address_without_port_names_the_client);
    tcase_add_test(tests, a_kind_of_line_has_a_rate_in_all_for_any_number_of_clients);
    tcase_add_test(tests, rate_recovers_with_time_and_surplus_kinds_share_one_place);
    tcase_add_test(tests, too_long_line_loses_its_fields_and_stays_one_line);
    tcase_add_test(tests, lines_have_priorities_if_the_output_is_the_journal);
    tcase_add_test(tests, level_and_output_change_while_the_log_is_open);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
