/// The layout of a world, and the hashes of worlds and of games.
// Inline, because most hashed data is one entity: a call costs more than its hash. Scalar, because
// the simulation may not use vector registers.
#define XXH_INLINE_ALL        // NOLINT(readability-identifier-naming)
#define XXH_VECTOR XXH_SCALAR // NOLINT(readability-identifier-naming)

#include "hindcast/game.h"

#include "common/alloc.h"
#include "common/byte_order.h"
#include "hindcast/check.h"

#include <xxhash.h>

#include <string.h>

/// The number of unowned slots of one run in a world of `players`.
static uint32_t run_length(const struct hc_slots *slots, uint16_t players) {
    return slots->count + (slots->every == 0 ? 0u : (uint32_t)players / slots->every);
}

/// Writes the kind and owner of a run of slots from `entity` on; returns the slot after it.
static uint32_t lay_run(struct hc_world *world, uint32_t entity, uint8_t kind, uint32_t length,
                        hc_player owner) {
    for (uint32_t end = entity + length; entity < end; entity++) {
        HC_ASSERT(entity < world->entities);
        world->kind_of[entity] = kind;
        world->owner_of[entity] = owner;
    }
    return entity;
}

/// Fills kind_of and owner_of.
static void lay_out(struct hc_world *world) {
    const struct hc_game *game = world->game;
    uint32_t entity = lay_run(world, HC_REFEREE, 0, 1, HC_NO_PLAYER);
    for (hc_player player = 0; player < world->players; player++)
        for (unsigned i = 0; i < game->owned_count; i++)
            entity = lay_run(world, entity, game->owned[i].kind, game->owned[i].count, player);
    for (unsigned i = 0; i < game->unowned_count; i++)
        entity = lay_run(world, entity, game->unowned[i].kind,
                         run_length(&game->unowned[i], world->players), HC_NO_PLAYER);
    HC_ASSERT(entity == world->entities);
}

/// Sets per_owner, entities and stride; false when there are too many entities.
static bool measure(struct hc_world *world) {
    const struct hc_game *game = world->game;
    uint32_t per_owner = 0;
    for (unsigned i = 0; i < game->owned_count; i++)
        per_owner += game->owned[i].count;
    uint64_t entities = 1 + (uint64_t)world->players * per_owner;
    for (unsigned i = 0; i < game->unowned_count; i++)
        entities += run_length(&game->unowned[i], world->players);
    if (entities > UINT16_MAX)
        return false;

    uint16_t largest = 0;
    for (unsigned i = 0; i < game->kind_count; i++)
        if (game->kinds[i].state_size > largest)
            largest = game->kinds[i].state_size;
    world->per_owner = (uint16_t)per_owner;
    world->entities = (uint32_t)entities;
    world->stride = (uint16_t)((largest + 3u) & ~3u);
    return true;
}

/// The index of the field that a reduction reads; of a count, which reads none, 0.
static uint8_t reduced_field(const struct hc_game *game, const struct hc_reduction *reduction) {
    int field = hc_kind_field(&game->kinds[game->owned[0].kind], reduction->field);
    return field < 0 ? 0 : (uint8_t)field;
}

/// The index of the field of a kind that `teleports`; -1: none does.
static int8_t teleports_field(const struct hc_kind *kind) {
    for (unsigned i = 0; i < kind->field_count; i++)
        if (kind->fields[i].teleports)
            return (int8_t)i;
    return -1;
}

/// Finds the fields that the tables name or mark.
static void name_fields(struct hc_world *world) {
    const struct hc_game *game = world->game;
    for (unsigned k = 0; k < game->kind_count; k++) {
        world->x_of[k] = (int8_t)hc_kind_field(&game->kinds[k], game->kinds[k].x);
        world->y_of[k] = (int8_t)hc_kind_field(&game->kinds[k], game->kinds[k].y);
        world->teleports_of[k] = teleports_field(&game->kinds[k]);
    }
    for (unsigned i = 0; i < game->reduction_count; i++)
        world->reduced[i] = reduced_field(game, &game->reductions[i]);
}

enum hc_status hc_world_init(struct hc_world *world, const struct hc_game *game, uint16_t players,
                             uint16_t tick_rate, uint64_t seed,
                             const struct hc_allocator *allocator) {
    HC_ASSERT(world != NULL);
    *world = (struct hc_world){0};
    char why[128];
    if (hc_game_check(game, why, sizeof why) != NULL)
        return HC_INVALID;
    if (players < 1 || players > game->players_max || tick_rate < 1 || tick_rate > HC_TICK_RATE_MAX)
        return HC_INVALID;

    struct hc_world laid_out = {
        .game = game,
        .players = players,
        .tick_rate = tick_rate,
        .seed = seed,
        .allocator = allocator,
    };
    if (!measure(&laid_out))
        return HC_INVALID;
    laid_out.kind_of = hc_allocate(allocator, laid_out.entities * sizeof *laid_out.kind_of);
    laid_out.owner_of = hc_allocate(allocator, laid_out.entities * sizeof *laid_out.owner_of);
    if (laid_out.kind_of == NULL || laid_out.owner_of == NULL) {
        hc_world_free(&laid_out);
        return HC_NO_MEMORY;
    }
    lay_out(&laid_out);
    name_fields(&laid_out);
    *world = laid_out;
    return HC_OK;
}

