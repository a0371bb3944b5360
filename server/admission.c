/// The verdicts on CONNECTs, and the tokens that the server makes.
#include "server/admission.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/limit.h"
#include "hindcast/check.h"
#include "proto/name.h"

#include <sodium.h>
#include <string.h>

enum {
    RETRY_MS = 2000, ///< when a client may try again at a full server
    SECOND_US = 1000000,
    RESETS_US = 50000, ///< the burst of all RESETs
};

/// The users whose used tokens are remembered.
static uint32_t remembered(const struct hc_server_config *config, unsigned places) {
    uint32_t users = HC_REMEMBERED_EACH * (uint32_t)places;
    return users > config->remembered_users ? users : config->remembered_users;
}

size_t hc_sv_admission_memory(const struct hc_server_config *config, unsigned places) {
    struct hc_sv_spent spent;
    return hc_sv_spent_layout(&spent, remembered(config, places), NULL);
}

/// Draws the cookies' secret, which stays in memory: nothing else can be derived from it.
static void init_jar(struct hc_sv_admission *admission) {
    uint8_t drawn[HC_COOKIE_SECRET_SIZE];
    const uint8_t *shared = admission->config->cookie_secret;
    hc_ratchet_draw(admission->ratchet, drawn, sizeof drawn);
    hc_cookie_init(&admission->jar, shared != NULL ? shared : drawn);
    sodium_memzero(drawn, sizeof drawn);
}

bool hc_sv_admission_init(struct hc_sv_admission *admission, const struct hc_server_config *config,
                          uint64_t protocol_id, unsigned places, struct hc_ratchet *ratchet) {
    uint64_t seed;
    memset(admission, 0, sizeof *admission);
    admission->config = config;
    admission->ratchet = ratchet;
    admission->protocol_id = protocol_id;
    admission->keys = config->keys;
    init_jar(admission);
    hc_ratchet_draw(ratchet, (uint8_t *)&seed, sizeof seed);
    admission->connects.seed = admission->resets.seed = admission->spent.seed = seed;
    uint32_t users = remembered(config, places);
    admission->spent_memory =
        hc_allocate(config->allocator, hc_sv_spent_layout(&admission->spent, users, NULL));
    if (admission->spent_memory == NULL)
        return false;
    hc_sv_spent_layout(&admission->spent, users, admission->spent_memory);
    return true;
}

void hc_sv_admission_free(struct hc_sv_admission *admission) {
    if (admission->config != NULL)
        hc_release(admission->config->allocator, admission->spent_memory);
    sodium_memzero(admission, sizeof *admission);
}

void hc_sv_admission_follow(struct hc_sv_admission *admission,
                            const struct hc_sv_admission *before) {
    hc_sv_spent_copy(&admission->spent, &before->spent);
    admission->refused = before->refused;
    admission->unix_time = before->unix_time;
}

/// Unix time in microseconds.
static uint64_t unix_us(const struct hc_sv_admission *admission, uint64_t now_us) {
    return hc_unix_time_us(&admission->unix_time, now_us);
}

/// Unix time in seconds.
static uint64_t unix_s(const struct hc_sv_admission *admission, uint64_t now_us) {
    return unix_us(admission, now_us) / SECOND_US;
}

// ---- Rules that change --------------------------------------------------------------------------

void hc_sv_admission_set_time(struct hc_sv_admission *admission, uint64_t unix_us,
                              uint64_t now_us) {
    hc_unix_time_read(&admission->unix_time, unix_us, now_us);
}

void hc_sv_admission_set_keys(struct hc_sv_admission *admission, const struct hc_token_ring *keys) {
    HC_ASSERT(keys->count >= 1 && keys->count <= 2);
    admission->keys = *keys;
}

