/// Reads DATA of the server, all of it before any of it is applied, and applies it.
#include "client/session_internal.h"

#include "common/mark.h"
#include "hindcast/check.h"

#include <string.h>

/// The messages of one datagram.
struct received {
    const struct hc_cl_received *snapshot; ///< NULL: none
    bool has_close, has_ticket, has_path, has_events, has_unreliable, has_differs;
    struct hc_close close;
    struct hc_ticket ticket;
    uint8_t path[HC_PATH_SIZE];
    struct hc_differs differs;
    uint32_t name_count;
    struct hc_player_name names[HC_NAMES_EACH];
};

static bool is_own(const struct hc_client *client, hc_player player) {
    for (uint8_t i = 0; i < client->welcome.own_count; i++)
        if (client->welcome.own[i] == player)
            return true;
    return false;
}

/// Decodes a snapshot. One that has inputs of an own player is malformed: they are the client's.
static enum hc_status read_snapshot(struct hc_client *client, hc_tick near,
                                    const struct hc_cl_received **out) {
    enum hc_status status = hc_cl_snapshot_reader_decode(client->reader, &client->body, near, out);
    client->stats.hash_checks += status == HC_OK || status == HC_INVALID;
    client->stats.hash_mismatches += status == HC_INVALID;
    for (uint32_t i = 0; status == HC_OK && i < (*out)->input_count; i++)
        if (is_own(client, (*out)->inputs[i].player))
            status = HC_MALFORMED;
    return status;
}

static enum hc_status read_message(struct hc_client *client, enum hc_message_type type,
                                   struct received *received) {
    hc_tick near = client->newest.any ? client->newest.snapshot.as_of : client->welcome.tick;
    switch (type) {
    case HC_MESSAGE_SNAPSHOT:
        if (client->desync.asks)
            return HC_UNEXPECTED; // the reader holds the one that differs
        return client->is_light ? hc_cl_light_read(client, near, &received->snapshot)
                                : read_snapshot(client, near, &received->snapshot);
    case HC_MESSAGE_CLOSE:
        received->has_close = true;
        return hc_message_get_close(&client->body, &received->close);
    case HC_MESSAGE_TICKET:
        received->has_ticket = true;
        return hc_message_get_ticket(&client->body, &received->ticket);
    case HC_MESSAGE_PATH_CHALLENGE:
        received->has_path = true;
        return hc_message_get_path(&client->body, received->path);
    case HC_MESSAGE_EVENTS:
        received->has_events = true;
        return hc_events_check(&client->messages.in, hc_body_values(&client->body));
    case HC_MESSAGE_UNRELIABLE:
        received->has_unreliable = true;
        return hc_unreliable_check(hc_body_values(&client->body));
    case HC_MESSAGE_NAMES:
        return hc_message_get_names(&client->body, client->welcome.players, received->names,
                                    &received->name_count);
    case HC_MESSAGE_DIFFERS:
        received->has_differs = !client->is_light; // which has no world, and never asks
        return client->is_light ? HC_OK
                                : hc_differs_get(&client->body, &client->world, &received->differs);
    default: // only clients send these
        return HC_MALFORMED;
    }
}

/// Reads the whole body, so that a fault at its end is found before its beginning is applied.
static enum hc_status read_body(struct hc_client *client, const struct hc_data *data,
                                struct received *received) {
    enum hc_message_type type = HC_MESSAGE_END;
    enum hc_status status = hc_body_begin(&client->body, data->body, data->body_size);
    while (status == HC_OK && (type = hc_body_next(&client->body)) != HC_MESSAGE_END)
        status = read_message(client, type, received);
    return status;
}

// ---- Applying -----------------------------------------------------------------------------------

/// Puts the values of the snapshot's tick, or its corrections, into the timeline.
static void apply_values(struct hc_client *client, const struct hc_cl_received *snapshot,
                         bool corrections) {
    const struct hc_world *world = &client->world;
    struct hc_entity_state states[HC_UNIT_ENTITIES_MAX];
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        uint32_t count = hc_unit_count(world, received->unit);
        if (received->correction != corrections)
            continue;
        for (uint32_t e = 0; e < count; e++)
            states[e] = (struct hc_entity_state){
                .entity = (hc_entity)(hc_unit_first(world, received->unit) + e),
                .presence = received->dropped ? HC_UNKNOWN : received->value.presence[e],
                .state =
                    received->dropped ? NULL : received->value.states + (size_t)e * world->stride};
        hc_timeline_put_state(client->timeline, received->value.tick, snapshot->header.as_of,
                              states, count);
        client->stats.corrections += corrections;
    }
}

