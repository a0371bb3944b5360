/// Deltas: encoding and decoding of a unit's value against its extrapolation.
#include "proto/delta.h"

#include "hindcast/check.h"
#include "proto/fields.h"

#include <string.h>

enum { AGE_GROUP = 2 }; ///< bits of a digit of an age

void hc_delta_put_number(struct hc_bits_writer *bits, uint32_t value, unsigned group) {
    HC_ASSERT(group >= 1 && group <= 16);
    // Digits are in [1, 2^group]: every number has one encoding.
    while (value > 0) {
        uint32_t digit = (value - 1) & ((UINT32_C(1) << group) - 1);
        hc_bits_put(bits, digit << 1 | 1, group + 1);
        value = (value - 1) >> group;
    }
    hc_bits_put(bits, 0, 1);
}

uint32_t hc_delta_get_number(struct hc_bits_reader *bits, unsigned group) {
    HC_ASSERT(group >= 1 && group <= 16);
    uint64_t value = 0;
    for (unsigned shift = 0; hc_bits_get(bits, 1) != 0; shift += group) {
        if (shift < 32)
            value += ((uint64_t)hc_bits_get(bits, group) + 1) << shift;
        if (shift >= 32 || value > UINT32_MAX)
            bits->failed = true;
    }
    return bits->failed ? 0 : (uint32_t)value;
}

// ---- Inputs -------------------------------------------------------------------------------------

/// Appends an input; `sure`: the reader knows that it differs from `before`.
static void put_input(struct hc_bits_writer *bits, const struct hc_game *game,
                      const uint8_t *before, const uint8_t *input, bool sure) {
    const struct hc_field *fields = game->input_fields;
    unsigned count = game->input_field_count;
    bool same = !sure && memcmp(before, input, game->input_size) == 0;
    if (!sure)
        hc_bits_put(bits, !same, 1);
    if (same)
        return;
    uint32_t mask = hc_fields_compare(fields, count, before, input);
    hc_fields_put_some(bits, mask, count, false);
    hc_fields_put(bits, fields, count, mask, before, input);
}

static void get_input(struct hc_bits_reader *bits, const struct hc_game *game,
                      const uint8_t *before, bool sure, uint8_t *out) {
    memmove(out, before, game->input_size);
    if (!sure && hc_bits_get(bits, 1) == 0)
        return;
    uint32_t mask = hc_fields_get_some(bits, game->input_field_count, false);
    hc_fields_get(bits, game->input_fields, game->input_field_count, mask, out);
}

void hc_delta_put_input(struct hc_bits_writer *bits, const struct hc_game *game,
                        const uint8_t *before, const uint8_t *input) {
    put_input(bits, game, before, input, false);
}

void hc_delta_get_input(struct hc_bits_reader *bits, const struct hc_game *game,
                        const uint8_t *before, uint8_t *out) {
    get_input(bits, game, before, false, out);
}

void hc_delta_put_other_input(struct hc_bits_writer *bits, const struct hc_game *game,
                              const uint8_t *before, const uint8_t *input) {
    put_input(bits, game, before, input, true);
}

void hc_delta_get_other_input(struct hc_bits_reader *bits, const struct hc_game *game,
                              const uint8_t *before, uint8_t *out) {
    get_input(bits, game, before, true, out);
}

/// The age of the owner's newest known input, at least 1; 0: there is none.
static uint32_t age_of(const struct hc_unit_value *value) {
    return value->known == HC_NO_TICK ? 0 : value->tick - value->known;
}

static bool owner_changed(const struct hc_game *game, const struct hc_unit_value *extrapolated,
                          const struct hc_unit_value *value) {
    return age_of(extrapolated) != age_of(value) ||
           memcmp(extrapolated->input, value->input, game->input_size) != 0;
}

static void put_owner(struct hc_bits_writer *bits, const struct hc_game *game,
                      const struct hc_unit_value *extrapolated, const struct hc_unit_value *value) {
    uint32_t older = age_of(value) - age_of(extrapolated);
    uint32_t number = older <= INT32_MAX ? older << 1 : ~older << 1 | 1;
    hc_delta_put_number(bits, number, AGE_GROUP);
    if (value->known != HC_NO_TICK)
        put_input(bits, game, extrapolated->input, value->input, older == 0);
}

static void get_owner(struct hc_bits_reader *bits, const struct hc_game *game,
                      const struct hc_unit_value *extrapolated, struct hc_unit_value *out) {
    uint32_t number = hc_delta_get_number(bits, AGE_GROUP);
    uint32_t age = age_of(extrapolated) + (number % 2 == 0 ? number >> 1 : ~(number >> 1));
    out->known = age == 0 ? HC_NO_TICK : out->tick - age;
    memset(out->input, 0, sizeof out->input);
    if (age > out->tick || (age == 0 && number == 0))
        bits->failed = true;
    else if (age != 0)
        get_input(bits, game, extrapolated->input, number == 0, out->input);
}

