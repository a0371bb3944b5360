/// The order in which units are sent, and how long one may wait.
#include "hindcast/rng.h"
#include "common/unit.h"
#include "server/replication/priority.h"
#include "tests/run_suite.h"

#include <string.h>

enum {
    UNITS_MAX = 3100,
    ORDERS = 3000,
};

/// A unit that may be sent.
struct candidate {
    hc_unit unit;
    bool own, changed;
    uint32_t distance, view;
};

static uint32_t scores[UNITS_MAX]; ///< by unit
static struct candidate candidates[UNITS_MAX];
static uint64_t keys[UNITS_MAX];

/// Lets the scores of all candidates grow, and orders them.
static void put_in_order(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct candidate *candidate = &candidates[i];
        hc_sv_priority_grow(&scores[candidate->unit], candidate->changed, candidate->distance,
                            candidate->view);
        keys[i] = hc_sv_priority_key(scores[candidate->unit], candidate->own, i);
    }
    hc_sv_priority_order(keys, count);
}

/// The candidate in this place of the order.
static const struct candidate *ordered(uint32_t place) {
    return &candidates[hc_sv_priority_number(keys[place])];
}

/// Different units at random.
static uint32_t gather(struct hc_rng *rng, uint32_t ppm) {
    uint32_t count = 0;
    for (uint32_t unit = 0; unit < UNITS_MAX; unit++)
        if (hc_rng_chance(rng, ppm))
            candidates[count++] = (struct candidate){.unit = (hc_unit)unit,
                                                     .own = hc_rng_below(rng, 50) == 0,
                                                     .changed = hc_rng_below(rng, 2) == 0,
                                                     .distance = hc_rng_below(rng, 9000),
                                                     .view = hc_rng_below(rng, 3) == 0 ? 0 : 6400};
    return count;
}

START_TEST(own_units_go_first_then_higher_scores_then_lower_units) {
    static bool in[UNITS_MAX];
    memset(scores, 0, sizeof scores);
    for (uint32_t round = 0; round < 300; round++) {
        struct hc_rng rng = hc_rng_init(52, round);
        uint32_t count = gather(&rng, round == 0 ? 1000000 : hc_rng_below(&rng, 1000000));
        memset(in, 0, sizeof in);
        for (uint32_t i = 0; i < count; i++)
            in[candidates[i].unit] = true;
        put_in_order(count);
        for (uint32_t i = 0; i < count; i++) {
            const struct candidate *now = ordered(i), *last = i == 0 ? NULL : ordered(i - 1);
            if (!in[now->unit])
                ck_abort_msg("round %u: unit %u twice", round, now->unit);
            in[now->unit] = false;
            if (i == 0)
                continue;
            uint32_t score = scores[now->unit], higher = scores[last->unit];
            bool right = last->own != now->own         ? last->own
                         : now->own || score == higher ? last->unit < now->unit
                                                       : higher > score;
            if (!right)
                ck_abort_msg("round %u, place %u", round, i);
        }
        for (uint32_t i = 0; i < count / 3; i++) // a sent unit falls back
            scores[candidates[hc_rng_below(&rng, count)].unit] = 0;
    }
}
END_TEST

/// How a life of the starvation test goes.
struct life {
    uint32_t count; ///< candidates that are not own
    uint32_t fit;   ///< of them sent each time
    bool hostile;   ///< unit 1 is far and never changes, the others always and are near
};

static void fill_candidates(struct hc_rng *rng, const struct life *life) {
    for (uint32_t i = 0; i <= life->count; i++) {
        hc_unit unit = (hc_unit)i;           // 0 is own, the referee
        bool poor = i == 1, steady = i == 2; // as bad as can be; changed, and as bad otherwise
        candidates[i] = (struct candidate){.unit = unit,
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

START_TEST(no_unit_waits_longer_than_the_header_promises) {
    static uint32_t waits[UNITS_MAX];
    uint32_t longest_part = 0; // of what is allowed, in percent
    for (uint32_t stream = 0; stream < 60; stream++) {
        struct hc_rng rng = hc_rng_init(53, stream);
        struct life life = {.count = 2 + hc_rng_below(&rng, 60), .hostile = stream % 2 == 0};
        life.fit = 1 + hc_rng_below(&rng, stream % 4 < 2 ? 3 : life.count);
        uint32_t turns = (life.count - 1) / life.fit + 1;
        memset(scores, 0, sizeof scores);
        for (uint32_t unit = 0; unit < UNITS_MAX; unit++) // scores from earlier orders
            scores[unit] = hc_rng_below(&rng, 100000);
        scores[1] = 0;
        memset(waits, 0, sizeof waits);
        for (uint32_t order = 0; order < ORDERS; order++) {
            fill_candidates(&rng, &life);
            put_in_order(life.count + 1);
            ck_assert(ordered(0)->own);
            scores[ordered(0)->unit] = 0;
            for (uint32_t i = 1; i <= life.count; i++) {
                hc_unit unit = ordered(i)->unit;
                uint32_t most = HC_SV_PRIORITY_SPREAD * turns;
                if (unit == 2)
                    most /= HC_SV_PRIORITY_CHANGED;
                waits[unit]++;
                if (waits[unit] > most)
                    ck_abort_msg("stream %u, order %u, unit %u", stream, order, unit);
                if (waits[unit] * 100 / most > longest_part)
                    longest_part = waits[unit] * 100 / most;
                // A small unit may fit where a large one before it did not.
                if (i > life.fit && (life.hostile || hc_rng_below(&rng, 20) != 0))
                    continue;
                scores[unit] = 0;
                waits[unit] = 0;
            }
        }
    }
    ck_assert_uint_ge(longest_part, 50); // the bound is tight
}
END_TEST

START_TEST(a_changed_unit_and_a_near_unit_are_sent_more_often) {
    uint32_t sent[5] = {0};
    memset(scores, 0, sizeof scores);
    for (uint32_t order = 0; order < ORDERS; order++) {
        for (hc_unit unit = 1; unit <= 4; unit++)
            candidates[unit - 1] = (struct candidate){.unit = unit,
                                                      .changed = unit % 2 == 0,
                                                      .distance = unit > 2 ? 0 : 6000,
                                                      .view = 6400};
        put_in_order(4);
        scores[ordered(0)->unit] = 0;
        sent[ordered(0)->unit]++;
    }
    ck_assert(sent[4] > sent[2] && sent[4] > sent[3] && sent[2] > sent[1] && sent[3] > sent[1]);
    ck_assert_uint_gt(sent[1], 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server priority");
    TCase *tc = tcase_create("priority");
    tcase_add_test(tc, own_units_go_first_then_higher_scores_then_lower_units);
    tcase_add_test(tc, no_unit_waits_longer_than_the_header_promises);
    tcase_add_test(tc, a_changed_unit_and_a_near_unit_are_sent_more_often);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
