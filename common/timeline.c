/// The timeline: its memory, its ticks, the changes that it is given, and its queries.
#include "common/timeline.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "common/ring.h"
#include "common/spread.h"
#include "common/stepping.h"
#include "hindcast/check.h"

#include <string.h>

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

/// The places for game events that all entities have at a tick.
static uint32_t event_places(const struct hc_world *world) {
    uint32_t places = 0;
    for (uint32_t e = 0; e < world->entities; e++)
        places += hc_world_kind(world, (hc_entity)e)->events_max;
    return places;
}

/// Lays the arrays of game events out from `base`; returns the bytes needed.
static size_t layout_events(struct hc_timeline *tl, uint8_t *base) {
    const struct hc_world *world = tl->config.world;
    size_t n = hc_ring_slots(tl), entities = world->entities, used = 0;
    tl->event_total = event_places(world);
    if (tl->event_total == 0)
        return 0;
    tl->event_at = hc_carve(base, &used, (entities + 1) * sizeof *tl->event_at);
    tl->event_counts = hc_carve(base, &used, (n + 1) * entities);
    tl->events = hc_carve(base, &used, (n + 1) * tl->event_total * sizeof *tl->events);
    tl->events_changed = hc_carve(base, &used, n * sizeof *tl->events_changed);
    return used;
}

/// Lays the struct and then its arrays out from `base`; returns the bytes needed.
static size_t layout(struct hc_timeline *tl, uint8_t *base) {
    const struct hc_world *world = tl->config.world;
    size_t n = hc_ring_slots(tl), entities = world->entities, used = 0;
    size_t words = hc_ring_words(world->entities), player_words = hc_ring_words(world->players);
    hc_carve(base, &used, sizeof *tl);
    tl->slots = (uint32_t)n;
    tl->inputs.world = world;
    tl->inputs.history = tl->config.history;
    tl->inputs.future = tl->config.future;
    tl->inputs.replica = tl->config.replica;
    used += hc_inputs_layout(&tl->inputs, base == NULL ? NULL : base + used);
    tl->shape = hc_grid_shape(world);
    tl->states = hc_carve(base, &used, n * entities * world->stride);
    tl->presence = hc_carve(base, &used, n * entities);
    tl->again = hc_carve(base, &used, n * words * sizeof *tl->again);
    tl->inputs_put = hc_carve(base, &used, n * player_words * sizeof *tl->inputs_put);
    tl->whole = hc_carve(base, &used, n);
    tl->groups = hc_carve(base, &used, n * entities);
    size_t looking = world->game->lookback > 0 ? entities : 0;
    tl->past = hc_carve(base, &used, n * looking * sizeof *tl->past);
    tl->past_any = hc_carve(base, &used, n * sizeof *tl->past_any);
    tl->changed = hc_carve(base, &used, n * sizeof(hc_tick));
    tl->reduce = hc_carve(base, &used, n);
    tl->reductions = hc_carve(base, &used, n * world->game->reduction_count * sizeof(int64_t));
    tl->grids = hc_carve(base, &used, n * hc_grid_memory(&tl->shape));
    size_t replicas = tl->config.replica ? n : 0;
    tl->authoritative = hc_carve(base, &used, replicas * entities * sizeof *tl->authoritative);
    tl->received = hc_carve(base, &used, replicas * words * sizeof *tl->received);
    used += layout_events(tl, base == NULL ? NULL : base + used);
    tl->run_end = hc_carve(base, &used, entities * sizeof *tl->run_end);
    tl->alike_end = hc_carve(base, &used, entities * sizeof *tl->alike_end);
    tl->next = hc_carve(base, &used, (size_t)HC_RUN_MAX * world->stride);
    tl->near = hc_carve(base, &used, entities * sizeof *tl->near);
    tl->past_near = hc_carve(base, &used, looking * sizeof *tl->past_near);
    if (looking == 0)
        tl->past = NULL;
    return used;
}

size_t hc_timeline_memory(const struct hc_timeline_config *config) {
    HC_ASSERT(hc_timeline_config_check(config) == NULL);
    struct hc_timeline measured = {.config = *config};
    return layout(&measured, NULL);
}

struct hc_timeline *hc_timeline_create(const struct hc_timeline_config *config) {
    if (hc_timeline_config_check(config) != NULL)
        return NULL;
    struct hc_timeline *tl = hc_allocate(config->allocator, hc_timeline_memory(config));
    if (tl == NULL)
        return NULL;
    tl->config = *config;
    layout(tl, (uint8_t *)tl);
    tl->earliest = HC_NO_TICK;
    tl->inputs.changed = hc_spread_input;
    tl->inputs.context = tl;
    hc_overflows_init(&tl->overflows, config->world);
    hc_stepping_find_runs(tl);
    hc_stepping_place_events(tl);
    return tl;
}

