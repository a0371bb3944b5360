/// Owns a client's life: it calls link, timing and world in their order, and ends for a reason.
#include "client/session.h"

#include "client/client.h"
#include "client/config.h"
#include "client/link/entropy.h"
#include "client/predict.h"
#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/mark.h"
#include "hindcast/check.h"

#include <sodium.h>
#include <stdio.h>

// ---- Creation -----------------------------------------------------------------------------------

static bool add_world(struct hc_client *client) {
    client->world = hc_allocate(client->config.allocator, sizeof *client->world);
    if (client->world == NULL)
        return false;
    client->stats.memory_bytes += sizeof *client->world;
    hc_cl_world_init(client->world, &client->config, &client->stats, client);
    return true;
}

/// Creates the client of a whole configuration.
static struct hc_client *create_whole(const struct hc_client_config *config, bool light,
                                      uint64_t now_us) {
    struct hc_client *client = hc_allocate(config->allocator, sizeof *client);
    if (client == NULL)
        return NULL;
    client->config = *config;
    if (config->rule_hash == 0)
        client->config.rule_hash = hc_game_rule_hash(config->game, config->allocator);
    if (client->config.display_offset_max < config->display_offset)
        client->config.display_offset_max = config->display_offset;
    client->stats.memory_bytes = sizeof *client;
    client->begun_us = now_us;
    client->ahead_max = hc_cl_config_ahead(&client->config);
    if (client->ahead_max < HC_CL_WORLD_AHEAD_MIN)
        client->ahead_max = HC_CL_WORLD_AHEAD_MIN;
    bool ready = hc_cl_link_init(&client->link, &client->config, &client->stats, now_us) &&
                 client->config.rule_hash != 0 && (light || add_world(client));
    client->config.entropy = NULL; // borrowed for this call
    if (!ready) {
        hc_client_destroy(client);
        return NULL;
    }
    hc_cl_link_connect(&client->link, now_us, now_us);
    return client;
}

static struct hc_client *create(const struct hc_client_config *config, bool light,
                                uint64_t now_us) {
    struct hc_client_config whole;
    if (!hc_cl_config_complete(config, &whole))
        return NULL;
    bool valid = hc_cl_config_check(&whole) == NULL && sodium_init() >= 0;
    struct hc_client *client = valid ? create_whole(&whole, light, now_us) : NULL;
    sodium_memzero(&whole, sizeof whole);
    return client;
}

struct hc_client *hc_client_create(const struct hc_client_config *config, uint64_t now_us) {
    return create(config, false, now_us);
}

struct hc_client *hc_cl_session_create_light(const struct hc_client_config *config,
                                             uint64_t now_us) {
    return create(config, true, now_us);
}

void hc_client_destroy(struct hc_client *client) {
    if (client == NULL)
        return;
    const struct hc_allocator *allocator = client->config.allocator;
    hc_cl_world_free(client->world);
    hc_release(allocator, client->world);
    hc_cl_link_free(&client->link);
    sodium_memzero(client, sizeof *client); // it holds keys
    hc_release(allocator, client);
}

// ---- Ends ---------------------------------------------------------------------------------------

static void log_line(const struct hc_client *client, const char *line) {
    if (client->config.log != NULL)
        client->config.log(client->config.log_context, line);
}

static void put_event(struct hc_client *client, enum hc_client_event_kind kind) {
    hc_cl_events_put(&client->events, &(struct hc_client_event){.kind = kind});
}

/// Closes the session: `event` is the last one.
static void end(struct hc_client *client, const struct hc_client_event *event) {
    HC_ASSERT(client->state != HC_CLIENT_CLOSED);
    client->state = HC_CLIENT_CLOSED;
    hc_cl_handshake_end(&client->link.handshake);
    hc_cl_events_put_last(&client->events, event);
}

/// Closes the session with HC_CLIENT_EVENT_CLOSED.
static void end_with(struct hc_client *client, enum hc_close_reason reason) {
    end(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = reason});
}

/// Closes the session because the server denies the client.
static void end_denied(struct hc_client *client, const struct hc_deny *deny) {
    log_line(client, "refused by the server");
    end(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_DENIED,
                                          .deny = deny->reason,
                                          .retry_ms = deny->retry_ms});
}

