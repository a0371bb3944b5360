/// The public face of a host: hindcast/server.h.
#include "hindcast/server.h"

#include "common/alloc.h"
#include "server/host.h"

#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    /// The size of the first struct hc_server_config. A program of this library's SONAME has at
    /// least its members.
    CONFIG_SIZE_MIN = offsetof(struct hc_server_config, cookie_secret) + sizeof(void *),
};

struct hc_server {
    struct hc_sv_host *host;
    const struct hc_allocator *allocator;
};

// ---- Configuration ------------------------------------------------------------------------------

void hc_server_config_init(struct hc_server_config *config, uint32_t size) {
    struct hc_server_config whole = {.clients = 8,
                                     .tick_rate = 60,
                                     .history = 64,
                                     .late_margin = 24,
                                     .lag_compensation_ms = 400,
                                     .timeout_us = HC_TIMEOUT_US,
                                     .linger_us = HC_RECONNECT_US,
                                     .connects_per_address = HC_CONNECTS_PER_ADDRESS,
                                     .clients_per_address = HC_CLIENTS_PER_ADDRESS,
                                     .players_per_client = HC_OWN_PLAYERS_MAX,
                                     .spectators = 4,
                                     .session_life_s = HC_SESSION_LIFE_S,
                                     .remembered_users = HC_REMEMBERED_USERS,
                                     .client_rate = 262144};
    whole.size = size;
    memset(config, 0, size);
    memcpy(config, &whole, size < sizeof whole ? size : sizeof whole);
}

/// Writes the program's configuration over the defaults to `*whole`; false: its size is unknown.
static bool complete(const struct hc_server_config *config, struct hc_server_config *whole) {
    if (config->size < CONFIG_SIZE_MIN || config->size > sizeof *whole)
        return false;
    hc_server_config_init(whole, sizeof *whole);
    memcpy(whole, config, config->size);
    return true;
}

const char *hc_server_config_check(const struct hc_server_config *config, char *why,
                                   size_t why_size) {
    struct hc_server_config whole;
    if (!complete(config, &whole)) {
        snprintf(why, why_size,
                 "size is %u, but this library knows %u to %u bytes: it is of another "
                 "version than the headers",
                 config->size, (unsigned)CONFIG_SIZE_MIN, (unsigned)sizeof whole);
        return why;
    }
    const char *found = hc_sv_host_config_check(&whole, NULL, why, why_size);
    sodium_memzero(&whole, sizeof whole);
    return found;
}

// ---- Lifecycle ----------------------------------------------------------------------------------

struct hc_server *hc_server_create(const struct hc_server_config *config, uint64_t unix_us,
                                   uint64_t now_us) {
    struct hc_server_config whole;
    uint8_t secret[HC_SERVER_SECRET_SIZE];
    if (!complete(config, &whole) || sodium_init() < 0)
        return NULL;
    randombytes_buf(secret, sizeof secret);
    if (whole.secret == NULL)
        whole.secret = secret;
    struct hc_server *server = hc_allocate(whole.allocator, sizeof *server);
    if (server != NULL)
        *server = (struct hc_server){.host = hc_sv_host_create(&whole, NULL, unix_us, now_us),
                                     .allocator = whole.allocator};
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&whole, sizeof whole);
    if (server != NULL && server->host == NULL) {
        hc_server_destroy(server);
        server = NULL;
    }
    return server;
}

void hc_server_follow(struct hc_server *server, const struct hc_server *before) {
    hc_sv_host_follow(server->host, before->host);
}

void hc_server_start(struct hc_server *server, uint64_t now_us) {
    hc_sv_host_start(server->host, now_us);
}

void hc_server_destroy(struct hc_server *server) {
    if (server == NULL)
        return;
    hc_sv_host_destroy(server->host);
    hc_release(server->allocator, server);
}

void hc_server_shutdown(struct hc_server *server, uint64_t now_us) {
    hc_sv_host_shutdown(server->host, now_us);
}

void hc_server_restart(struct hc_server *server, uint32_t seconds, uint64_t now_us) {
    hc_sv_host_restart(server->host, seconds, now_us);
}

bool hc_server_ended(const struct hc_server *server) {
    return hc_sv_host_ended(server->host);
}

bool hc_server_closed(const struct hc_server *server) {
    return hc_sv_host_closed(server->host);
}

// ---- Datagrams and time -------------------------------------------------------------------------

enum hc_status hc_server_receive(struct hc_server *server, const struct hc_address *from,
                                 const uint8_t *bytes, size_t size, uint64_t now_us) {
    return hc_sv_host_receive(server->host, from, bytes, size, now_us);
}

