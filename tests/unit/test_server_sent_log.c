/// The sent log, against a model that forgets nothing.
#include "hindcast/rng.h"
#include "proto/snapshot.h"
#include "server/replication/sent_log.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>

enum {
    RUNS = 24,
    STEPS = 400,
    UNITS_MAX = 16,
    VALUES_MAX = STEPS * 2 * UNITS_MAX,
    TICKS_BACK = 80, ///< ticks behind the head that are queried
    NEVER = -1,
};

static struct hc_world world;
static struct hc_sv_sent_log *sent_log;
static uint32_t units;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    units = hc_unit_total(&world);
    ck_assert_uint_le(units, UNITS_MAX);
}

static void make(uint32_t entries) {
    free(sent_log);
    size_t bytes = hc_sv_sent_log_memory(&world, entries);
    void *memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    sent_log = hc_sv_sent_log_init(&world, entries, memory);
}

static void tear_down(void) {
    free(sent_log);
    sent_log = NULL;
    hc_world_free(&world);
}

// ---- The model ----

struct value {
    int snapshot; ///< index
    hc_unit unit;
    hc_tick tick;
    hc_sv_value_id value_id;
    bool correction;
};

struct sent {
    hc_tick as_of;
    uint32_t seq;
    int first; ///< index of its first value
    int due;   ///< step at which its ack is received, or NEVER
    bool acked;
};

/// Every snapshot and value that was ever sent.
static struct model {
    struct sent sent[STEPS];
    int count;
    struct value values[VALUES_MAX];
    int value_count;
    int first; ///< index of the first logged one
    uint32_t newest_seq;
    int capacity;
} model;

static struct {
    uint32_t refused, late, evicted_unacked, fell_back, sent_after_drop, acked_again, base_outlived;
} seen;

/// The fate of a snapshot, as far as the server knows.
enum fate { UNDER_WAY, ACKED, LOST };

static enum fate fate_of(int snapshot) {
    const struct sent *sent = &model.sent[snapshot];
    if (sent->acked)
        return ACKED;
    bool lost = (int64_t)model.newest_seq - sent->seq >= HC_LOST_AFTER;
    return lost || snapshot < model.first ? LOST : UNDER_WAY;
}

static void model_evict(int needed) {
    const struct sent *last = &model.sent[model.count - 1];
    while (model.count - model.first > HC_SNAPSHOT_AGE_MAX ||
           last->as_of - model.sent[model.first].as_of >= HC_SNAPSHOT_AGE_MAX ||
           (model.first < model.count - 1 &&
            model.value_count + needed - model.sent[model.first].first > model.capacity)) {
        seen.evicted_unacked += fate_of(model.first) == UNDER_WAY;
        model.first++;
    }
}

static void begin(hc_tick as_of, uint32_t seq, int due) {
    model.sent[model.count++] =
        (struct sent){.as_of = as_of, .seq = seq, .first = model.value_count, .due = due};
    model_evict(0);
    hc_sv_sent_log_begin(sent_log, as_of, seq);
}

static void put(hc_unit unit, hc_tick tick, hc_sv_value_id value_id, bool correction) {
    model_evict(1);
    bool room = model.value_count - model.sent[model.count - 1].first < model.capacity;
    ck_assert_int_eq(hc_sv_sent_log_put(sent_log, unit, tick, value_id, correction), room);
    seen.refused += !room;
    if (!room)
        return;
    ck_assert_int_lt(model.value_count, VALUES_MAX);
    model.values[model.value_count++] = (struct value){.snapshot = model.count - 1,
                                                       .unit = unit,
                                                       .tick = tick,
                                                       .value_id = value_id,
                                                       .correction = correction};
}

static void ack(uint32_t seq) {
    for (int i = model.first; i < model.count; i++) {
        if (model.sent[i].seq != seq)
            continue;
        seen.late += fate_of(i) == LOST;
        seen.acked_again += model.sent[i].acked;
        model.sent[i].acked = true;
    }
    if (model.newest_seq < seq)
        model.newest_seq = seq;
    hc_sv_sent_log_acked(sent_log, seq);
}

