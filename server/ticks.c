/// The ticks of a host: when they are due, the inputs that each still accepts, and the snapshots
/// that are due after it.
#include "server/host_internal.h"
#include "server/replication/cadence.h"
#include "server/replication/look.h"

#include "common/elapsed.h"
#include "common/mark.h"

enum {
    FAR_US = 100000, ///< a client with a longer round trip is far
    IDLE_S = 5,      ///< a client whose input stays the same for longer is idle
    PHASE_VIEWS = 4, ///< views across a place whose clients have the same phase
};

static uint64_t due_us(const struct hc_sv_host *host, hc_tick tick) {
    return hc_sv_schedule_due_us(&host->schedule, tick);
}

uint32_t hc_sv_host_late_limit(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    return hc_sv_lateness_limit(&peer->lateness, host->config.late_margin,
                                host->overload.late_most);
}

static void update_lateness(struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline);
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;)
        if (peer->state == HC_SV_PEER_PLAYING)
            hc_sv_lateness_tick(&peer->lateness, head, host->world.tick_rate);
}

/// Forces the inputs that the coming tick pushes out of the window, and all those of lingering
/// clients, which cannot send any, and of NPCs, whose inputs come in time.
static void close_window(struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline);
    hc_player p = hc_sv_players_next(&host->clients.players, 0);
    for (; p < host->world.players; p = hc_sv_players_next(&host->clients.players, p + 1u)) {
        if (!host->clients.players.slots[p].in)
            continue;
        if (host->clients.players.slots[p].npc) {
            hc_timeline_force(host->timeline, p, head + 1);
            continue;
        }
        struct hc_sv_peer *peer = &host->clients.peers[host->clients.players.slots[p].peer - 1];
        uint32_t late_limit = hc_sv_host_late_limit(host, peer);
        if (hc_sv_peer_lingers(peer))
            hc_sv_receive_force(host, peer, p, head + 1);
        else if (head >= late_limit)
            hc_sv_receive_force(host, peer, p, head - late_limit + 1);
    }
}

/// F: every tick before it has all its inputs, or accepts no more.
static hc_tick final_tick(const struct hc_sv_host *host) {
    hc_tick head = hc_timeline_head(host->timeline), final = head;
    hc_player p = hc_sv_players_next(&host->clients.players, 0);
    for (; p < host->world.players; p = hc_sv_players_next(&host->clients.players, p + 1u))
        if (host->clients.players.slots[p].in)
            final = hc_tick_min(final, hc_timeline_inputs_through(host->timeline, p) + 1);
    return hc_tick_max(final, hc_tick_back(head, host->config.history));
}

/// Whether the peer can be sent a snapshot: all of its players have joined.
static bool ready(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    for (unsigned i = 0; i < peer->replication.own_count; i++)
        if (!hc_sv_clients_plays(&host->clients, peer, peer->replication.own[i]))
            return false;
    return peer->state == HC_SV_PEER_PLAYING;
}

/// Whether fewer snapshots harm the client least: it watches, its player does nothing, or its
/// picture is old in any case.
static bool is_far(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_tick head = hc_timeline_head(host->timeline);
    return peer->replication.own_count == 0 || peer->connection.srtt_us >= FAR_US ||
           head - peer->active_at >= (hc_tick)IDLE_S * host->world.tick_rate;
}

/// The phase of a client that is not sent a snapshot of each tick. Clients that are near each other
/// see the same units, and have the same phase: then they are shown the same ticks and share most
/// of their deltas. The phases of places that lie apart are spread over the ticks.
static uint32_t phase_of(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    const struct hc_world *world = &host->world;
    const struct hc_sv_client *client = &peer->replication;
    const uint8_t *states = hc_timeline_states(host->timeline, hc_timeline_head(host->timeline));
    int64_t x, y, width = PHASE_VIEWS * (int64_t)world->game->view;
    hc_entity own = client->own_count == 0 ? HC_REFEREE : hc_world_player(world, client->own[0]);
    if (own == HC_REFEREE || width == 0 ||
        !hc_world_position(world, own, states + (size_t)own * world->stride, &x, &y))
        return 0;
    return (uint32_t)(x / width + y / width);
}

/// Snapshots a second of the configuration.
static uint32_t rate_of(const struct hc_sv_host *host) {
    uint32_t rate = host->config.snapshot_rate;
    return rate == 0 ? host->config.tick_rate : rate;
}

/// The cadence of a client with this phase that is sent one in `every` snapshots.
static struct hc_sv_cadence cadence_of(const struct hc_sv_host *host, uint32_t phase,
                                       uint32_t every) {
    return (struct hc_sv_cadence){
        .snapshots = rate_of(host), .period = host->config.tick_rate * every, .phase = phase};
}

/// Marks the client's snapshot as due, or counts it as left out under overload.
static void mark_snapshot(struct hc_sv_host *host, struct hc_sv_peer *peer, bool far) {
    struct hc_server_overload *counts = &host->stats.overload;
    bool each_head = hc_sv_replicator_sends_each_tick(&host->replicator);
    if (each_head && peer->snapshot_every == 1) {
        peer->snapshot_due = true;
        peer->snapshot_credit = 0;
        return;
    }
    const struct hc_sv_client *client = &peer->replication;
    uint32_t phase = phase_of(host, peer);
    struct hc_sv_cadence cadence = cadence_of(host, phase, peer->snapshot_every);
    struct hc_sv_cadence all = cadence_of(host, phase, 1);
    hc_tick tick = hc_sv_look_tick(&host->replicator, client);
    hc_tick shown = client->newest_head == HC_NO_TICK ? HC_NO_TICK : client->shown;
    bool sends = hc_sv_cadence_sends(&cadence, shown, tick, &peer->snapshot_credit);
    bool configured = each_head || hc_sv_cadence_number(&all, tick) !=
                                       hc_sv_cadence_number(&all, peer->snapshot_tick);
    bool left_out = peer->snapshot_every > 1 && configured && !sends;
    peer->snapshot_tick = tick;
    peer->snapshot_due |= sends || peer->snapshot_starved;
    counts->snapshots += left_out;
    counts->far_snapshots += left_out && far;
}