enum hc_status hc_sv_admission_set_refused(struct hc_sv_admission *admission,
                                           const uint64_t *client_ids, uint32_t count,
                                           uint64_t not_before_s) {
    struct hc_sv_refused *refused = &admission->refused;
    if (count > HC_SERVER_REFUSED_MAX)
        return HC_INVALID;
    for (uint32_t i = 1; i < count; i++)
        if (client_ids[i - 1] > client_ids[i])
            return HC_INVALID;
    refused->count = count;
    refused->not_before_s = not_before_s;
    for (uint32_t i = 0; i < count; i++)
        refused->client_ids[i] = client_ids[i];
    return HC_OK;
}

void hc_sv_admission_close(struct hc_sv_admission *admission, uint32_t restart_ms) {
    admission->is_closed = true;
    admission->restart_ms = restart_ms;
}

// ---- Verdicts -----------------------------------------------------------------------------------

/// When a client that is denied for a limit or for want of room may try again; 0: never.
static uint32_t retry_ms(enum hc_deny_reason reason) {
    bool passes = reason == HC_DENY_FULL || reason == HC_DENY_LIMIT || reason == HC_DENY_RATE ||
                  reason == HC_DENY_SPECTATORS;
    return passes ? RETRY_MS : 0;
}

static struct hc_sv_verdict denied(enum hc_deny_reason reason) {
    return (struct hc_sv_verdict){
        .kind = HC_SV_VERDICT_DENIED, .reason = reason, .retry_ms = retry_ms(reason)};
}

static struct hc_sv_verdict denied_for(enum hc_deny_reason reason, uint32_t retry_ms) {
    return (struct hc_sv_verdict){
        .kind = HC_SV_VERDICT_DENIED, .reason = reason, .retry_ms = retry_ms};
}