enum hc_status hc_server_deny(struct hc_server *server, const struct hc_address *from,
                              const uint8_t *bytes, size_t size, enum hc_deny_reason reason,
                              uint64_t now_us) {
    return hc_sv_host_deny(server->host, from, bytes, size, reason, now_us);
}

void hc_server_advance(struct hc_server *server, uint64_t now_us) {
    hc_sv_host_advance(server->host, now_us);
}

size_t hc_server_send(struct hc_server *server, struct hc_address *to,
                      uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    return hc_sv_host_send(server->host, to, out, now_us);
}

uint64_t hc_server_deadline(const struct hc_server *server) {
    return hc_sv_host_deadline(server->host);
}

void hc_server_note_work(struct hc_server *server, uint64_t advance_us, uint64_t send_us,
                         uint64_t other_us, uint64_t now_us) {
    hc_sv_host_note_work(server->host, advance_us, send_us, other_us, now_us);
}

void hc_server_set_time(struct hc_server *server, uint64_t unix_us, uint64_t now_us) {
    hc_sv_host_set_time(server->host, unix_us, now_us);
}

// ---- Clients ------------------------------------------------------------------------------------

bool hc_server_poll_event(struct hc_server *server, struct hc_server_event *event) {
    return hc_sv_host_poll_event(server->host, event);
}

bool hc_server_next_game_event(struct hc_server *server, struct hc_server_game_event *event) {
    return hc_sv_host_next_game_event(server->host, event);
}

enum hc_status hc_server_send_message(struct hc_server *server, uint32_t cid, const void *message,
                                      size_t size, uint64_t now_us) {
    return hc_sv_host_send_message(server->host, cid, message, size, now_us);
}

const uint8_t *hc_server_next_message(struct hc_server *server,
                                      struct hc_server_message *received) {
    return hc_sv_host_next_message(server->host, received);
}

enum hc_status hc_server_send_unreliable(struct hc_server *server, uint32_t cid,
                                         const void *message, size_t size) {
    return hc_sv_host_send_unreliable(server->host, cid, message, size);
}

const uint8_t *hc_server_next_unreliable(struct hc_server *server,
                                         struct hc_server_message *received) {
    return hc_sv_host_next_unreliable(server->host, received);
}

enum hc_status hc_server_kick(struct hc_server *server, uint32_t cid, enum hc_close_reason reason,
                              uint64_t now_us) {
    return hc_sv_host_kick(server->host, cid, reason, now_us);
}

hc_player hc_server_add_npc(struct hc_server *server) {
    return hc_sv_host_add_npc(server->host);
}

enum hc_status hc_server_name_npc(struct hc_server *server, hc_player player, const char *name) {
    return hc_sv_host_name_npc(server->host, player, name);
}

enum hc_status hc_server_remove_npc(struct hc_server *server, hc_player player) {
    return hc_sv_host_remove_npc(server->host, player);
}

enum hc_status hc_server_put_npc_input(struct hc_server *server, hc_player player, hc_tick tick,
                                       const void *input) {
    return hc_sv_host_put_npc_input(server->host, player, tick, input);
}

enum hc_status hc_server_set_refused(struct hc_server *server, const uint64_t *client_ids,
                                     uint32_t count, uint64_t not_before_s, uint64_t now_us) {
    return hc_sv_host_set_refused(server->host, client_ids, count, not_before_s, now_us);
}

enum hc_status hc_server_set_keys(struct hc_server *server, const struct hc_token_ring *keys) {
    if (keys->count < 1 || keys->count > 2)
        return HC_INVALID;
    hc_sv_host_set_keys(server->host, keys);
    return HC_OK;
}

enum hc_status hc_server_issue(struct hc_server *server, const struct hc_server_user *user,
                               uint32_t life_s, struct hc_credential *credential, uint64_t now_us) {
    return hc_sv_host_issue(server->host, user, life_s, credential, now_us);
}

// ---- Queries ------------------------------------------------------------------------------------

const struct hc_timeline *hc_server_timeline(const struct hc_server *server) {
    return hc_sv_host_timeline(server->host);
}

const struct hc_world *hc_server_world(const struct hc_server *server) {
    return hc_sv_host_world(server->host);
}

uint32_t hc_server_sessions(const struct hc_server *server, struct hc_server_session *out,
                            uint32_t most) {
    return hc_sv_host_sessions(server->host, out, most);
}

unsigned hc_server_clients(const struct hc_server *server) {
    return hc_sv_host_clients(server->host);
}

const struct hc_server_stats *hc_server_stats(const struct hc_server *server) {
    return hc_sv_host_stats(server->host);
}
