#include "client/session.h"

#include "common/mark.h"
#include "hindcast/check.h"

#include <string.h>

/// What a datagram says.
struct said {
    const struct hc_cl_received *snapshot; ///< NULL: none
    bool has_close, has_ticket, has_path, has_events;
    enum hc_close_reason close;
    struct hc_ticket ticket;
    uint8_t path[HC_PATH_SIZE];
};

static enum hc_status read_message(struct hc_client *client, enum hc_message_type type,
                                   struct said *said) {
    hc_tick near = client->newest.any ? client->newest.snapshot.as_of : client->welcome.tick;
    enum hc_status status;
    switch (type) {
    case HC_MESSAGE_SNAPSHOT:
        status = hc_cl_snapshot_reader_decode(client->reader, &client->body, near, &said->snapshot);
        client->stats.hash_checks += status == HC_OK || status == HC_INVALID;
        client->stats.hash_mismatches += status == HC_INVALID;
        return status;
    case HC_MESSAGE_CLOSE:
        said->has_close = true;
        return hc_message_get_close(&client->body, &said->close);
    case HC_MESSAGE_TICKET:
        said->has_ticket = true;
        return hc_message_get_ticket(&client->body, &said->ticket);
    case HC_MESSAGE_PATH_CHALLENGE:
        said->has_path = true;
        return hc_message_get_path(&client->body, said->path);
    case HC_MESSAGE_EVENTS:
        said->has_events = true;
        return hc_events_check(&client->messages.in, hc_body_values(&client->body));
    default: // what only clients say
        return HC_MALFORMED;
    }
}

/// Reads the whole body, so that a fault at its end is found before its beginning is believed.
static enum hc_status read_body(struct hc_client *client, const struct hc_data *data,
                                struct said *said) {
    enum hc_message_type type = HC_MESSAGE_END;
    enum hc_status status = hc_body_begin(&client->body, data->body, data->body_size);
    while (status == HC_OK && (type = hc_body_next(&client->body)) != HC_MESSAGE_END)
        status = read_message(client, type, said);
    return status;
}

// ---- Applying -----------------------------------------------------------------------------------

static bool own(const struct hc_client *client, hc_player player) {
    for (uint8_t i = 0; i < client->welcome.own_count; i++)
        if (client->welcome.own[i] == player)
            return true;
    return false;
}

/// Puts what is told of units into the timeline: of the tick shown, or of those before it.
static void apply_values(struct hc_client *client, const struct hc_cl_received *said,
                         bool corrections) {
    const struct hc_world *world = &client->world;
    struct hc_entity_state states[HC_UNIT_ENTITIES_MAX];
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->told[i];
        uint32_t count = hc_unit_count(world, told->unit);
        if (told->correction != corrections)
            continue;
        for (uint32_t e = 0; e < count; e++)
            states[e] = (struct hc_entity_state){
                .entity = (hc_entity)(hc_unit_first(world, told->unit) + e),
                .presence = told->dropped ? HC_UNKNOWN : told->value.presence[e],
                .state = told->dropped ? NULL : told->value.states + (size_t)e * world->stride};
        hc_timeline_put_state(client->timeline, told->value.tick, said->head.as_of, states, count);
        client->stats.corrections += corrections;
    }
}

static void apply_forced(struct hc_client *client, const struct hc_snapshot_forced *forced) {
    hc_player player = client->welcome.own[forced->own];
    for (uint32_t i = 0; i < forced->count; i++)
        if (hc_timeline_retract(client->timeline, player, forced->first + i) == HC_OK)
            client->stats.inputs_forced++;
}

/// What others did: of every player told the newest known input before the tick shown, and what is
/// known from it on.
static void apply_inputs(struct hc_client *client, const struct hc_cl_received *said) {
    for (uint32_t i = 0; i < said->roster_count; i++)
        hc_timeline_put_roster(client->timeline, said->roster_changes[i].player,
                               said->roster_changes[i].tick, said->roster_changes[i].roster_change);
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->told[i];
        hc_player player = hc_unit_player(&client->world, told->unit);
        if (player != HC_NO_PLAYER && !own(client, player) && !told->dropped && !told->correction &&
            told->value.known != HC_NO_TICK)
            hc_timeline_put_input(client->timeline, player, told->value.known, told->value.input);
    }
    for (uint32_t i = 0; i < said->input_count; i++)
        hc_timeline_put_input(client->timeline, said->inputs[i].player, said->inputs[i].tick,
                              said->inputs[i].input);
}

/// Puts all that a snapshot says into the timeline. The order matters: without the states there is
/// no window, or an old one, to put inputs into; a join or a leave ends what is predicted from
/// older inputs; and a forced input must be gone before the older one that the server predicts from
/// can take its place.
static void apply_snapshot(struct hc_client *client, const struct hc_cl_received *said) {
    apply_values(client, said, false);
    for (uint32_t i = 0; i < said->forced_count; i++)
        apply_forced(client, &said->forced[i]);
    // One that was overtaken may tell inputs of a player who has left since; all that counts of its
    // inputs was in the newer one.
    if (!client->newest.any || said->head.as_of > client->newest.snapshot.as_of)
        apply_inputs(client, said);
    apply_values(client, said, true);
    hc_timeline_resimulate(client->timeline);
}

static void count_settled(struct hc_client *client, uint64_t steps_before, bool restarted) {
    const struct hc_timeline_stats *timeline = hc_timeline_stats(client->timeline);
    client->stats.snapshots++;
    if (restarted) {
        client->stats.restarts++;
    } else if (timeline->resimulated_steps == steps_before) {
        client->stats.snapshots_matched++;
    } else {
        client->stats.rollbacks++;
        hc_histogram_record(&client->stats.rollback_depth, timeline->depth);
    }
}

