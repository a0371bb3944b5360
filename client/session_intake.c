#include "client/session.h"

#include "common/check.h"
#include "common/mark.h"

#include <string.h>

/// What a datagram says besides what is left in its body.
struct said {
    bool has_snapshot, has_close;
    struct hc_snapshot snapshot;
    uint32_t told; ///< entities in client->told
    enum hc_close_reason close;
};

/// A message that comes after SNAPSHOT, read.
union message {
    struct hc_snapshot_inputs inputs;
    struct hc_snapshot_control control;
    struct hc_snapshot_forced forced;
    struct hc_snapshot_correction correction;
};

// ---- Reading
// ------------------------------------------------------------------------------------

static bool own(const struct hc_client *client, hc_player player) {
    for (uint8_t i = 0; i < client->welcome.own_count; i++)
        if (client->welcome.own[i] == player)
            return true;
    return false;
}

/// Gathers the entities that are told and compares them with the server's hash.
static enum hc_status check_told(struct hc_client *client, struct said *said) {
    const struct hc_world *world = &client->world;
    said->told = 0;
    for (uint32_t e = 0; e < world->entities; e++)
        if (client->told_presence[e] != HC_UNKNOWN)
            client->told[said->told++] =
                (struct hc_entity_state){.entity = (hc_entity)e,
                                         .presence = client->told_presence[e],
                                         .state = client->told_states + e * world->stride};
    client->stats.hash_checks++;
    uint64_t hash = hc_world_hash(world, client->told_presence, client->told_states);
    if ((uint32_t)hash == said->snapshot.hash)
        return HC_OK;
    client->stats.hash_mismatches++;
    return HC_MALFORMED;
}

static enum hc_status read_snapshot(struct hc_client *client, struct said *said) {
    struct hc_snapshot *snapshot = &said->snapshot;
    enum hc_status status = hc_snapshot_get(&client->body, &client->world, snapshot,
                                            client->told_presence, client->told_states);
    if (status != HC_OK)
        return status;
    if (snapshot->own_count != client->welcome.own_count || snapshot->as_of > HC_CL_TICK_MAX ||
        snapshot->tick > snapshot->as_of)
        return HC_MALFORMED;
    said->has_snapshot = true;
    return check_told(client, said);
}

/// Reads the present message, of one of the four types that refer to the
/// snapshot of `tick`.
static enum hc_status read_referring(struct hc_client *client, enum hc_message_type type,
                                     hc_tick tick, union message *out) {
    const struct hc_body *body = &client->body;
    enum hc_status status;
    switch (type) {
    case HC_MESSAGE_INPUTS:
        return hc_snapshot_get_inputs(body, &client->world, tick, &out->inputs);
    case HC_MESSAGE_CONTROL:
        return hc_snapshot_get_control(body, &client->world, tick, &out->control);
    case HC_MESSAGE_FORCED:
        status = hc_snapshot_get_forced(body, &client->world, tick, &out->forced);
        return status == HC_OK && !own(client, out->forced.player) ? HC_MALFORMED : status;
    case HC_MESSAGE_CORRECTION:
        return hc_snapshot_get_correction(body, &client->world, tick, &out->correction);
    default: // what only clients say, or what belongs elsewhere
        return HC_MALFORMED;
    }
}

/// Reads the whole body, so that a fault at its end is found before its
/// beginning is believed.
static enum hc_status read_body(struct hc_client *client, const struct hc_data *data,
                                struct said *said) {
    union message message;
    enum hc_message_type type = HC_MESSAGE_END;
    enum hc_status status = hc_body_begin(&client->body, data->body, data->body_size);
    while (status == HC_OK && (type = hc_body_next(&client->body)) != HC_MESSAGE_END) {
        if (type == HC_MESSAGE_CLOSE) {
            said->has_close = true;
            status = hc_message_get_close(&client->body, &said->close);
        } else if (type == HC_MESSAGE_SNAPSHOT) {
            status = said->has_snapshot ? HC_MALFORMED : read_snapshot(client, said);
        } else if (said->has_snapshot) {
            status = read_referring(client, type, said->snapshot.tick, &message);
        } else {
            status = HC_MALFORMED;
        }
    }
    return status;
}

