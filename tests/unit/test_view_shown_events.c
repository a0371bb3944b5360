/// Tests client/view/shown_events: the game events of the last moments.
#include "client/view/shown_events.h"
#include "tests/run_suite.h"

#include <math.h>

static struct hc_cl_shown_events events;

/// Notes the event with this number at `now_us`.
static void note(enum hc_client_game_event_state state, uint32_t number, uint64_t now_us) {
    struct hc_client_game_event event = {
        .state = state, .tick = 7, .entity = 3, .kind = 1, .number = number};
    hc_cl_shown_events_note(&events, &event, now_us);
}

static void set_up(void) {
    events.count = 0;
}

START_TEST(an_event_is_shown_for_half_a_second_whether_predicted_or_late) {
    const uint64_t begin = 5000000, life = HC_FRAME_EVENT_MS * 1000;
    note(HC_CLIENT_GAME_EVENT_PREDICTED, 1, begin);
    note(HC_CLIENT_GAME_EVENT_LATE, 2, begin + 1000);
    note(HC_CLIENT_GAME_EVENT_CONFIRMED, 1, begin + 2000);
    hc_cl_shown_events_age(&events, begin + 3000);
    ck_assert_uint_eq(events.count, 2);
    ck_assert(fabs(events.at[0].age - 0.003) < 1e-9 && fabs(events.at[1].age - 0.002) < 1e-9);
    hc_cl_shown_events_age(&events, begin + life);
    ck_assert_uint_eq(events.count, 1);
    ck_assert_uint_eq(events.at[0].event.number, 2);
    hc_cl_shown_events_age(&events, begin + life + 1000);
    ck_assert_uint_eq(events.count, 0);
}
END_TEST

START_TEST(a_cancelled_event_is_shown_no_more) {
    for (uint32_t number = 1; number <= 3; number++)
        note(HC_CLIENT_GAME_EVENT_PREDICTED, number, number);
    note(HC_CLIENT_GAME_EVENT_CANCELLED, 2, 10);
    note(HC_CLIENT_GAME_EVENT_CANCELLED, 9, 10); // it is shown no more already
    hc_cl_shown_events_age(&events, 11);
    ck_assert_uint_eq(events.count, 2);
    ck_assert_uint_eq(events.at[0].event.number, 1);
    ck_assert_uint_eq(events.at[1].event.number, 3);
    ck_assert(fabs(events.at[1].age - 8e-6) < 1e-12);
}
END_TEST

START_TEST(of_too_many_events_the_newest_are_shown) {
    for (uint32_t number = 0; number < 3 * HC_CL_SHOWN_EVENTS; number++)
        note(HC_CLIENT_GAME_EVENT_LATE, number, number);
    ck_assert_uint_eq(events.count, HC_CL_SHOWN_EVENTS);
    for (uint32_t i = 0; i < HC_CL_SHOWN_EVENTS; i++)
        ck_assert_uint_eq(events.at[i].event.number, 2 * HC_CL_SHOWN_EVENTS + i);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("view shown events");
    TCase *tests = tcase_create("shown events");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, an_event_is_shown_for_half_a_second_whether_predicted_or_late);
    tcase_add_test(tests, a_cancelled_event_is_shown_no_more);
    tcase_add_test(tests, of_too_many_events_the_newest_are_shown);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
