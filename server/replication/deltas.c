/// The ring of values, the table of stored deltas, and the input changes that a delta lists.
#include "server/replication/deltas.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "common/mix.h"
#include "common/prefetch.h"
#include "hindcast/check.h"

#include <string.h>

enum {
    WAYS = 2,            ///< entries of a set, the newer first
    RUNS = 32,           ///< of each unit
    RUN_STATES = 12,     ///< of each run: the ticks that clients are shown at once, in the main
    KEY_BITS = 3,        ///< of an input's field that counts as keys, at most
    SECOND_SAVES = 6,    ///< bits that a second list must save lately,
    SECOND_UNTRIED = 16, ///< else one in so many deltas tries it
    SECOND_WEIGHT = 64,  ///< one delta moves the mean by so small a part
    SECOND_PARTS = 1024, ///< of a bit
};

// ---- Values -------------------------------------------------------------------------------------

size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t each, uint32_t pins, uint8_t *base) {
    size_t align = _Alignof(struct hc_sv_value);
    size_t used = 0, units = hc_unit_total(world);
    HC_ASSERT(rows > 0 && each > 0 && units * each < UINT32_C(1) << 30);
    values->world = world;
    values->rows = rows;
    values->each = each;
    values->capacity = 4;
    while (values->capacity < units * each)
        values->capacity *= 2;
    values->size = (sizeof(struct hc_sv_value) + hc_unit_bytes(world) + align - 1) / align * align;
    values->ring = hc_carve(base, &used, values->capacity * values->size);
    values->pins = hc_carve(base, &used, pins * values->size);
    values->newest = hc_carve(base, &used, rows * units * sizeof *values->newest);
    values->has = hc_carve(base, &used, units * sizeof *values->has);
    return used;
}

static uint32_t place_of(const struct hc_sv_values *values, hc_sv_value_id id) {
    return id & (values->capacity - 1);
}

/// The value at the place of a number, which may be another's.
static struct hc_sv_value *value_at(const struct hc_sv_values *values, hc_sv_value_id id) {
    size_t place = place_of(values, id);
    return (struct hc_sv_value *)(void *)(values->ring + place * values->size);
}

/// How many further values can be stored until one replaces the value with this number; 0: it is
/// replaced.
static uint32_t values_left(const struct hc_sv_values *values, hc_sv_value_id id) {
    uint32_t age = values->next - id, next = place_of(values, values->next);
    if (id == 0 || age > values->capacity)
        return 0;
    return age <= next ? values->in_use - age : values->capacity - age;
}

/// The number after the newest one: of the next place in use, or of the first again.
static hc_sv_value_id number_after(const struct hc_sv_values *values) {
    hc_sv_value_id next = values->next + 1;
    if (place_of(values, next) >= values->in_use)
        next += values->capacity - place_of(values, next);
    return next == 0 ? 1 : next;
}

void hc_sv_values_begin(struct hc_sv_values *values) {
    values->next = 1;
    values->units = values->in_use = 0;
}

struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick) {
    size_t place = tick % values->rows;
    HC_ASSERT(tick != HC_NO_TICK);
    return (struct hc_sv_values_row){.values = values,
                                     .timeline = timeline,
                                     .tick = tick,
                                     .head = hc_timeline_head(timeline),
                                     .presence = hc_timeline_presence(timeline, tick),
                                     .states = hc_timeline_states(timeline, tick),
                                     .newest =
                                         values->newest + place * hc_unit_total(values->world)};
}

/// Whether the value is what the timeline has of `unit` at the row's tick, with the newest known
/// input `input` of its owner at `known`.
static bool is_current(const struct hc_sv_values_row *row, hc_unit unit,
                       const struct hc_unit_value *value, hc_tick known, const uint8_t *input) {
    const struct hc_world *world = row->values->world;
    size_t first = hc_unit_first(world, unit), count = hc_unit_count(world, unit);
    return value->known == known && memcmp(value->input, input, world->game->input_size) == 0 &&
           memcmp(value->presence, row->presence + first, count) == 0 &&
           memcmp(value->states, row->states + first * world->stride, count * world->stride) == 0;
}