void hc_timeline_destroy(struct hc_timeline *tl) {
    if (tl != NULL)
        hc_release(tl->config.allocator, tl);
}

// ---- Ticks --------------------------------------------------------------------------------------

hc_tick hc_timeline_earliest(const struct hc_timeline *tl) {
    return tl->earliest < tl->head ? tl->earliest : HC_NO_TICK;
}

void hc_timeline_set_watch(struct hc_timeline *tl, hc_timeline_watch *watch, void *context) {
    tl->watch = watch;
    tl->watch_context = context;
}

static void call_watch(const struct hc_timeline *tl, enum hc_timeline_work work, bool ends) {
    if (tl->watch != NULL)
        tl->watch(tl->watch_context, work, ends);
}

void hc_timeline_resimulate(struct hc_timeline *tl) {
    bool any = tl->earliest < tl->head;
    HC_ASSERT(tl->started);
    if (any)
        call_watch(tl, HC_TIMELINE_REWIND, false);
    hc_stepping_resimulate(tl);
    if (any)
        call_watch(tl, HC_TIMELINE_REWIND, true);
}

void hc_timeline_advance(struct hc_timeline *tl) {
    hc_timeline_resimulate(tl);
    hc_timeline_simulate(tl);
}

void hc_timeline_simulate(struct hc_timeline *tl) {
    HC_ASSERT(tl->head < HC_NO_TICK - 1 && hc_timeline_earliest(tl) == HC_NO_TICK);
    call_watch(tl, HC_TIMELINE_STEP, false);
    hc_stepping_simulate(tl);
    call_watch(tl, HC_TIMELINE_STEP, true);
    tl->head++;
    tl->oldest = hc_tick_max(tl->oldest, hc_tick_back(tl->head, tl->config.history));
    hc_inputs_move(&tl->inputs, tl->head);
    tl->stats.advances++;
}

// ---- Changes ------------------------------------------------------------------------------------

void hc_timeline_log_rewinds(struct hc_timeline *tl, struct hc_rewind_log *log) {
    HC_ASSERT(log == NULL || log->entities == tl->config.world->entities);
    tl->rewinds = log;
}

/// Records that `tick`, if it is past, is stepped again for a cause that is no input.
static void log_cause(struct hc_timeline *tl, enum hc_rewind_cause_kind kind, hc_tick tick,
                      hc_player player, hc_entity entity) {
    const struct hc_rewind_cause cause = {
        .kind = kind, .tick = tick, .player = player, .entity = entity};
    if (tl->rewinds != NULL && tick < tl->head)
        hc_rewind_log_cause(tl->rewinds, &cause);
}

