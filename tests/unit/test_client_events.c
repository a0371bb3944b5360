/// Tests of client/events alone: the queue of events for the game.
#include "client/events.h"

#include "tests/run_suite.h"

static struct hc_cl_events events;

static void set_up(void) {
    events = (struct hc_cl_events){.count = 0};
}

static uint32_t put_all(void (*put)(struct hc_cl_events *, const struct hc_client_event *)) {
    for (hc_tick tick = 0; tick < 2 * HC_CL_EVENTS; tick++)
        put(&events, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_MOVED, .tick = tick});
    return events.count;
}

START_TEST(events_come_in_their_order) {
    struct hc_client_event event;
    for (hc_tick round = 0; round < 5; round++) {
        for (hc_tick tick = 0; tick < 30; tick++)
            hc_cl_events_put(&events, &(struct hc_client_event){.tick = tick});
        for (hc_tick tick = 0; tick < 30; tick++) {
            ck_assert(hc_cl_events_next(&events, &event));
            ck_assert_uint_eq(event.tick, tick);
        }
        ck_assert(!hc_cl_events_next(&events, &event));
    }
}
END_TEST

START_TEST(joins_leaves_and_names_leave_places_to_the_rest_and_the_rest_one_to_the_last) {
    ck_assert_uint_eq(put_all(hc_cl_events_put_player), HC_CL_EVENTS - HC_CL_EVENTS_SPARE);
    ck_assert_uint_eq(put_all(hc_cl_events_put), HC_CL_EVENTS - 1);
    ck_assert_uint_eq(put_all(hc_cl_events_put_last), HC_CL_EVENTS);
}
END_TEST

START_TEST(of_notices_that_nobody_reads_the_oldest_wait_and_one_that_was_read_stays) {
    struct hc_client_event event;
    struct hc_notice notice = {.kind = HC_NOTICE_OPERATOR};
    for (unsigned i = 0; i < HC_CL_NOTICES + 3; i++) {
        notice.seconds = i;
        ck_assert(hc_cl_events_put_notice(&events, &notice) == (i < HC_CL_NOTICES));
    }
    for (unsigned i = 0; i < 5 * HC_CL_NOTICES; i++) {
        ck_assert(hc_cl_events_next(&events, &event));
        ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_NOTICE);
        notice.seconds = HC_CL_NOTICES + i;
        ck_assert(hc_cl_events_put_notice(&events, &notice));
        ck_assert_uint_eq(event.notice->seconds, i);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_events");
    TCase *tests = tcase_create("client_events");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, events_come_in_their_order);
    tcase_add_test(tests,
                   joins_leaves_and_names_leave_places_to_the_rest_and_the_rest_one_to_the_last);
    tcase_add_test(tests, of_notices_that_nobody_reads_the_oldest_wait_and_one_that_was_read_stays);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
