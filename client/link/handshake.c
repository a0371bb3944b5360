/// Connects: HELLO, COOKIE, CONNECT and ACCEPT, and the refusals DENY, VERSION and RESET.
#include "client/session_internal.h"

#include "common/alloc.h"
#include "common/elapsed.h"

#include <sodium.h>
#include <string.h>

enum { DENIED_MAX_US = 20000000 }; ///< added to the time of a first connection

void hc_cl_handshake_begin(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    *handshake = (struct hc_cl_handshake){.due = false};
    // Each attempt has its own nonce, so that answers to an earlier one do not count.
    hc_ratchet_draw(&client->ratchet, handshake->nonce, sizeof handshake->nonce);
    hc_ratchet_draw(&client->ratchet, handshake->secret, sizeof handshake->secret);
    hc_seal_public(handshake->secret, handshake->key);
    handshake->protocol_id = hc_datagram_protocol_id(client->config.game, client->config.rule_hash);
    handshake->rtt_us = UINT64_MAX;
    handshake->next_us = now_us;
    handshake->due = true;
}

/// Changes from HELLO to CONNECT, or back.
static void turn_to(struct hc_cl_handshake *handshake, bool connect, uint64_t now_us) {
    handshake->has_cookie = connect;
    handshake->cookie_count = handshake->cookies_came = handshake->cookie_turn = 0;
    handshake->requests = 0;
    handshake->next_us = now_us;
    handshake->due = true;
}

/// Measures an answer. Of several requests it is unknown which one was answered; the time since the
/// last is the least possible. A clock that starts behind catches up at once; one that starts ahead
/// would have to wait.
static void measure_exchange(struct hc_cl_handshake *handshake, uint64_t now_us) {
    uint64_t took_us = hc_since(handshake->sent_us, now_us);
    if (handshake->requests > 0 && took_us < handshake->rtt_us)
        handshake->rtt_us = took_us;
}

bool hc_cl_handshake_active(const struct hc_client *client) {
    return client->state == HC_CLIENT_CONNECTING || client->state == HC_CLIENT_RECONNECTING;
}

/// HC_UNEXPECTED: the answer is to another attempt.
static enum hc_status judge_nonce(const struct hc_client *client,
                                  const uint8_t nonce[static HC_NONCE_SIZE]) {
    return memcmp(nonce, client->handshake.nonce, HC_NONCE_SIZE) == 0 ? HC_OK : HC_UNEXPECTED;
}

/// Stores a COOKIE beside the earlier ones: one is the server's, and anybody that sees HELLO can
/// send others. Of too many, each has the same chance (Vitter 1985, algorithm R), so that an
/// attacker gains nothing by being first or last.
static enum hc_status store_cookie(struct hc_client *client,
                                   const struct hc_datagram_cookie *cookie) {
    struct hc_cl_handshake *handshake = &client->handshake;
    for (uint32_t i = 0; i < handshake->cookie_count; i++)
        if (handshake->cookies[i].slot == cookie->slot &&
            memcmp(handshake->cookies[i].cookie, cookie->cookie, HC_COOKIE_SIZE) == 0)
            return HC_DUPLICATE;
    uint32_t place = handshake->cookies_came++;
    if (place >= HC_COOKIES)
        place = hc_cl_session_draw_below(client, handshake->cookies_came);
    if (place >= HC_COOKIES)
        return HC_FULL;
    handshake->cookies[place] = *cookie;
    if (place == handshake->cookie_count)
        handshake->cookie_count++;
    return HC_OK;
}