static struct hc_sv_verdict dropped(enum hc_status status) {
    return (struct hc_sv_verdict){.kind = HC_SV_VERDICT_DROPPED, .status = status};
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
static bool is_allowed(const struct hc_sv_admission *admission,
                       const struct hc_sv_attempt *attempt) {
    unsigned players = attempt->connect.players;
    if (players == 0)
        return attempt->token.watch && admission->config->spectators > 0;
    return players <= attempt->token.players && players <= admission->config->players_per_client;
}

/// When the token's session began; `now_s` if the token opens a new one.
static uint64_t session_begun_s(const struct hc_token *token, uint64_t now_s) {
    uint64_t begun_s = now_s;
    if (token->kind == HC_TOKEN_RESUME)
        begun_s = hc_token_begun_s(token->token_id);
    return begun_s < now_s ? begun_s : now_s;
}

/// Whether the token was issued, or its session began, too long ago.
static bool is_outdated(const struct hc_sv_admission *admission, const struct hc_token *token,
                        uint64_t now_us) {
    uint64_t now_s = unix_s(admission, now_us), begun = session_begun_s(token, now_s);
    uint64_t life_s = admission->config->session_life_s;
    return (life_s != 0 && hc_since(begun, now_s) >= life_s) ||
           begun < admission->refused.not_before_s ||
           token->issued_s < admission->refused.not_before_s;
}

/// The game's decision about the user of a token, see hc_server_config.admit; 0 admits it.
static enum hc_deny_reason ask_game(const struct hc_server_config *config,
                                    const struct hc_token *token, const struct hc_address *from) {
    struct hc_server_user user = {
        .client_id = token->client_id, .players = token->players, .watch = token->watch};
    if (config->admit == NULL)
        return 0;
    memcpy(user.name, token->name, sizeof user.name);
    memcpy(user.user_data, token->user_data, sizeof user.user_data);
    enum hc_deny_reason reason = config->admit(config->admit_context, &user, from);
    HC_ASSERT(reason == 0 || hc_datagram_is_deny_reason(reason));
    return reason;
}

static const struct hc_sv_verdict admitted = {.kind = HC_SV_VERDICT_ADMITTED};

/// Checks the name, the token, the limits and the room for a proven attempt. An admitted one counts
/// for its address. `own`: its token has opened the client's present session.
static struct hc_sv_verdict check_attempt(struct hc_sv_admission *admission,
                                          struct hc_sv_clients *clients,
                                          const struct hc_sv_asked *asked,
                                          const struct hc_sv_attempt *attempt, bool own) {
    const struct hc_server_config *config = admission->config;
    const struct hc_sv_peer *known = attempt->known;
    unsigned players = attempt->connect.players;
    if (!hc_sv_admission_takes_name(attempt->token.name))
        return denied(HC_DENY_NAME);
    // A token can open its own session again as long as the session lasts.
    enum hc_deny_reason reason =
        hc_sv_spent_check(&admission->spent, &attempt->token, own, asked->now_us);
    if (reason != 0)
        return denied(reason);
    if (hc_sv_clients_address_is_full(clients, asked->from, known))
        return denied(HC_DENY_LIMIT);
    if (known == NULL && asked->is_overloaded) {
        struct hc_sv_verdict verdict = denied(HC_DENY_FULL);
        verdict.by_overload = true;
        return verdict;
    }
    bool resumes = known != NULL && known->replication.own_count == players;
    if (!resumes && asked->has_no_events)
        return denied(HC_DENY_FULL);
    if (!hc_sv_clients_have_room(clients, known, players, config->spectators))
        return denied(players == 0 ? HC_DENY_SPECTATORS : HC_DENY_FULL);
    reason = known == NULL ? ask_game(config, &attempt->token, asked->from) : 0;
    if (reason != 0)
        return denied(reason);
    // This check is last, because a denied attempt does not count: a CONNECT that somebody repeats
    // takes nothing from other clients at its address.
    if (attempt->token.kind == HC_TOKEN_RESUME) // its user was admitted, and has a limit of its own
        return admitted;
    return hc_sv_address_limit_take(&admission->connects, asked->from, config->connects_per_address,
                                    asked->now_us)
               ? admitted
               : denied(HC_DENY_RATE);
}

/// Decides about an attempt that has a connection, without checking it again. It has one connection
/// and one ACCEPT at any address: with two, the client might use the one that the server has
/// replaced.
static struct hc_sv_verdict judge_again(struct hc_sv_clients *clients,
                                        const struct hc_address *from,
                                        const struct hc_sv_peer *peer) {
    bool moves = !hc_address_equal(&peer->address, from);
    if (moves && peer->connection.received.newest > 0)
        return dropped(HC_DUPLICATE); // a late one: the client's DATA show its address
    if (moves && hc_sv_clients_address_is_full(clients, from, peer))
        return denied(HC_DENY_LIMIT);
    return (struct hc_sv_verdict){.kind = HC_SV_VERDICT_AGAIN};
}

/// Decides about an attempt whose client knows the token's secret; `opened` is the result of
/// hc_token_open.
static struct hc_sv_verdict judge_proven(struct hc_sv_admission *admission,
                                         struct hc_sv_clients *clients,
                                         const struct hc_sv_asked *asked, enum hc_status opened,
                                         struct hc_sv_attempt *attempt) {
    const struct hc_connect *connect = &attempt->connect;
    uint64_t client_id = attempt->token.client_id, now_us = asked->now_us;
    struct hc_sv_peer *known = attempt->known = hc_sv_clients_of_user(clients, client_id);
    if (known != NULL)
        attempt->continues = find_continued(known, connect, asked->bytes);
    bool continues = attempt->continues.cid != 0;
    bool connected = known != NULL && known->state == HC_SV_PEER_PLAYING;
    bool own = known != NULL &&
               memcmp(known->user.token_id, attempt->token.token_id, HC_TOKEN_ID_SIZE) == 0;
    if (connected && own && memcmp(known->client_nonce, connect->client_nonce, HC_NONCE_SIZE) == 0)
        return judge_again(clients, asked->from, known);
    if (opened != HC_OK)
        return denied(opened == HC_TOO_OLD ? HC_DENY_EXPIRED : HC_DENY_AUDIENCE);
    if (!is_allowed(admission, attempt))
        return denied(HC_DENY_PLAYERS);
    if (admission->is_closed)
        return denied_for(HC_DENY_SHUTDOWN, admission->restart_ms);
    if (hc_sv_refused_has(&admission->refused, client_id))
        return denied(HC_DENY_REFUSED);
    if (is_outdated(admission, &attempt->token, now_us))
        return denied(HC_DENY_EXPIRED);
    if (hc_sv_clients_has_ended(clients, client_id, connect->client_nonce, now_us))
        return dropped(HC_DUPLICATE); // a late one, or of an attempt that another one replaced
    if (connect->continues != 0 && known != NULL && !continues &&
        hc_limit_exceeds(&known->unproven_us, SECOND_US, HC_CONNECTS_AT_ONCE * SECOND_US, now_us))
        return denied(HC_DENY_RATE);
    if (connected && hc_since(known->connection.received_us, now_us) < HC_CONNECTED_US &&
        !continues)
        return denied_for(HC_DENY_CONNECTED, HC_CONNECTED_US / 1000);
    if (asked->denied != 0)
        return denied(asked->denied);
    return check_attempt(admission, clients, asked, attempt, own);
}

/// Whether a token is of another match of the port. A ticket of a match that the port no longer has
/// is of no match: its server was started again with fewer.
static bool is_of_another_match(const struct hc_server_config *config,
                                const struct hc_token *token) {
    uint32_t matches = config->matches != 0 ? config->matches : HC_MATCH_MAX;
    if (config->match == 0)
        matches = 0;
    if (token->kind == HC_TOKEN_RESUME && token->match > matches)
        return false;
    return token->match != 0 && token->match != config->match;
}

struct hc_sv_verdict hc_sv_admission_judge(struct hc_sv_admission *admission,
                                           struct hc_sv_clients *clients,
                                           const struct hc_sv_asked *asked,
                                           struct hc_sv_attempt *attempt) {
    const struct hc_server_config *config = admission->config;
    const struct hc_connect *connect = &attempt->connect;
    memset(attempt, 0, sizeof *attempt);
    enum hc_status status = hc_datagram_get_connect(asked->bytes, asked->size, &attempt->connect);
    if (status != HC_OK && status != HC_INVALID) // HC_INVALID: too many players
        return dropped(status);
    if (connect->protocol_id != admission->protocol_id)
        return (struct hc_sv_verdict){.kind = HC_SV_VERDICT_OTHER_BUILD};
    status = hc_cookie_check(&admission->jar, asked->now_us, connect->slot, asked->from,
                             connect->client_nonce, connect->cookie);
    if (status != HC_OK)
        return dropped(status);
    enum hc_status opened =
        hc_token_open(&admission->keys, admission->protocol_id, config->audience,
                      unix_s(admission, asked->now_us), connect->token, &attempt->token);
    if (opened != HC_OK && opened != HC_TOO_OLD && opened != HC_INVALID)
        return denied(HC_DENY_TOKEN);
    if (opened == HC_OK && is_of_another_match(config, &attempt->token))
        opened = HC_INVALID;
    status = hc_token_check_proof(attempt->token.secret, asked->bytes);
    attempt->proven = status == HC_OK;
    if (!attempt->proven) {
        struct hc_sv_verdict verdict = dropped(status);
        verdict.by_proof = true;
        return verdict;
    }
    return judge_proven(admission, clients, asked, opened, attempt);
}

// ---- Attempts -----------------------------------------------------------------------------------

void hc_sv_admission_put_cookie(struct hc_sv_admission *admission, const struct hc_address *from,
                                const uint8_t client_nonce[static HC_NONCE_SIZE],
                                struct hc_datagram_cookie *cookie, uint64_t now_us) {
    cookie->slot = hc_cookie_slot(now_us);
    memcpy(cookie->client_nonce, client_nonce, HC_NONCE_SIZE);
    hc_cookie_make(&admission->jar, cookie->slot, from, client_nonce, cookie->cookie);
}

void hc_sv_admission_use(struct hc_sv_admission *admission, const struct hc_token *token,
                         uint64_t now_us) {
    bool used = hc_sv_spent_use(&admission->spent, token, unix_s(admission, now_us), now_us);
    HC_ASSERT(used); // its verdict has allowed its use
}

void hc_sv_admission_set_user(const struct hc_sv_admission *admission, struct hc_sv_user *user,
                              const struct hc_token *token, uint64_t now_us) {
    uint64_t now_s = unix_s(admission, now_us), life_s = admission->config->session_life_s;
    user->begun_s = session_begun_s(token, now_s);
    uint64_t left_s = hc_since(now_s, user->begun_s + life_s);
    user->end_us = life_s == 0 ? 0 : now_us + left_s * SECOND_US;
    uint64_t ticket = hc_sv_spent_ticket(&admission->spent, token->client_id);
    if (ticket > user->ticket)
        user->ticket = ticket;
    user->players = token->players;
    user->watch = token->watch;
    user->by_ticket = token->kind == HC_TOKEN_RESUME;
    user->client_id = token->client_id;
    memcpy(user->token_id, token->token_id, sizeof user->token_id);
    memcpy(user->name, token->name, sizeof user->name);
    memcpy(user->user_data, token->user_data, sizeof user->user_data);
}

bool hc_sv_admission_takes_reset(struct hc_sv_admission *admission, const struct hc_address *to,
                                 uint64_t now_us) {
    const uint64_t cost_us = SECOND_US / HC_RESETS_PER_S;
    uint64_t all_us = admission->resets_us;
    if (hc_limit_exceeds(&all_us, cost_us, RESETS_US, now_us) ||
        !hc_sv_address_limit_take(&admission->resets, to, HC_RESETS_PER_ADDRESS, now_us))
        return false;
    admission->resets_us = all_us;
    return true;
}

// ---- Sessions -----------------------------------------------------------------------------------

void hc_sv_admission_begin(struct hc_sv_admission *admission, uint64_t client_id) {
    hc_sv_spent_begin(&admission->spent, client_id);
}

/// Whether an end for this reason leaves a client its token and its tickets.
static bool keeps_tokens(enum hc_close_reason reason) {
    return reason == HC_CLOSE_LEFT || reason == HC_CLOSE_SHUTDOWN || reason == HC_CLOSE_TIMEOUT ||
           reason == HC_CLOSE_RESTARTING;
}

/// Voids the tickets of the user that were made so far, and the token of the session. If that is
/// not known, all tokens are void that were issued before the session began.
static void void_tokens(struct hc_sv_admission *admission, const struct hc_sv_user *user,
                        uint64_t now_us) {
    uint64_t ticket = unix_us(admission, now_us);
    hc_sv_spent_void(&admission->spent, user->client_id,
                     ticket > user->ticket ? ticket : user->ticket,
                     user->begun_elsewhere ? user->begun_s : 0, unix_s(admission, now_us));
}

void hc_sv_admission_end(struct hc_sv_admission *admission, const struct hc_sv_user *user,
                         enum hc_close_reason reason, bool never_received, uint64_t now_us) {
    if (never_received)
        hc_sv_spent_forget(&admission->spent, user->client_id, user->token_id, user->by_ticket);
    if (!keeps_tokens(reason))
        void_tokens(admission, user, now_us);
    hc_sv_spent_end(&admission->spent, user->client_id);
}

enum hc_close_reason hc_sv_admission_refuses(const struct hc_sv_admission *admission,
                                             const struct hc_sv_user *user) {
    if (hc_sv_refused_has(&admission->refused, user->client_id))
        return HC_CLOSE_REFUSED;
    return user->begun_s < admission->refused.not_before_s ? HC_CLOSE_SESSION_OVER : 0;
}

// ---- Tokens -------------------------------------------------------------------------------------

/// The number of a client's next ticket. It is greater than all before, even after the clock was
/// set back.
static uint64_t next_ticket_number(struct hc_sv_user *user, uint64_t unix_us) {
    if (user->ticket < UINT64_MAX)
        user->ticket = unix_us > user->ticket ? unix_us : user->ticket + 1;
    return user->ticket;
}

void hc_sv_admission_make_ticket(const struct hc_sv_admission *admission, struct hc_sv_user *user,
                                 uint32_t cid, const struct hc_address *address,
                                 struct hc_ticket *ticket, uint64_t now_us) {
    const struct hc_server_config *config = admission->config;
    uint64_t now_s = hc_unix_time_latest_us(&admission->unix_time, now_us) / SECOND_US;
    struct hc_token token = {.kind = HC_TOKEN_RESUME,
                             .issued_s = now_s,
                             .expire_s = now_s + HC_TICKET_LIFE_S,
                             .players = user->players,
                             .watch = user->watch,
                             .match = (uint16_t)config->match,
                             .client_id = user->client_id,
                             .audience = config->audience};
    uint64_t end_s = user->begun_s + config->session_life_s;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    if (config->session_life_s != 0 && token.expire_s > end_s)
        token.expire_s = end_s;
    hc_token_put_ticket_id(token.token_id, next_ticket_number(user, unix_us(admission, now_us)),
                           user->begun_s);
    hc_ratchet_draw(admission->ratchet, token.secret, sizeof token.secret);
    hc_ratchet_draw(admission->ratchet, nonce, sizeof nonce);
    memcpy(token.name, user->name, sizeof token.name);
    memcpy(token.user_data, user->user_data, sizeof token.user_data);
    hc_token_seal(&admission->keys.keys[0], admission->protocol_id, &token, nonce,
                  ticket->credential.token);
    memcpy(ticket->credential.secret, token.secret, sizeof token.secret);
    hc_sv_admission_reset_token(admission, 0, cid, address, ticket->reset_token);
}

enum hc_status hc_sv_admission_issue(const struct hc_sv_admission *admission,
                                     const struct hc_server_user *user, uint32_t life_s,
                                     struct hc_credential *credential, uint64_t now_us) {
    uint64_t now_s = unix_s(admission, now_us);
    struct hc_token token = {.kind = HC_TOKEN_CONNECT,
                             .players = user->players,
                             .watch = user->watch,
                             .match = (uint16_t)admission->config->match,
                             .issued_s = now_s,
                             .expire_s = now_s + life_s < UINT32_MAX ? now_s + life_s : UINT32_MAX,
                             .client_id = user->client_id,
                             .audience = admission->config->audience};
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    if (user->players > HC_OWN_PLAYERS_MAX || !hc_sv_admission_takes_name(user->name))
        return HC_INVALID;
    hc_ratchet_draw(admission->ratchet, token.token_id, sizeof token.token_id);
    hc_ratchet_draw(admission->ratchet, token.secret, sizeof token.secret);
    hc_ratchet_draw(admission->ratchet, nonce, sizeof nonce);
    memcpy(token.name, user->name, sizeof token.name);
    memcpy(token.user_data, user->user_data, sizeof token.user_data);
    hc_token_seal(&admission->keys.keys[0], admission->protocol_id, &token, nonce,
                  credential->token);
    memcpy(credential->secret, token.secret, sizeof credential->secret);
    sodium_memzero(&token, sizeof token);
    return HC_OK;
}

void hc_sv_admission_reset_token(const struct hc_sv_admission *admission, uint32_t key,
                                 uint32_t cid, const struct hc_address *address,
                                 uint8_t token[static HC_RESET_TOKEN_SIZE]) {
    const struct hc_token_ring *keys = &admission->keys;
    hc_seal_reset_token(&keys->keys[key % keys->count], cid, admission->config->audience, address,
                        token);
}

bool hc_sv_admission_takes_name(const uint8_t name[static HC_NAME_MAX]) {
    size_t size = hc_name_size(name);
    return size == 0 || hc_name_check(name, size) == HC_OK;
}
