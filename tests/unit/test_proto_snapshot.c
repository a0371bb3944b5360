/// Tests proto/snapshot: encoding and decoding for any world and history, and decoding of any bits.
#include "common/extrapolate.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/snapshot.h"
#include "tests/run_suite.h"
#include "tests/sim/games.h"
#include "tests/unit/small_game.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 600,
    BITS_ROOM = 1 << 16, ///< bytes, more than any snapshot below takes
    LIST_MAX = 8,        ///< forced ranges, and roster changes
    UNITS_MAX = 64,
    CORRECTIONS_MAX = 24,
    INPUTS_MAX = 4096,
    VALUE_ROOM = HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX),
};

static const struct hc_game *const games[] = {&hc_arena, &lanes, &small_game};

/// A unit with its value, or a correction.
struct item {
    struct hc_snapshot_unit unit;
    struct hc_snapshot_correction correction;
    struct hc_unit_value value;
    uint8_t room[VALUE_ROOM];
};

struct known_input {
    hc_player player;
    hc_tick tick;
    uint8_t input[HC_INPUT_MAX];
};

/// All contents of a snapshot.
struct contents {
    struct hc_snapshot head;
    uint32_t forced_count, roster_count, unit_count, correction_count, input_count;
    struct hc_snapshot_forced forced[LIST_MAX];
    struct hc_snapshot_roster roster_changes[LIST_MAX];
    struct item units[UNITS_MAX], corrections[CORRECTIONS_MAX];
    struct known_input inputs[INPUTS_MAX];
};

static struct hc_world world;
static struct hc_value_codec codec;
static struct hc_timeline *timeline; ///< knows the inputs that are sent
static struct contents sent, received;
static struct hc_snapshot_set again; ///< the units of the newest baseline, if there is one
static uint8_t buffer[BITS_ROOM];
static uint32_t round_number;

// ---- Random contents ----------------------------------------------------------------------------

/// Creates an authority with inputs at some ticks, before and after its head.
static void random_history(struct hc_rng *rng) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.history = 1 + hc_rng_below(rng, 40);
    config.future = 1 + hc_rng_below(rng, 40);
    timeline = hc_timeline_create(&config);
    ck_assert(timeline != NULL);
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < world.players; p++)
        if (hc_rng_below(rng, 4) > 0)
            hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN);
    uint32_t known_ppm = hc_rng_below(rng, 1000001), ticks = 1 + hc_rng_below(rng, 60);
    for (hc_tick t = 0; t < ticks; t++)
        hc_timeline_advance(timeline);
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick head = hc_timeline_head(timeline);
    for (hc_player p = 0; p < world.players; p++)
        for (hc_tick t = hc_tick_back(head, config.history); t <= head + config.future; t++) {
            for (uint32_t f = 0; f < world.game->input_field_count; f++)
                if (hc_rng_below(rng, 6) == 0)
                    hc_field_set(&world.game->input_fields[f], input, hc_rng_below(rng, 2));
            if (hc_rng_chance(rng, known_ppm))
                hc_timeline_put_input(timeline, p, t, input);
        }
}

/// The distance of a base to as_of - 1: short ones, and those about and above the limit of 6 bits.
static uint32_t random_base_age(struct hc_rng *rng, hc_tick as_of) {
    static const uint32_t ranges[][2] = {
        {0, 64}, {60, 10}, {60, 300}, {0, HC_SNAPSHOT_SPAN_MAX}, {HC_SNAPSHOT_SPAN_MAX - 3, 3}};
    const uint32_t *range = ranges[hc_rng_below(rng, sizeof ranges / sizeof ranges[0])];
    uint32_t age = range[0] + hc_rng_below(rng, range[1]);
    return hc_tick_min(age, as_of - 1);
}

/// A margin of any size, often at a limit; mostly none.
static void random_margin(struct hc_rng *rng, struct hc_snapshot *head) {
    static const uint32_t spans[] = {1, 100, 2 * HC_MARGIN_MAX + 2};
    head->has_margin = hc_rng_below(rng, 3) == 0;
    if (!head->has_margin)
        return;
    head->margin.samples = (uint16_t)hc_rng_below(rng, HC_MARGIN_SAMPLES + 1);
    if (head->margin.samples == 0)
        return;
    int32_t low = (int32_t)hc_rng_below(rng, spans[hc_rng_below(rng, 3)]) - HC_MARGIN_MAX - 1;
    int32_t above = (int32_t)hc_rng_below(rng, spans[hc_rng_below(rng, 3)]);
    low = hc_rng_below(rng, 2) == 0 ? low : -1 - low;
    head->margin.low = (int16_t)low;
    head->margin.median = (int16_t)(above > HC_MARGIN_MAX - low ? HC_MARGIN_MAX : low + above);
}

