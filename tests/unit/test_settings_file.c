/// Files of settings: each line is taken or is a fault, the last source wins, and what waits for a
/// restart stays as it is.
#define _GNU_SOURCE // mkdtemp

#include "server/daemon/options.h"
#include "tests/run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hc_sv_options command, now;
static struct hc_sv_reading reading;
static char folder[32], paths[2][64];

static void write_bytes(unsigned number, const char *bytes, size_t size) {
    FILE *file = fopen(paths[number], "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_file(unsigned number, const char *text) {
    write_bytes(number, text, strlen(text));
}

static void set_up(void) {
    char why[1024];
    snprintf(folder, sizeof folder, "/tmp/hc_settings_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    now = hc_sv_options_default();
    now.dev = now.given[HC_SV_SETTING_dev] = true;
    command = now;
    ck_assert_msg(hc_plugin_load(&now.plugin, NULL, why, sizeof why), "%s", why);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%u.ini", folder, i);
        write_file(i, "");
        command.config.all[i] = paths[i];
    }
    command.config.count = 1;
}

static void tear_down(void) {
    for (unsigned i = 0; i < 2; i++)
        unlink(paths[i]);
    rmdir(folder);
}

/// Reads all files; the faults are `reading.faults`.
static void read_files(void) {
    memset(&reading, 0, sizeof reading);
    hc_sv_options_read(&command, &now, &reading);
}

static void read_text(const char *text) {
    write_file(0, text);
    read_files();
}

static void check_good(void) {
    ck_assert_msg(reading.faults.count == 0, "%u: %s '%s': %s", reading.faults.kept[0].place.line,
                  reading.faults.kept[0].name, reading.faults.kept[0].value,
                  reading.faults.kept[0].why);
}

/// Fault `index` is of this line, key and value, and its text holds `why`.
static void check_fault(unsigned index, unsigned line, const char *name, const char *value,
                        const char *why) {
    const struct hc_setting_fault *fault = &reading.faults.kept[index];
    ck_assert_uint_gt(reading.faults.count, index);
    ck_assert_str_eq(fault->place.file, paths[0]);
    ck_assert_uint_eq(fault->place.line, line);
    ck_assert_str_eq(fault->name, name);
    ck_assert_str_eq(fault->value, value);
    ck_assert_msg(strstr(fault->why, why) != NULL, "%s", fault->why);
}

START_TEST(every_faulty_line_of_a_file_is_named_with_what_is_allowed) {
    read_text("port = x\n"
              "[server]\n"
              "late-margin = 600\n"
              "foo\n"
              "no-such = 1\n"
              "max-clients = 4\n"
              "max-clients = 5\n"
              "config = x\n"
              "dev = yes\n"
              "log-level = loud\n"
              "tick-rate =\n"
              " = 1\n"
              "timeout = 0.5\n");
    check_fault(0, 1, "port", "x", "must be a whole number in [0, 65535]");
    check_fault(1, 2, "", "", "no sections");
    check_fault(2, 3, "late-margin", "600", "must be a whole number in [0, 512] ticks");
    check_fault(3, 4, "", "", "must be `name = value`");
    check_fault(4, 5, "no-such", "1", "is no setting");
    check_fault(5, 7, "max-clients", "5", "is set in line 6 already");
    check_fault(6, 8, "config", "x", "command line alone");
    check_fault(7, 9, "dev", "yes", "must be true or false");
    check_fault(8, 10, "log-level", "loud", "must be error, warn, info or debug");
    check_fault(9, 11, "tick-rate", "", "must be a whole number in [1, 240] Hz");
    check_fault(10, 12, "", "1", "is no setting");
    check_fault(11, 13, "timeout", "0.5", "must be a number in [1, 3600] s");
    ck_assert_uint_eq(reading.faults.count, 12);
}
END_TEST

START_TEST(blank_lines_comments_and_blanks_around_a_value_are_left_out) {
    read_text("\xEF\xBB\xBF# with a mark of its encoding\n"
              "\n   \t\r\n; late-margin = 600\n"
              "  late-margin = 7   ; in this match\r\n"
              "\tclient-rate:5000\n"
              "refused = a;b#c\n"
              "linger =    2.5");
    check_good();
    ck_assert_uint_eq(reading.options.late_margin, 7);
    ck_assert_uint_eq(reading.options.client_rate, 5000);
    ck_assert_uint_eq(reading.options.linger_us, 2500000);
}
END_TEST

START_TEST(later_files_win_and_the_command_line_wins_over_all) {
    command.config.count = 2;
    command.client_rate = 9000;
    command.given[HC_SV_SETTING_client_rate] = true;
    write_file(0, "late-margin = 1\nclient-rate = 5000\nlinger = 1\n");
    write_file(1, "late-margin = 2\nclient-rate = 6000\n");
    read_files();
    check_good();
    ck_assert_uint_eq(reading.options.late_margin, 2);
    ck_assert_uint_eq(reading.options.client_rate, 9000);
    ck_assert_uint_eq(reading.options.linger_us, 1000000);
}
END_TEST

START_TEST(a_line_that_is_too_long_or_has_a_zero_byte_is_a_fault_and_not_two_lines) {
    char text[1024];
    memset(text, 'x', sizeof text);
    memcpy(text, "refused = ", 10);
    snprintf(text + 600, sizeof text - 600, "late-margin = 1\nlinger = 3\n");
    read_text(text);
    check_fault(0, 1, "", "", "longer than");
    ck_assert_uint_eq(reading.faults.count, 1);
    ck_assert_uint_eq(reading.options.late_margin, now.late_margin);
    write_bytes(0, "linger = 3\0\nlate-margin = 1\n", 28);
    read_files();
    check_fault(0, 1, "", "", "zero byte");
    ck_assert_uint_eq(reading.faults.count, 1);
}
END_TEST

START_TEST(faults_beyond_those_that_are_kept_are_counted) {
    char text[4 * HC_SETTING_FAULTS_MAX + 1];
    for (unsigned i = 0; i < 2 * HC_SETTING_FAULTS_MAX; i++)
        memcpy(text + 2 * (size_t)i, "x\n", 3);
    read_text(text);
    ck_assert_uint_eq(reading.faults.count, 2 * HC_SETTING_FAULTS_MAX);
    check_fault(HC_SETTING_FAULTS_MAX - 1, HC_SETTING_FAULTS_MAX, "", "", "must be `name = value`");
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_a_fault) {
    char lines[1024];
    ck_assert_int_eq(unlink(paths[0]), 0);
    read_files();
    check_fault(0, 0, "", "", "No such file");
    ck_assert_int_eq(mkdir(paths[0], 0700), 0);
    read_files();
    check_fault(0, 0, "", "", "is no regular file");
    rmdir(paths[0]);
    ck_assert_int_eq(mkfifo(paths[0], 0600), 0);
    read_files();
    check_fault(0, 0, "", "", "is no regular file");
    unlink(paths[0]);
    memset(lines, '\n', sizeof lines);
    FILE *file = fopen(paths[0], "w");
    for (unsigned i = 0; i <= (1u << 20) / sizeof lines; i++)
        fwrite(lines, 1, sizeof lines, file);
    fclose(file);
    read_files();
    ck_assert_uint_eq(reading.faults.count, 1);
    ck_assert_msg(strstr(reading.faults.kept[0].why, "larger than 1 MiB") != NULL, "%s",
                  reading.faults.kept[0].why);
}
END_TEST

START_TEST(bytes_that_cannot_be_shown_are_not) {
    read_text("a\x1b[31m = \x07\xff\n");
    check_fault(0, 1, "a?[31m", "??", "is no setting");
}
END_TEST

START_TEST(settings_that_exclude_each_other_are_named_with_their_lines) {
    read_text("\nsnapshot-rate = 61\nforce-rewind = 65\n");
    check_fault(0, 3, "force-rewind", "65", "at most --history, which is 64");
    check_fault(1, 2, "snapshot-rate", "61", "at most --tick-rate, which is 60");
    ck_assert_uint_eq(reading.faults.count, 2);
}
END_TEST

/// Writes another value of a setting than `now` has; false: there is none.
static bool write_other(const struct hc_setting *row, char *text, size_t size) {
    static struct hc_sv_options other;
    other = now;
    snprintf(text, size, "::1"); // any text, and an address
    if (row->kind == HC_SETTING_KIND_FLAG) {
        bool is_true = ((const bool *)&now)[row->offset];
        snprintf(text, size, "%s", is_true ? "false" : "true");
    } else if (row->kind == HC_SETTING_KIND_NUMBER) {
        snprintf(text, size, "%" PRIu64, row->min);
        if (hc_setting_take(row, text, &other) && hc_setting_equal(row, &other, &now))
            snprintf(text, size, "%" PRIu64, row->max);
    } else if (row->kind == HC_SETTING_KIND_WORD) {
        hc_setting_format(row, &now, text, size);
        bool is_first = strncmp(row->argument, text, strlen(text)) == 0;
        const char *word = is_first ? strchr(row->argument, '|') + 1 : row->argument;
        snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
    }
    return hc_setting_take(row, text, &other) && !hc_setting_equal(row, &other, &now);
}

/// Writes "name = value" with another value of setting `i` than `now` has.
static void write_line(unsigned i, char *line, size_t size) {
    char value[64];
    ck_assert_msg(write_other(&hc_sv_settings[i], value, sizeof value), "%s",
                  hc_sv_settings[i].name);
    snprintf(line, size, "%s = %s\n", hc_sv_settings[i].name, value);
}

START_TEST(each_setting_is_changed_by_a_file_or_waits_for_a_restart) {
    unsigned live = 0, fixed = 0;
    for (unsigned i = 0; i < HC_SV_SETTING_COUNT; i++) {
        const struct hc_setting *row = &hc_sv_settings[i];
        bool is_live = row->change == HC_SETTING_LIVE;
        char line[128], back[128];
        // The command line sets --dev, and a server with --dev has no key file.
        if (row->group < 0 || i == HC_SV_SETTING_dev || (is_live && i == HC_SV_SETTING_key_file))
            continue;
        write_line(i, line, sizeof line);
        read_text(line);
        ck_assert_msg(reading.changed[i] == is_live, "%s", line);
        ck_assert_msg(reading.waits[i] == !is_live, "%s", line);
        ck_assert_msg(hc_setting_equal(row, &reading.options, &now) == !is_live, "%s", line);
        int size = snprintf(back, sizeof back, "%s = ", row->name);
        hc_setting_format(row, &reading.options, back + size, sizeof back - (size_t)size);
        ck_assert(!is_live || strncmp(back, line, strlen(back)) == 0);
        for (unsigned k = 0; k < HC_SV_SETTING_COUNT; k++)
            ck_assert(k == i || (!reading.changed[k] && !reading.waits[k]));
        live += is_live;
        fixed += !is_live;
    }
    ck_assert_uint_ge(live, 10);
    ck_assert_uint_ge(fixed, 10);
}
END_TEST

START_TEST(a_setting_that_a_file_names_no_more_has_its_default_again) {
    now.late_margin = 3;
    now.given[HC_SV_SETTING_late_margin] = true;
    now.port = 5;
    now.given[HC_SV_SETTING_port] = true;
    read_text("linger = 30\n"); // as the default
    check_good();
    ck_assert_uint_eq(reading.options.late_margin, hc_sv_options_default().late_margin);
    ck_assert(reading.changed[HC_SV_SETTING_late_margin]);
    ck_assert(reading.waits[HC_SV_SETTING_port]);
    ck_assert_uint_eq(reading.options.port, 5);
    ck_assert(!reading.changed[HC_SV_SETTING_linger_us]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("settings_file");
    TCase *tests = tcase_create("settings_file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_faulty_line_of_a_file_is_named_with_what_is_allowed);
    tcase_add_test(tests, blank_lines_comments_and_blanks_around_a_value_are_left_out);
    tcase_add_test(tests, later_files_win_and_the_command_line_wins_over_all);
    tcase_add_test(tests, a_line_that_is_too_long_or_has_a_zero_byte_is_a_fault_and_not_two_lines);
    tcase_add_test(tests, faults_beyond_those_that_are_kept_are_counted);
    tcase_add_test(tests, a_file_that_cannot_be_read_is_a_fault);
    tcase_add_test(tests, bytes_that_cannot_be_shown_are_not);
    tcase_add_test(tests, settings_that_exclude_each_other_are_named_with_their_lines);
    tcase_add_test(tests, each_setting_is_changed_by_a_file_or_waits_for_a_restart);
    tcase_add_test(tests, a_setting_that_a_file_names_no_more_has_its_default_again);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
