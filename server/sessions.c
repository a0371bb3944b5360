/// The sessions of a host's clients: which peers have one, how it ends, and the joins and leaves of
/// its players.
#include "server/host_internal.h"

// ---- Ends ---------------------------------------------------------------------------------------

/// Whether an end for this reason leaves a client its token and its tickets.
static bool keeps_tokens(enum hc_close_reason close) {
    return close == HC_CLOSE_LEFT || close == HC_CLOSE_SHUTDOWN || close == HC_CLOSE_TIMEOUT ||
           close == HC_CLOSE_RESTARTING;
}

/// Voids the tickets of the user that were made so far, and the token of the session. If that is
/// not known, all tokens are void that were issued before the session began.
static void void_tokens(struct hc_sv_host *host, const struct hc_sv_user *user, uint64_t now_us) {
    uint64_t ticket = hc_sv_host_unix_us(host, now_us);
    hc_sv_spent_void(&host->spent, user->client_id, ticket > user->ticket ? ticket : user->ticket,
                     user->begun_elsewhere ? user->begun_s : 0, hc_sv_host_unix_s(host, now_us));
}

void hc_sv_host_drop(struct hc_sv_host *host, struct hc_sv_peer *peer,
                     enum hc_server_event_kind kind, enum hc_sv_ending ending,
                     const struct hc_close *close, uint64_t now_us) {
    HC_ASSERT(hc_sv_peer_has_session(peer));
    bool by_client = ending == HC_SV_END_CLOSED || ending == HC_SV_END_REPLACED;
    hc_sv_program_ended(&host->program, peer, kind, by_client, close->reason);
    if (kind == HC_SERVER_EVENT_TIMEOUT)
        host->stats.timeouts++;
    else
        host->stats.leaves++;
    const struct hc_sv_client *client = &peer->replication;
    hc_sv_players_leave(&host->clients.players, hc_sv_clients_place(&host->clients, peer),
                        client->own_count, client->own);
    hc_sv_program_drop(&host->program, peer);
    bool never_received = kind == HC_SERVER_EVENT_TIMEOUT && peer->connection.replay.newest == 0;
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_clients_ended(&host->clients, peer, never_received, ending == HC_SV_END_CLOSED,
                            now_us);
    if (kind == HC_SERVER_EVENT_TIMEOUT && !peer->ever_received)
        hc_sv_spent_forget(&host->spent, peer->user.client_id, peer->user.token_id,
                           peer->user.by_ticket);
    if (!keeps_tokens(close->reason))
        void_tokens(host, &peer->user, now_us);
    hc_sv_spent_end(&host->spent, peer->user.client_id);
    if (ending == HC_SV_END_CLOSED)
        hc_sv_peer_closed(peer, close);
    else
        hc_sv_peer_end(peer, close, ending == HC_SV_END_SENT, now_us);
}

static const struct hc_close timed_out = {.reason = HC_CLOSE_TIMEOUT};

void hc_sv_host_lose(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    HC_ASSERT(peer->state == HC_SV_PEER_PLAYING);
    // A client without any DATA may never have received its ACCEPT.
    if (host->config.linger_us == 0 || !peer->ever_received) {
        hc_sv_host_drop(host, peer, HC_SERVER_EVENT_TIMEOUT, HC_SV_END_SENT, &timed_out, now_us);
        return;
    }
    hc_sv_program_changed(&host->program, peer, HC_SERVER_EVENT_LOST);
    host->stats.lost++;
    hc_sv_clients_ended(&host->clients, peer, peer->connection.replay.newest == 0, false, now_us);
    hc_sv_peer_lose(peer, now_us + host->config.linger_us, now_us);
}

// ---- Ticks --------------------------------------------------------------------------------------

static void drop_silent(struct hc_sv_host *host, uint64_t now_us) {
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;) {
        if (peer->state == HC_SV_PEER_PLAYING &&
            now_us >= hc_connection_lost_us(&peer->connection, host->config.timeout_us))
            hc_sv_host_lose(host, peer, now_us);
        if (hc_sv_peer_lingers(peer) && now_us >= peer->lingers_until_us)
            hc_sv_host_drop(host, peer, HC_SERVER_EVENT_TIMEOUT, HC_SV_END_SILENT, &timed_out,
                            now_us);
        if (hc_sv_peer_has_session(peer) && peer->user.end_us != 0 && now_us >= peer->user.end_us)
            hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT,
                            &(struct hc_close){.reason = HC_CLOSE_SESSION_OVER}, now_us);
    }
}

/// Stamps joins and leaves as inputs of the head.
static void stamp_roster(struct hc_sv_host *host) {
    struct hc_sv_players *players = &host->clients.players;
    hc_tick head = hc_timeline_head(host->timeline);
    hc_player p = hc_sv_players_next(players, 0);
    for (; p < players->count; p = hc_sv_players_next(players, p + 1u)) {
        enum hc_roster change = hc_sv_players_stamp(players, p, head);
        if (change == HC_ROSTER_NONE)
            continue;
        enum hc_status status = hc_timeline_put_roster(host->timeline, p, head, change);
        HC_ASSERT(status == HC_OK);
        hc_sv_roster_stamp(&host->replicator.roster, p, head, change);
    }
}

void hc_sv_host_tick_sessions(struct hc_sv_host *host, uint64_t now_us) {
    hc_sv_clients_renew(&host->clients);
    drop_silent(host, now_us);
    stamp_roster(host);
}