/// Index of the newest acked snapshot, logged or not; NEVER: none.
static int model_base(void) {
    int base = NEVER;
    for (int i = 0; i < model.count; i++)
        if (model.sent[i].acked)
            base = i;
    return base;
}

/// Whether the values of a snapshot may be baselines.
static bool is_baseline(int snapshot) {
    return snapshot >= model.first || snapshot == model_base();
}

/// The present comparison, so that a failure can be repeated.
static struct {
    uint64_t seed;
    int step;
} where;

static void agree(const char *what, unsigned unit, uint64_t is, uint64_t wanted) {
    if (is != wanted) // an assertion that holds costs a system call
        ck_abort_msg("seed %u, step %d: %s of %u is %u, not %u", (unsigned)where.seed, where.step,
                     what, unit, (unsigned)is, (unsigned)wanted);
}

/// The unit by the rules of the header, from all values that were ever sent.
static struct hc_sv_sent_log_unit expected(hc_unit unit) {
    struct hc_sv_sent_log_unit out = {.acked_as_of = HC_NO_TICK, .sent_as_of = HC_NO_TICK};
    bool drop_after = false, ended = false, acked = false;
    int base = model_base();
    for (int i = model.value_count - 1; i >= 0; i--) {
        const struct value *value = &model.values[i];
        if (value->snapshot < model.first && value->snapshot < base && ended && acked &&
            out.sent_as_of != HC_NO_TICK)
            break; // no older value counts
        if (value->unit != unit || value->correction)
            continue;
        hc_tick as_of = model.sent[value->snapshot].as_of;
        enum fate fate = fate_of(value->snapshot);
        if (fate != LOST && out.sent_as_of == HC_NO_TICK) {
            out.sent = value->value_id;
            out.sent_as_of = as_of;
        }
        drop_after |= !ended && fate != LOST && value->value_id == 0;
        if (!ended && value->value_id != 0) {
            out.known = !drop_after;
            ended = true;
        }
        acked |= fate == ACKED;
        if (fate == ACKED && value->value_id != 0 && is_baseline(value->snapshot) &&
            out.acked == 0) {
            out.acked = value->value_id;
            out.acked_as_of = as_of;
        }
    }
    return out;
}

/// The value of (unit, tick) that is held by the rules of the header.
static hc_sv_value_id expected_held(hc_unit unit, hc_tick tick, hc_tick *acked_as_of) {
    *acked_as_of = HC_NO_TICK;
    int oldest = model.first < model.count ? model.sent[model.first].first : model.value_count;
    for (int i = model.value_count - 1; i >= oldest; i--) {
        const struct value *value = &model.values[i];
        enum fate fate = fate_of(value->snapshot);
        if (value->unit != unit || value->tick != tick || fate == LOST)
            continue;
        if (fate == ACKED && value->value_id != 0)
            *acked_as_of = model.sent[value->snapshot].as_of;
        return value->value_id;
    }
    return 0;
}

static bool expected_has(hc_unit unit, hc_tick tick) {
    for (int i = model.sent[model.first].first; i < model.value_count; i++)
        if (model.values[i].unit == unit && model.values[i].tick == tick &&
            model.values[i].snapshot >= model.first)
            return true;
    return false;
}

/// The units of the tick shown of a logged snapshot or of the base.
static void compare_units(struct hc_rng *rng) {
    static hc_unit units_of[VALUES_MAX];
    int oldest = model.first;
    if (oldest == model.count)
        return;
    int asked = oldest + (int)hc_rng_below(rng, (uint32_t)(model.count - oldest));
    if (model_base() != NEVER && hc_rng_below(rng, 4) == 0)
        asked = model_base();
    seen.base_outlived += asked < model.first;
    uint32_t n = 0,
             count = hc_sv_sent_log_units(sent_log, model.sent[asked].as_of, units_of, VALUES_MAX);
    for (int i = model.sent[asked].first; i < model.value_count; i++) {
        const struct value *is = &model.values[i];
        if (is->snapshot != asked || is->correction || is->value_id == 0)
            continue;
        ck_assert_uint_lt(n, count);
        agree("units", units_of[n], units_of[n], is->unit);
        n++;
    }
    agree("units of a snapshot", 0, count, n);
}

