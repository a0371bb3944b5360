/// The sessions of a host's clients: which peers have one, how it ends, and the joins and leaves of
/// its players.
#include "server/host_internal.h"

#include "common/mark.h"

#include <string.h>

// ---- Peers in use -------------------------------------------------------------------------------

static uint64_t taken_bit(unsigned index) {
    return UINT64_C(1) << index % 64;
}

/// The index of the first taken peer from `from` on; the configured clients: there is none.
static unsigned next_taken(const struct hc_sv_host *host, unsigned from) {
    uint64_t wanted = ~(taken_bit(from) - 1);
    for (unsigned word = from / 64; word * 64 < host->places; word++, wanted = UINT64_MAX)
        if ((host->taken[word] & wanted) != 0)
            return word * 64 + (unsigned)__builtin_ctzll(host->taken[word] & wanted);
    return host->places;
}

void hc_sv_host_take_peer(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    unsigned index = (unsigned)(peer - host->peers);
    host->taken[index / 64] |= taken_bit(index);
}

struct hc_sv_peer *hc_sv_host_next_peer(const struct hc_sv_host *host,
                                        const struct hc_sv_peer *peer) {
    unsigned next = next_taken(host, peer == NULL ? 0 : (unsigned)(peer - host->peers) + 1);
    return next < host->places ? &host->peers[next] : NULL;
}

void hc_sv_host_occupy(struct hc_sv_host *host, hc_player player) {
    host->occupied[player / 64] |= taken_bit(player);
}

hc_player hc_sv_host_next_player(const struct hc_sv_host *host, uint32_t from) {
    for (; from < host->world.players; from = (from / 64 + 1) * 64) {
        uint64_t left = host->occupied[from / 64] >> from % 64;
        if (left != 0)
            return (hc_player)(from + (uint32_t)__builtin_ctzll(left));
    }
    return host->world.players;
}

bool hc_sv_host_plays(const struct hc_sv_host *host, const struct hc_sv_peer *peer,
                      hc_player player) {
    const struct hc_sv_player *slot = &host->players[player];
    return slot->in && !slot->leaving && slot->peer == peer - host->peers + 1;
}

// ---- Ends ---------------------------------------------------------------------------------------

void hc_sv_host_remember_ended(struct hc_sv_host *host, struct hc_sv_peer *peer,
                               bool never_received, bool left, uint64_t now_us) {
    size_t ring = (size_t)(peer - host->peers) * HC_SV_ENDED_EACH;
    size_t place = ring + peer->ended_next++ % HC_SV_ENDED_EACH;
    struct hc_sv_ended *ended = &host->ended[place];
    hc_sv_search_ended(host, place, peer->user.client_id);
    *ended = (struct hc_sv_ended){.cid = peer->connection.cid,
                                  .client_id = peer->user.client_id,
                                  .never_received = never_received,
                                  .left = left,
                                  .until_us = now_us + 2 * (uint64_t)HC_COOKIE_SLOT_US};
    memcpy(ended->client_nonce, peer->client_nonce, HC_NONCE_SIZE);
}

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
    hc_sv_host_ended_session(host, peer, kind, ending, close->reason);
    if (kind == HC_SERVER_EVENT_TIMEOUT)
        host->stats.timeouts++;
    else
        host->stats.leaves++;
    uint16_t index = (uint16_t)(peer - host->peers + 1);
    const struct hc_sv_client *client = &peer->replication;
    for (unsigned i = 0; i < client->own_count; i++) {
        struct hc_sv_player *player = &host->players[client->own[i]];
        if (player->next_owner == index) // it never had the slot: the owner before has yet to leave
            player->next_owner = 0;
        else
            player->leaving = true;
    }
    hc_sv_host_drop_unread(host, peer);
    bool never_received = kind == HC_SERVER_EVENT_TIMEOUT && peer->connection.replay.newest == 0;
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_host_remember_ended(host, peer, never_received, ending == HC_SV_END_CLOSED, now_us);
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
    hc_sv_host_changed(host, peer, HC_SERVER_EVENT_LOST);
    host->stats.lost++;
    hc_sv_host_remember_ended(host, peer, peer->connection.replay.newest == 0, false, now_us);
    hc_sv_peer_lose(peer, now_us + host->config.linger_us, now_us);
}

// ---- Ticks --------------------------------------------------------------------------------------

/// Gives up the peers that became free since the tick before, and begins to count forged datagrams
/// anew.
static void renew_taken(struct hc_sv_host *host) {
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_host_next_peer(host, peer)) != NULL;) {
        peer->forged = 0;
        unsigned index = (unsigned)(peer - host->peers);
        if (peer->state == HC_SV_PEER_FREE)
            host->taken[index / 64] &= ~taken_bit(index);
    }
}

static void drop_silent(struct hc_sv_host *host, uint64_t now_us) {
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_host_next_peer(host, peer)) != NULL;) {
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

static void stamp(struct hc_sv_host *host, hc_player player, enum hc_roster roster_change) {
    hc_tick head = hc_timeline_head(host->timeline);
    enum hc_status status = hc_timeline_put_roster(host->timeline, player, head, roster_change);
    HC_ASSERT(status == HC_OK);
    hc_sv_roster_stamp(&host->replicator.roster, player, head, roster_change);
}

/// Stamps joins and leaves as inputs of the head. A slot gets its next owner when its leave is
/// stamped, so its next join is of a later tick.
static void stamp_roster(struct hc_sv_host *host) {
    hc_player p = hc_sv_host_next_player(host, 0);
    for (; p < host->world.players; p = hc_sv_host_next_player(host, p + 1u)) {
        struct hc_sv_player *player = &host->players[p];
        if (player->leaving) { // its next owner joins a tick later
            if (player->in)
                stamp(host, p, HC_ROSTER_LEAVE);
            if (player->next_owner != 0)
                HC_MARK("slot-inherited");
            *player = (struct hc_sv_player){.peer = player->next_owner};
            if (player->peer == 0)
                host->occupied[p / 64] &= ~taken_bit(p);
        } else if ((player->peer != 0 || player->npc) && !player->in) {
            stamp(host, p, HC_ROSTER_JOIN);
            player->in = true;
            hc_sv_host_named(host, p, hc_timeline_head(host->timeline) + 1);
        }
    }
}

void hc_sv_host_tick_sessions(struct hc_sv_host *host, uint64_t now_us) {
    renew_taken(host);
    drop_silent(host, now_us);
    stamp_roster(host);
}
