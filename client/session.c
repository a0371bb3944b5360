/// Owns a client's life: configuration, state, time limits, events and queries.
#include "client/session_internal.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <stddef.h>
#include <string.h>

/// The size of the first struct hc_client_config with a size. A program of this library's SONAME
/// has at least its members.
enum { CONFIG_SIZE_MIN = offsetof(struct hc_client_config, log_context) + sizeof(void *) };

void hc_client_config_init(struct hc_client_config *config, uint32_t size) {
    struct hc_client_config whole = {
        .size = size,
        .players = 1,
        .extrapolation = HC_EXTRAPOLATION_STEP,
        .input_delay = 3,
        .prediction_limit = 64,
        .smoothing_us = 50000,
        .timeout_us = HC_TIMEOUT_US,
        .reconnect_us = HC_RECONNECT_US,
    };
    memset(config, 0, size);
    memcpy(config, &whole, size < sizeof whole ? size : sizeof whole);
}

/// Writes the program's configuration over the defaults to `*whole`; false: its size is unknown.
static bool complete(const struct hc_client_config *config, struct hc_client_config *whole) {
    if (config->size < CONFIG_SIZE_MIN || config->size > sizeof *whole)
        return false;
    hc_client_config_init(whole, sizeof *whole);
    memcpy(whole, config, config->size);
    return true;
}

/// The name of the first field that is out of its range; NULL: none is.
static const char *check(const struct hc_client_config *config) {
    if (config->game == NULL)
        return "game";
    if (config->players > HC_OWN_PLAYERS_MAX)
        return "players";
    if (config->extrapolation > HC_EXTRAPOLATION_STEP)
        return "extrapolation";
    if (config->input_delay > HC_INPUT_DELAY_MAX)
        return "input_delay";
    if (config->display_offset > HC_DISPLAY_OFFSET_MAX)
        return "display_offset";
    if (config->others > HC_OTHERS_AS_RECEIVED)
        return "others";
    if (config->lead > HC_LEAD_MAX)
        return "lead";
    if (config->prediction_limit < 1 || config->prediction_limit > HC_PREDICTION_LIMIT_MAX)
        return "prediction_limit";
    if (config->input_redundancy > HC_INPUT_RUN_MAX)
        return "input_redundancy";
    if (config->prediction_limit <= config->lead)
        return "prediction_limit"; // it would stall for good
    if (config->entropy != NULL && sodium_is_zero(config->entropy, HC_CLIENT_ENTROPY_SIZE))
        return "entropy"; // the caller has not set it
    return config->timeout_us == 0 ? "timeout_us" : NULL;
}

const char *hc_client_config_check(const struct hc_client_config *config) {
    struct hc_client_config whole;
    if (!complete(config, &whole))
        return "size";
    const char *found = check(&whole);
    sodium_memzero(&whole, sizeof whole);
    return found;
}

/// Creates the client of a complete configuration.
static struct hc_client *create(const struct hc_client_config *config, uint64_t now_us) {
    struct hc_client *client = hc_allocate(config->allocator, sizeof *client);
    if (client == NULL)
        return NULL;
    client->config = *config;
    client->config.entropy = NULL; // borrowed for this call
    if (config->rule_hash == 0)
        client->config.rule_hash = hc_game_rule_hash(config->game, config->allocator);
    hc_cl_entropy_begin(config, now_us, &client->ratchet);
    client->credential = config->credential;
    client->messages.bytes = hc_allocate(config->allocator, HC_EVENTS_CHANNEL_BYTES);
    if (client->messages.bytes == NULL || client->config.rule_hash == 0) {
        hc_client_destroy(client);
        return NULL;
    }
    hc_events_channel_begin(&client->messages);
    client->stats.memory_bytes = sizeof *client + HC_EVENTS_CHANNEL_BYTES;
    client->begun_us = now_us;
    hc_cl_handshake_begin(client, now_us);
    return client;
}

struct hc_client *hc_client_create(const struct hc_client_config *config, uint64_t now_us) {
    struct hc_client_config whole;
    if (!complete(config, &whole))
        return NULL;
    struct hc_client *client =
        check(&whole) == NULL && sodium_init() >= 0 ? create(&whole, now_us) : NULL;
    sodium_memzero(&whole, sizeof whole);
    return client;
}

