/// The record's operations, and the computation of its inputs and states from them.
#include "check/history.h"

#include "hindcast/check.h"
#include "check/plain.h"

#include <stdlib.h>
#include <string.h>

/// The input and the roster change of one player at one tick.
struct slot {
    uint8_t slot;                ///< enum hc_slot
    uint8_t roster_change;       ///< enum hc_roster
    uint8_t input[HC_INPUT_MAX]; ///< the known input, or the prediction that was forced
};

/// The authoritative state of one entity at one tick.
struct authoritative {
    bool put;
    uint8_t presence;
    hc_tick as_of;
    uint8_t state[HC_STATE_MAX];
};

struct hc_history {
    struct hc_timeline_config config;
    const struct hc_world *world;
    struct hc_plain *plain;
    uint32_t ticks;
    bool started;
    hc_tick head, begin; ///< `begin`: the tick of the newest (re)start
    hc_tick dirty;       ///< the earliest tick from which the states must be computed again
    struct slot *slots;  ///< [ticks][players]
    struct authoritative *authoritative; ///< [ticks][entities], replicas only
    uint8_t *states;                     ///< [ticks][entities * stride]
    uint8_t *presence;                   ///< [ticks][entities]
    uint8_t *event_counts;               ///< [ticks][entities]
    hc_game_event *events;               ///< [ticks][entities][HC_EMITTED_MAX]
    uint8_t *inputs;                     ///< [ticks][players * input_size] the inputs of each step
    uint8_t *roster_changes;             ///< [players] at the tick that is stepped
    hc_tick *joins;                      ///< [players] the newest join at any tick, or HC_NO_TICK
    hc_tick *leaves;                     ///< [players] the newest leave
};

struct hc_history *hc_history_create(const struct hc_timeline_config *config, uint32_t ticks) {
    struct hc_history *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    const struct hc_world *world = config->world;
    h->config = *config;
    h->world = world;
    h->ticks = ticks;
    h->plain = hc_plain_create(world, config->replica);
    h->slots = calloc((size_t)ticks * world->players, sizeof *h->slots);
    h->authoritative =
        calloc(config->replica ? (size_t)ticks * world->entities : 1, sizeof *h->authoritative);
    h->states = calloc(ticks, (size_t)world->entities * world->stride);
    h->presence = calloc(ticks, world->entities);
    h->event_counts = calloc(ticks, world->entities);
    h->events = calloc(ticks, (size_t)world->entities * HC_EMITTED_MAX * sizeof *h->events);
    h->inputs = calloc(ticks, (size_t)world->players * world->game->input_size);
    h->roster_changes = calloc(world->players, 1);
    h->joins = calloc(world->players, sizeof *h->joins);
    h->leaves = calloc(world->players, sizeof *h->leaves);
    if (!h->event_counts || !h->events || !h->plain || !h->slots || !h->authoritative ||
        !h->states || !h->presence || !h->inputs || !h->roster_changes || !h->joins || !h->leaves) {
        hc_history_destroy(h);
        return NULL;
    }
    for (hc_player p = 0; p < world->players; p++)
        h->joins[p] = h->leaves[p] = HC_NO_TICK;
    return h;
}

void hc_history_destroy(struct hc_history *h) {
    if (h == NULL)
        return;
    hc_plain_destroy(h->plain);
    free(h->slots);
    free(h->authoritative);
    free(h->states);
    free(h->presence);
    free(h->event_counts);
    free(h->events);
    free(h->inputs);
    free(h->roster_changes);
    free(h->joins);
    free(h->leaves);
    free(h);
}

static struct slot *slot_at(const struct hc_history *h, hc_player player, hc_tick tick) {
    HC_ASSERT(tick < h->ticks && player < h->world->players);
    return &h->slots[(size_t)tick * h->world->players + player];
}

static uint8_t *states_at(const struct hc_history *h, hc_tick tick) {
    HC_ASSERT(tick < h->ticks);
    return h->states + (size_t)tick * h->world->entities * h->world->stride;
}

static uint8_t *presence_at(const struct hc_history *h, hc_tick tick) {
    HC_ASSERT(tick < h->ticks);
    return h->presence + (size_t)tick * h->world->entities;
}

static uint8_t *inputs_at(const struct hc_history *h, hc_tick tick) {
    HC_ASSERT(tick < h->ticks);
    return h->inputs + (size_t)tick * h->world->players * h->world->game->input_size;
}

static hc_tick last_input(const struct hc_history *h) {
    return hc_tick_ahead(h->head, h->config.future);
}

static void touch(struct hc_history *h, hc_tick tick) {
    h->dirty = hc_tick_min(h->dirty, hc_tick_max(tick, hc_history_oldest(h)));
}

