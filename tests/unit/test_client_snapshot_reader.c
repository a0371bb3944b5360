/// Checks that client/world/snapshot_reader decodes each value as it was encoded, and that a
/// refused snapshot changes nothing.
#include "client/world/snapshot_reader.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "proto/game_events.h"
#include "proto/value.h"
#include "tests/run_suite.h"
#include "tests/sim/games.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLAYERS = 3,
    RUNS = 24,
    SNAPSHOTS = 160, ///< in a run
    ITEMS_MAX = 24,  ///< units and corrections in one of them
    DELAY_MAX = 6,   ///< snapshots by which one is overtaken
    MEMORY = 64,     ///< server ticks; a server refers to no older baseline
    VALUE_ROOM = HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX),
};

static const struct hc_game *const games[] = {&hc_arena, &lanes};

/// A unit in one snapshot.
struct item {
    hc_unit unit;
    bool correction, dropped;
    struct hc_unit_value value;
    uint8_t room[VALUE_ROOM];
};

/// One snapshot: units in ascending order, then corrections, newest first.
struct sent {
    struct hc_snapshot header;
    bool accepted; ///< this snapshot is a baseline of the reader
    uint32_t units, count;
    struct item items[ITEMS_MAX];
    uint8_t body[HC_DATA_BODY_MAX];
    size_t size;
};

static struct hc_world world;
static struct hc_value_codec codec;
static struct hc_extrapolator *extrapolator; ///< the server's
static struct hc_cl_snapshot_reader *reader;
static struct sent history[SNAPSHOTS];
static struct hc_body body;
static hc_tick newest; ///< server tick of those accepted

static void begin(const struct hc_game *game) {
    ck_assert_int_eq(hc_world_init(&world, game, PLAYERS, 60, 7, NULL), HC_OK);
    hc_value_codec_init(&codec, &world);
    ck_assert_uint_le(hc_unit_total(&world), ITEMS_MAX / 2);
    extrapolator = hc_extrapolator_create(&world);
    reader = hc_cl_snapshot_reader_create(&world, 0);
    ck_assert(extrapolator != NULL && reader != NULL);
    newest = 1000;
}

static void end(void) {
    hc_cl_snapshot_reader_destroy(reader);
    hc_extrapolator_destroy(extrapolator);
    hc_world_free(&world);
}

// ---- The server ---------------------------------------------------------------------------------

/// Any value of the item's unit, or one a little off `near`.
static void random_value(struct hc_rng *rng, hc_tick tick, const struct hc_unit_value *near,
                         struct item *item) {
    const struct hc_game *game = world.game;
    struct hc_unit_value *value = &item->value;
    hc_unit_place(&world, value, item->room);
    hc_extrapolate_absent(&world, item->unit, tick, value);
    if (near != NULL)
        hc_extrapolate(extrapolator, HC_EXTRAPOLATION_STEP, item->unit, near, NULL, tick, value);
    uint32_t ppm = near == NULL ? 700000 : 20000;
    for (uint32_t e = 0; e < hc_unit_count(&world, item->unit); e++) {
        const struct hc_kind *kind =
            hc_world_kind(&world, (hc_entity)(hc_unit_first(&world, item->unit) + e));
        uint8_t *state = value->states + (size_t)e * world.stride;
        if (hc_rng_chance(rng, ppm / 2) || value->presence[e] == HC_UNKNOWN) {
            value->presence[e] = hc_rng_below(rng, 3) == 0 ? HC_ABSENT : HC_ALIVE;
            memset(state, 0, world.stride);
        }
        for (uint32_t f = 0; f < kind->field_count && value->presence[e] == HC_ALIVE; f++)
            if (hc_rng_chance(rng, ppm))
                hc_field_set(&kind->fields[f], state,
                             (int64_t)(hc_rng_next(rng) &
                                       ((UINT64_C(1) << (kind->fields[f].bits - 1)) - 1)));
    }
    if (hc_unit_player(&world, item->unit) == HC_NO_PLAYER || !hc_rng_chance(rng, ppm))
        return;
    value->known = tick - 1 - hc_rng_below(rng, 20);
    for (uint32_t f = 0; f < game->input_field_count; f++)
        hc_field_set(&game->input_fields[f], value->input, hc_rng_below(rng, 2));
    game->sanitize_input(value->input);
}

