/// The marks of steps to be taken again, the search for neighbours, and the rewriting of states.
#include "common/spread.h"

#include "common/scene.h"

#include <string.h>

// ---- Neighbours ---------------------------------------------------------------------------------

/// Two positions, of which each may be missing: those of an entity before and after a change.
struct move {
    bool had, has;
    int64_t from[2], to[2];
};

static bool within(const int64_t a[2], const int64_t b[2], int64_t reach) {
    int64_t x = a[0] - b[0], y = a[1] - b[1];
    return x >= -reach && x <= reach && y >= -reach && y <= reach;
}

/// Whether `entity`, which is in the `grid` of a tick with these `states`, is within reach of `at`.
static bool is_near(const struct hc_timeline *tl, struct hc_grid grid, const uint8_t *states,
                    hc_entity entity, const int64_t at[2]) {
    const struct hc_world *world = tl->config.world;
    uint32_t reach = world->game->reach;
    int64_t position[2] = {0, 0};
    if (!hc_grid_near(grid, entity, at, reach))
        return false;
    if (!tl->shape.wide)
        return true;
    bool has = hc_world_position(world, entity, states + (size_t)entity * world->stride,
                                 &position[0], &position[1]);
    HC_CHECK(has);
    return has && within(at, position, reach);
}

/// Writes to `near` the entities of a tick with this `grid` and these `states` that are within
/// reach of the place of `self` in the scene, in ascending order, without `self`. Returns how many.
static inline uint32_t find_near(struct hc_scene *scene, hc_entity self, struct hc_grid grid,
                                 const uint8_t *states, hc_entity *near) {
    struct hc_timeline *tl = scene->source;
    const struct hc_world *world = scene->world;
    int64_t at[2];
    uint32_t count = 0;
    if (scene->presence[self] != HC_ALIVE ||
        !hc_world_position(world, self, scene->states + (size_t)self * world->stride, &at[0],
                           &at[1]))
        return 0;
    uint32_t found = hc_grid_query(&tl->shape, grid, at, world->game->reach, near);
    for (uint32_t i = 0; i < found; i++) {
        hc_entity e = near[i];
        if (e == self || (tl->shape.wide && !is_near(tl, grid, states, e, at)))
            continue;
        __builtin_prefetch(states + (size_t)e * world->stride); // the step mostly reads it
        // Neighbours come in ascending order; the grid lists them in any.
        uint32_t to = count++;
        for (; to > 0 && near[to - 1] > e; to--)
            near[to] = near[to - 1];
        near[to] = e;
    }
    return count;
}

uint32_t hc_spread_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    struct hc_timeline *tl = scene->source;
    *ids = tl->near;
    return find_near(scene, self, tl->scene_grid, scene->states, tl->near);
}

bool hc_spread_past(const struct hc_scene *scene, uint32_t ago, struct hc_past *past) {
    const struct hc_timeline *tl = scene->source;
    if (ago > scene->tick - tl->begin) // no tick is older
        return false;
    struct hc_ring_row row = hc_ring_row(tl, scene->tick - ago);
    *past = (struct hc_past){.states = row.states, .presence = row.presence};
    return true;
}

uint32_t hc_spread_past_neighbours(struct hc_scene *scene, hc_entity self, uint32_t ago,
                                   const hc_entity **ids) {
    struct hc_timeline *tl = scene->source;
    *ids = tl->past_near;
    if (ago > scene->tick - tl->begin)
        return 0;
    struct hc_ring_row row = hc_ring_row(tl, scene->tick - ago);
    return find_near(scene, self, row.grid, row.states, tl->past_near);
}

/// Moves `entity` in the grid of `row` as it has moved, as far as it has any positions.
static void move_in_grid(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity entity,
                         const struct move *move) {
    hc_grid_move(&tl->shape, row->grid, entity, move->had ? move->from : NULL,
                 move->has ? move->to : NULL);
}