/// The connection is lost: reconnects after `wait_us`, or closes the session if it must not
/// reconnect.
static void lose(struct hc_client *client, enum hc_client_loss loss, uint64_t wait_us,
                 uint64_t now_us) {
    HC_ASSERT(client->state != HC_CLIENT_CLOSED && !hc_cl_link_connects(&client->link));
    if (client->config.reconnect_us == 0 || client->state == HC_CLIENT_LEAVING) {
        end(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_TIMEOUT});
        return;
    }
    client->state = HC_CLIENT_RECONNECTING;
    client->lost_us = now_us + wait_us;
    client->stats.losses++;
    hc_cl_link_connect(&client->link, client->lost_us, now_us);
    log_line(client, loss == HC_CLIENT_LOSS_RESTART
                         ? "the server restarts"
                         : "the connection is lost, and being made again");
    hc_cl_events_put(&client->events,
                     &(struct hc_client_event){.kind = HC_CLIENT_EVENT_LOST,
                                               .loss = loss,
                                               .retry_ms = (uint32_t)(wait_us / 1000)});
}

/// Leaves, with a CLOSE that the client sends.
static void leave(struct hc_client *client, const struct hc_close *close, uint64_t now_us) {
    client->state = HC_CLIENT_LEAVING;
    hc_connection_close(&client->link.connection, close, true, now_us);
}

// ---- Desync -------------------------------------------------------------------------------------

/// Tells the game where the world differs, and closes the connection unless it is configured to
/// stay.
static void report_desync(struct hc_client *client, const struct hc_difference *difference,
                          uint64_t now_us) {
    char line[HC_DIFFERENCE_TEXT_MAX + 64], text[HC_DIFFERENCE_TEXT_MAX];
    hc_cl_desync_report(&client->desync);
    client->stats.desyncs++;
    hc_cl_events_put(&client->events, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_DESYNC,
                                                                .tick = difference->tick,
                                                                .difference = *difference});
    snprintf(line, sizeof line, "this build computes another world than the server: %s",
             hc_difference_text(difference, text, sizeof text));
    log_line(client, line);
    if (client->config.stays_desynced || client->state == HC_CLIENT_LEAVING)
        return;
    struct hc_close close = hc_cl_desync_close(difference);
    leave(client, &close, now_us);
}

/// Notes that the snapshot which was decoded last does not match its hash. Several within a short
/// time are a desync: then the client asks the server for its values.
static void note_mismatch(struct hc_client *client, uint64_t now_us) {
    const struct hc_cl_snapshot_reader *reader = client->world->reader;
    hc_tick as_of = hc_cl_snapshot_reader_newest(reader)->header.as_of;
    if (!hc_cl_desync_note(&client->desync, as_of, now_us))
        return;
    if (client->state == HC_CLIENT_LEAVING) { // nothing but CLOSE may be sent
        struct hc_difference suspect = hc_cl_snapshot_reader_suspect(reader);
        report_desync(client, &suspect, now_us);
        return;
    }
    hc_cl_desync_ask(&client->desync, reader, now_us);
    hc_cl_sending_make_due(&client->link.sending);
}

/// Tells the game of a suspect when no answer has come for too long.
static void end_question(struct hc_client *client, uint64_t now_us) {
    if (!hc_cl_desync_overdue(&client->desync, now_us))
        return;
    struct hc_difference suspect = hc_cl_desync_suspect(&client->desync);
    report_desync(client, &suspect, now_us);
}

// ---- Ticks --------------------------------------------------------------------------------------

static bool is_predicting(const struct hc_client *client) {
    return client->state == HC_CLIENT_PLAYING || client->state == HC_CLIENT_STALLED;
}

/// Predicts the ticks that are due, or stalls, and delivers the game events that are shown.
static void predict(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_timing *timing = &client->timing;
    struct hc_cl_predict_result result = hc_cl_predict_advance(client, now_us);
    if (client->world != NULL)
        hc_cl_world_show_events(client->world,
                                hc_cl_timing_position(timing, now_us, HC_CL_INTERPOLATION_WHOLE));
    if (result.jumped)
        log_line(client, "the simulated time jumps: it was too far from the server's");
    if (result.stalled == (client->state == HC_CLIENT_STALLED))
        return;
    client->state = result.stalled ? HC_CLIENT_STALLED : HC_CLIENT_PLAYING;
    put_event(client, result.stalled ? HC_CLIENT_EVENT_STALLED : HC_CLIENT_EVENT_UNSTALLED);
}

// ---- Receiving DATA -----------------------------------------------------------------------------

