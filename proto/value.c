/// Values: the compiled tables of fields, and encoding and decoding by them.
#include "proto/value.h"

#include "common/byte_order.h"
#include "hindcast/check.h"

#include <string.h>

enum { AGE_GROUP = 2 }; ///< bits of a digit of an age

static uint32_t ones(unsigned count) {
    return (uint32_t)((UINT64_C(1) << count) - 1);
}

// ---- The codec of a world -----------------------------------------------------------------------

static uint8_t golomb_of(const struct hc_field *field) {
    if (field->bits <= (field->is_signed ? 2 : 3))
        return 0;
    if (field->interpolate == HC_LINEAR)
        return (uint8_t)(field->bits / 2 - 1);
    return (uint8_t)(field->bits - (field->is_signed ? 1 : 3));
}

static uint8_t find(const struct hc_kind *kind, const char *name) {
    for (uint8_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return i;
    return HC_VALUE_NO_FIELD;
}

static void compile(const struct hc_game *game, const struct hc_field *fields, unsigned count,
                    struct hc_value_table *out) {
    const struct hc_kind *player = &game->kinds[game->owned[0].kind];
    out->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        const struct hc_field *field = &fields[i];
        out->fields[i] = (struct hc_value_field){.at = (uint8_t)field->offset,
                                                 .size = field->size,
                                                 .bits = field->bits,
                                                 .is_signed = field->is_signed,
                                                 .golomb = golomb_of(field),
                                                 .namesake = find(player, field->name)};
        memset(out->field_at + field->offset, (int)i, field->size);
        out->size = (uint16_t)(field->offset + field->size);
    }
}

void hc_value_codec_init(struct hc_value_codec *codec, const struct hc_world *world) {
    const struct hc_game *game = world->game;
    memset(codec, 0, sizeof *codec);
    codec->world = world;
    for (unsigned i = 0; i < game->kind_count; i++)
        compile(game, game->kinds[i].fields, game->kinds[i].field_count, &codec->kinds[i]);
    compile(game, game->input_fields, game->input_field_count, &codec->input);
}

// ---- Fields -------------------------------------------------------------------------------------

/// The field's bytes as a number, of which the low `bits` count.
static uint32_t load(const struct hc_value_field *field, const uint8_t *data) {
    uint16_t u16;
    uint32_t u32;
    switch (field->size) {
    case 1:
        return data[field->at];
    case 2:
        memcpy(&u16, data + field->at, sizeof u16);
        return u16;
    default:
        memcpy(&u32, data + field->at, sizeof u32);
        return u32;
    }
}

/// Stores `value` modulo 2^bits, within the field's range.
static void store(const struct hc_value_field *field, uint8_t *data, uint32_t value) {
    uint32_t mask = ones(field->bits);
    value =
        field->is_signed && (value >> (field->bits - 1) & 1) != 0 ? value | ~mask : value & mask;
    uint16_t u16 = (uint16_t)value;
    if (field->size == 1)
        data[field->at] = (uint8_t)value;
    else if (field->size == 2)
        memcpy(data + field->at, &u16, sizeof u16);
    else
        memcpy(data + field->at, &value, sizeof value);
}

/// The number that the field has.
static int64_t value_of(const struct hc_value_field *field, const uint8_t *data) {
    uint32_t value = load(field, data), sign = UINT32_C(1) << (field->bits - 1);
    bool negative = field->is_signed && (value & sign) != 0;
    return (int64_t)(value & ones(field->bits)) - (negative ? INT64_C(1) << field->bits : 0);
}

/// The `size` bytes at `data`, in [1, 8], as the first ones of a word in memory.
static inline uint64_t load_word(const uint8_t *data, unsigned size) {
    uint64_t word = 0;
    memcpy(&word, data, size);
    return word;
}

/// The index of the first byte of a word in memory that is not 0; the word is not.
static inline unsigned first_byte(uint64_t word) {
    return (unsigned)(HC_BIG_ENDIAN ? __builtin_clzll(word) : __builtin_ctzll(word)) / 8;
}