/// The item of (unit, tick) of a snapshot; NULL: there is none.
static const struct item *item_of(const struct sent *sent, hc_unit unit, hc_tick tick) {
    for (uint32_t i = 0; i < sent->count; i++)
        if (sent->items[i].unit == unit && sent->items[i].value.tick == tick &&
            !sent->items[i].dropped)
            return &sent->items[i];
    return NULL;
}

/// A random accepted snapshot before `count` that is not too old; NULL: none found.
static const struct sent *pick(struct hc_rng *rng, uint32_t count, hc_tick as_of, hc_tick before) {
    for (int attempt = 0; attempt < 8 && count > 0; attempt++) {
        const struct sent *sent = &history[hc_rng_below(rng, count)];
        if (sent->accepted && sent->header.as_of + MEMORY > as_of && sent->header.as_of < before)
            return sent;
    }
    return NULL;
}

static const struct sent *newest_accepted(uint32_t count, hc_tick as_of) {
    const struct sent *base = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (history[i].accepted && history[i].header.as_of + MEMORY > as_of &&
            (base == NULL || history[i].header.as_of > base->header.as_of))
            base = &history[i];
    return base;
}

static const void *referee_of(const struct sent *sent) {
    const struct item *item = item_of(sent, 0, sent->header.tick);
    return item != NULL && item->value.presence[0] == HC_ALIVE ? item->value.states : NULL;
}

/// Some input changes of the item's owner since `from`, as many as fit.
static void random_changes(struct hc_rng *rng, const struct item *item,
                           const struct hc_unit_value *from, struct hc_input_changes *out) {
    const struct hc_game *game = world.game;
    uint8_t input[HC_INPUT_MAX] = {0}, before[HC_INPUT_MAX] = {0};
    out->count = 0;
    if (!hc_extrapolate_takes_changes(&world, HC_EXTRAPOLATION_STEP, item->unit, from,
                                      item->value.tick) ||
        hc_rng_below(rng, 2) == 0)
        return;
    hc_extrapolate_input(&world, from, before);
    for (hc_tick t = from->tick; t < item->value.tick; t++) {
        for (uint32_t f = 0; f < game->input_field_count; f++)
            hc_field_set(&game->input_fields[f], input, hc_rng_below(rng, 2));
        game->sanitize_input(input);
        if (hc_rng_below(rng, 3) > 0 || memcmp(input, before, game->input_size) == 0)
            continue;
        out->at[out->count].tick = t;
        memcpy(out->at[out->count++].input, input, sizeof input);
        memcpy(before, input, sizeof input);
    }
}

/// Writes an item; with `rng`, now and then with random input changes.
static void put_value(struct hc_rng *rng, struct hc_bits_writer *bits, const struct sent *sent,
                      const struct item *item, const struct item *from) {
    struct hc_input_changes changes = {.count = 0};
    struct hc_value_base base = {.how = HC_EXTRAPOLATION_STEP,
                                 .codec = &codec,
                                 .extrapolator = extrapolator,
                                 .unit = item->unit,
                                 .from = from == NULL ? NULL : &from->value,
                                 .referee = item->unit == 0 ? NULL : referee_of(sent)};
    if (rng != NULL && from != NULL)
        random_changes(rng, item, &from->value, &changes);
    hc_value_put(bits, &base, &changes, &item->value);
}

/// The units of a snapshot, as its receivers list them.
static void set_of(const struct sent *sent, struct hc_snapshot_set *set) {
    set->count = 0;
    for (uint32_t i = 0; sent != NULL && i < sent->units; i++)
        if (!sent->items[i].dropped)
            set->units[set->count++] = sent->items[i].unit;
}

/// Chooses the baseline of an item, to *against, and its name.
static struct hc_snapshot_unit choose_base(struct hc_rng *rng, const struct sent *sent,
                                           uint32_t count, const struct sent *base,
                                           const struct item *item, const struct item **against) {
    const struct sent *older =
        base == NULL ? NULL : pick(rng, count, sent->header.as_of, base->header.as_of);
    const struct sent *from = hc_rng_below(rng, 3) > 0 ? base : older;
    struct hc_snapshot_unit unit = {.unit = item->unit, .from = HC_SNAPSHOT_NOTHING};
    *against = NULL;
    if (item->dropped)
        unit.from = HC_SNAPSHOT_DROPPED;
    else if (from != NULL && from->header.tick <= sent->header.tick && hc_rng_below(rng, 5) > 0)
        *against = item_of(from, item->unit, from->header.tick);
    if (*against != NULL)
        unit.from = from == base ? HC_SNAPSHOT_BASE : HC_SNAPSHOT_OLDER;
    unit.as_of = from == NULL ? HC_NO_TICK : from->header.as_of;
    return unit;
}