/// The messages of one DATA.
struct received {
    const struct hc_snapshot *header; ///< The header of its snapshot; NULL: it has none.
    struct hc_cl_world_messages world;
    struct hc_cl_link_messages link;
};

/// Reads a message of the world for a light client: of a snapshot the beginning.
static enum hc_status skim_message(struct hc_client *client, enum hc_message_type type,
                                   struct received *received) {
    struct hc_cl_link *link = &client->link;
    struct hc_player_name names[HC_NAMES_EACH];
    uint32_t name_count;
    if (type == HC_MESSAGE_SNAPSHOT)
        received->header = &link->skimmed.header;
    if (type == HC_MESSAGE_SNAPSHOT)
        return hc_cl_link_skim(link);
    if (type == HC_MESSAGE_NAMES)
        return hc_message_get_names(&link->body, link->welcome.players, names, &name_count);
    return HC_OK;
}

static enum hc_status read_message(struct hc_client *client, enum hc_message_type type,
                                   struct received *received) {
    struct hc_cl_link *link = &client->link;
    if (!hc_cl_world_reads(type))
        return hc_cl_link_read(link, type, &received->link);
    if (type == HC_MESSAGE_SNAPSHOT && client->desync.asks)
        return HC_UNEXPECTED; // the reader holds the one that differs
    if (client->world == NULL)
        return skim_message(client, type, received);
    enum hc_status status =
        hc_cl_world_read(client->world, &link->body, hc_cl_link_near(link), &received->world);
    if (status == HC_OK && received->world.snapshot != NULL)
        received->header = &received->world.snapshot->header;
    return status;
}

/// Reads the whole body, so that a fault at its end is found before its beginning is applied.
static enum hc_status read_body(struct hc_client *client, const struct hc_data *data,
                                struct received *received) {
    struct hc_body *body = &client->link.body;
    enum hc_message_type type = HC_MESSAGE_END;
    enum hc_status status = hc_body_begin(body, data->body, data->body_size);
    while (status == HC_OK && (type = hc_body_next(body)) != HC_MESSAGE_END)
        status = read_message(client, type, received);
    return status;
}

/// Reports the joins and leaves of other players, each once.
static void report_roster(struct hc_client *client, const struct hc_cl_received *snapshot) {
    struct hc_client_event event;
    for (uint32_t i = 0; i < snapshot->roster_count; i++)
        if (hc_cl_world_roster(client->world, &snapshot->roster_changes[i], &event))
            hc_cl_events_put_player(&client->events, &event);
}

/// Takes a snapshot into the world.
static void take_into_world(struct hc_client *client, const struct hc_cl_received *snapshot,
                            bool overtaken, uint64_t now_us) {
    struct hc_cl_timing *timing = &client->timing;
    // The server may be a little ahead of its estimated clock: predict on, rather than restart.
    if (client->link.newest.any && hc_cl_timing_is_near(timing, snapshot->header.tick))
        hc_cl_predict_up_to(client, snapshot->header.tick);
    report_roster(client, snapshot);
    int64_t position = hc_cl_timing_position(timing, now_us, HC_CL_INTERPOLATION_WHOLE);
    if (hc_cl_world_take(client->world, snapshot, overtaken, position, now_us))
        hc_cl_timing_restart(timing, &client->link.clock, hc_cl_world_head(client->world), now_us);
}

/// Takes the beginning of a snapshot, of a light client.
static void take_skimmed(struct hc_client *client, uint64_t now_us) {
    const struct hc_cl_skimmed *skimmed = &client->link.skimmed;
    struct hc_cl_timing *timing = &client->timing;
    hc_tick tick = skimmed->header.tick;
    bool first = !client->link.newest.any;
    client->stats.snapshots++;
    for (uint32_t i = 0; i < skimmed->forced_count; i++) {
        const struct hc_snapshot_forced *forced = &skimmed->forced[i];
        hc_tick end = forced->first + forced->count;
        hc_tick late = hc_tick_min(end, hc_tick_max(forced->first, skimmed->header.refused_before));
        uint32_t counted = hc_cl_inputs_force(&client->link.inputs, forced->own, forced->first,
                                              late - forced->first);
        client->stats.forced_late += counted;
        client->stats.inputs_forced +=
            counted + hc_cl_inputs_force(&client->link.inputs, forced->own, late, end - late);
    }
    if (!first && hc_cl_timing_is_near(timing, tick))
        hc_cl_predict_up_to(client, tick);
    if (!first && tick <= timing->head)
        return;
    client->stats.restarts += !first;
    hc_cl_timing_restart(timing, &client->link.clock, tick, now_us);
}