// ---- Marks --------------------------------------------------------------------------------------

/// Whether changes of the row need no marks: its step has not been taken, or is taken again as a
/// whole.
static bool needs_no_marks(const struct hc_timeline *tl, const struct hc_ring_row *row) {
    return !hc_ring_stepped(tl, row->tick) || tl->config.full || tl->whole[row->slot] != 0;
}

static void set_bit(uint64_t *words, uint32_t bit) {
    words[bit / 64] |= UINT64_C(1) << bit % 64;
}

/// Sets the bits in [first, first + count), where `count` < 64.
static void set_bits(uint64_t *words, uint32_t first, uint32_t count) {
    uint64_t ones = (UINT64_C(1) << count) - 1;
    words[first / 64] |= ones << first % 64;
    if (first % 64 + count > 64)
        words[first / 64 + 1] |= ones >> (64 - first % 64);
}

void hc_spread_mark(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity entity) {
    if (!hc_ring_stepped(tl, row->tick))
        return;
    set_bit(row->again, entity);
    tl->earliest = hc_tick_min(tl->earliest, row->tick);
}

void hc_spread_mark_owned(struct hc_timeline *tl, const struct hc_ring_row *row, hc_player owner) {
    if (!hc_ring_stepped(tl, row->tick))
        return;
    set_bits(row->again, hc_world_player(tl->config.world, owner), tl->config.world->per_owner);
    tl->earliest = hc_tick_min(tl->earliest, row->tick);
}

void hc_spread_mark_all(struct hc_timeline *tl, hc_tick from) {
    for (hc_tick t = from; t < tl->head; t++)
        tl->whole[hc_ring_slot(tl, t)] = 1;
    if (from < tl->head)
        tl->earliest = hc_tick_min(tl->earliest, from);
}

void hc_spread_input(void *timeline, hc_player player, hc_tick tick) {
    struct hc_timeline *tl = timeline;
    if (!hc_ring_stepped(tl, tick))
        return;
    set_bit(hc_ring_inputs_put(tl, tick), player);
    tl->earliest = hc_tick_min(tl->earliest, tick);
}

/// Records which input it is for which the effective one of `player` at `tick` has changed.
static void log_input(struct hc_timeline *tl, hc_player player, hc_tick tick) {
    uint8_t input[HC_INPUT_MAX];
    struct hc_rewind_cause cause = {.kind = HC_REWIND_UNTOLD, .tick = tick, .player = player};
    if (hc_inputs_newest(&tl->inputs, player, tick + 1, &cause.tick, input))
        cause.kind = HC_REWIND_INPUT;
    hc_rewind_log_cause(tl->rewinds, &cause);
}

void hc_spread_inputs(struct hc_timeline *tl, const struct hc_ring_row *row) {
    uint64_t *put = hc_ring_inputs_put(tl, row->tick);
    size_t words = hc_ring_words(tl->config.world->players);
    size_t cells = hc_inputs_cell(&tl->inputs, 0, row->tick);
    for (size_t w = 0; w < words; w++) {
        if (put[w] == 0) // mostly
            continue;
        for (uint64_t left = put[w]; left != 0; left &= left - 1) {
            hc_player player = (hc_player)(64 * w + (size_t)__builtin_ctzll(left));
            if (!hc_inputs_give(&tl->inputs, cells + player))
                continue;
            if (tl->rewinds != NULL)
                log_input(tl, player, row->tick);
            if (!needs_no_marks(tl, row))
                hc_spread_mark_owned(tl, row, player);
        }
        put[w] = 0;
    }
}

void hc_spread_reductions(struct hc_timeline *tl, const struct hc_ring_row *row) {
    const struct hc_world *world = tl->config.world;
    int64_t fresh[HC_REDUCTIONS_MAX], *given = hc_ring_reductions(tl, row->tick);
    size_t bytes = world->game->reduction_count * sizeof fresh[0];
    if (tl->reduce[row->slot] == 0)
        return;
    tl->reduce[row->slot] = 0;
    hc_scene_reduce(world, row->presence, row->states, fresh);
    if (memcmp(fresh, given, bytes) == 0)
        return;
    memcpy(given, fresh, bytes);
    hc_spread_mark(tl, row, HC_REFEREE);
}