/// The number of bits below the field of `size` bytes that begins at the byte `at` of a word.
static inline unsigned bits_below(unsigned at, unsigned size) {
    return HC_BIG_ENDIAN ? 8 * (8 - at - size) : 8 * at;
}

/// The fields in which two structs differ.
struct changes {
    uint64_t fields; ///< bit i for field i
    unsigned count;
    uint32_t by[HC_FIELDS_MAX]; ///< of each of these by how much, modulo 2^bits
};

/// Adds the fields in which `a` and `b` differ, the words of two structs from the byte `at` on.
/// Each of their bytes that differs belongs to a field that lies in the word.
static inline void add_changes(struct changes *changes, const struct hc_value_table *table,
                               unsigned at, uint64_t a, uint64_t b) {
    for (uint64_t left = a ^ b; left != 0;) {
        unsigned number = table->field_at[at + first_byte(left)];
        const struct hc_value_field *field = &table->fields[number];
        unsigned shift = bits_below(field->at - at, field->size), size = 8u * field->size;
        changes->fields |= UINT64_C(1) << number;
        changes->by[changes->count++] = (uint32_t)((b >> shift) - (a >> shift));
        left &= ~((UINT64_MAX >> (64 - size)) << shift);
    }
}

/// Compares two structs by words. No byte belongs to two fields or to none, and no field to two
/// words, because each is aligned to its size.
static void compare(const struct hc_value_table *table, const uint8_t *a, const uint8_t *b,
                    struct changes *out) {
    unsigned at = 0, size = table->size;
    out->fields = 0;
    out->count = 0;
    for (; at + 8 <= size; at += 8)
        add_changes(out, table, at, load_word(a + at, 8), load_word(b + at, 8));
    if ((size & 4) != 0) {
        add_changes(out, table, at, load_word(a + at, 4), load_word(b + at, 4));
        at += 4;
    }
    if ((size & 2) != 0) {
        add_changes(out, table, at, load_word(a + at, 2), load_word(b + at, 2));
        at += 2;
    }
    if ((size & 1) != 0)
        add_changes(out, table, at, load_word(a + at, 1), load_word(b + at, 1));
}

/// Appends the residuals of the changed fields. A value that does not fit its field and differs
/// above its bits alone has none: it is sent as another one, and the client finds out.
static void put_fields(struct hc_bits_writer *bits, const struct hc_value_table *table,
                       const struct changes *changes) {
    uint64_t fields = changes->fields;
    for (unsigned i = 0; i < changes->count; i++, fields &= fields - 1) {
        const struct hc_value_field *field = &table->fields[__builtin_ctzll(fields)];
        uint32_t by = changes->by[i];
        hc_bits_put_residual(bits, by << (32 - field->bits) != 0 ? by : 1, field->bits,
                             field->golomb);
    }
}

/// Reads the residuals of `fields`: turns the struct that they were encoded against into the sent
/// one.
static void get_fields(struct hc_bits_reader *bits, const struct hc_value_table *table,
                       uint64_t fields, uint8_t *data) {
    for (; fields != 0; fields &= fields - 1) {
        const struct hc_value_field *field = &table->fields[__builtin_ctzll(fields)];
        store(field, data,
              load(field, data) + hc_bits_get_residual(bits, field->bits, field->golomb));
    }
}

// ---- Inputs -------------------------------------------------------------------------------------

/// Appends an input that differs from the one before it.
static void put_other_input(struct hc_bits_writer *bits, const struct hc_value_codec *codec,
                            const uint8_t *before, const uint8_t *input) {
    struct changes changes;
    compare(&codec->input, before, input, &changes);
    hc_bits_put_some(bits, (uint32_t)changes.fields, codec->input.count);
    put_fields(bits, &codec->input, &changes);
}

/// Reads it over the one before it.
static void get_other_input(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                            uint8_t *input) {
    uint32_t fields = hc_bits_get_some(bits, codec->input.count);
    get_fields(bits, &codec->input, fields, input);
}

void hc_value_put_input(struct hc_bits_writer *bits, const struct hc_value_codec *codec,
                        const uint8_t *before, const uint8_t *input) {
    bool same = memcmp(before, input, codec->input.size) == 0;
    hc_bits_put(bits, !same, 1);
    if (!same)
        put_other_input(bits, codec, before, input);
}