static void apply_forced(struct hc_client *client, const struct hc_snapshot_forced *forced) {
    hc_player player = client->welcome.own[forced->own];
    for (uint32_t i = 0; i < forced->count; i++)
        if (hc_timeline_retract(client->timeline, player, forced->first + i) == HC_OK)
            client->stats.inputs_forced++;
}

/// Puts the inputs of other players into the timeline: of each that the snapshot has, the newest
/// known one before its tick, and those from its tick on. Before them, joins and leaves.
static void apply_inputs(struct hc_client *client, const struct hc_cl_received *snapshot) {
    for (uint32_t i = 0; i < snapshot->roster_count; i++) {
        const struct hc_snapshot_roster *change = &snapshot->roster_changes[i];
        hc_timeline_put_roster(client->timeline, change->player, change->tick,
                               change->roster_change);
    }
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        const struct hc_cl_received_value *received = &snapshot->values[i];
        hc_player player = hc_unit_player(&client->world, received->unit);
        if (player != HC_NO_PLAYER && !is_own(client, player) && !received->dropped &&
            !received->correction && received->value.known != HC_NO_TICK)
            hc_timeline_put_input(client->timeline, player, received->value.known,
                                  received->value.input);
    }
    for (uint32_t i = 0; i < snapshot->input_count; i++)
        hc_timeline_put_input(client->timeline, snapshot->inputs[i].player,
                              snapshot->inputs[i].tick, snapshot->inputs[i].input);
}

/// Reports another player's join or leave to the game, once, with its name. An overtaken snapshot
/// may be the first to have it.
static void report_roster(struct hc_client *client, const struct hc_snapshot_roster *change) {
    const char *before = hc_client_player_name(client, change->player);
    if (is_own(client, change->player) ||
        !hc_cl_seen_roster(&client->seen, change->player, change->tick))
        return;
    const char *after = hc_client_player_name(client, change->player);
    if (change->roster_change == HC_ROSTER_JOIN)
        hc_cl_session_player_event(client, HC_CLIENT_EVENT_PLAYER_JOINED, change->player,
                                   change->tick, after);
    else // the name of the next player may have come first
        hc_cl_session_player_event(client, HC_CLIENT_EVENT_PLAYER_LEFT, change->player,
                                   change->tick, after == NULL ? before : NULL);
}

/// Puts a snapshot into the timeline. The order matters: the states move the window of ticks that
/// takes inputs; a join or a leave ends predictions from older inputs; and a forced input must be
/// gone before the older one, from which the server predicts, can take its place.
static void apply_snapshot(struct hc_client *client, const struct hc_cl_received *snapshot) {
    apply_values(client, snapshot, false);
    for (uint32_t i = 0; i < snapshot->forced_count; i++)
        apply_forced(client, &snapshot->forced[i]);
    // An overtaken snapshot may have inputs of a player that has left since. Inputs that still
    // count were in the newer one too.
    if (!client->newest.any || snapshot->header.as_of > client->newest.snapshot.as_of)
        apply_inputs(client, snapshot);
    for (uint32_t i = 0; i < snapshot->roster_count; i++)
        report_roster(client, &snapshot->roster_changes[i]);
    apply_values(client, snapshot, true);
    hc_cl_session_resimulate(client);
    hc_cl_game_events_take(&client->game_events, snapshot, &client->stats);
    hc_cl_game_events_predict(&client->game_events, client->timeline, &client->world,
                              &client->stats);
}

static void count_snapshot(struct hc_client *client, uint64_t steps_before, bool restarted) {
    const struct hc_timeline_stats *timeline = hc_timeline_stats(client->timeline);
    client->stats.snapshots++;
    if (restarted) {
        client->stats.restarts++;
    } else if (timeline->resimulated_steps == steps_before) {
        client->stats.snapshots_matched++;
    } else {
        client->stats.rollbacks++;
        hc_histogram_record(&client->stats.rollback_depth, timeline->depth);
        client->recent.rollback_ticks = timeline->depth;
    }
}

/// The first snapshot: the timeline begins at its tick.
static void begin_world(struct hc_client *client, const struct hc_cl_received *snapshot) {
    apply_snapshot(client, snapshot);
    client->stats.snapshots++;
    client->stats.snapshots_matched++;
}

static void begin_play(struct hc_client *client, uint64_t now_us) {
    hc_cl_predict_restart(client, now_us);
    client->state = HC_CLIENT_PLAYING;
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_PLAYING});
}

