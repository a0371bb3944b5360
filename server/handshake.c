/// Carries out the handshake: HELLO, COOKIE, CONNECT and ACCEPT, the refusals, and RESET.
#include "server/handshake.h"

#include "common/mark.h"
#include "server/inputs.h"
#include "server/sessions.h"

#include <sodium.h>
#include <string.h>

/// The server's part of the keys of a connection.
struct exchange {
    uint8_t server_nonce[HC_NONCE_SIZE];
    uint8_t server_key[HC_EXCHANGE_KEY_SIZE]; ///< the server's ephemeral public key
    uint8_t shared[HC_EXCHANGE_KEY_SIZE];     ///< the secret that both ends share by the exchange
};

/// Whether the outbox has room for a reply. If it has none, handshakes are dropped, because a
/// client must not be admitted without its ACCEPT. The client will retry.
static bool can_reply(const struct hc_server *server) {
    if (!hc_sv_outbox_is_full(&server->outbox))
        return true;
    HC_MARK("reply-queue-full");
    return false;
}

// ---- Replies ------------------------------------------------------------------------------------

/// Answers a client of another game or build, which has the protocol_id `other`.
static void reply_version(struct hc_server *server, const struct hc_address *from,
                          const uint8_t nonce[static HC_NONCE_SIZE], uint64_t other) {
    struct hc_version version = {.protocol_id = server->admission.protocol_id};
    uint8_t reply[HC_DATAGRAM_MAX];
    server->stats.other_builds++;
    server->stats.other_build =
        (struct hc_server_other_build){.address = *from, .protocol_id = other};
    memcpy(version.client_nonce, nonce, HC_NONCE_SIZE);
    hc_sv_outbox_reply(&server->outbox, from, reply, hc_datagram_put_version(&version, reply));
}

static enum hc_status receive_hello(struct hc_server *server, const struct hc_address *from,
                                    const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_hello hello;
    struct hc_datagram_cookie cookie;
    uint8_t reply[HC_DATAGRAM_MAX];
    enum hc_status status = hc_datagram_get_hello(bytes, size, &hello);
    if (status != HC_OK && status != HC_UNEXPECTED)
        return status;
    if (status == HC_UNEXPECTED || hello.protocol_id != server->admission.protocol_id) {
        reply_version(server, from, hello.client_nonce, hello.protocol_id);
        return HC_OK;
    }
    hc_sv_admission_put_cookie(&server->admission, from, hello.client_nonce, &cookie, now_us);
    hc_sv_outbox_reply(&server->outbox, from, reply, hc_datagram_put_cookie(&cookie, reply));
    return HC_OK;
}

/// Denies the attempt. A proven attempt's DENY is authenticated by the token's secret; any other is
/// a hint.
static void reply_deny(struct hc_server *server, const struct hc_address *from,
                       const struct hc_sv_attempt *attempt, const struct hc_sv_verdict *verdict) {
    struct hc_deny deny = {.reason = verdict->reason, .retry_ms = verdict->retry_ms};
    uint8_t reply[HC_DATAGRAM_MAX];
    bool games = deny.reason >= HC_DENY_GAME;
    struct hc_server_denials *denials =
        &server->stats.denials[games ? HC_DENY_REFUSED : deny.reason];
    server->stats.denied++;
    denials->count++;
    denials->address = *from;
    denials->proven = attempt->proven;
    denials->client_id = attempt->proven ? attempt->token.client_id : 0;
    memcpy(deny.client_nonce, attempt->connect.client_nonce, HC_NONCE_SIZE);
    size_t size = hc_datagram_put_deny(&deny, reply);
    if (attempt->proven)
        hc_token_put_deny_mac(attempt->token.secret, reply);
    hc_sv_outbox_reply(&server->outbox, from, reply, size);
}

static void reply_accept(struct hc_server *server, const struct hc_sv_peer *peer) {
    hc_sv_outbox_reply(&server->outbox, &peer->address, peer->accept, sizeof peer->accept);
}

// ---- Connections --------------------------------------------------------------------------------