static void take_snapshot(struct hc_client *client, const struct received *received,
                          const struct hc_accepted *accepted, uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    bool first = !link->newest.any;
    bool overtaken = hc_cl_newest_has_overtaken(&link->newest, received->header->as_of);
    if (overtaken) {
        HC_MARK("snapshot-overtaken");
        client->stats.snapshots_stale++;
    } else {
        hc_cl_link_take_sensors(link, received->header, accepted, now_us);
    }
    if (received->world.snapshot != NULL)
        take_into_world(client, received->world.snapshot, overtaken, now_us);
    else
        take_skimmed(client, now_us);
    if (first) {
        client->state = HC_CLIENT_PLAYING;
        put_event(client, HC_CLIENT_EVENT_PLAYING);
    }
    if (!overtaken)
        hc_cl_newest_take(&link->newest, received->header, now_us);
}

/// Takes the names of players. A light client has read none.
static void take_names(struct hc_client *client, const struct hc_cl_world_messages *messages,
                       uint32_t seq) {
    struct hc_client_event event;
    if (messages->snapshot != NULL)
        hc_cl_world_forget_names(client->world, messages->snapshot, seq);
    for (uint32_t i = 0; i < messages->name_count; i++)
        if (hc_cl_world_name(client->world, &messages->names[i], seq, &event))
            hc_cl_events_put_player(&client->events, &event);
}

/// Takes a notice, which comes once to the game.
static void take_notice(struct hc_client *client, const struct hc_cl_link_messages *messages) {
    if (messages->has_notice && hc_cl_link_take_notice(&client->link, messages->notice_number))
        client->stats.notices += hc_cl_events_put_notice(&client->events, &messages->notice);
}

/// Takes the server's answer to a question about a desync.
static void take_differs(struct hc_client *client, const struct hc_differs *differs,
                         uint64_t now_us) {
    struct hc_difference difference;
    if (hc_cl_desync_answer(&client->desync, differs, &difference))
        report_desync(client, &difference, now_us);
}

/// How long a client waits for a server that is back after `seconds`: not all come at once.
static uint64_t restart_wait_us(struct hc_client *client, uint32_t seconds) {
    struct hc_ratchet *ratchet = &client->link.handshake.ratchet;
    return (uint64_t)seconds * 1000000 + hc_cl_entropy_draw_below(ratchet, HC_RESTART_SPREAD_US);
}

/// Ends the session, or reconnects if the server closed because it received nothing or restarts.
static void take_close(struct hc_client *client, const struct hc_close *close, uint64_t now_us) {
    bool reconnects = client->config.reconnect_us > 0 && client->state != HC_CLIENT_LEAVING;
    enum hc_close_reason reason = close->reason;
    hc_cl_link_take_close(&client->link, close);
    if (reason == HC_CLOSE_TIMEOUT && reconnects) {
        lose(client, HC_CLIENT_LOSS_TIMEOUT, 0, now_us);
        return;
    }
    if (reason == HC_CLOSE_RESTARTING && reconnects) {
        lose(client, HC_CLIENT_LOSS_RESTART, restart_wait_us(client, close->seconds), now_us);
        return;
    }
    if (reason == HC_CLOSE_LEFT || reason == HC_CLOSE_DESYNC)
        reason = HC_CLOSE_KICKED; // these are for a client to say
    log_line(client, "closed by the server");
    end_with(client, reason);
}

/// Takes the messages of the DATA `seq`, which was accepted.
static void take_data(struct hc_client *client, const struct received *received, uint32_t seq,
                      const struct hc_accepted *accepted, uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    if (received->world.snapshot != NULL)
        hc_cl_snapshot_reader_accept(client->world->reader); // the next DATA acks it
    if (received->link.has_close)
        take_close(client, &received->link.close, now_us);
    else if (received->header != NULL && client->state != HC_CLIENT_LEAVING)
        take_snapshot(client, received, accepted, now_us);
    take_names(client, &received->world, seq);
    take_notice(client, &received->link);
    if (hc_cl_link_take_messages(link, &received->link, seq))
        put_event(client, HC_CLIENT_EVENT_MOVED);
    if (received->world.has_differs)
        take_differs(client, &received->world.differs, now_us);
    if (client->state == HC_CLIENT_LEAVING && link->connection.closes_left == 0)
        end_with(client, link->connection.close.reason);
}