void hc_history_start(struct hc_history *h) {
    HC_ASSERT(!h->config.replica && !h->started);
    hc_plain_start(h->plain);
    memcpy(states_at(h, 0), hc_plain_states(h->plain),
           (size_t)h->world->entities * h->world->stride);
    memcpy(presence_at(h, 0), hc_plain_presence(h->plain), h->world->entities);
    h->started = true;
}

/// The newest join of `player` at any tick; false when there is none.
static bool newest_join(const struct hc_history *h, hc_player player, hc_tick *join) {
    *join = h->joins[player];
    return *join != HC_NO_TICK;
}

bool hc_history_joined(const struct hc_history *h, hc_player player) {
    return h->joins[player] != HC_NO_TICK &&
           (h->leaves[player] == HC_NO_TICK || h->leaves[player] < h->joins[player]);
}

/// The known input from which a prediction at `tick` starts; NULL when none is known since the
/// newest roster change.
static const struct slot *base_before(const struct hc_history *h, hc_player player, hc_tick tick,
                                      hc_tick *known) {
    for (hc_tick t = tick; t-- > 0;) {
        const struct slot *slot = slot_at(h, player, t);
        if (slot->roster_change != HC_ROSTER_NONE)
            return NULL;
        if (slot->slot == HC_SLOT_KNOWN) {
            *known = t;
            return slot;
        }
    }
    return NULL;
}

static void effective(const struct hc_history *h, hc_player player, hc_tick tick, uint8_t *out) {
    const struct slot *slot = slot_at(h, player, tick);
    const struct hc_game *game = h->world->game;
    hc_tick known = 0;
    memset(out, 0, game->input_size);
    if (slot->roster_change == HC_ROSTER_JOIN)
        return;
    if (slot->slot == HC_SLOT_KNOWN || slot->slot == HC_SLOT_FORCED) {
        memcpy(out, slot->input, game->input_size);
        return;
    }
    const struct slot *base = base_before(h, player, tick, &known);
    if (base != NULL)
        game->predict_input(base->input, tick - known, out);
}

static enum hc_status window_status(const struct hc_history *h, hc_tick tick) {
    if (tick > last_input(h))
        return HC_TOO_NEW;
    return tick < hc_history_first_input(h) ? HC_TOO_OLD : HC_OK;
}

enum hc_status hc_history_put_input(struct hc_history *h, hc_player player, hc_tick tick,
                                    const void *input) {
    hc_tick join;
    if (!h->started || (!h->config.replica && !hc_history_joined(h, player)))
        return HC_UNEXPECTED;
    if (!h->config.replica && newest_join(h, player, &join) && tick <= join)
        return HC_DUPLICATE;
    enum hc_status status = window_status(h, tick);
    if (status == HC_TOO_NEW || (status == HC_TOO_OLD && !h->config.replica))
        return status;
    struct slot *slot = slot_at(h, player, tick);
    bool taken = slot->slot != HC_SLOT_UNKNOWN;
    if (status == HC_TOO_OLD)
        taken = slot->slot == HC_SLOT_KNOWN; // before the window a retraction does not count
    if (!taken) {
        slot->slot = HC_SLOT_KNOWN;
        memcpy(slot->input, input, h->world->game->input_size);
        touch(h, tick);
    }
    return status == HC_OK && taken ? HC_DUPLICATE : status;
}

static void force_slot(struct hc_history *h, hc_player player, hc_tick tick) {
    uint8_t input[HC_INPUT_MAX];
    effective(h, player, tick, input);
    struct slot *slot = slot_at(h, player, tick);
    memcpy(slot->input, input, sizeof input);
    slot->slot = HC_SLOT_FORCED;
}

uint32_t hc_history_force(struct hc_history *h, hc_player player, hc_tick before) {
    uint32_t forced = 0;
    hc_tick join;
    if (!hc_history_joined(h, player) || !newest_join(h, player, &join))
        return 0;
    for (hc_tick t = hc_history_first_input(h); t < before && t <= last_input(h); t++) {
        if (t > join && slot_at(h, player, t)->slot == HC_SLOT_UNKNOWN) {
            force_slot(h, player, t);
            forced++;
        }
    }
    return forced;
}

/// Clears the inputs after a roster change up to the next one: they are of another stay.
static void clear_after(struct hc_history *h, hc_player player, hc_tick tick) {
    for (hc_tick t = tick + 1; t <= last_input(h); t++) {
        struct slot *slot = slot_at(h, player, t);
        slot->slot = HC_SLOT_UNKNOWN;
        if (slot->roster_change != HC_ROSTER_NONE)
            return;
    }
}