static void compare(struct hc_rng *rng, hc_tick head) {
    for (hc_unit u = 0; u < units; u++) {
        struct hc_sv_sent_log_unit wanted = expected(u);
        const struct hc_sv_sent_log_unit *is = hc_sv_sent_log_unit(sent_log, u);
        agree("acked", u, is->acked, wanted.acked);
        agree("acked_as_of", u, is->acked_as_of, wanted.acked_as_of);
        agree("sent", u, is->sent, wanted.sent);
        agree("sent_as_of", u, is->sent_as_of, wanted.sent_as_of);
        agree("known", u, is->known, wanted.known);
        for (int i = 0; i < 4; i++) {
            hc_tick tick = hc_tick_back(head, hc_rng_below(rng, i < 2 ? 8 : TICKS_BACK));
            hc_tick as_of = 0, wanted_as_of;
            hc_sv_value_id held = expected_held(u, tick, &wanted_as_of);
            agree("held", u, hc_sv_sent_log_holds(sent_log, u, tick, &as_of), held);
            agree("held as_of", u, as_of, wanted_as_of);
            agree("has", u, hc_sv_sent_log_has(sent_log, u, tick), expected_has(u, tick));
        }
    }
    int base = model_base();
    agree("base", 0, hc_sv_sent_log_base(sent_log),
          base == NEVER ? HC_NO_TICK : model.sent[base].as_of);
    compare_units(rng);
}

// ---- Random sending ----

struct link {
    uint32_t loss_ppm, delay_max, put_ppm, corrections_max;
};

/// Puts some units at `tick`, drops some, corrects some older ticks.
static void put_some(struct hc_rng *rng, const struct link *link, hc_tick tick,
                     hc_sv_value_id *next) {
    for (hc_unit u = 0; u < units; u++) {
        if (!hc_rng_chance(rng, link->put_ppm))
            continue;
        bool drop = hc_rng_chance(rng, 150000);
        bool dropped_before = hc_sv_sent_log_unit(sent_log, u)->sent == 0 &&
                              hc_sv_sent_log_unit(sent_log, u)->sent_as_of != HC_NO_TICK;
        seen.sent_after_drop += !drop && dropped_before;
        put(u, tick, drop ? 0 : (*next)++, false);
    }
    for (uint32_t n = hc_rng_below(rng, link->corrections_max + 1); n > 0; n--)
        put((hc_unit)hc_rng_below(rng, units), hc_tick_back(tick, 1 + hc_rng_below(rng, 6)),
            (*next)++, true);
}

/// Acks the snapshots that are due, in any order.
static void ack_due(struct hc_rng *rng, int step) {
    int due[STEPS], count = 0;
    for (int i = 0; i < model.count; i++)
        if (model.sent[i].due == step)
            due[count++] = i;
    for (; count > 0; count--) {
        uint32_t at = hc_rng_below(rng, (uint32_t)count);
        uint32_t before = hc_sv_sent_log_unit(sent_log, 1)->sent;
        ack(model.sent[due[at]].seq);
        seen.fell_back += hc_sv_sent_log_unit(sent_log, 1)->sent < before;
        if (hc_rng_chance(rng, 100000))
            ack(model.sent[due[at]].seq); // a second time
        due[at] = due[count - 1];
    }
}