void hc_value_get_input(struct hc_bits_reader *bits, const struct hc_value_codec *codec,
                        const uint8_t *before, uint8_t *out) {
    memmove(out, before, codec->input.size);
    if (hc_bits_get(bits, 1) != 0)
        get_other_input(bits, codec, out);
}

// ---- Input changes ------------------------------------------------------------------------------

static bool takes_changes(const struct hc_value_base *base, hc_tick tick) {
    return base->from != NULL && hc_extrapolate_takes_changes(base->codec->world, base->how,
                                                              base->unit, base->from, tick);
}

/// Bits of a tick in [0, left).
static unsigned tick_bits(hc_tick left) {
    return left <= 1 ? 0 : 32 - (unsigned)__builtin_clz(left - 1);
}

static void put_changes(struct hc_bits_writer *bits, const struct hc_value_base *base,
                        const struct hc_input_changes *changes, hc_tick end) {
    uint8_t first[HC_INPUT_MAX];
    const uint8_t *before = first;
    hc_tick next = base->from->tick;
    hc_extrapolate_input(base->codec->world, base->from, first);
    for (unsigned i = 0; i < changes->count; i++) {
        const struct hc_input_change *change = &changes->at[i];
        HC_ASSERT(change->tick >= next && change->tick < end);
        if (i > 0)
            hc_bits_put(bits, 1, 1);
        hc_bits_put(bits, change->tick - next, tick_bits(end - next));
        put_other_input(bits, base->codec, before, change->input);
        before = change->input;
        next = change->tick + 1;
    }
    if (next < end)
        hc_bits_put(bits, 0, 1);
}

uint32_t hc_value_listed_bits(const struct hc_value_base *base,
                              const struct hc_input_changes *changes, hc_tick end) {
    uint8_t room[HC_EXTRAPOLATE_TICKS_MAX * (HC_INPUT_MAX + HC_FIELDS_MAX)];
    struct hc_bits_writer bits = hc_bits_writer(room, sizeof room);
    put_changes(&bits, base, changes, end);
    return (uint32_t)hc_bits_written(&bits) + 3; // two flags before, and `same` after it
}

static void get_changes(struct hc_bits_reader *bits, const struct hc_value_base *base, hc_tick end,
                        struct hc_input_changes *out) {
    const struct hc_world *world = base->codec->world;
    uint8_t input[HC_INPUT_MAX] = {0};
    hc_tick next = base->from->tick;
    hc_extrapolate_input(world, base->from, input);
    do {
        struct hc_input_change *change = &out->at[out->count++];
        hc_tick by = hc_bits_get(bits, tick_bits(end - next));
        if (by >= end - next) {
            bits->failed = true;
            by = 0;
        }
        change->tick = next + by;
        get_other_input(bits, base->codec, input);
        world->game->sanitize_input(input); // the steps need a sanitized one
        memcpy(change->input, input, sizeof input);
        next = change->tick + 1;
    } while (next < end && hc_bits_get(bits, 1) != 0);
}

// ---- Units --------------------------------------------------------------------------------------
// Up to three flags name the changed parts of a unit; then each of the others has one.

enum { OWNER = 1, FIRST = 2, OTHERS = 4 };

/// A unit, addressed once for all of its entities.
struct addressed {
    const struct hc_value_codec *codec;
    const uint8_t *kinds; ///< [count]
    uint32_t count, stride;
    bool owned;
};

static struct addressed address(const struct hc_value_base *base) {
    const struct hc_world *world = base->codec->world;
    bool owned = hc_unit_player(world, base->unit) != HC_NO_PLAYER;
    return (struct addressed){.codec = base->codec,
                              .kinds = world->kind_of + hc_unit_first(world, base->unit),
                              .count = owned ? world->per_owner : 1,
                              .stride = world->stride,
                              .owned = owned};
}

static const struct hc_value_table *table_of(const struct addressed *unit, uint32_t i) {
    return &unit->codec->kinds[unit->kinds[i]];
}

