/// Which units come into a client's view and leave it, by the states of a tick.
#include "server/replication/interest.h"

#include "common/alloc.h"
#include "hindcast/check.h"

#include <string.h>

static size_t words(const struct hc_world *world) {
    return (hc_unit_total(world) + 63u) / 64;
}

size_t hc_sv_interest_layout(struct hc_sv_interest *interest, const struct hc_world *world,
                             uint8_t *base) {
    size_t used = 0;
    interest->world = world;
    interest->seen = hc_carve(base, &used, words(world) * sizeof *interest->seen);
    interest->since = hc_carve(base, &used, hc_unit_total(world) * sizeof *interest->since);
    return used;
}

void hc_sv_interest_clear(struct hc_sv_interest *interest) {
    memset(interest->seen, 0, words(interest->world) * sizeof *interest->seen);
    memset(interest->since, 0, hc_unit_total(interest->world) * sizeof *interest->since);
    interest->tick = HC_NO_TICK;
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        interest->eyes[i].player = HC_NO_PLAYER;
}

static void see(struct hc_sv_interest *interest, hc_unit unit, bool seen) {
    uint64_t bit = UINT64_C(1) << (unit % 64);
    uint64_t *word = &interest->seen[unit / 64];
    *word = seen ? *word | bit : *word & ~bit;
}

static void see_everything(struct hc_sv_interest *interest) {
    size_t count = words(interest->world);
    uint32_t last = hc_unit_total(interest->world) % 64;
    memset(interest->seen, 0xff, count * sizeof *interest->seen);
    if (last != 0)
        interest->seen[count - 1] = (UINT64_C(1) << last) - 1;
}

/// Sets `*eye` to the player's place and state at a tick; false, and no change: it is not alive.
static bool open_eye(const struct hc_world *world, hc_player player, const uint8_t *presence,
                     const uint8_t *states, struct hc_sv_interest_eye *eye) {
    hc_entity entity = hc_world_player(world, player);
    if (presence[entity] != HC_ALIVE)
        return false;
    const uint8_t *state = states + (size_t)entity * world->stride;
    *eye = (struct hc_sv_interest_eye){.player = player};
    memcpy(eye->state, state, hc_world_kind(world, entity)->state_size);
    hc_world_position(world, entity, state, &eye->x, &eye->y);
    return true;
}

/// Moves the eyes to the own players of `tick`.
static void open_eyes(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                      hc_tick tick, const hc_player *own, unsigned own_count) {
    const struct hc_world *world = interest->world;
    const uint8_t *presence = hc_timeline_presence(timeline, tick);
    const uint8_t *states = hc_timeline_states(timeline, tick);
    HC_ASSERT(own_count <= HC_OWN_PLAYERS_MAX);
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++) {
        struct hc_sv_interest_eye *eye = &interest->eyes[i];
        HC_ASSERT(i >= own_count || own[i] < world->players);
        if (i >= own_count || eye->player != own[i])
            eye->player = HC_NO_PLAYER; // not from another player's place
        if (i < own_count)
            (void)open_eye(world, own[i], presence, states, eye);
    }
}

struct hc_sv_interest_look hc_sv_interest_look_at(const struct hc_sv_interest *interest,
                                                  const struct hc_timeline *timeline, hc_tick tick,
                                                  const hc_player *own, unsigned own_count) {
    const struct hc_world *world = interest->world;
    struct hc_sv_interest_look look;
    look.world = world;
    look.own = own;
    look.own_count = own_count;
    look.presence = hc_timeline_presence(timeline, tick);
    look.states = hc_timeline_states(timeline, tick);
    look.everything = own_count == 0 || (world->game->view == 0 && world->game->hides == NULL);
    look.eye_count = 0;
    for (unsigned i = 0; i < own_count && !look.everything; i++) {
        struct hc_sv_interest_eye *eye = &look.eyes[look.eye_count];
        bool looks = open_eye(world, own[i], look.presence, look.states, eye);
        if (!looks && interest->eyes[i].player == own[i]) {
            *eye = interest->eyes[i];
            looks = true;
        }
        look.eye_count += looks;
    }
    return look;
}

static const uint8_t *state_of(const struct hc_sv_interest_look *look, hc_entity entity) {
    return look->states + (size_t)entity * look->world->stride;
}

/// The larger of the distances along x and y.
static int64_t apart(const struct hc_sv_interest_eye *eye, int64_t x, int64_t y) {
    int64_t dx = eye->x < x ? x - eye->x : eye->x - x;
    int64_t dy = eye->y < y ? y - eye->y : eye->y - y;
    return dx > dy ? dx : dy;
}

/// Whether any own player sees the alive `entity` within `range` (0: however far it is).
static bool sees_entity(const struct hc_sv_interest_look *look, hc_entity entity, uint32_t range) {
    const struct hc_world *world = look->world;
    const uint8_t *state = state_of(look, entity);
    int64_t x = 0, y = 0;
    bool placed = range != 0 && hc_world_position(world, entity, state, &x, &y);
    if (range != 0 && !placed && world->owner_of[entity] != HC_NO_PLAYER)
        return false; // it shows nothing of where its owner is
    for (unsigned i = 0; i < look->eye_count; i++) {
        const struct hc_sv_interest_eye *eye = &look->eyes[i];
        if (placed && apart(eye, x, y) > range)
            continue;
        if (world->game->hides == NULL ||
            !world->game->hides(world, hc_world_player(world, eye->player), eye->state, entity,
                                state))
            return true;
    }
    return false;
}

