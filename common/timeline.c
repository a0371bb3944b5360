/// The timeline's ring of ticks, the spread of a change through it, and the stepping of entities.
#include "common/timeline.h"

#include "common/alloc.h"
#include "common/grid.h"
#include "common/inputs.h"
#include "common/mark.h"
#include "common/scene.h"
#include "hindcast/check.h"

#include <string.h>

/// The ring's arrays hold one part for each tick, in its slot, see slot_of. "The step of a slot"
/// reads the slot's tick and writes the next.
struct hc_timeline {
    struct hc_timeline_config config;
    struct hc_inputs inputs;
    struct hc_grid_shape shape;
    struct hc_timeline_stats stats;
    bool started;
    hc_tick oldest, head;
    hc_tick earliest; ///< the earliest tick to be resimulated, or HC_NO_TICK

    uint8_t *states;        ///< [slots][entities * stride]
    uint8_t *presence;      ///< [slots][entities]
    uint8_t *again;         ///< [slots][entities] 1: the step of the slot must be taken again
    uint8_t *inputs_put;    ///< [slots][players] 1: the input of the slot may have changed
    uint8_t *groups;        ///< [slots][entities] referee groups that the step of the slot read
    hc_tick *changed;       ///< [slots] hc_timeline_changed
    uint8_t *reduce;        ///< [slots] 1: the slot's reductions may have changed
    int64_t *reductions;    ///< [slots][reduction_count] that the step of the slot was given
    uint8_t *grids;         ///< [slots][grid memory]
    hc_tick *authoritative; ///< [slots][entities] as_of of the authoritative state, or HC_NO_TICK;
                            ///< a replica's only

    hc_entity *near; ///< [entities] result of the newest find_near
    uint32_t near_count;
};

struct hc_timeline_config hc_timeline_config_default(void) {
    return (struct hc_timeline_config){.history = 64, .future = 64};
}

const char *hc_timeline_config_check(const struct hc_timeline_config *config) {
    if (config->world == NULL)
        return "world";
    if (config->history > HC_HISTORY_MAX)
        return "history";
    return config->future < 1 || config->future > HC_FUTURE_MAX ? "future" : NULL;
}

// ---- Memory -------------------------------------------------------------------------------------

/// One tick more than the history, and at least the two that a step needs.
static uint32_t slots(const struct hc_timeline *tl) {
    return (tl->config.history > 0 ? tl->config.history : 1) + 1;
}

/// Lays the struct and then its arrays out from `base`; returns the bytes needed.
static size_t layout(struct hc_timeline *tl, uint8_t *base) {
    const struct hc_world *world = tl->config.world;
    size_t n = slots(tl), entities = world->entities, used = 0;
    hc_carve(base, &used, sizeof *tl);
    tl->inputs.world = world;
    tl->inputs.history = tl->config.history;
    tl->inputs.future = tl->config.future;
    tl->inputs.replica = tl->config.replica;
    used += hc_inputs_layout(&tl->inputs, base == NULL ? NULL : base + used);
    tl->shape = hc_grid_shape(world);
    tl->states = hc_carve(base, &used, n * entities * world->stride);
    tl->presence = hc_carve(base, &used, n * entities);
    tl->again = hc_carve(base, &used, n * entities);
    tl->inputs_put = hc_carve(base, &used, n * world->players);
    tl->groups = hc_carve(base, &used, n * entities);
    tl->changed = hc_carve(base, &used, n * sizeof(hc_tick));
    tl->reduce = hc_carve(base, &used, n);
    tl->reductions = hc_carve(base, &used, n * world->game->reduction_count * sizeof(int64_t));
    tl->grids = hc_carve(base, &used, n * hc_grid_memory(&tl->shape));
    size_t authoritative = tl->config.replica ? n * entities * sizeof(hc_tick) : 0;
    tl->authoritative = hc_carve(base, &used, authoritative);
    tl->near = hc_carve(base, &used, entities * sizeof *tl->near);
    return used;
}

size_t hc_timeline_memory(const struct hc_timeline_config *config) {
    HC_ASSERT(hc_timeline_config_check(config) == NULL);
    struct hc_timeline measured = {.config = *config};
    return layout(&measured, NULL);
}

static void input_changed(void *context, hc_player player, hc_tick tick);

