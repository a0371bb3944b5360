/// The ticks of a server: when they are due, the inputs that each still accepts, and the snapshots
/// that are due after it.
#include "server/ticks.h"

#include "common/elapsed.h"
#include "common/rewind_log.h"
#include "server/inputs.h"
#include "server/replication/cadence.h"
#include "server/replication/look.h"
#include "server/sessions.h"

enum {
    FAR_US = 100000, ///< a client with a longer round trip is far
    IDLE_S = 5,      ///< a client whose input stays the same for longer is idle
    PHASE_VIEWS = 4, ///< views across a place whose clients have the same phase
};

static uint64_t due_us(const struct hc_server *server, hc_tick tick) {
    return hc_sv_schedule_due_us(&server->schedule, tick);
}

static void update_lateness(struct hc_server *server) {
    hc_tick head = hc_timeline_head(server->timeline);
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&server->clients, peer)) != NULL;)
        if (peer->state == HC_SV_PEER_PLAYING)
            hc_sv_lateness_tick(&peer->lateness, head, server->world.tick_rate);
}

/// Forces the inputs that the coming tick pushes out of the window, and all those of lingering
/// clients, which cannot send any, and of NPCs, whose inputs come in time.
static void close_window(struct hc_server *server) {
    hc_tick head = hc_timeline_head(server->timeline);
    hc_player p = hc_sv_players_next(&server->clients.players, 0);
    for (; p < server->world.players; p = hc_sv_players_next(&server->clients.players, p + 1u)) {
        if (!server->clients.players.slots[p].in)
            continue;
        if (server->clients.players.slots[p].npc) {
            hc_timeline_force(server->timeline, p, head + 1);
            continue;
        }
        struct hc_sv_peer *peer = &server->clients.peers[server->clients.players.slots[p].peer - 1];
        uint32_t late_limit = hc_sv_inputs_late_limit(server, peer);
        if (hc_sv_peer_lingers(peer))
            hc_sv_inputs_force(server, peer, p, head + 1, HC_SV_INPUTS_SILENT);
        else if (head >= late_limit)
            hc_sv_inputs_force(server, peer, p, head - late_limit + 1, HC_SV_INPUTS_LATE);
    }
}

/// F: every tick before it has all its inputs, or accepts no more.
static hc_tick final_tick(const struct hc_server *server) {
    hc_tick head = hc_timeline_head(server->timeline), final = head;
    hc_player p = hc_sv_players_next(&server->clients.players, 0);
    for (; p < server->world.players; p = hc_sv_players_next(&server->clients.players, p + 1u))
        if (server->clients.players.slots[p].in)
            final = hc_tick_min(final, hc_timeline_inputs_through(server->timeline, p) + 1);
    return hc_tick_max(final, hc_tick_back(head, server->config.history));
}

/// Whether the peer can be sent a snapshot: all of its players have joined.
static bool ready(const struct hc_server *server, const struct hc_sv_peer *peer) {
    for (unsigned i = 0; i < peer->replication.own_count; i++)
        if (!hc_sv_clients_plays(&server->clients, peer, peer->replication.own[i]))
            return false;
    return peer->state == HC_SV_PEER_PLAYING;
}

/// Whether fewer snapshots harm the client least: it watches, its player does nothing, or its
/// picture is old in any case.
static bool is_far(const struct hc_server *server, const struct hc_sv_peer *peer) {
    hc_tick head = hc_timeline_head(server->timeline);
    return peer->replication.own_count == 0 || peer->connection.srtt_us >= FAR_US ||
           head - peer->active_at >= (hc_tick)IDLE_S * server->world.tick_rate;
}

/// The phase of a client that is not sent a snapshot of each tick. Clients that are near each other
/// see the same units, and have the same phase: then they are shown the same ticks and share most
/// of their deltas. The phases of places that lie apart are spread over the ticks.
static uint32_t phase_of(const struct hc_server *server, const struct hc_sv_peer *peer) {
    const struct hc_world *world = &server->world;
    const struct hc_sv_client *client = &peer->replication;
    const uint8_t *states =
        hc_timeline_states(server->timeline, hc_timeline_head(server->timeline));
    int64_t x, y, width = PHASE_VIEWS * (int64_t)world->game->view;
    hc_entity own = client->own_count == 0 ? HC_REFEREE : hc_world_player(world, client->own[0]);
    if (own == HC_REFEREE || width == 0 ||
        !hc_world_position(world, own, states + (size_t)own * world->stride, &x, &y))
        return 0;
    return (uint32_t)(x / width + y / width);
}

/// Snapshots a second of the configuration.
static uint32_t rate_of(const struct hc_server *server) {
    uint32_t rate = server->config.snapshot_rate;
    return rate == 0 ? server->config.tick_rate : rate;
}

/// The cadence of a client with this phase that is sent one in `every` snapshots.
static struct hc_sv_cadence cadence_of(const struct hc_server *server, uint32_t phase,
                                       uint32_t every) {
    return (struct hc_sv_cadence){
        .snapshots = rate_of(server), .period = server->config.tick_rate * every, .phase = phase};
}