/// Finds the entities at the tick of `row` that are near the old or the new position of a move, and
/// some more; writes them to tl->near. Returns how many.
static uint32_t find_either(struct hc_timeline *tl, const struct hc_ring_row *row,
                            const struct move *move) {
    return hc_grid_query_either(&tl->shape, row->grid, move->had ? move->from : move->to,
                                move->has ? move->to : move->from, tl->config.world->game->reach,
                                tl->near);
}

/// Marks the entities within reach of the old or of the new position of `self`.
static void mark_near(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity self,
                      const struct move *move) {
    uint32_t found = find_either(tl, row, move);
    for (uint32_t i = 0; i < found; i++) {
        hc_entity e = tl->near[i];
        if (e == self)
            continue;
        if (move->had && is_near(tl, row->grid, row->states, e, move->from))
            set_bit(row->again, e);
        if (move->has && is_near(tl, row->grid, row->states, e, move->to))
            set_bit(row->again, e);
    }
}

/// Marks the later steps that have looked back at `entity` at the tick of `row`, whose state there
/// changes: those of its owner, and those that now are within reach of the old or new position.
static void mark_past(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity entity,
                      const struct move *move) {
    const struct hc_world *world = tl->config.world;
    hc_player owner = world->owner_of[entity];
    hc_entity first = owner == HC_NO_PLAYER ? entity : hc_world_player(world, owner);
    uint32_t count = owner == HC_NO_PLAYER ? 1 : world->per_owner;
    for (uint32_t ago = 1; ago <= world->game->lookback && row->tick + ago < tl->head; ago++) {
        uint64_t bit = UINT64_C(1) << (ago - 1);
        if ((tl->past_any[hc_ring_slot(tl, row->tick + ago)] & bit) == 0)
            continue;
        struct hc_ring_row later = hc_ring_row(tl, row->tick + ago);
        for (uint32_t e = first; e < first + count; e++)
            if ((later.past[e] & bit) != 0)
                set_bit(later.again, e);
        if (!move->had && !move->has)
            continue;
        uint32_t found = find_either(tl, &later, move);
        for (uint32_t i = 0; i < found; i++) {
            hc_entity e = tl->near[i];
            if ((later.past[e] & bit) == 0)
                continue;
            if (move->had && is_near(tl, later.grid, later.states, e, move->from))
                set_bit(later.again, e);
            if (move->has && is_near(tl, later.grid, later.states, e, move->to))
                set_bit(later.again, e);
        }
    }
}

/// The referee's field groups in which states `a` and `b` differ.
static uint8_t changed_groups(const struct hc_timeline *tl, const uint8_t *a, const uint8_t *b) {
    const struct hc_kind *kind = &tl->config.world->game->kinds[0];
    unsigned groups = 0;
    for (uint16_t f = 0; f < kind->field_count; f++)
        if (hc_field_get(&kind->fields[f], a) != hc_field_get(&kind->fields[f], b))
            groups |= 1u << kind->fields[f].group;
    return (uint8_t)groups;
}

/// Marks the entities that read any of the referee's `groups`.
static void mark_readers(struct hc_timeline *tl, const struct hc_ring_row *row, uint8_t groups) {
    for (uint32_t e = 0; e < tl->config.world->entities; e++)
        row->again[e / 64] |= (uint64_t)((row->groups[e] & groups) != 0) << e % 64;
}

/// Whether `entity` is a player itself: the reductions and the referee depend on players.
static bool is_player(const struct hc_world *world, hc_entity entity) {
    hc_player owner = world->owner_of[entity];
    return owner != HC_NO_PLAYER && entity == hc_world_player(world, owner);
}