static enum hc_status receive_cookie(struct hc_client *client, const uint8_t *bytes, size_t size,
                                     uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    struct hc_datagram_cookie cookie;
    enum hc_status status = hc_datagram_get_cookie(bytes, size, &cookie);
    if (status == HC_OK)
        status = judge_nonce(client, cookie.client_nonce);
    if (status != HC_OK)
        return status;
    if (!hc_cl_handshake_active(client))
        return HC_UNEXPECTED;
    if (handshake->has_cookie)
        return store_cookie(client, &cookie);
    if (handshake->requests == 0)
        return HC_DUPLICATE;
    measure_exchange(handshake, now_us);
    turn_to(handshake, true, now_us);
    handshake->cookie_us = now_us;
    handshake->answered = true;
    handshake->version_received = false;
    return store_cookie(client, &cookie);
}

_Static_assert(HC_PREDICTION_LIMIT_MAX + HC_DISPLAY_OFFSET_MAX + HC_CL_MARGIN <= HC_HISTORY_MAX &&
                   HC_INPUT_DELAY_MAX + HC_LEAD_MAX + HC_CL_MARGIN <= HC_FUTURE_MAX,
               "every configuration has a timeline");

static struct hc_timeline_config timeline_config(const struct hc_client *client) {
    const struct hc_client_config *config = &client->config;
    uint32_t future = config->input_delay + config->lead + HC_CL_MARGIN;
    return (struct hc_timeline_config){
        .world = &client->world,
        .history = config->prediction_limit + config->display_offset + HC_CL_MARGIN,
        .future = future > HC_CL_FUTURE_MIN ? future : HC_CL_FUTURE_MIN,
        .replica = true,
        .allocator = config->allocator,
    };
}

/// Allocates the world and everything that depends on it. False when memory is short;
/// hc_client_destroy frees the allocated part.
static bool build_world(struct hc_client *client, const struct hc_welcome *welcome) {
    const struct hc_client_config *config = &client->config;
    if (hc_world_init(&client->world, config->game, welcome->players, welcome->tick_rate,
                      welcome->seed, config->allocator) != HC_OK)
        return false;
    struct hc_timeline_config timeline = timeline_config(client);
    size_t needed = hc_cl_interpolation_layout(&client->interpolation, &client->world,
                                               config->smoothing_us, NULL);
    size_t shown = needed;
    needed += hc_cl_seen_layout(&client->seen, &client->world, NULL);
    client->timeline = hc_timeline_create(&timeline);
    client->interpolation_memory = hc_allocate(config->allocator, needed);
    client->reader = hc_cl_snapshot_reader_create(&client->world, config->players);
    if (client->timeline == NULL || client->interpolation_memory == NULL || client->reader == NULL)
        return false;
    hc_cl_interpolation_layout(&client->interpolation, &client->world, config->smoothing_us,
                               client->interpolation_memory);
    hc_cl_seen_layout(&client->seen, &client->world,
                      (uint8_t *)client->interpolation_memory + shown);
    client->world_bytes =
        needed + hc_timeline_memory(&timeline) + hc_cl_snapshot_reader_memory(&client->world) +
        client->world.entities * (sizeof *client->world.kind_of + sizeof *client->world.owner_of);
    client->stats.memory_bytes += client->world_bytes;
    return true;
}

/// Derives the keys of an ACCEPT. HC_MALFORMED: the server's ephemeral key is invalid.
static enum hc_status derive(const struct hc_client *client, const struct hc_accept *accept,
                             struct hc_seal_keys *keys) {
    const struct hc_cl_handshake *handshake = &client->handshake;
    struct hc_seal_material material = {.protocol_id = handshake->protocol_id, .cid = accept->cid};
    enum hc_status status =
        hc_seal_exchange(handshake->secret, accept->server_key, material.shared);
    if (status != HC_OK)
        return status;
    memcpy(material.secret, client->credential.secret, sizeof material.secret);
    memcpy(material.token, client->credential.token, sizeof material.token);
    memcpy(material.client_nonce, handshake->nonce, HC_NONCE_SIZE);
    memcpy(material.server_nonce, accept->server_nonce, HC_NONCE_SIZE);
    memcpy(material.client_key, handshake->key, sizeof material.client_key);
    memcpy(material.server_key, accept->server_key, sizeof material.server_key);
    hc_seal_derive(&material, keys);
    sodium_memzero(&material, sizeof material);
    return HC_OK;
}