static void run(uint64_t seed) {
    struct hc_rng rng = hc_rng_init(seed, 1);
    struct link link = {.loss_ppm = hc_rng_below(&rng, 600000),
                        .delay_max = 1 + hc_rng_below(&rng, seed % 3 == 0 ? 100 : 12),
                        .put_ppm = 20000 + hc_rng_below(&rng, 900000),
                        .corrections_max = hc_rng_below(&rng, 6)};
    hc_tick head = hc_rng_below(&rng, 5), shown = head;
    hc_sv_value_id next = 1;
    uint32_t seq = 1, skip_max = hc_rng_below(&rng, 3);
    memset(&model, 0, sizeof model);
    model.capacity = 8 << 2 * (seed % 4);
    make((uint32_t)model.capacity - (uint32_t)(seed % 2)); // which is rounded up
    where.seed = seed;
    for (where.step = 0; where.step < STEPS; where.step++) {
        int step = where.step;
        bool silent = step / 100 == 2 && seed % 4 == 3;
        bool lost = silent || hc_rng_chance(&rng, link.loss_ppm);
        begin(head, seq, lost ? NEVER : step + (int)hc_rng_below(&rng, link.delay_max));
        if (!hc_rng_chance(&rng, 300000)) // else it is the tick of the one before
            shown = hc_tick_max(shown, hc_tick_back(head, hc_rng_below(&rng, 3)));
        put_some(&rng, &link, shown, &next);
        compare(&rng, head);
        ack_due(&rng, step);
        compare(&rng, head);
        head += 1 + hc_rng_below(&rng, skip_max * 2) + 20u * (hc_rng_below(&rng, 100) == 0);
        seq += 1 + hc_rng_below(&rng, skip_max + 1); // the datagrams between are no snapshots
        if (!silent && hc_rng_chance(&rng, 50000))
            ack(seq - 1);
    }
}

START_TEST(the_log_agrees_with_a_model_that_remembers_every_send_and_ack) {
    for (uint64_t seed = 0; seed < RUNS; seed++)
        run(seed);
    ck_assert_uint_gt(seen.refused, 0);
    ck_assert_uint_gt(seen.late, 0);
    ck_assert_uint_gt(seen.evicted_unacked, 0);
    ck_assert_uint_gt(seen.fell_back, 0);
    ck_assert_uint_gt(seen.sent_after_drop, 0);
    ck_assert_uint_gt(seen.acked_again, 0);
    ck_assert_uint_gt(seen.base_outlived, 100);
}
END_TEST

// ---- Single rules ----

START_TEST(an_older_ack_counts_only_for_units_that_the_newer_snapshot_left_out) {
    hc_tick as_of;
    make(64);
    hc_sv_sent_log_begin(sent_log, 10, 1);
    ck_assert(hc_sv_sent_log_put(sent_log, 1, 10, 101, false));
    ck_assert(hc_sv_sent_log_put(sent_log, 2, 10, 102, false));
    ck_assert(hc_sv_sent_log_put(sent_log, 3, 9, 103, true));
    hc_sv_sent_log_begin(sent_log, 11, 2);
    ck_assert(hc_sv_sent_log_put(sent_log, 1, 11, 201, false));
    hc_sv_sent_log_acked(sent_log, 2);
    hc_sv_sent_log_acked(sent_log, 1);
    ck_assert_uint_eq(hc_sv_sent_log_base(sent_log), 11);
    ck_assert_uint_eq(hc_sv_sent_log_unit(sent_log, 1)->acked, 201);
    ck_assert_uint_eq(hc_sv_sent_log_unit(sent_log, 1)->acked_as_of, 11);
    ck_assert_uint_eq(hc_sv_sent_log_unit(sent_log, 2)->acked, 102);
    ck_assert_uint_eq(hc_sv_sent_log_unit(sent_log, 2)->acked_as_of, 10);
    ck_assert_uint_eq(hc_sv_sent_log_unit(sent_log, 3)->acked,
                      0); // a correction is no baseline
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 3, 9, &as_of), 103);
    ck_assert_uint_eq(as_of, 10);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 10, &as_of),
                      101); // the client holds the value of that tick still
}
END_TEST

