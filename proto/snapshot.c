/// Snapshots: encoding and decoding of all but the values.
#include "proto/snapshot.h"

#include "common/bytes.h"
#include "hindcast/check.h"
#include "proto/pack.h"

#include <sodium.h>
#include <string.h>

enum {
    BASE_BITS = 6, ///< of as_of - base - 1, at most
    BASE_FAR = 63, ///< all of them set: the excess over this follows
    BASE_GROUP = 8,
    HOW_BITS = 2,
    INPUTS_GROUP = 2,     ///< of the ticks before the one shown from which on inputs are sent
    SAMPLES_GROUP = 4,    ///< of the samples of a margin
    MARGIN_GROUP = 5,     ///< of its low figure, and of the median beyond it
    AGE_BITS = 6,         ///< of base - older - 1
    CORRECTION_BITS = 7,  ///< of as_of - baseline - 1
    SENT_GROUP = 3,       ///< group of the lengths of runs of units that are sent again
    SKIPPED_GROUP = 2,    ///< group of the numbers of units between these runs
    OTHERS_GROUP = 4,     ///< of the number of other units, and of units skipped between them
    CORRECTION_GROUP = 2, ///< of units skipped between corrections
    LISTED_BITS = 40,     ///< of a forced range or a roster change, at most
};
enum { MESSAGE_VALUES = 2 };
_Static_assert(1 << AGE_BITS == HC_SNAPSHOT_AGE_MAX &&
                   1 << CORRECTION_BITS == HC_SNAPSHOT_CORRECTION_AGE,
               "every age has its bits");
_Static_assert(BASE_FAR == (1 << BASE_BITS) - 1, "a far base begins with ones");

_Static_assert(HC_CHAIN_KEY_SIZE == crypto_shorthash_KEYBYTES && crypto_shorthash_BYTES == 8,
               "a chain hash is a SipHash-2-4");

uint64_t hc_snapshot_chain(const uint8_t key[static HC_CHAIN_KEY_SIZE], uint64_t previous,
                           uint64_t world_hash) {
    uint8_t bytes[16], hash[crypto_shorthash_BYTES];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    hc_bytes_put_u64(&writer, previous);
    hc_bytes_put_u64(&writer, world_hash);
    int failed = crypto_shorthash(hash, bytes, sizeof bytes, key);
    HC_ASSERT(failed == 0);
    struct hc_reader reader = hc_bytes_reader(hash, sizeof hash);
    return hc_bytes_get_u64(&reader);
}

// ---- Numbers in ranges --------------------------------------------------------------------------

/// Reads a number of at most `max`; beyond it the reader fails.
static uint32_t get_up_to(struct hc_bits_reader *bits, unsigned group, uint32_t max) {
    uint32_t value = hc_bits_get_number(bits, group);
    if (value <= max)
        return value;
    bits->failed = true;
    return 0;
}

/// Reads a tick at most `most` before `tick`; before tick 0 the reader fails.
static hc_tick get_back(struct hc_bits_reader *bits, hc_tick tick, unsigned group, uint32_t most) {
    return tick - get_up_to(bits, group, most < tick ? most : tick);
}

// ---- The header ---------------------------------------------------------------------------------

/// Reads the distance from the newest baseline to as_of - 1: longer than a round trip only while
/// nothing arrives.
static uint32_t get_base_age(struct hc_bits_reader *bits) {
    uint32_t age = hc_bits_get(bits, BASE_BITS);
    if (age == BASE_FAR)
        age += get_up_to(bits, BASE_GROUP, HC_SNAPSHOT_SPAN_MAX - 1 - BASE_FAR);
    return age;
}

static void put_margin(struct hc_bits_writer *bits, const struct hc_margin *margin) {
    int32_t low = margin->low, median = margin->median;
    HC_ASSERT(margin->samples <= HC_MARGIN_SAMPLES && low <= median);
    hc_bits_put_number(bits, margin->samples, SAMPLES_GROUP);
    if (margin->samples == 0)
        return;
    hc_bits_put_number(bits, (uint32_t)(low < 0 ? -2 * low - 1 : 2 * low), MARGIN_GROUP);
    hc_bits_put_number(bits, (uint32_t)(median - low), MARGIN_GROUP);
}