static void random_header(struct hc_rng *rng, struct hc_snapshot *head) {
    hc_tick now = hc_timeline_head(timeline);
    *head = (struct hc_snapshot){.as_of = now,
                                 .phase_us = hc_rng_below(rng, HC_PHASE_MAX_US + 1),
                                 .ack_delay_us = hc_rng_below(rng, HC_ACK_DELAY_MAX_US + 1),
                                 .hash = (uint32_t)hc_rng_next(rng),
                                 .has_chain = hc_rng_below(rng, 2) == 0,
                                 .base = HC_NO_TICK,
                                 .own_count = (uint8_t)hc_rng_below(rng, HC_OWN_PLAYERS_MAX + 1)};
    if (hc_rng_below(rng, 4) == 0) // a head that the timeline does not have
        head->as_of = hc_rng_below(rng, 2) == 0 ? HC_SNAPSHOT_TICK_MAX : (hc_tick)1 << 20;
    head->tick = hc_tick_back(head->as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    head->refused_before = hc_tick_back(head->as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    head->final = hc_tick_back(head->as_of, hc_rng_below(rng, HC_HISTORY_MAX + 1));
    if (head->as_of == now)
        head->tick = hc_tick_max(head->tick, hc_timeline_oldest(timeline));
    if (head->has_chain)
        head->chain = hc_rng_next(rng);
    if (hc_rng_below(rng, 3) > 0 && head->as_of > 0)
        head->base = head->as_of - 1 - random_base_age(rng, head->as_of);
    if (head->base != HC_NO_TICK)
        head->how = (enum hc_extrapolation)hc_rng_below(rng, HC_EXTRAPOLATION_STEP + 1);
    for (uint32_t i = 0; i < head->own_count; i++)
        head->inputs_through[i] = head->tick + hc_rng_below(rng, 400) - (head->tick > 0);
    random_margin(rng, head);
    uint32_t most = hc_rng_below(rng, 2) * HC_SNAPSHOT_INPUTS_BEFORE;
    head->inputs_before = hc_rng_below(rng, hc_tick_min(head->tick, most) + 1);
}

static void random_lists(struct hc_rng *rng, struct contents *contents) {
    hc_tick tick = contents->head.tick;
    contents->forced_count = contents->head.own_count == 0 ? 0 : hc_rng_below(rng, LIST_MAX);
    for (uint32_t i = 0; i < contents->forced_count; i++)
        contents->forced[i] =
            (struct hc_snapshot_forced){.own = (uint8_t)hc_rng_below(rng, contents->head.own_count),
                                        .first = hc_tick_back(tick, hc_rng_below(rng, 2000)),
                                        .count = 1 + hc_rng_below(rng, HC_INPUT_RUN_MAX)};
    contents->roster_count = hc_rng_below(rng, LIST_MAX);
    for (uint32_t i = 0; i < contents->roster_count; i++)
        contents->roster_changes[i] = (struct hc_snapshot_roster){
            .player = (hc_player)hc_rng_below(rng, world.players),
            .tick = hc_tick_back(tick, hc_rng_below(rng, 900)) + hc_rng_below(rng, 900),
            .roster_change = hc_rng_below(rng, 2) == 0 ? HC_ROSTER_JOIN : HC_ROSTER_LEAVE};
}

/// A random value of `unit` at `tick`, with its owner's input in the timeline.
static void random_value(struct hc_rng *rng, hc_unit unit, hc_tick tick, struct item *item) {
    hc_player player = hc_unit_player(&world, unit);
    hc_unit_place(&world, &item->value, item->room);
    hc_extrapolate_absent(&world, unit, tick, &item->value);
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(timeline, player, tick, &item->value.known, item->value.input);
    for (uint32_t e = 0; e < hc_unit_count(&world, unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(&world, (hc_entity)(hc_unit_first(&world, unit) + e));
        if (hc_rng_below(rng, 2) == 0)
            continue;
        item->value.presence[e] = HC_ALIVE;
        for (uint32_t f = 0; f < kind->field_count; f++)
            hc_field_set(&kind->fields[f], item->value.states + (size_t)e * world.stride,
                         hc_rng_below(rng, 2));
    }
}

/// The inputs that go with a player's value; of every second player those from the tick shown on.
static struct hc_snapshot_inputs inputs_of(const struct hc_snapshot *head, hc_player player) {
    hc_tick first = head->tick - head->inputs_before * (player % 2);
    hc_tick end = hc_timeline_head(timeline) + 41;
    return (struct hc_snapshot_inputs){player, head->inputs_before, first, end};
}

static void note_inputs(struct contents *contents, hc_player player, hc_tick known) {
    struct hc_snapshot_inputs inputs = inputs_of(&contents->head, player);
    for (hc_tick t = inputs.first; t < inputs.end; t++) {
        if (t == known || hc_timeline_slot(timeline, player, t) != HC_SLOT_KNOWN)
            continue; // it stands in the value
        struct known_input *input = &contents->inputs[contents->input_count++];
        ck_assert_uint_le(contents->input_count, INPUTS_MAX);
        *input = (struct known_input){.player = player, .tick = t};
        memcpy(input->input, hc_timeline_input(timeline, player, t), world.game->input_size);
    }
}

static void random_units(struct hc_rng *rng, struct contents *contents) {
    const struct hc_snapshot *head = &contents->head;
    uint32_t skip_one_in = 3 + 60 * hc_rng_below(rng, 2);
    again.count = 0;
    for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++) {
        bool there = head->base != HC_NO_TICK && hc_rng_below(rng, 4) > 0;
        if (there)
            again.units[again.count++] = unit;
        if (hc_rng_below(rng, skip_one_in) == 0)
            continue;
        struct item *item = &contents->units[contents->unit_count++];
        ck_assert_uint_le(contents->unit_count, UNITS_MAX);
        item->unit = (struct hc_snapshot_unit){
            .unit = unit, .from = (enum hc_snapshot_from)hc_rng_below(rng, 4), .as_of = HC_NO_TICK};
        if (there && hc_rng_below(rng, skip_one_in) > 0)
            item->unit.from = HC_SNAPSHOT_BASE;
        if ((item->unit.from == HC_SNAPSHOT_BASE && !there) ||
            (item->unit.from == HC_SNAPSHOT_OLDER && (head->base == HC_NO_TICK || head->base == 0)))
            item->unit.from = HC_SNAPSHOT_NOTHING;
        if (item->unit.from == HC_SNAPSHOT_OLDER)
            item->unit.as_of =
                head->base - 1 - hc_rng_below(rng, hc_tick_min(head->base, HC_SNAPSHOT_AGE_MAX));
        if (item->unit.from == HC_SNAPSHOT_DROPPED)
            continue;
        random_value(rng, unit, head->tick, item);
        if (hc_unit_player(&world, unit) != HC_NO_PLAYER)
            note_inputs(contents, hc_unit_player(&world, unit), item->value.known);
    }
}

static void random_corrections(struct hc_rng *rng, struct contents *contents) {
    const struct hc_snapshot *head = &contents->head;
    uint32_t age_max = hc_tick_min(head->as_of, HC_SNAPSHOT_CORRECTION_AGE);
    for (hc_tick at = head->tick; at > 0 && contents->correction_count < CORRECTIONS_MAX / 2;) {
        at -= 1 + hc_rng_below(rng, hc_tick_min(at, 30));
        for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++) {
            if (hc_rng_below(rng, 3) > 0 || contents->correction_count == CORRECTIONS_MAX)
                continue;
            struct item *item = &contents->corrections[contents->correction_count++];
            item->correction = (struct hc_snapshot_correction){.unit = unit, .as_of = HC_NO_TICK};
            if (age_max > 0 && hc_rng_below(rng, 3) > 0) {
                item->correction.as_of = head->as_of - 1 - hc_rng_below(rng, age_max);
                item->correction.same = hc_rng_below(rng, 2) == 0;
            }
            random_value(rng, unit, at, item);
        }
    }
}

/// Clears the header and the counts.
static void clear(struct contents *contents) {
    memset(&contents->head, 0, sizeof contents->head);
    contents->forced_count = contents->roster_count = 0;
    contents->unit_count = contents->correction_count = contents->input_count = 0;
}

/// Creates a random world, its history, and a snapshot of it.
static struct hc_rng random_snapshot(uint32_t round) {
    struct hc_rng rng = hc_rng_init(41, round);
    round_number = round;
    ck_assert_int_eq(hc_world_init(&world, games[hc_rng_below(&rng, 3)],
                                   (uint16_t)(1 + hc_rng_below(&rng, 8)), 60, 5, NULL),
                     HC_OK);
    hc_value_codec_init(&codec, &world);
    random_history(&rng);
    clear(&sent);
    random_header(&rng, &sent.head);
    random_lists(&rng, &sent);
    random_units(&rng, &sent);
    random_corrections(&rng, &sent);
    return rng;
}

static void forget(void) {
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

// ---- Writing ------------------------------------------------------------------------------------

/// Both sides encode and decode all values without a baseline.
static void put_value(struct hc_bits_writer *bits, hc_unit unit, const struct item *item) {
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP, .codec = &codec, .unit = unit};
    hc_value_put(bits, &base, NULL, &item->value);
}

static void put_units(struct hc_bits_writer *bits, const struct contents *contents) {
    struct hc_snapshot_unit units[UNITS_MAX];
    for (uint32_t i = 0; i < contents->unit_count; i++)
        units[i] = contents->units[i].unit;
    hc_snapshot_put_names(bits, &contents->head, &again, units, contents->unit_count);
    for (uint32_t i = 0; i < contents->unit_count; i++) {
        const struct item *item = &contents->units[i];
        hc_player player = hc_unit_player(&world, item->unit.unit);
        if (item->unit.from == HC_SNAPSHOT_DROPPED)
            continue;
        put_value(bits, item->unit.unit, item);
        struct hc_snapshot_inputs inputs = inputs_of(&contents->head, player);
        if (player != HC_NO_PLAYER)
            hc_snapshot_put_inputs(bits, timeline, &codec, &item->value, &inputs);
    }
}

static void put_corrections(struct hc_bits_writer *bits, const struct contents *contents) {
    static uint8_t values[CORRECTIONS_MAX][1024];
    struct hc_snapshot_correction corrections[CORRECTIONS_MAX];
    hc_tick before = contents->head.tick;
    for (uint32_t i = 0; i < contents->correction_count;) {
        hc_tick at = contents->corrections[i].value.tick;
        uint32_t end = i;
        while (end < contents->correction_count && contents->corrections[end].value.tick == at)
            end++;
        uint32_t first = i;
        for (; i < end; i++) {
            const struct item *item = &contents->corrections[i];
            struct hc_bits_writer value = hc_bits_writer(values[i], sizeof values[i]);
            put_value(&value, item->correction.unit, item);
            corrections[i] = item->correction;
            corrections[i].value = values[i];
            corrections[i].bits = (uint32_t)hc_bits_written(&value);
            hc_bits_finish(&value);
        }
        hc_snapshot_put_corrections(bits, &contents->head, before, at, corrections + first,
                                    end - first);
        before = at;
    }
    hc_bits_put(bits, 0, 1);
}

/// Writes the snapshot; returns the bytes used, 0 when `size` is too small.
static size_t put_all(const struct contents *contents, uint8_t *data, size_t size) {
    struct hc_bits_writer bits = hc_bits_writer(data, size);
    hc_snapshot_put(&bits, &contents->head);
    struct hc_snapshot_lists lists = {.forced = contents->forced,
                                      .forced_count = contents->forced_count,
                                      .changes = contents->roster_changes,
                                      .change_count = contents->roster_count};
    hc_snapshot_put_lists(&bits, contents->head.tick, SIZE_MAX, &lists);
    put_units(&bits, contents);
    put_corrections(&bits, contents);
    return hc_bits_finish(&bits);
}

// ---- Reading ------------------------------------------------------------------------------------

static void get_value(struct hc_bits_reader *bits, hc_unit unit, hc_tick tick, struct item *item) {
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP, .codec = &codec, .unit = unit};
    item->value.tick = tick;
    hc_unit_place(&world, &item->value, item->room);
    hc_value_get(bits, &base, &item->value);
}

