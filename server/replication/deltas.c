/// The table of stored deltas, and the choice of the input changes that a delta lists.
#include "server/replication/deltas.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "proto/fields.h"

#include <string.h>

enum {
    WAYS = 2,     ///< entries of a set, the newer first
    KEY_BITS = 3, ///< of an input's field that counts as keys, at most
};

static size_t step_count(const struct hc_world *world) {
    return (size_t)hc_unit_total(world) * HC_SV_STEP_TICKS * HC_SV_STEP_WAYS;
}

size_t hc_sv_deltas_layout(struct hc_sv_deltas *deltas, const struct hc_world *world,
                           struct hc_extrapolator *extrapolator, uint32_t entries, uint8_t *base) {
    size_t used = 0;
    HC_ASSERT(entries <= UINT32_C(1) << 30);
    deltas->world = world;
    deltas->extrapolator = extrapolator;
    deltas->sets = 1;
    while (deltas->sets * WAYS < entries)
        deltas->sets *= 2;
    deltas->entries = hc_carve(base, &used, (size_t)deltas->sets * WAYS * sizeof *deltas->entries);
    deltas->steps = hc_carve(base, &used, step_count(world) * sizeof *deltas->steps);
    deltas->step_states = hc_carve(base, &used, step_count(world) * hc_unit_bytes(world));
    deltas->encoding = hc_carve(base, &used, sizeof *deltas->encoding);
    deltas->scratch = hc_carve(base, &used, hc_unit_bytes(world));
    return used;
}

void hc_sv_deltas_clear(struct hc_sv_deltas *deltas) {
    memset(deltas->entries, 0, (size_t)deltas->sets * WAYS * sizeof *deltas->entries);
    memset(deltas->steps, 0, step_count(deltas->world) * sizeof *deltas->steps);
    deltas->step_way = 0;
    deltas->groups = 0;
}

// ---- Stored deltas ------------------------------------------------------------------------------

static struct hc_sv_delta_entry *set_of(const struct hc_sv_deltas *deltas,
                                        const struct hc_sv_delta_key *key) {
    uint64_t hash = hc_random(key->unit, key->base, key->value, key->referee);
    return &deltas->entries[(hash & (deltas->sets - 1)) * WAYS];
}

static bool is_of(const struct hc_sv_delta_entry *entry, const struct hc_sv_delta_key *key) {
    return entry->key.value == key->value && entry->key.base == key->base &&
           entry->key.referee == key->referee && entry->key.unit == key->unit;
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

/// Which of the input's fields count as keys, bit i for field i.
static uint32_t key_fields(const struct hc_game *game) {
    uint32_t keys = 0;
    for (unsigned i = 0; i < game->input_field_count; i++)
        keys |= (uint32_t)(game->input_fields[i].bits <= KEY_BITS) << i;
    return keys;
}

/// Whether the keys of two inputs differ.
static bool keys_differ(const struct hc_game *game, uint32_t keys, const uint8_t *a,
                        const uint8_t *b) {
    return (hc_fields_compare(game->input_fields, game->input_field_count, a, b) & keys) != 0;
}

/// Lists all changes of the owner's input in the steps from the baseline to `end`; the steps before
/// are given `given`. Returns whether keys have changed.
static bool list_all(const struct hc_timeline *timeline, const struct hc_value_base *base,
                     hc_tick end, uint32_t keys, const uint8_t *given,
                     struct hc_input_changes *out) {
    const struct hc_game *game = base->world->game;
    hc_player player = hc_unit_player(base->world, base->unit);
    const uint8_t *last = NULL; // before it is sanitized
    bool any_keys = false;
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
        any_keys |= keys_differ(game, keys, change->input, given);
        change->tick = t;
        given = change->input;
        out->count++;
    }
    return any_keys;
}

