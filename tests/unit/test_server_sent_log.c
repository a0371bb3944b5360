/// The sent log and the items of a client's slots, against a model that forgets nothing.
#include "hindcast/rng.h"
#include "server/replication/view.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 20,
    STEPS = 400,
    UNITS_MAX = 8,
    VALUES_MAX = STEPS * 2 * UNITS_MAX,
    TICKS_BACK = 80, ///< ticks behind the head that are queried
    NEVER = -1,
};

static struct hc_sv_sent_log sent_log;
static struct hc_sv_slots slots;
static struct hc_sv_view view;
static struct hc_sv_slot *items[UNITS_MAX]; ///< the slot of each unit
static uint8_t *memory, *slot_memory;
static uint32_t loss_checked_to, newest_acked;

static void make(void) {
    uint32_t *at = &view.first;
    hc_sv_sent_log_clear(&sent_log);
    hc_sv_slots_clear(&slots);
    hc_sv_view_open(&view, &slots);
    at = &view.first;
    for (hc_unit u = 0; u < UNITS_MAX; u++, at = &items[u - 1]->next)
        items[u] = hc_sv_view_insert(&view, at, u);
    loss_checked_to = 1;
    newest_acked = 0;
}

static void set_up(void) {
    size_t bytes = hc_sv_sent_log_layout(&sent_log, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    hc_sv_sent_log_layout(&sent_log, memory);
    bytes = hc_sv_slots_layout(&slots, UNITS_MAX, UNITS_MAX, NULL);
    slot_memory = malloc(bytes);
    memset(slot_memory, 0xa5, bytes);
    hc_sv_slots_layout(&slots, UNITS_MAX, UNITS_MAX, slot_memory);
    make();
}

static void tear_down(void) {
    free(slot_memory);
    free(memory);
}

static void log_begin(hc_tick as_of, hc_tick tick, uint32_t seq) {
    hc_sv_places gone = hc_sv_sent_log_evict(&sent_log, as_of);
    for (unsigned u = 0; u < UNITS_MAX; u++)
        hc_sv_items_evict(&items[u]->items, &sent_log, gone);
    hc_sv_sent_log_begin(&sent_log, as_of, tick, seq);
}

static void log_put(hc_unit unit, hc_sv_value_id value_id) {
    hc_sv_items_put(&items[unit]->items, &sent_log, value_id);
}

static void log_correct(hc_unit unit, hc_tick tick, hc_sv_value_id value_id) {
    hc_sv_items_correct(&items[unit]->items, &sent_log, tick, value_id);
}

/// An ack of a datagram, and the losses that follow from it.
static void log_ack(uint32_t seq) {
    hc_sv_sent_log_acked(&sent_log, seq);
    newest_acked = seq > newest_acked ? seq : newest_acked;
    for (; loss_checked_to + HC_LOST_AFTER <= newest_acked; loss_checked_to++)
        hc_sv_sent_log_lost(&sent_log, loss_checked_to);
}

static struct hc_sv_held held_at(hc_unit unit, hc_tick tick) {
    return hc_sv_items_held(&items[unit]->items, &sent_log, tick,
                            hc_sv_sent_log_showing(&sent_log, tick));
}

static struct hc_sv_item_state state_of(hc_unit unit) {
    return hc_sv_items_state(&items[unit]->items, &sent_log, sent_log.acked);
}

static bool is_known(hc_unit unit) {
    return state_of(unit).known;
}

static hc_tick sent_of(hc_unit unit) {
    return state_of(unit).sent_as_of;
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
} model;

static struct {
    uint32_t late, evicted_unacked, fell_back, sent_after_drop, acked_again, base_outlived;
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

static void model_evict(void) {
    const struct sent *last = &model.sent[model.count - 1];
    while (model.count - model.first > HC_SNAPSHOT_AGE_MAX ||
           last->as_of - model.sent[model.first].as_of >= HC_SNAPSHOT_AGE_MAX) {
        seen.evicted_unacked += fate_of(model.first) == UNDER_WAY;
        model.first++;
    }
}

static void begin(hc_tick as_of, hc_tick tick, uint32_t seq, int due) {
    model.sent[model.count++] =
        (struct sent){.as_of = as_of, .seq = seq, .first = model.value_count, .due = due};
    model_evict();
    log_begin(as_of, tick, seq);
}

static void put(hc_unit unit, hc_tick tick, hc_sv_value_id value_id, bool correction) {
    if (correction)
        log_correct(unit, tick, value_id);
    else
        log_put(unit, value_id);
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
    log_ack(seq);
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

/// A unit's items.
struct expected {
    hc_sv_value_id acked, sent;
    hc_tick acked_as_of, sent_as_of;
    bool known;
};

/// The unit by the rules of the header, from all values that were ever sent.
static struct expected expected(hc_unit unit) {
    struct expected out = {.acked_as_of = HC_NO_TICK, .sent_as_of = HC_NO_TICK};
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

static void compare(struct hc_rng *rng, hc_tick head) {
    for (hc_unit u = 0; u < UNITS_MAX; u++) {
        struct expected wanted = expected(u);
        agree("acked", u, state_of(u).acked, wanted.acked);
        agree("acked as_of", u, state_of(u).acked_as_of, wanted.acked_as_of);
        agree("sent", u, sent_of(u), wanted.sent == 0 ? HC_NO_TICK : wanted.sent_as_of);
        agree("known", u, is_known(u), wanted.known);
        for (int i = 0; i < 4; i++) {
            hc_tick tick = hc_tick_back(head, hc_rng_below(rng, i < 2 ? 8 : TICKS_BACK));
            hc_tick wanted_as_of;
            hc_sv_value_id held = expected_held(u, tick, &wanted_as_of);
            agree("held", u, held_at(u, tick).value_id, held);
            agree("held as_of", u, held_at(u, tick).as_of, wanted_as_of);
            agree("has", u, held_at(u, tick).sent, expected_has(u, tick));
        }
    }
    int base = model_base();
    seen.base_outlived += base != NEVER && base < model.first;
    agree("base", 0, sent_log.base, base == NEVER ? HC_NO_TICK : model.sent[base].as_of);
}

// ---- Random sending ----

struct link {
    uint32_t loss_ppm, delay_max, put_ppm, corrections_max;
};

/// Puts some units at `tick`, drops some, corrects some older ticks.
static void put_some(struct hc_rng *rng, const struct link *link, hc_tick tick,
                     hc_sv_value_id *next) {
    for (hc_unit u = 0; u < UNITS_MAX; u++) {
        if (!hc_rng_chance(rng, link->put_ppm))
            continue;
        bool drop = hc_rng_chance(rng, 150000);
        bool dropped_before = items[u]->items.valued_as_of != HC_NO_TICK && !is_known(u);
        seen.sent_after_drop += !drop && dropped_before;
        put(u, tick, drop ? 0 : (*next)++, false);
    }
    for (uint32_t n = hc_rng_below(rng, link->corrections_max + 1); n > 0; n--)
        put((hc_unit)hc_rng_below(rng, UNITS_MAX), hc_tick_back(tick, 1 + hc_rng_below(rng, 6)),
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
        hc_tick before = sent_of(1);
        ack(model.sent[due[at]].seq);
        seen.fell_back += before != HC_NO_TICK && sent_of(1) < before;
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
    make();
    where.seed = seed;
    for (where.step = 0; where.step < STEPS; where.step++) {
        int step = where.step;
        bool silent = step / 100 == 2 && seed % 4 == 3;
        bool lost = silent || hc_rng_chance(&rng, link.loss_ppm);
        if (!hc_rng_chance(&rng, 300000)) // else it is the tick of the one before
            shown = hc_tick_max(shown, hc_tick_back(head, hc_rng_below(&rng, 3)));
        begin(head, shown, seq, lost ? NEVER : step + (int)hc_rng_below(&rng, link.delay_max));
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
    log_begin(10, 10, 1);
    log_put(1, 101);
    log_put(2, 102);
    log_correct(3, 9, 103);
    log_begin(11, 11, 2);
    log_put(1, 201);
    log_ack(2);
    log_ack(1);
    ck_assert_uint_eq(sent_log.base, 11);
    ck_assert(state_of(1).acked == 201 && state_of(1).acked_as_of == 11);
    ck_assert(state_of(2).acked == 102 && state_of(2).acked_as_of == 10);
    ck_assert_uint_eq(state_of(3).acked, 0); // a correction is no baseline
    ck_assert(held_at(3, 9).value_id == 103 && held_at(3, 9).as_of == 10);
    ck_assert_uint_eq(held_at(1, 10).value_id, 101); // the client still holds that tick's value
}
END_TEST

START_TEST(a_lost_drop_leaves_the_unit_known_and_a_lost_return_may_be_known) {
    ck_assert(!is_known(4));
    log_begin(1, 1, 1);
    log_put(4, 7);
    log_ack(1);
    log_begin(2, 2, 2);
    log_put(4, 0);
    ck_assert(!is_known(4) && sent_of(4) == HC_NO_TICK && state_of(4).acked == 7);
    log_ack(2 + HC_LOST_AFTER); // the drop is lost
    ck_assert(is_known(4) && sent_of(4) == 1);
    log_begin(9, 9, 9);
    log_put(4, 0);
    log_ack(9);
    ck_assert(!is_known(4) && state_of(4).acked == 7);
    log_begin(10, 10, 10);
    log_put(4, 8);
    ck_assert(is_known(4) && sent_of(4) == 10);
    log_ack(10 + HC_LOST_AFTER); // the return is lost, but may still come
    ck_assert(is_known(4) && sent_of(4) == HC_NO_TICK);
    log_ack(10);
    ck_assert(is_known(4) && sent_of(4) == 10 && state_of(4).acked == 8);
}
END_TEST

START_TEST(a_correction_is_held_while_it_may_arrive_and_not_once_it_is_lost) {
    log_begin(5, 5, 1);
    log_put(1, 11);
    log_begin(6, 6, 2);
    log_correct(1, 5, 12);
    log_ack(1);
    ck_assert(held_at(1, 5).value_id == 12 && held_at(1, 5).as_of == HC_NO_TICK);
    log_ack(2 + HC_LOST_AFTER - 1);
    ck_assert_uint_eq(held_at(1, 5).value_id, 12);
    log_ack(2 + HC_LOST_AFTER);
    ck_assert(held_at(1, 5).value_id == 11 && held_at(1, 5).as_of == 5);
}
END_TEST

START_TEST(the_room_for_corrections_comes_back_when_their_snapshots_are_evicted) {
    log_begin(5, 5, 1);
    for (uint32_t i = 0; i < HC_SV_CORRECTIONS; i++) {
        ck_assert_uint_eq(hc_sv_sent_log_room(&sent_log), HC_SV_CORRECTIONS - i);
        log_correct((hc_unit)(i % UNITS_MAX), 4 - i % 3, 100 + i);
    }
    ck_assert_uint_eq(hc_sv_sent_log_room(&sent_log), 0);
    ck_assert_uint_ne(held_at(1, 4).value_id, 0);
    log_begin(5 + HC_SNAPSHOT_AGE_MAX, 60, 2);
    ck_assert_uint_eq(hc_sv_sent_log_room(&sent_log), HC_SV_CORRECTIONS);
    ck_assert_uint_eq(held_at(1, 4).value_id, 0);
    log_correct(1, 4, 99999);
    ck_assert_uint_eq(held_at(1, 4).value_id, 99999);
}
END_TEST

START_TEST(the_newest_acked_value_outlives_its_snapshot_but_not_as_a_baseline) {
    log_begin(5, 5, 1);
    log_put(1, 11);
    log_begin(6, 6, 2);
    log_ack(1);
    log_ack(2);
    log_begin(5 + HC_SNAPSHOT_AGE_MAX - 1, 60, 3);
    ck_assert(state_of(1).acked == 11 && sent_log.base == 6);
    log_begin(5 + HC_SNAPSHOT_AGE_MAX, 61, 4);
    ck_assert(state_of(1).acked == 0 && sent_log.base == 6);
    ck_assert(sent_of(1) == 5 && is_known(1));
}
END_TEST

START_TEST(the_values_of_the_base_are_baselines_until_another_is_acked) {
    log_begin(5, 5, 1);
    log_put(1, 11);
    log_put(2, 0);
    log_put(3, 13);
    log_correct(2, 4, 12);
    log_ack(1);
    for (uint32_t i = 1; i <= 1000; i++) {
        log_begin(5 + i, 5 + i, 1 + i);
        log_put(3, 100 + i);
    }
    ck_assert_uint_eq(sent_log.base, 5);
    ck_assert(state_of(1).acked == 11 && state_of(1).acked_as_of == 5);
    ck_assert(state_of(3).acked == 13 && state_of(3).acked_as_of == 5);
    ck_assert_uint_eq(state_of(2).acked, 0);
    log_ack(990);
    ck_assert_uint_eq(sent_log.base, 994);
    ck_assert(state_of(1).acked == 0 && state_of(1).acked_as_of == HC_NO_TICK);
    ck_assert(state_of(3).acked == 1089 && state_of(3).acked_as_of == 994);
    log_begin(994 + HC_SNAPSHOT_SPAN_MAX - 1, 1100, 2000);
    ck_assert_uint_eq(sent_log.base, 994);
    log_begin(994 + HC_SNAPSHOT_SPAN_MAX, 1101, 2001); // farther than can be named
    ck_assert(state_of(3).acked == 0 && sent_log.base == HC_NO_TICK);
}
END_TEST

START_TEST(a_tick_counts_as_equal_until_a_snapshot_that_carried_it_is_lost) {
    for (uint32_t i = 1; i <= 3; i++) {
        log_begin(10 + i, 10 + i, i);
        log_put(1, 10 + i);
        log_correct(2, 5, 20 + i);
        hc_sv_sent_log_mark_equal(&sent_log, 10 + i);
    }
    hc_sv_sent_log_mark_equal(&sent_log, 5);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 4), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 5), 13);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 11), 11);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 5 + HC_SNAPSHOT_AGE_MAX), HC_NO_TICK);
    log_begin(20, 20, 1 + HC_LOST_AFTER);
    log_ack(1 + HC_LOST_AFTER); // 1 is lost
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 11), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 12), 12);
    hc_sv_sent_log_mark_equal(&sent_log, 5);
    hc_sv_sent_log_mark_equal(&sent_log, 11);
    log_ack(1); // it was received after all
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 5), HC_NO_TICK);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 11), HC_NO_TICK);
    log_ack(2);
    ck_assert_uint_eq(hc_sv_sent_log_equal_at(&sent_log, 12), 12);
}
END_TEST

