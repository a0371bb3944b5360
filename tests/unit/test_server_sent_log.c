// What the server believes that a client holds, against a model that forgets nothing.
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
    TOLD_MAX = STEPS * 2 * UNITS_MAX,
    TICKS_BACK = 80, ///< ticks behind the head of which something is asked
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

struct told {
    int snapshot; ///< index
    hc_unit unit;
    hc_tick tick;
    hc_sv_value_id version;
    bool correction;
};

struct sent {
    hc_tick as_of;
    uint32_t seq;
    int first; ///< index of what it told first
    int due;   ///< step at which its acknowledgement arrives, or NEVER
    bool acked;
};

/// Everything that was ever sent, and what is said about it by the header alone.
static struct model {
    struct sent sent[STEPS];
    int count;
    struct told told[TOLD_MAX];
    int value_count;
    int epoch; ///< index of the first snapshot since the client last could not read
    int first; ///< index of the first one that is remembered
    uint32_t newest_seq;
    int capacity;
} model;

static struct {
    uint32_t refused, late, forgotten_unacked, fell_back, drops_told_again, acked_again,
        base_outlived;
} seen;

/// What a snapshot is to the client as far as the server can say.
enum fate { UNDER_WAY, ACKED, LOST };

static enum fate fate_of(int snapshot) {
    const struct sent *sent = &model.sent[snapshot];
    if (sent->acked)
        return ACKED;
    bool given_up = (int64_t)model.newest_seq - sent->seq >= HC_SV_SENT_LOG_REORDER;
    return given_up || snapshot < model.first ? LOST : UNDER_WAY;
}

static void model_forget_old(int needed) {
    const struct sent *last = &model.sent[model.count - 1];
    while (model.count - model.first > HC_SV_SENT_LOG_SNAPSHOTS ||
           last->as_of - model.sent[model.first].as_of >= HC_SV_SENT_LOG_SNAPSHOTS ||
           (model.first < model.count - 1 &&
            model.value_count + needed - model.sent[model.first].first > model.capacity)) {
        seen.forgotten_unacked += fate_of(model.first) == UNDER_WAY;
        model.first++;
    }
}

static void begin(hc_tick as_of, uint32_t seq, int due) {
    model.sent[model.count++] =
        (struct sent){.as_of = as_of, .seq = seq, .first = model.value_count, .due = due};
    model_forget_old(0);
    hc_sv_sent_log_begin(sent_log, as_of, seq);
}

