/// Tests server/daemon/mailbox and the calls that server/daemon/watchdog.h counts: a worker that
/// takes nothing costs nobody time or memory.
#define _GNU_SOURCE // poll

#include "server/daemon/mailbox.h"
#include "server/daemon/watchdog.h"
#include "tests/run_suite.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

static struct hc_sv_mailbox box;
static struct hc_sv_refused_file file;

static void set_up(void) {
    memset(&box, 0, sizeof box);
    ck_assert(hc_sv_mailbox_open(&box));
}

static void tear_down(void) {
    hc_sv_mailbox_close(&box);
}

/// Whether the worker would be woken.
static bool is_woken(void) {
    struct pollfd state = {.fd = box.wake, .events = POLLIN};
    return poll(&state, 1, 0) == 1;
}

/// Orders to refuse `users` users.
static struct hc_sv_refused_users *refuse(uint32_t users) {
    file.count = users;
    struct hc_sv_orders orders = {.refused = hc_sv_refused_users_create(&file, 1)};
    ck_assert_ptr_nonnull(orders.refused);
    hc_sv_mailbox_order(&box, &orders);
    return orders.refused;
}

START_TEST(orders_are_taken_together_and_once) {
    ck_assert(!is_woken());
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.stop = true, .restarts = true});
    ck_assert(is_woken());
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.publish = 3});
    struct hc_sv_orders orders = hc_sv_mailbox_take_orders(&box);
    ck_assert(orders.stop && orders.restarts && !orders.new_keys);
    ck_assert_uint_eq(orders.publish, 3);
    orders = hc_sv_mailbox_take_orders(&box);
    ck_assert(!orders.stop && orders.publish == 0 && orders.refused == NULL);
}
END_TEST

START_TEST(kicks_wait_side_by_side_until_there_is_no_room) {
    for (unsigned i = 0; i < HC_SV_MAILBOX_KICKS; i++)
        ck_assert(hc_sv_mailbox_kick(&box, &(struct hc_sv_kick){.match = 1, .cid = i}));
    ck_assert(!hc_sv_mailbox_kick(&box, &(struct hc_sv_kick){.match = 1, .cid = 1}));
    struct hc_sv_orders orders = hc_sv_mailbox_take_orders(&box);
    ck_assert_uint_eq(orders.kick_count, HC_SV_MAILBOX_KICKS);
    ck_assert_uint_eq(orders.kicks[HC_SV_MAILBOX_KICKS - 1].cid, HC_SV_MAILBOX_KICKS - 1);
    ck_assert(hc_sv_mailbox_kick(&box, &(struct hc_sv_kick){.match = 1, .cid = 1}));
}
END_TEST

START_TEST(newest_order_of_a_kind_replaces_the_ones_before) {
    struct hc_sv_orders keys = {.new_keys = true, .keys = {.count = 1}};
    hc_sv_mailbox_order(&box, &keys);
    keys.keys.keys[0].id = 9;
    hc_sv_mailbox_order(&box, &keys);
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.publish = 1});
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.publish = 2});
    struct hc_sv_orders settings = {.new_settings = true, .settings.late_margin = 5};
    hc_sv_mailbox_order(&box, &settings);
    settings.settings.late_margin = 6;
    hc_sv_mailbox_order(&box, &settings);
    refuse(1); // freed, as the leak sanitizer checks
    const struct hc_sv_refused_users *newest = refuse(2);
    struct hc_sv_orders orders = hc_sv_mailbox_take_orders(&box);
    ck_assert_uint_eq(orders.keys.keys[0].id, 9);
    ck_assert(orders.new_settings && orders.settings.late_margin == 6);
    ck_assert_uint_eq(orders.publish, 2);
    ck_assert_ptr_eq(orders.refused, newest);
    ck_assert_uint_eq(orders.refused->file.count, 2);
    hc_sv_refused_users_release(orders.refused);
}
END_TEST