/// Whether the change of a player's state from `a` to `b` may change a reduction.
static bool reduced(const struct hc_timeline *tl, hc_entity entity, bool presence_changed,
                    const uint8_t *a, const uint8_t *b) {
    const struct hc_world *world = tl->config.world;
    const struct hc_game *game = world->game;
    const struct hc_kind *kind = hc_world_kind(world, entity);
    for (uint8_t r = 0; r < game->reduction_count; r++) {
        const struct hc_field *field = &kind->fields[world->reduced[r]];
        if (presence_changed || (game->reductions[r].op != HC_REDUCE_COUNT &&
                                 hc_field_get(field, a) != hc_field_get(field, b)))
            return true;
    }
    return false;
}

// ---- Rewriting ----------------------------------------------------------------------------------

/// Marks the steps that read the state of `entity` at a tick whose step is taken again in part: by
/// its own entity and owner, by position, and by declaration.
static void mark_changed(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity entity,
                         const struct move *move, uint8_t is, const uint8_t *new) {
    const struct hc_world *world = tl->config.world;
    const uint8_t *old = row->states + (size_t)entity * world->stride;
    uint8_t was = row->presence[entity];
    set_bit(row->again, entity);
    if (world->owner_of[entity] != HC_NO_PLAYER)
        hc_spread_mark_owned(tl, row, world->owner_of[entity]);
    if (move->had || move->has)
        mark_near(tl, row, entity, move);
    if (entity == HC_REFEREE)
        mark_readers(tl, row, was == is ? changed_groups(tl, old, new) : UINT8_MAX);
    if (is_player(world, entity) && (was == HC_UNKNOWN) != (is == HC_UNKNOWN))
        hc_spread_mark(tl, row, HC_REFEREE);
}

/// Whether two states are equal; `size` is mostly a multiple of 4, and often they differ early.
static bool equal(const uint8_t *a, const uint8_t *b, size_t size) {
    uint64_t x, y;
    while (size >= sizeof x) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (x != y)
            return false;
        a += sizeof x;
        b += sizeof y;
        size -= sizeof x;
    }
    return size == 0 || memcmp(a, b, size) == 0;
}

/// Whether the state of `entity` at the tick of `row` differs from `state`.
static inline bool differs(const struct hc_timeline *tl, const struct hc_ring_row *row,
                           hc_entity entity, uint8_t presence, const uint8_t *state) {
    const struct hc_world *world = tl->config.world;
    return row->presence[entity] != presence ||
           !equal(row->states + (size_t)entity * world->stride, state,
                  hc_world_kind(world, entity)->state_size);
}

bool hc_spread_rewrite(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity entity,
                       uint8_t is, const uint8_t *new) {
    const struct hc_world *world = tl->config.world;
    const struct hc_kind *kind = hc_world_kind(world, entity);
    uint8_t *old = row->states + (size_t)entity * world->stride, was = row->presence[entity];
    if (!differs(tl, row, entity, is, new))
        return false;
    tl->changed[row->slot] = tl->head + 1;
    struct move move = {.had = false};
    if (kind->x != NULL) {
        move.had =
            was == HC_ALIVE && hc_world_position(world, entity, old, &move.from[0], &move.from[1]);
        move.has =
            is == HC_ALIVE && hc_world_position(world, entity, new, &move.to[0], &move.to[1]);
        move_in_grid(tl, row, entity, &move);
    }
    if (hc_ring_stepped(tl, row->tick)) {
        tl->earliest = hc_tick_min(tl->earliest, row->tick);
        if (is_player(world, entity) && reduced(tl, entity, was != is, old, new))
            tl->reduce[row->slot] = 1;
        if (!needs_no_marks(tl, row))
            mark_changed(tl, row, entity, &move, is, new);
        if (tl->past != NULL && entity != HC_REFEREE)
            mark_past(tl, row, entity, &move);
    }
    if (tl->rewinds != NULL)
        hc_rewind_log_change(tl->rewinds, entity, row->tick);
    row->presence[entity] = is;
    memcpy(old, new, kind->state_size);
    return true;
}

