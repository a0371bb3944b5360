#include "client/session.h"

#include <string.h>

static bool playing(const struct hc_client *client) {
    return client->state == HC_CLIENT_PLAYING;
}

/// How long after the last DATA the next one becomes due: with the next tick. The times around it
/// keep the rate within bounds when ticks come in a heap, and the server informed when none come.
static uint64_t wait_us(const struct hc_client *client) {
    uint64_t interval_us = hc_cl_session_interval_us(client);
    if (client->prediction.ticks != client->sending.ticks)
        return interval_us / 2;
    return playing(client) ? interval_us + interval_us / 2 : interval_us;
}

void hc_cl_send_advance(struct hc_client *client, uint64_t now_us) {
    if (hc_cl_connection_advance(&client->connection, wait_us(client), now_us))
        client->sending.ticks = client->prediction.ticks;
}

uint64_t hc_cl_send_deadline(const struct hc_client *client) {
    return hc_cl_connection_deadline(&client->connection, wait_us(client));
}

/// Gives the inputs from `first` on.
struct source {
    const struct hc_cl_inputs *inputs;
    hc_tick first;
};

static const void *own_input(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    return source->inputs->stamped[(source->first + index) % HC_CL_INPUTS][player];
}

/// Whether the server has had time to acknowledge all but the newest `redundancy` of `count`
/// inputs, by the usual round trip (srtt + 4 rttvar, as RFC 6298 has it), and has not: some were
/// lost. They may be many, or few that have waited for long, where nothing was sampled since.
static bool overdue(const struct hc_client *client, uint32_t count, uint32_t redundancy,
                    uint64_t now_us) {
    const struct hc_cl_clock *clock = &client->clock;
    uint64_t answer_us = clock->srtt_us + 4 * clock->rttvar_us;
    uint64_t waited_us = now_us - client->sending.wanted_us;
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
    struct hc_cl_sending *sending = &client->sending;
    hc_tick next = client->prediction.next;
    uint32_t redundancy = client->config.input_redundancy;
    // The ring has room for all that a server may want; one that wants more goes without.
    hc_tick wanted = hc_tick_max(hc_cl_predict_wanted(client), hc_tick_back(next, HC_CL_INPUTS));
    wanted = hc_tick_min(wanted, next);
    if (wanted != sending->wanted) {
        sending->wanted = wanted;
        sending->wanted_us = now_us;
    }
    message->force_before = wanted;
    message->first = wanted;
    if (redundancy > 0 && !overdue(client, next - wanted, redundancy, now_us))
        message->first =
            hc_tick_max(wanted, hc_tick_min(sending->unsent, hc_tick_back(next, redundancy)));
    message->count = next - message->first;
    if (message->count > HC_INPUT_RUN_MAX)
        message->count = HC_INPUT_RUN_MAX;
}

static void put_input(struct hc_client *client, struct hc_writer *body, uint64_t now_us) {
    struct hc_input_message message = {
        .client_tick =
            client->newest.any ? hc_timeline_head(client->timeline) : client->welcome.tick,
        .display_offset = client->config.display_offset,
        .ack_delay_us = hc_cl_connection_ack_delay_us(&client->connection, now_us)};
    // Before anything is stamped nothing may be forced: the join is not before WELCOME's tick.
    message.first = message.force_before =
        client->welcome.own_count > 0 ? client->welcome.tick : message.client_tick;
    if (client->prediction.any)
        choose_inputs(client, &message, now_us);
    struct source source = {.inputs = &client->inputs, .first = message.first};
    // An empty body has room for it; were there none, the acks would still go out.
    if (hc_message_put_input(body, client->config.game, client->welcome.own_count, &message,
                             own_input, &source) &&
        client->prediction.any)
        client->sending.unsent = hc_tick_max(client->sending.unsent, message.first + message.count);
}

static size_t finish(struct hc_client *client, uint8_t *out, size_t body_size, uint64_t now_us) {
    size_t size = hc_cl_connection_send(&client->connection, out, body_size, now_us);
    if (size > 0)
        return size;
    hc_cl_session_log(client, "all datagram numbers are used up");
    hc_cl_session_close(
        client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED, .close = HC_CLOSE_ERROR});
    return 0;
}

/// Bytes that inputs must leave for what else is to be said.
static size_t reserve(const struct hc_client *client) {
    bool says = client->messages.out.oldest != client->messages.out.next;
    size_t path = client->connection.path_due ? HC_PATH_MESSAGE_SIZE : 0;
    return path + (says ? HC_CL_EVENTS_ROOM : 0);
}

size_t hc_cl_send_next(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                       uint64_t now_us) {
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    if (client->state == HC_CLIENT_LEAVING) {
        if (!hc_cl_connection_take_close(&client->connection))
            return 0;
        (void)hc_message_put_close(&body, HC_CLOSE_LEFT);
        size_t size = finish(client, out, body.at, now_us);
        if (client->connection.closes_left == 0 && client->state == HC_CLIENT_LEAVING)
            hc_cl_session_close(client, &(struct hc_client_event){.kind = HC_CLIENT_EVENT_CLOSED,
                                                                  .close = HC_CLOSE_LEFT});
        return size;
    }
    if (!hc_cl_connection_take_data(&client->connection))
        return 0;
    size_t reserved = reserve(client);
    body.size -= reserved;
    put_input(client, &body, now_us);
    body.size += reserved;
    hc_cl_connection_put_path(&client->connection, &body);
    hc_events_send(&client->messages.out, &body, HC_CL_EVENTS_ROOM, client->connection.sent.next,
                   now_us, client->clock.srtt_us);
    return finish(client, out, body.at, now_us);
}
