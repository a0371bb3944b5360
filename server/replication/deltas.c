/// The ring of values, the table of stored deltas, and the input changes that a delta lists.
#include "server/replication/deltas.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"

#include <string.h>
#include <xxhash.h>

enum {
    WAYS = 2,     ///< entries of a set, the newer first
    KEY_BITS = 3, ///< of an input's field that counts as keys, at most
};

// ---- Values -------------------------------------------------------------------------------------

size_t hc_sv_values_layout(struct hc_sv_values *values, const struct hc_world *world, uint32_t rows,
                           uint32_t capacity, uint32_t pins, uint8_t *base) {
    size_t align = _Alignof(struct hc_sv_value);
    size_t used = 0, cells = (size_t)rows * hc_unit_total(world);
    HC_ASSERT(rows > 0 && capacity < UINT32_C(1) << 30);
    values->world = world;
    values->rows = rows;
    values->capacity = 4;
    while (values->capacity < capacity)
        values->capacity *= 2;
    values->each = (sizeof(struct hc_sv_value) + hc_unit_bytes(world) + align - 1) / align * align;
    values->ring = hc_carve(base, &used, values->capacity * values->each);
    values->pins = hc_carve(base, &used, pins * values->each);
    values->newest = hc_carve(base, &used, cells * sizeof *values->newest);
    values->row_tick = hc_carve(base, &used, rows * sizeof *values->row_tick);
    return used;
}

/// The place of a value, which may hold another one.
static struct hc_sv_value *place_of(const struct hc_sv_values *values, hc_sv_value_id id) {
    size_t place = id & (values->capacity - 1);
    return (struct hc_sv_value *)(void *)(values->ring + place * values->each);
}

void hc_sv_values_clear(struct hc_sv_values *values) {
    values->next = 1;
    for (uint32_t i = 0; i < values->capacity; i++)
        place_of(values, i)->id = 0;
    memset(values->row_tick, 0xff, values->rows * sizeof *values->row_tick);
}

struct hc_sv_values_row hc_sv_values_row(struct hc_sv_values *values,
                                         const struct hc_timeline *timeline, hc_tick tick) {
    uint32_t units = hc_unit_total(values->world);
    size_t place = tick % values->rows;
    struct hc_sv_values_row row = {.values = values,
                                   .timeline = timeline,
                                   .tick = tick,
                                   .head = hc_timeline_head(timeline),
                                   .presence = hc_timeline_presence(timeline, tick),
                                   .states = hc_timeline_states(timeline, tick),
                                   .newest = values->newest + place * units};
    HC_ASSERT(tick != HC_NO_TICK);
    if (values->row_tick[place] == tick)
        return row;
    values->row_tick[place] = tick;
    for (uint32_t u = 0; u < units; u++)
        row.newest[u] = (struct hc_sv_newest){.compared = HC_NO_TICK, .changed = HC_NO_TICK};
    return row;
}

