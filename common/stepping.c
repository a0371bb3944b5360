/// The only calls of a game's `step` and `step_run` in a timeline: whole ticks, and parts of them.
#include "common/stepping.h"

#include "common/mark.h"
#include "common/presence.h"
#include "common/scene.h"
#include "common/spread.h"
#include "common/vacancy.h"

#include <string.h>

enum {
    /// Worlds with fewer entities never take a tick as a whole because many states change.
    WHOLE_ENTITIES_MIN = 64,
    /// Marking the readers of a changed state costs as much as several steps: when more than one of
    /// so many states has changed at a tick, all of its steps are taken again without marks.
    WHOLE_CHANGED_PART = 8,
    /// From this many entities on, how many states change is counted first: if most do, marking
    /// their readers is skipped.
    MANY_STEPS = 16,
};

void hc_stepping_find_runs(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    for (uint32_t e = world->entities; e-- > 0;) {
        hc_entity after = (hc_entity)(e + 1);
        bool last = after == world->entities;
        bool same = !last && world->kind_of[e] == world->kind_of[after];
        bool alike = same || (!last && hc_spread_is_plain(tl, (hc_entity)e) &&
                              hc_spread_is_plain(tl, after));
        tl->run_end[e] = same ? tl->run_end[after] : after;
        tl->alike_end[e] = alike ? tl->alike_end[after] : after;
    }
}

/// Forgets which states of a row are authoritative. Few of many entities have one.
static void clear_authoritative(const struct hc_timeline *tl, const struct hc_ring_row *row) {
    uint32_t entities = tl->config.world->entities;
    for (size_t w = 0, words = hc_ring_words(entities); w < words; w++) {
        if (row->received[w] == 0)
            continue;
        uint32_t first = (uint32_t)(64 * w), end = hc_tick_min(entities, first + 64);
        memset(row->authoritative + first, 0xff, (end - first) * sizeof *row->authoritative);
        row->received[w] = 0;
    }
}

void hc_stepping_clear(struct hc_timeline *tl, hc_tick tick) {
    const struct hc_world *world = tl->config.world;
    struct hc_ring_row row = hc_ring_row(tl, tick);
    memset(row.again, 0, hc_ring_words(world->entities) * sizeof *row.again);
    memset(hc_ring_inputs_put(tl, tick), 0, hc_ring_words(world->players) * sizeof(uint64_t));
    tl->whole[row.slot] = 0;
    tl->reduce[row.slot] = 0;
    tl->past_any[row.slot] = 0;
    tl->changed[row.slot] = tick;
    if (tl->event_total > 0) {
        memset(hc_ring_event_counts(tl, row.slot), 0, world->entities);
        tl->events_changed[row.slot] = 0;
    }
    if (tl->config.replica)
        clear_authoritative(tl, &row);
}

_Static_assert(HC_NO_TICK == UINT32_MAX, "the bytes of no tick are all ones");

// ---- Game events --------------------------------------------------------------------------------

void hc_stepping_place_events(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    uint32_t at = 0;
    for (uint32_t e = 0; tl->event_total > 0 && e < world->entities; e++) {
        tl->event_at[e] = at;
        at += hc_world_kind(world, (hc_entity)e)->events_max;
    }
}

void hc_stepping_put_events(struct hc_timeline *tl, hc_tick tick, hc_entity entity,
                            const hc_game_event *events, uint32_t count) {
    const struct hc_world *world = tl->config.world;
    if (hc_world_kind(world, entity)->events_max == 0)
        return;
    size_t slot = hc_ring_slot(tl, tick);
    uint8_t *held = hc_ring_event_counts(tl, slot) + entity;
    hc_game_event *old = hc_ring_events_at(tl, slot, entity);
    if (*held == 0 && count == 0)
        return;
    if (*held == count && memcmp(old, events, count * sizeof *events) == 0)
        return;
    *held = (uint8_t)count;
    if (count > 0)
        memcpy(old, events, count * sizeof *events);
    tl->events_changed[slot] = ++tl->event_changes;
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
        .past = hc_spread_past,
        .past_neighbours = hc_spread_past_neighbours,
    };
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
    scene->past_read = 0;
    if (scene->presence[entity] != HC_UNKNOWN && scene->world->game->step(scene, entity, out)) {
        HC_CHECK(!scene->too_far);
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
    scene->past_read = 0;
    if (presence == HC_ALIVE)
        hc_scene_hold_referee(world, scene->states, out);
    else
        zero(out, size);
    return presence;
}

