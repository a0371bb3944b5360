/// The reads that a step may make, secret random bits, reductions, and the held referee.
#include "common/scene.h"

#include "common/bytes.h"

#include <sodium.h>
#include <string.h>

static bool within(int64_t a, int64_t b, int64_t reach) {
    int64_t distance = a > b ? a - b : b - a;
    return distance <= reach;
}

/// Whether `a` in the scene and `b` in `then` are alive, have positions, and lie within the game's
/// reach of each other.
static bool near(const struct hc_scene *scene, hc_entity a, const struct hc_past *then,
                 hc_entity b) {
    const struct hc_world *world = scene->world;
    if (scene->presence[a] != HC_ALIVE || then->presence[b] != HC_ALIVE)
        return false;
    int64_t ax, ay, bx, by;
    if (!hc_world_position(world, a, scene->states + (size_t)a * world->stride, &ax, &ay) ||
        !hc_world_position(world, b, then->states + (size_t)b * world->stride, &bx, &by))
        return false;
    return within(ax, bx, world->game->reach) && within(ay, by, world->game->reach);
}

/// Whether `self` of the scene may read `other` in `then`, the world at the scene's tick or before.
static bool may_read(const struct hc_scene *scene, const struct hc_past *then, hc_entity other) {
    const struct hc_world *world = scene->world;
    hc_player owner = world->owner_of[scene->self];
    if (other == scene->self || (owner != HC_NO_PLAYER && owner == world->owner_of[other]))
        return true;
    return other != HC_REFEREE && near(scene, scene->self, then, other);
}

bool hc_scene_may_read(const struct hc_scene *scene, hc_entity other) {
    const struct hc_past now = {.states = scene->states, .presence = scene->presence};
    HC_ASSERT(scene->self < scene->world->entities);
    return other < scene->world->entities && may_read(scene, &now, other);
}

/// Whether a step may look `ago` >= 1 ticks back at all.
static bool looks_back(const struct hc_scene *scene, uint32_t ago) {
    return ago <= scene->world->game->lookback && scene->self != HC_REFEREE;
}

bool hc_scene_may_read_past(const struct hc_scene *scene, uint32_t ago, hc_entity other) {
    struct hc_past past;
    if (ago == 0)
        return hc_scene_may_read(scene, other);
    HC_ASSERT(scene->self < scene->world->entities);
    if (!looks_back(scene, ago) || other >= scene->world->entities || other == HC_REFEREE)
        return false;
    if (scene->past == NULL || !scene->past(scene, ago, &past))
        return true; // nothing is shown of it
    return may_read(scene, &past, other);
}

/// Whether the scene shows the world of `ago` >= 1 ticks before, which it writes to `*past`;
/// records the read.
static bool look_back(struct hc_scene *scene, uint32_t ago, struct hc_past *past) {
    scene->too_far |= !looks_back(scene, ago);
    if (scene->past == NULL || !looks_back(scene, ago))
        return false;
    scene->past_read |= UINT64_C(1) << (ago - 1);
    return scene->past(scene, ago, past);
}

const void *hc_scene_past(struct hc_scene *scene, uint32_t ago, hc_entity other) {
    struct hc_past past;
    if (ago == 0)
        return hc_scene_state(scene, other);
    if (!look_back(scene, ago, &past))
        return NULL;
    HC_CHECK(hc_scene_may_read_past(scene, ago, other));
    if (past.presence[other] != HC_ALIVE)
        return NULL;
    return past.states + (size_t)other * scene->world->stride;
}

uint32_t hc_scene_past_neighbours(struct hc_scene *scene, uint32_t ago, const hc_entity **ids) {
    static const hc_entity none = HC_REFEREE;
    struct hc_past past;
    if (ago == 0)
        return hc_scene_neighbours(scene, ids);
    *ids = &none;
    return look_back(scene, ago, &past) ? scene->past_neighbours(scene, scene->self, ago, ids) : 0;
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

/// Puts an event in its place among the `*count` at `events`, unless it is among them; false: there
/// are `most` already.
static bool insert(hc_game_event *events, uint8_t *count, uint8_t most, hc_game_event event) {
    uint8_t at = *count;
    while (at > 0 && events[at - 1] > event)
        at--;
    if (at > 0 && events[at - 1] == event)
        return true;
    if (*count >= most)
        return false;
    for (uint8_t i = (*count)++; i > at; i--)
        events[i] = events[i - 1];
    events[at] = event;
    return true;
}

void hc_emit(struct hc_scene *scene, unsigned kind, uint32_t number) {
    const struct hc_game *game = scene->world->game;
    bool allowed = kind < game->event_kind_count && number >> game->event_kinds[kind].bits == 0;
    if (scene->events == NULL)
        return;
    uint8_t most = hc_world_kind(scene->world, scene->self)->events_max;
    uint32_t place = (uint32_t)(scene->self - scene->event_first);
    scene->emitted = true;
    if (!allowed || !insert(scene->events + (size_t)place * most, &scene->event_counts[place], most,
                            hc_game_event_of(kind, number)))
        scene->event_refused = true;
}

/// Adds a player's `state` to `result`, which is of no player yet if `first`.
static int64_t reduce(enum hc_reduce op, const struct hc_field *field, const void *state,
                      int64_t result, bool first) {
    if (op == HC_REDUCE_COUNT)
        return result + 1;
    int64_t value = hc_field_get(field, state);
    if (op == HC_REDUCE_SUM)
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
            results[i] = reduce(game->reductions[i].op, &kind->fields[world->reduced[i]], state,
                                results[i], first);
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