/// Exchanges ephemeral keys with a client. This takes more time than all checks of the attempt, so
/// it follows them. HC_MALFORMED: the client's key is invalid.
static enum hc_status exchange_keys(struct hc_server *server, const struct hc_sv_attempt *attempt,
                                    struct exchange *exchange) {
    uint8_t secret[HC_EXCHANGE_KEY_SIZE];
    HC_ASSERT(attempt->proven);
    hc_ratchet_draw(&server->ratchet, secret, sizeof secret);
    hc_seal_public(secret, exchange->server_key);
    enum hc_status status = hc_seal_exchange(secret, attempt->connect.client_key, exchange->shared);
    sodium_memzero(secret, sizeof secret);
    return status;
}

/// Derives the keys of the attempt's connection.
static void derive_keys(const struct hc_server *server, const struct hc_sv_attempt *attempt,
                        const struct exchange *exchange, uint32_t cid, struct hc_seal_keys *keys) {
    struct hc_seal_material material = {.protocol_id = server->admission.protocol_id, .cid = cid};
    memcpy(material.secret, attempt->token.secret, sizeof material.secret);
    memcpy(material.token, attempt->connect.token, sizeof material.token);
    memcpy(material.client_nonce, attempt->connect.client_nonce, HC_NONCE_SIZE);
    memcpy(material.server_nonce, exchange->server_nonce, HC_NONCE_SIZE);
    memcpy(material.client_key, attempt->connect.client_key, sizeof material.client_key);
    memcpy(material.server_key, exchange->server_key, sizeof material.server_key);
    memcpy(material.shared, exchange->shared, sizeof material.shared);
    hc_seal_derive(&material, keys);
    sodium_memzero(&material, sizeof material);
}

/// Builds the ACCEPT of the peer's new connection.
static void build_accept(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct exchange *exchange, bool resumed, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    hc_tick head = hc_timeline_head(server->timeline);
    struct hc_welcome welcome = {.tick_rate = server->world.tick_rate,
                                 .players = server->world.players,
                                 .seed = server->world.seed,
                                 .history = server->config.history,
                                 .future = server->test.future,
                                 .late_limit = server->config.history,
                                 .tick = head,
                                 .phase_us =
                                     hc_sv_schedule_phase_us(&server->schedule, head, now_us),
                                 .own_count = peer->replication.own_count,
                                 .resumed = resumed};
    memcpy(welcome.own, peer->replication.own, sizeof peer->replication.own);
    hc_sv_admission_reset_token(&server->admission, 0, peer->connection.cid, &peer->address,
                                welcome.reset_token);
    bool fits = hc_message_put_welcome(&body, &welcome);
    HC_ASSERT(fits);
    struct hc_accept accept = {
        .cid = peer->connection.cid, .body = bytes + HC_ACCEPT_BODY_AT, .body_size = body.at};
    memcpy(accept.client_nonce, peer->client_nonce, HC_NONCE_SIZE);
    memcpy(accept.server_key, exchange->server_key, sizeof accept.server_key);
    memcpy(accept.server_nonce, exchange->server_nonce, sizeof accept.server_nonce);
    size_t size = hc_datagram_put_accept(&accept, bytes);
    HC_ASSERT(size == sizeof peer->accept);
    hc_seal_accept(&peer->connection.sealer, bytes, size);
    memcpy(peer->accept, bytes, size);
    peer->accept_repeated = false;
}

/// Draws an unpredictable cid for the peer.
static uint32_t draw_cid(struct hc_server *server, const struct hc_sv_peer *peer, uint64_t now_us) {
    uint32_t cid = 0;
    while (cid == 0) {
        uint8_t bytes[4];
        hc_ratchet_draw(&server->ratchet, bytes, sizeof bytes);
        struct hc_reader reader = hc_bytes_reader(bytes, sizeof bytes);
        cid = hc_sv_clients_cid(&server->clients, peer, hc_bytes_get_u32(&reader), now_us);
    }
    return cid;
}

/// Gives the peer a new connection with keys of its own.
static void connect_peer(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from, const struct hc_sv_attempt *attempt,
                         struct exchange *exchange, uint64_t now_us) {
    struct hc_seal_keys keys;
    uint32_t cid = draw_cid(server, peer, now_us);
    hc_ratchet_draw(&server->ratchet, exchange->server_nonce, sizeof exchange->server_nonce);
    derive_keys(server, attempt, exchange, cid, &keys);
    hc_sv_peer_connect(peer, cid, &keys, &attempt->connect, server->config.client_rate, from,
                       now_us);
    hc_sv_clients_connected(&server->clients, peer, attempt->token.client_id, from);
    sodium_memzero(&keys, sizeof keys);
    hc_sv_admission_set_user(&server->admission, &peer->user, &attempt->token, now_us);
}