/// Says that no game events of any tick are in the snapshot.
static void put_no_events(struct hc_bits_writer *bits) {
    if (world.game->event_kind_count > 0)
        hc_game_events_put_end(bits);
}

static void put_units(struct hc_rng *rng, struct hc_bits_writer *bits, struct sent *sent,
                      uint32_t count, const struct sent *base) {
    struct hc_snapshot_unit units[HC_SNAPSHOT_UNITS_MAX];
    const struct item *against[ITEMS_MAX];
    struct hc_snapshot_set base_units;
    set_of(base, &base_units);
    for (uint32_t i = 0; i < sent->units; i++)
        units[i] = choose_base(rng, sent, count, base, &sent->items[i], &against[i]);
    put_no_events(bits);
    hc_snapshot_put_names(bits, &sent->header, &base_units, units, sent->units);
    for (uint32_t i = 0; i < sent->units; i++) {
        struct item *item = &sent->items[i];
        if (item->dropped)
            continue;
        random_value(rng, sent->header.tick, against[i] == NULL ? NULL : &against[i]->value, item);
        put_value(rng, bits, sent, item, against[i]);
        if (hc_unit_player(&world, item->unit) != HC_NO_PLAYER)
            hc_bits_put_number(bits, 0, 1); // runs of inputs
    }
}

static void put_corrections(struct hc_rng *rng, struct hc_bits_writer *bits, struct sent *sent,
                            uint32_t count) {
    hc_tick before = sent->header.tick;
    while (hc_rng_below(rng, 3) > 0 && sent->count < ITEMS_MAX) {
        hc_tick at = before - 1 - hc_rng_below(rng, 6);
        struct item *item = &sent->items[sent->count++];
        *item = (struct item){.unit = (hc_unit)hc_rng_below(rng, hc_unit_total(&world)),
                              .correction = true};
        const struct sent *from = pick(rng, count, sent->header.as_of, sent->header.as_of);
        const struct item *same = from == NULL ? NULL : item_of(from, item->unit, at);
        const struct item *against = same;
        if (against == NULL && from != NULL && from->header.tick <= at)
            against = item_of(from, item->unit, from->header.tick);
        struct hc_snapshot_correction correction = {.unit = item->unit, .as_of = HC_NO_TICK};
        if (against != NULL) {
            correction.as_of = from->header.as_of;
            correction.same = same != NULL;
        }
        random_value(rng, at, against == NULL ? NULL : &against->value, item);
        hc_snapshot_put_corrections(bits, &sent->header, before, at, &correction, 1);
        put_value(rng, bits, sent, item, against);
        before = at;
    }
    hc_bits_put(bits, 0, 1);
}

/// Bits from the start of the header to its hash.
static size_t hash_at(const struct hc_snapshot *header) {
    uint8_t scratch[64];
    struct hc_bits_writer bits = hc_bits_writer(scratch, sizeof scratch);
    struct hc_snapshot cut = *header;
    cut.has_chain = false;
    cut.base = HC_NO_TICK;
    cut.own_count = 0;
    hc_snapshot_put(&bits, &cut);
    return hc_bits_written(&bits) - 4 - 32; // before no chain, base, margin, earlier input
}

/// Puts the hash of its values into the finished bits.
static void put_hash(struct sent *sent, uint8_t *packed) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < sent->units; i++) {
        const struct item *item = &sent->items[i];
        for (uint32_t e = 0; !item->dropped && e < hc_unit_count(&world, item->unit); e++)
            hash += hc_unit_entity_hash(&world, (hc_entity)(hc_unit_first(&world, item->unit) + e),
                                        item->value.presence[e],
                                        item->value.states + (size_t)e * world.stride);
    }
    sent->header.hash = (uint32_t)hash;
    size_t at = hash_at(&sent->header);
    for (unsigned bit = 0; bit < 32; bit++, at++)
        packed[at / 8] =
            (uint8_t)((packed[at / 8] & ~(1u << at % 8)) | (uint32_t)(hash >> bit & 1) << at % 8);
}

