#include "server/core.h"

#include "common/mark.h"

#include <sodium.h>
#include <string.h>

enum {
    RETRY_MS = 2000,   ///< what a full server suggests
    LIVE_US = 1000000, ///< a peer heard this lately is not replaced by its address's next attempt
};

/// `size` bytes that nobody can predict without the secret, different at every call.
static void unpredictable(struct hc_sv_host *host, uint8_t *out, size_t size) {
    uint8_t serial[8];
    struct hc_writer writer = hc_bytes_writer(serial, sizeof serial);
    hc_bytes_put_u64(&writer, ++host->serial);
    int failed = crypto_generichash(out, size, serial, sizeof serial, host->config.secret,
                                    sizeof host->config.secret);
    HC_ASSERT(failed == 0);
}

static struct hc_sv_reply *new_reply(struct hc_sv_host *host, const struct hc_address *to) {
    if (host->reply_count == HC_SV_REPLIES) {
        HC_MARK("reply-queue-full");
        return NULL;
    }
    struct hc_sv_reply *reply =
        &host->replies[(host->reply_first + host->reply_count++) % HC_SV_REPLIES];
    reply->to = *to;
    reply->size = 0;
    return reply;
}

static enum hc_status answer_version(struct hc_sv_host *host, const struct hc_address *from,
                                     const uint8_t nonce[static HC_NONCE_SIZE]) {
    struct hc_version version = {.protocol_id = host->protocol_id};
    struct hc_sv_reply *reply = new_reply(host, from);
    if (reply == NULL)
        return HC_FULL;
    memcpy(version.client_nonce, nonce, HC_NONCE_SIZE);
    reply->size = hc_datagram_put_version(&version, reply->bytes);
    return HC_OK;
}