// ---- Applying
// -----------------------------------------------------------------------------------

static void apply_inputs(struct hc_client *client, struct hc_snapshot_inputs *inputs) {
    const struct hc_game *game = client->config.game;
    uint8_t input[HC_INPUT_MAX];
    for (uint32_t i = 0; i < inputs->count; i++) {
        const void *packed = hc_input_run_next(&inputs->run);
        HC_ASSERT(packed != NULL); // the run was read to its end before
        memcpy(input, packed, game->input_size);
        game->sanitize_input(input);
        hc_timeline_put_input(client->timeline, inputs->player, inputs->first + i, input);
    }
}

static void apply_forced(struct hc_client *client, const struct hc_snapshot_forced *forced) {
    for (uint32_t i = 0; i < forced->count; i++)
        if (hc_timeline_retract(client->timeline, forced->player, forced->first + i) == HC_OK)
            client->stats.inputs_forced++;
}

static void apply_correction(struct hc_client *client, const struct hc_snapshot_correction *told,
                             hc_tick as_of) {
    struct hc_entity_state state = {
        .entity = told->entity, .presence = told->presence, .state = told->state};
    client->stats.corrections++;
    hc_timeline_put_state(client->timeline, told->tick, as_of, &state, 1);
}

/// Applies the messages of one type; the body was read before, so none fails
/// now.
static void apply_type(struct hc_client *client, const struct said *said,
                       enum hc_message_type type) {
    union message message;
    hc_body_rewind(&client->body);
    while (hc_body_next_of(&client->body, type) != HC_MESSAGE_END) {
        enum hc_status status = read_referring(client, type, said->snapshot.tick, &message);
        HC_ASSERT(status == HC_OK);
        if (type == HC_MESSAGE_FORCED)
            apply_forced(client, &message.forced);
        else if (type == HC_MESSAGE_CONTROL)
            hc_timeline_put_control(client->timeline, message.control.player, message.control.tick,
                                    message.control.control);
        else if (type == HC_MESSAGE_INPUTS)
            apply_inputs(client, &message.inputs);
        else
            apply_correction(client, &message.correction, said->snapshot.as_of);
    }
}

/// Puts all that a snapshot's datagram says into the timeline. The order
/// matters: without the states there is no window, or an old one, to put inputs
/// into; a join or a leave ends what is predicted from older inputs; and a
/// forced input must be gone before the older one that the server predicts from
/// can take its place.
static void apply_snapshot(struct hc_client *client, const struct said *said) {
    const struct hc_snapshot *snapshot = &said->snapshot;
    hc_timeline_put_state(client->timeline, snapshot->tick, snapshot->as_of, client->told,
                          said->told);
    apply_type(client, said, HC_MESSAGE_FORCED);
    // One that was overtaken may tell inputs of a player who has left since; all
    // that counts of its inputs was in the newer one.
    if (!client->news.any || snapshot->as_of > client->news.snapshot.as_of) {
        apply_type(client, said, HC_MESSAGE_CONTROL);
        apply_type(client, said, HC_MESSAGE_INPUTS);
    }
    apply_type(client, said, HC_MESSAGE_CORRECTION);
    hc_timeline_settle(client->timeline);
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
static void begin_world(struct hc_client *client, const struct said *said, uint64_t now_us) {
    apply_snapshot(client, said);
    client->stats.snapshots++;
    client->stats.snapshots_matched++;
    client->head_us = now_us;
    client->state = HC_CLIENT_PLAYING;
    hc_cl_session_event(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_PLAYING});
}

