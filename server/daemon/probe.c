/// Owns a probe: the ticks and rewinds that wait for the next frame, and what a frame shows of the
/// world.
#include "server/daemon/probe.h"

#include "hindcast/check.h"

#include <stdlib.h>
#include <string.h>

struct hc_sv_probe *hc_sv_probe_create(void) {
    struct hc_sv_probe *probe = calloc(1, sizeof(*probe));
    return probe;
}

// ---- Seats --------------------------------------------------------------------------------------

/// Puts the probe into a world, from whose present on it counts.
static void enter(struct hc_sv_probe *probe, const struct hc_server *server,
                  const struct hc_rewind_log *log) {
    probe->next.lost_ticks = probe->next.tick_count = 0;
    probe->next.lost_rewinds = probe->next.rewind_count = 0;
    probe->rewinds = hc_rewind_log_count(log);
    probe->stats = *hc_timeline_stats(hc_server_timeline(server));
    probe->snapshots = hc_server_stats(server)->snapshots;
    probe->bytes_sent = hc_server_stats(server)->bytes_out;
}

void hc_sv_probe_offer(struct hc_sv_probe_seat *seat, struct hc_sv_probe *probe) {
    struct hc_sv_probe *before = atomic_exchange(&seat->offered, probe);
    HC_ASSERT(before == NULL);
}

bool hc_sv_probe_withdraw(struct hc_sv_probe_seat *seat, struct hc_sv_probe *probe) {
    struct hc_sv_probe *offered = probe;
    if (atomic_compare_exchange_strong(&seat->offered, &offered, NULL))
        return true;
    atomic_store(&probe->leave, true);
    return false;
}

bool hc_sv_probe_has_left(struct hc_sv_probe *probe) {
    return atomic_load(&probe->left);
}

void hc_sv_probe_seat_renew(struct hc_sv_probe_seat *seat, const struct hc_server *server,
                            uint64_t worlds, const struct hc_rewind_log *log) {
    struct hc_sv_probe *held = seat->held;
    if (held != NULL && atomic_load_explicit(&held->leave, memory_order_relaxed)) {
        seat->held = NULL;
        atomic_store(&held->left, true);
    }
    if (seat->held == NULL)
        seat->held = atomic_exchange(&seat->offered, NULL);
    if (seat->held == NULL || (seat->held == held && seat->worlds == worlds))
        return;
    seat->worlds = worlds;
    enter(seat->held, server, log);
    seat->held->next.worlds = worlds;
}

// ---- Ticks and rewinds --------------------------------------------------------------------------

/// Adds the tick at the head to the next frame.
static void note_tick(struct hc_sv_probe *probe, const struct hc_server *server,
                      const struct hc_sv_probe_work *work) {
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_server_timeline(server));
    const struct hc_server_stats *counts = hc_server_stats(server);
    struct hc_sv_probe_history *next = &probe->next;
    if (next->tick_count == HC_SV_PROBE_TICKS) {
        next->lost_ticks++;
        next->tick_count--;
        memmove(next->ticks, next->ticks + 1, next->tick_count * sizeof(*next->ticks));
    }
    struct hc_sv_probe_tick *tick = &next->ticks[next->tick_count++];
    *tick = (struct hc_sv_probe_tick){
        .tick = hc_timeline_head(hc_server_timeline(server)),
        .count = (uint32_t)(stats->advances - probe->stats.advances),
        .work = *work,
        .depth = stats->depth,
        .again_ticks = (uint32_t)(stats->resimulated_ticks - probe->stats.resimulated_ticks),
        .steps = stats->steps - probe->stats.steps,
        .again_steps = stats->resimulated_steps - probe->stats.resimulated_steps,
        .bytes_sent = counts->bytes_out - probe->bytes_sent,
        .snapshots = counts->snapshots - probe->snapshots,
    };
    if (tick->again_steps > 0)
        tick->again_us = work->advance_us * tick->again_steps / (tick->again_steps + tick->steps);
    probe->stats = *stats;
    probe->bytes_sent = counts->bytes_out;
    probe->snapshots = counts->snapshots;
}

/// Adds the rewinds since the last call to the next frame.
static void note_rewinds(struct hc_sv_probe *probe, const struct hc_rewind_log *log) {
    struct hc_sv_probe_history *next = &probe->next;
    for (; probe->rewinds < hc_rewind_log_count(log); probe->rewinds++) {
        const struct hc_rewind *rewind = hc_rewind_log_get(log, probe->rewinds);
        if (rewind != NULL && next->rewind_count < HC_SV_PROBE_REWINDS)
            next->rewinds[next->rewind_count++] = *rewind;
        else
            next->lost_rewinds++;
    }
}

// ---- The world ----------------------------------------------------------------------------------

/// Whether an entity is a player itself, not one of a player's slots.
static bool is_player(const struct hc_world *world, hc_entity entity) {
    hc_player owner = world->owner_of[entity];
    return owner != HC_NO_PLAYER && entity == hc_world_player(world, owner);
}