/// Lists the changes of keys among `all`; `alone`: the fields that are no keys stay as `given`.
static void list_keys(const struct hc_game *game, const struct hc_input_changes *all, uint32_t keys,
                      const uint8_t *given, bool alone, struct hc_input_changes *out) {
    const uint8_t *last = given;
    out->count = 0;
    for (unsigned i = 0; i < all->count; i++) {
        const struct hc_input_change *change = &all->at[i];
        if (!keys_differ(game, keys, change->input, last))
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

/// A hash of two words.
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t hash = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

/// The hash of the referee's fields that any step has read.
static uint64_t hash_referee(const struct hc_sv_deltas *deltas, const void *referee) {
    const struct hc_kind *kind = &deltas->world->game->kinds[0];
    uint64_t hash = referee == NULL;
    for (unsigned f = 0; f < kind->field_count && referee != NULL; f++)
        if ((deltas->groups >> kind->fields[f].group & 1) != 0)
            hash = mix(hash + f, (uint64_t)hc_field_get(&kind->fields[f], referee));
    return hash;
}

void hc_sv_encoder_begin(struct hc_sv_encoder *encoder, hc_sv_value_id referee_id,
                         const void *referee) {
    encoder->referee_id = referee_id;
    encoder->referee = referee;
    encoder->referee_hash = hash_referee(encoder->deltas, referee);
}

/// The states after a step, with the tick of `now`.
static void place_after(const struct hc_sv_deltas *deltas, const struct hc_sv_step *step,
                        struct hc_unit_value *now) {
    size_t number = (size_t)(step - deltas->steps);
    hc_unit_place(deltas->world, now, deltas->step_states + number * hc_unit_bytes(deltas->world));
}

/// Simulates a tick of the unit from `now`, with its owner's input `given` (NULL: no owner), into
/// `step`. False: it read more of the referee than any before, and all steps are forgotten.
static bool simulate(struct hc_sv_encoder *encoder, hc_unit unit, const struct hc_unit_value *now,
                     const struct hc_input_change *given, struct hc_sv_step *step) {
    struct hc_sv_deltas *deltas = encoder->deltas;
    struct hc_input_changes changes;
    struct hc_unit_value out;
    changes.count = 0;
    if (given != NULL)
        changes.at[changes.count++] = *given;
    place_after(deltas, step, &out);
    hc_extrapolate(deltas->extrapolator, unit, now, &changes, encoder->referee, now->tick + 1,
                   &out);
    step->after = hc_sv_values_hash(deltas->world, unit, &out);
    uint8_t groups = hc_extrapolator_groups(deltas->extrapolator);
    if ((groups & ~deltas->groups) == 0)
        return true;
    memset(deltas->steps, 0, step_count(deltas->world) * sizeof *deltas->steps);
    deltas->groups |= groups;
    encoder->referee_hash = hash_referee(deltas, encoder->referee);
    return false;
}

/// The stored step with this key of the unit from `tick`; if there is none, one to replace.
static struct hc_sv_step *step_at(struct hc_sv_deltas *deltas, hc_unit unit, hc_tick tick,
                                  uint64_t key) {
    struct hc_sv_step *steps =
        &deltas
             ->steps[((size_t)unit * HC_SV_STEP_TICKS + tick % HC_SV_STEP_TICKS) * HC_SV_STEP_WAYS];
    for (unsigned way = 0; way < HC_SV_STEP_WAYS; way++)
        if (steps[way].key == key)
            return &steps[way];
    return &steps[deltas->step_way++ % HC_SV_STEP_WAYS];
}

/// Moves `now` from the baseline, whose states have the hash `hash`, on to `tick`, by stored steps
/// where there are any: sets its pointers to the states there. The steps get the input `first`
/// (NULL: no owner) until the first of the changes. False: it must be called anew.
static bool walk(struct hc_sv_encoder *encoder, hc_unit unit, uint64_t hash,
                 const struct hc_input_changes *changes, const struct hc_input_change *first,
                 hc_tick tick, struct hc_unit_value *now) {
    struct hc_input_change given = {.tick = now->tick};
    uint64_t words[2] = {0}, input = 0;
    unsigned next = 0;
    if (first != NULL)
        given = *first;
    for (; now->tick < tick; now->tick++) {
        bool changes_now = next < changes->count && changes->at[next].tick == now->tick;
        if (changes_now)
            memcpy(given.input, changes->at[next++].input, sizeof given.input);
        if (changes_now || input == 0) {
            memcpy(words, given.input, sizeof words);
            input = mix(mix(encoder->referee_hash, words[0]), words[1]) | 1;
        }
        uint64_t key = mix(mix(hash, input), (uint64_t)now->tick << 16 | unit) | 1;
        struct hc_sv_step *step = step_at(encoder->deltas, unit, now->tick, key);
        if (step->key != key) {
            given.tick = now->tick;
            step->key = 0;
            if (!simulate(encoder, unit, now, first == NULL ? NULL : &given, step))
                return false;
            step->key = key;
        }
        hash = step->after;
        place_after(encoder->deltas, step, now);
    }
    return true;
}

/// The extrapolation of the baseline to `tick` with these input changes, whose states are borrowed
/// until the next. As hc_extrapolate's.
static struct hc_unit_value extrapolate(struct hc_sv_encoder *encoder, hc_unit unit,
                                        const struct hc_sv_value *base,
                                        const struct hc_input_changes *changes, hc_tick tick) {
    const struct hc_world *world = encoder->deltas->world;
    struct hc_input_change first = {.tick = base->unit.tick};
    bool owned = hc_unit_player(world, unit) != HC_NO_PLAYER;
    struct hc_unit_value now;
    hc_extrapolate_input(world, &base->unit, first.input);
    do
        now = base->unit;
    while (!walk(encoder, unit, base->states, changes, owned ? &first : NULL, tick, &now));
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

/// Encodes the value with the input changes of `way`, and keeps the delta if it is the shortest.
static void attempt(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                    const struct hc_sv_value *from, enum hc_sv_way way,
                    const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    struct hc_bits_writer bits = hc_bits_writer(encoding->data[!encoding->best], HC_SV_DELTA_MAX);
    if (base->unit == 0 || from == NULL || hc_sv_deltas_steps(from->unit.tick, value->tick) == 0) {
        hc_value_put(&bits, base, NULL, value);
    } else {
        struct hc_unit_value extrapolated =
            extrapolate(encoder, base->unit, from, &encoding->changes[way], value->tick);
        hc_value_put_extrapolated(&bits, base, &encoding->changes[way], &extrapolated, value);
    }
    uint32_t written = (uint32_t)hc_bits_written(&bits);
    HC_ASSERT(!bits.failed);
    if (written >= encoding->bits)
        return;
    hc_bits_finish(&bits);
    encoding->best = !encoding->best;
    encoding->bits = written;
}

/// Encodes `value`, of the timeline as it is now, as the shortest delta that is tried; `from` is
/// the baseline.
static void encode(struct hc_sv_encoder *encoder, const struct hc_value_base *base,
                   const struct hc_sv_value *from, const struct hc_unit_value *value) {
    struct hc_sv_encoding *encoding = encoder->deltas->encoding;
    struct hc_input_changes *changes = encoding->changes;
    encoding->best = 0;
    encoding->bits = UINT32_MAX;
    changes[HC_SV_WAY_NONE].count = 0;
    if (base->from == NULL || base->from->tick < encoder->since ||
        !hc_extrapolate_takes_changes(base->world, base->unit, base->from, value->tick)) {
        attempt(encoder, base, from, HC_SV_WAY_NONE, value);
        return;
    }
    const struct hc_game *game = base->world->game;
    const struct hc_input_changes *all = &changes[HC_SV_WAY_ALL];
    uint8_t given[HC_INPUT_MAX] = {0};
    uint32_t keys = key_fields(game);
    hc_extrapolate_input(base->world, base->from, given);
    bool pressed =
        list_all(encoder->timeline, base, value->tick, keys, given, &changes[HC_SV_WAY_ALL]);
    if (!pressed) // a value rarely equals its extrapolation after a change of keys
        attempt(encoder, base, from, HC_SV_WAY_NONE, value);
    if (all->count > 0 && encoding->bits > 1) // no delta takes less than a bit
        attempt(encoder, base, from, HC_SV_WAY_ALL, value);
    if (!pressed)
        return;
    list_keys(game, all, keys, given, false, &changes[HC_SV_WAY_KEYS]);
    list_keys(game, all, keys, given, true, &changes[HC_SV_WAY_KEYS_ALONE]);
    if (!same_list(game, &changes[HC_SV_WAY_KEYS], all))
        attempt(encoder, base, from, HC_SV_WAY_KEYS, value);
    if (!same_list(game, &changes[HC_SV_WAY_KEYS_ALONE], &changes[HC_SV_WAY_KEYS]))
        attempt(encoder, base, from, HC_SV_WAY_KEYS_ALONE, value);
}

// ---- The deltas of one snapshot -----------------------------------------------------------------

static struct hc_sv_delta_key key_of(const struct hc_sv_encoder *encoder, hc_unit unit,
                                     const struct hc_sv_value *base,
                                     const struct hc_sv_value *value) {
    bool extrapolates = unit != 0 && base != NULL;
    return (struct hc_sv_delta_key){.base = base == NULL ? 0 : base->id,
                                    .value = value->id,
                                    .referee = extrapolates ? encoder->referee_id : 0,
                                    .unit = unit};
}

bool hc_sv_encoder_too_dear(const struct hc_sv_encoder *encoder, hc_unit unit,
                            const struct hc_sv_value *base, const struct hc_sv_value *value) {
    if (base == NULL || unit == 0 ||
        hc_sv_extrapolation_fits(&encoder->cost, HC_EXTRAPOLATE_TICKS_MAX))
        return false;
    struct hc_sv_delta_key key = key_of(encoder, unit, base, value);
    uint32_t steps = hc_sv_deltas_steps(base->unit.tick, value->unit.tick);
    return hc_sv_deltas_find(encoder->deltas, &key) == NULL &&
           !hc_sv_extrapolation_fits(&encoder->cost, steps);
}

struct hc_sv_delta hc_sv_encoder_delta(struct hc_sv_encoder *encoder, hc_unit unit,
                                       const struct hc_sv_value *base,
                                       const struct hc_sv_value *value, bool pays) {
    struct hc_sv_deltas *deltas = encoder->deltas;
    struct hc_sv_delta_key key = key_of(encoder, unit, base, value);
    const struct hc_sv_delta_entry *stored = hc_sv_deltas_find(deltas, &key);
    if (stored != NULL) {
        encoder->reused++;
        return (struct hc_sv_delta){.data = stored->data, .bits = stored->bits};
    }
    encoder->encoded++;
    if (base != NULL && unit != 0 && pays) {
        uint32_t steps = hc_sv_deltas_steps(base->unit.tick, value->unit.tick);
        hc_sv_extrapolation_take(&encoder->cost, steps);
        encoder->steps += steps;
    }
    struct hc_sv_encoding *encoding = deltas->encoding;
    struct hc_value_base against = {.extrapolator = deltas->extrapolator,
                                    .world = deltas->world,
                                    .unit = unit,
                                    .from = base == NULL ? NULL : &base->unit,
                                    .referee = unit == 0 ? NULL : encoder->referee,
                                    .scratch = deltas->scratch};
    encode(encoder, &against, base, &value->unit);
    struct hc_sv_delta delta = {.data = encoding->data[encoding->best], .bits = encoding->bits};
    hc_sv_deltas_put(deltas, &key, delta.data, delta.bits);
    return delta;
}