/// Whether `step` gives the entity the next state and the events that `step_run` gave it, and reads
/// no group of the referee that is not in `groups`, and no past that is not in `past`.
static bool agrees(struct hc_scene *scene, hc_entity entity, uint8_t presence, const uint8_t *state,
                   uint8_t groups, uint64_t past) {
    uint8_t out[HC_STATE_MAX], count = 0;
    hc_game_event events[HC_EMITTED_MAX];
    const struct hc_kind *kind = hc_world_kind(scene->world, entity);
    struct hc_scene single = *scene;
    if (scene->events != NULL) {
        single.event_first = entity;
        single.events = events;
        single.event_counts = &count;
    }
    bool same = step(&single, entity, kind->state_size, out) == presence &&
                memcmp(out, state, kind->state_size) == 0 && (single.groups_read & ~groups) == 0 &&
                (single.past_read & ~past) == 0;
    size_t place = (size_t)(entity - scene->event_first);
    return same &&
           (scene->events == NULL || (count == scene->event_counts[place] &&
                                      memcmp(events, scene->events + place * kind->events_max,
                                             count * sizeof *events) == 0));
}

/// Records what the steps of `count` entities from `first` on have read of the past.
static void record_past(struct hc_timeline *tl, const struct hc_ring_row *row, hc_entity first,
                        uint32_t count, uint64_t read) {
    if (row->past == NULL)
        return;
    tl->past_any[row->slot] |= read;
    for (uint32_t i = 0; i < count; i++)
        row->past[first + i] = read;
}

/// Steps `count` entities of one kind in one call of the game; false if the game leaves them to
/// `step`. See step_each.
static bool step_run(struct hc_timeline *tl, struct hc_scene *scene, const struct hc_ring_row *row,
                     hc_entity first, uint32_t count, uint8_t *out, uint8_t *presence) {
    const struct hc_world *world = scene->world;
    size_t size = hc_world_kind(world, first)->state_size;
    if (first == HC_REFEREE || world->game->step_run == NULL ||
        (tl->config.replica && memchr(scene->presence + first, HC_UNKNOWN, count) != NULL))
        return false;
    scene->self = first;
    scene->groups_read = 0;
    scene->past_read = 0;
    if (!world->game->step_run(scene, first, count, out, presence))
        return false;
    uint8_t read = scene->groups_read, gone = 0;
    uint64_t past = scene->past_read;
    memset(row->groups + first, read, count);
    record_past(tl, row, first, count, past);
    for (uint32_t i = 0; i < count; i++)
        gone |= presence[i] ^ HC_ALIVE;
    for (uint32_t i = 0; gone != 0 && i < count; i++)
        if (presence[i] != HC_ALIVE)
            zero(out + (size_t)i * world->stride, size);
    for (uint32_t i = 0; i < count; i++)
        HC_CHECK(agrees(scene, (hc_entity)(first + i), presence[i], out + (size_t)i * world->stride,
                        read, past));
    return true;
}

/// As step_each, by a call of the game for each entity.
static void step_singly(struct hc_timeline *tl, struct hc_scene *scene,
                        const struct hc_ring_row *row, hc_entity first, uint32_t count,
                        uint8_t *out, uint8_t *presence) {
    const struct hc_world *world = scene->world;
    size_t size = hc_world_kind(world, first)->state_size, stride = world->stride;
    uint8_t *groups = row->groups + first;
    for (uint32_t i = 0; first != HC_REFEREE && i < count; i++, out += stride) {
        presence[i] = step(scene, (hc_entity)(first + i), size, out);
        groups[i] = scene->groups_read;
        if (row->past != NULL)
            record_past(tl, row, (hc_entity)(first + i), 1, scene->past_read);
    }
    if (first == HC_REFEREE) { // the only one of its kind
        presence[0] = step_referee(tl, scene, out);
        groups[0] = scene->groups_read;
        record_past(tl, row, HC_REFEREE, 1, scene->past_read);
    }
}

/// Steps `count` entities of one kind from `first` on. Writes their next states to `out`, stride
/// bytes apart, of which those after state_size stay, and their presence to `presence`.
static void step_each(struct hc_timeline *tl, struct hc_scene *scene, const struct hc_ring_row *row,
                      hc_entity first, uint32_t count, uint8_t *out, uint8_t *presence) {
    tl->stepping = scene;
    if (!step_run(tl, scene, row, first, count, out, presence))
        step_singly(tl, scene, row, first, count, out, presence);
    tl->stepping = NULL;
    if (!tl->config.replica || HC_VALIDATE)
        hc_overflows_check(&tl->overflows, row->tick + 1, first, count, out, presence);
}