/// Whether the value with this number stays for a quarter of the ring.
static bool stays(const struct hc_sv_values *values, hc_sv_value_id id) {
    return values_left(values, id) > values->in_use / 4;
}

/// Takes more of the ring into use for a unit without a value so far.
static void add_unit(struct hc_sv_values *values, hc_unit unit) {
    values->has[unit] = true;
    values->units++;
    values->in_use += values->each;
}

/// Compares the newest value of the unit with the timeline; returns the number of an equal one.
static hc_sv_value_id compare(const struct hc_sv_values_row *row, hc_unit unit,
                              struct hc_sv_newest *newest) {
    struct hc_sv_values *values = row->values;
    const struct hc_world *world = values->world;
    HC_ASSERT(unit < hc_unit_total(world));
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    if (newest->compared <= row->tick) // of an earlier tick, which it took the place of
        newest->id = 0;
    newest->compared = row->head + 1;
    const struct hc_sv_value *stored = hc_sv_values_get(values, newest->id);
    if (stored != NULL && stays(values, newest->id) &&
        is_current(row, unit, &stored->unit, known, input))
        return newest->id;
    if (!values->has[unit])
        add_unit(values, unit);
    struct hc_sv_value *value = value_at(values, values->next);
    newest->changed = row->head;
    value->id = newest->id = values->next;
    value->unit.tick = row->tick;
    value->unit.known = known;
    memcpy(value->unit.input, input, sizeof value->unit.input);
    hc_unit_place(world, &value->unit, (uint8_t *)(value + 1));
    hc_unit_read(world, unit, row->presence, row->states, &value->unit);
    value->hash = (uint32_t)hc_unit_hash(world, unit, &value->unit);
    value->states = hc_runs_hash(world, unit, &value->unit);
    values->next = number_after(values);
    return value->id;
}

hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit) {
    struct hc_sv_newest *newest = &row->newest[unit];
    if (newest->compared == row->head + 1 && stays(row->values, newest->id))
        return newest->id;
    return compare(row, unit, newest);
}

const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values, hc_sv_value_id id) {
    const struct hc_sv_value *value = value_at(values, id);
    return id != 0 && value->id == id ? value : NULL;
}

void hc_sv_values_prefetch(const struct hc_sv_values *values, hc_sv_value_id id) {
    hc_prefetch(value_at(values, id), 2 * sizeof(struct hc_sv_value));
}

bool hc_sv_values_alike(const struct hc_sv_values *values, hc_unit unit, hc_sv_value_id a,
                        hc_sv_value_id b) {
    if (a == b)
        return true;
    const struct hc_sv_value *x = hc_sv_values_get(values, a), *y = hc_sv_values_get(values, b);
    size_t count = hc_unit_count(values->world, unit);
    return x != NULL && y != NULL && memcmp(x->unit.presence, y->unit.presence, count) == 0 &&
           memcmp(x->unit.states, y->unit.states, count * values->world->stride) == 0;
}

/// The value pinned at the place, if its number is not 0.
static struct hc_sv_value *pin_of(const struct hc_sv_values *values, uint32_t pin) {
    return (struct hc_sv_value *)(void *)(values->pins + pin * values->size);
}

void hc_sv_values_pin(struct hc_sv_values *values, uint32_t pin, hc_unit unit, hc_sv_value_id id) {
    const struct hc_sv_value *value = hc_sv_values_get(values, id);
    struct hc_sv_value *to = pin_of(values, pin);
    to->id = value == NULL ? 0 : id;
    if (value == NULL)
        return;
    to->hash = value->hash;
    to->states = value->states;
    hc_unit_place(values->world, &to->unit, (uint8_t *)(to + 1));
    hc_unit_copy(values->world, unit, &to->unit, &value->unit);
}

const struct hc_sv_value *hc_sv_values_pinned(const struct hc_sv_values *values, uint32_t pin,
                                              hc_sv_value_id id) {
    // A pinned value may be so old that its number is another value's by now.
    const struct hc_sv_value *pinned = pin_of(values, pin);
    if (id == 0 || pinned->id != id)
        return hc_sv_values_get(values, id);
    HC_MARK("value-pinned");
    return pinned;
}