static void wrap(struct sent *sent, const uint8_t *packed, size_t size) {
    struct hc_writer writer = hc_bytes_writer(sent->body, sizeof sent->body);
    ck_assert(size > 0 && hc_snapshot_put_message(&writer, packed, size));
    sent->size = writer.at;
}

/// Sends the next snapshot, number `count`, against some of the reader's baselines.
static void send(struct hc_rng *rng, uint32_t count, hc_tick as_of) {
    struct sent *sent = &history[count];
    uint8_t packed[HC_DATA_BODY_MAX];
    struct hc_bits_writer bits = hc_bits_writer(packed, sizeof packed - HC_SNAPSHOT_OVERHEAD);
    const struct sent *base = newest_accepted(count, as_of);
    hc_tick tick = as_of - hc_rng_below(rng, 5);
    sent->header =
        (struct hc_snapshot){.as_of = as_of,
                             .tick = tick,
                             .refused_before = as_of,
                             .final = as_of,
                             .base = base == NULL ? HC_NO_TICK : base->header.as_of,
                             .how = base == NULL ? HC_EXTRAPOLATION_HOLD : HC_EXTRAPOLATION_STEP};
    sent->accepted = false;
    sent->count = 0;
    for (hc_unit unit = 0; unit < hc_unit_total(&world); unit++)
        if (hc_rng_below(rng, 3) > 0)
            sent->items[sent->count++] =
                (struct item){.unit = unit, .dropped = hc_rng_below(rng, 8) == 0};
    sent->units = sent->count;
    hc_snapshot_put(&bits, &sent->header);
    hc_bits_put(&bits, 0, 1);
    hc_bits_put(&bits, 0, 1);
    put_units(rng, &bits, sent, count, base);
    put_corrections(rng, &bits, sent, count);
    size_t size = hc_bits_finish(&bits);
    put_hash(sent, packed);
    wrap(sent, packed, size);
}

// ---- The client ---------------------------------------------------------------------------------

static enum hc_status decode(const uint8_t *bytes, size_t size,
                             const struct hc_cl_received **snapshot) {
    enum hc_status status = hc_body_begin(&body, bytes, size);
    if (status != HC_OK)
        return status;
    if (hc_body_next(&body) != HC_MESSAGE_SNAPSHOT)
        return HC_MALFORMED;
    return hc_cl_snapshot_reader_decode(reader, &body, newest, snapshot);
}

static void compare(const struct sent *sent, const struct hc_cl_received *snapshot) {
    ck_assert(snapshot->header.as_of == sent->header.as_of &&
              snapshot->header.tick == sent->header.tick);
    ck_assert_uint_eq(snapshot->value_count, sent->count);
    for (uint32_t i = 0; i < sent->count; i++) {
        const struct item *item = &sent->items[i];
        const struct hc_cl_received_value *read = &snapshot->values[i];
        ck_assert(read->unit == item->unit && read->dropped == item->dropped &&
                  read->correction == item->correction);
        if (!item->dropped)
            ck_assert(read->value.tick == item->value.tick &&
                      hc_unit_equal(&world, item->unit, &read->value, &item->value));
    }
}

/// Receives and accepts it.
static void accept(struct sent *sent) {
    const struct hc_cl_received *snapshot = NULL;
    ck_assert_int_eq(decode(sent->body, sent->size, &snapshot), HC_OK);
    compare(sent, snapshot);
    hc_cl_snapshot_reader_accept(reader);
    sent->accepted = true;
    newest = sent->header.as_of > newest ? sent->header.as_of : newest;
    ck_assert_int_eq(decode(sent->body, sent->size, &snapshot), HC_TOO_OLD);
}

static bool has_values(const struct sent *sent) {
    for (uint32_t i = 0; i < sent->units; i++)
        if (!sent->items[i].dropped)
            return true;
    return false;
}