// ---- Vacant players -----------------------------------------------------------------------------

/// Whether the game keeps its promise: no step of the entities in [first, end), which are of vacant
/// players, does anything.
static bool stay_vacant(const struct hc_scene *scene, uint32_t first, uint32_t end) {
    struct hc_scene single = *scene;
    uint8_t out[HC_STATE_MAX], count = 0;
    hc_game_event events[HC_EMITTED_MAX];
    for (uint32_t e = first; e < end; e++) {
        single.event_first = (hc_entity)e;
        single.events = hc_world_kind(scene->world, (hc_entity)e)->events_max > 0 ? events : NULL;
        single.event_counts = &count;
        size_t size = hc_world_kind(scene->world, (hc_entity)e)->state_size;
        if (step(&single, (hc_entity)e, size, out) == HC_ALIVE || count > 0)
            return false;
    }
    return true;
}

/// Leaves the steps of the vacant players out whose entities are [first, end): they read nothing.
static void leave_out(const struct hc_scene *scene, const struct hc_ring_row *row, uint32_t first,
                      uint32_t end) {
    HC_CHECK(stay_vacant(scene, first, end));
    (void)scene;
    memset(row->groups + first, 0, end - first);
    if (row->past != NULL)
        memset(row->past + first, 0, (end - first) * sizeof *row->past);
}

// ---- Steps again --------------------------------------------------------------------------------

/// The resimulation of a tick.
struct resimulation {
    struct hc_scene scene;
    struct hc_ring_row row, next; ///< the tick, and the one after it
    uint64_t changed;             ///< states of the tick after it that have changed
};

/// Lets the steps of entities from `first` on emit into the events of `slot`, where none has any.
static void emit_into(const struct hc_timeline *tl, struct hc_scene *scene, size_t slot,
                      hc_entity first) {
    scene->event_first = first;
    scene->events = NULL;
    if (hc_world_kind(scene->world, first)->events_max == 0)
        return;
    scene->events = hc_ring_events_at(tl, slot, first);
    scene->event_counts = hc_ring_event_counts(tl, slot) + first;
}

/// Steps entities as step_each does, into the new tick of `next`, which has no events of them yet.
static void step_new(struct hc_timeline *tl, struct hc_scene *scene, const struct hc_ring_row *row,
                     const struct hc_ring_row *next, hc_entity first, uint32_t count) {
    emit_into(tl, scene, next->slot, first);
    step_each(tl, scene, row, first, count, next->states + (size_t)first * tl->config.world->stride,
              next->presence + first);
}

/// Steps entities again as step_each does, and replaces their game events of the tick of `next`.
static void step_old(struct hc_timeline *tl, struct resimulation *at, hc_entity first,
                     uint32_t count, uint8_t *out, uint8_t *presence) {
    struct hc_scene *scene = &at->scene;
    size_t spare = tl->slots;
    emit_into(tl, scene, spare, first);
    scene->emitted = false;
    if (scene->events != NULL)
        memset(scene->event_counts, 0, count);
    step_each(tl, scene, &at->row, first, count, out, presence);
    HC_CHECK(!scene->event_refused);
    if (scene->events == NULL || (!scene->emitted && tl->events_changed[at->next.slot] == 0))
        return; // the tick has had no events since it was new
    const uint8_t *held = hc_ring_event_counts(tl, at->next.slot) + first;
    for (uint32_t i = 0; i < count; i++)
        if ((scene->event_counts[i] | held[i]) != 0) // most steps emit nothing
            hc_stepping_put_events(tl, at->next.tick, (hc_entity)(first + i),
                                   hc_ring_events_at(tl, spare, first + i), scene->event_counts[i]);
}

/// Marks the next tick for resimulation as a whole if more than one in WHOLE_CHANGED_PART of its
/// states has changed.
static void notice_changes(struct hc_timeline *tl, struct resimulation *at, uint64_t changed) {
    uint32_t entities = tl->config.world->entities;
    if (entities >= WHOLE_ENTITIES_MIN && changed > entities / WHOLE_CHANGED_PART &&
        hc_ring_stepped(tl, at->next.tick))
        tl->whole[at->next.slot] = 1;
}