static void tell(hc_unit unit, hc_tick tick, hc_sv_value_id version, bool correction) {
    model_forget_old(1);
    bool room = model.value_count - model.sent[model.count - 1].first < model.capacity;
    ck_assert_int_eq(hc_sv_sent_log_put(sent_log, unit, tick, version, correction), room);
    seen.refused += !room;
    if (!room)
        return;
    ck_assert_int_lt(model.value_count, TOLD_MAX);
    model.told[model.value_count++] = (struct told){.snapshot = model.count - 1,
                                                    .unit = unit,
                                                    .tick = tick,
                                                    .version = version,
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

static void forget(void) {
    model.epoch = model.first = model.count;
    hc_sv_sent_log_forget(sent_log);
}

/// Index of the newest snapshot that is acknowledged, remembered or not; NEVER: none.
static int model_base(void) {
    int base = NEVER;
    for (int i = model.epoch; i < model.count; i++)
        if (model.sent[i].acked)
            base = i;
    return base;
}

/// Whether what a snapshot told may be a baseline.
static bool is_baseline(int snapshot) {
    return snapshot >= model.first || snapshot == model_base();
}

/// What is being compared, so that a failure can be repeated.
static struct {
    uint64_t seed;
    int step;
} where;

static void agree(const char *what, unsigned unit, uint64_t is, uint64_t wanted) {
    if (is != wanted) // an assertion that holds costs a system call
        ck_abort_msg("seed %u, step %d: %s of %u is %u, not %u", (unsigned)where.seed, where.step,
                     what, unit, (unsigned)is, (unsigned)wanted);
}

/// The unit as the header says it is; `unit` is looked for in all that was ever told.
static struct hc_sv_sent_log_unit expected(hc_unit unit) {
    struct hc_sv_sent_log_unit out = {.acked_as_of = HC_NO_TICK, .sent_as_of = HC_NO_TICK};
    bool drop_after = false, ended = false, heard = false;
    int base = model_base();
    for (int i = model.value_count - 1; i >= 0; i--) {
        const struct told *told = &model.told[i];
        if (told->snapshot < model.first && told->snapshot < base && ended && heard &&
            out.sent_as_of != HC_NO_TICK)
            break; // nothing that is older counts
        if (told->unit != unit || told->correction)
            continue;
        hc_tick as_of = model.sent[told->snapshot].as_of;
        bool current = told->snapshot >= model.epoch;
        enum fate fate = current ? fate_of(told->snapshot) : LOST;
        if (fate != LOST && out.sent_as_of == HC_NO_TICK) {
            out.sent = told->version;
            out.sent_as_of = as_of;
        }
        drop_after |= !ended && fate != LOST && told->version == 0;
        if (!ended && told->version != 0) {
            out.known = !drop_after;
            ended = true;
        }
        if (fate == ACKED && !heard) {
            out.acked_dropped = told->version == 0;
            heard = true;
        }
        if (fate == ACKED && told->version != 0 && is_baseline(told->snapshot) && out.acked == 0) {
            out.acked = told->version;
            out.acked_as_of = as_of;
        }
    }
    return out;
}

/// What the header says is held of (unit, tick).
static hc_sv_value_id expected_held(hc_unit unit, hc_tick tick, hc_tick *acked_as_of) {
    *acked_as_of = HC_NO_TICK;
    int oldest = model.first < model.count ? model.sent[model.first].first : model.value_count;
    for (int i = model.value_count - 1; i >= oldest; i--) {
        const struct told *told = &model.told[i];
        enum fate fate = fate_of(told->snapshot);
        if (told->unit != unit || told->tick != tick || fate == LOST)
            continue;
        if (fate == ACKED && told->version != 0)
            *acked_as_of = model.sent[told->snapshot].as_of;
        return told->version;
    }
    return 0;
}

static bool expected_told(hc_unit unit, hc_tick tick) {
    for (int i = model.sent[model.first].first; i < model.value_count; i++)
        if (model.told[i].unit == unit && model.told[i].tick == tick &&
            model.told[i].snapshot >= model.first)
            return true;
    return false;
}

/// What one of the snapshots that are remembered, or the base, told of the tick that it showed.
static void compare_units(struct hc_rng *rng) {
    static hc_unit told[TOLD_MAX];
    int oldest = model.first > model.epoch ? model.first : model.epoch;
    if (oldest == model.count)
        return;
    int asked = oldest + (int)hc_rng_below(rng, (uint32_t)(model.count - oldest));
    if (model_base() != NEVER && hc_rng_below(rng, 4) == 0)
        asked = model_base();
    seen.base_outlived += asked < model.first;
    uint32_t n = 0, count = hc_sv_sent_log_units(sent_log, model.sent[asked].as_of, told, TOLD_MAX);
    for (int i = model.sent[asked].first; i < model.value_count; i++) {
        const struct told *is = &model.told[i];
        if (is->snapshot != asked || is->correction || is->version == 0)
            continue;
        ck_assert_uint_lt(n, count);
        agree("units", told[n], told[n], is->unit);
        n++;
    }
    agree("units told", 0, count, n);
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
        agree("acked_dropped", u, is->acked_dropped, wanted.acked_dropped);
        for (int i = 0; i < 4; i++) {
            hc_tick tick = hc_tick_back(head, hc_rng_below(rng, i < 2 ? 8 : TICKS_BACK));
            hc_tick as_of = 0, wanted_as_of;
            hc_sv_value_id held = expected_held(u, tick, &wanted_as_of);
            agree("held", u, hc_sv_sent_log_holds(sent_log, u, tick, &as_of), held);
            agree("held as_of", u, as_of, wanted_as_of);
            agree("told", u, hc_sv_sent_log_has(sent_log, u, tick), expected_told(u, tick));
        }
    }
    int base = model_base();
    agree("base", 0, hc_sv_sent_log_base(sent_log),
          base == NEVER ? HC_NO_TICK : model.sent[base].as_of);
    compare_units(rng);
}

// ---- Random sending ----

struct link {
    uint32_t loss_ppm, delay_max, tell_ppm, corrections_max;
};

/// Tells some units at `tick`, drops some, corrects some older ticks.
static void tell_some(struct hc_rng *rng, const struct link *link, hc_tick tick,
                      hc_sv_value_id *next) {
    for (hc_unit u = 0; u < units; u++) {
        if (!hc_rng_chance(rng, link->tell_ppm))
            continue;
        bool drop = hc_rng_chance(rng, 150000);
        bool dropped_before = hc_sv_sent_log_unit(sent_log, u)->sent == 0 &&
                              hc_sv_sent_log_unit(sent_log, u)->sent_as_of != HC_NO_TICK;
        seen.drops_told_again += !drop && dropped_before;
        tell(u, tick, drop ? 0 : (*next)++, false);
    }
    for (uint32_t n = hc_rng_below(rng, link->corrections_max + 1); n > 0; n--)
        tell((hc_unit)hc_rng_below(rng, units), hc_tick_back(tick, 1 + hc_rng_below(rng, 6)),
             (*next)++, true);
}

/// Acknowledges what is due, in any order.
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
                        .tell_ppm = 20000 + hc_rng_below(&rng, 900000),
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
        tell_some(&rng, &link, shown, &next);
        compare(&rng, head);
        ack_due(&rng, step);
        if (hc_rng_chance(&rng, 4000))
            forget();
        compare(&rng, head);
        head += 1 + hc_rng_below(&rng, skip_max * 2) + 20u * (hc_rng_below(&rng, 100) == 0);
        seq += 1 + hc_rng_below(&rng, skip_max + 1); // those between are no snapshots
        if (!silent && hc_rng_chance(&rng, 50000))
            ack(seq - 1);
    }
}

