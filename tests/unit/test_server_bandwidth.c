// How much a client is sent, and what of it first.
#include "hindcast/rng.h"
#include "server/replication/bandwidth.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLAYERS = 2000, // more units than any gap of the sort but two
    UNITS_MAX = 3100,
    SECOND = 1000000,
    SENDS_MAX = 500,
    ORDERS = 3000,
};

static struct hc_game game;
static struct hc_world world;
static struct hc_sv_bandwidth budget;
static uint8_t *memory;
static uint32_t units;

static void set_up(void) {
    game = small_game;
    game.players_max = PLAYERS;
    ck_assert_int_eq(hc_world_init(&world, &game, PLAYERS, 60, 1, NULL), HC_OK);
    size_t bytes = hc_sv_bandwidth_layout(&budget, &world, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes); // only begin prepares it
    ck_assert_uint_eq(hc_sv_bandwidth_layout(&budget, &world, memory), bytes);
    units = hc_unit_total(&world);
    ck_assert_uint_le(units, UNITS_MAX);
}

static void tear_down(void) {
    free(memory);
    hc_world_free(&world);
}

static uint64_t burst_of(uint32_t rate) {
    return (uint64_t)rate * HC_SV_BANDWIDTH_BURST_MS / 1000;
}

/// A second passes in which `lost` of 100 datagrams get lost; the rate after it.
static uint32_t learn_second(uint64_t *now_us, uint32_t lost) {
    for (int i = 0; i < 10; i++) {
        *now_us += SECOND / 10;
        hc_sv_bandwidth_learn(&budget, i == 0 ? 100 - lost : 0, i == 5 ? lost : 0, *now_us);
    }
    return budget.rate;
}

/// What went out so far, headers included.
struct send {
    uint64_t at_us, total;
};