void hc_world_free(struct hc_world *world) {
    hc_release(world->allocator, world->kind_of);
    hc_release(world->allocator, world->owner_of);
    *world = (struct hc_world){0};
}

uint64_t hc_world_hash(const struct hc_world *world, const uint8_t *presence,
                       const uint8_t *states) {
    uint64_t hash = 0;
    for (uint32_t entity = 0; entity < world->entities; entity++) {
        uint8_t bytes[1 + HC_STATE_MAX];
        size_t length = 1;
        bytes[0] = presence[entity];
        if (presence[entity] == HC_ALIVE) {
            const struct hc_kind *kind = hc_world_kind(world, (hc_entity)entity);
            hc_copy_little_endian(kind->fields, kind->field_count, kind->state_size,
                                  states + (size_t)entity * world->stride, bytes + 1);
            length += kind->state_size;
        }
        hash = XXH3_64bits_withSeed(bytes, length, hash);
    }
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    return XXH3_64bits_withSeed(bytes, sizeof bytes, hash);
}

/// Hashes the length first, so that the boundaries between texts count.
static uint64_t hash_text(uint64_t hash, const char *text) {
    size_t length = strlen(text);
    return XXH3_64bits_withSeed(text, length, hash_number(hash, length));
}

static uint64_t hash_fields(uint64_t hash, const struct hc_field *fields, unsigned count) {
    hash = hash_number(hash, count);
    for (unsigned i = 0; i < count; i++) {
        const struct hc_field *field = &fields[i];
        hash = hash_text(hash, field->name);
        hash = hash_number(hash, field->offset);
        hash = hash_number(hash, field->size);
        hash = hash_number(hash, field->bits);
        hash = hash_number(hash, field->is_signed);
        hash = hash_number(hash, field->interpolate);
        hash = hash_number(hash, field->group);
        hash = hash_number(hash, field->countdown);
        hash = hash_text(hash, field->moves_by == NULL ? "" : field->moves_by);
        hash = hash_number(hash, field->moves_per);
        if (field->shown_ago || field->own_shown_ago)
            hash = hash_number(hash, i + (field->own_shown_ago ? HC_FIELDS_MAX : 0u));
    }
    return hash;
}

static uint64_t hash_kind(uint64_t hash, const struct hc_kind *kind) {
    hash = hash_text(hash, kind->name);
    hash = hash_number(hash, kind->state_size);
    hash = hash_fields(hash, kind->fields, kind->field_count);
    hash = hash_number(hash, (uint64_t)hc_kind_field(kind, kind->x));
    hash = hash_number(hash, (uint64_t)hc_kind_field(kind, kind->y));
    return hash_number(hash, kind->teleport);
}

static uint64_t hash_slots(uint64_t hash, const struct hc_slots *slots, unsigned count) {
    hash = hash_number(hash, count);
    for (unsigned i = 0; i < count; i++) {
        hash = hash_number(hash, slots[i].kind);
        hash = hash_number(hash, slots[i].count);
        hash = hash_number(hash, slots[i].every);
    }
    return hash;
}

/// Adds the game events; games without any hash as they did before there were any.
static uint64_t hash_events(uint64_t hash, const struct hc_game *game) {
    if (game->event_kind_count == 0)
        return hash;
    hash = hash_number(hash, game->event_kind_count);
    for (unsigned i = 0; i < game->event_kind_count; i++) {
        hash = hash_text(hash, game->event_kinds[i].name);
        hash = hash_number(hash, game->event_kinds[i].bits);
    }
    for (unsigned i = 0; i < game->kind_count; i++)
        hash = hash_number(hash, game->kinds[i].events_max);
    return hash;
}

uint64_t hc_game_hash(const struct hc_game *game) {
    uint64_t hash = hash_text(0, game->name);
    hash = hash_number(hash, game->version);
    hash = hash_number(hash, game->players_max);
    hash = hash_number(hash, game->kind_count);
    for (unsigned i = 0; i < game->kind_count; i++)
        hash = hash_kind(hash, &game->kinds[i]);
    hash = hash_slots(hash, game->owned, game->owned_count);
    hash = hash_slots(hash, game->unowned, game->unowned_count);
    hash = hash_number(hash, game->input_size);
    hash = hash_fields(hash, game->input_fields, game->input_field_count);
    hash = hash_number(hash, game->reduction_count);
    for (unsigned i = 0; i < game->reduction_count; i++) {
        hash = hash_number(hash, (uint64_t)game->reductions[i].op);
        hash = hash_number(hash, reduced_field(game, &game->reductions[i]));
    }
    hash = hash_number(hash, game->reach);
    if (game->lookback != 0)
        hash = hash_number(hash, game->lookback);
    hash = hash_events(hash, game);
    if (game->level_size == 0)
        return hash;
    hash = hash_number(hash, game->level_size);
    return XXH3_64bits_withSeed(game->level, game->level_size, hash);
}