static enum hc_status receive_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                   uint64_t now_us) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_cl_link *link = &client->link;
    struct hc_data data;
    struct received received = {.header = NULL};
    struct hc_accepted accepted;
    enum hc_status status = hc_cl_link_open(link, bytes, size, opened, &data);
    if (status == HC_OK && link->connection.closed_by_peer)
        return hc_cl_link_receive_last(link, &data, now_us);
    if (status == HC_OK)
        status = read_body(client, &data, &received);
    if (status == HC_INVALID)
        note_mismatch(client, now_us);
    if (status == HC_OK)
        status = hc_cl_link_accept(link, &data, now_us, &accepted);
    if (status == HC_OK)
        take_data(client, &received, data.seq, &accepted, now_us);
    return status;
}

// ---- Receiving handshakes -----------------------------------------------------------------------

/// Begins the connection of an ACCEPT. HC_NO_MEMORY: the session is closed.
static enum hc_status accept(struct hc_client *client, struct hc_cl_answer *answer,
                             uint64_t now_us) {
    const struct hc_welcome *welcome = &answer->welcome;
    struct hc_cl_timing *timing = &client->timing;
    bool again = client->link.handshake.attempt.again;
    if (hc_cl_timing_begin(timing, &client->config, welcome->future, welcome->tick_rate))
        log_line(client, "input delay and lead are cut to what the server accepts");
    hc_cl_link_begin(&client->link, answer, now_us);
    client->desync = (struct hc_cl_desync){.count = 0};
    if (client->world != NULL &&
        !hc_cl_world_build(client->world, welcome, timing->effective.bounds.input_delay_max,
                           client->ahead_max)) {
        end_with(client, HC_CLOSE_ERROR);
        return HC_NO_MEMORY;
    }
    client->state = HC_CLIENT_JOINING;
    client->stats.reconnects += again;
    hc_cl_events_put(&client->events,
                     &(struct hc_client_event){.kind = again ? HC_CLIENT_EVENT_RECONNECTED
                                                             : HC_CLIENT_EVENT_ACCEPTED,
                                               .resumed = again && welcome->resumed});
    log_line(client, "accepted by the server");
    return HC_OK;
}

static enum hc_status receive_other(struct hc_client *client, const uint8_t *bytes, size_t size,
                                    uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    struct hc_cl_answer answer;
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_RESET) {
        enum hc_status status = hc_cl_link_check_reset(link, bytes, size);
        if (status == HC_OK)
            lose(client, HC_CLIENT_LOSS_RESET, 0, now_us);
        return status;
    }
    enum hc_status status =
        hc_cl_handshake_receive(&link->handshake, &link->body, bytes, size, now_us, &answer);
    if (answer.kind == HC_CL_ANSWER_ACCEPT)
        status = accept(client, &answer, now_us);
    else if (answer.kind == HC_CL_ANSWER_DENY)
        end_denied(client, &answer.deny);
    sodium_memzero(&answer.keys, sizeof answer.keys);
    return status;
}

enum hc_status hc_client_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                 uint64_t now_us) {
    client->stats.datagrams_in++;
    client->stats.bytes_in += size;
    enum hc_status status = HC_UNEXPECTED;
    bool is_data = hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA;
    bool closed = client->state == HC_CLIENT_CLOSED;
    if (is_data && (!closed || client->link.connection.closed_by_peer))
        status = receive_data(client, bytes, size, now_us);
    else if (!is_data && !closed)
        status = receive_other(client, bytes, size, now_us);
    if (status != HC_OK)
        client->stats.rejected[status]++;
    return status;
}

// ---- Time ---------------------------------------------------------------------------------------

void hc_client_set_input(struct hc_client *client, unsigned index, const void *input) {
    HC_ASSERT(index < client->config.players && input != NULL);
    hc_cl_inputs_press(&client->link.inputs, index, input);
}

enum hc_status hc_client_set_timing(struct hc_client *client,
                                    const struct hc_client_timing *timing) {
    struct hc_client_config config = client->config;
    hc_cl_config_set_timing(&config, timing);
    bool valid =
        hc_cl_config_check(&config) == NULL && hc_cl_config_ahead(&config) <= client->ahead_max;
    sodium_memzero(&config, sizeof config);
    if (!valid)
        return HC_INVALID;
    hc_cl_config_set_timing(&client->config, timing);
    if (client->timing.tick_rate > 0 && hc_cl_timing_allow(&client->timing))
        log_line(client, "input delay and lead are cut to what the server accepts");
    return HC_OK;
}