START_TEST(no_window_carries_more_than_the_cap_and_a_burst_and_the_bucket_never_overflows) {
    static struct send sends[SENDS_MAX + 1];
    for (uint32_t life = 0; life < 40; life++) {
        struct hc_rng rng = hc_rng_init(51, life);
        uint32_t cap = HC_SV_BANDWIDTH_FLOOR + hc_rng_below(&rng, 200000), count = 0;
        uint64_t now_us = hc_rng_below(&rng, 5) * (uint64_t)SECOND;
        hc_sv_bandwidth_begin(&budget, cap, now_us);
        sends[0] = (struct send){.at_us = now_us};
        for (uint32_t i = 0; i < 2 * SENDS_MAX && count < SENDS_MAX; i++) {
            now_us += hc_rng_below(&rng, 50) == 0 ? hc_rng_below(&rng, 3 * SECOND)
                                                  : hc_rng_below(&rng, 30000);
            if (hc_rng_below(&rng, 4) == 0)
                hc_sv_bandwidth_learn(&budget, hc_rng_below(&rng, 20), hc_rng_below(&rng, 3),
                                      now_us);
            int32_t room = hc_sv_bandwidth_room(&budget, 1139, now_us);
            ck_assert(room >= 0 && room <= 1139);
            ck_assert(budget.rate >= HC_SV_BANDWIDTH_FLOOR && budget.rate <= cap);
            ck_assert_msg(budget.saved <= (int64_t)budget.rate * (HC_SV_BANDWIDTH_BURST_MS * 1000),
                          "life %u, step %u", life, i);
            if (room == 0)
                continue;
            uint32_t bytes =
                life % 2 == 0 ? (uint32_t)room : 1 + hc_rng_below(&rng, (uint32_t)room);
            hc_sv_bandwidth_spend(&budget, bytes);
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
        hc_sv_bandwidth_begin(&budget, rates[i], now_us);
        for (int tick = 0; tick < 600; tick++, now_us += SECOND / 60)
            for (int32_t room; (room = hc_sv_bandwidth_room(&budget, 1139, now_us)) > 0;) {
                hc_sv_bandwidth_spend(&budget, (uint32_t)room);
                got += (uint32_t)room + HC_SV_BANDWIDTH_OVERHEAD;
            }
        ck_assert_uint_ge(got + HC_SV_BANDWIDTH_OVERHEAD, 599 * (uint64_t)rates[i] / 60);
    }
}
END_TEST

START_TEST(what_went_out_without_room_is_paid_before_anything_else) {
    uint64_t now_us = 1;
    hc_sv_bandwidth_begin(&budget, 10000, now_us);
    hc_sv_bandwidth_spend(&budget, 11000 - HC_SV_BANDWIDTH_OVERHEAD); // 10000 of debt
    ck_assert_int_eq(hc_sv_bandwidth_room(&budget, 1000, now_us), 0);
    ck_assert_int_eq(hc_sv_bandwidth_room(&budget, 1000, now_us + SECOND), 0);
    now_us += SECOND + SECOND / 20;
    ck_assert_int_eq(hc_sv_bandwidth_room(&budget, 1000, now_us), 500 - HC_SV_BANDWIDTH_OVERHEAD);
    ck_assert_int_eq(hc_sv_bandwidth_room(&budget, 1000, now_us - 5),
                     500 - HC_SV_BANDWIDTH_OVERHEAD);
    now_us += UINT64_C(1) << 40; // as long as ever, and it is still one burst
    ck_assert_int_eq(hc_sv_bandwidth_room(&budget, 5000, now_us), 1000 - HC_SV_BANDWIDTH_OVERHEAD);
}
END_TEST

START_TEST(what_came_in_before_the_rate_changed_came_in_at_the_old_rate) {
    const uint32_t cap = 100000, lost[] = {0, 50};
    for (unsigned i = 0; i < 2; i++) {
        hc_sv_bandwidth_begin(&budget, cap, 0);
        learn_second(&(uint64_t){0}, 50); // so that it can rise as well
        uint32_t rate = budget.rate;
        uint64_t spent_us = 2 * SECOND - SECOND / 20;
        int32_t room = hc_sv_bandwidth_room(&budget, UINT32_MAX, spent_us);
        hc_sv_bandwidth_spend(&budget, (uint32_t)room);
        int64_t saved = budget.saved;
        hc_sv_bandwidth_learn(&budget, 100 - lost[i], lost[i], 2 * SECOND);
        ck_assert_uint_ne(budget.rate, rate);
        ck_assert_int_eq(budget.saved - saved, (int64_t)rate * (SECOND / 20));
    }
}
END_TEST

START_TEST(the_rate_falls_by_a_seventh_under_loss_and_rises_by_a_fortieth_without) {
    const uint32_t cap = 100000;
    uint64_t now_us = 3;
    hc_sv_bandwidth_begin(&budget, cap, now_us);
    ck_assert_uint_eq(learn_second(&now_us, 0), cap); // never above
    ck_assert_uint_eq(learn_second(&now_us, 6), cap - cap / 7);
    uint32_t rate = budget.rate;
    ck_assert_uint_eq(learn_second(&now_us, 5), rate + rate / 40); // one in twenty is borne
    rate = budget.rate;
    now_us += 5 * SECOND;
    hc_sv_bandwidth_learn(&budget, 0, 0, now_us);
    ck_assert_uint_eq(budget.rate, rate); // nothing learnt
    hc_sv_bandwidth_learn(&budget, 0, 50, now_us + SECOND / 2);
    ck_assert_uint_eq(budget.rate, rate); // not before the second is over
    hc_sv_bandwidth_learn(&budget, 0, 0, now_us + SECOND);
    ck_assert_uint_eq(budget.rate, rate - rate / 7);
    now_us += SECOND;

    uint32_t seconds = 0;
    for (; budget.rate > cap / HC_SV_BANDWIDTH_PART; seconds++) {
        rate = budget.rate;
        ck_assert_uint_lt(learn_second(&now_us, 40), rate);
        ck_assert(seconds < 30);
    }
    ck_assert_uint_eq(learn_second(&now_us, 100), cap / HC_SV_BANDWIDTH_PART);
    for (seconds = 0; budget.rate < cap; seconds++) {
        rate = budget.rate;
        ck_assert_uint_gt(learn_second(&now_us, 1), rate);
        ck_assert(seconds < 140);
    }
    ck_assert_uint_eq(learn_second(&now_us, 0), cap);
    hc_sv_bandwidth_begin(&budget, UINT32_MAX, now_us);
    ck_assert_uint_eq(learn_second(&now_us, 0), UINT32_MAX);
}
END_TEST

static struct hc_sv_candidate candidates[UNITS_MAX];

/// Different units at random, as the caller might have them.
static uint32_t gather(struct hc_rng *rng, uint32_t ppm) {
    uint32_t count = 0;
    for (uint32_t unit = 0; unit < units; unit++)
        if (hc_rng_chance(rng, ppm))
            candidates[count++] =
                (struct hc_sv_candidate){.unit = (hc_unit)unit,
                                         .own = hc_rng_below(rng, 50) == 0,
                                         .changed = hc_rng_below(rng, 2) == 0,
                                         .distance = hc_rng_below(rng, 9000),
                                         .view = hc_rng_below(rng, 3) == 0 ? 0 : 6400};
    return count;
}

START_TEST(the_order_is_own_ones_first_then_by_score_then_by_unit) {
    static bool in[UNITS_MAX];
    hc_sv_bandwidth_begin(&budget, 10000, 0);
    for (uint32_t round = 0; round < 300; round++) {
        struct hc_rng rng = hc_rng_init(52, round);
        uint32_t count = gather(&rng, round == 0 ? 1000000 : hc_rng_below(&rng, 1000000));
        memset(in, 0, sizeof in);
        for (uint32_t i = 0; i < count; i++)
            in[candidates[i].unit] = true;
        hc_sv_priority_grow(&budget, candidates, count);
        hc_sv_priority_order(&budget, candidates, count);
        for (uint32_t i = 0; i < count; i++) {
            const struct hc_sv_candidate *now = &candidates[i], *last = now - 1;
            if (!in[now->unit])
                ck_abort_msg("round %u: unit %u twice", round, now->unit);
            in[now->unit] = false;
            if (i == 0)
                continue;
            uint32_t score = budget.score[now->unit], higher = budget.score[last->unit];
            bool right = last->own != now->own         ? last->own
                         : now->own || score == higher ? last->unit < now->unit
                                                       : higher > score;
            if (!right)
                ck_abort_msg("round %u, place %u", round, i);
        }
        for (uint32_t i = 0; i < count / 3; i++) // what is told falls back
            hc_sv_priority_sent(&budget, candidates[hc_rng_below(&rng, count)].unit);
    }
}
END_TEST

/// How a life of the starvation test goes.
struct life {
    uint32_t count; ///< candidates that are not own
    uint32_t fit;   ///< of them told each time
    bool hostile;   ///< unit 1 is far and never changes, the others always and are near
};

static void fill_candidates(struct hc_rng *rng, const struct life *life) {
    for (uint32_t i = 0; i <= life->count; i++) {
        hc_unit unit = (hc_unit)i;           // 0 is own, the referee
        bool poor = i == 1, steady = i == 2; // as bad as can be; changed, and as bad otherwise
        candidates[i] =
            (struct hc_sv_candidate){.unit = unit,
                                     .own = i == 0,
                                     .changed = life->hostile || hc_rng_below(rng, 2),
                                     .distance = life->hostile ? 0 : hc_rng_below(rng, 9000),
                                     .view = 6400};
        if (poor || steady) {
            candidates[i].changed = steady;
            candidates[i].distance = 6400;
        }
    }
}

START_TEST(nobody_waits_longer_than_the_header_says) {
    static uint32_t waits[UNITS_MAX];
    uint32_t longest_part = 0; // of what is allowed, in percent
    for (uint32_t stream = 0; stream < 60; stream++) {
        struct hc_rng rng = hc_rng_init(53, stream);
        struct life life = {.count = 2 + hc_rng_below(&rng, 60), .hostile = stream % 2 == 0};
        life.fit = 1 + hc_rng_below(&rng, stream % 4 < 2 ? 3 : life.count);
        uint32_t turns = (life.count - 1) / life.fit + 1;
        hc_sv_bandwidth_begin(&budget, 10000, 0);
        for (uint32_t unit = 0; unit < units; unit++) // whatever was before
            budget.score[unit] = hc_rng_below(&rng, 100000);
        budget.score[1] = 0;
        memset(waits, 0, sizeof waits);
        for (uint32_t order = 0; order < ORDERS; order++) {
            fill_candidates(&rng, &life);
            hc_sv_priority_grow(&budget, candidates, life.count + 1);
            hc_sv_priority_order(&budget, candidates, life.count + 1);
            ck_assert(candidates[0].own);
            hc_sv_priority_sent(&budget, candidates[0].unit);
            for (uint32_t i = 1; i <= life.count; i++) {
                hc_unit unit = candidates[i].unit;
                uint32_t most = HC_SV_PRIORITY_SPREAD * turns;
                if (unit == 2)
                    most /= HC_SV_PRIORITY_CHANGED;
                waits[unit]++;
                if (waits[unit] > most)
                    ck_abort_msg("stream %u, order %u, unit %u", stream, order, unit);
                if (waits[unit] * 100 / most > longest_part)
                    longest_part = waits[unit] * 100 / most;
                // A small one from farther behind may fit where a large one did not.
                if (i > life.fit && (life.hostile || hc_rng_below(&rng, 20) != 0))
                    continue;
                hc_sv_priority_sent(&budget, unit);
                waits[unit] = 0;
            }
        }
    }
    ck_assert_uint_ge(longest_part, 50); // the bound is no idle one
}
END_TEST

START_TEST(what_has_changed_and_is_near_is_told_more_often) {
    uint32_t told[5] = {0};
    hc_sv_bandwidth_begin(&budget, 10000, 0);
    for (uint32_t order = 0; order < ORDERS; order++) {
        for (hc_unit unit = 1; unit <= 4; unit++)
            candidates[unit - 1] = (struct hc_sv_candidate){.unit = unit,
                                                            .changed = unit % 2 == 0,
                                                            .distance = unit > 2 ? 0 : 6000,
                                                            .view = 6400};
        hc_sv_priority_grow(&budget, candidates, 4);
        hc_sv_priority_order(&budget, candidates, 4);
        hc_sv_priority_sent(&budget, candidates[0].unit);
        told[candidates[0].unit]++;
    }
    ck_assert(told[4] > told[2] && told[4] > told[3] && told[2] > told[1] && told[3] > told[1]);
    ck_assert_uint_gt(told[1], 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server budget");
    TCase *tc = tcase_create("budget");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc,
                   no_window_carries_more_than_the_cap_and_a_burst_and_the_bucket_never_overflows);
    tcase_add_test(tc, a_greedy_sender_gets_all_of_its_rate);
    tcase_add_test(tc, what_went_out_without_room_is_paid_before_anything_else);
    tcase_add_test(tc, what_came_in_before_the_rate_changed_came_in_at_the_old_rate);
    tcase_add_test(tc, the_rate_falls_by_a_seventh_under_loss_and_rises_by_a_fortieth_without);
    tcase_add_test(tc, the_order_is_own_ones_first_then_by_score_then_by_unit);
    tcase_add_test(tc, nobody_waits_longer_than_the_header_says);
    tcase_add_test(tc, what_has_changed_and_is_near_is_told_more_often);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