// ---- Sessions -----------------------------------------------------------------------------------

/// Begins the session of a new client.
static void begin_session(struct hc_server *server, const struct hc_address *from,
                          const struct hc_sv_attempt *attempt, struct exchange *exchange,
                          uint64_t now_us) {
    hc_player taken[HC_OWN_PLAYERS_MAX] = {0};
    struct hc_sv_players *players = &server->clients.players;
    struct hc_sv_peer *peer = hc_sv_clients_find_free(&server->clients);
    unsigned count = attempt->connect.players;
    unsigned found = hc_sv_players_find(players, count, taken);
    HC_ASSERT(peer != NULL && found == count); // see hc_sv_clients_have_room
    hc_sv_admission_use(&server->admission, &attempt->token, now_us);
    hc_sv_admission_begin(&server->admission, attempt->token.client_id);
    hc_sv_players_assign(players, hc_sv_clients_place(&server->clients, peer), count, taken);
    hc_sv_peer_open(peer);
    hc_sv_delivery_begin(&peer->delivery, &server->notices);
    connect_peer(server, peer, from, attempt, exchange, now_us);
    peer->user.begun_elsewhere = attempt->token.kind == HC_TOKEN_RESUME;
    peer->replication.own_count = attempt->connect.players;
    memcpy(peer->replication.own, taken, sizeof taken);
    build_accept(server, peer, exchange, false, now_us);
    server->stats.joins++;
    hc_sv_program_joined(&server->program, peer);
    reply_accept(server, peer);
}

/// The players of the peer have another name from now on.
static void rename_players(struct hc_server *server, const struct hc_sv_peer *peer) {
    const struct hc_sv_client *client = &peer->replication;
    for (unsigned i = 0; i < client->own_count; i++)
        if (hc_sv_clients_plays(&server->clients, peer, client->own[i]))
            hc_sv_players_named(&server->clients.players, client->own[i],
                                hc_timeline_head(server->timeline));
}

/// Gives a known client a new connection, which replaces its present or lost one.
static void reconnect(struct hc_server *server, struct hc_sv_peer *peer,
                      const struct hc_address *from, const struct hc_sv_attempt *attempt,
                      struct exchange *exchange, uint64_t now_us) {
    // Only a client that continues its last connection resumes the session: another process of the
    // same user begins a new one.
    bool resumed = attempt->continues.cid != 0;
    hc_sv_admission_use(&server->admission, &attempt->token, now_us);
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_clients_ended(&server->clients, peer, false, false, now_us);
    if (!resumed) {
        hc_sv_program_drop(&server->program, peer);
        hc_reliable_channel_begin(&peer->messages);
    }
    HC_MARK("client-reconnected");
    // The client begins at the tick of WELCOME, so it sends no inputs for earlier ticks.
    for (unsigned i = 0; i < peer->replication.own_count; i++)
        if (hc_sv_clients_plays(&server->clients, peer, peer->replication.own[i]))
            hc_sv_inputs_force(server, peer, peer->replication.own[i],
                               hc_timeline_head(server->timeline), HC_SV_INPUTS_SILENT);
    if (memcmp(peer->user.name, attempt->token.name, sizeof peer->user.name) != 0)
        rename_players(server, peer);
    connect_peer(server, peer, from, attempt, exchange, now_us);
    build_accept(server, peer, exchange, resumed, now_us);
    server->stats.resumed++;
    hc_sv_program_changed(&server->program, peer, HC_SERVER_EVENT_RECONNECTED);
    peer->former = attempt->continues;
    reply_accept(server, peer);
}

/// Connects an admitted client. HC_MALFORMED: its key is invalid; then nothing changed.
static enum hc_status admit(struct hc_server *server, const struct hc_address *from,
                            const struct hc_sv_attempt *attempt, uint64_t now_us) {
    struct exchange exchange;
    struct hc_sv_peer *known = attempt->known;
    enum hc_status status = exchange_keys(server, attempt, &exchange);
    if (status != HC_OK) {
        // Nothing is used of an attempt whose key is invalid.
    } else if (known != NULL && known->replication.own_count == attempt->connect.players) {
        reconnect(server, known, from, attempt, &exchange, now_us);
    } else {
        if (known != NULL)
            hc_sv_sessions_drop(server, known, HC_SERVER_EVENT_LEFT, HC_SV_END_REPLACED,
                                &(struct hc_close){.reason = HC_CLOSE_LEFT}, now_us);
        begin_session(server, from, attempt, &exchange, now_us);
    }
    sodium_memzero(&exchange, sizeof exchange);
    return status;
}