START_TEST(slots_stand_in_the_order_of_units_and_come_back_to_the_pool) {
    struct hc_sv_view other;
    hc_sv_view_open(&other, &slots);
    ck_assert_ptr_null(hc_sv_view_insert(&other, &other.first, 3)); // the pool is empty
    uint32_t *at = &items[4]->next;
    hc_sv_view_remove(&view, at);
    ck_assert_ptr_null(hc_sv_view_find(&view, 5));
    ck_assert_ptr_eq(hc_sv_view_find(&view, 6), items[6]);
    struct hc_sv_slot *slot = hc_sv_view_insert(&other, &other.first, 7);
    ck_assert_ptr_eq(slot, items[5]);
    ck_assert(!hc_sv_slot_sees(slot) && slot->items.values == 0 &&
              !hc_sv_items_state(&slot->items, &sent_log, sent_log.acked).known);
    hc_sv_view_close(&view);
    for (hc_unit u = UNITS_MAX - 1; u-- > 0;)
        ck_assert_ptr_nonnull(hc_sv_view_insert(&other, &other.first, u % 7));
    ck_assert_ptr_null(hc_sv_view_insert(&other, &other.first, 0));
}
END_TEST

START_TEST(a_base_is_the_newest_acked_snapshot_or_the_newest_shared_one) {
    hc_sv_places usable;
    // Each of the ticks 0, 8, ..; every tick; the ticks 4, 12, .. and 2, 10, ..
    static const struct hc_sv_cadence bases[] = {{1, 8, 0}, {1, 1, 0}, {1, 8, 4}, {1, 8, 6}};
    ck_assert_uint_eq(hc_sv_sent_log_next_base(&sent_log, &bases[0], &usable), HC_NO_TICK);
    for (uint32_t i = 0; i < 5; i++) // shows the ticks 1, 2, 2, 3, 4
        log_begin(10 + i, i + (i < 2), 1 + i);
    log_ack(1);
    log_ack(2);
    log_ack(4);
    ck_assert_uint_eq(hc_sv_sent_log_next_base(&sent_log, &bases[1], &usable), 13);
    ck_assert_uint_eq(usable, sent_log.acked);
    ck_assert_uint_eq(hc_sv_sent_log_next_base(&sent_log, &bases[2], &usable), 13);
    ck_assert_uint_eq(usable, sent_log.acked);
    ck_assert_uint_eq(hc_sv_sent_log_next_base(&sent_log, &bases[3], &usable), 11);
    ck_assert_uint_eq(usable, 3);
    log_begin(13 + HC_SV_BASE_AGE, 7, 6);
    log_ack(6); // much newer than that of head 11
    ck_assert_uint_eq(hc_sv_sent_log_next_base(&sent_log, &bases[3], &usable), 13 + HC_SV_BASE_AGE);
    ck_assert_uint_eq(usable, sent_log.acked);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server sent log");
    TCase *tc = tcase_create("sent log");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_base_is_the_newest_acked_snapshot_or_the_newest_shared_one);
    tcase_add_test(tc, the_log_agrees_with_a_model_that_remembers_every_send_and_ack);
    tcase_add_test(tc, an_older_ack_counts_only_for_units_that_the_newer_snapshot_left_out);
    tcase_add_test(tc, a_lost_drop_leaves_the_unit_known_and_a_lost_return_may_be_known);
    tcase_add_test(tc, a_correction_is_held_while_it_may_arrive_and_not_once_it_is_lost);
    tcase_add_test(tc, the_room_for_corrections_comes_back_when_their_snapshots_are_evicted);
    tcase_add_test(tc, the_newest_acked_value_outlives_its_snapshot_but_not_as_a_baseline);
    tcase_add_test(tc, the_values_of_the_base_are_baselines_until_another_is_acked);
    tcase_add_test(tc, a_tick_counts_as_equal_until_a_snapshot_that_carried_it_is_lost);
    tcase_add_test(tc, slots_stand_in_the_order_of_units_and_come_back_to_the_pool);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
