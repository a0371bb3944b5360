/// Tests of proto/flight.h: when there is a bound, how large it is, and when it ends.
#include "proto/flight.h"

#include "common/elapsed.h"
#include "tests/run_suite.h"

enum {
    MS_US = 1000,
    TICK_US = 20 * MS_US, ///< from one datagram to the next
    BYTES = 150,          ///< of each
    RTT_US = 60 * MS_US,
};

/// An end that sends one datagram in each tick if it may, over a path without loss.
struct end {
    struct hc_flight flight;
    uint64_t now_us, sent_us[4096];
    uint32_t sent, acked; ///< datagrams
    uint32_t held;        ///< ticks without one
};

static uint32_t in_flight(const struct end *end) {
    return (end->sent - end->acked) * BYTES;
}

static uint32_t room(struct end *end, uint32_t bytes, bool silent) {
    uint64_t waits_us =
        end->acked == end->sent ? 0 : hc_since(end->sent_us[end->acked], end->now_us);
    struct hc_flight_state state = {.in_flight = bytes, .waits_us = waits_us, .silent = silent};
    return hc_flight_room(&end->flight, &state, end->now_us);
}

/// Plays so many ticks on a path with this round trip, plus up to `jitter_us`.
static void play(struct end *end, uint32_t ticks, uint64_t rtt_us, uint64_t jitter_us) {
    for (uint32_t i = 0; i < ticks; i++, end->now_us += TICK_US) {
        while (end->acked < end->sent) {
            uint64_t late_us = end->acked % 4 == 0 ? 0 : jitter_us;
            uint64_t sent_us = end->sent_us[end->acked], took_us = end->now_us - sent_us;
            if (took_us < rtt_us + late_us)
                break;
            end->acked++;
            hc_flight_acked(&end->flight, BYTES, end->now_us);
            hc_flight_measured(&end->flight, rtt_us + late_us, sent_us, BYTES, end->now_us);
        }
        if (room(end, in_flight(end), false) < BYTES) {
            end->held++;
            continue;
        }
        hc_flight_sent(&end->flight, in_flight(end), end->now_us);
        end->sent_us[end->sent++] = end->now_us;
    }
}

static struct end begin(void) {
    struct end end = {.now_us = 1000000};
    hc_flight_begin(&end.flight, end.now_us);
    return end;
}

START_TEST(a_path_is_free_until_it_was_measured_and_while_round_trips_are_near) {
    struct end end = begin();
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(room(&end, 100 * i, false), HC_FLIGHT_FREE);
    play(&end, 2000, RTT_US, 0);
    play(&end, 500, RTT_US, 100 * MS_US); // one in four is near
    ck_assert_uint_eq(end.held, 0);
    ck_assert_uint_eq(end.flight.bound, HC_FLIGHT_FREE);
}
END_TEST

START_TEST(a_standing_queue_gives_a_bound_of_what_the_path_holds) {
    struct end end = begin();
    play(&end, 1000, RTT_US, 0);
    play(&end, HC_FLIGHT_PATIENCE_LEAST_US / TICK_US, RTT_US + 200 * MS_US, 0);
    ck_assert_uint_eq(end.flight.bound, HC_FLIGHT_FREE);
    for (uint32_t i = 0; end.flight.bound == HC_FLIGHT_FREE; i++) {
        ck_assert_uint_lt(i, 20);
        play(&end, 1, RTT_US + 200 * MS_US, 0);
    }
    uint32_t held = BYTES * (RTT_US + HC_FLIGHT_QUEUE_US) / TICK_US;
    ck_assert_uint_gt(end.flight.bound, held / 3);
    ck_assert_uint_le(end.flight.bound, held);
    ck_assert(in_flight(&end) > end.flight.bound && end.held > 0);
    ck_assert_uint_eq(room(&end, in_flight(&end), true), HC_FLIGHT_LEAST);
    ck_assert_uint_eq(room(&end, 0, false), HC_FLIGHT_LEAST);
}
END_TEST