// ---- Deltas -------------------------------------------------------------------------------------

_Static_assert(HC_INPUT_MAX == 16, "an input is two words");

static struct hc_sv_input_words words_of(const uint8_t *input, size_t size) {
    struct hc_sv_input_words words = {{0}};
    memcpy(words.at, input, size);
    return words;
}

/// Ones in the bytes of the input's fields that count as keys.
static struct hc_sv_input_words key_fields(const struct hc_game *game) {
    uint8_t ones[HC_INPUT_MAX] = {0};
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *field = &game->input_fields[i];
        if (field->bits <= KEY_BITS && !field->shown_ago && !field->own_shown_ago)
            memset(ones + field->offset, 0xff, field->size);
    }
    return words_of(ones, sizeof ones);
}

/// Whether two inputs differ in fields that count as keys.
static bool keys_differ(const struct hc_sv_deltas *deltas, struct hc_sv_input_words a,
                        struct hc_sv_input_words b) {
    return (((a.at[0] ^ b.at[0]) & deltas->keys.at[0]) |
            ((a.at[1] ^ b.at[1]) & deltas->keys.at[1])) != 0;
}

bool hc_sv_deltas_keys_differ(const struct hc_sv_deltas *deltas, const uint8_t *a,
                              const uint8_t *b) {
    size_t size = deltas->world->game->input_size;
    return keys_differ(deltas, words_of(a, size), words_of(b, size));
}

/// The sets for the deltas of so many units, a power of two.
static uint32_t sets_for(const struct hc_sv_deltas *deltas, uint32_t units) {
    uint32_t sets = 1;
    while (sets * WAYS < units * deltas->each)
        sets *= 2;
    return sets;
}

size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world,
                           struct hc_extrapolator *extrapolator, uint32_t each, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(hc_unit_total(world) * (size_t)each <= UINT32_C(1) << 30);
    deltas->world = world;
    hc_value_codec_init(&deltas->codec, world);
    deltas->keys = key_fields(world->game);
    deltas->each = each;
    size_t sets = sets_for(deltas, hc_unit_total(world));
    deltas->entries = hc_carve(base, &used, sets * WAYS * sizeof *deltas->entries);
    used += hc_runs_layout(&deltas->runs, world, extrapolator, hc_unit_total(world), RUNS,
                           RUN_STATES, base == NULL ? NULL : base + used);
    deltas->turns = hc_carve(base, &used, world->players * sizeof *deltas->turns);
    deltas->encoding = hc_carve(base, &used, sizeof *deltas->encoding);
    return used;
}

void hc_sv_deltas_begin(struct hc_sv_deltas *deltas) {
    for (hc_player p = 0; p < deltas->world->players; p++)
        deltas->turns[p] = (struct hc_sv_turns){.head = HC_NO_TICK};
    for (unsigned i = 0; i < 2; i++) // at first each delta tries one
        deltas->second[i] = (struct hc_sv_second_list){.saved = 2 * SECOND_SAVES * SECOND_PARTS};
    deltas->units = 0;
    hc_sv_deltas_serve(deltas, 1);
}

void hc_sv_deltas_serve(struct hc_sv_deltas *deltas, uint32_t units) {
    HC_ASSERT(units <= hc_unit_total(deltas->world));
    if (units <= deltas->units)
        return;
    deltas->units = units;
    deltas->sets = sets_for(deltas, units);
}

// ---- Stored deltas ------------------------------------------------------------------------------

static struct hc_sv_delta_entry *set_of(const struct hc_sv_deltas *deltas,
                                        const struct hc_sv_delta_key *key) {
    uint64_t hash = hc_mix(hc_mix((uint64_t)key->base << 32 | key->value, key->referee), key->unit);
    return &deltas->entries[(hash & (deltas->sets - 1)) * WAYS];
}

static bool is_of(const struct hc_sv_delta_entry *entry, const struct hc_sv_delta_key *key) {
    return entry->key.value == key->value && entry->key.base == key->base &&
           entry->key.referee == key->referee && entry->key.unit == key->unit &&
           entry->key.how == key->how;
}