/// Gives the reader damaged copies, which it must refuse or at least survive; none is accepted.
static void disturb(struct hc_rng *rng, const struct sent *sent) {
    const struct hc_cl_received *snapshot = NULL;
    uint8_t *bytes = malloc(sent->size); // not a byte more, so that sanitizers see each overrun
    memcpy(bytes, sent->body, sent->size);
    size_t bit = (sent->body[1] == HC_MESSAGE_SNAPSHOT ? HC_SNAPSHOT_OVERHEAD - 1u : 0) * 8;
    bit += sent->body[2] == 0xc5 ? 8 : 0; // a binary of a longer size
    bit += hash_at(&sent->header) + hc_rng_below(rng, 32);
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    ck_assert_int_eq(decode(bytes, sent->size, &snapshot), HC_INVALID);
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    ck_assert_int_ne(decode(bytes, hc_rng_below(rng, (uint32_t)sent->size), &snapshot), HC_OK);
    for (int i = 0; i < 8; i++)
        bytes[hc_rng_below(rng, (uint32_t)sent->size)] ^= (uint8_t)(1u << hc_rng_below(rng, 8));
    (void)decode(bytes, sent->size, &snapshot);
    free(bytes);
}

START_TEST(snapshot_decodes_to_its_values_despite_loss_and_damage) {
    uint32_t refused = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct hc_rng rng = hc_rng_init(61, run);
        hc_tick as_of = 1000;
        uint32_t late[DELAY_MAX] = {0}; // those in flight, each with its number plus one
        begin(games[run % 2]);
        for (uint32_t count = 0; count < SNAPSHOTS; count++) {
            as_of += 1 + hc_rng_below(&rng, 3);
            send(&rng, count, as_of);
            if (late[count % DELAY_MAX] != 0)
                accept(&history[late[count % DELAY_MAX] - 1]);
            late[count % DELAY_MAX] = 0;
            uint32_t fate = hc_rng_below(&rng, 10);
            if (fate < 2) // lost
                continue;
            disturb(&rng, &history[count]);
            refused += has_values(&history[count]);
            if (fate < 5)
                late[hc_rng_below(&rng, DELAY_MAX)] = count + 1; // replaces another
            else
                accept(&history[count]);
        }
        end();
    }
    ck_assert_uint_gt(refused, RUNS * SNAPSHOTS / 2);
}
END_TEST

/// Corrections of unit 0 at the `count` ticks before the snapshot's; the last against `against`.
static void put_absences(struct hc_bits_writer *bits, const struct sent *sent, uint32_t count,
                         hc_tick against) {
    for (uint32_t back = 0; back < count; back++) {
        hc_tick before = sent->header.tick - back;
        struct hc_snapshot_correction correction = {.unit = 0, .as_of = HC_NO_TICK};
        struct item item = {.unit = 0};
        if (back + 1 == count)
            correction.as_of = against;
        hc_unit_place(&world, &item.value, item.room);
        hc_extrapolate_absent(&world, 0, before - 1, &item.value);
        hc_snapshot_put_corrections(bits, &sent->header, before, before - 1, &correction, 1);
        put_value(NULL, bits, sent, &item, NULL);
    }
    hc_bits_put(bits, 0, 1);
}

/// Sends a snapshot in which unit 0 is absent, and was, against the same in that of `base`; the
/// oldest of its corrections against that of `against`.
static void send_absent(struct sent *sent, hc_tick as_of, hc_tick base, uint32_t corrections,
                        hc_tick against) {
    uint8_t packed[HC_DATA_BODY_MAX];
    struct hc_bits_writer bits = hc_bits_writer(packed, sizeof packed - HC_SNAPSHOT_OVERHEAD);
    memset(sent, 0, sizeof *sent);
    sent->header = (struct hc_snapshot){.as_of = as_of,
                                        .tick = as_of,
                                        .refused_before = as_of,
                                        .final = as_of,
                                        .base = base,
                                        .how = HC_EXTRAPOLATION_STEP};
    struct hc_snapshot_unit unit = {.from = base == HC_NO_TICK ? HC_SNAPSHOT_NOTHING
                                                               : HC_SNAPSHOT_BASE};
    struct item *item = &sent->items[0];
    sent->units = sent->count = 1;
    hc_unit_place(&world, &item->value, item->room);
    hc_extrapolate_absent(&world, 0, as_of, &item->value);
    hc_snapshot_put(&bits, &sent->header);
    hc_bits_put(&bits, 0, 1);
    hc_bits_put(&bits, 0, 1);
    const struct hc_snapshot_set base_units = {.count = base != HC_NO_TICK};
    put_no_events(&bits);
    hc_snapshot_put_names(&bits, &sent->header, &base_units, &unit, 1);
    put_value(NULL, &bits, sent, item, NULL);
    put_absences(&bits, sent, corrections, against);
    size_t size = hc_bits_finish(&bits);
    put_hash(sent, packed);
    wrap(sent, packed, size);
}

