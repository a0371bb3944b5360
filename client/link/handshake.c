/// Connects: HELLO, COOKIE, CONNECT and ACCEPT, and the refusals DENY and VERSION.
#include "client/link/handshake.h"

#include "client/link/entropy.h"
#include "common/elapsed.h"

#include <sodium.h>
#include <string.h>

enum { DENIED_MAX_US = 20000000 }; ///< added to the time of a first connection

void hc_cl_handshake_init(struct hc_cl_handshake *handshake, const struct hc_client_config *config,
                          uint64_t now_us) {
    handshake->config = config;
    handshake->protocol_id = hc_datagram_protocol_id(config->game, config->rule_hash);
    handshake->credential = config->credential;
    hc_cl_entropy_begin(config, now_us, &handshake->ratchet);
}

void hc_cl_handshake_begin(struct hc_cl_handshake *handshake, bool again, uint64_t begin_us,
                           uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    *attempt = (struct hc_cl_attempt){.active = true, .again = again};
    hc_ratchet_draw(&handshake->ratchet, attempt->nonce, sizeof attempt->nonce);
    hc_ratchet_draw(&handshake->ratchet, attempt->secret, sizeof attempt->secret);
    hc_seal_public(attempt->secret, attempt->key);
    attempt->rtt_us = UINT64_MAX;
    attempt->next_us = begin_us;
    attempt->due = now_us >= begin_us;
}

void hc_cl_handshake_end(struct hc_cl_handshake *handshake) {
    handshake->attempt.active = false;
    sodium_memzero(handshake->attempt.secret, sizeof handshake->attempt.secret);
}

void hc_cl_handshake_renew(struct hc_cl_handshake *handshake,
                           const struct hc_credential *credential) {
    handshake->credential = *credential;
}

/// Changes from HELLO to CONNECT, or back.
static void turn_to(struct hc_cl_attempt *attempt, bool connect, uint64_t now_us) {
    attempt->has_cookie = connect;
    attempt->cookie_count = attempt->cookies_came = attempt->cookie_turn = 0;
    attempt->requests = 0;
    attempt->next_us = now_us;
    attempt->due = true;
}

/// Measures an answer. Of several requests it is unknown which one was answered; the time since the
/// last is the least possible. A clock that starts behind catches up at once; one that starts ahead
/// would have to wait.
static void measure_exchange(struct hc_cl_attempt *attempt, uint64_t now_us) {
    uint64_t took_us = hc_since(attempt->sent_us, now_us);
    if (attempt->requests > 0 && took_us < attempt->rtt_us)
        attempt->rtt_us = took_us;
}

/// HC_UNEXPECTED: the answer is to another attempt.
static enum hc_status judge_nonce(const struct hc_cl_attempt *attempt,
                                  const uint8_t nonce[static HC_NONCE_SIZE]) {
    return memcmp(nonce, attempt->nonce, HC_NONCE_SIZE) == 0 ? HC_OK : HC_UNEXPECTED;
}

/// Stores a COOKIE beside the earlier ones: one is the server's, and anybody that sees HELLO can
/// send others. Of too many, each has the same chance (Vitter 1985, algorithm R), so that an
/// attacker gains nothing by being first or last.
static enum hc_status store_cookie(struct hc_cl_handshake *handshake,
                                   const struct hc_datagram_cookie *cookie) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    for (uint32_t i = 0; i < attempt->cookie_count; i++)
        if (attempt->cookies[i].slot == cookie->slot &&
            memcmp(attempt->cookies[i].cookie, cookie->cookie, HC_COOKIE_SIZE) == 0)
            return HC_DUPLICATE;
    uint32_t place = attempt->cookies_came++;
    if (place >= HC_COOKIES)
        place = hc_cl_entropy_draw_below(&handshake->ratchet, attempt->cookies_came);
    if (place >= HC_COOKIES)
        return HC_FULL;
    attempt->cookies[place] = *cookie;
    if (place == attempt->cookie_count)
        attempt->cookie_count++;
    return HC_OK;
}

static enum hc_status receive_cookie(struct hc_cl_handshake *handshake, const uint8_t *bytes,
                                     size_t size, uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    struct hc_datagram_cookie cookie;
    enum hc_status status = hc_datagram_get_cookie(bytes, size, &cookie);
    if (status == HC_OK)
        status = judge_nonce(attempt, cookie.client_nonce);
    if (status != HC_OK)
        return status;
    if (!attempt->active)
        return HC_UNEXPECTED;
    if (attempt->has_cookie)
        return store_cookie(handshake, &cookie);
    if (attempt->requests == 0)
        return HC_DUPLICATE;
    measure_exchange(attempt, now_us);
    turn_to(attempt, true, now_us);
    attempt->cookie_us = now_us;
    attempt->answered = true;
    attempt->version_received = false;
    return store_cookie(handshake, &cookie);
}