/// A later snapshot: it changes the past, and with it the shown state.
static void change_world(struct hc_client *client, const struct hc_cl_received *snapshot,
                         uint64_t now_us) {
    struct hc_timeline *timeline = client->timeline;
    hc_tick tick = snapshot->header.tick;
    // The server may be a little ahead of its estimated clock: predict on, rather than restart.
    if (tick > hc_timeline_head(timeline))
        hc_cl_predict_catch_up(client, tick, now_us);
    bool restarts = tick > hc_timeline_head(timeline);
    uint64_t steps = hc_timeline_stats(timeline)->resimulated_steps;
    struct hc_cl_interpolation_times times = hc_cl_session_shown(client, now_us);
    hc_cl_interpolation_capture(&client->interpolation, timeline, &times);
    apply_snapshot(client, snapshot);
    if (restarts)
        hc_cl_predict_restart(client, now_us);
    count_snapshot(client, steps, restarts);
    times = hc_cl_session_shown(client, now_us);
    hc_cl_interpolation_correct(&client->interpolation, timeline, &times, now_us);
}

// ---- Time ---------------------------------------------------------------------------------------

/// Updates the client clock from the stamps of the newest snapshot.
static void update_clock(struct hc_client *client, const struct hc_snapshot *snapshot,
                         const struct hc_accepted *accepted, uint64_t now_us) {
    uint64_t server_us =
        hc_tick_due_us(snapshot->as_of, client->welcome.tick_rate) + snapshot->phase_us;
    uint64_t rtt_us;
    if (!hc_connection_measure(&client->connection, accepted, snapshot->ack_delay_us, now_us,
                               &rtt_us)) {
        hc_cl_clock_estimate(&client->clock, now_us,
                             client->handshake.rtt_us == UINT64_MAX ? 0 : client->handshake.rtt_us,
                             server_us);
        return;
    }
    hc_cl_clock_sample(&client->clock, now_us, rtt_us, server_us);
    hc_histogram_record(&client->stats.rtt_us, rtt_us);
    client->stats.rtt_min_us = client->clock.rtt_min_us;
    client->stats.jitter_us = client->connection.rttvar_us;
}

static void take_snapshot(struct hc_client *client, const struct hc_cl_received *snapshot,
                          const struct hc_accepted *accepted, uint64_t now_us) {
    struct hc_cl_newest *newest = &client->newest;
    bool first = !newest->any,
         overtaken = !first && snapshot->header.as_of <= newest->snapshot.as_of;
    if (overtaken) {
        HC_MARK("snapshot-overtaken");
        client->stats.snapshots_stale++;
    } else {
        update_clock(client, &snapshot->header, accepted, now_us);
    }
    if (client->is_light)
        hc_cl_light_take(client, now_us);
    else if (first)
        begin_world(client, snapshot);
    else
        change_world(client, snapshot, now_us);
    if (first)
        begin_play(client, now_us);
    if (overtaken)
        return;
    newest->any = true;
    newest->snapshot = snapshot->header;
    if (snapshot->header.has_chain) {
        newest->has_chain = true;
        newest->final = snapshot->header.final;
        newest->chain = snapshot->header.chain;
    }
}

/// Takes a PATH_CHALLENGE, which the next DATA answers, at once.
static void take_challenge(struct hc_client *client, const uint8_t path[static HC_PATH_SIZE]) {
    if (memcmp(client->path.data, path, HC_PATH_SIZE) != 0)
        hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_MOVED});
    memcpy(client->path.data, path, HC_PATH_SIZE);
    client->path.due = client->sending.due = true;
}

/// Takes the unreliable messages of the DATA.
static void take_unreliable(struct hc_client *client) {
    hc_body_rewind(&client->body);
    hc_body_next_of(&client->body, HC_MESSAGE_UNRELIABLE);
    client->stats.unreliable_received +=
        hc_unreliable_take(&client->messages.unreliable_in, hc_body_values(&client->body),
                           &client->stats.unreliable_dropped);
}

/// Takes the messages that are not about the world, of the DATA `seq`. A ticket that was overtaken
/// is of an earlier address or key of the server.
static void take_others(struct hc_client *client, const struct received *received, uint32_t seq,
                        uint64_t now_us) {
    if (received->has_ticket && seq > client->ticket_seq) {
        client->ticket_seq = seq;
        client->credential = received->ticket.credential;
        memcpy(client->reset_token, received->ticket.reset_token, sizeof client->reset_token);
    }
    if (received->has_events)
        hc_events_channel_take(&client->messages, &client->body);
    if (received->has_unreliable)
        take_unreliable(client);
    if (received->has_path)
        take_challenge(client, received->path);
    if (received->has_differs)
        hc_cl_desync_answer(client, &received->differs, now_us);
}