/// Marks the clients that the new head's messages and its snapshot are due for.
static void mark_due(struct hc_sv_host *host) {
    struct hc_server_overload *counts = &host->stats.overload;
    uint32_t clients[2] = {0};
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;) {
        peer->messages_due = peer->state == HC_SV_PEER_PLAYING;
        if (!ready(host, peer))
            continue;
        hc_sv_listing_keep_up(&host->replicator, &peer->replication);
        bool far = is_far(host, peer);
        peer->snapshot_every = hc_sv_overload_every(&host->overload, far);
        clients[far]++;
        mark_snapshot(host, peer, far);
    }
    hc_sv_overload_tick(&host->overload, clients[false], clients[true]);
    counts->ticks[host->overload.level]++;
    counts->linear_ticks += host->overload.linear;
    counts->late_limited_ticks += host->overload.late_most < host->config.history;
}

/// Notes for each tick after `before` up to the final one whether a match is over.
static void note_matches(struct hc_sv_host *host, hc_tick before) {
    const struct hc_game *game = host->world.game;
    for (hc_tick t = before; game->match_over != NULL && t < host->replicator.final;) {
        t++;
        const uint8_t *referee = hc_timeline_states(host->timeline, t);
        bool over = hc_timeline_presence(host->timeline, t)[HC_REFEREE] == HC_ALIVE &&
                    game->match_over(&host->world, referee);
        hc_sv_program_note_match(&host->program, over, t);
    }
}

static void tick(struct hc_sv_host *host, uint64_t now_us) {
    hc_tick head = hc_timeline_head(host->timeline);
    const struct hc_timeline_stats *stats = hc_timeline_stats(host->timeline);
    uint64_t late_us = hc_since(due_us(host, head + 1), now_us);
    hc_histogram_record(&host->stats.lateness, late_us);
    host->stats.ticks_late += late_us >= 1000000 / host->world.tick_rate;
    hc_sv_forged_renew(&host->forged);
    hc_sv_host_tick_sessions(host, now_us);
    update_lateness(host);
    close_window(host);
    if (host->config.force_rewind > 0)
        hc_timeline_redo(host->timeline, hc_tick_back(head, host->config.force_rewind));
    hc_timeline_advance(host->timeline);
    if (stats->depth > 0)
        hc_histogram_record(&host->stats.rewind_depth, stats->depth);
    hc_tick final = host->replicator.final;
    hc_sv_replicator_advance(&host->replicator, final_tick(host));
    host->stats.game_events = host->replicator.final_events.end;
    host->stats.remembered = host->spent.counts;
    note_matches(host, final);
    mark_due(host);
    hc_sv_outbox_seek(&host->outbox, 0);
}

void hc_sv_host_note_work(struct hc_sv_host *host, uint64_t advance_us, uint64_t send_us,
                          uint64_t other_us, uint64_t now_us) {
    const struct hc_timeline_stats *stats = hc_timeline_stats(host->timeline);
    uint64_t again = stats->resimulated_steps - host->noted_resimulated;
    uint64_t steps = stats->steps - host->noted_steps + again;
    struct hc_sv_work work = {.send_us = send_us,
                              .rewind_us = steps > 0 ? advance_us * again / steps : 0};
    work.other_us = other_us + hc_since(work.rewind_us, advance_us);
    host->noted_resimulated = stats->resimulated_steps;
    host->noted_steps = stats->steps;
    hc_sv_overload_note(&host->overload, &work, now_us);
    struct hc_server_overload *counts = &host->stats.overload;
    counts->level = host->overload.level;
    counts->linear = host->replicator.linear = host->overload.linear;
    if (counts->level > counts->highest)
        counts->highest = counts->level;
}

bool hc_sv_host_ended(const struct hc_sv_host *host) {
    return hc_timeline_head(host->timeline) >= host->test.last_tick;
}

/// Whether the next tick is due.
static bool tick_due(const struct hc_sv_host *host, uint64_t now_us) {
    return !hc_sv_host_ended(host) && now_us >= due_us(host, hc_timeline_head(host->timeline) + 1);
}

void hc_sv_host_advance(struct hc_sv_host *host, uint64_t now_us) {
    for (uint32_t n = 0; n < host->test.ticks_per_advance && tick_due(host, now_us); n++)
        tick(host, now_us);
    // Too late to catch up: leave out the missed ticks and set the clock back by them.
    while (tick_due(host, now_us)) {
        HC_MARK("epoch-set-back");
        host->stats.ticks_missed +=
            hc_sv_schedule_skip(&host->schedule, hc_timeline_head(host->timeline), now_us);
    }
    if (hc_sv_host_ended(host) && !host->shutting_down)
        hc_sv_host_shutdown(host, now_us);
    hc_sv_outbox_seek(&host->outbox, 0); // because a CLOSE may be due without a tick
}

uint64_t hc_sv_host_deadline(const struct hc_sv_host *host) {
    uint64_t deadline = UINT64_MAX;
    if (!hc_sv_host_ended(host))
        deadline = due_us(host, hc_timeline_head(host->timeline) + 1);
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;) {
        uint64_t close_us = hc_connection_close_due_us(&peer->connection);
        deadline = close_us < deadline ? close_us : deadline;
    }
    return deadline;
}