static void get_inputs(struct hc_bits_reader *bits, struct contents *contents,
                       const struct item *item) {
    uint8_t input[HC_INPUT_MAX];
    hc_tick next = contents->head.tick - contents->head.inputs_before;
    memcpy(input, item->value.input, sizeof input);
    for (uint32_t runs = hc_snapshot_get_runs(bits); runs > 0 && !bits->failed; runs--) {
        hc_tick first;
        uint32_t count = hc_snapshot_get_run(bits, next, &first);
        ck_assert(bits->failed || (first >= next && count >= 1 && count <= HC_INPUT_RUN_MAX));
        for (next = first; next < first + count && !bits->failed; next++) {
            hc_value_get_input(bits, &codec, input, input);
            if (contents->input_count == INPUTS_MAX)
                bits->failed = true;
            else
                memcpy(contents->inputs[contents->input_count].input, input, sizeof input);
            contents->inputs[contents->input_count].player =
                hc_unit_player(&world, item->unit.unit);
            contents->inputs[contents->input_count].tick = next;
            contents->input_count += !bits->failed;
        }
    }
}

static void get_lists(struct hc_bits_reader *bits, struct contents *contents) {
    struct hc_snapshot_forced forced;
    struct hc_snapshot_roster roster_change;
    while (hc_snapshot_get_forced(bits, &contents->head, &forced)) {
        ck_assert(forced.own < contents->head.own_count && forced.first <= contents->head.tick);
        ck_assert(forced.count >= 1 && forced.count <= HC_INPUT_RUN_MAX);
        if (contents->forced_count < LIST_MAX)
            contents->forced[contents->forced_count++] = forced;
    }
    while (hc_snapshot_get_roster(bits, &world, contents->head.tick, &roster_change)) {
        ck_assert(roster_change.player < world.players && roster_change.tick != HC_NO_TICK);
        ck_assert(roster_change.roster_change == HC_ROSTER_JOIN ||
                  roster_change.roster_change == HC_ROSTER_LEAVE);
        if (contents->roster_count < LIST_MAX)
            contents->roster_changes[contents->roster_count++] = roster_change;
    }
}