// ---- Entities -----------------------------------------------------------------------------------

static const struct hc_field *find(const struct hc_kind *kind, const char *name) {
    for (unsigned i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return &kind->fields[i];
    return NULL;
}

/// Gives each field that equals its namesake in the extrapolated input the value in the sent input.
static void follow_input(const struct hc_game *game, const struct hc_kind *kind,
                         const uint8_t *before, const uint8_t *input, uint8_t *state) {
    for (unsigned i = 0; i < game->input_field_count; i++) {
        const struct hc_field *from = &game->input_fields[i];
        int64_t old = hc_field_get(from, before), now = hc_field_get(from, input);
        const struct hc_field *to = old == now ? NULL : find(kind, from->name);
        if (to != NULL && hc_field_get(to, state) == old)
            hc_fields_wrap(to, state, now);
    }
}

/// The state that entity `i` of the unit is encoded against, by the input and the first entity of
/// the sent value. It lies in the extrapolation or in `scratch`, of HC_STATE_MAX bytes.
static const uint8_t *reference_of(const struct hc_world *world, hc_unit unit, uint32_t i,
                                   const struct hc_unit_value *extrapolated,
                                   const struct hc_unit_value *sent, uint8_t *scratch) {
    hc_entity first = hc_unit_first(world, unit);
    const struct hc_kind *kind = hc_world_kind(world, (hc_entity)(first + i));
    const uint8_t *state = extrapolated->states + (size_t)i * world->stride;
    if (extrapolated->presence[i] == HC_ALIVE) {
        if (i > 0 || hc_unit_player(world, unit) == HC_NO_PLAYER ||
            memcmp(extrapolated->input, sent->input, world->game->input_size) == 0)
            return state;
        memcpy(scratch, state, kind->state_size);
        follow_input(world->game, kind, extrapolated->input, sent->input, scratch);
        return scratch;
    }
    memset(scratch, 0, kind->state_size);
    for (unsigned f = 0; f < kind->field_count && i > 0; f++) {
        const struct hc_field *to = &kind->fields[f];
        const struct hc_field *from = find(hc_world_kind(world, first), to->name);
        if (from != NULL)
            hc_fields_wrap(to, scratch, hc_field_get(from, sent->states));
    }
    return scratch;
}

static bool entity_changed(const struct hc_world *world, hc_unit unit, uint32_t i,
                           const struct hc_unit_value *extrapolated,
                           const struct hc_unit_value *value) {
    HC_ASSERT(value->presence[i] == HC_ABSENT || value->presence[i] == HC_ALIVE);
    if (extrapolated->presence[i] != value->presence[i])
        return true;
    if (value->presence[i] != HC_ALIVE)
        return false;
    uint8_t scratch[HC_STATE_MAX];
    hc_entity entity = (hc_entity)(hc_unit_first(world, unit) + i);
    return memcmp(reference_of(world, unit, i, extrapolated, value, scratch),
                  value->states + (size_t)i * world->stride,
                  hc_world_kind(world, entity)->state_size) != 0;
}

/// Appends a changed entity. If the extrapolated one is alive, an empty mask makes it absent; if it
/// is absent, the mask makes it alive.
static void put_entity(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                       uint32_t i, const struct hc_unit_value *extrapolated,
                       const struct hc_unit_value *value) {
    bool alive = value->presence[i] == HC_ALIVE;
    hc_entity entity = (hc_entity)(hc_unit_first(world, unit) + i);
    const struct hc_kind *kind = hc_world_kind(world, entity);
    uint8_t scratch[HC_STATE_MAX];
    const uint8_t *from = reference_of(world, unit, i, extrapolated, value, scratch);
    const uint8_t *to = value->states + (size_t)i * world->stride;
    uint32_t mask = alive ? hc_fields_compare(kind->fields, kind->field_count, from, to) : 0;
    if (extrapolated->presence[i] == HC_UNKNOWN)
        hc_bits_put(bits, alive, 1);
    if (alive || extrapolated->presence[i] != HC_UNKNOWN)
        hc_fields_put_mask(bits, mask, kind->field_count);
    hc_fields_put(bits, kind->fields, kind->field_count, mask, from, to);
}

static void get_entity(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                       uint32_t i, bool changed, const struct hc_unit_value *extrapolated,
                       struct hc_unit_value *out) {
    const struct hc_kind *kind = hc_world_kind(world, (hc_entity)(hc_unit_first(world, unit) + i));
    uint8_t *state = out->states + (size_t)i * world->stride;
    uint8_t presence = extrapolated->presence[i], scratch[HC_STATE_MAX];
    bool alive =
        changed ? presence != HC_UNKNOWN || hc_bits_get(bits, 1) != 0 : presence == HC_ALIVE;
    uint32_t mask = changed && alive ? hc_fields_get_mask(bits, kind->field_count) : 0;
    if (changed && presence == HC_ALIVE)
        alive = mask != 0;
    bits->failed |= !changed && presence == HC_UNKNOWN; // only extrapolated ones may be unknown
    out->presence[i] = alive ? HC_ALIVE : HC_ABSENT;
    memset(state, 0, world->stride);
    if (!alive)
        return;
    memcpy(state, reference_of(world, unit, i, extrapolated, out, scratch), kind->state_size);
    hc_fields_get(bits, kind->fields, kind->field_count, mask, state);
}

// ---- Units --------------------------------------------------------------------------------------
// Up to three flags name the changed parts of a unit; then each of the others has one.

enum { OWNER = 1, FIRST = 2, OTHERS = 4 };

/// The number of flags of a unit; one without a player has only FIRST.
static unsigned flag_count(const struct hc_world *world, hc_unit unit) {
    if (hc_unit_player(world, unit) == HC_NO_PLAYER)
        return 1;
    return world->per_owner > 1 ? 3 : 2;
}

/// The entities that differ from the extrapolated ones, bit i for entity i.
static uint32_t changed_entities(const struct hc_world *world, hc_unit unit,
                                 const struct hc_unit_value *extrapolated,
                                 const struct hc_unit_value *value) {
    uint32_t count = hc_unit_count(world, unit), entities = 0;
    HC_ASSERT(extrapolated->tick == value->tick && count <= HC_UNIT_ENTITIES_MAX);
    for (uint32_t i = 0; i < count; i++)
        entities |= (uint32_t)entity_changed(world, unit, i, extrapolated, value) << i;
    return entities;
}

bool hc_delta_same(const struct hc_world *world, hc_unit unit,
                   const struct hc_unit_value *extrapolated, const struct hc_unit_value *value) {
    bool player = hc_unit_player(world, unit) != HC_NO_PLAYER;
    return !(player && owner_changed(world->game, extrapolated, value)) &&
           changed_entities(world, unit, extrapolated, value) == 0;
}

void hc_delta_put_changes(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                          const struct hc_unit_value *extrapolated,
                          const struct hc_unit_value *value) {
    uint32_t count = hc_unit_count(world, unit);
    uint32_t entities = changed_entities(world, unit, extrapolated, value);
    bool player = hc_unit_player(world, unit) != HC_NO_PLAYER;
    bool owner = player && owner_changed(world->game, extrapolated, value);
    uint32_t flags =
        (owner ? OWNER : 0u) | ((entities & 1) != 0 ? FIRST : 0u) | (entities > 1 ? OTHERS : 0u);
    HC_ASSERT(flags != 0);
    hc_fields_put_some(bits, player ? flags : 1, flag_count(world, unit), false);
    if (entities > 1)
        hc_fields_put_some(bits, entities >> 1, count - 1, false);
    if (owner)
        put_owner(bits, world->game, extrapolated, value);
    for (uint32_t i = 0; i < count; i++)
        if ((entities >> i & 1) != 0)
            put_entity(bits, world, unit, i, extrapolated, value);
}

void hc_delta_put(struct hc_bits_writer *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *extrapolated, const struct hc_unit_value *value) {
    bool same = hc_delta_same(world, unit, extrapolated, value);
    hc_bits_put(bits, same, 1);
    if (!same)
        hc_delta_put_changes(bits, world, unit, extrapolated, value);
}

void hc_delta_get_changes(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                          bool same, const struct hc_unit_value *extrapolated,
                          struct hc_unit_value *out) {
    uint32_t count = hc_unit_count(world, unit), flags = 0, entities = 0;
    if (!same)
        flags = hc_fields_get_some(bits, flag_count(world, unit), false);
    if (hc_unit_player(world, unit) == HC_NO_PLAYER)
        flags *= FIRST;
    if ((flags & OTHERS) != 0)
        entities = hc_fields_get_some(bits, count - 1, false) << 1;
    entities |= (flags & FIRST) != 0;
    out->tick = extrapolated->tick;
    out->known = extrapolated->known;
    memcpy(out->input, extrapolated->input, sizeof out->input);
    if ((flags & OWNER) != 0)
        get_owner(bits, world->game, extrapolated, out);
    for (uint32_t i = 0; i < count; i++)
        get_entity(bits, world, unit, i, (entities >> i & 1) != 0, extrapolated, out);
}

void hc_delta_get(struct hc_bits_reader *bits, const struct hc_world *world, hc_unit unit,
                  const struct hc_unit_value *extrapolated, struct hc_unit_value *out) {
    bool same = hc_bits_get(bits, 1) != 0;
    hc_delta_get_changes(bits, world, unit, same, extrapolated, out);
}