void hc_timeline_start(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    HC_ASSERT(!tl->started && !tl->config.replica);
    hc_stepping_clear(tl, 0);
    struct hc_ring_row row = hc_ring_row(tl, 0);
    hc_grid_clear(&tl->shape, row.grid);
    for (uint32_t e = 0; e < world->entities; e++) {
        uint8_t state[HC_STATE_MAX] = {0};
        bool alive = world->game->start(world, (hc_entity)e, state);
        if (!alive)
            memset(state, 0, sizeof state);
        uint8_t presence = alive ? HC_ALIVE : HC_ABSENT;
        hc_overflows_check(&tl->overflows, 0, (hc_entity)e, 1, state, &presence);
        hc_spread_rewrite(tl, &row, (hc_entity)e, presence, state);
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
    if (status == HC_OK) { // the step reads the roster change too, not only the input
        struct hc_ring_row row = hc_ring_row(tl, tick);
        hc_spread_mark_owned(tl, &row, player);
        log_cause(tl, HC_REWIND_ROSTER, tick, player, 0);
    }
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
    hc_spread_mark_all(tl, first);
    log_cause(tl, HC_REWIND_ORDER, first, HC_NO_PLAYER, 0);
}

/// Drops every state and starts again at `tick`, where every entity is unknown.
static void restart(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_world *world = tl->config.world;
    memset(tl->received, 0xff, tl->slots * hc_ring_words(world->entities) * sizeof *tl->received);
    for (hc_tick t = 0; t < tl->slots; t++)
        hc_stepping_clear(tl, t);
    hc_stepping_clear(tl, tick);
    struct hc_ring_row row = hc_ring_row(tl, tick);
    hc_grid_clear(&tl->shape, row.grid);
    memset(row.states, 0, (size_t)world->entities * world->stride);
    memset(row.presence, HC_UNKNOWN, world->entities);
    hc_inputs_restart(&tl->inputs, tick);
    tl->started = true;
    tl->earliest = HC_NO_TICK;
    tl->begin = tl->oldest = tl->head = tick;
}

/// Whether the state at the tick of `row` already equals the one that was received.
static bool holds_state(const struct hc_timeline *tl, const struct hc_ring_row *row,
                        const struct hc_entity_state *received) {
    const struct hc_world *world = tl->config.world;
    if (row->presence[received->entity] != received->presence)
        return false;
    return received->presence != HC_ALIVE ||
           memcmp(row->states + (size_t)received->entity * world->stride, received->state,
                  hc_world_kind(world, received->entity)->state_size) == 0;
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
    struct hc_ring_row row = hc_ring_row(tl, tick);
    for (uint32_t i = 0; i < count; i++) {
        hc_entity e = entities[i].entity;
        hc_tick *held = &row.authoritative[e];
        if (*held != HC_NO_TICK && *held > as_of)
            HC_MARK("older-state-ignored");
        if (*held != HC_NO_TICK && *held >= as_of)
            continue;
        *held = as_of;
        row.received[e / 64] |= UINT64_C(1) << e % 64;
        hc_stepping_put_events(tl, tick, e, NULL, 0);
        if (holds_state(tl, &row, &entities[i])) {
            HC_MARK("received-state-equal");
            continue;
        }
        uint8_t state[HC_STATE_MAX];
        memset(state, 0, world->stride);
        if (entities[i].presence == HC_ALIVE)
            memcpy(state, entities[i].state, hc_world_kind(world, e)->state_size);
        hc_spread_rewrite(tl, &row, e, entities[i].presence, state);
        log_cause(tl, HC_REWIND_STATE, tick, HC_NO_PLAYER, e);
    }
    return HC_OK;
}

// ---- Queries ------------------------------------------------------------------------------------

bool hc_timeline_started(const struct hc_timeline *tl) {
    return tl->started;
}

bool hc_timeline_stepping(const struct hc_timeline *tl, hc_tick *tick, hc_entity *entity) {
    const struct hc_scene *scene = tl->stepping;
    if (scene == NULL)
        return false;
    *tick = scene->tick;
    *entity = scene->self;
    return true;
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
    const struct hc_world *world = tl->config.world;
    return tl->states + hc_ring_slot(tl, tick) * world->entities * world->stride;
}

const uint8_t *hc_timeline_presence(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return tl->presence + hc_ring_slot(tl, tick) * tl->config.world->entities;
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
    if (!in_window(tl, tick))
        return NULL;
    size_t cell = hc_inputs_cell(&tl->inputs, player, tick);
    return tl->inputs.slot[cell] == HC_SLOT_KNOWN
               ? tl->inputs.known + cell * tl->config.world->game->input_size
               : NULL;
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

const hc_game_event *hc_timeline_events(const struct hc_timeline *tl, hc_tick tick,
                                        hc_entity entity, uint32_t *count) {
    HC_ASSERT(holds(tl, tick));
    size_t slot = hc_ring_slot(tl, tick);
    *count = tl->event_total == 0 ? 0 : hc_ring_event_counts(tl, slot)[entity];
    return *count == 0 ? NULL : hc_ring_events_at(tl, slot, entity);
}

uint32_t hc_timeline_next_emitter(const struct hc_timeline *tl, hc_tick tick, uint32_t from) {
    uint32_t entities = tl->config.world->entities;
    HC_ASSERT(holds(tl, tick));
    if (tl->event_total == 0 || tl->events_changed[hc_ring_slot(tl, tick)] == 0)
        return entities;
    const uint8_t *counts = hc_ring_event_counts(tl, hc_ring_slot(tl, tick));
    uint64_t eight = 0;
    for (; from + sizeof eight <= entities; from += (uint32_t)sizeof eight) {
        memcpy(&eight, counts + from, sizeof eight);
        if (eight != 0)
            break;
    }
    while (from < entities && counts[from] == 0)
        from++;
    return from;
}

uint64_t hc_timeline_events_changed(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return tl->event_total == 0 ? 0 : tl->events_changed[hc_ring_slot(tl, tick)];
}

uint64_t hc_timeline_hash(const struct hc_timeline *tl, hc_tick tick) {
    return hc_world_hash(tl->config.world, hc_timeline_presence(tl, tick),
                         hc_timeline_states(tl, tick));
}

hc_tick hc_timeline_changed(const struct hc_timeline *tl, hc_tick tick) {
    HC_ASSERT(holds(tl, tick));
    return tl->changed[hc_ring_slot(tl, tick)];
}

const struct hc_overflow *hc_timeline_overflows(const struct hc_timeline *tl, uint32_t *count) {
    *count = tl->overflows.count;
    return tl->overflows.list;
}

const struct hc_timeline_stats *hc_timeline_stats(const struct hc_timeline *tl) {
    return &tl->stats;
}
