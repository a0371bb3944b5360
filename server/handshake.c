/// Admits clients: HELLO, COOKIE, CONNECT and ACCEPT, the refusals, and RESET.
#include "server/host_internal.h"

#include "common/elapsed.h"
#include "common/limit.h"
#include "common/mark.h"

#include <sodium.h>
#include <string.h>

enum {
    RETRY_MS = 2000, ///< when a client may try again at a full server
    SECOND_US = 1000000,
};

/// A client's attempt to connect.
struct attempt {
    struct hc_connect connect;
    struct hc_token token;
    bool proven;                   ///< the client knows the token's secret
    struct hc_sv_former continues; ///< the connection that it proves to continue; cid 0: none
    enum hc_deny_reason denied;    ///< the program denies it for this reason; 0: it does not
    uint8_t server_nonce[HC_NONCE_SIZE];
    uint8_t server_key[HC_EXCHANGE_KEY_SIZE]; ///< the server's ephemeral public key
    uint8_t shared[HC_EXCHANGE_KEY_SIZE];     ///< the secret that both ends share by the exchange
};

/// Whether the reply queue has room. If it has none, handshakes are dropped, because a client must
/// not be admitted without its ACCEPT. The client will retry.
static bool can_reply(const struct hc_sv_host *host) {
    if (!hc_sv_outbox_is_full(&host->outbox))
        return true;
    HC_MARK("reply-queue-full");
    return false;
}

/// Answers a client of another game or build, which has the protocol_id `other`.
static enum hc_status reply_version(struct hc_sv_host *host, const struct hc_address *from,
                                    const uint8_t nonce[static HC_NONCE_SIZE], uint64_t other) {
    struct hc_version version = {.protocol_id = host->protocol_id};
    uint8_t reply[HC_DATAGRAM_MAX];
    host->stats.other_builds++;
    host->stats.other_build =
        (struct hc_server_other_build){.address = *from, .protocol_id = other};
    memcpy(version.client_nonce, nonce, HC_NONCE_SIZE);
    hc_sv_outbox_reply(&host->outbox, from, reply, hc_datagram_put_version(&version, reply));
    return HC_OK;
}