enum hc_status hc_history_put_roster(struct hc_history *h, hc_player player, hc_tick tick,
                                     enum hc_roster roster_change) {
    bool join = roster_change == HC_ROSTER_JOIN;
    if (!h->started)
        return HC_UNEXPECTED;
    if (!h->config.replica && (tick != h->head || hc_history_joined(h, player) == join))
        return HC_UNEXPECTED;
    enum hc_status status = window_status(h, tick);
    if (status == HC_TOO_NEW)
        return status;
    struct slot *slot = slot_at(h, player, tick);
    if (slot->roster_change != HC_ROSTER_NONE)
        return status == HC_OK ? HC_DUPLICATE : status;
    if (!join && !h->config.replica)
        hc_history_force(h, player, tick + 1);
    if (!join || h->config.replica)
        clear_after(h, player, tick);
    slot->roster_change = (uint8_t)roster_change;
    hc_tick *newest = join ? &h->joins[player] : &h->leaves[player];
    if (*newest == HC_NO_TICK || *newest < tick)
        *newest = tick;
    touch(h, tick);
    return status;
}

enum hc_status hc_history_retract(struct hc_history *h, hc_player player, hc_tick tick) {
    if (!h->started)
        return HC_UNEXPECTED;
    enum hc_status status = window_status(h, tick);
    if (status == HC_TOO_NEW)
        return status;
    hc_tick first = hc_history_first_input(h), base;
    if (status == HC_TOO_OLD) {
        // The timeline holds only the newest input from before the ring, so no older one replaces
        // it.
        if (base_before(h, player, first, &base) == NULL || base != tick)
            return status;
        for (hc_tick t = 0; t <= tick; t++)
            slot_at(h, player, t)->slot = HC_SLOT_UNKNOWN;
        touch(h, first);
        return status;
    }
    struct slot *slot = slot_at(h, player, tick);
    if (slot->slot == HC_SLOT_RETRACTED)
        return HC_DUPLICATE;
    slot->slot = HC_SLOT_RETRACTED;
    touch(h, tick);
    return HC_OK;
}

/// The place of an entity at a tick, in arrays of those.
static size_t cell_of(const struct hc_history *h, hc_tick tick, uint32_t entity) {
    HC_ASSERT(tick < h->ticks && entity < h->world->entities);
    return (size_t)tick * h->world->entities + entity;
}

static void clear_events(struct hc_history *h, hc_tick tick, uint32_t entity) {
    size_t cell = cell_of(h, tick, entity);
    h->event_counts[cell] = 0;
    memset(h->events + cell * HC_EMITTED_MAX, 0, HC_EMITTED_MAX * sizeof *h->events);
}

/// Copies the events of the step to `tick`.
static void copy_events(struct hc_history *h, hc_tick tick) {
    size_t entities = h->world->entities, cell = cell_of(h, tick, 0);
    memcpy(h->event_counts + cell, hc_plain_event_counts(h->plain), entities);
    memcpy(h->events + cell * HC_EMITTED_MAX, hc_plain_events(h->plain),
           entities * HC_EMITTED_MAX * sizeof *h->events);
}

const hc_game_event *hc_history_events(const struct hc_history *h, hc_tick tick, hc_entity entity,
                                       uint32_t *count) {
    size_t cell = cell_of(h, tick, entity);
    *count = h->event_counts[cell];
    return h->events + cell * HC_EMITTED_MAX;
}

static void restart(struct hc_history *h, hc_tick tick) {
    if (h->started)
        hc_history_resimulate(h);
    h->started = true;
    h->begin = h->head = h->dirty = tick;
    memset(presence_at(h, tick), HC_UNKNOWN, h->world->entities);
    memset(states_at(h, tick), 0, (size_t)h->world->entities * h->world->stride);
    for (uint32_t e = 0; e < h->world->entities; e++)
        clear_events(h, tick, e);
}

static void put_entity(struct hc_history *h, hc_tick tick, hc_tick as_of,
                       const struct hc_entity_state *put) {
    struct authoritative *held = &h->authoritative[(size_t)tick * h->world->entities + put->entity];
    if (held->put && held->as_of >= as_of)
        return;
    held->put = true;
    held->as_of = as_of;
    held->presence = put->presence;
    if (put->presence == HC_ALIVE)
        memcpy(held->state, put->state, hc_world_kind(h->world, put->entity)->state_size);
}

