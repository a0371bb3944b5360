/// The only calls of a game's `step` and `step_run` in a timeline: whole ticks, and parts of them.
#include "common/stepping.h"

#include "common/mark.h"
#include "common/scene.h"
#include "common/spread.h"

#include <string.h>

enum {
    /// Worlds with fewer entities never take a tick as a whole because many states change.
    WHOLE_ENTITIES_MIN = 64,
    /// Marking the readers of a changed state costs as much as several steps: when more than one of
    /// so many states has changed at a tick, all of its steps are taken again without marks.
    WHOLE_CHANGED_PART = 8,
};

void hc_stepping_find_runs(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    for (uint32_t e = world->entities; e-- > 0;) {
        bool goes_on = e + 1 < world->entities && world->kind_of[e] == world->kind_of[e + 1];
        tl->run_end[e] = goes_on ? tl->run_end[e + 1] : (hc_entity)(e + 1);
    }
}

void hc_stepping_clear(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_world *world = tl->config.world;
    struct hc_ring_row row = hc_ring_row(tl, tick);
    memset(row.again, 0, hc_ring_words(world->entities) * sizeof *row.again);
    memset(hc_ring_inputs_put(tl, tick), 0, hc_ring_words(world->players) * sizeof(uint64_t));
    tl->whole[row.slot] = 0;
    tl->reduce[row.slot] = 0;
    tl->changed[row.slot] = tick;
    for (uint32_t e = 0; tl->config.replica && e < world->entities; e++)
        row.authoritative[e] = HC_NO_TICK;
}

// ---- Steps --------------------------------------------------------------------------------------

static struct hc_scene scene_at(struct hc_timeline *tl, const struct hc_ring_row *row) {
    tl->scene_grid = row->grid;
    const struct hc_game *game = tl->config.world->game;
    size_t cell = hc_inputs_cell(&tl->inputs, 0, row->tick);
    return (struct hc_scene){
        .world = tl->config.world,
        .tick = row->tick,
        .states = row->states,
        .presence = row->presence,
        .inputs = tl->inputs.effective + cell * game->input_size,
        .roster_changes = tl->inputs.roster_change + cell,
        .reductions = hc_ring_reductions(tl, row->tick),
        .secret = tl->config.replica ? NULL : tl->config.secret,
        .neighbours = hc_spread_neighbours,
        .source = tl,
    };
}

/// Whether every field's value fits the bits that the game declares for it.
static bool fits(const struct hc_world *world, hc_entity entity, const uint8_t *state) {
    const struct hc_kind *kind = hc_world_kind(world, entity);
    for (uint16_t f = 0; f < kind->field_count; f++)
        if (!hc_field_fits(&kind->fields[f], hc_field_get(&kind->fields[f], state)))
            return false;
    return true;
}

/// Writes zeros to a state that is not alive.
static void zero(uint8_t *state, size_t size) {
    static const uint8_t zeros[16];
    if (size < 8 || size > 16) {
        memset(state, 0, size);
    } else { // two writes that may overlap: most states are small, and a call costs more
        memcpy(state, zeros, 8);
        memcpy(state + size - 8, zeros, 8);
    }
}

/// Calls the game's step for `entity`: writes its next state to `out` (state_size bytes, zeros when
/// not alive) and returns its presence.
static inline uint8_t step(struct hc_scene *scene, hc_entity entity, size_t size, uint8_t *out) {
    scene->self = entity;
    scene->groups_read = 0;
    if (scene->presence[entity] != HC_UNKNOWN && scene->world->game->step(scene, entity, out)) {
        HC_CHECK(fits(scene->world, entity, out));
        return HC_ALIVE;
    }
    zero(out, size);
    return scene->presence[entity] == HC_UNKNOWN ? HC_UNKNOWN : HC_ABSENT;
}

/// Steps the referee, or holds it while a replica does not know all players; as `step`.
static uint8_t step_referee(struct hc_timeline *tl, struct hc_scene *scene, uint8_t *out) {
    const struct hc_world *world = scene->world;
    size_t size = world->game->kinds[0].state_size;
    if (!tl->config.replica || hc_scene_players_known(world, scene->presence))
        return step(scene, HC_REFEREE, size, out);
    uint8_t presence = scene->presence[HC_REFEREE];
    scene->groups_read = 0;
    if (presence == HC_ALIVE)
        hc_scene_hold_referee(world, scene->states, out);
    else
        zero(out, size);
    return presence;
}

/// Whether `step` gives the entity the next state that `step_run` gave it, and reads no group of
/// the referee that is not in `groups`.
static bool agrees(struct hc_scene *scene, hc_entity entity, uint8_t presence, const uint8_t *state,
                   uint8_t groups) {
    uint8_t out[HC_STATE_MAX];
    size_t size = hc_world_kind(scene->world, entity)->state_size;
    return step(scene, entity, size, out) == presence && memcmp(out, state, size) == 0 &&
           (scene->groups_read & ~groups) == 0;
}