/// The position in simulated time that is shown, in 1/HC_CL_INTERPOLATION_WHOLE ticks; 0 before the
/// first state. The position rests at the newest tick's end until another tick comes.
static int64_t shown_position(const struct hc_client *client, uint64_t now_us) {
    if (!client->link.newest.any)
        return 0;
    int64_t end = ((int64_t)hc_cl_world_head(client->world) + 1) * HC_CL_INTERPOLATION_WHOLE;
    int64_t position = hc_cl_timing_position(&client->timing, now_us, HC_CL_INTERPOLATION_WHOLE);
    return position < end ? position : end;
}

enum hc_status hc_client_set_display(struct hc_client *client,
                                     const struct hc_client_display *display, uint64_t now_us) {
    if (display->offset > client->config.display_offset_max ||
        display->others > HC_OTHERS_AS_RECEIVED)
        return HC_INVALID;
    client->config.display_offset = display->offset;
    client->config.others = display->others;
    if (hc_client_timeline(client) != NULL)
        hc_cl_world_choose_display(client->world, shown_position(client, now_us));
    return HC_OK;
}

/// When the attempt to connect, or the connection, times out.
static uint64_t timeout_us(const struct hc_client *client) {
    const struct hc_client_config *config = &client->config;
    if (client->state == HC_CLIENT_CONNECTING)
        return client->begun_us + config->timeout_us + client->link.handshake.attempt.denied_us;
    if (client->state == HC_CLIENT_RECONNECTING)
        return client->lost_us + config->reconnect_us;
    return hc_connection_lost_us(&client->link.connection, config->timeout_us);
}

static void time_out(struct hc_client *client, uint64_t now_us) {
    const struct hc_cl_attempt *attempt = &client->link.handshake.attempt;
    if (!attempt->active) {
        lose(client, HC_CLIENT_LOSS_SILENCE, 0, now_us);
        return;
    }
    if (attempt->hinted) {
        end_denied(client, &attempt->hint);
        return;
    }
    log_line(client, "the server does not answer");
    end(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_TIMEOUT});
}

static void advance_handshake(struct hc_client *client, uint64_t now_us) {
    if (hc_cl_handshake_advance(&client->link.handshake, now_us))
        return;
    log_line(client, "the server is of another build");
    end(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_VERSION});
}

static struct hc_cl_pace pace_of(const struct hc_client *client) {
    return (struct hc_cl_pace){.ticks = client->timing.ticks,
                               .interval_us = hc_cl_timing_interval_us(&client->timing),
                               .steady = client->state == HC_CLIENT_PLAYING};
}

void hc_client_advance(struct hc_client *client, uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    if (client->state == HC_CLIENT_CLOSED)
        return;
    client->advanced_us = now_us;
    if (now_us >= timeout_us(client)) {
        time_out(client, now_us);
        if (client->state == HC_CLIENT_CLOSED)
            return;
    }
    if (is_predicting(client) && hc_connection_keys_expired(&link->connection, now_us))
        lose(client, HC_CLIENT_LOSS_RENEWAL, 0, now_us);
    if (hc_cl_link_connects(link)) {
        advance_handshake(client, now_us);
        return;
    }
    if (is_predicting(client))
        predict(client, now_us);
    end_question(client, now_us);
    struct hc_cl_pace pace = pace_of(client);
    if (client->state != HC_CLIENT_LEAVING)
        hc_cl_link_advance(link, &pace, now_us);
}

static uint64_t earlier(uint64_t a_us, uint64_t b_us) {
    return a_us < b_us ? a_us : b_us;
}

uint64_t hc_client_deadline(const struct hc_client *client) {
    const struct hc_cl_link *link = &client->link;
    if (link->close_unanswered)
        return link->connection.received_us;
    if (client->state == HC_CLIENT_CLOSED)
        return UINT64_MAX;
    uint64_t deadline_us = timeout_us(client);
    if (hc_cl_link_connects(link))
        return earlier(deadline_us, hc_cl_handshake_deadline(&link->handshake));
    if (client->state == HC_CLIENT_LEAVING)
        return earlier(deadline_us, hc_connection_close_due_us(&link->connection));
    if (is_predicting(client))
        deadline_us = earlier(deadline_us, hc_cl_predict_deadline(client));
    struct hc_cl_pace pace = pace_of(client);
    return earlier(deadline_us, hc_cl_link_deadline(link, &pace));
}