static bool has_position(const struct hc_world *world, hc_entity entity) {
    return world->x_of[world->kind_of[entity]] >= 0;
}

/// Adds the alive entities that are players, or those that are not and whose number is a multiple
/// of `every`.
static void add_entities(struct hc_sv_probe_frame *frame, const struct hc_server *server,
                         bool players, uint32_t every) {
    const struct hc_world *world = hc_server_world(server);
    const struct hc_timeline *timeline = hc_server_timeline(server);
    const uint8_t *presence = hc_timeline_presence(timeline, frame->head);
    const uint8_t *states = hc_timeline_states(timeline, frame->head);
    for (uint32_t e = 0; e < world->entities && frame->entity_count < HC_SV_PROBE_ENTITIES; e++) {
        hc_entity entity = (hc_entity)e;
        struct hc_sv_probe_entity *out = &frame->entities[frame->entity_count];
        if (presence[e] != HC_ALIVE || is_player(world, entity) != players ||
            (!players && e % every != 0))
            continue;
        out->entity = entity;
        out->tick = frame->head;
        frame->entity_count +=
            hc_world_position(world, entity, states + (size_t)e * world->stride, &out->x, &out->y);
    }
}

/// Lists the entities at the head: players first, then as many of the others as fit, evenly.
static void list_entities(struct hc_sv_probe_frame *frame, const struct hc_server *server) {
    const struct hc_world *world = hc_server_world(server);
    const uint8_t *presence = hc_timeline_presence(hc_server_timeline(server), frame->head);
    uint32_t others = 0;
    frame->alive = frame->entity_count = 0;
    for (uint32_t e = 0; e < world->entities; e++) {
        if (presence[e] != HC_ALIVE || !has_position(world, (hc_entity)e))
            continue;
        frame->alive++;
        others += !is_player(world, (hc_entity)e);
    }
    add_entities(frame, server, true, 1);
    uint32_t room = HC_SV_PROBE_ENTITIES - frame->entity_count;
    frame->every = room > 0 ? (others + room - 1) / room : others;
    frame->every += frame->every == 0;
    add_entities(frame, server, false, frame->every);
}

/// Lists the view of client `cid`.
static void list_sight(struct hc_sv_probe *probe, struct hc_sv_probe_sight *sight, uint32_t cid,
                       const struct hc_server *server) {
    const struct hc_world *world = hc_server_world(server);
    uint32_t count = hc_server_list_sent(server, cid, probe->sent, HC_SV_PROBE_SENT);
    sight->cid = cid;
    sight->total = count;
    sight->count = 0;
    for (uint32_t i = 0; i < count && i < HC_SV_PROBE_SENT; i++) {
        const struct hc_server_sent *sent = &probe->sent[i];
        struct hc_sv_probe_entity *out = &sight->sent[sight->count];
        out->entity = sent->entity;
        out->tick = sent->tick;
        bool placed = hc_world_position(world, sent->entity, sent->state, &out->x, &out->y);
        sight->count += placed;
        sight->total -= !placed;
    }
}

// ---- Frames -------------------------------------------------------------------------------------

/// Fills the frame with all that waits for it, and with the present world and clients.
static void fill(struct hc_sv_probe *probe, const struct hc_server *server, uint64_t now_us) {
    struct hc_sv_probe_frame *frame = &probe->frame;
    struct hc_sv_probe_history *next = &probe->next;
    frame->history = *next;
    next->lost_ticks = next->tick_count = next->lost_rewinds = next->rewind_count = 0;
    frame->head = hc_timeline_head(hc_server_timeline(server));
    frame->client_total =
        hc_server_list_clients(server, frame->clients, HC_SV_PROBE_CLIENTS, now_us);
    frame->client_count =
        frame->client_total < HC_SV_PROBE_CLIENTS ? frame->client_total : HC_SV_PROBE_CLIENTS;
    list_entities(frame, server);
    for (unsigned i = 0; i < HC_SV_PROBE_SIGHTS; i++)
        list_sight(probe, &frame->sights[i],
                   atomic_load_explicit(&probe->watched[i], memory_order_relaxed), server);
}

void hc_sv_probe_note(struct hc_sv_probe *probe, const struct hc_server *server,
                      const struct hc_rewind_log *log, const struct hc_sv_probe_work *work,
                      uint64_t now_us) {
    note_tick(probe, server, work);
    note_rewinds(probe, log);
    if (atomic_load_explicit(&probe->full, memory_order_acquire))
        return;
    fill(probe, server, now_us);
    atomic_store_explicit(&probe->full, true, memory_order_release);
}

const struct hc_sv_probe_frame *hc_sv_probe_take(struct hc_sv_probe *probe) {
    return atomic_load_explicit(&probe->full, memory_order_acquire) ? &probe->frame : NULL;
}

void hc_sv_probe_return(struct hc_sv_probe *probe) {
    atomic_store_explicit(&probe->full, false, memory_order_release);
}