static struct hc_margin get_margin(struct hc_bits_reader *bits) {
    struct hc_margin margin = {.samples =
                                   (uint16_t)get_up_to(bits, SAMPLES_GROUP, HC_MARGIN_SAMPLES)};
    if (margin.samples == 0)
        return margin;
    uint32_t zigzag = get_up_to(bits, MARGIN_GROUP, 2 * HC_MARGIN_MAX + 1);
    int32_t half = (int32_t)(zigzag / 2), low = zigzag % 2 == 0 ? half : -half - 1;
    uint32_t above = get_up_to(bits, MARGIN_GROUP, (uint32_t)(HC_MARGIN_MAX - low));
    margin.low = (int16_t)low;
    margin.median = (int16_t)(low + (int32_t)above);
    return margin;
}

void hc_snapshot_put(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot) {
    HC_ASSERT(snapshot->tick <= snapshot->as_of && snapshot->refused_before <= snapshot->as_of);
    HC_ASSERT(snapshot->final <= snapshot->as_of && snapshot->own_count <= HC_OWN_PLAYERS_MAX);
    bool has_base = snapshot->base != HC_NO_TICK;
    uint32_t age = snapshot->as_of - snapshot->base - 1; // with a base
    HC_ASSERT(!has_base || age < HC_SNAPSHOT_SPAN_MAX);
    hc_bits_put(bits, snapshot->as_of & UINT16_MAX, 16);
    hc_bits_put_number(bits, snapshot->phase_us, 8);
    hc_bits_put_number(bits, snapshot->ack_delay_us, 8);
    hc_bits_put_number(bits, snapshot->as_of - snapshot->tick, 4);
    hc_bits_put_number(bits, snapshot->as_of - snapshot->refused_before, 5);
    hc_bits_put_number(bits, snapshot->as_of - snapshot->final, 4);
    hc_bits_put(bits, snapshot->hash, 32);
    hc_bits_put(bits, snapshot->has_chain, 1);
    if (snapshot->has_chain)
        hc_bits_put_u64(bits, snapshot->chain);
    hc_bits_put(bits, has_base, 1);
    if (has_base)
        hc_bits_put(bits, age < BASE_FAR ? age : BASE_FAR, BASE_BITS);
    if (has_base && age >= BASE_FAR)
        hc_bits_put_number(bits, age - BASE_FAR, BASE_GROUP);
    if (has_base)
        hc_bits_put(bits, snapshot->how, HOW_BITS);
    for (unsigned i = 0; i < snapshot->own_count; i++)
        hc_bits_put_number(bits, snapshot->inputs_through[i] + 1 - snapshot->tick, 3);
    hc_bits_put(bits, snapshot->has_margin, 1);
    if (snapshot->has_margin)
        put_margin(bits, &snapshot->margin);
    HC_ASSERT(snapshot->inputs_before <= HC_SNAPSHOT_INPUTS_BEFORE &&
              snapshot->inputs_before <= snapshot->tick);
    hc_bits_put_number(bits, snapshot->inputs_before, INPUTS_GROUP);
}

/// The tick nearest to `near` with the low half `low`.
static hc_tick widen(uint32_t low, hc_tick near) {
    int32_t away = (int16_t)(uint16_t)(low - near);
    return near + (hc_tick)away;
}