uint32_t hc_spread_differing(const struct hc_timeline *tl, const struct hc_ring_row *row,
                             hc_entity first, uint32_t count, const uint8_t *presence,
                             const uint8_t *states) {
    uint32_t differing = 0;
    for (uint32_t i = 0; i < count && !needs_no_marks(tl, row); i++)
        differing += differs(tl, row, (hc_entity)(first + i), presence[i],
                             states + (size_t)i * tl->config.world->stride);
    return differing;
}

bool hc_spread_is_plain(const struct hc_timeline *tl, hc_entity entity) {
    const struct hc_game *game = tl->config.world->game;
    const struct hc_kind *kind = hc_world_kind(tl->config.world, entity);
    bool reduced_kind = game->reduction_count > 0 && kind == &game->kinds[game->owned[0].kind];
    return kind->x == NULL && entity != HC_REFEREE && !reduced_kind && tl->past == NULL &&
           kind->state_size == tl->config.world->stride;
}

/// Rewrites plain entities that need no marks; see hc_spread_rewrite_all.
static uint32_t rewrite_plain(struct hc_timeline *tl, const struct hc_ring_row *row,
                              hc_entity first, uint32_t count, const uint8_t *presence,
                              const uint8_t *states) {
    size_t stride = tl->config.world->stride;
    uint8_t *old = row->states + (size_t)first * stride, *was = row->presence + first;
    uint32_t changed = 0, end = 0; // of those that have changed
    for (uint32_t i = 0; i < count; i++) {
        if (was[i] == presence[i] && equal(old + i * stride, states + i * stride, stride))
            continue;
        changed++;
        end = i + 1;
        if (tl->rewinds != NULL)
            hc_rewind_log_change(tl->rewinds, (hc_entity)(first + i), row->tick);
    }
    if (changed == 0)
        return 0;
    tl->changed[row->slot] = tl->head + 1;
    memcpy(was, presence, end);
    memcpy(old, states, end * stride);
    return changed;
}

/// Rewrites entities of one kind, or plain ones; see hc_spread_rewrite_all.
static uint32_t rewrite_run(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity first,
                            uint32_t count, const uint8_t *presence, const uint8_t *states) {
    size_t stride = tl->config.world->stride;
    uint32_t changed = 0;
    if (hc_spread_is_plain(tl, first) && needs_no_marks(tl, row))
        return rewrite_plain(tl, row, first, count, presence, states);
    for (uint32_t i = 0; i < count; i++)
        changed +=
            hc_spread_rewrite(tl, row, (hc_entity)(first + i), presence[i], states + i * stride);
    return changed;
}

uint32_t hc_spread_rewrite_all(struct hc_timeline *tl, const struct hc_ring_row *row,
                               hc_entity first, uint32_t count, const uint8_t *presence,
                               const uint8_t *states) {
    size_t stride = tl->config.world->stride;
    const uint8_t *old = row->states + (size_t)first * stride;
    uint32_t changed = 0;
    // Mostly all are equal if the first one is, and this comparison needs no call. Bytes after
    // state_size are of no entity, and may hide that all are equal.
    if (row->presence[first] == presence[0] &&
        equal(old, states, hc_world_kind(tl->config.world, first)->state_size) &&
        (count == 1 || (memcmp(row->presence + first, presence, count) == 0 &&
                        memcmp(old, states, count * stride) == 0)))
        return 0;
    for (uint32_t i = 0, to; i < count; i = to) {
        to = hc_tick_min(count, tl->alike_end[first + i] - (uint32_t)first);
        changed +=
            rewrite_run(tl, row, (hc_entity)(first + i), to - i, presence + i, states + i * stride);
    }
    return changed;
}