const struct hc_sv_delta_entry *hc_sv_deltas_find(const struct hc_sv_deltas *deltas,
                                                  const struct hc_sv_delta_key *key) {
    const struct hc_sv_delta_entry *set = set_of(deltas, key);
    HC_ASSERT(key->value != 0);
    for (unsigned i = 0; i < WAYS; i++)
        if (is_of(&set[i], key))
            return &set[i];
    return NULL;
}

void hc_sv_deltas_put(struct hc_sv_deltas *deltas, const struct hc_sv_delta_key *key,
                      const uint8_t *data, uint32_t bits) {
    struct hc_sv_delta_entry *set = set_of(deltas, key);
    HC_ASSERT(key->value != 0);
    if (bits > 8 * HC_SV_DELTA_STORED)
        return;
    if (!is_of(&set[0], key))
        set[1] = set[0];
    set[0].key = *key;
    set[0].bits = (uint16_t)bits;
    memcpy(set[0].data, data, (bits + 7) / 8);
}

// ---- Input changes ------------------------------------------------------------------------------

enum { TURN_TICKS = 64 }; ///< of hc_sv_turns.changed

/// Renews the ticks at which the player's input changes, once for each head: inputs that were
/// known or forced at the head before are not compared again.
static void renew_turns(const struct hc_sv_encoder *encoder, hc_player player,
                        struct hc_sv_turns *turns) {
    const struct hc_timeline *timeline = encoder->timeline;
    hc_tick head = hc_timeline_head(timeline);
    size_t size = encoder->deltas->world->game->input_size;
    if (turns->head == head)
        return;
    hc_tick from =
        hc_tick_max(hc_tick_max(turns->settled, encoder->since), hc_tick_back(head, TURN_TICKS));
    const uint8_t *last = from < head ? hc_timeline_effective(timeline, player, from) : NULL;
    for (hc_tick t = from + 1; t < head; t++) {
        const uint8_t *now = hc_timeline_effective(timeline, player, t);
        uint64_t bit = UINT64_C(1) << t % TURN_TICKS;
        turns->changed =
            memcmp(last, now, size) != 0 ? turns->changed | bit : turns->changed & ~bit;
        last = now;
    }
    turns->settled =
        hc_tick_min(hc_timeline_inputs_through(timeline, player), hc_tick_back(head, 1));
    turns->head = head;
}

/// The ticks in [from, end), at most TURN_TICKS, in which the player's input may differ from that
/// of the tick before, and the first: bit i for tick from + i.
static uint64_t turning_ticks(const struct hc_sv_turns *turns, hc_tick from, hc_tick end) {
    unsigned by = from % TURN_TICKS;
    uint64_t ticks = turns->changed >> by | turns->changed << (TURN_TICKS - by) % TURN_TICKS;
    if (from < hc_tick_back(turns->head, TURN_TICKS - 1))
        ticks = UINT64_MAX; // they are not recorded
    uint32_t count = end - from;
    return (ticks | 1) & (count < TURN_TICKS ? (UINT64_C(1) << count) - 1 : UINT64_MAX);
}

/// Lists all changes of the owner's input in the steps from the baseline to `end`; the steps before
/// are given `given`.
static void list_all(struct hc_sv_encoder *encoder, const struct hc_value_base *base, hc_tick end,
                     const uint8_t *given, struct hc_input_changes *out) {
    const struct hc_world *world = base->codec->world;
    const struct hc_game *game = world->game;
    hc_player player = hc_unit_player(world, base->unit);
    struct hc_sv_turns *turns = &encoder->deltas->turns[player];
    renew_turns(encoder, player, turns);
    out->count = 0;
    uint64_t ticks = turning_ticks(turns, base->from->tick, end);
    for (; ticks != 0; ticks &= ticks - 1) {
        hc_tick t = base->from->tick + (hc_tick)__builtin_ctzll(ticks);
        struct hc_input_change *change = &out->at[out->count];
        memset(change->input, 0, sizeof change->input);
        memcpy(change->input, hc_timeline_effective(encoder->timeline, player, t),
               game->input_size);
        game->sanitize_input(change->input); // as the reader does; a prediction may need it
        if (memcmp(change->input, given, sizeof change->input) == 0)
            continue;
        change->tick = t;
        given = change->input;
        out->count++;
    }
}