enum hc_status hc_history_put_state(struct hc_history *h, hc_tick tick, hc_tick as_of,
                                    const struct hc_entity_state *entities, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (entities[i].entity >= h->world->entities || entities[i].presence > HC_ALIVE)
            return HC_INVALID;
    if (h->started && tick < hc_history_oldest(h))
        return HC_TOO_OLD;
    if (!h->started || tick > h->head)
        restart(h, tick);
    for (uint32_t i = 0; i < count; i++)
        put_entity(h, tick, as_of, &entities[i]);
    touch(h, tick);
    return HC_OK;
}

static void force_leaving(struct hc_history *h, hc_tick tick) {
    for (hc_player p = 0; p < h->world->players; p++) {
        hc_tick join = 0;
        if (hc_history_joined(h, p) && newest_join(h, p, &join) && join < tick &&
            slot_at(h, p, tick)->slot == HC_SLOT_UNKNOWN)
            force_slot(h, p, tick);
    }
}

void hc_history_advance(struct hc_history *h) {
    hc_tick first = hc_history_first_input(h);
    if (h->config.replica)
        hc_history_resimulate(h);
    touch(h, h->head);
    h->head++;
    // States that leave a replica's ring stay as they are, although older inputs may still arrive.
    // Slots that leave the authority's are forced, so that their states can be computed later.
    if (h->config.replica)
        hc_history_resimulate(h);
    else if (hc_history_first_input(h) != first)
        force_leaving(h, first);
}

static void overlay_authoritative(struct hc_history *h, hc_tick tick) {
    for (uint32_t e = 0; h->config.replica && e < h->world->entities; e++) {
        const struct authoritative *held = &h->authoritative[(size_t)tick * h->world->entities + e];
        if (!held->put)
            continue;
        hc_plain_overlay(h->plain, (hc_entity)e, held->presence, held->state);
        clear_events(h, tick, e);
    }
}

void hc_history_resimulate(struct hc_history *h) {
    HC_ASSERT(h->started);
    const struct hc_world *world = h->world;
    size_t input_size = world->game->input_size;
    hc_plain_load(h->plain, h->dirty, presence_at(h, h->dirty), states_at(h, h->dirty));
    for (hc_tick t = hc_tick_max(h->begin, hc_tick_back(h->dirty, world->game->lookback));
         t < h->dirty; t++)
        hc_plain_remember(h->plain, t, presence_at(h, t), states_at(h, t));
    for (hc_tick t = h->dirty;; t++) {
        if (t > h->dirty)
            copy_events(h, t);
        overlay_authoritative(h, t);
        memcpy(states_at(h, t), hc_plain_states(h->plain), (size_t)world->entities * world->stride);
        memcpy(presence_at(h, t), hc_plain_presence(h->plain), world->entities);
        if (t == h->head)
            break;
        for (hc_player p = 0; p < world->players; p++) {
            effective(h, p, t, inputs_at(h, t) + p * input_size);
            h->roster_changes[p] = slot_at(h, p, t)->roster_change;
        }
        hc_plain_step(h->plain, inputs_at(h, t), h->roster_changes);
    }
    h->dirty = h->head;
}

hc_tick hc_history_head(const struct hc_history *h) {
    return h->head;
}

hc_tick hc_history_oldest(const struct hc_history *h) {
    return hc_tick_max(h->begin, hc_history_first_input(h));
}

hc_tick hc_history_first_input(const struct hc_history *h) {
    return hc_tick_back(h->head, h->config.history);
}

const uint8_t *hc_history_states(const struct hc_history *h, hc_tick tick) {
    return states_at(h, tick);
}

const uint8_t *hc_history_presence(const struct hc_history *h, hc_tick tick) {
    return presence_at(h, tick);
}

const uint8_t *hc_history_inputs(const struct hc_history *h, hc_tick tick) {
    return inputs_at(h, tick);
}

enum hc_slot hc_history_slot(const struct hc_history *h, hc_player player, hc_tick tick) {
    return (enum hc_slot)slot_at(h, player, tick)->slot;
}

enum hc_roster hc_history_roster(const struct hc_history *h, hc_player player, hc_tick tick) {
    return (enum hc_roster)slot_at(h, player, tick)->roster_change;
}

bool hc_history_newest_input(const struct hc_history *h, hc_player player, hc_tick tick,
                             hc_tick *known, void *input) {
    const struct slot *base = base_before(h, player, tick, known);
    if (base != NULL)
        memcpy(input, base->input, h->world->game->input_size);
    return base != NULL;
}

hc_tick hc_history_inputs_through(const struct hc_history *h, hc_player player) {
    hc_tick t = 0;
    if (!newest_join(h, player, &t))
        return 0;
    while (t < last_input(h)) {
        uint8_t slot = slot_at(h, player, t + 1)->slot;
        if (slot != HC_SLOT_KNOWN && slot != HC_SLOT_FORCED)
            break;
        t++;
    }
    return t;
}