void hc_snapshot_get(struct hc_bits_reader *bits, hc_tick near, uint8_t own_count,
                     struct hc_snapshot *out) {
    *out = (struct hc_snapshot){.own_count = own_count, .base = HC_NO_TICK};
    out->as_of = widen(hc_bits_get(bits, 16), near);
    bits->failed |= out->as_of > HC_SNAPSHOT_TICK_MAX; // or it overflowed
    out->phase_us = get_up_to(bits, 8, HC_PHASE_MAX_US);
    out->ack_delay_us = get_up_to(bits, 8, HC_ACK_DELAY_MAX_US);
    out->tick = get_back(bits, out->as_of, 4, HC_HISTORY_MAX);
    out->refused_before = get_back(bits, out->as_of, 5, HC_HISTORY_MAX);
    out->final = get_back(bits, out->as_of, 4, HC_HISTORY_MAX);
    out->hash = hc_bits_get(bits, 32);
    out->has_chain = hc_bits_get(bits, 1) != 0;
    if (out->has_chain)
        out->chain = hc_bits_get_u64(bits);
    if (hc_bits_get(bits, 1) != 0) {
        uint32_t age = get_base_age(bits) + 1;
        bits->failed |= age > out->as_of;
        out->base = out->as_of - age;
        uint32_t how = hc_bits_get(bits, HOW_BITS);
        bits->failed |= how > HC_EXTRAPOLATION_STEP;
        out->how =
            how <= HC_EXTRAPOLATION_STEP ? (enum hc_extrapolation)how : HC_EXTRAPOLATION_HOLD;
    }
    for (unsigned i = 0; i < own_count; i++) {
        hc_tick next = out->tick + get_up_to(bits, 3, HC_SNAPSHOT_SPAN_MAX);
        bits->failed |= next == 0; // there is no tick before 0
        out->inputs_through[i] = next - 1;
    }
    out->has_margin = hc_bits_get(bits, 1) != 0;
    if (out->has_margin)
        out->margin = get_margin(bits);
    uint32_t most = hc_tick_min(out->tick, HC_SNAPSHOT_INPUTS_BEFORE);
    out->inputs_before = get_up_to(bits, INPUTS_GROUP, most);
}

// ---- Forced inputs, roster changes --------------------------------------------------------------

void hc_snapshot_put_lists(struct hc_bits_writer *bits, hc_tick tick, size_t most,
                           struct hc_snapshot_lists *lists) {
    lists->forced_written = lists->changes_written = 0;
    for (uint32_t i = 0; i < lists->forced_count && hc_bits_written(bits) + LISTED_BITS <= most;
         i++) {
        const struct hc_snapshot_forced *forced = &lists->forced[i];
        HC_ASSERT(forced->own < HC_OWN_PLAYERS_MAX && forced->first <= tick && forced->count >= 1);
        hc_bits_put(bits, 1, 1);
        hc_bits_put(bits, forced->own, 2);
        hc_bits_put_number(bits, tick - forced->first, 5);
        hc_bits_put_number(bits, forced->count - 1, 3);
        lists->forced_written++;
    }
    hc_bits_put(bits, 0, 1);
    for (uint32_t i = 0; i < lists->change_count && hc_bits_written(bits) + LISTED_BITS <= most;
         i++) {
        const struct hc_snapshot_roster *change = &lists->changes[i];
        HC_ASSERT(change->roster_change != HC_ROSTER_NONE);
        uint32_t ahead = change->tick - tick;
        bool before = change->tick < tick;
        hc_bits_put(bits, 1, 1);
        hc_bits_put_number(bits, change->player, 6);
        hc_bits_put_number(bits, before ? (0 - ahead) * 2 - 1 : ahead * 2, 4);
        hc_bits_put(bits, change->roster_change == HC_ROSTER_LEAVE, 1);
        lists->changes_written++;
    }
    hc_bits_put(bits, 0, 1);
}

bool hc_snapshot_get_forced(struct hc_bits_reader *bits, const struct hc_snapshot *snapshot,
                            struct hc_snapshot_forced *out) {
    if (hc_bits_get(bits, 1) == 0)
        return false;
    out->own = (uint8_t)hc_bits_get(bits, 2);
    out->first = get_back(bits, snapshot->tick, 5, HC_SNAPSHOT_SPAN_MAX);
    out->count = get_up_to(bits, 3, HC_INPUT_RUN_MAX - 1) + 1;
    bits->failed |= out->own >= snapshot->own_count;
    return !bits->failed;
}

bool hc_snapshot_get_roster(struct hc_bits_reader *bits, const struct hc_world *world, hc_tick tick,
                            struct hc_snapshot_roster *out) {
    if (hc_bits_get(bits, 1) == 0)
        return false;
    out->player = (hc_player)get_up_to(bits, 6, world->players - 1u);
    uint32_t away = get_up_to(bits, 4, 2 * HC_SNAPSHOT_SPAN_MAX), by = (away + 1) / 2;
    bits->failed |= away % 2 != 0 && by > tick;
    out->tick = away % 2 != 0 ? tick - by : tick + by;
    out->roster_change = hc_bits_get(bits, 1) != 0 ? HC_ROSTER_LEAVE : HC_ROSTER_JOIN;
    return !bits->failed;
}

