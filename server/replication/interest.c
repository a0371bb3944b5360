/// The units that come into view and leave it.
#include "server/replication/interest.h"

#include "common/prefetch.h"
#include "hindcast/check.h"

#include <string.h>

// ---- Eyes ---------------------------------------------------------------------------------------

void hc_sv_interest_open(struct hc_sv_interest *interest, const struct hc_world *world,
                         struct hc_sv_slots *slots) {
    interest->world = world;
    interest->tick = HC_NO_TICK;
    hc_sv_view_open(&interest->view, slots);
    for (unsigned i = 0; i < HC_OWN_PLAYERS_MAX; i++)
        interest->eyes[i].player = HC_NO_PLAYER;
}

void hc_sv_interest_prefetch(const struct hc_sv_interest *interest) {
    hc_prefetch(interest, offsetof(struct hc_sv_interest, eyes[0].state));
}

/// Sets `*eye` to the player's place and state at a tick; false, and no change: it is not alive.
static bool open_eye(const struct hc_world *world, hc_player player, const uint8_t *presence,
                     const uint8_t *states, struct hc_sv_interest_eye *eye) {
    hc_entity entity = hc_world_player(world, player);
    if (presence[entity] != HC_ALIVE)
        return false;
    const uint8_t *state = states + (size_t)entity * world->stride;
    eye->player = player;
    eye->x = eye->y = 0;
    if (world->game->hides != NULL) // nobody else reads it
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

void hc_sv_interest_sight_at(const struct hc_sv_interest *interest,
                             const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                             unsigned own_count, struct hc_sv_interest_sight *sight) {
    const struct hc_world *world = interest->world;
    sight->world = world;
    sight->own = own;
    sight->own_count = own_count;
    sight->presence = hc_timeline_presence(timeline, tick);
    sight->states = hc_timeline_states(timeline, tick);
    sight->everything = own_count == 0 || (world->game->view == 0 && world->game->hides == NULL);
    sight->by_distance = world->game->view != 0 && world->game->hides == NULL;
    sight->eye_count = 0;
    for (unsigned i = 0; i < own_count && !sight->everything; i++) {
        struct hc_sv_interest_eye *eye = &sight->eyes[sight->eye_count];
        bool sees = open_eye(world, own[i], sight->presence, sight->states, eye);
        if (!sees && interest->eyes[i].player == own[i]) {
            *eye = interest->eyes[i];
            sees = true;
        }
        sight->eye_count += sees;
    }
}

static const uint8_t *state_of(const struct hc_sv_interest_sight *sight, hc_entity entity) {
    return sight->states + (size_t)entity * sight->world->stride;
}

/// The larger of the distances along x and y.
static int64_t apart(const struct hc_sv_interest_eye *eye, int64_t x, int64_t y) {
    int64_t dx = eye->x < x ? x - eye->x : eye->x - x;
    int64_t dy = eye->y < y ? y - eye->y : eye->y - y;
    return dx > dy ? dx : dy;
}

/// Whether any own player sees the alive `entity` within `range` (0: however far it is).
static bool sees_entity(const struct hc_sv_interest_sight *sight, hc_entity entity,
                        uint32_t range) {
    const struct hc_world *world = sight->world;
    const uint8_t *state = state_of(sight, entity);
    int64_t x = 0, y = 0;
    bool placed = range != 0 && hc_world_position(world, entity, state, &x, &y);
    if (range != 0 && !placed && world->owner_of[entity] != HC_NO_PLAYER)
        return false; // it shows nothing of where its owner is
    for (unsigned i = 0; i < sight->eye_count; i++) {
        const struct hc_sv_interest_eye *eye = &sight->eyes[i];
        if (placed && apart(eye, x, y) > range)
            continue;
        if (world->game->hides == NULL ||
            !world->game->hides(world, hc_world_player(world, eye->player), eye->state, entity,
                                state))
            return true;
    }
    return false;
}

/// How far a unit is seen; `was`: that was seen before.
static uint32_t range_of(const struct hc_world *world, bool was) {
    uint32_t view = world->game->view;
    return was ? view + view / 4 : view;
}

/// Whether the unit of `count` entities from `first` on is seen; `was`: it was before.
static bool sees_unit(const struct hc_sv_interest_sight *sight, hc_entity first, uint32_t count,
                      bool was) {
    uint32_t range = range_of(sight->world, was);
    bool here = false;
    for (uint32_t i = 0; i < count; i++) {
        if (sight->presence[first + i] != HC_ALIVE)
            continue;
        here = true;
        if (sees_entity(sight, (hc_entity)(first + i), range))
            return true;
    }
    return was && !here;
}

/// Whether the alive `entity` is near the first own player: a short answer for most of the units in
/// view, which are asked for at every tick that has inputs of them.
static bool is_near(const struct hc_sv_interest_sight *sight, hc_entity entity) {
    int64_t x, y;
    return sight->by_distance && sight->eye_count > 0 && sight->presence[entity] == HC_ALIVE &&
           hc_world_position(sight->world, entity, state_of(sight, entity), &x, &y) &&
           apart(&sight->eyes[0], x, y) <= range_of(sight->world, true);
}

bool hc_sv_interest_in_view(const struct hc_sv_interest_sight *sight, hc_unit unit) {
    hc_player player = hc_unit_player(sight->world, unit);
    if (sight->everything || unit == 0 || is_near(sight, hc_unit_first(sight->world, unit)))
        return true;
    for (unsigned i = 0; i < sight->own_count; i++)
        if (player == sight->own[i])
            return true;
    return sees_unit(sight, hc_unit_first(sight->world, unit), hc_unit_count(sight->world, unit),
                     true);
}

// ---- The set ------------------------------------------------------------------------------------

/// Removes the seen units that are out of view at a sight; `between`: the sight is at a tick that
/// was not shown, and they count as in view from `tick` on.
static void check_seen(struct hc_sv_interest *interest, const struct hc_sv_interest_sight *sight,
                       bool between, hc_tick tick) {
    struct hc_sv_slot *slot = hc_sv_view_slot(&interest->view, interest->view.first);
    for (; slot != NULL; slot = hc_sv_view_slot(&interest->view, slot->next)) {
        if (!hc_sv_slot_sees(slot) || hc_sv_interest_in_view(sight, slot->unit))
            continue;
        if (between)
            hc_sv_slot_out_of_view(slot, tick);
        else
            hc_sv_slot_hide(slot, tick);
    }
}

void hc_sv_interest_narrow(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count) {
    hc_tick oldest = hc_timeline_oldest(timeline);
    hc_tick next = interest->tick == HC_NO_TICK ? tick : interest->tick + 1;
    open_eyes(interest, timeline, tick, own, own_count);
    for (hc_tick t = hc_tick_max(hc_tick_min(next, tick), oldest); t <= tick; t++) {
        struct hc_sv_interest_sight sight;
        hc_sv_interest_sight_at(interest, timeline, t, own, own_count, &sight);
        if (!sight.everything)
            check_seen(interest, &sight, t < tick, tick);
    }
    interest->tick = tick;
}

/// The units that one sight finds, each once.
struct finding {
    struct hc_sv_index *index;
    const struct hc_sv_interest_sight *sight;
    uint32_t count; ///< in index->found
};

static void find_unit(struct finding *finding, hc_unit unit) {
    struct hc_sv_index *index = finding->index;
    const struct hc_world *world = index->world;
    if (index->stamps[unit] == index->stamp)
        return;
    index->stamps[unit] = index->stamp;
    if (sees_unit(finding->sight, hc_unit_first(world, unit), hc_unit_count(world, unit), false))
        index->found[finding->count++] = unit;
}

static void find_near(struct finding *finding, const struct hc_sv_index_tick *at,
                      const struct hc_sv_interest_eye *eye) {
    const struct hc_grid_shape *shape = &at->shape;
    uint32_t view = finding->index->world->game->view;
    int64_t width = INT64_C(1) << shape->shift, place[2] = {eye->x, eye->y};
    for (int64_t x = eye->x - view; x < eye->x + view + width; x += width)
        for (int64_t y = eye->y - view; y < eye->y + view + width; y += width)
            for (uint16_t e = at->grid.bucket[hc_grid_bucket(shape, x, y)]; e != HC_GRID_NONE;
                 e = at->grid.node[e].next)
                if (hc_grid_near(at->grid, e, place, view))
                    find_unit(finding, hc_unit_of(finding->index->world, e));
}

/// Sorts the few units that a sight finds.
static void sort(hc_unit *units, uint32_t count) {
    for (uint32_t i = 1, at; i < count; i++) {
        hc_unit unit = units[i];
        for (at = i; at > 0 && units[at - 1] > unit; at--)
            units[at] = units[at - 1];
        units[at] = unit;
    }
}

/// Finds the units that are in view at the sight and not seen yet, in ascending order, among those
/// that the sight has not come upon.
static uint32_t find_all(struct hc_sv_index *index, const struct hc_timeline *timeline,
                         hc_tick tick, const struct hc_sv_interest_sight *sight) {
    struct finding finding = {.index = index, .sight = sight};
    if (index->world->game->view == 0) {
        for (uint32_t u = 1; u < hc_unit_total(index->world); u++)
            find_unit(&finding, (hc_unit)u);
        return finding.count;
    }
    const struct hc_sv_index_tick *at = hc_sv_index_at(index, timeline, tick);
    for (unsigned i = 0; i < sight->eye_count; i++)
        find_near(&finding, at, &sight->eyes[i]);
    for (uint32_t i = 0; i < at->everywhere_count; i++)
        find_unit(&finding, at->everywhere[i]);
    sort(index->found, finding.count);
    return finding.count;
}

/// Begins a sight, which has come upon the seen units and the referee.
static void begin_look(struct hc_sv_index *index, const struct hc_sv_interest *interest) {
    const struct hc_sv_slot *slot = hc_sv_view_slot(&interest->view, interest->view.first);
    if (++index->stamp == 0) { // after days
        hc_sv_index_clear(index);
        index->stamp = 1;
    }
    index->stamps[0] = index->stamp;
    for (; slot != NULL; slot = hc_sv_view_slot(&interest->view, slot->next))
        if (hc_sv_slot_sees(slot))
            index->stamps[slot->unit] = index->stamp;
}

/// Sees `unit`, at or after `*at` in the list, since `since`, unless it is seen already or there is
/// no slot for it. Sets `*at` to its place.
static void see(struct hc_sv_view *view, uint32_t **at, hc_unit unit, hc_tick since) {
    struct hc_sv_slot *slot = hc_sv_view_slot(view, **at);
    for (; slot != NULL && slot->unit < unit; slot = hc_sv_view_slot(view, **at))
        *at = &slot->next;
    if (slot == NULL || slot->unit != unit)
        slot = hc_sv_view_insert(view, *at, unit);
    if (slot != NULL && !hc_sv_slot_sees(slot))
        hc_sv_slot_see(slot, since);
}

void hc_sv_interest_update(struct hc_sv_interest *interest, struct hc_sv_index *index,
                           const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                           unsigned own_count) {
    hc_sv_interest_narrow(interest, timeline, tick, own, own_count);
    struct hc_sv_interest_sight sight;
    hc_sv_interest_sight_at(interest, timeline, tick, own, own_count, &sight);
    struct hc_sv_view *view = &interest->view;
    uint32_t *at = &view->first;
    see(view, &at, 0, 0);
    for (unsigned i = 0; i < own_count; i++) {
        at = &view->first; // own players may be in any order
        see(view, &at, (hc_unit)(1 + own[i]), 0);
    }
    at = &view->first;
    if (sight.everything) {
        for (uint32_t u = 0; u < hc_unit_total(interest->world); u++)
            see(view, &at, (hc_unit)u, 0);
        return;
    }
    begin_look(index, interest);
    uint32_t count = find_all(index, timeline, tick, &sight);
    for (uint32_t i = 0; i < count; i++)
        see(view, &at, index->found[i], tick);
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