/// The first snapshot: the world begins at the tick that it shows.
static void begin_world(struct hc_client *client, const struct hc_cl_received *said,
                        uint64_t now_us) {
    apply_snapshot(client, said);
    client->stats.snapshots++;
    client->stats.snapshots_matched++;
    hc_cl_predict_restart(client, now_us);
    client->state = HC_CLIENT_PLAYING;
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_PLAYING});
}

/// A later one: the past changes, and with it what is shown.
static void change_world(struct hc_client *client, const struct hc_cl_received *said,
                         uint64_t now_us) {
    struct hc_timeline *timeline = client->timeline;
    hc_tick tick = said->head.tick;
    // A server a little ahead of its estimated clock is no reason to begin anew.
    if (tick > hc_timeline_head(timeline))
        hc_cl_predict_catch_up(client, tick, now_us);
    bool restarts = tick > hc_timeline_head(timeline);
    uint64_t steps = hc_timeline_stats(timeline)->resimulated_steps;
    hc_cl_interpolation_capture(&client->interpolation, timeline,
                                hc_cl_session_shown(client, now_us));
    apply_snapshot(client, said);
    if (restarts)
        hc_cl_predict_restart(client, now_us);
    count_settled(client, steps, restarts);
    hc_cl_interpolation_correct(&client->interpolation, timeline,
                                hc_cl_session_shown(client, now_us), now_us);
}

// ---- Time ---------------------------------------------------------------------------------------

/// Learns from a snapshot's stamps, newer than any before. `ack` is the own datagram that the
/// server had received last. Each is good for one round trip, whatever else has acknowledged it.
static void learn_time(struct hc_client *client, const struct hc_snapshot *snapshot, uint32_t ack,
                       uint64_t now_us) {
    uint64_t server_us =
        hc_tick_due_us(snapshot->as_of, client->welcome.tick_rate) + snapshot->phase_us;
    uint64_t rtt_us;
    if (!hc_cl_connection_measure(&client->connection, ack, snapshot->ack_delay_us, now_us,
                                  &rtt_us)) {
        hc_cl_clock_estimate(&client->clock, now_us,
                             client->handshake.rtt_us == UINT64_MAX ? 0 : client->handshake.rtt_us,
                             server_us);
        return;
    }
    hc_cl_clock_sample(&client->clock, now_us, rtt_us, server_us);
    hc_histogram_record(&client->stats.rtt_us, rtt_us);
    client->stats.rtt_min_us = client->clock.rtt_min_us;
    client->stats.jitter_us = client->clock.rttvar_us;
}

static void take_snapshot(struct hc_client *client, const struct hc_cl_received *said, uint32_t ack,
                          uint64_t now_us) {
    struct hc_cl_newest *news = &client->newest;
    bool first = !news->any, newest = first || said->head.as_of > news->snapshot.as_of;
    if (newest) {
        learn_time(client, &said->head, ack, now_us);
    } else {
        HC_MARK("snapshot-overtaken");
        client->stats.snapshots_stale++;
    }
    if (first)
        begin_world(client, said, now_us);
    else
        change_world(client, said, now_us);
    if (!newest)
        return;
    news->any = true;
    news->snapshot = said->head;
    if (said->head.has_chain) {
        news->has_chain = true;
        news->final = said->head.final;
        news->chain = said->head.chain;
    }
}

/// What is not about the world.
static void take_news(struct hc_client *client, const struct said *said) {
    if (said->has_ticket) {
        client->credential = said->ticket.credential;
        hc_cl_connection_set_reset_token(&client->connection, said->ticket.reset_token);
    }
    if (said->has_events) {
        hc_body_rewind(&client->body);
        hc_body_next_of(&client->body, HC_MESSAGE_EVENTS);
        enum hc_status status = hc_events_take(&client->messages.in, hc_body_values(&client->body));
        HC_ASSERT(status == HC_OK);
    }
    if (said->has_path && hc_cl_connection_challenge(&client->connection, said->path))
        hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_MOVED});
}

/// The server says goodbye: for good, or because it has heard nothing.
static void take_close(struct hc_client *client, enum hc_close_reason reason, uint64_t now_us) {
    if (reason == HC_CLOSE_TIMEOUT && client->config.reconnect_us > 0 &&
        client->state != HC_CLIENT_LEAVING) {
        hc_cl_session_lose(client, HC_CLIENT_LOSS_TIMEOUT, now_us);
        return;
    }
    hc_cl_session_log(client, "closed by the server");
    hc_cl_session_close(client,
                        &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = reason});
}

/// Opens a DATA and reads it; nothing is changed yet.
static enum hc_status read_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                struct hc_data *data, struct said *said) {
    enum hc_status status =
        hc_cl_connection_open(&client->connection, bytes, size, client->opened, data);
    return status == HC_OK ? read_body(client, data, said) : status;
}

enum hc_status hc_cl_receive_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint64_t now_us) {
    struct hc_data data;
    struct said said = {.snapshot = NULL};
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t acked_count = 0;
    enum hc_status status = read_data(client, bytes, size, &data, &said);
    if (status == HC_OK)
        status = hc_cl_connection_receive(&client->connection, &data, now_us, acked, &acked_count);
    if (status != HC_OK)
        return status;
    for (uint32_t i = 0; i < acked_count; i++)
        hc_events_acked(&client->messages.out, acked[i].seq);
    if (said.snapshot != NULL)
        hc_cl_snapshot_reader_accept(client->reader); // it is acknowledged now
    if (said.has_close) {
        take_close(client, said.close, now_us);
    } else if (said.snapshot != NULL && client->state != HC_CLIENT_LEAVING) {
        take_snapshot(client, said.snapshot, data.ack, now_us);
    }
    take_news(client, &said);
    return HC_OK;
}