// ---- Names --------------------------------------------------------------------------------------

static hc_unit get_gap(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit next,
                       unsigned group) {
    uint32_t units = hc_unit_total(world);
    if (next >= units) {
        bits->failed = true;
        return 0;
    }
    return (hc_unit)(next + get_up_to(bits, group, units - 1 - next));
}

/// Appends the runs of units of `base` that are sent against it, all but `others` of the units.
static void put_again(struct hc_bits_writer *bits, const struct hc_snapshot_set *base,
                      const struct hc_snapshot_unit *units, uint32_t count, uint32_t others) {
    uint16_t runs[HC_SNAPSHOT_UNITS_MAX + 1]; // sent and skipped ones alternate
    uint32_t run = 0, sum = 0;
    bool all = count - others == base->count;
    if (base->count > 0)
        hc_bits_put(bits, all, 1);
    if (all)
        return;
    runs[0] = 0;
    for (uint32_t i = 0, at = 0; at < base->count; at++) {
        while (i < count && (units[i].from != HC_SNAPSHOT_BASE || units[i].unit < base->units[at]))
            i++;
        bool sent = i < count && units[i].unit == base->units[at];
        if (sent != (run % 2 == 0))
            runs[++run] = 0;
        runs[run]++;
        sum += sent;
    }
    HC_ASSERT(sum + others == count);
    hc_bits_put_number(bits, runs[0], SENT_GROUP);
    for (uint32_t i = 1; i <= run; i++)
        hc_bits_put_number(bits, runs[i] - 1u, i % 2 == 0 ? SENT_GROUP : SKIPPED_GROUP);
}

/// Reads the units of `base` that are sent against it to `out`; returns their number.
static uint32_t get_again(struct hc_bits_reader *bits, const struct hc_snapshot_set *base,
                          struct hc_snapshot_unit *out) {
    uint32_t count = 0, at = 0;
    if (base->count == 0)
        return 0;
    bool all = hc_bits_get(bits, 1) != 0;
    uint32_t run = all ? base->count : get_up_to(bits, SENT_GROUP, base->count - 1);
    for (bool sends = true; !bits->failed; sends = !sends) {
        for (; run > 0; run--, at++)
            if (sends)
                out[count++] = (struct hc_snapshot_unit){
                    .unit = base->units[at], .from = HC_SNAPSHOT_BASE, .as_of = HC_NO_TICK};
        if (at == base->count)
            return count;
        run = get_up_to(bits, sends ? SKIPPED_GROUP : SENT_GROUP, base->count - at - 1) + 1;
    }
    return 0;
}

void hc_snapshot_put_names(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                           const struct hc_snapshot_set *base, const struct hc_snapshot_unit *units,
                           uint32_t count) {
    // By enum hc_snapshot_from; the likelier, the shorter.
    static const struct { uint8_t value, bits; } codes[] = {{0, 0}, {1, 1}, {2, 2}, {0, 2}};
    uint32_t others = 0;
    hc_unit next = 0;
    HC_ASSERT(count <= HC_SNAPSHOT_UNITS_MAX && base->count <= HC_SNAPSHOT_UNITS_MAX);
    for (uint32_t i = 0; i < count; i++)
        others += units[i].from != HC_SNAPSHOT_BASE;
    put_again(bits, base, units, count, others);
    hc_bits_put_number(bits, others, OTHERS_GROUP);
    for (uint32_t i = 0; i < count; i++) {
        const struct hc_snapshot_unit *unit = &units[i];
        if (unit->from == HC_SNAPSHOT_BASE)
            continue;
        HC_ASSERT(unit->unit >= next);
        hc_bits_put_number(bits, unit->unit - next, OTHERS_GROUP);
        next = (hc_unit)(unit->unit + 1);
        hc_bits_put(bits, codes[unit->from].value, codes[unit->from].bits);
        if (unit->from != HC_SNAPSHOT_OLDER)
            continue;
        HC_ASSERT(unit->as_of < snapshot->base &&
                  snapshot->base - unit->as_of <= HC_SNAPSHOT_AGE_MAX);
        hc_bits_put(bits, snapshot->base - unit->as_of - 1, AGE_BITS);
    }
}