void hc_client_destroy(struct hc_client *client) {
    if (client == NULL)
        return;
    const struct hc_allocator *allocator = client->config.allocator;
    hc_cl_session_free_world(client);
    hc_release(allocator, client->messages.bytes);
    sodium_memzero(client, sizeof *client); // it holds keys
    hc_release(allocator, client);
}

void hc_cl_session_free_world(struct hc_client *client) {
    hc_cl_snapshot_reader_destroy(client->reader);
    hc_release(client->config.allocator, client->interpolation_memory);
    hc_timeline_destroy(client->timeline);
    hc_world_free(&client->world);
    client->reader = NULL;
    client->interpolation_memory = NULL;
    client->timeline = NULL;
    client->world = (struct hc_world){0};
    client->stats.memory_bytes -= client->world_bytes;
    client->world_bytes = 0;
}

// ---- Inside -------------------------------------------------------------------------------------

uint64_t hc_cl_session_interval_us(const struct hc_client *client) {
    return 1000000u / client->welcome.tick_rate;
}

uint32_t hc_cl_session_draw_below(struct hc_client *client, uint32_t bound) {
    uint8_t drawn[4];
    hc_ratchet_draw(&client->ratchet, drawn, sizeof drawn);
    struct hc_reader reader = hc_bytes_reader(drawn, sizeof drawn);
    return hc_bytes_get_u32(&reader) % bound;
}

void hc_cl_session_log(const struct hc_client *client, const char *line) {
    if (client->config.log != NULL)
        client->config.log(client->config.log_context, line);
}

void hc_cl_session_event(struct hc_client *client, const struct hc_client_event *event) {
    // The last place is for the event that closes the session.
    struct hc_cl_events *events = &client->events;
    if (events->count + (client->state != HC_CLIENT_CLOSED) >= HC_CL_EVENTS)
        return;
    events->queue[(events->first + events->count++) % HC_CL_EVENTS] = *event;
}

void hc_cl_session_player_event(struct hc_client *client, enum hc_client_event_kind kind,
                                hc_player player, hc_tick tick, const char *name) {
    struct hc_client_event event = {.kind = kind, .player = player, .tick = tick};
    if (client->events.count + HC_CL_EVENTS_SPARE >= HC_CL_EVENTS)
        return;
    if (name != NULL)
        memcpy(event.name, name, strlen(name));
    hc_cl_session_event(client, &event);
}

void hc_cl_session_close(struct hc_client *client, const struct hc_client_event *event) {
    HC_ASSERT(client->state != HC_CLIENT_CLOSED);
    client->state = HC_CLIENT_CLOSED;
    sodium_memzero(client->handshake.secret, sizeof client->handshake.secret);
    hc_cl_session_event(client, event);
}

void hc_cl_session_close_with(struct hc_client *client, enum hc_close_reason reason) {
    hc_cl_session_close(client,
                        &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = reason});
}

void hc_cl_session_lose(struct hc_client *client, enum hc_client_loss loss, uint64_t wait_us,
                        uint64_t now_us) {
    HC_ASSERT(client->state != HC_CLIENT_CLOSED && !hc_cl_handshake_active(client));
    if (client->config.reconnect_us == 0 || client->state == HC_CLIENT_LEAVING) {
        hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_TIMEOUT});
        return;
    }
    client->state = HC_CLIENT_RECONNECTING;
    client->lost_us = now_us + wait_us;
    client->stats.losses++;
    if (!client->connection.closed_by_peer)
        hc_connection_close(&client->connection, &(struct hc_close){.reason = HC_CLOSE_TIMEOUT},
                            false, now_us);
    hc_cl_handshake_begin(client, client->lost_us);
    client->handshake.due = wait_us == 0;
    hc_cl_session_log(client, loss == HC_CLIENT_LOSS_RESTART
                                  ? "the server restarts"
                                  : "the connection is lost, and being made again");
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_LOST,
                                                          .loss = loss,
                                                          .retry_ms = (uint32_t)(wait_us / 1000)});
}

void hc_cl_session_resimulate(struct hc_client *client) {
    const struct hc_client_config *config = &client->config;
    hc_tick first = hc_timeline_earliest(client->timeline);
    if (first != HC_NO_TICK && config->rollback_begins != NULL)
        config->rollback_begins(config->rollback_context, client, first);
    hc_timeline_resimulate(client->timeline);
    if (first != HC_NO_TICK && config->rollback_ended != NULL)
        config->rollback_ended(config->rollback_context, client, first);
}