static void get_units(struct hc_bits_reader *bits, struct contents *contents) {
    static const struct hc_snapshot_set nothing;
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    bool based = contents->head.base != HC_NO_TICK;
    uint32_t count =
        hc_snapshot_get_names(bits, &world, &contents->head, based ? &again : &nothing, units);
    ck_assert_uint_le(count, HC_SNAPSHOT_UNITS_MAX);
    for (uint32_t i = 0; i < count && !bits->failed && contents->unit_count < UNITS_MAX; i++) {
        struct item *item = &contents->units[contents->unit_count++];
        const struct hc_snapshot_unit *unit = &units[i];
        item->unit = *unit;
        ck_assert(unit->unit < hc_unit_total(&world) && (i == 0 || unit[-1].unit < unit->unit));
        ck_assert(unit->from >= HC_SNAPSHOT_NOTHING || based);
        ck_assert((unit->from == HC_SNAPSHOT_OLDER) == (unit->as_of != HC_NO_TICK));
        ck_assert(unit->as_of == HC_NO_TICK ||
                  (unit->as_of < contents->head.base &&
                   contents->head.base - unit->as_of <= HC_SNAPSHOT_AGE_MAX));
        if (unit->from == HC_SNAPSHOT_DROPPED)
            continue;
        get_value(bits, unit->unit, contents->head.tick, item);
        if (hc_unit_player(&world, unit->unit) != HC_NO_PLAYER)
            get_inputs(bits, contents, item);
    }
}

