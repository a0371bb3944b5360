/// Tests server/daemon/status: a line about a trouble counts what is new, and comes at most once in
/// 10 s.
#define _GNU_SOURCE // pipe2

#include "server/daemon/status.h"
#include "tests/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000000, TEXT_MAX = 4096 };

static struct hc_sv_log testee;
static struct hc_sv_status_line line;

/// Logs drops at `now_us`; returns what the log has written.
static const char *log_drops(uint64_t data, uint64_t handshakes, bool last, uint64_t now_us) {
    static char text[TEXT_MAX];
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    hc_sv_log_open(&testee, HC_SV_LOG_INFO, HC_SV_LOG_TEXT, ends[1]);
    const struct hc_sv_door_stats doors = {.receive_drops = data, .handshake_drops = handshakes};
    hc_sv_status_log_drops(&line, &testee, &doors, last, now_us);
    hc_sv_log_close(&testee);
    close(ends[1]);
    ssize_t size = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    text[size] = '\0';
    return text;
}

START_TEST(dropped_datagrams_are_logged_once_in_ten_seconds_and_each_counts_once) {
    line = (struct hc_sv_status_line){.count = 0};
    ck_assert_str_eq(log_drops(0, 0, false, SECOND), "");
    ck_assert_ptr_nonnull(strstr(log_drops(5, 2, false, 2 * SECOND),
                                 "datagrams-dropped count=7 data=5 handshakes=2"));
    ck_assert_str_eq(log_drops(6, 2, false, 11 * SECOND), "");
    ck_assert_ptr_nonnull(strstr(log_drops(9, 2, false, 12 * SECOND), "count=4 data=9"));
    ck_assert_str_eq(log_drops(9, 2, false, 60 * SECOND), "");
    ck_assert_ptr_nonnull(strstr(log_drops(10, 2, false, 60 * SECOND), "count=1 data=10"));
    ck_assert_ptr_nonnull(strstr(log_drops(10, 3, true, 61 * SECOND), "count=1 data=10"));
    ck_assert_str_eq(log_drops(10, 3, true, 62 * SECOND), "");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server status");
    TCase *tests = tcase_create("status");
    tcase_add_test(tests, dropped_datagrams_are_logged_once_in_ten_seconds_and_each_counts_once);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
