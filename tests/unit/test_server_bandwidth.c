/// How many bytes a client may be sent, and how its rate follows losses.
#include "hindcast/rng.h"
#include "server/replication/bandwidth.h"
#include "tests/run_suite.h"

enum { SECOND = 1000000, SENDS_MAX = 500 };

static struct hc_sv_bandwidth bandwidth;

static uint64_t burst_of(uint32_t rate) {
    return (uint64_t)rate * HC_SV_BANDWIDTH_BURST_MS / 1000;
}

/// A second in which `lost` of 100 datagrams are lost; returns the rate after it.
static uint32_t learn_second(uint64_t *now_us, uint32_t lost) {
    for (int i = 0; i < 10; i++) {
        *now_us += SECOND / 10;
        hc_sv_bandwidth_learn(&bandwidth, i == 0 ? 100 - lost : 0, i == 5 ? lost : 0, *now_us);
    }
    return bandwidth.rate;
}

/// Bytes sent so far, headers included.
struct send {
    uint64_t at_us, total;
};

START_TEST(no_window_carries_more_than_the_cap_and_a_burst_and_the_bucket_never_overflows) {
    static struct send sends[SENDS_MAX + 1];
    for (uint32_t life = 0; life < 40; life++) {
        struct hc_rng rng = hc_rng_init(51, life);
        uint32_t cap = HC_SV_BANDWIDTH_FLOOR + hc_rng_below(&rng, 200000), count = 0;
        uint64_t now_us = hc_rng_below(&rng, 5) * (uint64_t)SECOND;
        hc_sv_bandwidth_begin(&bandwidth, cap, now_us);
        sends[0] = (struct send){.at_us = now_us};
        for (uint32_t i = 0; i < 2 * SENDS_MAX && count < SENDS_MAX; i++) {
            now_us += hc_rng_below(&rng, 50) == 0 ? hc_rng_below(&rng, 3 * SECOND)
                                                  : hc_rng_below(&rng, 30000);
            if (hc_rng_below(&rng, 4) == 0)
                hc_sv_bandwidth_learn(&bandwidth, hc_rng_below(&rng, 20), hc_rng_below(&rng, 3),
                                      now_us);
            int32_t room = hc_sv_bandwidth_room(&bandwidth, 1139, now_us);
            ck_assert(room >= 0 && room <= 1139);
            ck_assert(bandwidth.rate >= HC_SV_BANDWIDTH_FLOOR && bandwidth.rate <= cap);
            ck_assert_msg(bandwidth.saved <=
                              (int64_t)bandwidth.rate * (HC_SV_BANDWIDTH_BURST_MS * 1000),
                          "life %u, step %u", life, i);
            if (room == 0)
                continue;
            uint32_t bytes =
                life % 2 == 0 ? (uint32_t)room : 1 + hc_rng_below(&rng, (uint32_t)room);
            hc_sv_bandwidth_spend(&bandwidth, bytes);
            sends[count + 1] = (struct send){
                .at_us = now_us, .total = sends[count].total + bytes + HC_SV_BANDWIDTH_OVERHEAD};
            count++;
        }
        for (uint32_t from = 1; from <= count; from++)
            for (uint32_t to = from; to <= count; to++) {
                uint64_t span_us = sends[to].at_us - sends[from].at_us;
                uint64_t most = burst_of(cap) + cap * span_us / SECOND + 1;
                uint64_t sent = sends[to].total - sends[from - 1].total;
                if (sent > most)
                    ck_abort_msg("life %u, sends %u to %u: %llu", life, from, to,
                                 (unsigned long long)sent);
            }
    }
}
END_TEST

START_TEST(a_greedy_sender_gets_all_of_its_rate) {
    const uint32_t rates[] = {HC_SV_BANDWIDTH_FLOOR, 16000, 65537, 1000000};
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        uint64_t now_us = 77, got = 0;
        hc_sv_bandwidth_begin(&bandwidth, rates[i], now_us);
        for (int tick = 0; tick < 600; tick++, now_us += SECOND / 60)
            for (int32_t room; (room = hc_sv_bandwidth_room(&bandwidth, 1139, now_us)) > 0;) {
                hc_sv_bandwidth_spend(&bandwidth, (uint32_t)room);
                got += (uint32_t)room + HC_SV_BANDWIDTH_OVERHEAD;
            }
        ck_assert_uint_ge(got + HC_SV_BANDWIDTH_OVERHEAD, 599 * (uint64_t)rates[i] / 60);
    }
}
END_TEST

START_TEST(a_datagram_sent_without_room_is_a_debt_that_is_paid_first) {
    uint64_t now_us = 1;
    hc_sv_bandwidth_begin(&bandwidth, 10000, now_us);
    hc_sv_bandwidth_spend(&bandwidth, 11000 - HC_SV_BANDWIDTH_OVERHEAD); // 10000 of debt
    ck_assert_int_eq(hc_sv_bandwidth_room(&bandwidth, 1000, now_us), 0);
    ck_assert_int_eq(hc_sv_bandwidth_room(&bandwidth, 1000, now_us + SECOND), 0);
    now_us += SECOND + SECOND / 20;
    ck_assert_int_eq(hc_sv_bandwidth_room(&bandwidth, 1000, now_us),
                     500 - HC_SV_BANDWIDTH_OVERHEAD);
    ck_assert_int_eq(hc_sv_bandwidth_room(&bandwidth, 1000, now_us - 5),
                     500 - HC_SV_BANDWIDTH_OVERHEAD);
    now_us += UINT64_C(1) << 40; // however long it was, one burst is saved
    ck_assert_int_eq(hc_sv_bandwidth_room(&bandwidth, 5000, now_us),
                     1000 - HC_SV_BANDWIDTH_OVERHEAD);
}
END_TEST