START_TEST(snapshot_against_a_missing_baseline_is_too_old) {
    const struct hc_cl_received *snapshot = NULL;
    begin(&hc_arena);
    send_absent(&history[0], 1000, HC_NO_TICK, 0, 0);
    send_absent(&history[1], 1001, 1000, 0, 0);
    ck_assert_int_eq(decode(history[1].body, history[1].size, &snapshot), HC_TOO_OLD);
    ck_assert_int_eq(decode(history[0].body, history[0].size, &snapshot), HC_OK); // not accepted
    ck_assert_int_eq(decode(history[1].body, history[1].size, &snapshot), HC_TOO_OLD);
    accept(&history[0]);
    accept(&history[1]);
    // The baseline of a correction must not be of a later tick.
    send_absent(&history[2], 1002, 1001, 1, 1001);
    ck_assert_int_eq(decode(history[2].body, history[2].size, &snapshot), HC_OK);
    send_absent(&history[2], 1003, 1001, 3, 1001);
    ck_assert_int_eq(decode(history[2].body, history[2].size, &snapshot), HC_TOO_OLD);
    end();
}
END_TEST

START_TEST(overtaken_snapshot_is_accepted_until_its_row_is_needed) {
    const struct hc_cl_received *snapshot = NULL;
    begin(&hc_arena);
    for (hc_tick as_of = 1000; as_of < 1003; as_of++)
        send_absent(&history[as_of - 1000], as_of, HC_NO_TICK, 0, 0);
    send_absent(&history[3], 1000 + HC_SNAPSHOT_BASELINE_TICKS, HC_NO_TICK, 0, 0);
    accept(&history[1]);
    accept(&history[0]);
    accept(&history[3]);
    ck_assert_int_eq(decode(history[0].body, history[0].size, &snapshot), HC_TOO_OLD);
    accept(&history[2]);
    end();
}
END_TEST

START_TEST(reader_takes_the_most_corrections_and_holds_all_baselines_of_a_server) {
    enum { EACH = 62, FIRST = 1000, OLDEST = FIRST + 1 };
    struct sent *sent = &history[0];
    const struct hc_cl_received *snapshot = NULL;
    begin(&hc_arena);
    for (hc_tick as_of = FIRST; as_of <= FIRST + MEMORY; as_of++) {
        bool last = as_of == FIRST + MEMORY;
        uint32_t corrections = last ? MEMORY - 1 : EACH;
        send_absent(sent, as_of, as_of == FIRST ? HC_NO_TICK : as_of - 1, corrections,
                    last ? OLDEST : HC_NO_TICK);
        ck_assert_int_eq(decode(sent->body, sent->size, &snapshot), HC_OK);
        ck_assert_uint_eq(snapshot->value_count, 1 + corrections);
        hc_cl_snapshot_reader_accept(reader);
        newest = as_of;
    }
    send_absent(sent, newest + 1, newest, HC_SNAPSHOT_CORRECTIONS_MAX, HC_NO_TICK);
    ck_assert_int_eq(decode(sent->body, sent->size, &snapshot), HC_OK);
    ck_assert_uint_eq(snapshot->value_count, 1 + HC_SNAPSHOT_CORRECTIONS_MAX);
    send_absent(sent, newest + 1, newest, HC_SNAPSHOT_CORRECTIONS_MAX + hc_unit_total(&world),
                HC_NO_TICK);
    ck_assert_int_eq(decode(sent->body, sent->size, &snapshot), HC_MALFORMED);
    end();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_snapshot_reader");
    TCase *tests = tcase_create("client_snapshot_reader");
    tcase_add_test(tests, snapshot_decodes_to_its_values_despite_loss_and_damage);
    tcase_add_test(tests, snapshot_against_a_missing_baseline_is_too_old);
    tcase_add_test(tests, overtaken_snapshot_is_accepted_until_its_row_is_needed);
    tcase_add_test(tests, reader_takes_the_most_corrections_and_holds_all_baselines_of_a_server);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