/// Lists the changes of keys among `all`; `alone`: the fields that are no keys stay as `given`.
static void list_keys(const struct hc_sv_deltas *deltas, const struct hc_input_changes *all,
                      const uint8_t *given, bool alone, struct hc_input_changes *out) {
    struct hc_sv_input_words before = words_of(given, HC_INPUT_MAX), last = before;
    out->count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        struct hc_sv_input_words now = words_of(all->at[i].input, HC_INPUT_MAX);
        if (!keys_differ(deltas, now, last))
            continue;
        for (unsigned w = 0; w < HC_INPUT_MAX / 8 && alone; w++)
            now.at[w] ^= (now.at[w] ^ before.at[w]) & ~deltas->keys.at[w];
        struct hc_input_change *listed = &out->at[out->count++];
        listed->tick = all->at[i].tick;
        memcpy(listed->input, now.at, sizeof listed->input);
        last = now;
    }
}

static bool same_list(const struct hc_game *game, const struct hc_input_changes *a,
                      const struct hc_input_changes *b) {
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same = a->at[i].tick == b->at[i].tick &&
               memcmp(a->at[i].input, b->at[i].input, game->input_size) == 0;
    return same;
}

// ---- Encoding -----------------------------------------------------------------------------------

/// Encodes the value with the input changes, and keeps the delta if it is the shortest. It
/// extrapolates only if the list of changes leaves room for a shorter one. Returns the entities
/// that then differ from their extrapolation, bit i for entity i.
static uint32_t attempt(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                        const struct hc_sv_value *from, const struct hc_input_changes *changes,
                        const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    uint32_t differs = 0;
    if (encoding->bits != UINT32_MAX && changes->count > 0 &&
        hc_value_listed_bits(base, changes, value->tick) >= encoding->bits)
        return 0;
    struct hc_bits_writer bits = hc_bits_writer(encoding->data[!encoding->best], HC_SV_DELTA_MAX);
    if (from == NULL ||
        !hc_extrapolate_simulates(base->how, base->unit, value->tick - from->unit.tick)) {
        hc_value_put(&bits, base, NULL, value);
    } else {
        struct hc_unit_value extrapolated = hc_runs_extrapolate(
            &encoder->deltas->runs, base->unit, &from->unit, from->states, changes, value->tick);
        differs = hc_value_put_extrapolated(&bits, base, changes, &extrapolated, value);
    }
    uint32_t written = (uint32_t)hc_bits_written(&bits);
    HC_ASSERT(!hc_bits_failed(&bits));
    if (written >= encoding->bits)
        return differs;
    hc_bits_finish(&bits);
    encoding->best = !encoding->best;
    encoding->bits = written;
    return differs;
}

/// Whether a delta tries a second list.
static bool tries_second(struct hc_sv_second_list *second) {
    if (second->saved < SECOND_SAVES * SECOND_PARTS && ++second->untried < SECOND_UNTRIED)
        return false;
    second->untried = 0;
    return true;
}

/// Encodes `value`, of the timeline as it is now, as the shorter delta of the two that are tried;
/// `from` is the baseline. Fields that are no keys matter where an entity is not as extrapolated
/// without their changes.
static void encode(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                   const struct hc_sv_value *from, const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    const struct hc_world *world = base->codec->world;
    uint8_t given[HC_INPUT_MAX] = {0};
    bool takes =
        base->from != NULL && base->from->tick >= encoder->since &&
        hc_extrapolate_takes_changes(world, base->how, base->unit, base->from, value->tick);
    encoding->best = 0;
    encoding->bits = UINT32_MAX;
    encoding->alone.count = 0;
    if (takes) {
        hc_extrapolate_input(world, base->from, given);
        list_all(encoder, base, value->tick, given, &encoding->all);
        list_keys(encoder->deltas, &encoding->all, given, true, &encoding->alone);
    }
    uint32_t differs = attempt(encoder, base, from, &encoding->alone, value);
    struct hc_sv_second_list *second = &encoder->deltas->second[differs > 1];
    if (differs == 0 || !takes || !tries_second(second))
        return;
    list_keys(encoder->deltas, &encoding->all, given, false, &encoding->whole);
    if (same_list(world->game, &encoding->whole, &encoding->alone))
        return;
    uint32_t before = encoding->bits;
    attempt(encoder, base, from, &encoding->whole, value);
    second->saved += (before - encoding->bits) * (SECOND_PARTS / SECOND_WEIGHT);
    second->saved -= second->saved / SECOND_WEIGHT;
}