struct hc_cl_interpolation_times hc_cl_session_shown(const struct hc_client *client,
                                                     uint64_t now_us) {
    uint64_t head_us = client->prediction.head_us;
    uint64_t elapsed_us = hc_since(head_us, now_us);
    return hc_cl_display_times(&client->display, client->timeline, elapsed_us,
                               hc_cl_session_interval_us(client));
}

// ---- Calls --------------------------------------------------------------------------------------

enum hc_status hc_client_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                 uint64_t now_us) {
    client->stats.datagrams_in++;
    client->stats.bytes_in += size;
    enum hc_status status = HC_UNEXPECTED;
    bool is_data = hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA;
    bool closed = client->state == HC_CLIENT_CLOSED;
    if (is_data && (!closed || client->connection.closed_by_peer))
        status = hc_cl_receive_data(client, bytes, size, now_us);
    else if (!is_data && !closed)
        status = hc_cl_handshake_receive(client, bytes, size, now_us);
    if (status != HC_OK)
        client->stats.rejected[status]++;
    return status;
}

void hc_client_set_input(struct hc_client *client, unsigned index, const void *input) {
    HC_ASSERT(index < client->config.players && input != NULL);
    hc_cl_predict_set_input(client, index, input);
}

static bool predicting(const struct hc_client *client) {
    return client->state == HC_CLIENT_PLAYING || client->state == HC_CLIENT_STALLED;
}

/// When the attempt to connect, or the connection, times out.
static uint64_t timeout_us(const struct hc_client *client) {
    if (client->state == HC_CLIENT_CONNECTING)
        return client->begun_us + client->config.timeout_us + client->handshake.denied_us;
    if (client->state == HC_CLIENT_RECONNECTING)
        return client->lost_us + client->config.reconnect_us;
    return hc_connection_lost_us(&client->connection, client->config.timeout_us);
}

static void time_out(struct hc_client *client, uint64_t now_us) {
    if (!hc_cl_handshake_active(client)) {
        hc_cl_session_lose(client, HC_CLIENT_LOSS_SILENCE, 0, now_us);
        return;
    }
    const struct hc_cl_handshake *handshake = &client->handshake;
    hc_cl_session_log(client,
                      handshake->hinted ? "refused by the server" : "the server does not answer");
    hc_cl_session_close(client, &(struct hc_client_event){.kind = handshake->hinted
                                                                      ? HC_CLIENT_EVENT_DENIED
                                                                      : HC_CLIENT_EVENT_TIMEOUT,
                                                          .deny = handshake->hint.reason,
                                                          .retry_ms = handshake->hint.retry_ms});
}

void hc_client_advance(struct hc_client *client, uint64_t now_us) {
    if (client->state == HC_CLIENT_CLOSED)
        return;
    if (now_us >= timeout_us(client)) {
        time_out(client, now_us);
        if (client->state == HC_CLIENT_CLOSED)
            return;
    }
    if (predicting(client) && hc_connection_keys_expired(&client->connection, now_us))
        hc_cl_session_lose(client, HC_CLIENT_LOSS_RENEWAL, 0, now_us);
    if (hc_cl_handshake_active(client)) {
        hc_cl_handshake_advance(client, now_us);
        return;
    }
    if (predicting(client))
        hc_cl_predict_advance(client, now_us);
    hc_cl_desync_advance(client, now_us);
    hc_cl_send_advance(client, now_us);
}

size_t hc_client_send(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                      uint64_t now_us) {
    size_t size = 0;
    if (client->close_unanswered)
        size = hc_connection_answer_close(&client->connection, out, now_us);
    else if (hc_cl_handshake_active(client))
        size = hc_cl_handshake_send(client, out, now_us);
    else if (client->state != HC_CLIENT_CLOSED)
        size = hc_cl_send_next(client, out, now_us);
    client->close_unanswered = false;
    client->stats.datagrams_out += size > 0;
    client->stats.bytes_out += size;
    return size;
}

static uint64_t earlier(uint64_t a_us, uint64_t b_us) {
    return a_us < b_us ? a_us : b_us;
}

uint64_t hc_client_deadline(const struct hc_client *client) {
    if (client->close_unanswered)
        return client->connection.received_us;
    if (client->state == HC_CLIENT_CLOSED)
        return UINT64_MAX;
    uint64_t deadline_us = timeout_us(client);
    if (hc_cl_handshake_active(client))
        return earlier(deadline_us, hc_cl_handshake_deadline(client));
    if (predicting(client))
        deadline_us = earlier(deadline_us, hc_cl_predict_deadline(client));
    return earlier(deadline_us, hc_cl_send_deadline(client));
}

