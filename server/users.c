/// Users that the game kicks, refuses, admits and issues tokens to.
#include "server/host_internal.h"

#include "proto/name.h"

#include <sodium.h>
#include <string.h>

enum hc_status hc_sv_host_kick(struct hc_sv_host *host, uint32_t cid, enum hc_close_reason reason,
                               uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (reason != HC_CLOSE_KICKED && (reason < HC_CLOSE_GAME || reason > HC_CLOSE_GAME_LAST))
        return HC_INVALID;
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT,
                    &(struct hc_close){.reason = reason}, now_us);
    hc_sv_outbox_seek(&host->outbox, 0);
    return HC_OK;
}

enum hc_status hc_sv_host_set_refused(struct hc_sv_host *host, const uint64_t *client_ids,
                                      uint32_t count, uint64_t not_before_s, uint64_t now_us) {
    struct hc_sv_refused *refused = &host->refused;
    if (count > HC_SERVER_REFUSED_MAX)
        return HC_INVALID;
    for (uint32_t i = 1; i < count; i++)
        if (client_ids[i - 1] > client_ids[i])
            return HC_INVALID;
    refused->count = count;
    refused->not_before_s = not_before_s;
    for (uint32_t i = 0; i < count; i++)
        refused->client_ids[i] = client_ids[i];
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;) {
        struct hc_close close = {.reason = 0};
        if (hc_sv_refused_has(refused, peer->user.client_id))
            close.reason = HC_CLOSE_REFUSED;
        else if (peer->user.begun_s < refused->not_before_s)
            close.reason = HC_CLOSE_SESSION_OVER;
        if (hc_sv_peer_has_session(peer) && close.reason != 0)
            hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT, &close, now_us);
    }
    hc_sv_outbox_seek(&host->outbox, 0);
    return HC_OK;
}

enum hc_deny_reason hc_sv_users_admit(const struct hc_sv_host *host, const struct hc_token *token,
                                      const struct hc_address *from) {
    struct hc_server_user user = {
        .client_id = token->client_id, .players = token->players, .watch = token->watch};
    if (host->config.admit == NULL)
        return 0;
    memcpy(user.name, token->name, sizeof user.name);
    memcpy(user.user_data, token->user_data, sizeof user.user_data);
    enum hc_deny_reason reason = host->config.admit(host->config.admit_context, &user, from);
    HC_ASSERT(reason == 0 || hc_datagram_is_deny_reason(reason));
    return reason;
}

enum hc_status hc_sv_host_issue(struct hc_sv_host *host, const struct hc_server_user *user,
                                uint32_t life_s, struct hc_credential *credential,
                                uint64_t now_us) {
    uint64_t now_s = hc_sv_host_unix_s(host, now_us);
    struct hc_token token = {.kind = HC_TOKEN_CONNECT,
                             .players = user->players,
                             .watch = user->watch,
                             .match = (uint16_t)host->config.match,
                             .issued_s = now_s,
                             .expire_s = now_s + life_s < UINT32_MAX ? now_s + life_s : UINT32_MAX,
                             .client_id = user->client_id,
                             .audience = host->config.audience};
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    if (user->players > HC_OWN_PLAYERS_MAX || !hc_sv_users_name_is_valid(user->name))
        return HC_INVALID;
    hc_sv_host_unpredictable(host, token.token_id, sizeof token.token_id);
    hc_sv_host_unpredictable(host, token.secret, sizeof token.secret);
    hc_sv_host_unpredictable(host, nonce, sizeof nonce);
    memcpy(token.name, user->name, sizeof token.name);
    memcpy(token.user_data, user->user_data, sizeof token.user_data);
    hc_token_seal(&host->config.keys.keys[0], host->protocol_id, &token, nonce, credential->token);
    memcpy(credential->secret, token.secret, sizeof credential->secret);
    sodium_memzero(&token, sizeof token);
    return HC_OK;
}

bool hc_sv_users_name_is_valid(const uint8_t name[static HC_NAME_MAX]) {
    size_t size = hc_name_size(name);
    return size == 0 || hc_name_check(name, size) == HC_OK;
}
