#include "client/session.h"

#include <string.h>

static bool playing(const struct hc_client *client) {
    return client->state == HC_CLIENT_PLAYING;
}

/// When the next DATA becomes due: with the next tick. The times around it keep the rate within
/// bounds when ticks come in a heap, and the server informed when none come.
static uint64_t next_data_us(const struct hc_client *client) {
    uint64_t interval_us = hc_cl_session_interval_us(client);
    uint64_t wait_us = interval_us;
    if (client->ticked)
        wait_us = interval_us / 2;
    else if (playing(client))
        wait_us = interval_us + interval_us / 2;
    return client->data_us + (wait_us < HC_CL_KEEP_ALIVE_US ? wait_us : HC_CL_KEEP_ALIVE_US);
}

void hc_cl_send_advance(struct hc_client *client, uint64_t now_us) {
    if (client->state == HC_CLIENT_LEAVING) {
        if (client->closes_left > client->closes_due && now_us >= client->close_us) {
            client->closes_due++;
            client->close_us = now_us + HC_CL_CLOSE_INTERVAL_US;
        }
        return;
    }
    if (now_us < next_data_us(client))
        return;
    client->data_due = true;
    client->ticked = false;
    client->data_us = now_us;
}

uint64_t hc_cl_send_deadline(const struct hc_client *client) {
    if (client->state == HC_CLIENT_LEAVING)
        return client->closes_due > 0 ? 0 : client->close_us;
    return next_data_us(client);
}

/// Gives the inputs from `first` on.
struct source {
    const struct hc_cl_inputs *inputs;
    hc_tick first;
};

static const void *own_input(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    return source->inputs->ring[(source->first + index) % HC_CL_INPUTS][player];
}

/// Whether the server has had time to acknowledge all but the newest `redundancy` of `count`
/// inputs, by the usual round trip (srtt + 4 rttvar, as RFC 6298 has it), and has not: some were
/// lost. They may be many, or few that have waited for long, where nothing was sampled since.
static bool overdue(const struct hc_client *client, uint32_t count, uint32_t redundancy,
                    uint64_t now_us) {
    const struct hc_cl_clock *clock = &client->clock;
    uint64_t answer_us = clock->srtt_us + 4 * clock->rttvar_us;
    uint64_t waited_us = now_us - client->inputs.wanted_us;
    uint32_t spare = redundancy + 2;
    return count > hc_tick_at_us(answer_us, client->welcome.tick_rate) + spare ||
           (count > redundancy &&
            waited_us > answer_us + spare * hc_cl_session_interval_us(client));
}

/// All inputs that the server does not have yet; or, if configured so and nothing is overdue, the
/// newest few of them and any that were never sent. When they do not all fit the oldest go: later
/// ones could not take effect without them.
static void choose_inputs(struct hc_client *client, struct hc_input_message *message,
                          uint64_t now_us) {
    struct hc_cl_inputs *inputs = &client->inputs;
    uint32_t redundancy = client->config.input_redundancy;
    // The ring has room for all that a server may want; one that wants more goes without.
    hc_tick wanted =
        hc_tick_max(hc_cl_predict_wanted(client), hc_tick_back(inputs->next, HC_CL_INPUTS));
    wanted = hc_tick_min(wanted, inputs->next);
    if (wanted != inputs->wanted) {
        inputs->wanted = wanted;
        inputs->wanted_us = now_us;
    }
    message->force_before = wanted;
    message->first = wanted;
    if (redundancy > 0 && !overdue(client, inputs->next - wanted, redundancy, now_us))
        message->first = hc_tick_max(
            wanted, hc_tick_min(inputs->unsent, hc_tick_back(inputs->next, redundancy)));
    message->count = inputs->next - message->first;
    if (message->count > HC_INPUT_RUN_MAX)
        message->count = HC_INPUT_RUN_MAX;
}

static void put_input(struct hc_client *client, struct hc_writer *body, uint64_t now_us) {
    uint64_t delay_us = client->replay.newest > 0 ? now_us - client->newest_us : 0;
    struct hc_input_message message = {
        .client_tick = client->news.any ? hc_timeline_head(client->timeline) : client->welcome.tick,
        .display_offset = client->config.display_offset,
        .ack_delay_us =
            (uint32_t)(delay_us < HC_ACK_DELAY_MAX_US ? delay_us : HC_ACK_DELAY_MAX_US)};
    // Before anything is stamped nothing may be forced: the join is not before WELCOME's tick.
    message.first = message.force_before =
        client->welcome.own_count > 0 ? client->welcome.tick : message.client_tick;
    if (client->inputs.any)
        choose_inputs(client, &message, now_us);
    struct source source = {.inputs = &client->inputs, .first = message.first};
    // An empty body has room for it; were there none, the acks would still go out.
    if (hc_message_put_input(body, client->config.game, client->welcome.own_count, &message,
                             own_input, &source) &&
        client->inputs.any)
        client->inputs.unsent = hc_tick_max(client->inputs.unsent, message.first + message.count);
}

static size_t finish(struct hc_client *client, uint8_t *out, size_t body_size, uint64_t now_us) {
    struct hc_data data = {.cid = client->cid,
                           .seq = hc_sent_next(&client->sent, now_us),
                           .ack = client->replay.newest,
                           .ack_bits = hc_replay_ack_bits(&client->replay),
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = body_size};
    if (data.seq > 0) {
        size_t size = hc_datagram_put_data(&data, out);
        hc_seal_data(&client->sealer, out, size);
        return size;
    }
    hc_cl_session_log(client, "all datagram numbers are used up");
    hc_cl_session_close(
        client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = HC_CLOSE_ERROR});
    return 0;
}

/// Bytes that inputs must leave for what else is to be said.
static size_t reserve(const struct hc_client *client) {
    bool says = client->events_out.oldest != client->events_out.next;
    size_t path = client->path_due ? HC_PATH_MESSAGE_SIZE : 0;
    return path + (says ? HC_CL_EVENTS_ROOM : 0);
}

size_t hc_cl_send_next(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                       uint64_t now_us) {
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    if (client->state == HC_CLIENT_LEAVING) {
        if (client->closes_due == 0)
            return 0;
        client->closes_due--;
        client->closes_left--;
        (void)hc_message_put_close(&body, HC_CLOSE_LEFT);
        size_t size = finish(client, out, body.at, now_us);
        if (client->closes_left == 0 && client->state == HC_CLIENT_LEAVING)
            hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED,
                                                                  .close = HC_CLOSE_LEFT});
        return size;
    }
    if (!client->data_due)
        return 0;
    client->data_due = false;
    size_t reserved = reserve(client);
    body.size -= reserved;
    put_input(client, &body, now_us);
    body.size += reserved;
    if (client->path_due)
        (void)hc_message_put_path(&body, HC_MESSAGE_PATH_RESPONSE, client->path);
    client->path_due = false;
    hc_events_send(&client->events_out, &body, HC_CL_EVENTS_ROOM, client->sent.next, now_us,
                   client->clock.srtt_us);
    return finish(client, out, body.at, now_us);
}