START_TEST(savings_before_a_change_of_the_rate_are_counted_at_the_old_rate) {
    const uint32_t cap = 100000, lost[] = {0, 50};
    for (unsigned i = 0; i < 2; i++) {
        hc_sv_bandwidth_begin(&bandwidth, cap, 0);
        learn_second(&(uint64_t){0}, 50); // so that it can rise as well
        uint32_t rate = bandwidth.rate;
        uint64_t spent_us = 2 * SECOND - SECOND / 20;
        int32_t room = hc_sv_bandwidth_room(&bandwidth, UINT32_MAX, spent_us);
        hc_sv_bandwidth_spend(&bandwidth, (uint32_t)room);
        int64_t saved = bandwidth.saved;
        hc_sv_bandwidth_learn(&bandwidth, 100 - lost[i], lost[i], 2 * SECOND);
        ck_assert_uint_ne(bandwidth.rate, rate);
        ck_assert_int_eq(bandwidth.saved - saved, (int64_t)rate * (SECOND / 20));
    }
}
END_TEST

START_TEST(the_rate_falls_by_a_seventh_under_loss_and_rises_by_a_fortieth_without) {
    const uint32_t cap = 100000;
    uint64_t now_us = 3;
    hc_sv_bandwidth_begin(&bandwidth, cap, now_us);
    ck_assert_uint_eq(learn_second(&now_us, 0), cap); // never above
    ck_assert_uint_eq(learn_second(&now_us, 6), cap - cap / 7);
    uint32_t rate = bandwidth.rate;
    ck_assert_uint_eq(learn_second(&now_us, 5), rate + rate / 40); // one in twenty is bearable
    rate = bandwidth.rate;
    now_us += 5 * SECOND;
    hc_sv_bandwidth_learn(&bandwidth, 0, 0, now_us);
    ck_assert_uint_eq(bandwidth.rate, rate); // no ack and no loss
    hc_sv_bandwidth_learn(&bandwidth, 0, 50, now_us + SECOND / 2);
    ck_assert_uint_eq(bandwidth.rate, rate); // not before the second is over
    hc_sv_bandwidth_learn(&bandwidth, 0, 0, now_us + SECOND);
    ck_assert_uint_eq(bandwidth.rate, rate - rate / 7);
    now_us += SECOND;

    uint32_t seconds = 0;
    for (; bandwidth.rate > cap / HC_SV_BANDWIDTH_PART; seconds++) {
        rate = bandwidth.rate;
        ck_assert_uint_lt(learn_second(&now_us, 40), rate);
        ck_assert(seconds < 30);
    }
    ck_assert_uint_eq(learn_second(&now_us, 100), cap / HC_SV_BANDWIDTH_PART);
    for (seconds = 0; bandwidth.rate < cap; seconds++) {
        rate = bandwidth.rate;
        ck_assert_uint_gt(learn_second(&now_us, 1), rate);
        ck_assert(seconds < 140);
    }
    ck_assert_uint_eq(learn_second(&now_us, 0), cap);
    hc_sv_bandwidth_begin(&bandwidth, UINT32_MAX, now_us);
    ck_assert_uint_eq(learn_second(&now_us, 0), UINT32_MAX);
}
END_TEST

START_TEST(another_cap_limits_a_rate_below_it_and_lifts_one_at_the_former_cap) {
    uint64_t now_us = 3;
    hc_sv_bandwidth_begin(&bandwidth, 100000, now_us);
    hc_sv_bandwidth_limit(&bandwidth, 200000, now_us);
    ck_assert_uint_eq(bandwidth.rate, 200000);
    ck_assert_int_le(bandwidth.saved, (int64_t)burst_of(100000) * SECOND); // nothing is a present
    hc_sv_bandwidth_limit(&bandwidth, 50000, now_us + SECOND);
    ck_assert_uint_eq(bandwidth.rate, 50000);
    ck_assert_int_eq(bandwidth.saved, (int64_t)burst_of(50000) * SECOND);
    now_us += SECOND;
    learn_second(&now_us, 40);
    uint32_t rate = learn_second(&now_us, 40); // the losses of a second count when it is over
    ck_assert_uint_lt(rate, 50000);
    hc_sv_bandwidth_limit(&bandwidth, 60000, now_us);
    ck_assert_uint_eq(bandwidth.rate, rate);
    hc_sv_bandwidth_limit(&bandwidth, HC_SV_BANDWIDTH_FLOOR, now_us);
    ck_assert_uint_eq(bandwidth.rate, HC_SV_BANDWIDTH_FLOOR);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server bandwidth");
    TCase *tc = tcase_create("bandwidth");
    tcase_add_test(tc,
                   no_window_carries_more_than_the_cap_and_a_burst_and_the_bucket_never_overflows);
    tcase_add_test(tc, a_greedy_sender_gets_all_of_its_rate);
    tcase_add_test(tc, a_datagram_sent_without_room_is_a_debt_that_is_paid_first);
    tcase_add_test(tc, savings_before_a_change_of_the_rate_are_counted_at_the_old_rate);
    tcase_add_test(tc, the_rate_falls_by_a_seventh_under_loss_and_rises_by_a_fortieth_without);
    tcase_add_test(tc, another_cap_limits_a_rate_below_it_and_lifts_one_at_the_former_cap);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
