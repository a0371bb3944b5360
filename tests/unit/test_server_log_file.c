/// The file of --log-file: no line is lost when it is renamed and opened again, and no writer
/// waits.
#define _GNU_SOURCE // mkdtemp

#include "common/programs/clock.h"
#include "server/daemon/log_file.h"
#include "tests/run_suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES = 2000, WAIT_MS = 60000, TEXT_MAX = 1 << 20 };

static char folder[32], path[64];
static struct hc_sv_log_file *file;
static struct hc_sv_log testee;

static void set_up(void) {
    char why[256];
    snprintf(folder, sizeof folder, "/tmp/hc_log_file_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    file = hc_sv_log_file_open(path, why, sizeof why);
    ck_assert_msg(file != NULL, "%s", why);
    hc_sv_log_open(&testee, HC_SV_LOG_INFO, HC_SV_LOG_TEXT, hc_sv_log_file_descriptor(file));
}

static void finish(void) {
    if (file != NULL) {
        hc_sv_log_close(&testee);
        hc_sv_log_file_close(file, WAIT_MS);
    }
    file = NULL;
}

static void tear_down(void) {
    finish();
    DIR *open = opendir(folder);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        unlinkat(dirfd(open), entry->d_name, 0);
    closedir(open);
    rmdir(folder);
}

/// The text of a file; "" if there is none.
static const char *text_of(const char *name) {
    static char text[TEXT_MAX];
    FILE *stream = fopen(name, "r");
    size_t size = stream != NULL ? fread(text, 1, sizeof text - 1, stream) : 0;
    if (stream != NULL)
        fclose(stream);
    text[size] = '\0';
    return text;
}

static void await_text(const char *name, const char *text) {
    for (unsigned i = 0; strstr(text_of(name), text) == NULL; i++) {
        ck_assert_msg(i < WAIT_MS / 10, "no %s in %s", text, name);
        hc_clock_sleep(10000);
        hc_sv_log_advance(&testee);
    }
}

/// Writes line `number` of the test, without any rate.
static void put_line(unsigned number) {
    char line[32];
    int size = snprintf(line, sizeof line, "line %u\n", number);
    while (!hc_sv_log_text(&testee, line, (size_t)size))
        hc_clock_sleep(1000);
}

/// The number of the test's lines in a file, which are whole and follow `*next`.
static unsigned count_lines(const char *name, unsigned *next) {
    unsigned count = 0;
    char expected[32];
    const char *text = text_of(name);
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        if (strncmp(text, "line ", 5) != 0)
            continue;
        snprintf(expected, sizeof expected, "line %u\n", *next);
        ck_assert_msg(strncmp(text, expected, strlen(expected)) == 0, "%.20s", text);
        ++*next;
        count++;
    }
    ck_assert_str_eq(text, ""); // no part of a line
    return count;
}

START_TEST(lines_are_appended_and_others_cannot_read_the_file) {
    struct stat status;
    put_line(0);
    finish();
    ck_assert_str_eq(text_of(path), "line 0\n");
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07, 0);
    char why[256];
    file = hc_sv_log_file_open(path, why, sizeof why);
    hc_sv_log_open(&testee, HC_SV_LOG_INFO, HC_SV_LOG_TEXT, hc_sv_log_file_descriptor(file));
    put_line(1);
    finish();
    ck_assert_str_eq(text_of(path), "line 0\nline 1\n");
}
END_TEST

START_TEST(no_line_is_lost_or_cut_when_the_file_is_renamed_and_opened_again) {
    char renamed[80];
    unsigned next = 0, count = 0;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < LINES / 5; i++)
            put_line(round * (LINES / 5) + i);
        snprintf(renamed, sizeof renamed, "%s.%u", path, round);
        ck_assert_int_eq(rename(path, renamed), 0);
        hc_sv_log_file_reopen(file, &testee, path);
        await_text(path, "log-reopened");
    }
    finish();
    for (unsigned round = 0; round < 5; round++) {
        snprintf(renamed, sizeof renamed, "%s.%u", path, round);
        count += count_lines(renamed, &next);
    }
    ck_assert_uint_eq(count + count_lines(path, &next), LINES);
}
END_TEST

START_TEST(file_that_cannot_be_opened_again_leaves_the_one_before) {
    hc_sv_log_file_reopen(file, &testee, "/nowhere/log");
    await_text(path, "log-file-refused why=\"--log-file '/nowhere/log': No such file");
    put_line(0);
    finish();
    ck_assert_ptr_nonnull(strstr(text_of(path), "line 0\n"));
    char why[256];
    ck_assert_ptr_null(hc_sv_log_file_open("/nowhere/log", why, sizeof why));
    ck_assert_str_eq(why, "--log-file '/nowhere/log': No such file or directory");
}
END_TEST

START_TEST(a_full_disk_makes_nobody_wait_and_lines_come_after_it) {
    hc_sv_log_file_reopen(file, &testee, "/dev/full");
    for (unsigned i = 0; i < 2 * HC_SV_LOG_BUFFER; i++)
        hc_sv_log_text(&testee, "it is full\n", 11); // returns, dropped or not
    hc_sv_log_file_reopen(file, &testee, path);
    await_text(path, "log-dropped count=");
    finish();
    const char *text = text_of(path);
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        ck_assert(strncmp(text, "it is full\n", 11) == 0 || strstr(text, "log-") != NULL);
}
END_TEST

START_TEST(log_on_a_full_disk_ends_all_the_same) {
    hc_sv_log_file_reopen(file, &testee, "/dev/full");
    put_line(0);
    hc_sv_log_close(&testee);
    hc_sv_log_file_close(file, 50);
    file = NULL;
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server log file");
    TCase *tests = tcase_create("log file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, lines_are_appended_and_others_cannot_read_the_file);
    tcase_add_test(tests, no_line_is_lost_or_cut_when_the_file_is_renamed_and_opened_again);
    tcase_add_test(tests, file_that_cannot_be_opened_again_leaves_the_one_before);
    tcase_add_test(tests, a_full_disk_makes_nobody_wait_and_lines_come_after_it);
    tcase_add_test(tests, log_on_a_full_disk_ends_all_the_same);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