struct hc_timeline *hc_timeline_create(const struct hc_timeline_config *config) {
    if (hc_timeline_config_check(config) != NULL)
        return NULL;
    struct hc_timeline *tl = hc_allocate(config->allocator, hc_timeline_memory(config));
    if (tl == NULL)
        return NULL;
    tl->config = *config;
    layout(tl, (uint8_t *)tl);
    tl->earliest = HC_NO_TICK;
    tl->inputs.changed = input_changed;
    tl->inputs.context = tl;
    return tl;
}

void hc_timeline_destroy(struct hc_timeline *tl) {
    if (tl != NULL)
        hc_release(tl->config.allocator, tl);
}

// ---- Access -------------------------------------------------------------------------------------

static size_t slot_of(const struct hc_timeline *tl, hc_tick tick) {
    return tick % slots(tl);
}

static uint8_t *states_at(const struct hc_timeline *tl, hc_tick tick) {
    return tl->states + slot_of(tl, tick) * tl->config.world->entities * tl->config.world->stride;
}

static uint8_t *state_at(const struct hc_timeline *tl, hc_tick tick, hc_entity entity) {
    return states_at(tl, tick) + (size_t)entity * tl->config.world->stride;
}

/// The part of `tick` in an array with one byte for each entity.
static uint8_t *bytes_at(const struct hc_timeline *tl, uint8_t *array, hc_tick tick) {
    return array + slot_of(tl, tick) * tl->config.world->entities;
}

static int64_t *reductions_at(const struct hc_timeline *tl, hc_tick tick) {
    return tl->reductions + slot_of(tl, tick) * tl->config.world->game->reduction_count;
}

static struct hc_grid grid_at(const struct hc_timeline *tl, hc_tick tick) {
    return hc_grid_at(&tl->shape, tl->grids + slot_of(tl, tick) * hc_grid_memory(&tl->shape));
}

static hc_tick *authoritative_at(const struct hc_timeline *tl, hc_tick tick, hc_entity entity) {
    return tl->authoritative + slot_of(tl, tick) * tl->config.world->entities + entity;
}

static bool is_authoritative(const struct hc_timeline *tl, hc_tick tick, hc_entity entity) {
    return tl->config.replica && *authoritative_at(tl, tick, entity) != HC_NO_TICK;
}

/// Whether `entity` is a player itself: the reductions and the referee depend on players.
static bool is_player(const struct hc_world *world, hc_entity entity) {
    hc_player owner = world->owner_of[entity];
    return owner != HC_NO_PLAYER && entity == hc_world_player(world, owner);
}

/// The position in `state`; false when the entity is not alive or has none.
static bool position(const struct hc_timeline *tl, hc_entity entity, uint8_t presence,
                     const uint8_t *state, int64_t *x, int64_t *y) {
    return presence == HC_ALIVE && hc_world_position(tl->config.world, entity, state, x, y);
}

// ---- Neighbours ---------------------------------------------------------------------------------

/// Writes the entities other than `self` within reach of (x, y) at `tick` to tl->near.
static void find_near(struct hc_timeline *tl, hc_tick tick, int64_t x, int64_t y, hc_entity self) {
    const struct hc_world *world = tl->config.world;
    const uint8_t *states = states_at(tl, tick);
    int64_t reach = world->game->reach, ex = 0, ey = 0;
    uint32_t found =
        hc_grid_query(&tl->shape, grid_at(tl, tick), x, y, world->game->reach, tl->near);
    tl->near_count = 0;
    for (uint32_t i = 0; i < found; i++) {
        hc_entity e = tl->near[i];
        bool has = hc_world_position(world, e, states + (size_t)e * world->stride, &ex, &ey);
        HC_CHECK(has);
        if (e != self && ex - x >= -reach && ex - x <= reach && ey - y >= -reach && ey - y <= reach)
            tl->near[tl->near_count++] = e;
    }
}

static void sort_near(struct hc_timeline *tl) {
    for (uint32_t i = 1; i < tl->near_count; i++) {
        hc_entity e = tl->near[i];
        uint32_t at = i;
        for (; at > 0 && tl->near[at - 1] > e; at--)
            tl->near[at] = tl->near[at - 1];
        tl->near[at] = e;
    }
}

