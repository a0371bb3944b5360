/// Tests server/daemon/ban_file: the file of refused users is changed as a whole, or not at all.
#define _GNU_SOURCE // mkdtemp

#include "server/daemon/ban_file.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[32];
static struct hc_sv_ban_order order;
static char why[5000];

static void set_up(void) {
    snprintf(directory, sizeof directory, "/tmp/hc_ban_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    memset(&order, 0, sizeof order);
    snprintf(order.path, sizeof order.path, "%s/refused", directory);
}

static void tear_down(void) {
    char beside[sizeof order.path + 4];
    snprintf(beside, sizeof beside, "%s.new", order.path);
    unlink(beside);
    unlink(order.path);
    rmdir(directory);
}

static void put(const char *text) {
    FILE *file = fopen(order.path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(order.path, 0640), 0);
}

static void add(uint64_t client_id, bool lifted) {
    order.bans[order.count++] = (struct hc_sv_ban){.client_id = client_id, .lifted = lifted};
}

/// The file has this text, and the permissions that it had.
static void has(const char *expected) {
    static char text[1 << 16];
    struct stat found;
    FILE *file = fopen(order.path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(stat(order.path, &found), 0);
    ck_assert_int_eq(found.st_mode & 0777, 0640);
}

START_TEST(bans_are_added_and_lifted_and_all_else_stays) {
    char beside[sizeof order.path + 4];
    snprintf(beside, sizeof beside, "%s.new", order.path);
    fclose(fopen(beside, "w")); // a change that ended with its process has left it
    put("# comment 7\nnot-before 7\n  7 \t\n70\n\n8");
    add(7, true);
    add(9, false);
    ck_assert_msg(hc_sv_ban_file_change(&order, why, sizeof why), "%s", why);
    has("# comment 7\nnot-before 7\n70\n\n8\n9\n");
}
END_TEST

START_TEST(the_last_of_several_changes_of_a_user_counts) {
    put("1\n");
    add(1, true);
    add(1, false);
    add(2, false);
    add(2, true);
    add(3, false);
    add(3, false);
    ck_assert(hc_sv_ban_file_change(&order, why, sizeof why));
    has("1\n3\n");
    ck_assert(hc_sv_ban_file_change(&order, why, sizeof why)); // again: nothing changes
    has("1\n3\n");
}
END_TEST

START_TEST(a_file_that_cannot_be_used_stays) {
    put("nonsense\n");
    add(5, false);
    ck_assert(!hc_sv_ban_file_change(&order, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "line 1"));
    has("nonsense\n");
    put("1\n");
    ck_assert_int_eq(chmod(order.path, 0666), 0); // a reading refuses it
    ck_assert(!hc_sv_ban_file_change(&order, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "others may write"));
    unlink(order.path);
    ck_assert(!hc_sv_ban_file_change(&order, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "No such file"));
    ck_assert_int_eq(mkdir(order.path, 0700), 0);
    ck_assert(!hc_sv_ban_file_change(&order, why, sizeof why));
    ck_assert_int_eq(rmdir(order.path), 0);
}
END_TEST

START_TEST(no_more_users_are_banned_than_a_reading_takes) {
    FILE *file = fopen(order.path, "w");
    for (unsigned i = 0; i < 16384; i++)
        fprintf(file, "%u\n", i);
    fclose(file);
    add(99999, false);
    ck_assert(!hc_sv_ban_file_change(&order, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "at most 16384"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_ban_file");
    TCase *tests = tcase_create("ban_file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, bans_are_added_and_lifted_and_all_else_stays);
    tcase_add_test(tests, the_last_of_several_changes_of_a_user_counts);
    tcase_add_test(tests, a_file_that_cannot_be_used_stays);
    tcase_add_test(tests, no_more_users_are_banned_than_a_reading_takes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
