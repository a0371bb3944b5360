/// The settings of the programs: each one's range and words, its default, and its place in --help.
#define _GNU_SOURCE // strsep

#include "client/programs/options.h"
#include "server/daemon/options.h"
#include "tests/run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 64, HELP_MAX = 1 << 16 };

/// A list, with values that it writes.
struct list {
    const struct hc_setting *rows;
    unsigned count;
    void *values;
};

static struct list daemon_list(void) {
    static struct hc_sv_options options;
    options = hc_sv_options_default();
    return (struct list){hc_sv_settings, HC_SV_SETTING_COUNT, &options};
}

static struct list client_list(enum hc_cl_options_program program) {
    static struct hc_cl_options options;
    options = hc_cl_options_default(program);
    return (struct list){hc_cl_settings, HC_CL_SETTING_COUNT, &options};
}

static void check_taken(const struct hc_setting *row, const char *text, void *values) {
    char why[1024] = "", back[TEXT_MAX];
    ck_assert_msg(hc_setting_parse(row, text, values, why, sizeof why), "%s", why);
    ck_assert(hc_setting_format(row, values, back, sizeof back));
    ck_assert_str_eq(back, text);
}

static void check_refused(const struct hc_setting *row, const char *text, const char *allowed,
                          void *values) {
    char why[1024] = "", start[256], before[TEXT_MAX], after[TEXT_MAX];
    hc_setting_format(row, values, before, sizeof before);
    ck_assert_msg(!hc_setting_parse(row, text, values, why, sizeof why), "--%s %s", row->name,
                  text);
    snprintf(start, sizeof start, "--%s '%s': must be ", row->name, text);
    ck_assert_msg(strncmp(why, start, strlen(start)) == 0, "%s", why);
    ck_assert_msg(strstr(why, allowed) != NULL, "%s", why);
    hc_setting_format(row, values, after, sizeof after);
    ck_assert_str_eq(after, before);
}

static void walk_number(const struct hc_setting *row, void *values) {
    char least[TEXT_MAX], most[TEXT_MAX], beyond[TEXT_MAX] = "18446744073709551616";
    char below[TEXT_MAX] = "-1", range[3 * TEXT_MAX];
    snprintf(least, sizeof least, "%" PRIu64, row->min);
    snprintf(most, sizeof most, "%" PRIu64, row->max);
    snprintf(range, sizeof range, "number in [%s, %s]%s", least, most, row->unit);
    if (row->min > 0)
        snprintf(below, sizeof below, "%" PRIu64, row->min - 1);
    if (row->places > 0)
        snprintf(beyond, sizeof beyond, "%" PRIu64 ".%0*d", row->max, (int)row->places, 1);
    else if (row->max < UINT64_MAX)
        snprintf(beyond, sizeof beyond, "%" PRIu64, row->max + 1);
    check_taken(row, least, values);
    check_taken(row, most, values);
    check_refused(row, below, range, values);
    check_refused(row, beyond, range, values);
    check_refused(row, "", range, values);
}

static void walk_words(const struct hc_setting *row, void *values) {
    char words[TEXT_MAX], *rest = words;
    snprintf(words, sizeof words, "%s", row->argument);
    for (char *word; (word = strsep(&rest, "|")) != NULL;) {
        check_taken(row, word, values);
        check_refused(row, "x", word, values);
    }
    check_refused(row, row->argument, " or ", values);
    check_refused(row, "", " or ", values);
}

static void walk(struct list list) {
    for (const struct hc_setting *row = list.rows; row < list.rows + list.count; row++)
        switch (row->kind) {
        case HC_SETTING_KIND_NUMBER:
            walk_number(row, list.values);
            break;
        case HC_SETTING_KIND_WORD:
        case HC_SETTING_KIND_NAME:
            walk_words(row, list.values);
            break;
        case HC_SETTING_KIND_TEXT:
        case HC_SETTING_KIND_TEXTS:
            check_taken(row, "any", list.values);
            break;
        case HC_SETTING_KIND_FLAG:
            ck_assert(hc_setting_parse(row, NULL, list.values, NULL, 0));
            ck_assert(((const bool *)list.values)[row->offset]);
        }
}

START_TEST(every_setting_takes_its_range_and_refuses_what_is_one_beyond) {
    walk(daemon_list());
    walk(client_list(HC_CL_OPTIONS_LOAD));
}
END_TEST

/// Each default is none, or the option gives it.
static void walk_defaults(struct list list) {
    for (const struct hc_setting *row = list.rows; row < list.rows + list.count; row++) {
        char text[TEXT_MAX];
        bool has_value = hc_setting_format(row, list.values, text, sizeof text);
        if (has_value && row->kind != HC_SETTING_KIND_FLAG)
            check_taken(row, text, list.values);
    }
}