/// Opens an ACCEPT to this attempt, from a server that can read the token, into `opened`.
static enum hc_status open_accept(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint8_t opened[static HC_DATAGRAM_MAX], struct hc_accept *accept,
                                  struct hc_seal_keys *keys) {
    enum hc_status status = hc_datagram_get_accept(bytes, size, accept);
    if (status == HC_OK)
        status = judge_nonce(client, accept->client_nonce);
    if (status == HC_OK && !hc_cl_handshake_active(client))
        return HC_DUPLICATE;
    if (status == HC_OK)
        status = derive(client, accept, keys);
    if (status != HC_OK)
        return status;
    status = hc_seal_open_accept(keys->s2c, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_accept(opened, size, accept) : status;
}

static enum hc_status read_accept(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint8_t opened[static HC_DATAGRAM_MAX], struct hc_accept *accept,
                                  struct hc_seal_keys *keys, struct hc_welcome *welcome) {
    enum hc_status status = open_accept(client, bytes, size, opened, accept, keys);
    if (status == HC_OK)
        status = hc_body_begin(&client->body, accept->body, accept->body_size);
    if (status != HC_OK)
        return status;
    if (hc_body_next(&client->body) != HC_MESSAGE_WELCOME)
        return HC_MALFORMED;
    status = hc_message_get_welcome(&client->body, client->config.game, welcome);
    if (status != HC_OK)
        return status;
    return welcome->own_count == client->config.players ? HC_OK : HC_MALFORMED;
}

/// VERSION is not authenticated: it counts when no COOKIE comes for a while.
static bool version_holds(const struct hc_cl_handshake *handshake, uint64_t now_us) {
    return handshake->version_received &&
           hc_since(handshake->version_us, now_us) >= HC_VERSION_WAIT_US;
}

/// Clears everything of an earlier connection except the pressed inputs. `future`: of the server.
static void clear_connection(struct hc_client *client, uint32_t future, uint64_t now_us) {
    hc_cl_session_free_world(client);
    client->clock = (struct hc_cl_clock){.known = false};
    hc_cl_game_events_begin(&client->game_events, &client->stats);
    client->newest = (struct hc_cl_newest){.any = false};
    client->prediction = hc_cl_predict_begin(&client->config, future);
    client->display = hc_cl_display_begin(&client->config, client->prediction.input_delay);
    client->sending = (struct hc_cl_sending){.due = true, .due_us = now_us};
    client->path = (struct hc_cl_path){.due = false};
    client->desync = (struct hc_cl_desync){.count = 0};
    client->recent = (struct hc_cl_recent){.loss_up_ppm = 0};
    client->ticket_seq = 0;
}

/// Continues the messages of a resumed session, or begins new ones.
static void report_accepted(struct hc_client *client, bool again) {
    bool resumed = again && client->welcome.resumed;
    client->state = HC_CLIENT_JOINING;
    if (again && !resumed)
        hc_events_channel_begin(&client->messages);
    client->stats.reconnects += again;
    hc_cl_session_event(client,
                        &(struct hc_client_event){.kind = again ? HC_CLIENT_EVENT_RECONNECTED
                                                                : HC_CLIENT_EVENT_ACCEPTED,
                                                  .resumed = resumed});
    hc_cl_session_log(client, "accepted by the server");
}

static enum hc_status receive_accept(struct hc_client *client, const uint8_t *bytes, size_t size,
                                     uint64_t now_us) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    struct hc_welcome welcome;
    struct hc_seal_keys keys;
    bool again = client->connection.cid != 0;
    enum hc_status status = read_accept(client, bytes, size, opened, &accept, &keys, &welcome);
    if (status != HC_OK)
        return status;
    if (client->config.input_delay + client->config.lead > welcome.future)
        hc_cl_session_log(client, "input delay and lead are cut to what the server accepts");
    clear_connection(client, welcome.future, now_us);
    if (!client->is_light && !build_world(client, &welcome)) {
        hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED,
                                                              .close = HC_CLOSE_ERROR});
        return HC_NO_MEMORY;
    }
    if (client->handshake.has_cookie) // else the last request was HELLO
        measure_exchange(&client->handshake, now_us);
    client->welcome = welcome;
    client->interpolation.own = client->welcome.own;
    client->interpolation.own_count = client->welcome.own_count;
    memcpy(client->reset_token, welcome.reset_token, sizeof client->reset_token);
    hc_connection_begin(&client->connection, HC_CONNECTION_CLIENT, accept.cid, &keys,
                        &client->messages, now_us);
    sodium_memzero(&keys, sizeof keys);
    sodium_memzero(client->handshake.secret, sizeof client->handshake.secret);
    report_accepted(client, again);
    return HC_OK;
}