static void get_other(struct hc_bits_reader *bits, const struct hc_world *world,
                      const struct hc_snapshot *snapshot, hc_unit next,
                      struct hc_snapshot_unit *out) {
    *out = (struct hc_snapshot_unit){.unit = get_gap(bits, world, next, OTHERS_GROUP),
                                     .from = HC_SNAPSHOT_OLDER,
                                     .as_of = HC_NO_TICK};
    if (hc_bits_get(bits, 1) != 0) {
        uint32_t age = hc_bits_get(bits, AGE_BITS) + 1;
        bits->failed |= snapshot->base == HC_NO_TICK || age > snapshot->base;
        out->as_of = snapshot->base - age;
    } else {
        out->from = hc_bits_get(bits, 1) != 0 ? HC_SNAPSHOT_NOTHING : HC_SNAPSHOT_DROPPED;
    }
}

/// Inserts `unit` into the `count` units in ascending order; false: it is there already.
static bool sort_in(struct hc_snapshot_unit *units, uint32_t count,
                    const struct hc_snapshot_unit *unit) {
    uint32_t at = count;
    while (at > 0 && units[at - 1].unit > unit->unit)
        at--;
    if (at > 0 && units[at - 1].unit == unit->unit)
        return false;
    memmove(units + at + 1, units + at, (count - at) * sizeof *units);
    units[at] = *unit;
    return true;
}

uint32_t hc_snapshot_get_names(struct hc_bits_reader *bits, const struct hc_world *world,
                               const struct hc_snapshot *snapshot,
                               const struct hc_snapshot_set *base,
                               struct hc_snapshot_unit out[HC_SNAPSHOT_UNITS_MAX]) {
    uint32_t count = get_again(bits, base, out);
    uint32_t others = get_up_to(bits, OTHERS_GROUP, HC_SNAPSHOT_UNITS_MAX - count);
    hc_unit next = 0;
    for (; others > 0 && !bits->failed; others--) {
        struct hc_snapshot_unit unit;
        get_other(bits, world, snapshot, next, &unit);
        next = (hc_unit)(unit.unit + 1);
        bits->failed |= !bits->failed && !sort_in(out, count, &unit);
        count++;
    }
    return bits->failed ? 0 : count;
}

// ---- Inputs -------------------------------------------------------------------------------------

/// Known inputs in a row: the ticks [first, end).
struct run {
    hc_tick first, end;
};

/// Writes the next run of wanted inputs from `from` on to `*run`; false: there are no more. The
/// input that the value itself names is left out.
static bool next_run(const struct hc_timeline *timeline, const struct hc_unit_value *value,
                     const struct hc_snapshot_inputs *wanted, hc_tick from, struct run *run) {
    run->first = run->end = from;
    for (; run->end < wanted->end && run->end - run->first < HC_INPUT_RUN_MAX; run->end++) {
        bool known = hc_timeline_input(timeline, wanted->player, run->end) != NULL &&
                     (run->end >= value->tick || run->end != value->known);
        if (!known && run->end > run->first)
            break;
        run->first += !known;
    }
    return run->end > run->first;
}

void hc_snapshot_put_inputs(struct hc_bits_writer *bits, const struct hc_timeline *timeline,
                            const struct hc_value_codec *codec, const struct hc_unit_value *value,
                            const struct hc_snapshot_inputs *wanted) {
    const uint8_t *before = value->input;
    uint32_t run_count = 0;
    const hc_tick from = wanted->first;
    hc_tick next = value->tick - wanted->before;
    struct run run = {.end = from};
    HC_ASSERT(wanted->first >= next && wanted->end <= value->tick + HC_SNAPSHOT_INPUTS_MAX);
    while (next_run(timeline, value, wanted, run.end, &run))
        run_count++;
    hc_bits_put_number(bits, run_count, 1);
    for (run.end = from; next_run(timeline, value, wanted, run.end, &run); next = run.end) {
        hc_bits_put_number(bits, run.first - next, 1);
        hc_bits_put_number(bits, run.end - run.first - 1, 2);
        for (hc_tick t = run.first; t < run.end; t++) {
            const uint8_t *input = hc_timeline_input(timeline, wanted->player, t);
            hc_value_put_input(bits, codec, before, input);
            before = input;
        }
    }
}