/// Forgets the names of the players that the snapshot drops: when they return they may have left
/// meanwhile, and others have taken their places.
static void forget_names(struct hc_client *client, const struct hc_cl_received *snapshot,
                         uint32_t seq) {
    for (uint32_t i = 0; i < snapshot->value_count; i++) {
        hc_player player = hc_unit_player(&client->world, snapshot->values[i].unit);
        if (snapshot->values[i].dropped && player != HC_NO_PLAYER)
            hc_cl_seen_forget(&client->seen, player, seq);
    }
}

static void take_names(struct hc_client *client, const struct received *received, uint32_t seq) {
    if (received->snapshot != NULL)
        forget_names(client, received->snapshot, seq);
    for (uint32_t i = 0; i < received->name_count; i++) {
        hc_player player = received->names[i].player;
        if (hc_cl_seen_name(&client->seen, &received->names[i], seq))
            hc_cl_session_player_event(client, HC_CLIENT_EVENT_PLAYER_NAMED, player, 0,
                                       hc_client_player_name(client, player));
    }
}

/// How long a client waits for a server that is back after `seconds`: not all come at once.
static uint64_t restart_wait_us(struct hc_client *client, uint32_t seconds) {
    return (uint64_t)seconds * 1000000 + hc_cl_session_draw_below(client, HC_RESTART_SPREAD_US);
}

/// Ends the session, or reconnects if the server closed because it received nothing or restarts.
static void take_close(struct hc_client *client, const struct hc_close *close, uint64_t now_us) {
    bool reconnects = client->config.reconnect_us > 0 && client->state != HC_CLIENT_LEAVING;
    enum hc_close_reason reason = close->reason;
    hc_connection_take_close(&client->connection, close);
    client->close_unanswered = true;
    if (reason == HC_CLOSE_TIMEOUT && reconnects) {
        hc_cl_session_lose(client, HC_CLIENT_LOSS_TIMEOUT, 0, now_us);
        return;
    }
    if (reason == HC_CLOSE_RESTARTING && reconnects) {
        hc_cl_session_lose(client, HC_CLIENT_LOSS_RESTART, restart_wait_us(client, close->seconds),
                           now_us);
        return;
    }
    if (reason == HC_CLOSE_LEFT || reason == HC_CLOSE_DESYNC)
        reason = HC_CLOSE_KICKED; // these are for a client to say
    hc_cl_session_log(client, "closed by the server");
    hc_cl_session_close_with(client, reason);
}

/// Takes a DATA after the server has closed the connection: only another CLOSE has an effect, since
/// the answer before may be lost.
static enum hc_status receive_last(struct hc_client *client, const struct hc_data *data,
                                   uint64_t now_us) {
    struct hc_close close;
    struct hc_accepted accepted;
    enum hc_status status = hc_body_begin(&client->body, data->body, data->body_size);
    if (status == HC_OK && hc_body_next(&client->body) != HC_MESSAGE_CLOSE)
        status = HC_UNEXPECTED;
    if (status == HC_OK)
        status = hc_message_get_close(&client->body, &close);
    if (status == HC_OK)
        status = hc_connection_accept(&client->connection, data, now_us, &accepted);
    client->close_unanswered |= status == HC_OK;
    return status;
}

enum hc_status hc_cl_receive_data(struct hc_client *client, const uint8_t *bytes, size_t size,
                                  uint64_t now_us) {
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_data data;
    struct received received = {.snapshot = NULL};
    struct hc_accepted accepted;
    enum hc_status status = hc_connection_open(&client->connection, bytes, size, opened, &data);
    if (status == HC_OK && client->connection.closed_by_peer)
        return receive_last(client, &data, now_us);
    if (status == HC_OK)
        status = read_body(client, &data, &received);
    if (status == HC_INVALID)
        hc_cl_desync_mismatch(client, now_us);
    if (status == HC_OK)
        status = hc_connection_accept(&client->connection, &data, now_us, &accepted);
    if (status != HC_OK)
        return status;
    client->stats.datagrams_lost += accepted.lost;
    hc_cl_recent_sent(&client->recent, accepted.count, accepted.lost);
    if (received.snapshot != NULL && !client->is_light)
        hc_cl_snapshot_reader_accept(client->reader); // the next DATA acks it
    if (received.has_close) {
        take_close(client, &received.close, now_us);
    } else if (received.snapshot != NULL && client->state != HC_CLIENT_LEAVING) {
        take_snapshot(client, received.snapshot, &accepted, now_us);
    }
    if (!client->is_light)
        take_names(client, &received, data.seq);
    take_others(client, &received, data.seq, now_us);
    if (client->state == HC_CLIENT_LEAVING && client->connection.closes_left == 0)
        hc_cl_session_close_with(client, client->connection.close.reason);
    return HC_OK;
}