START_TEST(first_order_to_stop_decides_whether_the_clients_come_back) {
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.stop = true});
    hc_sv_mailbox_order(&box, &(struct hc_sv_orders){.stop = true, .restarts = true});
    ck_assert(!hc_sv_mailbox_take_orders(&box).restarts);
}
END_TEST

START_TEST(connects_queue_up_to_a_limit_and_in_order) {
    struct hc_sv_mail mail = {.arrived_us = 0};
    for (unsigned i = 0; i < HC_SV_MAILBOX_CONNECTS; i++) {
        mail.arrived_us = i;
        ck_assert(hc_sv_mailbox_put(&box, &mail));
    }
    ck_assert(!hc_sv_mailbox_put(&box, &mail));
    for (unsigned i = 0; i < HC_SV_MAILBOX_CONNECTS; i++) {
        ck_assert(hc_sv_mailbox_take(&box, &mail));
        ck_assert_uint_eq(mail.arrived_us, i);
    }
    ck_assert(!hc_sv_mailbox_take(&box, &mail));
    ck_assert(hc_sv_mailbox_put(&box, &mail));
}
END_TEST

START_TEST(call_is_taken_only_while_it_lasts) {
    struct hc_sv_watch watch = {.left = false};
    hc_sv_watch_begin(&watch, 7, 1000);
    ck_assert(!hc_sv_watch_take(&watch, 999));
    ck_assert(hc_sv_watch_end(&watch));
    ck_assert(!hc_sv_watch_take(&watch, 1000));
    hc_sv_watch_begin(&watch, 8, 2000);
    ck_assert(hc_sv_watch_take(&watch, 2000));
    ck_assert_uint_eq(atomic_load(&watch.match), 8);
    ck_assert(!hc_sv_watch_end(&watch));
}
END_TEST

START_TEST(call_that_has_ended_hangs_no_more) {
    struct hc_sv_watch watch = {.thread = pthread_self()};
    const struct hc_sv_hang hang = {.match = 2, .named = true, .since_us = 1000, .found_us = 3000};
    char text[4096] = "";
    FILE *lines = tmpfile();
    ck_assert_ptr_nonnull(lines);
    struct hc_sv_log log;
    hc_sv_log_open(&log, HC_SV_LOG_ERROR, HC_SV_LOG_JSON, fileno(lines));
    struct hc_sv_watchdog *watchdog = hc_sv_watchdog_start(&log, &box, 2);
    ck_assert_ptr_nonnull(watchdog);
    hc_sv_watch_begin(&watch, 2, 1000);
    ck_assert(hc_sv_watchdog_find(watchdog, &watch, &hang));
    ck_assert(hc_sv_watch_end(&watch));
    ck_assert(!hc_sv_watchdog_find(watchdog, &watch, &hang));
    while (!hc_sv_watchdog_leave(watchdog, watch.thread))
        poll(NULL, 0, 1); // it asks this thread
    while (!hc_sv_watchdog_stop(watchdog))
        ;
    hc_sv_watchdog_free(watchdog);
    hc_sv_log_close(&log);
    rewind(lines);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, lines), 0);
    const char *line = strstr(text, "match-hangs");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_null(strstr(line + 1, "match-hangs"));
    fclose(lines);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mailbox");
    TCase *tests = tcase_create("mailbox");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, orders_are_taken_together_and_once);
    tcase_add_test(tests, kicks_wait_side_by_side_until_there_is_no_room);
    tcase_add_test(tests, newest_order_of_a_kind_replaces_the_ones_before);
    tcase_add_test(tests, first_order_to_stop_decides_whether_the_clients_come_back);
    tcase_add_test(tests, connects_queue_up_to_a_limit_and_in_order);
    tcase_add_test(tests, call_is_taken_only_while_it_lasts);
    tcase_add_test(tests, call_that_has_ended_hangs_no_more);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