START_TEST(an_option_can_give_each_default) {
    walk_defaults(daemon_list());
    walk_defaults(client_list(HC_CL_OPTIONS_BOT));
    walk_defaults(client_list(HC_CL_OPTIONS_LOAD));
    walk_defaults(client_list(HC_CL_OPTIONS_VIEW));
}
END_TEST

/// Copies a text with one blank for each run of them.
static void squeeze(const char *text, char *out) {
    for (; *text != '\0'; text++)
        if (strchr(" \n", *text) == NULL || (out[-1] != ' '))
            *out++ = *text == '\n' ? ' ' : *text;
    *out = '\0';
}

/// The --help of a program (0: hindcastd), with single blanks.
static const char *help_of(unsigned program) {
    static char text[HELP_MAX], squeezed[HELP_MAX];
    char name[] = "program", help[] = "--help", *arguments[] = {name, help, NULL};
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    pid_t pid = fork();
    if (pid == 0) {
        static struct hc_sv_options server;
        static struct hc_sv_reading reading;
        static struct hc_cl_options client;
        dup2(fileno(file), STDOUT_FILENO);
        if (program == 0)
            hc_sv_options_parse(&server, &reading, 2, arguments);
        else
            hc_cl_options_parse(&client, program, 2, arguments);
        _exit(1); // it did not exit
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    squeezed[0] = ' ';
    squeeze(text, squeezed + 1);
    return squeezed;
}

static void walk_help(struct list list, unsigned program) {
    const char *help = help_of(program);
    for (const struct hc_setting *row = list.rows; row < list.rows + list.count; row++) {
        char described[HC_SETTING_TEXT_MAX + TEXT_MAX];
        bool has = program == 0 || (row->programs & program) != 0;
        int size =
            snprintf(described, sizeof described, " --%s%s%s ", row->name,
                     row->argument != NULL ? "=" : "", row->argument != NULL ? row->argument : "");
        hc_setting_describe(row, list.values, described + size, sizeof described - (size_t)size);
        ck_assert_msg((strstr(help, described) != NULL) == has, "%s", described);
    }
}

START_TEST(help_describes_every_setting_of_a_program_with_its_range_and_default) {
    static const unsigned programs[] = {HC_CL_OPTIONS_BOT, HC_CL_OPTIONS_LOAD, HC_CL_OPTIONS_VIEW};
    walk_help(daemon_list(), 0);
    for (unsigned i = 0; i < 3; i++)
        walk_help(client_list(programs[i]), programs[i]);
}
END_TEST

START_TEST(a_name_is_that_of_one_setting_of_a_program) {
    struct list lists[] = {daemon_list(), client_list(HC_CL_OPTIONS_LOAD)};
    for (unsigned l = 0; l < 2; l++)
        for (unsigned i = 0; i < lists[l].count; i++)
            for (unsigned k = 0; k < i; k++) {
                const struct hc_setting *one = &lists[l].rows[i], *other = &lists[l].rows[k];
                ck_assert_msg((one->programs & other->programs) == 0 ||
                                  strcmp(one->name, other->name) != 0,
                              "--%s", one->name);
            }
}
END_TEST

START_TEST(the_log_names_each_setting_with_its_unit) {
    struct hc_sv_options options = hc_sv_options_default();
    options.seed = INT64_MAX;
    json_t *json = hc_settings_json(hc_sv_settings, HC_SV_SETTING_COUNT, &options);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "tick_rate_hz")), 60);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "seed")), INT64_MAX);
    ck_assert_str_eq(json_string_value(json_object_get(json, "audience")), "0");
    ck_assert_str_eq(json_string_value(json_object_get(json, "log_level")), "info");
    ck_assert(json_real_value(json_object_get(json, "timeout_s")) == 10.0);
    ck_assert_ptr_nonnull(json_object_get(json, "dev"));
    ck_assert_ptr_null(json_object_get(json, "ticks")); // none
    ck_assert_ptr_null(json_object_get(json, "bind"));
    ck_assert_ptr_null(json_object_get(json, "check_config"));
    json_decref(json);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("settings");
    TCase *tests = tcase_create("settings");
    tcase_add_test(tests, every_setting_takes_its_range_and_refuses_what_is_one_beyond);
    tcase_add_test(tests, an_option_can_give_each_default);
    tcase_add_test(tests, help_describes_every_setting_of_a_program_with_its_range_and_default);
    tcase_add_test(tests, a_name_is_that_of_one_setting_of_a_program);
    tcase_add_test(tests, the_log_names_each_setting_with_its_unit);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