void hc_client_leave(struct hc_client *client, uint64_t now_us) {
    if (client->state == HC_CLIENT_CLOSED || client->state == HC_CLIENT_LEAVING)
        return;
    if (hc_cl_link_connects(&client->link)) { // no connection to close
        end_with(client, HC_CLOSE_LEFT);
        return;
    }
    leave(client, &(struct hc_close){.reason = HC_CLOSE_LEFT}, now_us);
}

// ---- Sending ------------------------------------------------------------------------------------

/// Writes CLOSE if due. The session ends with the last one.
static size_t send_close(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                         uint64_t now_us) {
    struct hc_connection *connection = &client->link.connection;
    size_t size = hc_connection_send_close(connection, out, now_us);
    if (connection->closes_left == 0)
        end_with(client, connection->close.reason);
    return size;
}

/// Writes DATA if due and returns its size, else 0.
static size_t send_data(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                        uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    struct hc_writer body = hc_connection_writer(&link->connection, out);
    if (!hc_cl_sending_take_due(&link->sending))
        return 0;
    size_t compare = hc_cl_desync_reserve(&client->desync);
    size_t reserved = compare + hc_cl_link_reserve(link, compare == 0);
    body.size = hc_cl_link_room(link, &reserved, now_us);
    if (body.size == 0)
        return 0;
    struct hc_cl_input_report report = hc_cl_predict_report(client);
    hc_cl_link_put_inputs(link, &body, reserved, &report, now_us);
    hc_cl_link_put_path(link, &body);
    hc_cl_desync_put(&client->desync, &body, now_us);
    size_t size = hc_cl_link_finish_data(link, &body, out, now_us);
    if (size == 0) {
        log_line(client, "all datagram numbers are used up");
        end_with(client, HC_CLOSE_ERROR);
    }
    return size;
}

size_t hc_client_send(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                      uint64_t now_us) {
    struct hc_cl_link *link = &client->link;
    size_t size = 0;
    if (link->close_unanswered)
        size = hc_cl_link_answer_close(link, out, now_us);
    else if (hc_cl_link_connects(link))
        size = hc_cl_handshake_send(&link->handshake, &link->connection, out, now_us);
    else if (client->state == HC_CLIENT_LEAVING)
        size = send_close(client, out, now_us);
    else if (client->state != HC_CLIENT_CLOSED)
        size = send_data(client, out, now_us);
    client->stats.datagrams_out += size > 0;
    client->stats.bytes_out += size;
    return size;
}

// ---- Messages -----------------------------------------------------------------------------------

enum hc_status hc_client_send_message(struct hc_client *client, const void *message, size_t size) {
    if (client->state == HC_CLIENT_LEAVING || client->state == HC_CLIENT_CLOSED)
        return HC_UNEXPECTED;
    return hc_reliable_put(&client->link.messages.out, message, size);
}

const uint8_t *hc_client_next_message(struct hc_client *client, size_t *size) {
    return hc_reliable_next(&client->link.messages.in, size);
}

enum hc_status hc_client_send_unreliable(struct hc_client *client, const void *message,
                                         size_t size) {
    if (client->state != HC_CLIENT_JOINING && !is_predicting(client))
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&client->link.messages.unreliable_out, message, size);
    client->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_client_next_unreliable(struct hc_client *client, size_t *size) {
    return hc_unreliable_next(&client->link.messages.unreliable_in, size);
}

bool hc_client_poll_event(struct hc_client *client, struct hc_client_event *event) {
    return hc_cl_events_next(&client->events, event);
}

// ---- For bots -----------------------------------------------------------------------------------

bool hc_cl_session_watch(struct hc_client *client, struct hc_rewind_log *log,
                         hc_timeline_watch *watch, void *context) {
    if (hc_client_timeline(client) == NULL)
        return false;
    hc_timeline_log_rewinds(client->world->timeline, log);
    hc_timeline_set_watch(client->world->timeline, watch, context);
    return true;
}

bool hc_cl_session_head(const struct hc_client *client, hc_tick *head) {
    *head = client->timing.head;
    return client->link.newest.any;
}

uint32_t hc_cl_session_tick_rate(const struct hc_client *client) {
    return client->link.welcome.tick_rate;
}