/// The number of flags of a unit; one without a player has only FIRST.
static unsigned flag_count(const struct addressed *unit) {
    return !unit->owned ? 1 : unit->count > 1 ? 3 : 2;
}

/// The age of the owner's newest known input, at least 1; 0: there is none.
static uint32_t age_of(const struct hc_unit_value *value) {
    return value->known == HC_NO_TICK ? 0 : value->tick - value->known;
}

/// Gives each field of the player that equals its namesake in the input `before` the value in
/// `input`.
static void follow_input(const struct addressed *unit, const uint8_t *before, const uint8_t *input,
                         uint8_t *state) {
    const struct hc_value_table *inputs = &unit->codec->input, *player = table_of(unit, 0);
    for (unsigned i = 0; i < inputs->count; i++) {
        const struct hc_value_field *from = &inputs->fields[i];
        if (from->namesake == HC_VALUE_NO_FIELD)
            continue;
        const struct hc_value_field *to = &player->fields[from->namesake];
        int64_t old = value_of(from, before), now = value_of(from, input);
        if (old != now && value_of(to, state) == old)
            store(to, state, (uint32_t)now);
    }
}

/// Gives the fields of entity `i`, whose state is all zeros, the values of their namesakes in the
/// state of the unit's first entity.
static void appear(const struct addressed *unit, uint32_t i, const uint8_t *first, uint8_t *state) {
    const struct hc_value_table *table = table_of(unit, i), *player = table_of(unit, 0);
    for (unsigned f = 0; f < table->count && i > 0; f++) {
        const struct hc_value_field *to = &table->fields[f];
        if (to->namesake != HC_VALUE_NO_FIELD)
            store(to, state, (uint32_t)value_of(&player->fields[to->namesake], first));
    }
}

// ---- Encoding -----------------------------------------------------------------------------------

/// The parts in which a value differs from its extrapolation.
struct difference {
    struct addressed unit;
    const struct hc_unit_value *from, *to;
    bool owner;
    uint32_t entities;                            ///< bit i for entity i
    struct changes changes[HC_UNIT_ENTITIES_MAX]; ///< of each of these that is alive in both
    const uint8_t *first;         ///< the first entity of `from` with the input of `to`
    uint8_t turned[HC_STATE_MAX]; ///< memory of that state, if the inputs differ
};

/// The state that entity `i`, alive in both, is encoded against.
static const uint8_t *reference_of(const struct difference *difference, uint32_t i) {
    return i == 0 ? difference->first
                  : difference->from->states + (size_t)i * difference->unit.stride;
}

static void find_difference(const struct hc_value_base *base, const struct hc_unit_value *from,
                            const struct hc_unit_value *to, struct difference *out) {
    size_t input_size = base->codec->input.size;
    out->unit = address(base);
    out->from = from;
    out->to = to;
    out->entities = 0;
    HC_ASSERT(from->tick == to->tick && out->unit.count <= HC_UNIT_ENTITIES_MAX);
    bool turned = out->unit.owned && memcmp(from->input, to->input, input_size) != 0;
    out->owner = turned || (out->unit.owned && age_of(from) != age_of(to));
    out->first = from->states;
    if (turned && from->presence[0] == HC_ALIVE) {
        memcpy(out->turned, from->states, table_of(&out->unit, 0)->size);
        follow_input(&out->unit, from->input, to->input, out->turned);
        out->first = out->turned;
    }
    for (uint32_t i = 0; i < out->unit.count; i++) {
        HC_ASSERT(to->presence[i] == HC_ABSENT || to->presence[i] == HC_ALIVE);
        struct changes *changes = &out->changes[i];
        bool stays = from->presence[i] == to->presence[i];
        if (stays && to->presence[i] != HC_ALIVE)
            continue;
        if (stays)
            compare(table_of(&out->unit, i), reference_of(out, i),
                    to->states + (size_t)i * out->unit.stride, changes);
        else
            changes->fields = changes->count = 0;
        out->entities |= (uint32_t)(!stays || changes->count > 0) << i;
    }
}