/// A later one: the past changes, and with it what is shown.
static void change_world(struct hc_client *client, const struct said *said, uint64_t now_us) {
    struct hc_timeline *timeline = client->timeline;
    hc_tick tick = said->snapshot.tick;
    // A server a little ahead of its estimated clock is no reason to begin anew.
    if (tick > hc_timeline_head(timeline))
        hc_cl_predict_catch_up(client, tick, now_us);
    bool restarts = tick > hc_timeline_head(timeline);
    uint64_t steps = hc_timeline_stats(timeline)->resimulated_steps;
    hc_cl_view_capture(&client->view, timeline, hc_cl_session_shown(client, now_us));
    apply_snapshot(client, said);
    if (restarts)
        client->head_us = now_us;
    count_settled(client, steps, restarts);
    hc_cl_view_correct(&client->view, timeline, hc_cl_session_shown(client, now_us), now_us);
}

// ---- Time
// ---------------------------------------------------------------------------------------

/// Learns from a snapshot's stamps, newer than any before. `acked` is the own
/// datagram that the server had received last, if that is news.
static void learn_time(struct hc_client *client, const struct hc_snapshot *snapshot,
                       const struct hc_acked *acked, uint64_t now_us) {
    uint64_t server_us =
        hc_tick_due_us(snapshot->as_of, client->welcome.tick_rate) + snapshot->phase_us;
    if (acked == NULL) {
        hc_cl_clock_guess(&client->clock, now_us,
                          client->shake.rtt_us == UINT64_MAX ? 0 : client->shake.rtt_us, server_us);
        return;
    }
    // Over hardly any distance the server's wait, by its clock, may be the longer one.
    uint64_t elapsed_us = now_us - acked->sent_us, delay_us = snapshot->ack_delay_us;
    uint64_t rtt_us = elapsed_us > delay_us ? elapsed_us - delay_us : 0;
    hc_cl_clock_sample(&client->clock, now_us, rtt_us, server_us);
    hc_histogram_record(&client->stats.rtt_us, rtt_us);
    client->stats.rtt_min_us = client->clock.rtt_min_us;
    client->stats.jitter_us = client->clock.rttvar_us;
}

static void take_snapshot(struct hc_client *client, const struct said *said,
                          const struct hc_acked *acked, uint64_t now_us) {
    struct hc_cl_news *news = &client->news;
    bool first = !news->any;
    if (first || said->snapshot.as_of > news->snapshot.as_of) {
        learn_time(client, &said->snapshot, acked, now_us);
    } else {
        HC_MARK("snapshot-overtaken");
        client->stats.snapshots_stale++;
    }
    if (first)
        begin_world(client, said, now_us);
    else
        change_world(client, said, now_us);
    if (first || said->snapshot.as_of > news->snapshot.as_of)
        *news = (struct hc_cl_news){.any = true, .snapshot = said->snapshot};
}

enum hc_status hc_cl_intake_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                    uint64_t now_us) {
    struct hc_data data;
    struct said said = {.has_snapshot = false};
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t acked_count = 0;
    enum hc_status status = hc_datagram_get_data(bytes, size, &data);
    if (status != HC_OK)
        return status;
    if (client->timeline == NULL || data.cid != client->cid)
        return HC_UNEXPECTED;
    status = hc_replay_check(&client->replay, data.seq);
    if (status == HC_OK)
        status = read_body(client, &data, &said);
    if (status == HC_OK)
        status = hc_sent_acked(&client->sent, data.ack, data.ack_bits, acked, &acked_count);
    if (status != HC_OK)
        return status;
    if (data.seq > client->replay.newest)
        client->newest_us = now_us;
    hc_replay_accept(&client->replay, data.seq);
    client->heard_us = now_us;
    if (said.has_close) {
        hc_cl_session_log(client, "closed by the server");
        hc_cl_session_close(
            client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = said.close});
    } else if (said.has_snapshot && client->state != HC_CLIENT_LEAVING) {
        bool newest = acked_count > 0 && acked[0].seq == data.ack;
        take_snapshot(client, &said, newest ? &acked[0] : NULL, now_us);
    }
    return HC_OK;
}