/// Derives the keys of an ACCEPT. HC_MALFORMED: the server's ephemeral key is invalid.
static enum hc_status derive(const struct hc_cl_handshake *handshake,
                             const struct hc_accept *accept, struct hc_seal_keys *keys) {
    const struct hc_cl_attempt *attempt = &handshake->attempt;
    const struct hc_credential *credential = &handshake->credential;
    struct hc_seal_material material = {.protocol_id = handshake->protocol_id, .cid = accept->cid};
    enum hc_status status = hc_seal_exchange(attempt->secret, accept->server_key, material.shared);
    if (status != HC_OK)
        return status;
    memcpy(material.secret, credential->secret, sizeof material.secret);
    memcpy(material.token, credential->token, sizeof material.token);
    memcpy(material.client_nonce, attempt->nonce, HC_NONCE_SIZE);
    memcpy(material.server_nonce, accept->server_nonce, HC_NONCE_SIZE);
    memcpy(material.client_key, attempt->key, sizeof material.client_key);
    memcpy(material.server_key, accept->server_key, sizeof material.server_key);
    hc_seal_derive(&material, keys);
    sodium_memzero(&material, sizeof material);
    return HC_OK;
}

/// Opens an ACCEPT to this attempt, from a server that can read the token, into `opened`.
static enum hc_status open_accept(const struct hc_cl_handshake *handshake, const uint8_t *bytes,
                                  size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                  struct hc_accept *accept, struct hc_seal_keys *keys) {
    enum hc_status status = hc_datagram_get_accept(bytes, size, accept);
    if (status == HC_OK)
        status = judge_nonce(&handshake->attempt, accept->client_nonce);
    if (status == HC_OK && !handshake->attempt.active)
        return HC_DUPLICATE;
    if (status == HC_OK)
        status = derive(handshake, accept, keys);
    if (status != HC_OK)
        return status;
    status = hc_seal_open_accept(keys->s2c, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_accept(opened, size, accept) : status;
}

static enum hc_status read_accept(const struct hc_cl_handshake *handshake, struct hc_body *body,
                                  const uint8_t *bytes, size_t size, struct hc_cl_answer *answer) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    enum hc_status status = open_accept(handshake, bytes, size, opened, &accept, &answer->keys);
    if (status == HC_OK)
        status = hc_body_begin(body, accept.body, accept.body_size);
    if (status != HC_OK)
        return status;
    if (hc_body_next(body) != HC_MESSAGE_WELCOME)
        return HC_MALFORMED;
    answer->cid = accept.cid;
    status = hc_message_get_welcome(body, handshake->config->game, &answer->welcome);
    if (status != HC_OK)
        return status;
    return answer->welcome.own_count == handshake->config->players ? HC_OK : HC_MALFORMED;
}

static enum hc_status receive_accept(struct hc_cl_handshake *handshake, struct hc_body *body,
                                     const uint8_t *bytes, size_t size, uint64_t now_us,
                                     struct hc_cl_answer *answer) {
    enum hc_status status = read_accept(handshake, body, bytes, size, answer);
    if (status != HC_OK)
        return status;
    if (handshake->attempt.has_cookie) // else the last request was HELLO
        measure_exchange(&handshake->attempt, now_us);
    hc_cl_handshake_end(handshake);
    answer->kind = HC_CL_ANSWER_ACCEPT;
    return HC_OK;
}

/// VERSION is not authenticated: it counts when no COOKIE comes for a while.
static bool version_holds(const struct hc_cl_attempt *attempt, uint64_t now_us) {
    return attempt->version_received && hc_since(attempt->version_us, now_us) >= HC_VERSION_WAIT_US;
}

/// Asks again after a DENY's `retry_ms` and up to half as long: clients of one address that were
/// denied together would else be denied together again. A first connection has more time by as
/// much, within bounds.
static void ask_again(struct hc_cl_handshake *handshake, uint32_t retry_ms, uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    uint64_t wait_us = (uint64_t)retry_ms * 1000;
    wait_us += (uint64_t)hc_cl_entropy_draw_below(&handshake->ratchet, retry_ms) * 500;
    turn_to(attempt, false, now_us + wait_us);
    attempt->due = false;
    attempt->denied_us += wait_us;
    if (attempt->denied_us > DENIED_MAX_US)
        attempt->denied_us = DENIED_MAX_US;
}

static enum hc_status receive_deny(struct hc_cl_handshake *handshake, const uint8_t *bytes,
                                   size_t size, uint64_t now_us, struct hc_cl_answer *answer) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    struct hc_deny deny;
    enum hc_status status = hc_datagram_get_deny(bytes, size, &deny);
    if (status == HC_OK)
        status = judge_nonce(attempt, deny.client_nonce);
    if (status != HC_OK)
        return status;
    if (!attempt->active)
        return HC_UNEXPECTED;
    status = hc_token_check_deny_mac(handshake->credential.secret, bytes);
    if (status == HC_MALFORMED)
        return status;
    attempt->hint = deny;
    attempt->hinted = true;
    attempt->proven = status == HC_OK;
    // Anybody may send an unproven DENY, and the existing connection may end soon.
    if (!attempt->proven || deny.reason == HC_DENY_CONNECTED)
        return HC_OK;
    bool again = attempt->again || deny.reason == HC_DENY_RATE;
    if (again && deny.retry_ms > 0) {
        ask_again(handshake, deny.retry_ms, now_us);
        return HC_OK;
    }
    answer->kind = HC_CL_ANSWER_DENY;
    answer->deny = deny;
    return HC_OK;
}

