/// The ends of sessions: of one, of those that are refused, and of all; and what each tick does to
/// sessions and players.
#include "server/sessions.h"

// ---- Ends ---------------------------------------------------------------------------------------

void hc_sv_sessions_drop(struct hc_server *server, struct hc_sv_peer *peer,
                         enum hc_server_event_kind kind, enum hc_sv_ending ending,
                         const struct hc_close *close, uint64_t now_us) {
    HC_ASSERT(hc_sv_peer_has_session(peer));
    bool by_client = ending == HC_SV_END_CLOSED || ending == HC_SV_END_REPLACED;
    hc_sv_program_ended(&server->program, peer, kind, by_client, close->reason);
    if (kind == HC_SERVER_EVENT_TIMEOUT)
        server->stats.timeouts++;
    else
        server->stats.leaves++;
    const struct hc_sv_client *client = &peer->replication;
    hc_sv_players_leave(&server->clients.players, hc_sv_clients_place(&server->clients, peer),
                        client->own_count, client->own);
    hc_sv_program_drop(&server->program, peer);
    bool never_received = kind == HC_SERVER_EVENT_TIMEOUT && peer->connection.received.newest == 0;
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_clients_ended(&server->clients, peer, never_received, ending == HC_SV_END_CLOSED,
                            now_us);
    hc_sv_admission_end(&server->admission, &peer->user, close->reason,
                        kind == HC_SERVER_EVENT_TIMEOUT && !peer->ever_received, now_us);
    if (ending == HC_SV_END_CLOSED)
        hc_sv_peer_closed(peer, close);
    else
        hc_sv_peer_end(peer, close, ending == HC_SV_END_SENT, now_us);
}

static const struct hc_close timed_out = {.reason = HC_CLOSE_TIMEOUT};

/// The connection of a client is lost: the client lingers, or is dropped.
static void lose(struct hc_server *server, struct hc_sv_peer *peer, uint64_t now_us) {
    HC_ASSERT(peer->state == HC_SV_PEER_PLAYING);
    // A client without any DATA may never have received its ACCEPT.
    if (server->config.linger_us == 0 || !peer->ever_received) {
        hc_sv_sessions_drop(server, peer, HC_SERVER_EVENT_TIMEOUT, HC_SV_END_SENT, &timed_out,
                            now_us);
        return;
    }
    hc_sv_program_changed(&server->program, peer, HC_SERVER_EVENT_LOST);
    server->stats.lost++;
    hc_sv_clients_ended(&server->clients, peer, peer->connection.received.newest == 0, false,
                        now_us);
    hc_sv_peer_lose(peer, now_us + server->config.linger_us, now_us);
}

void hc_sv_sessions_close(struct hc_server *server, struct hc_sv_peer *peer,
                          enum hc_close_reason reason, uint64_t now_us) {
    hc_sv_sessions_drop(server, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT,
                        &(struct hc_close){.reason = reason}, now_us);
}

void hc_sv_sessions_close_refused(struct hc_server *server, uint64_t now_us) {
    struct hc_sv_clients *clients = &server->clients;
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;) {
        enum hc_close_reason reason = hc_sv_admission_refuses(&server->admission, &peer->user);
        if (hc_sv_peer_has_session(peer) && reason != 0)
            hc_sv_sessions_close(server, peer, reason, now_us);
    }
}

void hc_sv_sessions_close_all(struct hc_server *server, const struct hc_close *close,
                              uint64_t now_us) {
    struct hc_sv_clients *clients = &server->clients;
    hc_sv_admission_close(&server->admission, close->seconds * 1000);
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;)
        if (hc_sv_peer_has_session(peer))
            hc_sv_sessions_drop(server, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT, close, now_us);
}

// ---- Ticks --------------------------------------------------------------------------------------

static void drop_silent(struct hc_server *server, uint64_t now_us) {
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&server->clients, peer)) != NULL;) {
        if (peer->state == HC_SV_PEER_PLAYING &&
            now_us >= hc_connection_lost_us(&peer->connection, server->config.timeout_us))
            lose(server, peer, now_us);
        if (hc_sv_peer_lingers(peer) && now_us >= peer->lingers_until_us)
            hc_sv_sessions_drop(server, peer, HC_SERVER_EVENT_TIMEOUT, HC_SV_END_SILENT, &timed_out,
                                now_us);
        if (hc_sv_peer_has_session(peer) && peer->user.end_us != 0 && now_us >= peer->user.end_us)
            hc_sv_sessions_close(server, peer, HC_CLOSE_SESSION_OVER, now_us);
    }
}

/// Stamps joins and leaves as inputs of the head.
static void stamp_roster(struct hc_server *server) {
    struct hc_sv_players *players = &server->clients.players;
    hc_tick head = hc_timeline_head(server->timeline);
    hc_player p = hc_sv_players_next(players, 0);
    for (; p < server->world.players; p = hc_sv_players_next(players, p + 1u)) {
        enum hc_roster change = hc_sv_players_stamp(players, p, head);
        if (change == HC_ROSTER_NONE)
            continue;
        enum hc_status status = hc_timeline_put_roster(server->timeline, p, head, change);
        HC_ASSERT(status == HC_OK);
        hc_sv_roster_stamp(&server->replicator.roster, p, head, change);
    }
}

void hc_sv_sessions_tick(struct hc_server *server, uint64_t now_us) {
    hc_sv_clients_renew(&server->clients);
    drop_silent(server, now_us);
    stamp_roster(server);
}