static enum hc_status receive_hello(struct hc_sv_host *host, const struct hc_address *from,
                                    const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_hello hello;
    enum hc_status status = hc_datagram_get_hello(bytes, size, &hello);
    if (status != HC_OK && status != HC_UNEXPECTED)
        return status;
    if (status == HC_UNEXPECTED || hello.protocol_id != host->protocol_id)
        return answer_version(host, from, hello.client_nonce);
    struct hc_sv_reply *reply = new_reply(host, from);
    if (reply == NULL)
        return HC_FULL;
    struct hc_datagram_cookie cookie = {.slot = hc_cookie_slot(now_us)};
    memcpy(cookie.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    hc_cookie_make(&host->jar, cookie.slot, from, hello.client_nonce, cookie.cookie);
    reply->size = hc_datagram_put_cookie(&cookie, reply->bytes);
    return HC_OK;
}

static enum hc_status deny(struct hc_sv_host *host, const struct hc_address *from,
                           const struct hc_connect *connect, enum hc_deny_reason reason,
                           uint32_t retry_ms) {
    struct hc_deny deny = {.reason = reason, .retry_ms = retry_ms};
    struct hc_sv_reply *reply = new_reply(host, from);
    host->stats.denied++;
    if (reply == NULL)
        return HC_FULL;
    memcpy(deny.client_nonce, connect->client_nonce, HC_NONCE_SIZE);
    reply->size = hc_datagram_put_deny(&deny, reply->bytes);
    return HC_OK;
}

static struct hc_sv_peer *peer_at(struct hc_sv_host *host, const struct hc_address *address) {
    for (unsigned i = 0; i < host->config.clients; i++)
        if (host->peers[i].state == HC_SV_PEER_PLAYING &&
            hc_address_equal(&host->peers[i].address, address))
            return &host->peers[i];
    return NULL;
}

/// A place for a newcomer; when there is no other, that of a peer whose goodbye is still being
/// said.
static struct hc_sv_peer *free_peer(struct hc_sv_host *host) {
    struct hc_sv_peer *closing = NULL;
    for (unsigned i = 0; i < host->config.clients; i++) {
        if (host->peers[i].state == HC_SV_PEER_FREE)
            return &host->peers[i];
        if (host->peers[i].state == HC_SV_PEER_CLOSING &&
            (closing == NULL || host->peers[i].closes_left < closing->closes_left))
            closing = &host->peers[i]; // the one that has said it most often
    }
    return closing;
}

static bool available(const struct hc_sv_player *player) {
    return player->peer == 0 || (player->leaving && player->heir == 0);
}

/// Finds `count` player slots that are free, or will be at the next tick; false, and nothing taken,
/// when there are fewer.
static bool take_players(struct hc_sv_host *host, uint16_t peer, unsigned count,
                         hc_player taken[static HC_OWN_PLAYERS_MAX]) {
    unsigned found = 0;
    for (hc_player p = 0; p < host->world.players && found < count; p++)
        if (available(&host->players[p]))
            taken[found++] = p;
    for (unsigned i = 0; found == count && i < count; i++) {
        struct hc_sv_player *player = &host->players[taken[i]];
        *(player->leaving ? &player->heir : &player->peer) = (uint16_t)(peer + 1);
    }
    return found == count;
}

static void build_accept(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    struct hc_welcome welcome = {.tick_rate = host->world.tick_rate,
                                 .players = host->world.players,
                                 .seed = host->world.seed,
                                 .history = host->config.history,
                                 .future = host->config.future,
                                 .refusal = host->config.history,
                                 .tick = hc_timeline_head(host->timeline),
                                 .phase_us = hc_sv_host_phase_us(host, now_us),
                                 .own_count = peer->own_count};
    memcpy(welcome.own, peer->own, sizeof peer->own);
    bool fits = hc_message_put_welcome(&body, &welcome);
    HC_ASSERT(fits);
    struct hc_accept accept = {
        .cid = peer->cid, .body = bytes + HC_ACCEPT_BODY_AT, .body_size = body.at};
    memcpy(accept.client_nonce, peer->client_nonce, HC_NONCE_SIZE);
    unpredictable(host, accept.server_nonce, sizeof accept.server_nonce);
    peer->accept_size = hc_datagram_put_accept(&accept, bytes);
    HC_ASSERT(peer->accept_size <= sizeof peer->accept);
    memcpy(peer->accept, bytes, peer->accept_size);
}

static enum hc_status answer_accept(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    struct hc_sv_reply *reply = new_reply(host, &peer->address);
    if (reply == NULL)
        return HC_FULL; // the client asks again
    memcpy(reply->bytes, peer->accept, peer->accept_size);
    reply->size = peer->accept_size;
    return HC_OK;
}

/// Whether a connection that ended lately had this cid.
static bool was_given(const struct hc_sv_host *host, uint32_t cid, uint64_t now_us) {
    for (unsigned i = 0; i < host->ended_count; i++)
        if (now_us < host->ended[i].until_us && host->ended[i].cid == cid)
            return true;
    return false;
}

/// A cid for the peer with this index that nobody can guess.
static uint32_t draw_cid(struct hc_sv_host *host, uint16_t index, uint64_t now_us) {
    uint32_t cid = 0;
    while (cid >> HC_SV_CID_INDEX_BITS == 0 || was_given(host, cid, now_us)) {
        uint8_t bytes[crypto_generichash_BYTES_MIN];
        unpredictable(host, bytes, sizeof bytes);
        struct hc_reader reader = hc_bytes_reader(bytes, sizeof bytes);
        cid = hc_bytes_get_u32(&reader) << HC_SV_CID_INDEX_BITS | index;
    }
    return cid;
}

static enum hc_status admit(struct hc_sv_host *host, const struct hc_address *from,
                            const struct hc_connect *connect, uint64_t now_us) {
    hc_player taken[HC_OWN_PLAYERS_MAX] = {0};
    struct hc_sv_peer *peer = free_peer(host);
    if (peer == NULL)
        return deny(host, from, connect, HC_DENY_FULL, RETRY_MS);
    uint16_t index = (uint16_t)(peer - host->peers);
    if (!take_players(host, index, connect->players, taken))
        return deny(host, from, connect, HC_DENY_FULL, RETRY_MS);
    uint32_t cid = draw_cid(host, index, now_us);
    peer->state = HC_SV_PEER_FREE;
    hc_sv_peer_open(peer, cid, host->config.client_rate, from, connect->client_nonce, now_us);
    peer->own_count = connect->players;
    memcpy(peer->own, taken, sizeof taken);
    build_accept(host, peer, now_us);
    host->stats.joins++;
    hc_sv_host_event(host, peer, HC_SV_EVENT_JOINED, 0);
    return answer_accept(host, peer);
}

static bool has_ended(const struct hc_sv_host *host, const struct hc_address *from,
                      const uint8_t nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    for (unsigned i = 0; i < host->ended_count; i++)
        if (now_us < host->ended[i].until_us && !host->ended[i].unheard &&
            hc_address_equal(&host->ended[i].address, from) &&
            memcmp(host->ended[i].client_nonce, nonce, HC_NONCE_SIZE) == 0)
            return true;
    return false;
}

static enum hc_status receive_connect(struct hc_sv_host *host, const struct hc_address *from,
                                      const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_connect connect;
    enum hc_status status = hc_datagram_get_connect(bytes, size, &connect);
    if (status != HC_OK && status != HC_INVALID)
        return status;
    if (connect.protocol_id != host->protocol_id)
        return answer_version(host, from, connect.client_nonce);
    enum hc_status cookie = hc_cookie_check(&host->jar, now_us, connect.slot, from,
                                            connect.client_nonce, connect.cookie);
    if (cookie != HC_OK)
        return cookie;
    if (status == HC_INVALID)
        return deny(host, from, &connect, HC_DENY_PLAYERS, 0);
    if (host->shutting_down)
        return deny(host, from, &connect, HC_DENY_SHUTDOWN, 0);
    struct hc_sv_peer *known = peer_at(host, from);
    if (known != NULL && memcmp(known->client_nonce, connect.client_nonce, HC_NONCE_SIZE) == 0) {
        HC_MARK("accept-sent-again");
        return answer_accept(host, known);
    }
    if (has_ended(host, from, connect.client_nonce, now_us) ||
        (known != NULL && now_us - known->heard_us < LIVE_US))
        return HC_DUPLICATE; // late, or of an attempt that was given up for the one that is live
    // The same address with another nonce: that client has begun anew.
    if (known != NULL)
        HC_MARK("client-begun-anew");
    if (known != NULL)
        hc_sv_host_drop(host, known, HC_SV_EVENT_LEFT, HC_CLOSE_LEFT, false, now_us);
    return admit(host, from, &connect, now_us);
}

enum hc_status hc_sv_door_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    switch (hc_datagram_kind(bytes, size)) {
    case HC_DATAGRAM_HELLO:
        return receive_hello(host, from, bytes, size, now_us);
    case HC_DATAGRAM_CONNECT:
        return receive_connect(host, from, bytes, size, now_us);
    default:
        return HC_MALFORMED;
    }
}