/// Sends the ACCEPT of a connection again, to the address that asks for it.
static void accept_again(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from) {
    HC_MARK("accept-sent-again");
    hc_sv_clients_move(&server->clients, peer, from);
    reply_accept(server, peer);
}

/// Carries out the verdict on a CONNECT; returns the cause of its refusal, if it is dropped.
static enum hc_status carry_out(struct hc_server *server, const struct hc_sv_asked *asked,
                                const struct hc_sv_attempt *attempt,
                                const struct hc_sv_verdict *verdict) {
    const struct hc_connect *connect = &attempt->connect;
    server->stats.unproven += verdict->by_proof;
    server->stats.overload.joins += verdict->by_overload;
    switch (verdict->kind) {
    case HC_SV_VERDICT_ADMITTED:
        return admit(server, asked->from, attempt, asked->now_us);
    case HC_SV_VERDICT_AGAIN:
        accept_again(server, attempt->known, asked->from);
        return HC_OK;
    case HC_SV_VERDICT_DENIED:
        reply_deny(server, asked->from, attempt, verdict);
        return HC_OK;
    case HC_SV_VERDICT_OTHER_BUILD:
        reply_version(server, asked->from, connect->client_nonce, connect->protocol_id);
        return HC_OK;
    case HC_SV_VERDICT_DROPPED:
        break;
    }
    return verdict->status;
}

static enum hc_status receive_connect(struct hc_server *server, const struct hc_address *from,
                                      const uint8_t *bytes, size_t size, enum hc_deny_reason denied,
                                      uint64_t now_us) {
    const struct hc_sv_asked asked = {.from = from,
                                      .bytes = bytes,
                                      .size = size,
                                      .denied = denied,
                                      .is_overloaded =
                                          server->overload.level >= HC_SERVER_OVERLOAD_REFUSE,
                                      .has_no_events = !hc_sv_program_has_room(&server->program),
                                      .now_us = now_us};
    struct hc_sv_attempt attempt;
    struct hc_sv_verdict verdict =
        hc_sv_admission_judge(&server->admission, &server->clients, &asked, &attempt);
    enum hc_status status = carry_out(server, &asked, &attempt, &verdict);
    sodium_memzero(&attempt, sizeof attempt);
    return status;
}

// ---- Datagrams ----------------------------------------------------------------------------------

void hc_sv_handshake_reset(struct hc_server *server, const struct hc_address *from, uint32_t cid,
                           uint32_t seq, uint64_t now_us) {
    struct hc_reset reset = {.cid = cid};
    uint8_t reply[HC_DATAGRAM_MAX];
    if (hc_sv_outbox_is_crowded(&server->outbox) ||
        !hc_sv_admission_takes_reset(&server->admission, from, now_us))
        return;
    const struct hc_sv_ended *ended = hc_sv_clients_find_ended(&server->clients, cid, now_us);
    if (ended != NULL && ended->left) { // it repeats its CLOSE, and another client took the place
        HC_MARK("close-repeated-after-place-taken");
        return;
    }
    server->stats.resets++;
    // The client's reset token may be of either key. A RESET carries one, so the keys alternate.
    hc_sv_admission_reset_token(&server->admission, seq, cid, from, reset.token);
    hc_sv_outbox_reply(&server->outbox, from, reply, hc_datagram_put_reset(&reset, reply));
}

enum hc_status hc_sv_handshake_receive(struct hc_server *server, const struct hc_address *from,
                                       const uint8_t *bytes, size_t size,
                                       enum hc_deny_reason denied, uint64_t now_us) {
    enum hc_datagram_kind kind = hc_datagram_kind(bytes, size);
    if (kind != HC_DATAGRAM_HELLO && kind != HC_DATAGRAM_CONNECT)
        return HC_MALFORMED;
    if (!can_reply(server))
        return HC_FULL;
    return kind == HC_DATAGRAM_HELLO ? receive_hello(server, from, bytes, size, now_us)
                                     : receive_connect(server, from, bytes, size, denied, now_us);
}