uint64_t hc_sv_values_hash(const struct hc_world *world, hc_unit unit,
                           const struct hc_unit_value *value) {
    size_t count = hc_unit_count(world, unit);
    return XXH3_64bits_withSeed(value->presence, count,
                                XXH3_64bits(value->states, count * world->stride));
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

/// Compares the newest value of the unit with the timeline; returns the number of an equal one.
static hc_sv_value_id compare(const struct hc_sv_values_row *row, hc_unit unit,
                              struct hc_sv_newest *newest) {
    struct hc_sv_values *values = row->values;
    const struct hc_world *world = values->world;
    struct hc_sv_value *value = place_of(values, values->next);
    HC_ASSERT(unit < hc_unit_total(world));
    hc_player player = hc_unit_player(world, unit);
    hc_tick known = HC_NO_TICK;
    uint8_t input[HC_INPUT_MAX] = {0};
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(row->timeline, player, row->tick, &known, input);
    newest->compared = row->head;
    const struct hc_sv_value *stored = hc_sv_values_get(values, newest->id);
    uint32_t age = values->next - newest->id;
    if (stored != NULL && age < values->capacity / 4 * 3 &&
        is_current(row, unit, &stored->unit, known, input))
        return newest->id;
    newest->changed = row->head;
    value->id = newest->id = values->next++;
    value->unit.tick = row->tick;
    value->unit.known = known;
    memcpy(value->unit.input, input, sizeof value->unit.input);
    hc_unit_place(world, &value->unit, (uint8_t *)(value + 1));
    hc_unit_read(world, unit, row->presence, row->states, &value->unit);
    value->hash = (uint32_t)hc_unit_hash(world, unit, &value->unit);
    value->states = hc_sv_values_hash(world, unit, &value->unit);
    if (values->next == 0)
        values->next = 1;
    return value->id;
}

hc_sv_value_id hc_sv_values_put(const struct hc_sv_values_row *row, hc_unit unit) {
    struct hc_sv_newest *newest = &row->newest[unit];
    uint32_t age = row->values->next - newest->id;
    if (newest->compared == row->head && age < row->values->capacity / 4 * 3)
        return newest->id;
    return compare(row, unit, newest);
}

const struct hc_sv_value *hc_sv_values_get(const struct hc_sv_values *values, hc_sv_value_id id) {
    const struct hc_sv_value *value = place_of(values, id);
    return id != 0 && value->id == id ? value : NULL;
}

void hc_sv_values_prefetch(const struct hc_sv_values *values, hc_sv_value_id id) {
    const struct hc_sv_value *value = place_of(values, id);
    __builtin_prefetch(value);
    __builtin_prefetch(value + 1);
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
    return (struct hc_sv_value *)(void *)(values->pins + pin * values->each);
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

static size_t run_count(const struct hc_world *world) {
    return (size_t)hc_unit_total(world) * HC_SV_RUN_TICKS * HC_SV_RUN_WAYS;
}

/// Which of the input's fields count as keys, bit i for field i.
static uint32_t key_fields(const struct hc_game *game) {
    uint32_t keys = 0;
    for (unsigned i = 0; i < game->input_field_count; i++)
        keys |=
            (uint32_t)(game->input_fields[i].bits <= KEY_BITS && !game->input_fields[i].shown_ago)
            << i;
    return keys;
}

size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world,
                           struct hc_extrapolator *extrapolator, uint32_t entries, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries <= UINT32_C(1) << 30);
    deltas->world = world;
    hc_value_codec_init(&deltas->codec, world);
    deltas->extrapolator = extrapolator;
    deltas->keys = key_fields(world->game);
    deltas->sets = 1;
    while (deltas->sets * WAYS < entries)
        deltas->sets *= 2;
    deltas->entries = hc_carve(base, &used, (size_t)deltas->sets * WAYS * sizeof *deltas->entries);
    deltas->runs = hc_carve(base, &used, run_count(world) * sizeof *deltas->runs);
    deltas->run_states = hc_carve(base, &used, run_count(world) * hc_unit_bytes(world));
    deltas->encoding = hc_carve(base, &used, sizeof *deltas->encoding);
    return used;
}

static void forget_runs(struct hc_sv_deltas *deltas) {
    memset(deltas->runs, 0, run_count(deltas->world) * sizeof *deltas->runs);
}

void hc_sv_deltas_clear(struct hc_sv_deltas *deltas) {
    memset(deltas->entries, 0, (size_t)deltas->sets * WAYS * sizeof *deltas->entries);
    forget_runs(deltas);
    deltas->way = 0;
    deltas->groups = 0;
}

// ---- Stored deltas ------------------------------------------------------------------------------

/// A hash of two words.
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