/// Asks again after a DENY's `retry_ms` and up to half as long: clients of one address that were
/// denied together would else be denied together again. A first connection has more time by as
/// much, within bounds.
static void ask_again(struct hc_client *client, uint32_t retry_ms, uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    uint64_t wait_us = (uint64_t)retry_ms * 1000;
    wait_us += (uint64_t)hc_cl_session_draw_below(client, retry_ms) * 500;
    turn_to(handshake, false, now_us + wait_us);
    handshake->due = false;
    handshake->denied_us += wait_us;
    if (handshake->denied_us > DENIED_MAX_US)
        handshake->denied_us = DENIED_MAX_US;
}

static enum hc_status receive_deny(struct hc_client *client, const uint8_t *bytes, size_t size,
                                   uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    struct hc_deny deny;
    enum hc_status status = hc_datagram_get_deny(bytes, size, &deny);
    if (status == HC_OK)
        status = judge_nonce(client, deny.client_nonce);
    if (status != HC_OK)
        return status;
    if (!hc_cl_handshake_active(client))
        return HC_UNEXPECTED;
    status = hc_token_check_deny_mac(client->credential.secret, bytes);
    if (status == HC_MALFORMED)
        return status;
    handshake->hint = deny;
    handshake->hinted = true;
    handshake->proven = status == HC_OK;
    // Anybody may send an unproven DENY, and the existing connection may end soon.
    if (!handshake->proven || deny.reason == HC_DENY_CONNECTED)
        return HC_OK;
    bool again = client->state == HC_CLIENT_RECONNECTING || deny.reason == HC_DENY_RATE;
    if (again && deny.retry_ms > 0) {
        ask_again(client, deny.retry_ms, now_us);
        return HC_OK;
    }
    hc_cl_session_log(client, "refused by the server");
    hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_DENIED,
                                                          .deny = deny.reason,
                                                          .retry_ms = deny.retry_ms});
    return HC_OK;
}

/// RESET: the server does not know the connection. The token proves that the server sent it.
static enum hc_status receive_reset(struct hc_client *client, const uint8_t *bytes, size_t size,
                                    uint64_t now_us) {
    struct hc_reset reset;
    enum hc_status status = hc_datagram_get_reset(bytes, size, &reset);
    if (status != HC_OK)
        return status;
    if (hc_cl_handshake_active(client) || client->state == HC_CLIENT_LEAVING ||
        reset.cid != client->connection.cid)
        return HC_UNEXPECTED; // it closes already
    if (!hc_seal_reset_equal(client->reset_token, reset.token))
        return HC_MALFORMED;
    hc_cl_session_lose(client, HC_CLIENT_LOSS_RESET, 0, now_us);
    return HC_OK;
}