static void get_corrections(struct hc_bits_reader *bits, struct contents *contents) {
    hc_tick before = contents->head.tick, at;
    uint32_t count;
    while (hc_snapshot_get_correction_tick(bits, before, &at, &count)) {
        hc_unit next = 0;
        ck_assert(at < before && count >= 1);
        for (uint32_t i = 0; i < count && contents->correction_count < CORRECTIONS_MAX; i++) {
            struct item *item = &contents->corrections[contents->correction_count];
            struct hc_snapshot_correction *out = &item->correction;
            hc_snapshot_get_correction(bits, &world, &contents->head, next, out);
            if (bits->failed)
                return;
            contents->correction_count++;
            ck_assert(out->unit >= next && out->unit < hc_unit_total(&world));
            ck_assert(out->as_of == HC_NO_TICK ||
                      (out->as_of < contents->head.as_of &&
                       contents->head.as_of - out->as_of <= HC_SNAPSHOT_CORRECTION_AGE));
            next = (hc_unit)(out->unit + 1);
            get_value(bits, out->unit, at, item);
        }
        before = at;
    }
}

/// Checks that a header that was read is in its ranges.
static void check_range(const struct hc_snapshot *head) {
    ck_assert(head->as_of <= HC_SNAPSHOT_TICK_MAX && head->tick <= head->as_of);
    ck_assert(head->refused_before <= head->as_of && head->final <= head->as_of);
    ck_assert_uint_le(head->as_of - head->tick, HC_HISTORY_MAX);
    ck_assert_uint_le(head->as_of - head->refused_before, HC_HISTORY_MAX);
    ck_assert_uint_le(head->as_of - head->final, HC_HISTORY_MAX);
    ck_assert(head->phase_us <= HC_PHASE_MAX_US && head->ack_delay_us <= HC_ACK_DELAY_MAX_US);
    ck_assert(head->base == HC_NO_TICK ||
              (head->base < head->as_of && head->as_of - head->base <= HC_SNAPSHOT_SPAN_MAX));
    for (uint32_t i = 0; i < head->own_count; i++)
        ck_assert_uint_ge(head->inputs_through[i] + 1, hc_tick_max(head->tick, 1));
    ck_assert(head->margin.samples <= HC_MARGIN_SAMPLES && head->margin.low <= head->margin.median);
}

/// Reads and checks as much as possible; returns whether the bits were a snapshot.
static bool get_all(struct contents *contents, const uint8_t *data, size_t size) {
    struct hc_bits_reader bits = hc_bits_reader(data, size);
    clear(contents);
    hc_snapshot_get(&bits, sent.head.as_of, sent.head.own_count, &contents->head);
    if (bits.failed)
        return false;
    check_range(&contents->head);
    get_lists(&bits, contents);
    get_units(&bits, contents);
    get_corrections(&bits, contents);
    return hc_bits_done(&bits);
}

// ---- Reading back -------------------------------------------------------------------------------

static void compare_headers(const struct hc_snapshot *a, const struct hc_snapshot *b) {
    ck_assert(a->as_of == b->as_of && a->tick == b->tick);
    ck_assert(a->phase_us == b->phase_us && a->ack_delay_us == b->ack_delay_us);
    ck_assert(a->refused_before == b->refused_before && a->final == b->final && a->hash == b->hash);
    ck_assert(a->has_chain == b->has_chain && a->chain == b->chain && a->base == b->base);
    ck_assert(a->own_count == b->own_count);
    ck_assert_mem_eq(a->inputs_through, b->inputs_through, sizeof a->inputs_through);
    ck_assert_uint_eq(a->inputs_before, b->inputs_before);
    ck_assert(a->has_margin == b->has_margin && a->margin.samples == b->margin.samples);
    ck_assert(a->margin.low == b->margin.low && a->margin.median == b->margin.median);
}

static void compare_lists(const struct contents *a, const struct contents *b) {
    ck_assert_uint_eq(a->forced_count, b->forced_count);
    for (uint32_t i = 0; i < a->forced_count; i++)
        ck_assert(a->forced[i].own == b->forced[i].own &&
                  a->forced[i].first == b->forced[i].first &&
                  a->forced[i].count == b->forced[i].count);
    ck_assert_uint_eq(a->roster_count, b->roster_count);
    for (uint32_t i = 0; i < a->roster_count; i++)
        ck_assert(a->roster_changes[i].player == b->roster_changes[i].player &&
                  a->roster_changes[i].tick == b->roster_changes[i].tick &&
                  a->roster_changes[i].roster_change == b->roster_changes[i].roster_change);
}

static void compare_values(hc_unit unit, const struct item *a, const struct item *b) {
    uint32_t count = hc_unit_count(&world, unit);
    ck_assert(a->value.tick == b->value.tick && a->value.known == b->value.known);
    ck_assert_mem_eq(a->value.input, b->value.input, HC_INPUT_MAX);
    ck_assert_mem_eq(a->value.presence, b->value.presence, count);
    ck_assert_mem_eq(a->value.states, b->value.states, (size_t)count * world.stride);
}