uint32_t hc_snapshot_get_runs(struct hc_bits_reader *bits) {
    return get_up_to(bits, 1, HC_SNAPSHOT_INPUTS_MAX);
}

uint32_t hc_snapshot_get_run(struct hc_bits_reader *bits, hc_tick next, hc_tick *first) {
    *first = next + get_up_to(bits, 1, HC_SNAPSHOT_INPUTS_MAX);
    return get_up_to(bits, 2, HC_INPUT_RUN_MAX - 1) + 1;
}

// ---- Corrections --------------------------------------------------------------------------------

void hc_snapshot_put_corrections(struct hc_bits_writer *bits, const struct hc_snapshot *snapshot,
                                 hc_tick before, hc_tick at,
                                 const struct hc_snapshot_correction *corrections, uint32_t count) {
    hc_unit next = 0;
    HC_ASSERT(at < before && count >= 1);
    hc_bits_put(bits, 1, 1);
    hc_bits_put_number(bits, before - at - 1, 3);
    hc_bits_put_number(bits, count - 1, 3);
    for (uint32_t i = 0; i < count && !hc_bits_failed(bits); i++) {
        const struct hc_snapshot_correction *correction = &corrections[i];
        bool has_base = correction->as_of != HC_NO_TICK;
        HC_ASSERT(correction->unit >= next);
        hc_bits_put_number(bits, correction->unit - next, CORRECTION_GROUP);
        next = (hc_unit)(correction->unit + 1);
        hc_bits_put(bits, has_base, 1);
        if (has_base) {
            hc_bits_put(bits, snapshot->as_of - correction->as_of - 1, CORRECTION_BITS);
            hc_bits_put(bits, correction->same, 1);
        }
        hc_bits_append(bits, correction->value, correction->bits);
    }
}

bool hc_snapshot_get_correction_tick(struct hc_bits_reader *bits, hc_tick before, hc_tick *at,
                                     uint32_t *count) {
    if (hc_bits_get(bits, 1) == 0)
        return false;
    bits->failed |= before == 0;
    *at = bits->failed ? 0 : get_back(bits, before - 1, 3, HC_HISTORY_MAX);
    *count = get_up_to(bits, 3, UINT16_MAX) + 1;
    return !bits->failed;
}

void hc_snapshot_get_correction(struct hc_bits_reader *bits, const struct hc_world *world,
                                const struct hc_snapshot *snapshot, hc_unit next,
                                struct hc_snapshot_correction *out) {
    *out = (struct hc_snapshot_correction){.unit = get_gap(bits, world, next, CORRECTION_GROUP),
                                           .as_of = HC_NO_TICK};
    if (hc_bits_get(bits, 1) == 0)
        return;
    uint32_t age = hc_bits_get(bits, CORRECTION_BITS) + 1;
    bits->failed |= age > snapshot->as_of;
    out->as_of = snapshot->as_of - age;
    out->same = hc_bits_get(bits, 1) != 0;
}

// ---- The message --------------------------------------------------------------------------------

bool hc_snapshot_put_message(struct hc_writer *body, const uint8_t *packed, size_t size) {
    struct hc_writer before = *body;
    hc_pack_array(body, MESSAGE_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_SNAPSHOT);
    hc_pack_bin(body, size);
    hc_pack_bin_body(body, packed, size);
    return hc_body_commit(body, &before);
}

enum hc_status hc_snapshot_get_message(const struct hc_body *body, struct hc_bits_reader *bits) {
    struct hc_values values = hc_body_values(body);
    size_t size = 0;
    const uint8_t *packed = hc_values_binary(&values, &size);
    *bits = hc_bits_reader(packed, size);
    return hc_values_done(&values);
}