START_TEST(it_agrees_with_a_model_that_remembers_every_send_and_acknowledgement) {
    for (uint64_t seed = 0; seed < RUNS; seed++)
        run(seed);
    ck_assert_uint_gt(seen.refused, 0);
    ck_assert_uint_gt(seen.late, 0);
    ck_assert_uint_gt(seen.forgotten_unacked, 0);
    ck_assert_uint_gt(seen.fell_back, 0);
    ck_assert_uint_gt(seen.drops_told_again, 0);
    ck_assert_uint_gt(seen.acked_again, 0);
    ck_assert_uint_gt(seen.base_outlived, 100);
}
END_TEST

// ---- One thing each ----

START_TEST(an_older_acknowledgement_counts_only_for_what_the_newer_did_not_tell) {
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
                      0); // a correction is no baseline of it
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 3, 9, &as_of), 103);
    ck_assert_uint_eq(as_of, 10);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 10, &as_of),
                      101); // it shows that tick still
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
    ck_assert(!unit->known && unit->sent == 0 && unit->acked == 7 && !unit->acked_dropped);
    hc_sv_sent_log_acked(sent_log, 2 + HC_SV_SENT_LOG_REORDER); // the drop is given up
    ck_assert(unit->known && unit->sent == 7 && unit->sent_as_of == 1);
    hc_sv_sent_log_begin(sent_log, 9, 9);
    hc_sv_sent_log_put(sent_log, 4, 9, 0, false);
    hc_sv_sent_log_acked(sent_log, 9);
    ck_assert(!unit->known && unit->acked == 7 && unit->acked_dropped);
    hc_sv_sent_log_begin(sent_log, 10, 10);
    hc_sv_sent_log_put(sent_log, 4, 10, 8, false);
    ck_assert(unit->known && unit->sent == 8 && unit->acked_dropped);
    hc_sv_sent_log_acked(sent_log,
                         10 + HC_SV_SENT_LOG_REORDER); // the return is given up, may yet come
    ck_assert(unit->known && unit->sent == 0 && unit->sent_as_of == 9 && unit->acked_dropped);
    hc_sv_sent_log_acked(sent_log, 10);
    ck_assert(unit->known && unit->sent == 8 && unit->acked == 8 && !unit->acked_dropped);
}
END_TEST

START_TEST(a_correction_is_held_while_it_may_arrive_and_not_once_it_is_presumed_lost) {
    hc_tick as_of;
    make(64);
    hc_sv_sent_log_begin(sent_log, 5, 1);
    hc_sv_sent_log_put(sent_log, 1, 5, 11, false);
    hc_sv_sent_log_begin(sent_log, 6, 2);
    hc_sv_sent_log_put(sent_log, 1, 5, 12, true);
    hc_sv_sent_log_acked(sent_log, 1);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 12);
    ck_assert_uint_eq(as_of, HC_NO_TICK);
    hc_sv_sent_log_acked(sent_log, 2 + HC_SV_SENT_LOG_REORDER - 1);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 12);
    hc_sv_sent_log_acked(sent_log, 2 + HC_SV_SENT_LOG_REORDER);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 11);
    ck_assert_uint_eq(as_of, 5);
}
END_TEST