START_TEST(a_lost_drop_leaves_the_unit_known_and_a_lost_return_may_be_known) {
    make(64);
    const struct hc_sv_sent_log_unit *unit = hc_sv_sent_log_unit(sent_log, 4);
    ck_assert(!unit->known);
    hc_sv_sent_log_begin(sent_log, 1, 1);
    hc_sv_sent_log_put(sent_log, 4, 1, 7, false);
    hc_sv_sent_log_acked(sent_log, 1);
    hc_sv_sent_log_begin(sent_log, 2, 2);
    hc_sv_sent_log_put(sent_log, 4, 2, 0, false);
    ck_assert(!unit->known && unit->sent == 0 && unit->acked == 7);
    hc_sv_sent_log_acked(sent_log, 2 + HC_LOST_AFTER); // the drop is lost
    ck_assert(unit->known && unit->sent == 7 && unit->sent_as_of == 1);
    hc_sv_sent_log_begin(sent_log, 9, 9);
    hc_sv_sent_log_put(sent_log, 4, 9, 0, false);
    hc_sv_sent_log_acked(sent_log, 9);
    ck_assert(!unit->known && unit->acked == 7);
    hc_sv_sent_log_begin(sent_log, 10, 10);
    hc_sv_sent_log_put(sent_log, 4, 10, 8, false);
    ck_assert(unit->known && unit->sent == 8);
    hc_sv_sent_log_acked(sent_log,
                         10 + HC_LOST_AFTER); // the return is lost, but may still come
    ck_assert(unit->known && unit->sent == 0 && unit->sent_as_of == 9);
    hc_sv_sent_log_acked(sent_log, 10);
    ck_assert(unit->known && unit->sent == 8 && unit->acked == 8);
}
END_TEST

START_TEST(a_correction_is_held_while_it_may_arrive_and_not_once_it_is_lost) {
    hc_tick as_of;
    make(64);
    hc_sv_sent_log_begin(sent_log, 5, 1);
    hc_sv_sent_log_put(sent_log, 1, 5, 11, false);
    hc_sv_sent_log_begin(sent_log, 6, 2);
    hc_sv_sent_log_put(sent_log, 1, 5, 12, true);
    hc_sv_sent_log_acked(sent_log, 1);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 12);
    ck_assert_uint_eq(as_of, HC_NO_TICK);
    hc_sv_sent_log_acked(sent_log, 2 + HC_LOST_AFTER - 1);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 12);
    hc_sv_sent_log_acked(sent_log, 2 + HC_LOST_AFTER);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 11);
    ck_assert_uint_eq(as_of, 5);
}
END_TEST

START_TEST(the_newest_acked_value_outlives_its_snapshot_but_not_as_a_baseline) {
    make(64);
    const struct hc_sv_sent_log_unit *unit = hc_sv_sent_log_unit(sent_log, 1);
    hc_sv_sent_log_begin(sent_log, 5, 1);
    hc_sv_sent_log_put(sent_log, 1, 5, 11, false);
    hc_sv_sent_log_begin(sent_log, 6, 2);
    hc_sv_sent_log_acked(sent_log, 1);
    hc_sv_sent_log_acked(sent_log, 2);
    hc_sv_sent_log_begin(sent_log, 5 + HC_SNAPSHOT_AGE_MAX - 1, 3);
    ck_assert(unit->acked == 11 && hc_sv_sent_log_base(sent_log) == 6);
    hc_sv_sent_log_begin(sent_log, 5 + HC_SNAPSHOT_AGE_MAX, 4);
    ck_assert(unit->acked == 0 && hc_sv_sent_log_base(sent_log) == 6);
    ck_assert(unit->sent == 11 && unit->sent_as_of == 5 && unit->known);
}
END_TEST