static uint32_t scene_neighbours(struct hc_scene *scene, hc_entity self, const hc_entity **ids) {
    struct hc_timeline *tl = scene->source;
    int64_t x, y;
    tl->near_count = 0;
    if (position(tl, self, scene->presence[self],
                 scene->states + (size_t)self * scene->world->stride, &x, &y)) {
        find_near(tl, scene->tick, x, y, self);
        sort_near(tl);
    }
    *ids = tl->near;
    return tl->near_count;
}

/// Moves `entity` in the grid of `tick` from its old position to its new one, as far as it has any.
static void patch_grid(struct hc_timeline *tl, hc_tick tick, hc_entity entity, bool was,
                       const int64_t from[2], bool is, const int64_t to[2]) {
    uint32_t old = was ? hc_grid_bucket(&tl->shape, from[0], from[1]) : 0;
    uint32_t new = is ? hc_grid_bucket(&tl->shape, to[0], to[1]) : 0;
    if (was == is && old == new)
        return;
    if (was)
        hc_grid_remove(grid_at(tl, tick), old, entity);
    if (is)
        hc_grid_insert(grid_at(tl, tick), new, entity);
}

// ---- The spread of a change ---------------------------------------------------------------------

/// Whether the step of `tick` has been taken and can be taken again from a state in the ring.
static bool stepped(const struct hc_timeline *tl, hc_tick tick) {
    return tick >= tl->oldest && tick < tl->head;
}

/// Marks the step of (tick, entity) to be taken again, if it has been taken.
static void mark(struct hc_timeline *tl, hc_tick tick, hc_entity entity) {
    if (!stepped(tl, tick))
        return;
    bytes_at(tl, tl->again, tick)[entity] = 1;
    tl->earliest = hc_tick_min(tl->earliest, tick);
}

static void mark_owned(struct hc_timeline *tl, hc_tick tick, hc_player owner) {
    hc_entity first = hc_world_player(tl->config.world, owner);
    for (uint16_t i = 0; i < tl->config.world->per_owner; i++)
        mark(tl, tick, (hc_entity)(first + i));
}

static void mark_near(struct hc_timeline *tl, hc_tick tick, const int64_t at[2], hc_entity self) {
    find_near(tl, tick, at[0], at[1], self);
    for (uint32_t i = 0; i < tl->near_count; i++)
        mark(tl, tick, tl->near[i]);
}

static void input_changed(void *context, hc_player player, hc_tick tick) {
    struct hc_timeline *tl = context;
    if (!stepped(tl, tick))
        return;
    tl->inputs_put[slot_of(tl, tick) * tl->config.world->players + player] = 1;
    tl->earliest = hc_tick_min(tl->earliest, tick);
}