START_TEST(what_was_acknowledged_last_outlives_its_snapshot_but_not_as_a_baseline) {
    make(64);
    const struct hc_sv_sent_log_unit *unit = hc_sv_sent_log_unit(sent_log, 1);
    hc_sv_sent_log_begin(sent_log, 5, 1);
    hc_sv_sent_log_put(sent_log, 1, 5, 11, false);
    hc_sv_sent_log_begin(sent_log, 6, 2);
    hc_sv_sent_log_acked(sent_log, 1);
    hc_sv_sent_log_acked(sent_log, 2);
    hc_sv_sent_log_begin(sent_log, 5 + HC_SV_SENT_LOG_SNAPSHOTS - 1, 3);
    ck_assert(unit->acked == 11 && hc_sv_sent_log_base(sent_log) == 6);
    hc_sv_sent_log_begin(sent_log, 5 + HC_SV_SENT_LOG_SNAPSHOTS, 4);
    ck_assert(unit->acked == 0 && hc_sv_sent_log_base(sent_log) == 6);
    ck_assert(unit->sent == 11 && unit->sent_as_of == 5 && unit->known);
}
END_TEST

START_TEST(what_the_base_told_is_a_baseline_until_another_is_acknowledged) {
    hc_unit told[UNITS_MAX];
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
    ck_assert_uint_eq(hc_sv_sent_log_units(sent_log, 5, told, UNITS_MAX), 2);
    ck_assert(told[0] == 1 && told[1] == 3);
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

START_TEST(a_tick_counts_as_equal_until_something_told_of_it_is_given_up) {
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
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5 + HC_SV_SENT_LOG_SNAPSHOTS), HC_NO_TICK);
    hc_sv_sent_log_begin(sent_log, 20, 1 + HC_SV_SENT_LOG_REORDER);
    hc_sv_sent_log_acked(sent_log, 1 + HC_SV_SENT_LOG_REORDER); // 1 is lost
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 11), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), 12);
    hc_sv_sent_log_mark_equal(sent_log, 5);
    hc_sv_sent_log_mark_equal(sent_log, 11);
    hc_sv_sent_log_acked(sent_log, 1); // it has arrived after all
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 11), HC_NO_TICK);
    hc_sv_sent_log_acked(sent_log, 2);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), 12);
    hc_sv_sent_log_clear_equal(sent_log);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(sent_log, 12), HC_NO_TICK);
}
END_TEST

START_TEST(nothing_is_held_by_a_client_that_cannot_read_yet_it_may_know_all_it_was_told) {
    hc_tick as_of;
    make(64);
    const struct hc_sv_sent_log_unit *unit = hc_sv_sent_log_unit(sent_log, 1);
    for (uint32_t i = 1; i <= 2; i++) {
        hc_sv_sent_log_begin(sent_log, 4 + i, i);
        hc_sv_sent_log_put(sent_log, 1, 4 + i, i == 1 ? 11 : 0, false);
    }
    hc_sv_sent_log_acked(sent_log, 1);
    hc_sv_sent_log_acked(sent_log, 2);
    ck_assert(!unit->known);
    hc_sv_sent_log_forget(sent_log);
    hc_sv_sent_log_acked(sent_log, 1);
    ck_assert(unit->acked == 0 && unit->sent == 0 && unit->sent_as_of == HC_NO_TICK);
    ck_assert(unit->known && !unit->acked_dropped && !hc_sv_sent_log_unit(sent_log, 2)->known);
    ck_assert_uint_eq(hc_sv_sent_log_holds(sent_log, 1, 5, &as_of), 0);
    ck_assert_uint_eq(hc_sv_sent_log_base(sent_log), HC_NO_TICK);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server ledger");
    TCase *tc = tcase_create("ledger");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, it_agrees_with_a_model_that_remembers_every_send_and_acknowledgement);
    tcase_add_test(tc, an_older_acknowledgement_counts_only_for_what_the_newer_did_not_tell);
    tcase_add_test(tc, a_lost_drop_leaves_the_unit_known_and_a_lost_return_may_be_known);
    tcase_add_test(tc, a_correction_is_held_while_it_may_arrive_and_not_once_it_is_presumed_lost);
    tcase_add_test(tc, what_was_acknowledged_last_outlives_its_snapshot_but_not_as_a_baseline);
    tcase_add_test(tc, what_the_base_told_is_a_baseline_until_another_is_acknowledged);
    tcase_add_test(tc, a_tick_counts_as_equal_until_something_told_of_it_is_given_up);
    tcase_add_test(tc,
                   nothing_is_held_by_a_client_that_cannot_read_yet_it_may_know_all_it_was_told);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