// ---- The deltas of one snapshot -----------------------------------------------------------------

void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, const struct hc_sv_value *referee) {
    bool alive = referee->unit.presence[0] == HC_ALIVE;
    encoder->referee_id = referee->id;
    encoder->referee = alive ? referee->unit.states : NULL;
    hc_runs_refer(&encoder->deltas->runs, encoder->referee);
}

/// The key of a delta between two values, by their numbers.
static struct hc_sv_delta_key key_of(const struct hc_sv_encoder *encoder, hc_unit unit,
                                     hc_sv_value_id base, hc_sv_value_id value) {
    enum hc_extrapolation how = base == 0 ? HC_EXTRAPOLATION_HOLD : encoder->how;
    bool steps = unit != 0 && how == HC_EXTRAPOLATION_STEP;
    return (struct hc_sv_delta_key){.base = base,
                                    .value = value,
                                    .referee = steps ? encoder->referee_id : 0,
                                    .unit = unit,
                                    .how = how};
}

void hc_sv_encoder_prefetch(const struct hc_sv_encoder *encoder, hc_unit unit, hc_sv_value_id base,
                            hc_sv_value_id value) {
    struct hc_sv_delta_key key = key_of(encoder, unit, base, value);
    const struct hc_sv_delta_entry *set = set_of(encoder->deltas, &key);
    for (unsigned i = 0; i < WAYS; i++)
        __builtin_prefetch(&set[i]);
}

bool hc_sv_encoder_too_dear(const struct hc_sv_encoder *encoder, hc_unit unit,
                            const struct hc_sv_value *base, const struct hc_sv_value *value) {
    if (base == NULL || unit == 0 ||
        hc_sv_extrapolation_fits(&encoder->cost, HC_EXTRAPOLATE_TICKS_MAX))
        return false;
    struct hc_sv_delta_key key = key_of(encoder, unit, base->id, value->id);
    uint32_t steps = hc_sv_deltas_steps(encoder->how, base->unit.tick, value->unit.tick);
    return hc_sv_deltas_find(encoder->deltas, &key) == NULL &&
           !hc_sv_extrapolation_fits(&encoder->cost, steps);
}

struct hc_sv_delta hc_sv_encoder_delta(struct hc_sv_encoder *encoder, hc_unit unit,
                                       const struct hc_sv_value *base,
                                       const struct hc_sv_value *value, bool pays) {
    struct hc_sv_deltas *deltas = encoder->deltas;
    struct hc_sv_delta_key key = key_of(encoder, unit, base == NULL ? 0 : base->id, value->id);
    const struct hc_sv_delta_entry *stored = hc_sv_deltas_find(deltas, &key);
    if (stored != NULL) {
        encoder->reused++;
        return (struct hc_sv_delta){.data = stored->data, .bits = stored->bits};
    }
    encoder->encoded++;
    if (base != NULL && unit != 0 && pays) {
        uint32_t steps = hc_sv_deltas_steps(encoder->how, base->unit.tick, value->unit.tick);
        hc_sv_extrapolation_take(&encoder->cost, steps);
        encoder->steps += steps;
    }
    struct hc_sv_encoding *encoding = deltas->encoding;
    struct hc_value_base against = {.codec = &deltas->codec,
                                    .extrapolator = deltas->runs.extrapolator,
                                    .how = encoder->how,
                                    .unit = unit,
                                    .from = base == NULL ? NULL : &base->unit,
                                    .referee = unit == 0 ? NULL : encoder->referee};
    encode(encoder, &against, base, &value->unit);
    struct hc_sv_delta delta = {.data = encoding->data[encoding->best], .bits = encoding->bits};
    hc_sv_deltas_put(deltas, &key, delta.data, delta.bits);
    return delta;
}