START_TEST(the_values_of_the_base_are_baselines_until_another_is_acked) {
    hc_unit base[UNITS_MAX];
    make(64);
    const struct hc_sv_sent_log_unit *one = hc_sv_sent_log_unit(sent_log, 1);
    const struct hc_sv_sent_log_unit *three = hc_sv_sent_log_unit(sent_log, 3);
    hc_sv_sent_log_begin(sent_log, 5, 1);
    hc_sv_sent_log_put(sent_log, 1, 5, 11, false);
    hc_sv_sent_log_put(sent_log, 2, 5, 0, false);
    hc_sv_sent_log_put(sent_log, 3, 5, 13, false);
    hc_sv_sent_log_put(sent_log, 2, 4, 12, true);
    hc_sv_sent_log_acked(sent_log, 1);
    for (uint32_t i = 1; i <= 1000; i++) {
        hc_sv_sent_log_begin(sent_log, 5 + i, 1 + i);
        hc_sv_sent_log_put(sent_log, 3, 5 + i, 100 + i, false);
    }
    ck_assert_uint_eq(hc_sv_sent_log_base(sent_log), 5);
    ck_assert(one->acked == 11 && one->acked_as_of == 5);
    ck_assert(three->acked == 13 && three->acked_as_of == 5);
    ck_assert_uint_eq(hc_sv_sent_log_units(sent_log, 5, base, UNITS_MAX), 2);
    ck_assert(base[0] == 1 && base[1] == 3);
    hc_sv_sent_log_acked(sent_log, 990);
    ck_assert_uint_eq(hc_sv_sent_log_base(sent_log), 994);
    ck_assert(one->acked == 0 && one->acked_as_of == HC_NO_TICK);
    ck_assert(three->acked == 1089 && three->acked_as_of == 994);
    hc_sv_sent_log_begin(sent_log, 994 + HC_SNAPSHOT_SPAN_MAX - 1, 2000);
    ck_assert_uint_eq(hc_sv_sent_log_base(sent_log), 994);
    hc_sv_sent_log_begin(sent_log, 994 + HC_SNAPSHOT_SPAN_MAX, 2001); // farther than can be named
    ck_assert(three->acked == 0 && hc_sv_sent_log_base(sent_log) == HC_NO_TICK);
}
END_TEST

START_TEST(a_tick_counts_as_equal_until_a_snapshot_that_carried_it_is_lost) {
    make(64);
    for (uint32_t i = 1; i <= 3; i++) {
        hc_sv_sent_log_begin(sent_log, 10 + i, i);
        hc_sv_sent_log_put(sent_log, 1, 10 + i, 10 + i, false);
        hc_sv_sent_log_put(sent_log, 2, 5, 20 + i, true);
        hc_sv_sent_log_mark_equal(sent_log, 10 + i);
    }
    hc_sv_sent_log_mark_equal(sent_log, 5);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 4), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5), 13);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 11), 11);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5 + HC_SNAPSHOT_AGE_MAX), HC_NO_TICK);
    hc_sv_sent_log_begin(sent_log, 20, 1 + HC_LOST_AFTER);
    hc_sv_sent_log_acked(sent_log, 1 + HC_LOST_AFTER); // 1 is lost
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 11), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), 12);
    hc_sv_sent_log_mark_equal(sent_log, 5);
    hc_sv_sent_log_mark_equal(sent_log, 11);
    hc_sv_sent_log_acked(sent_log, 1); // it was received after all
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 11), HC_NO_TICK);
    hc_sv_sent_log_acked(sent_log, 2);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), 12);
    hc_sv_sent_log_compare(sent_log, 1, true); // another unit begins to be compared
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), HC_NO_TICK);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server sent log");
    TCase *tc = tcase_create("sent log");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, the_log_agrees_with_a_model_that_remembers_every_send_and_ack);
    tcase_add_test(tc, an_older_ack_counts_only_for_units_that_the_newer_snapshot_left_out);
    tcase_add_test(tc, a_lost_drop_leaves_the_unit_known_and_a_lost_return_may_be_known);
    tcase_add_test(tc, a_correction_is_held_while_it_may_arrive_and_not_once_it_is_lost);
    tcase_add_test(tc, the_newest_acked_value_outlives_its_snapshot_but_not_as_a_baseline);
    tcase_add_test(tc, the_values_of_the_base_are_baselines_until_another_is_acked);
    tcase_add_test(tc, a_tick_counts_as_equal_until_a_snapshot_that_carried_it_is_lost);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