/// Marks the players whose input at `tick` differs from the one that the step was given.
static void mark_inputs(struct hc_timeline *tl, hc_tick tick) {
    size_t players = tl->config.world->players;
    uint8_t *put = tl->inputs_put + slot_of(tl, tick) * players, *end = put + players;
    for (uint8_t *at = put; at < end && (at = memchr(at, 1, (size_t)(end - at))) != NULL; at++) {
        *at = 0;
        if (hc_inputs_give(&tl->inputs, (hc_player)(at - put), tick))
            mark_owned(tl, tick, (hc_player)(at - put));
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

static void mark_readers(struct hc_timeline *tl, hc_tick tick, uint8_t groups) {
    const uint8_t *read = bytes_at(tl, tl->groups, tick);
    for (uint32_t e = 0; e < tl->config.world->entities; e++)
        if ((read[e] & groups) != 0)
            mark(tl, tick, (hc_entity)e);
}

/// Whether the change of a player's state from `a` to `b` may change a reduction.
static bool reduced(const struct hc_timeline *tl, hc_entity entity, bool presence_changed,
                    const uint8_t *a, const uint8_t *b) {
    const struct hc_game *game = tl->config.world->game;
    const struct hc_kind *kind = hc_world_kind(tl->config.world, entity);
    for (uint8_t r = 0; r < game->reduction_count; r++) {
        const struct hc_field *field = &kind->fields[game->reductions[r].field];
        if (presence_changed || (game->reductions[r].op != HC_REDUCE_COUNT &&
                                 hc_field_get(field, a) != hc_field_get(field, b)))
            return true;
    }
    return false;
}

/// Marks the readers of `entity` at `tick` other than its owner's entities and its neighbours.
static void mark_declared(struct hc_timeline *tl, hc_tick tick, hc_entity entity, uint8_t was,
                          const uint8_t *old, uint8_t is, const uint8_t *new) {
    const struct hc_world *world = tl->config.world;
    if (entity == HC_REFEREE)
        mark_readers(tl, tick, was == is ? changed_groups(tl, old, new) : UINT8_MAX);
    if (!is_player(world, entity))
        return;
    if (reduced(tl, entity, was != is, old, new))
        tl->reduce[slot_of(tl, tick)] = 1;
    if ((was == HC_UNKNOWN) != (is == HC_UNKNOWN))
        mark(tl, tick, HC_REFEREE);
    if (tl->reduce[slot_of(tl, tick)] != 0)
        tl->earliest = hc_tick_min(tl->earliest, tick);
}

/// Rewrites the state of `entity` at `tick` <= head. Marks every entity that read the old state or
/// would read the new one. False when both are the same: the change has died out.
static bool rewrite(struct hc_timeline *tl, hc_tick tick, hc_entity entity, uint8_t is,
                    const uint8_t *new) {
    const struct hc_world *world = tl->config.world;
    uint8_t *presence = &bytes_at(tl, tl->presence, tick)[entity];
    uint8_t *state = state_at(tl, tick, entity), was = *presence, old[HC_STATE_MAX];
    if (was == is && memcmp(state, new, world->stride) == 0)
        return false;
    memcpy(old, state, world->stride);
    tl->changed[slot_of(tl, tick)] = tl->head + 1;
    *presence = is;
    memcpy(state, new, world->stride);
    int64_t from[2] = {0, 0}, to[2] = {0, 0};
    bool had = position(tl, entity, was, old, &from[0], &from[1]);
    bool has = position(tl, entity, is, new, &to[0], &to[1]);
    patch_grid(tl, tick, entity, had, from, has, to);
    if (!stepped(tl, tick))
        return true;
    mark(tl, tick, entity);
    if (world->owner_of[entity] != HC_NO_PLAYER)
        mark_owned(tl, tick, world->owner_of[entity]);
    if (had)
        mark_near(tl, tick, from, entity);
    if (has && !(had && from[0] == to[0] && from[1] == to[1]))
        mark_near(tl, tick, to, entity);
    mark_declared(tl, tick, entity, was, old, is, new);
    return true;
}

// ---- Stepping -----------------------------------------------------------------------------------

static struct hc_scene scene_at(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_game *game = tl->config.world->game;
    size_t cell = hc_inputs_cell(&tl->inputs, 0, tick);
    return (struct hc_scene){
        .world = tl->config.world,
        .tick = tick,
        .states = states_at(tl, tick),
        .presence = bytes_at(tl, tl->presence, tick),
        .inputs = tl->inputs.effective + cell * game->input_size,
        .roster_changes = tl->inputs.roster_change + cell,
        .reductions = reductions_at(tl, tick),
        .secret = tl->config.replica ? NULL : tl->config.secret,
        .neighbours = scene_neighbours,
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

/// The only call of the game's step: writes the next state of `entity` to `out` (stride bytes,
/// zeros when not alive) and returns its presence.
static uint8_t step(struct hc_timeline *tl, struct hc_scene *scene, hc_entity entity,
                    uint8_t *out) {
    const struct hc_world *world = scene->world;
    uint8_t presence = scene->presence[entity];
    scene->self = entity;
    scene->groups_read = 0;
    if (presence == HC_UNKNOWN) {
        memset(out, 0, world->stride);
    } else if (tl->config.replica && entity == HC_REFEREE &&
               !hc_scene_players_known(world, scene->presence)) {
        memset(out, 0, world->stride);
        if (presence == HC_ALIVE)
            hc_scene_hold_referee(world, scene->states, out);
    } else {
        uint16_t size = hc_world_kind(world, entity)->state_size;
        bool alive = world->game->step(scene, entity, out);
        presence = alive ? HC_ALIVE : HC_ABSENT;
        HC_CHECK(!alive || fits(world, entity, out));
        memset(out + (alive ? size : 0), 0, world->stride - (alive ? size : 0u));
    }
    bytes_at(tl, tl->groups, scene->tick)[entity] = scene->groups_read;
    return presence;
}

static void step_again(struct hc_timeline *tl, struct hc_scene *scene, hc_entity entity) {
    uint8_t out[HC_STATE_MAX];
    if (is_authoritative(tl, scene->tick + 1, entity))
        return;
    uint8_t presence = step(tl, scene, entity, out);
    tl->stats.resimulated_steps++;
    if (rewrite(tl, scene->tick + 1, entity, presence, out))
        tl->stats.changed++;
    else
        HC_MARK("spread-died-out");
}

/// Recomputes the reductions of `tick`; marks the referee if any changed.
static void reduce_again(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_world *world = tl->config.world;
    int64_t fresh[HC_REDUCTIONS_MAX];
    size_t bytes = world->game->reduction_count * sizeof fresh[0];
    uint8_t *dirty = &tl->reduce[slot_of(tl, tick)];
    if (*dirty == 0)
        return;
    *dirty = 0;
    hc_scene_reduce(world, bytes_at(tl, tl->presence, tick), states_at(tl, tick), fresh);
    if (memcmp(fresh, reductions_at(tl, tick), bytes) == 0)
        return;
    memcpy(reductions_at(tl, tick), fresh, bytes);
    mark(tl, tick, HC_REFEREE);
}

/// Takes the marked steps of `tick` again; true when there was any.
static bool resimulate_tick(struct hc_timeline *tl, hc_tick tick) {
    uint32_t entities = tl->config.world->entities;
    uint8_t *again = bytes_at(tl, tl->again, tick), *end = again + entities;
    mark_inputs(tl, tick);
    reduce_again(tl, tick);
    if (tl->config.full)
        memset(again, 1, entities);
    uint64_t before = tl->stats.resimulated_steps;
    struct hc_scene scene = scene_at(tl, tick);
    for (uint8_t *at = again; at < end && (at = memchr(at, 1, (size_t)(end - at))) != NULL; at++) {
        *at = 0;
        step_again(tl, &scene, (hc_entity)(at - again));
    }
    return tl->stats.resimulated_steps != before;
}

void hc_timeline_resimulate(struct hc_timeline *tl) {
    HC_ASSERT(tl->started);
    bool rewound = false;
    tl->stats.depth = 0;
    for (hc_tick t = tl->earliest; t < tl->head; t++) {
        if (!resimulate_tick(tl, t))
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

static void clear_slot(struct hc_timeline *tl, hc_tick tick) {
    uint32_t entities = tl->config.world->entities;
    memset(bytes_at(tl, tl->again, tick), 0, entities);
    memset(tl->inputs_put + slot_of(tl, tick) * tl->config.world->players, 0,
           tl->config.world->players);
    memset(bytes_at(tl, tl->groups, tick), 0, entities);
    tl->reduce[slot_of(tl, tick)] = 0;
    tl->changed[slot_of(tl, tick)] = tick;
    for (uint32_t e = 0; tl->config.replica && e < entities; e++)
        *authoritative_at(tl, tick, (hc_entity)e) = HC_NO_TICK;
}

/// Simulates the tick after the head into its slot.
static void simulate(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    hc_tick next = tl->head + 1;
    hc_inputs_prepare(&tl->inputs);
    hc_scene_reduce(world, bytes_at(tl, tl->presence, tl->head), states_at(tl, tl->head),
                    reductions_at(tl, tl->head));
    struct hc_scene scene = scene_at(tl, tl->head);
    clear_slot(tl, next);
    memcpy(grid_at(tl, next).bucket, grid_at(tl, tl->head).bucket, hc_grid_memory(&tl->shape));
    uint8_t *presence = bytes_at(tl, tl->presence, next);
    for (uint32_t i = 0; i < world->entities; i++) {
        hc_entity e = (hc_entity)i;
        uint8_t *state = state_at(tl, next, e);
        int64_t from[2] = {0, 0}, to[2] = {0, 0};
        presence[e] = step(tl, &scene, e, state);
        bool had = position(tl, e, scene.presence[e], scene.states + (size_t)e * world->stride,
                            &from[0], &from[1]);
        bool has = position(tl, e, presence[e], state, &to[0], &to[1]);
        patch_grid(tl, next, e, had, from, has, to);
    }
    tl->stats.steps += world->entities;
}

void hc_timeline_advance(struct hc_timeline *tl) {
    HC_ASSERT(tl->head < HC_NO_TICK - 1);
    hc_timeline_resimulate(tl);
    simulate(tl);
    tl->head++;
    tl->oldest = hc_tick_max(tl->oldest, hc_tick_back(tl->head, tl->config.history));
    hc_inputs_move(&tl->inputs, tl->head);
    tl->stats.advances++;
}

// ---- Changes ------------------------------------------------------------------------------------

void hc_timeline_start(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    HC_ASSERT(!tl->started && !tl->config.replica);
    clear_slot(tl, 0);
    hc_grid_clear(&tl->shape, grid_at(tl, 0));
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t state[HC_STATE_MAX] = {0};
        bool alive = world->game->start(world, (hc_entity)e, state);
        if (!alive)
            memset(state, 0, sizeof state);
        rewrite(tl, 0, (hc_entity)e, alive ? HC_ALIVE : HC_ABSENT, state);
    }
    hc_inputs_restart(&tl->inputs, 0);
    tl->started = true;
}

enum hc_status hc_timeline_put_input(struct hc_timeline *tl, hc_player player, hc_tick tick,
                                     const void *input) {
    return hc_inputs_put(&tl->inputs, player, tick, input);
}

enum hc_status hc_timeline_put_roster(struct hc_timeline *tl, hc_player player, hc_tick tick,
                                      enum hc_roster roster_change) {
    enum hc_status status = hc_inputs_put_roster(&tl->inputs, player, tick, roster_change);
    if (roster_change == HC_ROSTER_JOIN && tl->earliest < tick)
        HC_MARK("join-during-rewind");
    if (status == HC_OK) // the step reads the roster change too, not only the input
        mark_owned(tl, tick, player);
    return status;
}

uint32_t hc_timeline_force(struct hc_timeline *tl, hc_player player, hc_tick before) {
    return hc_inputs_force(&tl->inputs, player, before);
}

enum hc_status hc_timeline_retract(struct hc_timeline *tl, hc_player player, hc_tick tick) {
    return hc_inputs_retract(&tl->inputs, player, tick);
}

void hc_timeline_redo(struct hc_timeline *tl, hc_tick from) {
    HC_ASSERT(tl->started);
    hc_tick first = hc_tick_max(from, tl->oldest);
    for (hc_tick t = first; t < tl->head; t++)
        memset(bytes_at(tl, tl->again, t), 1, tl->config.world->entities);
    if (first < tl->head)
        tl->earliest = hc_tick_min(tl->earliest, first);
}

/// Drops every state and starts again at `tick`, where every entity is unknown.
static void restart(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_world *world = tl->config.world;
    memset(tl->again, 0, slots(tl) * world->entities);
    memset(tl->inputs_put, 0, slots(tl) * world->players);
    memset(tl->reduce, 0, slots(tl));
    clear_slot(tl, tick);
    hc_grid_clear(&tl->shape, grid_at(tl, tick));
    memset(states_at(tl, tick), 0, (size_t)world->entities * world->stride);
    memset(bytes_at(tl, tl->presence, tick), HC_UNKNOWN, world->entities);
    hc_inputs_restart(&tl->inputs, tick);
    tl->started = true;
    tl->earliest = HC_NO_TICK;
    tl->oldest = tl->head = tick;
}

/// Whether the state at `tick` already equals the one that was received.
static bool holds_state(const struct hc_timeline *tl, hc_tick tick,
                        const struct hc_entity_state *received) {
    if (bytes_at(tl, tl->presence, tick)[received->entity] != received->presence)
        return false;
    return received->presence != HC_ALIVE ||
           memcmp(state_at(tl, tick, received->entity), received->state,
                  hc_world_kind(tl->config.world, received->entity)->state_size) == 0;
}

enum hc_status hc_timeline_put_state(struct hc_timeline *tl, hc_tick tick, hc_tick as_of,
                                     const struct hc_entity_state *entities, uint32_t count) {
    const struct hc_world *world = tl->config.world;
    HC_ASSERT(tl->config.replica && as_of != HC_NO_TICK && tick < HC_NO_TICK - 1);
    for (uint32_t i = 0; i < count; i++)
        if (entities[i].entity >= world->entities || entities[i].presence > HC_ALIVE ||
            (entities[i].presence == HC_ALIVE && entities[i].state == NULL))
            return HC_INVALID;
    if (tl->started && tick > tl->head)
        HC_MARK("timeline-restarted");
    if (!tl->started || tick > tl->head)
        restart(tl, tick);
    if (tick < tl->oldest) {
        HC_MARK("state-too-old");
        return HC_TOO_OLD;
    }
    for (uint32_t i = 0; i < count; i++) {
        hc_entity e = entities[i].entity;
        hc_tick *held = authoritative_at(tl, tick, e);
        if (*held != HC_NO_TICK && *held > as_of)
            HC_MARK("older-state-ignored");
        if (*held != HC_NO_TICK && *held >= as_of)
            continue;
        *held = as_of;
        if (holds_state(tl, tick, &entities[i])) {
            HC_MARK("received-state-equal");
            continue;
        }
        uint8_t state[HC_STATE_MAX] = {0};
        if (entities[i].presence == HC_ALIVE)
            memcpy(state, entities[i].state, hc_world_kind(world, e)->state_size);
        rewrite(tl, tick, e, entities[i].presence, state);
    }
    return HC_OK;
}

// ---- Queries ------------------------------------------------------------------------------------

bool hc_timeline_started(const struct hc_timeline *tl) {
    return tl->started;
}

hc_tick hc_timeline_head(const struct hc_timeline *tl) {
    return tl->head;
}

hc_tick hc_timeline_oldest(const struct hc_timeline *tl) {
    return tl->oldest;
}

static bool holds(const struct hc_timeline *tl, hc_tick tick) {
    return tl->started && tick >= tl->oldest && tick <= tl->head;
}

const uint8_t *hc_timeline_states(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return states_at(tl, tick);
}

const uint8_t *hc_timeline_presence(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return bytes_at(tl, tl->presence, tick);
}

static bool in_window(const struct hc_timeline *tl, hc_tick tick) {
    return tl->started && tick >= tl->inputs.first && tick <= tl->inputs.last;
}

enum hc_slot hc_timeline_slot(const struct hc_timeline *tl, hc_player player, hc_tick tick) {
    if (!in_window(tl, tick))
        return HC_SLOT_UNKNOWN;
    return (enum hc_slot)tl->inputs.slot[hc_inputs_cell(&tl->inputs, player, tick)];
}

const void *hc_timeline_input(const struct hc_timeline *tl, hc_player player, hc_tick tick) {
    HC_ASSERT(hc_timeline_slot(tl, player, tick) == HC_SLOT_KNOWN);
    return tl->inputs.known +
           hc_inputs_cell(&tl->inputs, player, tick) * tl->config.world->game->input_size;
}

const void *hc_timeline_effective(const struct hc_timeline *tl, hc_player player, hc_tick tick) {
    HC_ASSERT(in_window(tl, tick) && tick < tl->head);
    return tl->inputs.effective +
           hc_inputs_cell(&tl->inputs, player, tick) * tl->config.world->game->input_size;
}

enum hc_roster hc_timeline_roster(const struct hc_timeline *tl, hc_player player, hc_tick tick) {
    if (!in_window(tl, tick))
        return HC_ROSTER_NONE;
    return (enum hc_roster)tl->inputs.roster_change[hc_inputs_cell(&tl->inputs, player, tick)];
}

bool hc_timeline_newest_input(const struct hc_timeline *tl, hc_player player, hc_tick tick,
                              hc_tick *known, void *input) {
    return hc_inputs_newest(&tl->inputs, player, tick, known, input);
}

hc_tick hc_timeline_inputs_through(const struct hc_timeline *tl, hc_player player) {
    HC_ASSERT(!tl->config.replica);
    return tl->inputs.inputs_through[player];
}

uint64_t hc_timeline_hash(const struct hc_timeline *tl, hc_tick tick) {
    return hc_world_hash(tl->config.world, hc_timeline_presence(tl, tick),
                         hc_timeline_states(tl, tick));
}

hc_tick hc_timeline_changed(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return tl->changed[slot_of(tl, tick)];
}

const struct hc_timeline_stats *hc_timeline_stats(const struct hc_timeline *tl) {
    return &tl->stats;
}
