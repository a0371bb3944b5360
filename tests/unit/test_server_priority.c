/// The order in which units are sent, and how long one may wait.
#include "hindcast/rng.h"
#include "server/replication/priority.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLAYERS = 2000, ///< more units than any gap of the sort but two
    UNITS_MAX = 3100,
    ORDERS = 3000,
};

static struct hc_game game;
static struct hc_world world;
static struct hc_sv_priority priority;
static uint8_t *memory;
static uint32_t units;

static void set_up(void) {
    game = small_game;
    game.players_max = PLAYERS;
    ck_assert_int_eq(hc_world_init(&world, &game, PLAYERS, 60, 1, NULL), HC_OK);
    size_t bytes = hc_sv_priority_layout(&priority, &world, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes); // hc_sv_priority_clear prepares it
    ck_assert_uint_eq(hc_sv_priority_layout(&priority, &world, memory), bytes);
    units = hc_unit_total(&world);
    ck_assert_uint_le(units, UNITS_MAX);
}

static void tear_down(void) {
    free(memory);
    hc_world_free(&world);
}

static struct hc_sv_candidate candidates[UNITS_MAX];

/// Different units at random.
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

START_TEST(own_units_go_first_then_higher_scores_then_lower_units) {
    static bool in[UNITS_MAX];
    hc_sv_priority_clear(&priority);
    for (uint32_t round = 0; round < 300; round++) {
        struct hc_rng rng = hc_rng_init(52, round);
        uint32_t count = gather(&rng, round == 0 ? 1000000 : hc_rng_below(&rng, 1000000));
        memset(in, 0, sizeof in);
        for (uint32_t i = 0; i < count; i++)
            in[candidates[i].unit] = true;
        hc_sv_priority_grow(&priority, candidates, count);
        hc_sv_priority_order(&priority, candidates, count);
        for (uint32_t i = 0; i < count; i++) {
            const struct hc_sv_candidate *now = &candidates[i], *last = now - 1;
            if (!in[now->unit])
                ck_abort_msg("round %u: unit %u twice", round, now->unit);
            in[now->unit] = false;
            if (i == 0)
                continue;
            uint32_t score = priority.score[now->unit], higher = priority.score[last->unit];
            bool right = last->own != now->own         ? last->own
                         : now->own || score == higher ? last->unit < now->unit
                                                       : higher > score;
            if (!right)
                ck_abort_msg("round %u, place %u", round, i);
        }
        for (uint32_t i = 0; i < count / 3; i++) // a sent unit falls back
            hc_sv_priority_sent(&priority, candidates[hc_rng_below(&rng, count)].unit);
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

START_TEST(no_unit_waits_longer_than_the_header_promises) {
    static uint32_t waits[UNITS_MAX];
    uint32_t longest_part = 0; // of what is allowed, in percent
    for (uint32_t stream = 0; stream < 60; stream++) {
        struct hc_rng rng = hc_rng_init(53, stream);
        struct life life = {.count = 2 + hc_rng_below(&rng, 60), .hostile = stream % 2 == 0};
        life.fit = 1 + hc_rng_below(&rng, stream % 4 < 2 ? 3 : life.count);
        uint32_t turns = (life.count - 1) / life.fit + 1;
        hc_sv_priority_clear(&priority);
        for (uint32_t unit = 0; unit < units; unit++) // scores from earlier orders
            priority.score[unit] = hc_rng_below(&rng, 100000);
        priority.score[1] = 0;
        memset(waits, 0, sizeof waits);
        for (uint32_t order = 0; order < ORDERS; order++) {
            fill_candidates(&rng, &life);
            hc_sv_priority_grow(&priority, candidates, life.count + 1);
            hc_sv_priority_order(&priority, candidates, life.count + 1);
            ck_assert(candidates[0].own);
            hc_sv_priority_sent(&priority, candidates[0].unit);
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
                // A small unit may fit where a large one before it did not.
                if (i > life.fit && (life.hostile || hc_rng_below(&rng, 20) != 0))
                    continue;
                hc_sv_priority_sent(&priority, unit);
                waits[unit] = 0;
            }
        }
    }
    ck_assert_uint_ge(longest_part, 50); // the bound is tight
}
END_TEST

START_TEST(a_changed_unit_and_a_near_unit_are_sent_more_often) {
    uint32_t sent[5] = {0};
    hc_sv_priority_clear(&priority);
    for (uint32_t order = 0; order < ORDERS; order++) {
        for (hc_unit unit = 1; unit <= 4; unit++)
            candidates[unit - 1] = (struct hc_sv_candidate){.unit = unit,
                                                            .changed = unit % 2 == 0,
                                                            .distance = unit > 2 ? 0 : 6000,
                                                            .view = 6400};
        hc_sv_priority_grow(&priority, candidates, 4);
        hc_sv_priority_order(&priority, candidates, 4);
        hc_sv_priority_sent(&priority, candidates[0].unit);
        sent[candidates[0].unit]++;
    }
    ck_assert(sent[4] > sent[2] && sent[4] > sent[3] && sent[2] > sent[1] && sent[3] > sent[1]);
    ck_assert_uint_gt(sent[1], 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server priority");
    TCase *tc = tcase_create("priority");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, own_units_go_first_then_higher_scores_then_lower_units);
    tcase_add_test(tc, no_unit_waits_longer_than_the_header_promises);
    tcase_add_test(tc, a_changed_unit_and_a_near_unit_are_sent_more_often);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