static void compare_items(const struct contents *a, const struct contents *b) {
    ck_assert_uint_eq(a->unit_count, b->unit_count);
    for (uint32_t i = 0; i < a->unit_count; i++) {
        const struct hc_snapshot_unit *unit = &a->units[i].unit, *other = &b->units[i].unit;
        ck_assert(unit->unit == other->unit && unit->from == other->from &&
                  unit->as_of == other->as_of);
        if (unit->from != HC_SNAPSHOT_DROPPED)
            compare_values(unit->unit, &a->units[i], &b->units[i]);
    }
    ck_assert_uint_eq(a->correction_count, b->correction_count);
    for (uint32_t i = 0; i < a->correction_count; i++) {
        const struct hc_snapshot_correction *was = &a->corrections[i].correction;
        const struct hc_snapshot_correction *is = &b->corrections[i].correction;
        ck_assert(was->unit == is->unit && was->as_of == is->as_of && was->same == is->same);
        compare_values(was->unit, &a->corrections[i], &b->corrections[i]);
    }
}

START_TEST(every_snapshot_of_any_world_and_history_reads_back) {
    uint32_t inputs = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_snapshot(round);
        size_t used = put_all(&sent, buffer, sizeof buffer);
        ck_assert_msg(used > 0 && get_all(&received, buffer, used), "round %u", round);
        compare_headers(&sent.head, &received.head);
        compare_lists(&sent, &received);
        compare_items(&sent, &received);
        ck_assert_msg(sent.input_count == received.input_count, "round %u", round);
        for (uint32_t i = 0; i < sent.input_count; i++)
            ck_assert(sent.inputs[i].player == received.inputs[i].player &&
                      sent.inputs[i].tick == received.inputs[i].tick &&
                      memcmp(sent.inputs[i].input, received.inputs[i].input,
                             world.game->input_size) == 0);
        inputs += sent.input_count;
        forget();
    }
    ck_assert_uint_gt(inputs, 20 * ROUNDS);
}
END_TEST

START_TEST(the_head_is_read_relative_to_any_tick_near_it) {
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct hc_rng rng = random_snapshot(round);
        hc_tick as_of = sent.head.as_of;
        hc_tick nears[] = {hc_tick_back(as_of, 32767), as_of + 32767,
                           hc_tick_back(as_of, hc_rng_below(&rng, 32768))};
        put_all(&sent, buffer, sizeof buffer);
        for (size_t i = 0; i < sizeof nears / sizeof nears[0]; i++) {
            struct hc_bits_reader bits = hc_bits_reader(buffer, sizeof buffer);
            hc_snapshot_get(&bits, nears[i], sent.head.own_count, &received.head);
            ck_assert_msg(!bits.failed, "round %u, %zu", round, i);
            compare_headers(&sent.head, &received.head);
        }
        forget();
    }
}
END_TEST