static enum hc_status receive_version(struct hc_cl_handshake *handshake, const uint8_t *bytes,
                                      size_t size, uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    struct hc_version version;
    enum hc_status status = hc_datagram_get_version(bytes, size, &version);
    if (status == HC_OK)
        status = judge_nonce(attempt, version.client_nonce);
    if (status != HC_OK)
        return status;
    if (!attempt->active || version.protocol_id == handshake->protocol_id)
        return HC_UNEXPECTED;
    if (attempt->has_cookie || attempt->version_received)
        return HC_DUPLICATE;
    attempt->version_received = true;
    attempt->version_us = now_us;
    attempt->version_id = version.protocol_id;
    return HC_OK;
}

enum hc_status hc_cl_handshake_receive(struct hc_cl_handshake *handshake, struct hc_body *body,
                                       const uint8_t *bytes, size_t size, uint64_t now_us,
                                       struct hc_cl_answer *answer) {
    answer->kind = HC_CL_ANSWER_NONE;
    switch (hc_datagram_kind(bytes, size)) {
    case HC_DATAGRAM_COOKIE:
        return receive_cookie(handshake, bytes, size, now_us);
    case HC_DATAGRAM_ACCEPT:
        return receive_accept(handshake, body, bytes, size, now_us, answer);
    case HC_DATAGRAM_DENY:
        return receive_deny(handshake, bytes, size, now_us, answer);
    case HC_DATAGRAM_VERSION:
        return receive_version(handshake, bytes, size, now_us);
    default: // only clients send these, or nobody
        return HC_MALFORMED;
    }
}

bool hc_cl_handshake_advance(struct hc_cl_handshake *handshake, uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    if (version_holds(attempt, now_us))
        return false;
    if (attempt->has_cookie && hc_since(attempt->cookie_us, now_us) >= HC_COOKIE_USE_US)
        turn_to(attempt, false, now_us);
    if (now_us >= attempt->next_us)
        attempt->due = true;
    if (attempt->due)
        attempt->next_us = now_us + HC_RETRY_US;
    return true;
}

uint64_t hc_cl_handshake_deadline(const struct hc_cl_handshake *handshake) {
    const struct hc_cl_attempt *attempt = &handshake->attempt;
    uint64_t deadline_us = attempt->next_us;
    if (attempt->has_cookie && attempt->cookie_us + HC_COOKIE_USE_US < deadline_us)
        deadline_us = attempt->cookie_us + HC_COOKIE_USE_US;
    if (attempt->version_received && attempt->version_us + HC_VERSION_WAIT_US < deadline_us)
        deadline_us = attempt->version_us + HC_VERSION_WAIT_US;
    return deadline_us;
}

/// Writes CONNECT with the next cookie; another one is due while cookies are left.
static size_t send_connect(struct hc_cl_handshake *handshake, const struct hc_connection *before,
                           uint8_t out[static HC_DATAGRAM_MAX]) {
    const struct hc_client_config *config = handshake->config;
    struct hc_cl_attempt *attempt = &handshake->attempt;
    const struct hc_datagram_cookie *cookie = &attempt->cookies[attempt->cookie_turn];
    attempt->cookie_turn = (attempt->cookie_turn + 1) % attempt->cookie_count;
    attempt->due = attempt->cookie_turn > 0;
    struct hc_connect connect = {.protocol_id = handshake->protocol_id,
                                 .slot = cookie->slot,
                                 .players = config->players,
                                 .continues = before->cid,
                                 .extrapolations = (uint8_t)((1 << config->extrapolation) - 1)};
    memcpy(connect.client_nonce, attempt->nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, cookie->cookie, HC_COOKIE_SIZE);
    memcpy(connect.token, handshake->credential.token, HC_TOKEN_SIZE);
    memcpy(connect.client_key, attempt->key, sizeof attempt->key);
    size_t size = hc_datagram_put_connect(&connect, out);
    if (connect.continues != 0)
        hc_seal_put_continue_proof(before->continue_key, out);
    hc_token_put_proof(handshake->credential.secret, out);
    return size;
}

size_t hc_cl_handshake_send(struct hc_cl_handshake *handshake, const struct hc_connection *before,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_cl_attempt *attempt = &handshake->attempt;
    if (!attempt->due)
        return 0;
    attempt->due = false;
    attempt->next_us = now_us + HC_RETRY_US;
    attempt->requests++;
    attempt->sent_us = now_us;
    if (attempt->has_cookie)
        return send_connect(handshake, before, out);
    struct hc_hello hello = {.protocol_id = handshake->protocol_id};
    memcpy(hello.client_nonce, attempt->nonce, HC_NONCE_SIZE);
    return hc_datagram_put_hello(&hello, out);
}