static void put_owner(struct hc_bits_writer *bits, const struct difference *difference) {
    const struct hc_unit_value *from = difference->from, *to = difference->to;
    uint32_t older = age_of(to) - age_of(from);
    uint32_t number = older <= INT32_MAX ? older << 1 : ~older << 1 | 1;
    hc_bits_put_number(bits, number, AGE_GROUP);
    if (to->known == HC_NO_TICK)
        return;
    if (older == 0) // the input differs, because the age does not
        put_other_input(bits, difference->unit.codec, from->input, to->input);
    else
        hc_value_put_input(bits, difference->unit.codec, from->input, to->input);
}

/// Appends a changed entity. If the extrapolated one is alive, an empty mask makes it absent; if it
/// is absent, the mask makes it alive.
static void put_entity(struct hc_bits_writer *bits, struct difference *difference, uint32_t i) {
    const struct addressed *unit = &difference->unit;
    const struct hc_value_table *table = table_of(unit, i);
    struct changes *changes = &difference->changes[i];
    uint8_t presence = difference->from->presence[i], appeared[HC_STATE_MAX];
    bool alive = difference->to->presence[i] == HC_ALIVE;
    if (presence == HC_UNKNOWN)
        hc_bits_put(bits, alive, 1);
    if (presence != HC_ALIVE && alive) {
        memset(appeared, 0, table->size);
        appear(unit, i, difference->to->states, appeared);
        compare(table, appeared, difference->to->states + (size_t)i * unit->stride, changes);
    }
    if (alive || presence != HC_UNKNOWN)
        hc_bits_put_mask(bits, changes->fields, table->count);
    put_fields(bits, table, changes);
}

static void put_parts(struct hc_bits_writer *bits, struct difference *difference) {
    const struct addressed *unit = &difference->unit;
    uint32_t entities = difference->entities;
    uint32_t flags = (difference->owner ? OWNER : 0u) | ((entities & 1) != 0 ? FIRST : 0u) |
                     (entities > 1 ? OTHERS : 0u);
    hc_bits_put_some(bits, unit->owned ? flags : 1, flag_count(unit));
    if (entities > 1)
        hc_bits_put_some(bits, entities >> 1, unit->count - 1);
    if (difference->owner)
        put_owner(bits, difference);
    for (; entities != 0; entities &= entities - 1)
        put_entity(bits, difference, (uint32_t)__builtin_ctz(entities));
}

/// Extrapolates the baseline to the tick of `out`, whose pointers are set.
static void extrapolate(const struct hc_value_base *base, const struct hc_input_changes *changes,
                        struct hc_unit_value *out) {
    const struct hc_world *world = base->codec->world;
    if (base->from == NULL) {
        hc_extrapolate_absent(world, base->unit, out->tick, out);
    } else if (base->runs != NULL &&
               hc_extrapolate_simulates(base->how, base->unit, out->tick - base->from->tick)) {
        uint64_t hash = hc_runs_hash(world, base->unit, base->from);
        struct hc_unit_value end =
            hc_runs_extrapolate(base->runs, base->unit, base->from, hash, changes, out->tick);
        hc_unit_copy(world, base->unit, out, &end);
    } else {
        struct hc_extrapolate_under under = {.referee = base->referee, .changes = changes};
        hc_extrapolate(base->extrapolator, base->how, base->unit, base->from, &under, out->tick,
                       out);
    }
}

uint32_t hc_value_put_extrapolated(struct hc_bits_writer *bits, const struct hc_value_base *base,
                                   const struct hc_input_changes *changes,
                                   const struct hc_unit_value *extrapolated,
                                   const struct hc_unit_value *value) {
    bool takes = takes_changes(base, value->tick), listed = changes != NULL && changes->count > 0;
    struct difference difference;
    HC_ASSERT(takes || !listed);
    find_difference(base, extrapolated, value, &difference);
    bool same = !difference.owner && difference.entities == 0;
    if (listed) {
        hc_bits_put(bits, 0, 1);
        hc_bits_put(bits, 1, 1);
        put_changes(bits, base, changes, value->tick);
    }
    hc_bits_put(bits, same, 1);
    if (same)
        return 0;
    if (takes && !listed)
        hc_bits_put(bits, 0, 1);
    put_parts(bits, &difference);
    return difference.entities;
}