START_TEST(a_head_before_the_first_or_after_the_last_tick_is_refused) {
    static const struct {
        hc_tick near, low;
        bool passes;
    } cases[] = {{0, 0, true},
                 {0, 0xffff, false},
                 {100, 100, true},
                 {100, 0xfff0, false},
                 {HC_SNAPSHOT_TICK_MAX, HC_SNAPSHOT_TICK_MAX & 0xffff, true},
                 {HC_SNAPSHOT_TICK_MAX, (HC_SNAPSHOT_TICK_MAX + 1) & 0xffff, false},
                 {HC_NO_TICK - 1, 0xffff, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hc_bits_writer writer = hc_bits_writer(buffer, sizeof buffer);
        hc_snapshot_put(&writer, &(struct hc_snapshot){.as_of = cases[i].low,
                                                       .tick = cases[i].low,
                                                       .refused_before = cases[i].low,
                                                       .final = cases[i].low,
                                                       .base = HC_NO_TICK});
        struct hc_bits_reader reader = hc_bits_reader(buffer, hc_bits_finish(&writer));
        hc_snapshot_get(&reader, cases[i].near, 0, &received.head);
        ck_assert_msg(reader.failed != cases[i].passes, "case %zu", i);
    }
}
END_TEST

START_TEST(inputs_read_back_from_all_ticks_that_a_server_can_know) {
    struct hc_timeline_config config = hc_timeline_config_default();
    uint8_t input[HC_INPUT_MAX] = {0};
    ck_assert_int_eq(hc_world_init(&world, &lanes, 1, 60, 5, NULL), HC_OK);
    hc_value_codec_init(&codec, &world);
    config.world = &world;
    config.history = HC_HISTORY_MAX;
    config.future = HC_FUTURE_MAX;
    for (int every = 2; every <= 1024; every += 1022) { // the most runs, or a late one
        timeline = hc_timeline_create(&config);
        hc_timeline_start(timeline);
        hc_timeline_put_roster(timeline, 0, 0, HC_ROSTER_JOIN);
        for (int i = 0; i < HC_HISTORY_MAX; i++)
            hc_timeline_advance(timeline);
        clear(&sent);
        sent.head.as_of = sent.head.refused_before = sent.head.final = HC_HISTORY_MAX;
        sent.head.base = HC_NO_TICK;
        struct item *item = &sent.units[sent.unit_count++];
        item->unit = (struct hc_snapshot_unit){.unit = 1, .from = HC_SNAPSHOT_NOTHING};
        hc_unit_place(&world, &item->value, item->room);
        hc_extrapolate_absent(&world, 1, 0, &item->value);
        uint32_t known = 0;
        for (hc_tick t = HC_HISTORY_MAX + HC_FUTURE_MAX; t > 0; t -= (hc_tick)every, known++)
            ck_assert_int_eq(hc_timeline_put_input(timeline, 0, t, input), HC_OK);
        struct hc_bits_writer bits = hc_bits_writer(buffer, sizeof buffer);
        hc_snapshot_put(&bits, &sent.head);
        hc_bits_put(&bits, 0, 1);
        hc_bits_put(&bits, 0, 1);
        again.count = 0;
        hc_snapshot_put_names(&bits, &sent.head, &again, &item->unit, 1);
        put_value(&bits, 1, item);
        struct hc_snapshot_inputs all = {.end = HC_SNAPSHOT_INPUTS_MAX};
        hc_snapshot_put_inputs(&bits, timeline, &codec, &item->value, &all);
        hc_bits_put(&bits, 0, 1);
        ck_assert(get_all(&received, buffer, hc_bits_finish(&bits)));
        ck_assert_uint_eq(received.input_count, known);
        ck_assert_uint_eq(received.inputs[known - 1].tick, HC_HISTORY_MAX + HC_FUTURE_MAX);
        hc_timeline_destroy(timeline);
    }
    hc_world_free(&world);
}
END_TEST

// ---- Any bits -----------------------------------------------------------------------------------

static void check_fits(const struct hc_field *fields, unsigned count, const void *state) {
    for (unsigned f = 0; f < count; f++)
        ck_assert_msg(hc_field_fits(&fields[f], hc_field_get(&fields[f], state)), "round %u: %s",
                      round_number, fields[f].name);
}

static void check_value(hc_unit unit, const struct item *item) {
    for (uint32_t e = 0; e < hc_unit_count(&world, unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(&world, (hc_entity)(hc_unit_first(&world, unit) + e));
        ck_assert(item->value.presence[e] == HC_ABSENT || item->value.presence[e] == HC_ALIVE);
        check_fits(kind->fields, kind->field_count, item->value.states + (size_t)e * world.stride);
    }
    check_fits(world.game->input_fields, world.game->input_field_count, item->value.input);
}

/// Checks all values that were read, also those before a failure.
static void check_read(const struct contents *contents) {
    for (uint32_t i = 0; i < contents->unit_count; i++)
        if (contents->units[i].unit.from != HC_SNAPSHOT_DROPPED)
            check_value(contents->units[i].unit.unit, &contents->units[i]);
    for (uint32_t i = 0; i < contents->correction_count; i++)
        check_value(contents->corrections[i].correction.unit, &contents->corrections[i]);
    for (uint32_t i = 0; i < contents->input_count; i++) {
        ck_assert(contents->inputs[i].tick + contents->head.inputs_before >= contents->head.tick &&
                  contents->inputs[i].tick != HC_NO_TICK);
        check_fits(world.game->input_fields, world.game->input_field_count,
                   contents->inputs[i].input);
    }
}

/// Reads a join that is `away` by the encoding: ticks ahead, twice.
static bool reads_roster(uint32_t away) {
    struct hc_snapshot_roster roster;
    uint8_t data[8];
    struct hc_bits_writer writer = hc_bits_writer(data, sizeof data);
    hc_bits_put(&writer, 1, 1);
    hc_bits_put_number(&writer, 0, 6);
    hc_bits_put_number(&writer, away, 4);
    hc_bits_put(&writer, 0, 1);
    struct hc_bits_reader bits = hc_bits_reader(data, hc_bits_finish(&writer));
    return hc_snapshot_get_roster(&bits, &world, 10, &roster);
}

START_TEST(a_roster_change_beyond_the_span_is_refused) {
    (void)random_snapshot(1);
    ck_assert(reads_roster(2 * HC_SNAPSHOT_SPAN_MAX));
    ck_assert(!reads_roster(2 * HC_SNAPSHOT_SPAN_MAX + 2));
    forget();
}
END_TEST

START_TEST(any_bits_are_refused_or_read_as_values_in_their_ranges) {
    uint32_t whole = 0, some = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct hc_rng rng = random_snapshot(round);
        size_t used = put_all(&sent, buffer, sizeof buffer);
        for (int attempt = 0; attempt < 20; attempt++) {
            bool random = hc_rng_below(&rng, 4) == 0;
            size_t size = random ? hc_rng_below(&rng, 1200) : used;
            uint8_t *data = malloc(size + (size == 0)); // exactly, for the sanitizers
            for (size_t i = 0; i < size; i++)
                data[i] = random ? (uint8_t)hc_rng_next(&rng) : buffer[i];
            for (uint32_t flips = 1 + hc_rng_below(&rng, 4); flips > 0 && size > 0; flips--) {
                // Half of the time behind the header, so that some bits get there.
                uint32_t from = hc_rng_below(&rng, 2) == 0 && size > 40 ? 40 : 0;
                data[from + hc_rng_below(&rng, (uint32_t)size - from)] ^=
                    (uint8_t)(1u << hc_rng_below(&rng, 8));
            }
            whole += get_all(&received, data, size);
            some += received.unit_count > 0;
            check_read(&received);
            free(data);
        }
        forget();
    }
    ck_assert_uint_gt(whole, ROUNDS);
    ck_assert_uint_gt(some, 5 * ROUNDS);
}
END_TEST

START_TEST(a_shortened_snapshot_is_refused_and_a_full_writer_is_not_overrun) {
    for (uint32_t round = 0; round < ROUNDS / 20; round++) {
        random_snapshot(round);
        size_t used = put_all(&sent, buffer, sizeof buffer);
        for (size_t size = 0; size < used; size += 1 + size / 16) {
            uint8_t *data = malloc(size + 1);
            data[size] = 0xa5;
            ck_assert_msg(put_all(&sent, data, size) == 0, "round %u", round);
            ck_assert_uint_eq(data[size], 0xa5);
            ck_assert_msg(!get_all(&received, buffer, size), "round %u", round);
            free(data);
        }
        ck_assert_uint_eq(put_all(&sent, buffer, used), used);
        forget();
    }
}
END_TEST

START_TEST(a_message_reads_back_if_it_fits_with_its_overhead) {
    static struct hc_body body;
    uint8_t packed[HC_DATA_BODY_MAX], bytes[HC_DATA_BODY_MAX];
    struct hc_rng rng = hc_rng_init(42, 0);
    for (size_t size = 0; size <= HC_DATA_BODY_MAX - HC_SNAPSHOT_OVERHEAD; size += 1 + size / 9) {
        for (size_t i = 0; i < size; i++)
            packed[i] = (uint8_t)hc_rng_next(&rng);
        struct hc_writer writer = hc_bytes_writer(bytes, size + 1);
        ck_assert(!hc_snapshot_put_message(&writer, packed, size));
        ck_assert(writer.at == 0 && !writer.failed);
        writer = hc_bytes_writer(bytes, size + HC_SNAPSHOT_OVERHEAD);
        ck_assert(hc_snapshot_put_message(&writer, packed, size));
        ck_assert_int_eq(hc_body_begin(&body, bytes, writer.at), HC_OK);
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
        struct hc_bits_reader bits;
        ck_assert_int_eq(hc_snapshot_get_message(&body, &bits), HC_OK);
        ck_assert_uint_eq(bits.size, size);
        ck_assert(size == 0 || memcmp(bits.data, packed, size) == 0);
    }
    // Another number of values, or one of another type.
    static const uint8_t wrong[][4] = {
        {0x91, 3}, {0x92, 3, 5}, {0x93, 3, 0xc4, 0}, {0x92, 3, 0xa0}};
    static const size_t sizes[] = {2, 3, 4, 3};
    for (size_t i = 0; i < 4; i++) {
        struct hc_bits_reader bits;
        if (hc_body_begin(&body, wrong[i], sizes[i]) != HC_OK)
            continue;
        ck_assert_int_eq(hc_body_next(&body), HC_MESSAGE_SNAPSHOT);
        ck_assert_int_eq(hc_snapshot_get_message(&body, &bits), HC_MALFORMED);
    }
}
END_TEST

START_TEST(the_chain_depends_on_its_key_and_on_every_earlier_hash) {
    uint8_t key[HC_CHAIN_KEY_SIZE] = {1}, foreign[HC_CHAIN_KEY_SIZE] = {2};
    uint64_t chain = 0, other = 0;
    for (uint64_t t = 1; t < 100; t++) {
        ck_assert_uint_ne(hc_snapshot_chain(key, chain, t), hc_snapshot_chain(foreign, chain, t));
        chain = hc_snapshot_chain(key, chain, t);
        other = hc_snapshot_chain(key, other, t == 50 ? 0 : t);
        ck_assert_int_eq(chain == other, t < 50);
    }
}
END_TEST

START_TEST(the_chain_equals_the_known_siphash) {
    // The paper's vector for the 16 bytes 00 to 0f under the key 00 to 0f (Aumasson and Bernstein
    // 2012; vectors.h of the reference implementation).
    uint8_t key[HC_CHAIN_KEY_SIZE];
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    uint64_t chain =
        hc_snapshot_chain(key, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908));
    ck_assert_uint_eq(chain, UINT64_C(0x3f2acc7f57c29bdb));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto_snapshot");
    TCase *tests = tcase_create("snapshot");
    tcase_add_test(tests, every_snapshot_of_any_world_and_history_reads_back);
    tcase_add_test(tests, the_head_is_read_relative_to_any_tick_near_it);
    tcase_add_test(tests, a_head_before_the_first_or_after_the_last_tick_is_refused);
    tcase_add_test(tests, inputs_read_back_from_all_ticks_that_a_server_can_know);
    tcase_add_test(tests, a_roster_change_beyond_the_span_is_refused);
    tcase_add_test(tests, a_shortened_snapshot_is_refused_and_a_full_writer_is_not_overrun);
    tcase_add_test(tests, a_message_reads_back_if_it_fits_with_its_overhead);
    tcase_add_test(tests, the_chain_depends_on_its_key_and_on_every_earlier_hash);
    tcase_add_test(tests, the_chain_equals_the_known_siphash);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, any_bits_are_refused_or_read_as_values_in_their_ranges);
    return run_suite(suite);
}