/// Steps `count` entities of one kind in one call of the game; false if the game leaves them to
/// `step`. See step_all.
static bool step_run(struct hc_timeline *tl, struct hc_scene *scene, hc_entity first,
                     uint32_t count, uint8_t *groups, uint8_t *out, uint8_t *presence) {
    const struct hc_world *world = scene->world;
    size_t size = hc_world_kind(world, first)->state_size;
    if (first == HC_REFEREE || world->game->step_run == NULL ||
        (tl->config.replica && memchr(scene->presence + first, HC_UNKNOWN, count) != NULL))
        return false;
    scene->self = first;
    scene->groups_read = 0;
    if (!world->game->step_run(scene, first, count, out, presence))
        return false;
    uint8_t read = scene->groups_read, gone = 0;
    memset(groups, read, count);
    for (uint32_t i = 0; i < count; i++)
        gone |= presence[i] ^ HC_ALIVE;
    for (uint32_t i = 0; gone != 0 && i < count; i++)
        if (presence[i] != HC_ALIVE)
            zero(out + (size_t)i * world->stride, size);
    for (uint32_t i = 0; i < count; i++)
        HC_CHECK(agrees(scene, (hc_entity)(first + i), presence[i], out + (size_t)i * world->stride,
                        read));
    return true;
}

/// Steps `count` entities of one kind from `first` on. Writes their next states to `out`, stride
/// bytes apart, of which those after state_size stay, and their presence to `presence`.
static void step_all(struct hc_timeline *tl, struct hc_scene *scene, const struct hc_ring_row *row,
                     hc_entity first, uint32_t count, uint8_t *out, uint8_t *presence) {
    const struct hc_world *world = scene->world;
    uint8_t *groups = row->groups + first;
    if (step_run(tl, scene, first, count, groups, out, presence))
        return;
    size_t size = hc_world_kind(world, first)->state_size;
    for (uint32_t i = 0; i < count; i++) {
        hc_entity e = (hc_entity)(first + i);
        presence[i] = e == HC_REFEREE ? step_referee(tl, scene, out) : step(scene, e, size, out);
        groups[i] = scene->groups_read;
        out += world->stride;
    }
}

// ---- Steps again --------------------------------------------------------------------------------

/// The resimulation of a tick.
struct resimulation {
    struct hc_scene scene;
    struct hc_ring_row row, next; ///< the tick, and the one after it
    uint64_t changed;             ///< states of the tick after it that have changed
};

/// Marks the next tick for resimulation as a whole if more than one in WHOLE_CHANGED_PART of its
/// states has changed.
static void notice_changes(struct hc_timeline *tl, struct resimulation *at, uint64_t changed) {
    uint32_t entities = tl->config.world->entities;
    if (entities >= WHOLE_ENTITIES_MIN && changed > entities / WHOLE_CHANGED_PART &&
        hc_ring_stepped(tl, at->next.tick))
        tl->whole[at->next.slot] = 1;
}

/// Steps `count` <= HC_RUN_MAX entities of one kind again, and spreads what changes.
static void step_again(struct hc_timeline *tl, struct resimulation *at, hc_entity first,
                       uint32_t count) {
    uint8_t presence[HC_RUN_MAX];
    step_all(tl, &at->scene, &at->row, first, count, tl->next, presence);
    tl->stats.resimulated_steps += count;
    uint32_t changed = hc_spread_rewrite_run(tl, &at->next, first, count, presence, tl->next);
    if (changed < count)
        HC_MARK("spread-died-out");
    if (changed > 0)
        notice_changes(tl, at, at->changed += changed);
}

/// Steps the entities in [first, end) again, except those whose next state is authoritative.
static void step_range_again(struct hc_timeline *tl, struct resimulation *at, uint32_t first,
                             uint32_t end) {
    const hc_tick *authoritative = at->next.authoritative;
    for (uint32_t e = first, to; e < end; e = to) {
        to = hc_tick_min(hc_tick_min(end, tl->run_end[e]), e + HC_RUN_MAX);
        if (authoritative != NULL) {
            uint32_t last = to;
            for (; e < last && authoritative[e] != HC_NO_TICK; e++)
                ;
            for (to = e; to < last && authoritative[to] == HC_NO_TICK; to++)
                ;
        }
        if (e < to)
            step_again(tl, at, (hc_entity)e, to - e);
    }
}