static enum hc_status receive_hello(struct hc_sv_host *host, const struct hc_address *from,
                                    const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_hello hello;
    enum hc_status status = hc_datagram_get_hello(bytes, size, &hello);
    if (status != HC_OK && status != HC_UNEXPECTED)
        return status;
    if (status == HC_UNEXPECTED || hello.protocol_id != host->protocol_id)
        return reply_version(host, from, hello.client_nonce, hello.protocol_id);
    uint8_t reply[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie = {.slot = hc_cookie_slot(now_us)};
    memcpy(cookie.client_nonce, hello.client_nonce, HC_NONCE_SIZE);
    hc_cookie_make(&host->jar, cookie.slot, from, hello.client_nonce, cookie.cookie);
    hc_sv_outbox_reply(&host->outbox, from, reply, hc_datagram_put_cookie(&cookie, reply));
    return HC_OK;
}

/// Denies the attempt. A proven attempt's DENY is authenticated by the token's secret; any other is
/// a hint.
static enum hc_status deny(struct hc_sv_host *host, const struct hc_address *from,
                           const struct attempt *attempt, enum hc_deny_reason reason,
                           uint32_t retry_ms) {
    struct hc_deny deny = {.reason = reason, .retry_ms = retry_ms};
    uint8_t reply[HC_DATAGRAM_MAX];
    bool games = reason >= HC_DENY_GAME;
    struct hc_server_denials *denials = &host->stats.denials[games ? HC_DENY_REFUSED : reason];
    host->stats.denied++;
    denials->count++;
    denials->address = *from;
    denials->proven = attempt->proven;
    denials->client_id = attempt->proven ? attempt->token.client_id : 0;
    memcpy(deny.client_nonce, attempt->connect.client_nonce, HC_NONCE_SIZE);
    size_t size = hc_datagram_put_deny(&deny, reply);
    if (attempt->proven)
        hc_token_put_deny_mac(attempt->token.secret, reply);
    hc_sv_outbox_reply(&host->outbox, from, reply, size);
    return HC_OK;
}

/// Exchanges ephemeral keys with a client. This takes more time than all checks of the attempt, so
/// it follows them. HC_MALFORMED: the client's key is invalid.
static enum hc_status exchange_keys(struct hc_sv_host *host, struct attempt *attempt) {
    uint8_t secret[HC_EXCHANGE_KEY_SIZE];
    HC_ASSERT(attempt->proven);
    hc_sv_host_unpredictable(host, secret, sizeof secret);
    hc_seal_public(secret, attempt->server_key);
    enum hc_status status = hc_seal_exchange(secret, attempt->connect.client_key, attempt->shared);
    sodium_memzero(secret, sizeof secret);
    return status;
}

/// Derives the keys of the attempt's connection.
static void derive_keys(const struct hc_sv_host *host, const struct attempt *attempt, uint32_t cid,
                        struct hc_seal_keys *keys) {
    struct hc_seal_material material = {.protocol_id = host->protocol_id, .cid = cid};
    memcpy(material.secret, attempt->token.secret, sizeof material.secret);
    memcpy(material.token, attempt->connect.token, sizeof material.token);
    memcpy(material.client_nonce, attempt->connect.client_nonce, HC_NONCE_SIZE);
    memcpy(material.server_nonce, attempt->server_nonce, HC_NONCE_SIZE);
    memcpy(material.client_key, attempt->connect.client_key, sizeof material.client_key);
    memcpy(material.server_key, attempt->server_key, sizeof material.server_key);
    memcpy(material.shared, attempt->shared, sizeof material.shared);
    hc_seal_derive(&material, keys);
    sodium_memzero(&material, sizeof material);
}

/// Builds the ACCEPT of the peer's new connection.
static void build_accept(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct attempt *attempt, bool resumed, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_writer body = hc_bytes_writer(bytes + HC_ACCEPT_BODY_AT, HC_ACCEPT_BODY_MAX);
    struct hc_welcome welcome = {.tick_rate = host->world.tick_rate,
                                 .players = host->world.players,
                                 .seed = host->world.seed,
                                 .history = host->config.history,
                                 .future = host->test.future,
                                 .late_limit = host->config.history,
                                 .tick = hc_timeline_head(host->timeline),
                                 .phase_us = hc_sv_schedule_phase_us(
                                     &host->schedule, hc_timeline_head(host->timeline), now_us),
                                 .own_count = peer->replication.own_count,
                                 .resumed = resumed};
    memcpy(welcome.own, peer->replication.own, sizeof peer->replication.own);
    hc_seal_reset_token(&host->config.keys.keys[0], peer->connection.cid, host->config.audience,
                        &peer->address, welcome.reset_token);
    bool fits = hc_message_put_welcome(&body, &welcome);
    HC_ASSERT(fits);
    struct hc_accept accept = {
        .cid = peer->connection.cid, .body = bytes + HC_ACCEPT_BODY_AT, .body_size = body.at};
    memcpy(accept.client_nonce, peer->client_nonce, HC_NONCE_SIZE);
    memcpy(accept.server_key, attempt->server_key, sizeof accept.server_key);
    memcpy(accept.server_nonce, attempt->server_nonce, sizeof accept.server_nonce);
    size_t size = hc_datagram_put_accept(&accept, bytes);
    HC_ASSERT(size == sizeof peer->accept);
    hc_seal_accept(&peer->connection.sealer, bytes, size);
    memcpy(peer->accept, bytes, size);
    peer->accept_repeated = false;
}

static enum hc_status reply_accept(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    hc_sv_outbox_reply(&host->outbox, &peer->address, peer->accept, sizeof peer->accept);
    return HC_OK;
}

/// Draws an unpredictable cid for the peer.
static uint32_t draw_cid(struct hc_sv_host *host, const struct hc_sv_peer *peer, uint64_t now_us) {
    uint32_t cid = 0;
    while (cid == 0) {
        uint8_t bytes[4];
        hc_sv_host_unpredictable(host, bytes, sizeof bytes);
        struct hc_reader reader = hc_bytes_reader(bytes, sizeof bytes);
        cid = hc_sv_clients_cid(&host->clients, peer, hc_bytes_get_u32(&reader), now_us);
    }
    return cid;
}

/// When the token's session began; `now_s` if the token opens a new one.
static uint64_t session_begun_s(const struct hc_token *token, uint64_t now_s) {
    uint64_t begun_s = now_s;
    if (token->kind == HC_TOKEN_RESUME)
        begun_s = hc_token_begun_s(token->token_id);
    return begun_s < now_s ? begun_s : now_s;
}

/// Copies the user from a token.
static void set_user(struct hc_sv_host *host, struct hc_sv_peer *peer, const struct hc_token *token,
                     uint64_t now_us) {
    uint64_t now_s = hc_sv_host_unix_s(host, now_us), life_s = host->config.session_life_s;
    peer->user.begun_s = session_begun_s(token, now_s);
    uint64_t left_s = hc_since(now_s, peer->user.begun_s + life_s);
    peer->user.end_us = life_s == 0 ? 0 : now_us + left_s * SECOND_US;
    uint64_t ticket = hc_sv_spent_ticket(&host->spent, token->client_id);
    if (ticket > peer->user.ticket)
        peer->user.ticket = ticket;
    peer->user.players = token->players;
    peer->user.watch = token->watch;
    peer->user.by_ticket = token->kind == HC_TOKEN_RESUME;
    peer->user.client_id = token->client_id;
    memcpy(peer->user.token_id, token->token_id, sizeof peer->user.token_id);
    memcpy(peer->user.name, token->name, sizeof peer->user.name);
    memcpy(peer->user.user_data, token->user_data, sizeof peer->user.user_data);
}

/// Marks the token as used; check_attempt has allowed its use.
static void use_token(struct hc_sv_host *host, const struct attempt *attempt, uint64_t now_us) {
    bool used =
        hc_sv_spent_use(&host->spent, &attempt->token, hc_sv_host_unix_s(host, now_us), now_us);
    HC_ASSERT(used);
}

/// Gives the peer a new connection with keys of its own.
static void connect_peer(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, struct attempt *attempt, uint64_t now_us) {
    struct hc_seal_keys keys;
    uint32_t cid = draw_cid(host, peer, now_us);
    hc_sv_host_unpredictable(host, attempt->server_nonce, sizeof attempt->server_nonce);
    derive_keys(host, attempt, cid, &keys);
    hc_sv_peer_connect(peer, cid, &keys, attempt->connect.extrapolations, host->config.client_rate,
                       from, attempt->connect.client_nonce, now_us);
    hc_sv_clients_connected(&host->clients, peer, attempt->token.client_id, from);
    sodium_memzero(&keys, sizeof keys);
    set_user(host, peer, &attempt->token, now_us);
}

static enum hc_status admit(struct hc_sv_host *host, const struct hc_address *from,
                            struct attempt *attempt, uint64_t now_us) {
    hc_player taken[HC_OWN_PLAYERS_MAX] = {0};
    struct hc_sv_peer *peer = hc_sv_clients_find_free(&host->clients);
    unsigned found = hc_sv_players_find(&host->clients.players, attempt->connect.players, taken);
    HC_ASSERT(peer != NULL && found == attempt->connect.players); // see hc_sv_clients_have_room
    use_token(host, attempt, now_us);
    hc_sv_spent_begin(&host->spent, attempt->token.client_id);
    hc_sv_players_assign(&host->clients.players, hc_sv_clients_place(&host->clients, peer),
                         attempt->connect.players, taken);
    hc_sv_peer_open(peer);
    connect_peer(host, peer, from, attempt, now_us);
    peer->user.begun_elsewhere = attempt->token.kind == HC_TOKEN_RESUME;
    peer->replication.own_count = attempt->connect.players;
    memcpy(peer->replication.own, taken, sizeof taken);
    build_accept(host, peer, attempt, false, now_us);
    host->stats.joins++;
    hc_sv_program_joined(&host->program, peer);
    return reply_accept(host, peer);
}

/// The players of the peer have another name from now on.
static void rename_players(struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    const struct hc_sv_client *client = &peer->replication;
    for (unsigned i = 0; i < client->own_count; i++)
        if (hc_sv_clients_plays(&host->clients, peer, client->own[i]))
            hc_sv_players_named(&host->clients.players, client->own[i],
                                hc_timeline_head(host->timeline));
}

/// Gives a known client a new connection, which replaces its present or lost one.
static enum hc_status reconnect(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                const struct hc_address *from, struct attempt *attempt,
                                uint64_t now_us) {
    // Only a client that continues its last connection resumes the session: another process of the
    // same user begins a new one.
    bool resumed = attempt->continues.cid != 0;
    use_token(host, attempt, now_us);
    if (peer->state == HC_SV_PEER_PLAYING)
        hc_sv_clients_ended(&host->clients, peer, false, false, now_us);
    if (!resumed) {
        hc_sv_program_drop(&host->program, peer);
        hc_events_channel_begin(&peer->messages);
    }
    HC_MARK("client-reconnected");
    // The client begins at the tick of WELCOME, so it sends no inputs for earlier ticks.
    for (unsigned i = 0; i < peer->replication.own_count; i++)
        if (hc_sv_clients_plays(&host->clients, peer, peer->replication.own[i]))
            hc_sv_receive_force(host, peer, peer->replication.own[i],
                                hc_timeline_head(host->timeline));
    if (memcmp(peer->user.name, attempt->token.name, sizeof peer->user.name) != 0)
        rename_players(host, peer);
    connect_peer(host, peer, from, attempt, now_us);
    build_accept(host, peer, attempt, resumed, now_us);
    host->stats.resumed++;
    hc_sv_program_changed(&host->program, peer, HC_SERVER_EVENT_RECONNECTED);
    peer->former = attempt->continues;
    return reply_accept(host, peer);
}

/// The connection of the client that a CONNECT of `bytes` proves to continue: the present one, or,
/// while no DATA has shown that the client has that, the one before. cid 0: none.
static struct hc_sv_former find_continued(const struct hc_sv_peer *client,
                                          const struct hc_connect *connect, const uint8_t *bytes) {
    struct hc_sv_former found = client->former;
    if (connect->continues == client->connection.cid) {
        found.cid = connect->continues;
        memcpy(found.continue_key, client->connection.continue_key, sizeof found.continue_key);
    }
    bool proven = connect->continues != 0 && connect->continues == found.cid &&
                  hc_seal_continue_proof_holds(found.continue_key, bytes);
    return proven ? found : (struct hc_sv_former){0};
}

/// Whether the token and the server allow the requested number of players; 0: to watch.
static bool is_allowed(const struct hc_sv_host *host, const struct attempt *attempt) {
    unsigned players = attempt->connect.players;
    if (players == 0)
        return attempt->token.watch && host->config.spectators > 0;
    return players <= attempt->token.players && players <= host->config.players_per_client;
}

/// Checks the name, the token, the limits and the room for a proven attempt. HC_OK: the attempt
/// counts for its address. Otherwise `*reason` is the reason to deny it; HC_FULL: the client may
/// try again.
static enum hc_status check_attempt(struct hc_sv_host *host, const struct hc_address *from,
                                    const struct attempt *attempt, const struct hc_sv_peer *known,
                                    bool own, uint64_t now_us, enum hc_deny_reason *reason) {
    *reason = HC_DENY_NAME;
    if (!hc_sv_users_name_is_valid(attempt->token.name))
        return HC_INVALID;
    // A token can open its own session again as long as the session lasts.
    *reason = hc_sv_spent_check(&host->spent, &attempt->token, own, now_us);
    if (*reason != 0)
        return *reason == HC_DENY_USED || *reason == HC_DENY_OUTDATED ? HC_INVALID : HC_FULL;
    *reason = HC_DENY_LIMIT;
    if (hc_sv_clients_address_is_full(&host->clients, from, known))
        return HC_FULL;
    *reason = HC_DENY_FULL;
    if (known == NULL && host->overload.level >= HC_SERVER_OVERLOAD_REFUSE) {
        host->stats.overload.joins++;
        return HC_FULL;
    }
    bool resumes = known != NULL && known->replication.own_count == attempt->connect.players;
    if (!resumes && !hc_sv_program_has_room(&host->program))
        return HC_FULL;
    *reason = attempt->connect.players == 0 ? HC_DENY_SPECTATORS : HC_DENY_FULL;
    if (!hc_sv_clients_have_room(&host->clients, known, attempt->connect.players,
                                 host->config.spectators))
        return HC_FULL;
    *reason = known == NULL ? hc_sv_users_admit(host, &attempt->token, from) : 0;
    if (*reason != 0)
        return HC_INVALID;
    // This check is last, because a denied attempt does not count: a CONNECT that somebody repeats
    // takes nothing from other clients at its address.
    *reason = HC_DENY_RATE;
    if (attempt->token.kind == HC_TOKEN_RESUME) // its user was admitted, and has a limit of its own
        return HC_OK;
    return hc_sv_address_limit_take(&host->rate, from, host->config.connects_per_address, now_us)
               ? HC_OK
               : HC_FULL;
}

/// Whether the token was issued, or its session began, too long ago.
static bool is_outdated(const struct hc_sv_host *host, const struct hc_token *token,
                        uint64_t now_us) {
    uint64_t now_s = hc_sv_host_unix_s(host, now_us), begun = session_begun_s(token, now_s);
    bool over =
        host->config.session_life_s != 0 && hc_since(begun, now_s) >= host->config.session_life_s;
    return over || begun < host->refused.not_before_s ||
           token->issued_s < host->refused.not_before_s;
}

/// Sends the ACCEPT of an admitted attempt again, without checking the attempt again. An attempt
/// has one connection and one ACCEPT at any address: with two, the client might use the one that
/// the server has replaced.
static enum hc_status resend_accept(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                    const struct hc_address *from, const struct attempt *attempt) {
    bool moves = !hc_address_equal(&peer->address, from);
    if (moves && peer->connection.replay.newest > 0)
        return HC_DUPLICATE; // a late one: the client's DATA show its address
    if (moves && hc_sv_clients_address_is_full(&host->clients, from, peer))
        return deny(host, from, attempt, HC_DENY_LIMIT, RETRY_MS);
    HC_MARK("accept-sent-again");
    hc_sv_clients_move(&host->clients, peer, from);
    return reply_accept(host, peer);
}

/// When a client that is denied for a limit or for want of room may try again; 0: never.
static uint32_t retry_ms(enum hc_deny_reason reason) {
    bool passes = reason == HC_DENY_FULL || reason == HC_DENY_LIMIT || reason == HC_DENY_RATE ||
                  reason == HC_DENY_SPECTATORS;
    return passes ? RETRY_MS : 0;
}

/// Answers an attempt whose client knows the token's secret; `opened` is the result of
/// hc_token_open.
static enum hc_status receive_proven(struct hc_sv_host *host, const struct hc_address *from,
                                     struct attempt *attempt, const uint8_t *bytes,
                                     enum hc_status opened, uint64_t now_us) {
    const struct hc_connect *connect = &attempt->connect;
    uint64_t client_id = attempt->token.client_id;
    enum hc_deny_reason reason;
    struct hc_sv_peer *known = hc_sv_clients_of_user(&host->clients, client_id);
    if (known != NULL)
        attempt->continues = find_continued(known, connect, bytes);
    bool continues = attempt->continues.cid != 0;
    bool connected = known != NULL && known->state == HC_SV_PEER_PLAYING;
    bool own = known != NULL &&
               memcmp(known->user.token_id, attempt->token.token_id, HC_TOKEN_ID_SIZE) == 0;
    if (connected && own && memcmp(known->client_nonce, connect->client_nonce, HC_NONCE_SIZE) == 0)
        return resend_accept(host, known, from, attempt);
    if (opened != HC_OK)
        return deny(host, from, attempt, opened == HC_TOO_OLD ? HC_DENY_EXPIRED : HC_DENY_AUDIENCE,
                    0);
    if (!is_allowed(host, attempt))
        return deny(host, from, attempt, HC_DENY_PLAYERS, 0);
    if (host->shutting_down)
        return deny(host, from, attempt, HC_DENY_SHUTDOWN, host->restart_ms);
    if (hc_sv_refused_has(&host->refused, client_id))
        return deny(host, from, attempt, HC_DENY_REFUSED, 0);
    if (is_outdated(host, &attempt->token, now_us))
        return deny(host, from, attempt, HC_DENY_EXPIRED, 0);
    if (hc_sv_clients_has_ended(&host->clients, client_id, connect->client_nonce, now_us))
        return HC_DUPLICATE; // a late one, or of an attempt that another one replaced
    if (connect->continues != 0 && known != NULL && !continues &&
        hc_limit_exceeds(&known->unproven_us, SECOND_US, HC_CONNECTS_AT_ONCE * SECOND_US, now_us))
        return deny(host, from, attempt, HC_DENY_RATE, RETRY_MS);
    if (connected && hc_since(known->connection.received_us, now_us) < HC_CONNECTED_US &&
        !continues)
        return deny(host, from, attempt, HC_DENY_CONNECTED, HC_CONNECTED_US / 1000);
    if (attempt->denied != 0)
        return deny(host, from, attempt, attempt->denied, retry_ms(attempt->denied));
    enum hc_status status = check_attempt(host, from, attempt, known, own, now_us, &reason);
    if (status != HC_OK)
        return deny(host, from, attempt, reason, retry_ms(reason));
    status = exchange_keys(host, attempt);
    if (status != HC_OK)
        return status;
    if (known != NULL && known->replication.own_count == connect->players)
        return reconnect(host, known, from, attempt, now_us);
    if (known != NULL)
        hc_sv_host_drop(host, known, HC_SERVER_EVENT_LEFT, HC_SV_END_REPLACED,
                        &(struct hc_close){.reason = HC_CLOSE_LEFT}, now_us);
    return admit(host, from, attempt, now_us);
}

/// Whether a token is of another match of the port. A ticket of a match that the port no longer has
/// is of no match: its server was started again with fewer.
static bool is_of_another_match(const struct hc_sv_host *host, const struct hc_token *token) {
    uint32_t matches = host->config.matches != 0 ? host->config.matches : HC_MATCH_MAX;
    if (host->config.match == 0)
        matches = 0;
    if (token->kind == HC_TOKEN_RESUME && token->match > matches)
        return false;
    return token->match != 0 && token->match != host->config.match;
}

/// Answers a CONNECT; `denied`: the program denies it for this reason, 0: it does not.
static enum hc_status receive_connect(struct hc_sv_host *host, const struct hc_address *from,
                                      const uint8_t *bytes, size_t size, enum hc_deny_reason denied,
                                      uint64_t now_us) {
    struct attempt attempt = {.denied = denied};
    const struct hc_connect *connect = &attempt.connect;
    enum hc_status status = hc_datagram_get_connect(bytes, size, &attempt.connect);
    if (status != HC_OK && status != HC_INVALID) // HC_INVALID: too many players
        return status;
    if (connect->protocol_id != host->protocol_id)
        return reply_version(host, from, connect->client_nonce, connect->protocol_id);
    status = hc_cookie_check(&host->jar, now_us, connect->slot, from, connect->client_nonce,
                             connect->cookie);
    if (status != HC_OK)
        return status;
    enum hc_status opened =
        hc_token_open(&host->config.keys, host->protocol_id, host->config.audience,
                      hc_sv_host_unix_s(host, now_us), connect->token, &attempt.token);
    if (opened != HC_OK && opened != HC_TOO_OLD && opened != HC_INVALID)
        return deny(host, from, &attempt, HC_DENY_TOKEN, 0);
    if (opened == HC_OK && is_of_another_match(host, &attempt.token))
        opened = HC_INVALID;
    status = hc_token_check_proof(attempt.token.secret, bytes);
    attempt.proven = status == HC_OK;
    if (!attempt.proven)
        host->stats.unproven++;
    else
        status = receive_proven(host, from, &attempt, bytes, opened, now_us);
    sodium_memzero(&attempt, sizeof attempt);
    return status;
}

/// Whether a RESET may be sent to an address now; counts it if so. RESETs over an address's own
/// limit do not count for the limit of all addresses.
static bool take_reset(struct hc_sv_host *host, const struct hc_address *to, uint64_t now_us) {
    const uint64_t cost_us = SECOND_US / HC_RESETS_PER_S;
    uint64_t all_us = host->resets_us;
    if (hc_sv_outbox_is_crowded(&host->outbox) ||
        hc_limit_exceeds(&all_us, cost_us, HC_SV_RESETS_US, now_us) ||
        !hc_sv_address_limit_take(&host->reset_rate, to, HC_RESETS_PER_ADDRESS, now_us))
        return false;
    host->resets_us = all_us;
    return true;
}

void hc_sv_handshake_reset(struct hc_sv_host *host, const struct hc_address *from, uint32_t cid,
                           uint32_t seq, uint64_t now_us) {
    const struct hc_token_ring *keys = &host->config.keys;
    struct hc_reset reset = {.cid = cid};
    if (!take_reset(host, from, now_us))
        return;
    const struct hc_sv_ended *ended = hc_sv_clients_find_ended(&host->clients, cid, now_us);
    if (ended != NULL && ended->left) { // it repeats its CLOSE, and another client took the place
        HC_MARK("close-repeated-after-place-taken");
        return;
    }
    uint8_t reply[HC_DATAGRAM_MAX];
    host->stats.resets++;
    // The client's reset token may be of either key. A RESET carries one, so the keys take turns.
    hc_seal_reset_token(&keys->keys[seq % keys->count], cid, host->config.audience, from,
                        reset.token);
    hc_sv_outbox_reply(&host->outbox, from, reply, hc_datagram_put_reset(&reset, reply));
}

enum hc_status hc_sv_handshake_receive(struct hc_sv_host *host, const struct hc_address *from,
                                       const uint8_t *bytes, size_t size,
                                       enum hc_deny_reason denied, uint64_t now_us) {
    enum hc_datagram_kind kind = hc_datagram_kind(bytes, size);
    if (kind != HC_DATAGRAM_HELLO && kind != HC_DATAGRAM_CONNECT)
        return HC_MALFORMED;
    if (!can_reply(host))
        return HC_FULL;
    return kind == HC_DATAGRAM_HELLO ? receive_hello(host, from, bytes, size, now_us)
                                     : receive_connect(host, from, bytes, size, denied, now_us);
}