static struct hc_sv_delta_entry *set_of(const struct hc_sv_deltas *deltas,
                                        const struct hc_sv_delta_key *key) {
    uint64_t hash = mix(mix((uint64_t)key->base << 32 | key->value, key->referee), key->unit);
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

/// Lists all changes of the owner's input in the steps from the baseline to `end`; the steps before
/// are given `given`.
static void list_all(const struct hc_timeline *timeline, const struct hc_value_base *base,
                     hc_tick end, const uint8_t *given, struct hc_input_changes *out) {
    const struct hc_world *world = base->codec->world;
    const struct hc_game *game = world->game;
    hc_player player = hc_unit_player(world, base->unit);
    const uint8_t *last = NULL; // before it is sanitized
    out->count = 0;
    for (hc_tick t = base->from->tick; t < end; t++) {
        const uint8_t *now = hc_timeline_effective(timeline, player, t);
        if (last != NULL && memcmp(last, now, game->input_size) == 0)
            continue;
        last = now;
        struct hc_input_change *change = &out->at[out->count];
        memset(change->input, 0, sizeof change->input);
        memcpy(change->input, now, game->input_size);
        game->sanitize_input(change->input); // as the reader does; a prediction may need it
        if (memcmp(change->input, given, game->input_size) == 0)
            continue;
        change->tick = t;
        given = change->input;
        out->count++;
    }
}

/// Lists the changes of keys among `all`; `alone`: the fields that are no keys stay as `given`.
static void list_keys(const struct hc_value_codec *codec, const struct hc_input_changes *all,
                      uint32_t keys, const uint8_t *given, bool alone,
                      struct hc_input_changes *out) {
    const struct hc_game *game = codec->world->game;
    const uint8_t *last = given;
    out->count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        const struct hc_input_change *change = &all->at[i];
        if ((hc_value_compare_inputs(codec, change->input, last) & keys) == 0)
            continue;
        struct hc_input_change *listed = &out->at[out->count++];
        *listed = *change;
        for (unsigned f = 0; f < game->input_field_count && alone; f++)
            if ((keys >> f & 1) == 0)
                hc_field_set(&game->input_fields[f], listed->input,
                             hc_field_get(&game->input_fields[f], given));
        last = listed->input;
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

// ---- Extrapolation ------------------------------------------------------------------------------

/// The hash of the referee's fields that any step has read.
static uint64_t hash_referee(const struct hc_sv_deltas *deltas, const void *referee) {
    const struct hc_kind *kind = &deltas->world->game->kinds[0];
    uint64_t hash = referee == NULL;
    for (unsigned f = 0; f < kind->field_count && referee != NULL; f++)
        if ((deltas->groups >> kind->fields[f].group & 1) != 0)
            hash = mix(hash + f, (uint64_t)hc_field_get(&kind->fields[f], referee));
    return hash;
}

void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, const struct hc_sv_value *referee) {
    bool alive = referee->unit.presence[0] == HC_ALIVE;
    encoder->referee_id = referee->id;
    encoder->referee = alive ? referee->unit.states : NULL;
    encoder->referee_hash = hash_referee(encoder->deltas, encoder->referee);
}

/// The first of the places of the unit's runs from `tick`.
static size_t first_place(hc_unit unit, hc_tick tick) {
    return ((size_t)unit * HC_SV_RUN_TICKS + tick % HC_SV_RUN_TICKS) * HC_SV_RUN_WAYS;
}

/// The longest stored run with this key of the unit from `tick` that does not go beyond `end`; if
/// there is none, a free one to replace.
static struct hc_sv_run *run_at(struct hc_sv_deltas *deltas, hc_unit unit, hc_tick tick,
                                uint64_t key, hc_tick end) {
    struct hc_sv_run *runs = &deltas->runs[first_place(unit, tick)], *best = NULL;
    for (unsigned way = 0; way < HC_SV_RUN_WAYS; way++)
        if (runs[way].key == key && runs[way].to <= end &&
            (best == NULL || runs[way].to > best->to))
            best = &runs[way];
    if (best != NULL)
        return best;
    best = &runs[deltas->way++ % HC_SV_RUN_WAYS];
    best->key = 0;
    return best;
}

/// A walk of a unit from a baseline over stored runs.
struct walk {
    struct hc_sv_encoder *encoder;
    hc_unit unit;
    bool owned;
    struct hc_unit_value now;     ///< its pointers are to the states there
    uint64_t hash;                ///< of these states
    struct hc_input_change given; ///< the owner's input
    uint64_t input;               ///< hash of that and of the referee
};

static void give(struct walk *walk, const uint8_t *input) {
    uint64_t words[2] = {0};
    memcpy(walk->given.input, input, sizeof walk->given.input);
    memcpy(words, input, sizeof words);
    walk->input = mix(mix(walk->encoder->referee_hash, words[0]), words[1]) | 1;
}

/// The key of a run from where the walk is.
static uint64_t key_here(const struct walk *walk) {
    return mix(mix(walk->hash, walk->input), (uint64_t)walk->now.tick << 16 | walk->unit) | 1;
}

/// Puts the walk at the end of a run.
static void jump(struct walk *walk, const struct hc_sv_run *run) {
    const struct hc_sv_deltas *deltas = walk->encoder->deltas;
    size_t number = (size_t)(run - deltas->runs);
    walk->hash = run->after;
    walk->now.tick = run->to;
    hc_unit_place(deltas->world, &walk->now,
                  deltas->run_states + number * hc_unit_bytes(deltas->world));
}

/// Simulates the unit up to `end` under the same input, as the end of `run`. False: it read more of
/// the referee than any before, and all runs are forgotten.
static bool simulate(struct walk *walk, struct hc_sv_run *run, hc_tick end) {
    struct hc_sv_encoder *encoder = walk->encoder;
    struct hc_sv_deltas *deltas = encoder->deltas;
    struct hc_input_changes changes;
    struct hc_unit_value from = walk->now, out;
    changes.count = 0;
    walk->given.tick = from.tick;
    if (walk->owned)
        changes.at[changes.count++] = walk->given;
    run->to = end;
    jump(walk, run);
    out = walk->now; // it shares the pointers; its age and input are those of the baseline
    hc_extrapolate(deltas->extrapolator, HC_EXTRAPOLATION_STEP, walk->unit, &from, &changes,
                   encoder->referee, end, &out);
    walk->hash = run->after = hc_sv_values_hash(deltas->world, walk->unit, &out);
    uint8_t groups = hc_extrapolator_groups(deltas->extrapolator);
    if ((groups & ~deltas->groups) == 0)
        return true;
    forget_runs(deltas);
    deltas->groups |= groups;
    encoder->referee_hash = hash_referee(deltas, encoder->referee);
    return false;
}

/// Goes on to `end` under the same input: by the run that is stored, and beyond it by simulation,
/// which makes the run longer. False: the walk must begin anew.
static bool go_run(struct walk *walk, hc_tick end) {
    uint64_t key = key_here(walk);
    struct hc_sv_run *run = run_at(walk->encoder->deltas, walk->unit, walk->now.tick, key, end);
    if (run->key == key)
        jump(walk, run);
    if (walk->now.tick < end && !simulate(walk, run, end))
        return false;
    run->key = key;
    return true;
}

/// Goes on to `tick` with the input changes. False: the walk must begin anew.
static bool go_to(struct walk *walk, const struct hc_input_changes *changes, hc_tick tick) {
    for (unsigned next = 0; walk->now.tick < tick;) {
        if (next < changes->count && changes->at[next].tick == walk->now.tick)
            give(walk, changes->at[next++].input);
        hc_tick end = next < changes->count ? changes->at[next].tick : tick;
        if (!go_run(walk, end))
            return false;
    }
    return true;
}

/// The extrapolation of the baseline to `tick` with these input changes, whose states are borrowed
/// until the next. As hc_extrapolate's.
static struct hc_unit_value extrapolate(struct hc_sv_encoder *encoder, hc_unit unit,
                                        const struct hc_sv_value *base,
                                        const struct hc_input_changes *changes, hc_tick tick) {
    const struct hc_world *world = encoder->deltas->world;
    bool owned = hc_unit_player(world, unit) != HC_NO_PLAYER;
    struct walk walk = {.encoder = encoder, .unit = unit, .owned = owned};
    uint8_t first[HC_INPUT_MAX] = {0};
    if (owned)
        hc_extrapolate_input(world, &base->unit, first);
    do {
        walk.now = base->unit;
        walk.hash = base->states;
        give(&walk, first);
    } while (!go_to(&walk, changes, tick));
    struct hc_unit_value now = walk.now;
    if (now.known != HC_NO_TICK)
        now.known += tick - base->unit.tick;
    if (changes->count == 0)
        return now;
    memcpy(now.input, changes->at[changes->count - 1].input, world->game->input_size);
    if (now.known == HC_NO_TICK)
        now.known = tick - 1;
    return now;
}

// ---- Encoding -----------------------------------------------------------------------------------

/// Encodes the value with the input changes, and keeps the delta if it is the shortest. It
/// extrapolates only if the list of changes leaves room for a shorter one. Returns whether an
/// entity then differs from its extrapolation.
static bool attempt(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                    const struct hc_sv_value *from, const struct hc_input_changes *changes,
                    const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    bool differs = false;
    if (changes->count > 0 && hc_value_listed_bits(base, changes, value->tick) >= encoding->bits)
        return false;
    struct hc_bits_writer bits = hc_bits_writer(encoding->data[!encoding->best], HC_SV_DELTA_MAX);
    if (base->unit == 0 || from == NULL ||
        hc_sv_deltas_steps(base->how, from->unit.tick, value->tick) == 0) {
        hc_value_put(&bits, base, NULL, value);
    } else {
        struct hc_unit_value extrapolated =
            extrapolate(encoder, base->unit, from, changes, value->tick);
        differs = hc_value_put_extrapolated(&bits, base, changes, &extrapolated, value);
    }
    uint32_t written = (uint32_t)hc_bits_written(&bits);
    HC_ASSERT(!bits.failed);
    if (written >= encoding->bits)
        return differs;
    hc_bits_finish(&bits);
    encoding->best = !encoding->best;
    encoding->bits = written;
    return differs;
}

/// Encodes `value`, of the timeline as it is now, as the shorter delta of the two that are tried;
/// `from` is the baseline. Fields that are no keys matter where an entity is not as extrapolated
/// without their changes.
static void encode(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                   const struct hc_sv_value *from, const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    const struct hc_world *world = base->codec->world;
    uint32_t keys = encoder->deltas->keys;
    uint8_t given[HC_INPUT_MAX] = {0};
    bool takes =
        base->from != NULL && base->from->tick >= encoder->since &&
        hc_extrapolate_takes_changes(world, base->how, base->unit, base->from, value->tick);
    encoding->best = 0;
    encoding->bits = UINT32_MAX;
    encoding->alone.count = 0;
    if (takes) {
        hc_extrapolate_input(world, base->from, given);
        list_all(encoder->timeline, base, value->tick, given, &encoding->all);
        list_keys(base->codec, &encoding->all, keys, given, true, &encoding->alone);
    }
    if (!attempt(encoder, base, from, &encoding->alone, value) || !takes)
        return;
    list_keys(base->codec, &encoding->all, keys, given, false, &encoding->whole);
    if (!same_list(world->game, &encoding->whole, &encoding->alone))
        attempt(encoder, base, from, &encoding->whole, value);
}

// ---- The deltas of one snapshot -----------------------------------------------------------------

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
                                    .extrapolator = deltas->extrapolator,
                                    .how = encoder->how,
                                    .unit = unit,
                                    .from = base == NULL ? NULL : &base->unit,
                                    .referee = unit == 0 ? NULL : encoder->referee};
    encode(encoder, &against, base, &value->unit);
    struct hc_sv_delta delta = {.data = encoding->data[encoding->best], .bits = encoding->bits};
    hc_sv_deltas_put(deltas, &key, delta.data, delta.bits);
    return delta;
}
