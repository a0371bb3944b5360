/// The reads that a step may make, secret random bits, reductions, and the held referee.
#include "common/scene.h"

#include "common/bytes.h"

#include <sodium.h>
#include <string.h>

static bool within(int64_t a, int64_t b, int64_t reach) {
    int64_t distance = a > b ? a - b : b - a;
    return distance <= reach;
}

/// Whether both are alive, have positions, and lie within the game's reach of each other.
static bool near(const struct hc_scene *scene, hc_entity a, hc_entity b) {
    const struct hc_world *world = scene->world;
    if (scene->presence[a] != HC_ALIVE || scene->presence[b] != HC_ALIVE)
        return false;
    int64_t ax, ay, bx, by;
    if (!hc_world_position(world, a, scene->states + (size_t)a * world->stride, &ax, &ay) ||
        !hc_world_position(world, b, scene->states + (size_t)b * world->stride, &bx, &by))
        return false;
    return within(ax, bx, world->game->reach) && within(ay, by, world->game->reach);
}

bool hc_scene_may_read(const struct hc_scene *scene, hc_entity other) {
    const struct hc_world *world = scene->world;
    HC_ASSERT(scene->self < world->entities);
    if (other >= world->entities)
        return false;
    if (other == scene->self)
        return true;
    if (other == HC_REFEREE)
        return false;
    hc_player owner = world->owner_of[scene->self];
    if (owner != HC_NO_PLAYER && owner == world->owner_of[other])
        return true;
    return near(scene, scene->self, other);
}

_Static_assert(HC_SCENE_SECRET_SIZE == crypto_shorthash_KEYBYTES && crypto_shorthash_BYTES == 8,
               "the sizes of SipHash-2-4");

bool hc_scene_secret_random(const struct hc_scene *scene, uint32_t purpose, uint64_t *bits) {
    uint8_t bytes[12], hash[crypto_shorthash_BYTES];
    struct hc_writer writer = hc_bytes_writer(bytes, sizeof bytes);
    if (scene->secret == NULL)
        return false;
    hc_bytes_put_u32(&writer, scene->tick);
    hc_bytes_put_u32(&writer, scene->self);
    hc_bytes_put_u32(&writer, purpose);
    int failed = crypto_shorthash(hash, bytes, sizeof bytes, scene->secret);
    HC_ASSERT(failed == 0);
    struct hc_reader reader = hc_bytes_reader(hash, sizeof hash);
    *bits = hc_bytes_get_u64(&reader);
    return true;
}

/// Adds a player's `state` to `result`, which is of no player yet if `first`.
static int64_t reduce(const struct hc_reduction *reduction, const struct hc_kind *kind,
                      const void *state, int64_t result, bool first) {
    if (reduction->op == HC_REDUCE_COUNT)
        return result + 1;
    int64_t value = hc_field_get(&kind->fields[reduction->field], state);
    if (reduction->op == HC_REDUCE_SUM)
        return result + value;
    return first || value > result ? value : result;
}

void hc_scene_reduce(const struct hc_world *world, const uint8_t *presence, const uint8_t *states,
                     int64_t *results) {
    const struct hc_game *game = world->game;
    for (unsigned i = 0; i < game->reduction_count; i++)
        results[i] = 0;
    if (game->reduction_count == 0)
        return;

    const struct hc_kind *kind = &game->kinds[game->owned[0].kind];
    bool first = true;
    for (hc_player player = 0; player < world->players; player++) {
        hc_entity entity = hc_world_player(world, player);
        if (presence[entity] != HC_ALIVE)
            continue;
        const uint8_t *state = states + (size_t)entity * world->stride;
        for (unsigned i = 0; i < game->reduction_count; i++)
            results[i] = reduce(&game->reductions[i], kind, state, results[i], first);
        first = false;
    }
}

bool hc_scene_players_known(const struct hc_world *world, const uint8_t *presence) {
    for (hc_player player = 0; player < world->players; player++)
        if (presence[hc_world_player(world, player)] == HC_UNKNOWN)
            return false;
    return true;
}

void hc_scene_hold_referee(const struct hc_world *world, const uint8_t *state, uint8_t *out) {
    const struct hc_kind *kind = &world->game->kinds[0];
    memmove(out, state, kind->state_size);
    for (unsigned i = 0; i < kind->field_count; i++) {
        const struct hc_field *field = &kind->fields[i];
        int64_t left = field->countdown ? hc_field_get(field, out) : 0;
        if (left > 0)
            hc_field_set(field, out, left - 1);
    }
}