/// Whether the unit of `count` entities from `first` on is seen; `was`: it was before.
static bool sees_unit(const struct hc_sv_interest_look *look, hc_entity first, uint32_t count,
                      bool was) {
    uint32_t view = look->world->game->view;
    uint32_t range = was ? view + view / 4 : view;
    bool here = false;
    for (uint32_t i = 0; i < count; i++) {
        if (look->presence[first + i] != HC_ALIVE)
            continue;
        here = true;
        if (sees_entity(look, (hc_entity)(first + i), range))
            return true;
    }
    return was && !here;
}

bool hc_sv_interest_in_view(const struct hc_sv_interest_look *look, hc_unit unit) {
    hc_player player = hc_unit_player(look->world, unit);
    if (look->everything || unit == 0)
        return true;
    for (unsigned i = 0; i < look->own_count; i++)
        if (player == look->own[i])
            return true;
    return sees_unit(look, hc_unit_first(look->world, unit), hc_unit_count(look->world, unit),
                     true);
}

/// Sets `*unit` to the next seen unit from it on; false: there is none.
static bool next_seen(const struct hc_sv_interest *interest, uint32_t *unit) {
    size_t count = words(interest->world);
    for (size_t word = *unit / 64; word < count; word++, *unit = (uint32_t)word * 64) {
        uint64_t left = interest->seen[word] >> (*unit % 64);
        if (left == 0)
            continue;
        for (; (left & 1) == 0; left >>= 1)
            (*unit)++;
        return true;
    }
    return false;
}

/// Removes the seen units that are out of view at a look; `between`: the look is at a tick that was
/// not shown, and they count as in view from `tick` on.
static void check_seen(struct hc_sv_interest *interest, const struct hc_sv_interest_look *look,
                       bool between, hc_tick tick) {
    for (uint32_t u = 0; next_seen(interest, &u); u++) {
        if (hc_sv_interest_in_view(look, (hc_unit)u))
            continue;
        if (between)
            interest->since[u] = tick;
        else
            see(interest, (hc_unit)u, false);
    }
}

void hc_sv_interest_narrow(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count) {
    hc_tick oldest = hc_timeline_oldest(timeline);
    hc_tick next = interest->tick == HC_NO_TICK ? tick : interest->tick + 1;
    open_eyes(interest, timeline, tick, own, own_count);
    for (hc_tick t = hc_tick_max(hc_tick_min(next, tick), oldest); t <= tick; t++) {
        struct hc_sv_interest_look look =
            hc_sv_interest_look_at(interest, timeline, t, own, own_count);
        if (!look.everything)
            check_seen(interest, &look, t < tick, tick);
    }
    interest->tick = tick;
}

void hc_sv_interest_update(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count) {
    const struct hc_world *world = interest->world;
    hc_sv_interest_narrow(interest, timeline, tick, own, own_count);
    struct hc_sv_interest_look look =
        hc_sv_interest_look_at(interest, timeline, tick, own, own_count);
    if (look.everything) {
        see_everything(interest);
        return;
    }
    uint32_t total = hc_unit_total(world);
    for (uint32_t u = 1; u < total; u++) {
        hc_unit unit = (hc_unit)u;
        if (hc_sv_interest_sees(interest, unit) ||
            !sees_unit(&look, hc_unit_first(world, unit), hc_unit_count(world, unit), false))
            continue;
        see(interest, unit, true);
        interest->since[unit] = tick;
    }
    see(interest, 0, true);
    for (unsigned i = 0; i < own_count; i++)
        see(interest, (hc_unit)(1 + own[i]), true);
}

uint32_t hc_sv_interest_distance(const struct hc_sv_interest *interest,
                                 const struct hc_timeline *timeline, hc_tick tick, hc_unit unit) {
    const struct hc_world *world = interest->world;
    hc_player player = hc_unit_player(world, unit);
    hc_entity first = hc_unit_first(world, unit);
    int64_t nearest = INT64_MAX, x = 0, y = 0;
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        if (player != HC_NO_PLAYER && interest->eyes[i].player == player)
            return 0;
    const uint8_t *presence = hc_timeline_presence(timeline, tick);
    const uint8_t *states = hc_timeline_states(timeline, tick);
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++) {
        hc_entity entity = (hc_entity)(first + i);
        if (presence[entity] != HC_ALIVE ||
            !hc_world_position(world, entity, states + (size_t)entity * world->stride, &x, &y))
            continue;
        for (unsigned e = 0; e < HC_OWN_PLAYERS_MAX; e++)
            if (interest->eyes[e].player != HC_NO_PLAYER &&
                apart(&interest->eyes[e], x, y) < nearest)
                nearest = apart(&interest->eyes[e], x, y);
    }
    if (nearest == INT64_MAX)
        return 0;
    return nearest > UINT32_MAX ? UINT32_MAX : (uint32_t)nearest;
}