bool hc_client_poll_event(struct hc_client *client, struct hc_client_event *event) {
    struct hc_cl_events *events = &client->events;
    if (events->count == 0)
        return false;
    *event = events->queue[events->first];
    events->first = (events->first + 1) % HC_CL_EVENTS;
    events->count--;
    return true;
}

void hc_client_leave(struct hc_client *client, uint64_t now_us) {
    if (client->state == HC_CLIENT_CLOSED || client->state == HC_CLIENT_LEAVING)
        return;
    if (hc_cl_handshake_active(client)) { // no connection to close
        hc_cl_session_close_with(client, HC_CLOSE_LEFT);
        return;
    }
    client->state = HC_CLIENT_LEAVING;
    hc_connection_close(&client->connection, &(struct hc_close){.reason = HC_CLOSE_LEFT}, true,
                        now_us);
}

enum hc_status hc_client_send_message(struct hc_client *client, const void *message, size_t size) {
    if (client->state == HC_CLIENT_LEAVING || client->state == HC_CLIENT_CLOSED)
        return HC_UNEXPECTED;
    return hc_events_put(&client->messages.out, message, size);
}

const uint8_t *hc_client_next_message(struct hc_client *client, size_t *size) {
    return hc_events_next(&client->messages.in, size);
}

enum hc_status hc_client_send_unreliable(struct hc_client *client, const void *message,
                                         size_t size) {
    bool connected = client->state == HC_CLIENT_JOINING || client->state == HC_CLIENT_PLAYING ||
                     client->state == HC_CLIENT_STALLED;
    if (!connected)
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&client->messages.unreliable_out, message, size);
    client->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_client_next_unreliable(struct hc_client *client, size_t *size) {
    return hc_unreliable_next(&client->messages.unreliable_in, size);
}

// ---- Queries ----------------------------------------------------------------------------------

enum hc_client_state hc_client_state(const struct hc_client *client) {
    return client->state;
}

struct hc_client_attempt hc_client_attempt(const struct hc_client *client) {
    const struct hc_cl_handshake *handshake = &client->handshake;
    return (struct hc_client_attempt){.answered = handshake->answered || handshake->hinted,
                                      .denied = handshake->hinted,
                                      .proven = handshake->proven,
                                      .deny = handshake->hint.reason,
                                      .protocol_id =
                                          handshake->version_received ? handshake->version_id : 0};
}

const struct hc_world *hc_client_world(const struct hc_client *client) {
    return client->timeline != NULL ? &client->world : NULL;
}

hc_player hc_client_player(const struct hc_client *client, unsigned index) {
    return index < client->welcome.own_count ? client->welcome.own[index] : HC_NO_PLAYER;
}

const struct hc_timeline *hc_client_timeline(const struct hc_client *client) {
    return client->timeline;
}

bool hc_client_snapshot(const struct hc_client *client, hc_tick *shown, hc_tick *as_of) {
    if (!client->newest.any)
        return false;
    *shown = client->newest.snapshot.tick;
    *as_of = client->newest.snapshot.as_of;
    return true;
}

bool hc_client_final(const struct hc_client *client, hc_tick *tick, uint64_t *chain) {
    if (!client->newest.has_chain)
        return false;
    *tick = client->newest.final;
    if (chain != NULL)
        *chain = client->newest.chain;
    return true;
}

bool hc_client_show_tick(const struct hc_client *client, uint64_t now_us, hc_tick *tick,
                         uint32_t *fraction) {
    if (!client->newest.any || client->is_light)
        return false;
    struct hc_cl_interpolation_times times = hc_cl_session_shown(client, now_us);
    *tick = times.own.tick;
    *fraction = times.own.fraction;
    return true;
}

bool hc_client_show_tick_of(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                            hc_tick *tick, uint32_t *fraction) {
    if (!client->newest.any || client->is_light || entity >= client->world.entities)
        return false;
    struct hc_cl_interpolation_times times = hc_cl_session_shown(client, now_us);
    struct hc_cl_interpolation_time time =
        hc_cl_interpolation_time_of(&client->interpolation, &times, entity);
    *tick = time.tick;
    *fraction = time.fraction;
    return true;
}

const struct hc_client_stats *hc_client_stats(const struct hc_client *client) {
    return &client->stats;
}