/// Steps `count` <= HC_RUN_MAX entities again, and spreads what changes.
static void step_again(struct hc_timeline *tl, struct resimulation *at, hc_entity first,
                       uint32_t count) {
    uint8_t presence[HC_RUN_MAX];
    size_t stride = tl->config.world->stride;
    for (uint32_t i = 0, to; i < count; i = to) {
        hc_entity e = (hc_entity)(first + i);
        to = hc_tick_min(count, tl->run_end[e] - (uint32_t)first);
        step_old(tl, at, e, to - i, tl->next + i * stride, presence + i);
    }
    tl->stats.resimulated_steps += count;
    if (count >= MANY_STEPS) // if many have changed, the marks of these are spared too
        notice_changes(tl, at,
                       at->changed +
                           hc_spread_differing(tl, &at->next, first, count, presence, tl->next));
    uint32_t changed = hc_spread_rewrite_all(tl, &at->next, first, count, presence, tl->next);
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
        // The referee stands alone: its state, smaller than others, leaves bytes that never
        // compare.
        to = e == HC_REFEREE ? 1 : hc_tick_min(end, e + HC_RUN_MAX);
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

/// Steps the entities again that are marked in a word of which the first bit is of `entity`.
static void step_word(struct hc_timeline *tl, struct resimulation *at, uint32_t entity,
                      uint64_t left) {
    while (left != 0) {
        uint32_t first = (uint32_t)__builtin_ctzll(left);
        uint64_t after = ~(left >> first); // without the bits before the first
        uint32_t count = after == 0 ? 64 : (uint32_t)__builtin_ctzll(after);
        step_range_again(tl, at, entity + first, entity + first + count);
        left = first + count < 64 ? left & (UINT64_MAX << (first + count)) : 0;
    }
}

/// Steps the marked entities of a tick again, and clears the marks.
static void step_marked(struct hc_timeline *tl, struct resimulation *at) {
    uint64_t *again = at->row.again;
    for (size_t w = 0, words = hc_ring_words(tl->config.world->entities); w < words; w++) {
        if (again[w] == 0) // mostly
            continue;
        step_word(tl, at, (uint32_t)(64 * w), again[w]);
        again[w] = 0;
    }
}

static void step_whole(struct hc_timeline *tl, struct resimulation *at) {
    uint32_t entities = tl->config.world->entities;
    struct hc_vacancy vacancy = hc_vacancy_of(tl, &at->row, &at->next, true);
    memset(at->row.again, 0, hc_ring_words(entities) * sizeof *at->row.again);
    tl->whole[at->row.slot] = 0;
    for (uint32_t e = 0, end; e < entities; e = end) {
        end = hc_vacancy_end(tl, &vacancy, e);
        if (end > e) {
            leave_out(&at->scene, &at->row, e, end);
            continue;
        }
        end = hc_vacancy_next(tl, &vacancy, e, entities);
        step_range_again(tl, at, e, end);
    }
}

/// Takes the marked steps of `tick` again; true when there was any. `*changed` states of the tick
/// have changed; sets it to those of the next.
static bool resimulate_tick(struct hc_timeline *tl, hc_tick tick, uint64_t *changed) {
    struct resimulation at;
    uint64_t before = tl->stats.resimulated_steps;
    at.row = hc_ring_row(tl, tick);
    at.next = hc_ring_row(tl, tick + 1);
    at.changed = 0;
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
    struct hc_timeline_stats before = tl->stats;
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
    if (tl->rewinds != NULL)
        hc_rewind_log_end(tl->rewinds, tl->head - tl->stats.depth, tl->head,
                          (uint32_t)(tl->stats.resimulated_ticks - before.resimulated_ticks),
                          tl->stats.resimulated_steps - before.resimulated_steps,
                          tl->stats.changed - before.changed);
}

// ---- New ticks ----------------------------------------------------------------------------------

/// Moves `count` entities of one kind from `first` on in the grid of `next`, which is a copy of
/// that of `row`.
static void move_all(struct hc_timeline *tl, const struct hc_ring_row *row,
                     const struct hc_ring_row *next, hc_entity first, uint32_t count) {
    const struct hc_world *world = tl->config.world;
    const struct hc_kind *kind = hc_world_kind(world, first);
    if (kind->x == NULL)
        return;
    const struct hc_field *x = &kind->fields[world->x_of[world->kind_of[first]]];
    const struct hc_field *y = &kind->fields[world->y_of[world->kind_of[first]]];
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

/// The end of the run of unknown entities in [first, end) that begins with `first`.
static uint32_t skip_unknown(const uint8_t *presence, uint32_t first, uint32_t end) {
    while (first + 8 <= end && hc_eight_bytes(presence + first) == 0)
        first += 8;
    while (first < end && presence[first] == HC_UNKNOWN)
        first++;
    return first;
}

_Static_assert(HC_UNKNOWN == 0, "unknown entities are all zeros");

/// Gives unknown entities, which nobody steps, their next state. A replica knows few of many
/// entities, so that a call for each would be most of its work.
static void stay_unknown(const struct hc_timeline *tl, const struct hc_ring_row *row,
                         const struct hc_ring_row *next, uint32_t first, uint32_t count) {
    size_t stride = tl->config.world->stride;
    uint32_t e = first, end = first + count;
    // A state that was not alive at the slot's former tick is all zeros already.
    for (; e + 8 <= end; e += 8)
        if ((hc_eight_bytes(next->presence + e) & HC_PRESENCE_ALIVE_BITS) != 0)
            memset(next->states + e * stride, 0, 8 * stride);
    memset(next->states + e * stride, 0, (end - e) * stride);
    memset(row->groups + first, 0, count);
    if (row->past != NULL)
        memset(row->past + first, 0, count * sizeof *row->past);
    memset(next->presence + first, HC_UNKNOWN, count);
}

/// The end of the run of entities from `first` on that are of one kind, known, and of no vacant
/// player.
static uint32_t stepped_run_end(const struct hc_timeline *tl, const struct hc_vacancy *at,
                                uint32_t first) {
    uint32_t end = hc_vacancy_next(tl, at, first, tl->run_end[first]);
    const uint8_t *unknown =
        tl->config.replica ? memchr(at->row->presence + first, HC_UNKNOWN, end - first) : NULL;
    return unknown == NULL ? end : (uint32_t)(unknown - at->row->presence);
}

/// Copies the grid of `row`, without the nodes of entities that are not in it.
static void copy_grid(const struct hc_timeline *tl, const struct hc_ring_row *row,
                      const struct hc_ring_row *next) {
    const struct hc_grid_node *from = row->grid.node;
    struct hc_grid_node *to = next->grid.node;
    uint32_t entities = tl->shape.entities, e = 0;
    memcpy(next->grid.bucket, row->grid.bucket, tl->shape.buckets * sizeof *row->grid.bucket);
    for (; e + 8 <= entities; e += 8)
        if ((hc_eight_bytes(row->presence + e) & HC_PRESENCE_ALIVE_BITS) != 0)
            memcpy(to + e, from + e, 8 * sizeof *to);
    for (; e < entities; e++)
        to[e] = from[e];
}

void hc_stepping_simulate(struct hc_timeline *tl) {
    const struct hc_world *world = tl->config.world;
    hc_stepping_clear(tl, tl->head + 1);
    hc_inputs_prepare(&tl->inputs);
    struct hc_ring_row row = hc_ring_row(tl, tl->head), next = hc_ring_row(tl, tl->head + 1);
    hc_scene_reduce(world, row.presence, row.states, hc_ring_reductions(tl, tl->head));
    struct hc_scene scene = scene_at(tl, &row);
    struct hc_vacancy vacancy = hc_vacancy_of(tl, &row, &next, false);
    copy_grid(tl, &row, &next);
    for (uint32_t e = 0, end; e < world->entities; e = end) {
        end = hc_vacancy_end(tl, &vacancy, e);
        if (end > e) {
            leave_out(&scene, &row, e, end);
            memcpy(next.presence + e, row.presence + e, end - e);
            continue;
        }
        end = tl->config.replica ? skip_unknown(row.presence, e, world->entities) : e;
        if (end > e) {
            stay_unknown(tl, &row, &next, e, end - e);
            continue;
        }
        end = stepped_run_end(tl, &vacancy, e);
        uint32_t count = end - e;
        step_new(tl, &scene, &row, &next, (hc_entity)e, count);
        move_all(tl, &row, &next, (hc_entity)e, count);
        tl->stats.steps += count;
    }
    HC_CHECK(!scene.event_refused);
    if (scene.emitted)
        tl->events_changed[next.slot] = ++tl->event_changes;
}