/// Steps the marked entities of a tick again, and clears the marks.
static void step_marked(struct hc_timeline *tl, struct resimulation *at) {
    size_t words = hc_ring_words(tl->config.world->entities);
    for (size_t w = 0; w < words; w++) {
        uint64_t left = at->row.again[w];
        at->row.again[w] = 0;
        while (left != 0) {
            uint32_t first = (uint32_t)__builtin_ctzll(left);
            uint64_t after = ~(left >> first); // without the bits before the first
            uint32_t count = after == 0 ? 64 : (uint32_t)__builtin_ctzll(after);
            uint32_t from = (uint32_t)(64 * w) + first;
            step_range_again(tl, at, from, from + count);
            left = first + count < 64 ? left & (UINT64_MAX << (first + count)) : 0;
        }
    }
}

static void step_whole(struct hc_timeline *tl, struct resimulation *at) {
    uint32_t entities = tl->config.world->entities;
    memset(at->row.again, 0, hc_ring_words(entities) * sizeof *at->row.again);
    tl->whole[at->row.slot] = 0;
    step_range_again(tl, at, 0, entities);
}

/// Takes the marked steps of `tick` again; true when there was any. `*changed` states of the tick
/// have changed; sets it to those of the next.
static bool resimulate_tick(struct hc_timeline *tl, hc_tick tick, uint64_t *changed) {
    struct resimulation at = {.row = hc_ring_row(tl, tick), .next = hc_ring_row(tl, tick + 1)};
    uint64_t before = tl->stats.resimulated_steps;
    hc_spread_inputs(tl, &at.row);
    hc_spread_reductions(tl, &at.row);
    at.scene = scene_at(tl, &at.row);
    notice_changes(tl, &at, *changed); // as many will change again
    if (tl->config.full || tl->whole[at.row.slot] != 0)
        step_whole(tl, &at);
    else
        step_marked(tl, &at);
    tl->stats.changed += at.changed;
    *changed = at.changed;
    return tl->stats.resimulated_steps != before;
}

void hc_stepping_resimulate(struct hc_timeline *tl) {
    bool rewound = false;
    uint64_t changed = 0;
    tl->stats.depth = 0;
    for (hc_tick t = tl->earliest; t < tl->head; t++) {
        if (!resimulate_tick(tl, t, &changed))
            continue;
        tl->stats.resimulated_ticks++;
        if (rewound)
            continue;
        rewound = true;
        if (t == tl->oldest)
            HC_MARK("rewind-to-oldest-tick");
        tl->stats.rewinds++;
        tl->stats.depth = tl->head - t;
        if (tl->stats.depth > tl->stats.depth_max)
            tl->stats.depth_max = tl->stats.depth;
    }
    tl->earliest = HC_NO_TICK;
}

// ---- New ticks ----------------------------------------------------------------------------------

/// Moves `count` entities of one kind from `first` on in the grid of `next`, which is a copy of
/// that of `row`.
static void move_all(struct hc_timeline *tl, const struct hc_ring_row *row,
                     const struct hc_ring_row *next, hc_entity first, uint32_t count) {
    const struct hc_world *world = tl->config.world;
    const struct hc_kind *kind = hc_world_kind(world, first);
    if (kind->x < 0)
        return;
    const struct hc_field *x = &kind->fields[kind->x], *y = &kind->fields[kind->y];
    for (uint32_t e = first; e < first + count; e++) {
        const uint8_t *old = row->states + (size_t)e * world->stride;
        const uint8_t *new = next->states + (size_t)e * world->stride;
        bool had = row->presence[e] == HC_ALIVE, has = next->presence[e] == HC_ALIVE;
        if (!had && !has)
            continue;
        int64_t from[2] = {hc_field_get(x, old), hc_field_get(y, old)};
        int64_t to[2] = {hc_field_get(x, new), hc_field_get(y, new)};
        hc_grid_move(&tl->shape, next->grid, (hc_entity)e, had ? from : NULL, has ? to : NULL);
    }
}

void hc_stepping_simulate(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    hc_stepping_clear(tl, tl->head + 1);
    hc_inputs_prepare(&tl->inputs);
    struct hc_ring_row row = hc_ring_row(tl, tl->head), next = hc_ring_row(tl, tl->head + 1);
    hc_scene_reduce(world, row.presence, row.states, hc_ring_reductions(tl, tl->head));
    struct hc_scene scene = scene_at(tl, &row);
    memcpy(next.grid.bucket, row.grid.bucket, hc_grid_memory(&tl->shape));
    for (uint32_t e = 0; e < world->entities; e = tl->run_end[e]) {
        uint32_t count = tl->run_end[e] - e;
        step_all(tl, &scene, &row, (hc_entity)e, count, next.states + (size_t)e * world->stride,
                 next.presence + e);
        move_all(tl, &row, &next, (hc_entity)e, count);
    }
    tl->stats.steps += world->entities;
}
