/// Builds DATA: the inputs that the server lacks, messages, and at the end CLOSE.
#include "client/session_internal.h"

#include "common/elapsed.h"

#include <string.h>

/// Microseconds from the last DATA to the next: DATA goes out with the next tick, but not before
/// half an interval (many ticks may come at once) and not after one and a half (none may come).
static uint64_t wait_us(const struct hc_client *client) {
    uint64_t interval_us = hc_cl_session_interval_us(client);
    if (client->prediction.ticks != client->sending.ticks)
        return interval_us / 2;
    return client->state == HC_CLIENT_PLAYING ? interval_us + interval_us / 2 : interval_us;
}

void hc_cl_send_advance(struct hc_client *client, uint64_t now_us) {
    if (client->state == HC_CLIENT_LEAVING || now_us < hc_cl_send_deadline(client))
        return;
    client->sending.due = true;
    client->sending.due_us = now_us;
    client->sending.ticks = client->prediction.ticks;
}

uint64_t hc_cl_send_deadline(const struct hc_client *client) {
    if (client->state == HC_CLIENT_LEAVING)
        return hc_connection_close_due_us(&client->connection);
    uint64_t next_us = client->sending.due_us + wait_us(client);
    uint64_t keep_alive_us = hc_connection_keep_alive_us(&client->connection);
    return next_us < keep_alive_us ? next_us : keep_alive_us;
}

/// The stamped inputs from `first` on.
struct source {
    struct hc_client *client;
    hc_tick first;
};

static const void *own_input(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    return hc_cl_predict_stamped(source->client, source->first + index, player);
}

/// Whether some of `count` unacked inputs were lost: the server has had a round trip (srtt + 4
/// rttvar, RFC 6298) to ack all but the newest `redundancy`. They are too many, or, where nothing
/// was sampled since, they have waited too long.
static bool overdue(const struct hc_client *client, uint32_t count, uint32_t redundancy,
                    uint64_t now_us) {
    uint64_t answer_us = client->connection.srtt_us + 4 * client->connection.rttvar_us;
    uint64_t waited_us = hc_since(client->sending.wanted_us, now_us);
    uint32_t spare = redundancy + 2;
    return count > hc_tick_at_us(answer_us, client->welcome.tick_rate) + spare ||
           (count > redundancy &&
            waited_us > answer_us + spare * hc_cl_session_interval_us(client));
}

/// Chooses all inputs that the server lacks; or, if configured so and none is overdue, the newest
/// few and those never sent. When they do not all fit the oldest go first: later ones could not
/// take effect without them.
static void choose_inputs(struct hc_client *client, struct hc_input_message *message,
                          uint64_t now_us) {
    struct hc_cl_sending *sending = &client->sending;
    hc_tick next = client->prediction.next;
    uint32_t redundancy = client->config.input_redundancy;
    // The ring holds every input that a server can still use.
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
        .client_tick = client->newest.any ? hc_cl_predict_head(client) : client->welcome.tick,
        .display_offset = hc_cl_display_farthest(&client->display),
        .ack_delay_us = hc_connection_ack_delay_us(&client->connection, now_us)};
    // Before the first stamp the server must force nothing: the join is not before WELCOME's tick.
    message.first = message.force_before =
        client->welcome.own_count > 0 ? client->welcome.tick : message.client_tick;
    if (client->prediction.any)
        choose_inputs(client, &message, now_us);
    struct source source = {.client = client, .first = message.first};
    // An empty body has room for it. Without room the acks would go out alone.
    if (hc_message_put_input(body, client->config.game, client->welcome.own_count, &message,
                             own_input, &source) &&
        client->prediction.any)
        client->sending.unsent = hc_tick_max(client->sending.unsent, message.first + message.count);
}

/// Seals the DATA, or closes the session when no number is left.
static size_t finish(struct hc_client *client, uint8_t *out, size_t body_size, uint64_t now_us) {
    size_t size = hc_connection_wrap(&client->connection, out, body_size, now_us);
    if (size > 0)
        return size;
    hc_cl_session_log(client, "all datagram numbers are used up");
    hc_cl_session_close_with(client, HC_CLOSE_ERROR);
    return 0;
}

/// Bytes that inputs must leave to the other messages.
static size_t reserve(const struct hc_client *client) {
    const struct hc_events_channel *messages = &client->messages;
    bool any = messages->out.oldest != messages->out.next ||
               hc_unreliable_count(&messages->unreliable_out) > 0;
    size_t path = client->path.due ? HC_PATH_MESSAGE_SIZE : 0;
    size_t compare = client->desync.asks ? HC_COMPARE_SIZE_MAX : 0;
    return path + compare + (any && !client->desync.asks ? HC_CL_MESSAGES_BYTES : 0);
}

size_t hc_cl_send_next(struct hc_client *client, uint8_t out[static HC_DATAGRAM_MAX],
                       uint64_t now_us) {
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    if (client->state == HC_CLIENT_LEAVING) {
        size_t size = hc_connection_send_close(&client->connection, out, now_us);
        if (client->connection.closes_left == 0)
            hc_cl_session_close_with(client, client->connection.close.reason);
        return size;
    }
    if (!client->sending.due)
        return 0;
    client->sending.due = false;
    size_t reserved = reserve(client);
    body.size -= reserved;
    put_input(client, &body, now_us);
    body.size += reserved;
    if (client->path.due)
        (void)hc_message_put_path(&body, HC_MESSAGE_PATH_RESPONSE, client->path.data);
    client->path.due = false;
    hc_cl_desync_put(client, &body, now_us);
    hc_connection_put_messages(&client->connection, &body, HC_CL_MESSAGES_BYTES, now_us);
    return finish(client, out, body.at, now_us);
}