static enum hc_status receive_version(struct hc_client *client, const uint8_t *bytes, size_t size,
                                      uint64_t now_us) {
    struct hc_version version;
    enum hc_status status = hc_datagram_get_version(bytes, size, &version);
    if (status == HC_OK)
        status = judge_nonce(client, version.client_nonce);
    if (status != HC_OK)
        return status;
    if (!hc_cl_handshake_active(client) || version.protocol_id == client->handshake.protocol_id)
        return HC_UNEXPECTED;
    if (client->handshake.has_cookie || client->handshake.version_received)
        return HC_DUPLICATE;
    client->handshake.version_received = true;
    client->handshake.version_us = now_us;
    client->handshake.version_id = version.protocol_id;
    return HC_OK;
}

enum hc_status hc_cl_handshake_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                       uint64_t now_us) {
    switch (hc_datagram_kind(bytes, size)) {
    case HC_DATAGRAM_COOKIE:
        return receive_cookie(client, bytes, size, now_us);
    case HC_DATAGRAM_ACCEPT:
        return receive_accept(client, bytes, size, now_us);
    case HC_DATAGRAM_DENY:
        return receive_deny(client, bytes, size, now_us);
    case HC_DATAGRAM_VERSION:
        return receive_version(client, bytes, size, now_us);
    case HC_DATAGRAM_RESET:
        return receive_reset(client, bytes, size, now_us);
    default: // only clients send these, or nobody
        return HC_MALFORMED;
    }
}

void hc_cl_handshake_advance(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    if (version_holds(handshake, now_us)) {
        hc_cl_session_log(client, "the server is of another build");
        hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_VERSION});
        return;
    }
    if (handshake->has_cookie && hc_since(handshake->cookie_us, now_us) >= HC_COOKIE_USE_US)
        turn_to(handshake, false, now_us);
    if (now_us >= handshake->next_us)
        handshake->due = true;
    if (handshake->due)
        handshake->next_us = now_us + HC_RETRY_US;
}

uint64_t hc_cl_handshake_deadline(const struct hc_client *client) {
    const struct hc_cl_handshake *handshake = &client->handshake;
    uint64_t deadline_us = handshake->next_us;
    if (handshake->has_cookie && handshake->cookie_us + HC_COOKIE_USE_US < deadline_us)
        deadline_us = handshake->cookie_us + HC_COOKIE_USE_US;
    if (handshake->version_received && handshake->version_us + HC_VERSION_WAIT_US < deadline_us)
        deadline_us = handshake->version_us + HC_VERSION_WAIT_US;
    return deadline_us;
}

size_t hc_cl_handshake_send(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                            uint64_t now_us) {
    struct hc_cl_handshake *handshake = &client->handshake;
    if (!handshake->due)
        return 0;
    handshake->due = false;
    handshake->next_us = now_us + HC_RETRY_US;
    handshake->requests++;
    handshake->sent_us = now_us;
    if (!handshake->has_cookie) {
        struct hc_hello hello = {.protocol_id = handshake->protocol_id};
        memcpy(hello.client_nonce, handshake->nonce, HC_NONCE_SIZE);
        return hc_datagram_put_hello(&hello, out);
    }
    const struct hc_datagram_cookie *cookie = &handshake->cookies[handshake->cookie_turn];
    handshake->cookie_turn = (handshake->cookie_turn + 1) % handshake->cookie_count;
    handshake->due = handshake->cookie_turn > 0;
    struct hc_connect connect = {.protocol_id = handshake->protocol_id,
                                 .slot = cookie->slot,
                                 .players = client->config.players,
                                 .continues = client->connection.cid,
                                 .extrapolations =
                                     (uint8_t)((1 << client->config.extrapolation) - 1)};
    memcpy(connect.client_nonce, handshake->nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, cookie->cookie, HC_COOKIE_SIZE);
    memcpy(connect.token, client->credential.token, HC_TOKEN_SIZE);
    memcpy(connect.client_key, handshake->key, sizeof handshake->key);
    size_t size = hc_datagram_put_connect(&connect, out);
    if (connect.continues != 0)
        hc_seal_put_continue_proof(client->connection.continue_key, out);
    hc_token_put_proof(client->credential.secret, out);
    return size;
}