void hc_value_put(struct hc_bits_writer *bits, const struct hc_value_base *base,
                  const struct hc_input_changes *changes, const struct hc_unit_value *value) {
    uint8_t room[HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)];
    struct hc_unit_value extrapolated = {.tick = value->tick};
    HC_ASSERT(hc_unit_bytes(base->codec->world) <= sizeof room);
    hc_unit_place(base->codec->world, &extrapolated, room);
    extrapolate(base, changes, &extrapolated);
    hc_value_put_extrapolated(bits, base, changes, &extrapolated, value);
}

// ---- Decoding -----------------------------------------------------------------------------------
// A value is extrapolated in its place, and becomes the sent one part by part.

/// Reads the owner's age and input, which its entity follows.
static void get_owner(struct hc_bits_reader *bits, const struct addressed *unit,
                      struct hc_unit_value *out) {
    uint8_t before[HC_INPUT_MAX];
    uint32_t number = hc_bits_get_number(bits, AGE_GROUP);
    uint32_t age = age_of(out) + (number % 2 == 0 ? number >> 1 : ~(number >> 1));
    memcpy(before, out->input, sizeof before);
    memset(out->input, 0, sizeof out->input);
    out->known = age == 0 ? HC_NO_TICK : out->tick - age;
    if (age > out->tick || (age == 0 && number == 0)) {
        bits->failed = true;
    } else if (age != 0 && number == 0) {
        memcpy(out->input, before, unit->codec->input.size);
        get_other_input(bits, unit->codec, out->input);
    } else if (age != 0) {
        hc_value_get_input(bits, unit->codec, before, out->input);
    }
    if (out->presence[0] == HC_ALIVE)
        follow_input(unit, before, out->input, out->states);
}

/// Reads a changed entity.
static void get_entity(struct hc_bits_reader *bits, const struct addressed *unit, uint32_t i,
                       struct hc_unit_value *out) {
    const struct hc_value_table *table = table_of(unit, i);
    uint8_t *state = out->states + (size_t)i * unit->stride, presence = out->presence[i];
    bool alive = presence != HC_UNKNOWN || hc_bits_get(bits, 1) != 0;
    uint64_t fields = alive ? hc_bits_get_mask(bits, table->count) : 0;
    if (presence == HC_ALIVE)
        alive = fields != 0;
    else if (alive)
        appear(unit, i, out->states, state);
    out->presence[i] = alive ? HC_ALIVE : HC_ABSENT;
    if (alive)
        get_fields(bits, table, fields, state);
    else
        memset(state, 0, unit->stride);
}

static void get_parts(struct hc_bits_reader *bits, const struct addressed *unit,
                      struct hc_unit_value *out) {
    uint32_t flags = hc_bits_get_some(bits, flag_count(unit)), entities = 0;
    if (!unit->owned)
        flags = FIRST;
    if ((flags & OTHERS) != 0)
        entities = hc_bits_get_some(bits, unit->count - 1) << 1;
    entities |= (flags & FIRST) != 0;
    if ((flags & OWNER) != 0)
        get_owner(bits, unit, out);
    for (; entities != 0; entities &= entities - 1)
        get_entity(bits, unit, (uint32_t)__builtin_ctz(entities), out);
}

void hc_value_get(struct hc_bits_reader *bits, const struct hc_value_base *base,
                  struct hc_unit_value *out) {
    struct addressed unit = address(base);
    struct hc_input_changes changes;
    changes.count = 0; // the rest is large, and this function is called often
    bool same = hc_bits_get(bits, 1) != 0;
    if (!same && takes_changes(base, out->tick) && hc_bits_get(bits, 1) != 0) {
        get_changes(bits, base, out->tick, &changes);
        same = hc_bits_get(bits, 1) != 0;
    }
    extrapolate(base, &changes, out);
    if (!same)
        get_parts(bits, &unit, out);
    for (uint32_t i = 0; i < unit.count; i++)
        if (out->presence[i] == HC_UNKNOWN) { // only an extrapolated entity may be unknown
            bits->failed = true;
            out->presence[i] = HC_ABSENT;
        }
    if (unit.owned)
        base->codec->world->game->sanitize_input(out->input);
}