START_TEST(a_bound_grows_when_the_queue_is_gone_and_ends_when_it_holds_nothing_back) {
    struct end end = begin();
    play(&end, 1000, RTT_US, 0);
    play(&end, 100, RTT_US + 40 * MS_US, 0); // below the least queue that counts
    ck_assert_uint_eq(end.held, 0);
    play(&end, 25, RTT_US + 200 * MS_US, 0);
    ck_assert_uint_ne(end.flight.bound, HC_FLIGHT_FREE);
    play(&end, 100, RTT_US, 0);
    uint32_t held = end.held;
    play(&end, HC_FLIGHT_FREE_US / TICK_US, RTT_US, 0);
    ck_assert_uint_eq(end.held, held);
    ck_assert_uint_eq(end.flight.bound, HC_FLIGHT_FREE);
}
END_TEST

START_TEST(a_drain_distinguishes_a_longer_path_from_a_queue) {
    struct end end = begin();
    play(&end, 1000, RTT_US, 0);
    play(&end, 100, RTT_US + 200 * MS_US, 0);
    ck_assert(end.held > 0);
    ck_assert_uint_eq(end.flight.bound, HC_FLIGHT_FREE);
    ck_assert_int_eq(hc_least_get(&end.flight.least), RTT_US + 200 * MS_US);
    play(&end, 100, RTT_US, 0);
    ck_assert_int_eq(hc_least_get(&end.flight.least), RTT_US);
}
END_TEST

START_TEST(silence_holds_datagrams_back_and_the_first_ack_ends_that) {
    struct end end = begin();
    play(&end, 1000, RTT_US, 0);
    play(&end, 100, 1000000000, 0);
    ck_assert_uint_ge(end.held, 100 - HC_FLIGHT_PATIENCE_LEAST_US / TICK_US - 5);
    uint32_t held = end.held;
    end.acked = end.sent - 1; // all before are lost
    end.sent_us[end.acked] = end.now_us - RTT_US;
    play(&end, 100, RTT_US, 0);
    ck_assert_uint_eq(end.held, held);
}
END_TEST

START_TEST(a_path_that_reorders_is_given_more_patience) {
    for (int reorders = 0; reorders < 2; reorders++) {
        struct end end = begin();
        play(&end, 1000, RTT_US, 0);
        for (int i = 0; i < 20; i++) { // 0.6 s without a near round trip
            if (reorders == 1)
                hc_flight_reordered(&end.flight, end.now_us);
            end.flight.away_us[0] = 400 * MS_US;
            play(&end, 36, RTT_US + 100 * MS_US, 0);
            play(&end, 36, RTT_US, 0);
        }
        ck_assert(reorders == 1 ? end.held == 0 : end.held > 0);
    }
}
END_TEST

START_TEST(a_least_value_is_forgotten_after_two_windows) {
    struct hc_least least;
    hc_least_begin(&least, 0);
    ck_assert_int_eq(hc_least_get(&least), INT64_MAX);
    hc_least_take(&least, -5, 0);
    hc_least_take(&least, 7, 2 * (uint64_t)HC_FLIGHT_WINDOW_US / 2);
    ck_assert_int_eq(hc_least_get(&least), -5);
    ck_assert(hc_least_take(&least, 9, 3 * (uint64_t)HC_FLIGHT_WINDOW_US));
    ck_assert_int_eq(hc_least_get(&least), 7);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_flight");
    TCase *tests = tcase_create("proto_flight");
    tcase_add_test(tests, a_path_is_free_until_it_was_measured_and_while_round_trips_are_near);
    tcase_add_test(tests, a_standing_queue_gives_a_bound_of_what_the_path_holds);
    tcase_add_test(tests, a_bound_grows_when_the_queue_is_gone_and_ends_when_it_holds_nothing_back);
    tcase_add_test(tests, a_drain_distinguishes_a_longer_path_from_a_queue);
    tcase_add_test(tests, silence_holds_datagrams_back_and_the_first_ack_ends_that);
    tcase_add_test(tests, a_path_that_reorders_is_given_more_patience);
    tcase_add_test(tests, a_least_value_is_forgotten_after_two_windows);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