/// Marks the client's snapshot as due, or counts it as left out under overload.
static void mark_snapshot(struct hc_server *server, struct hc_sv_peer *peer, bool far) {
    struct hc_server_overload *counts = &server->stats.overload;
    bool each_head = hc_sv_replicator_sends_each_tick(&server->replicator);
    if (each_head && peer->snapshot_every == 1) {
        peer->snapshot_due = true;
        peer->snapshot_credit = 0;
        return;
    }
    const struct hc_sv_client *client = &peer->replication;
    uint32_t phase = phase_of(server, peer);
    struct hc_sv_cadence cadence = cadence_of(server, phase, peer->snapshot_every);
    struct hc_sv_cadence all = cadence_of(server, phase, 1);
    hc_tick tick = hc_sv_look_tick(&server->replicator, client);
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
static void mark_due(struct hc_server *server) {
    struct hc_server_overload *counts = &server->stats.overload;
    uint32_t clients[2] = {0};
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&server->clients, peer)) != NULL;) {
        peer->messages_due = peer->state == HC_SV_PEER_PLAYING;
        if (!ready(server, peer))
            continue;
        hc_sv_listing_keep_up(&server->replicator, &peer->replication);
        bool far = is_far(server, peer);
        peer->snapshot_every = hc_sv_overload_every(&server->overload, far);
        clients[far]++;
        mark_snapshot(server, peer, far);
    }
    hc_sv_overload_tick(&server->overload, clients[false], clients[true]);
    counts->ticks[server->overload.level]++;
    counts->linear_ticks += server->overload.linear;
    counts->late_limited_ticks += server->overload.late_most < server->config.history;
}

/// Notes for each tick after `before` up to the final one whether a round is over.
static void note_rounds(struct hc_server *server, hc_tick before) {
    const struct hc_game *game = server->world.game;
    for (hc_tick t = before; game->round_over != NULL && t < server->replicator.final;) {
        t++;
        const uint8_t *referee = hc_timeline_states(server->timeline, t);
        bool over = hc_timeline_presence(server->timeline, t)[HC_REFEREE] == HC_ALIVE &&
                    game->round_over(&server->world, referee);
        hc_sv_program_note_round(&server->program, over, t);
    }
}

/// Records which clients play the players whose inputs caused the newest rewind.
static void name_causes(struct hc_server *server) {
    struct hc_rewind *rewind = hc_rewind_log_newest(server->rewinds);
    for (uint32_t i = 0; rewind != NULL && i < rewind->cause_count; i++) {
        struct hc_rewind_cause *cause = &rewind->causes[i];
        if (cause->player == HC_NO_PLAYER || server->clients.players.slots[cause->player].peer == 0)
            continue;
        const struct hc_sv_peer *peer =
            &server->clients.peers[server->clients.players.slots[cause->player].peer - 1];
        cause->cid = peer->connection.cid;
        cause->client_id = peer->user.client_id;
    }
}

void hc_sv_ticks_run(struct hc_server *server, uint64_t now_us) {
    hc_tick head = hc_timeline_head(server->timeline);
    const struct hc_timeline_stats *stats = hc_timeline_stats(server->timeline);
    uint64_t late_us = hc_since(due_us(server, head + 1), now_us);
    hc_histogram_record(&server->stats.lateness, late_us);
    server->stats.ticks_late += late_us >= 1000000 / server->world.tick_rate;
    hc_sv_forged_renew(&server->forged);
    hc_sv_sessions_tick(server, now_us);
    update_lateness(server);
    close_window(server);
    if (server->config.force_rewind > 0)
        hc_timeline_redo(server->timeline, hc_tick_back(head, server->config.force_rewind));
    hc_timeline_resimulate(server->timeline);
    if (stats->depth > 0)
        hc_histogram_record(&server->stats.rewind_depth, stats->depth);
    if (stats->depth > 0 && server->rewinds != NULL)
        name_causes(server);
    hc_timeline_simulate(server->timeline);
    hc_tick final = server->replicator.final;
    hc_sv_replicator_advance(&server->replicator, final_tick(server));
    server->stats.game_events = server->replicator.final_events.ring.end;
    server->stats.remembered = server->admission.spent.counts;
    note_rounds(server, final);
    mark_due(server);
    hc_sv_outbox_seek(&server->outbox, 0);
}

bool hc_sv_ticks_are_over(const struct hc_server *server) {
    return hc_timeline_head(server->timeline) >= server->test.last_tick;
}

bool hc_sv_ticks_are_due(const struct hc_server *server, uint64_t now_us) {
    return !hc_sv_ticks_are_over(server) &&
           now_us >= due_us(server, hc_timeline_head(server->timeline) + 1);
}

uint64_t hc_sv_ticks_deadline_us(const struct hc_server *server) {
    return hc_sv_ticks_are_over(server) ? UINT64_MAX
                                        : due_us(server, hc_timeline_head(server->timeline) + 1);
}
