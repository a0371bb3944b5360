/// Owns a client's connection: what it takes from DATA, and what it puts into DATA.
#include "client/link/link.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/mark.h"

#include <sodium.h>
#include <string.h>

bool hc_cl_link_init(struct hc_cl_link *link, const struct hc_client_config *config,
                     struct hc_client_stats *stats, uint64_t now_us) {
    link->config = config;
    link->stats = stats;
    hc_cl_handshake_init(&link->handshake, config, now_us);
    hc_cl_inputs_init(&link->inputs, config->game, config->players);
    link->messages.bytes = hc_allocate(config->allocator, HC_RELIABLE_CHANNEL_BYTES);
    if (link->messages.bytes == NULL)
        return false;
    hc_reliable_channel_begin(&link->messages);
    stats->memory_bytes += HC_RELIABLE_CHANNEL_BYTES;
    return true;
}

void hc_cl_link_free(struct hc_cl_link *link) {
    hc_release(link->config->allocator, link->messages.bytes);
    link->messages.bytes = NULL;
}

// ---- Connecting ---------------------------------------------------------------------------------

void hc_cl_link_connect(struct hc_cl_link *link, uint64_t begin_us, uint64_t now_us) {
    struct hc_connection *connection = &link->connection;
    bool again = connection->cid != 0;
    if (again && !connection->closed_by_peer)
        hc_connection_close(connection, &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, false,
                            now_us);
    hc_cl_handshake_begin(&link->handshake, again, begin_us, now_us);
}

bool hc_cl_link_connects(const struct hc_cl_link *link) {
    return link->handshake.attempt.active;
}

void hc_cl_link_begin(struct hc_cl_link *link, struct hc_cl_answer *answer, uint64_t now_us) {
    bool again = link->connection.cid != 0;
    link->welcome = answer->welcome;
    link->clock = (struct hc_cl_clock){.known = false};
    link->trend = (struct hc_cl_trend){.count = 0};
    link->margin = (struct hc_cl_margin){.known = false};
    link->newest = (struct hc_cl_newest){.any = false};
    link->path = (struct hc_cl_path){.due = false};
    link->losses = (struct hc_cl_losses){.up_ppm = 0};
    hc_least_begin(&link->arrivals, now_us);
    link->ticket_seq = 0;
    hc_cl_inputs_begin(&link->inputs);
    hc_cl_sending_begin(&link->sending, now_us);
    memcpy(link->reset_token, answer->welcome.reset_token, sizeof link->reset_token);
    hc_connection_begin(&link->connection, HC_CONNECTION_CLIENT, answer->cid, &answer->keys,
                        &link->messages, now_us);
    sodium_memzero(&answer->keys, sizeof answer->keys);
    if (again && !answer->welcome.resumed) {
        hc_reliable_channel_begin(&link->messages);
        link->notice = 0;
    }
}

enum hc_status hc_cl_link_check_reset(const struct hc_cl_link *link, const uint8_t *bytes,
                                      size_t size) {
    const struct hc_connection *connection = &link->connection;
    struct hc_reset reset;
    enum hc_status status = hc_datagram_get_reset(bytes, size, &reset);
    if (status != HC_OK)
        return status;
    if (hc_cl_link_connects(link) || connection->close.reason != 0 || reset.cid != connection->cid)
        return HC_UNEXPECTED;
    return hc_seal_reset_equal(link->reset_token, reset.token) ? HC_OK : HC_MALFORMED;
}

// ---- Receiving ----------------------------------------------------------------------------------

enum hc_status hc_cl_link_open(const struct hc_cl_link *link, const uint8_t *bytes, size_t size,
                               uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data) {
    return hc_connection_open(&link->connection, bytes, size, opened, data);
}

enum hc_status hc_cl_link_receive_last(struct hc_cl_link *link, const struct hc_data *data,
                                       uint64_t now_us) {
    struct hc_close close;
    struct hc_accepted accepted;
    enum hc_status status = hc_body_begin(&link->body, data->body, data->body_size);
    if (status == HC_OK && hc_body_next(&link->body) != HC_MESSAGE_CLOSE)
        status = HC_UNEXPECTED;
    if (status == HC_OK)
        status = hc_message_get_close(&link->body, &close);
    if (status == HC_OK)
        status = hc_connection_accept(&link->connection, data, now_us, &accepted);
    link->close_unanswered |= status == HC_OK;
    return status;
}

enum hc_status hc_cl_link_read(struct hc_cl_link *link, enum hc_message_type type,
                               struct hc_cl_link_messages *messages) {
    switch (type) {
    case HC_MESSAGE_CLOSE:
        messages->has_close = true;
        return hc_message_get_close(&link->body, &messages->close);
    case HC_MESSAGE_TICKET:
        messages->has_ticket = true;
        return hc_message_get_ticket(&link->body, &messages->ticket);
    case HC_MESSAGE_PATH_CHALLENGE:
        messages->has_path = true;
        return hc_message_get_path(&link->body, messages->path);
    case HC_MESSAGE_RELIABLE:
        messages->has_events = true;
        return hc_reliable_check(&link->messages.in, hc_body_values(&link->body));
    case HC_MESSAGE_NOTICE:
        messages->has_notice = true;
        return hc_notice_get(&link->body, &messages->notice_number, &messages->notice);
    case HC_MESSAGE_UNRELIABLE:
        messages->has_unreliable = true;
        return hc_unreliable_check(hc_body_values(&link->body));
    default: // only clients send these
        return HC_MALFORMED;
    }
}

enum hc_status hc_cl_link_accept(struct hc_cl_link *link, const struct hc_data *data,
                                 uint64_t now_us, struct hc_accepted *accepted) {
    enum hc_status status = hc_connection_accept(&link->connection, data, now_us, accepted);
    if (status != HC_OK)
        return status;
    link->stats->datagrams_lost += accepted->lost;
    hc_cl_losses_count(&link->losses, accepted->count, accepted->lost);
    return HC_OK;
}

/// Takes the report of the margin, and counts its least one.
static void take_margin(struct hc_cl_link *link, const struct hc_snapshot *header,
                        uint64_t now_us) {
    struct hc_client_stats *stats = link->stats;
    const struct hc_cl_margin *margin = &link->margin;
    hc_cl_margin_take(&link->margin, header, now_us);
    if (!header->has_margin || !margin->known)
        return;
    int64_t low_us = margin->low_us;
    if (low_us >= 0)
        hc_histogram_record(&stats->margin_early_us, (uint64_t)low_us);
    else
        hc_histogram_record(&stats->margin_late_us, (uint64_t)-low_us);
}

/// How much longer than the fastest ones a snapshot took that the server sent at its `server_us`:
/// most of it has waited in queues to this client. One that took longer than the round trip shows
/// that the server's clock was set.
static uint64_t queued_us(struct hc_cl_link *link, uint64_t server_us, uint64_t rtt_us,
                          uint64_t now_us) {
    int64_t took_us = hc_offset(server_us, now_us);
    hc_least_take(&link->arrivals, took_us, now_us);
    int64_t least_us = hc_least_get(&link->arrivals);
    if ((uint64_t)hc_offset((uint64_t)least_us, (uint64_t)took_us) <= rtt_us)
        return (uint64_t)hc_offset((uint64_t)least_us, (uint64_t)took_us);
    hc_least_begin(&link->arrivals, now_us);
    hc_least_take(&link->arrivals, took_us, now_us);
    return 0;
}

/// Updates the clock and what is measured by it.
static void take_time(struct hc_cl_link *link, const struct hc_snapshot *header,
                      const struct hc_accepted *accepted, uint64_t now_us) {
    uint64_t server_us = hc_tick_due_us(header->as_of, link->welcome.tick_rate) + header->phase_us;
    uint64_t rtt_us, exchange_us = link->handshake.attempt.rtt_us;
    if (!hc_connection_measure(&link->connection, accepted, header->ack_delay_us, now_us,
                               &rtt_us)) {
        hc_cl_clock_estimate(&link->clock, now_us, exchange_us == UINT64_MAX ? 0 : exchange_us,
                             server_us);
        return;
    }
    if (hc_cl_clock_sample(&link->clock, now_us, rtt_us, server_us))
        hc_cl_trend_restart(&link->trend);
    hc_cl_trend_sample(&link->trend, now_us, rtt_us, server_us);
    uint64_t back_us = queued_us(link, server_us, rtt_us, now_us);
    back_us = back_us < HC_FLIGHT_BACK_US ? back_us : HC_FLIGHT_BACK_US;
    hc_connection_take_round_trip(&link->connection, accepted, hc_since(back_us, rtt_us), now_us);
    hc_histogram_record(&link->stats->rtt_us, rtt_us);
    link->stats->rtt_min_us = link->clock.rtt_min_us;
    link->stats->jitter_us = link->connection.rttvar_us;
}

void hc_cl_link_take_sensors(struct hc_cl_link *link, const struct hc_snapshot *header,
                             const struct hc_accepted *accepted, uint64_t now_us) {
    take_time(link, header, accepted, now_us);
    take_margin(link, header, now_us);
}

/// Takes the unreliable messages of the DATA.
static void take_unreliable(struct hc_cl_link *link) {
    hc_body_rewind(&link->body);
    hc_body_next_of(&link->body, HC_MESSAGE_UNRELIABLE);
    link->stats->unreliable_received +=
        hc_unreliable_take(&link->messages.unreliable_in, hc_body_values(&link->body),
                           &link->stats->unreliable_dropped);
}

/// Takes a PATH_CHALLENGE, which the next DATA answers, at once.
static bool take_challenge(struct hc_cl_link *link, const uint8_t path[static HC_PATH_SIZE]) {
    bool moved = memcmp(link->path.data, path, HC_PATH_SIZE) != 0;
    memcpy(link->path.data, path, HC_PATH_SIZE);
    link->path.due = true;
    hc_cl_sending_make_due(&link->sending);
    return moved;
}

bool hc_cl_link_take_messages(struct hc_cl_link *link, const struct hc_cl_link_messages *messages,
                              uint32_t seq) {
    // A ticket that was overtaken is of an earlier address or key of the server.
    if (messages->has_ticket && seq > link->ticket_seq) {
        link->ticket_seq = seq;
        hc_cl_handshake_renew(&link->handshake, &messages->ticket.credential);
        memcpy(link->reset_token, messages->ticket.reset_token, sizeof link->reset_token);
    }
    if (messages->has_events)
        hc_reliable_channel_take(&link->messages, &link->body);
    if (messages->has_unreliable)
        take_unreliable(link);
    return messages->has_path && take_challenge(link, messages->path);
}

bool hc_cl_link_take_notice(struct hc_cl_link *link, uint32_t number) {
    if (number <= link->notice)
        return false;
    link->notice = number;
    return true;
}

void hc_cl_link_take_close(struct hc_cl_link *link, const struct hc_close *close) {
    hc_connection_take_close(&link->connection, close);
    link->close_unanswered = true;
}

size_t hc_cl_link_answer_close(struct hc_cl_link *link, uint8_t out[static HC_DATAGRAM_MAX],
                               uint64_t now_us) {
    link->close_unanswered = false;
    return hc_connection_answer_close(&link->connection, out, now_us);
}

hc_tick hc_cl_link_near(const struct hc_cl_link *link) {
    return link->newest.any ? link->newest.snapshot.as_of : link->welcome.tick;
}

enum hc_status hc_cl_link_skim(struct hc_cl_link *link) {
    return hc_cl_skim(&link->body, hc_cl_link_near(link), link->welcome.own_count, &link->skimmed);
}

// ---- Sending ------------------------------------------------------------------------------------

uint64_t hc_cl_link_deadline(const struct hc_cl_link *link, const struct hc_cl_pace *pace) {
    uint64_t next_us = hc_cl_sending_deadline(&link->sending, pace);
    uint64_t keep_alive_us = hc_connection_keep_alive_us(&link->connection);
    return next_us < keep_alive_us ? next_us : keep_alive_us;
}

void hc_cl_link_advance(struct hc_cl_link *link, const struct hc_cl_pace *pace, uint64_t now_us) {
    if (now_us >= hc_cl_link_deadline(link, pace))
        hc_cl_sending_advance(&link->sending, pace, now_us);
}

/// The stamped inputs from `first` on.
struct source {
    const struct hc_cl_inputs *inputs;
    hc_tick first;
};

static const void *own_input(void *context, uint32_t index, uint32_t player) {
    const struct source *source = context;
    return hc_cl_inputs_at(source->inputs, source->first + index, player);
}

static void choose_inputs(struct hc_cl_link *link, struct hc_input_message *message,
                          uint64_t now_us) {
    const struct hc_connection *connection = &link->connection;
    struct hc_cl_choice choice = {.next = link->inputs.next,
                                  .wanted = hc_cl_newest_wanted(&link->newest),
                                  .redundancy = link->config->input_redundancy,
                                  // srtt + 4 rttvar, RFC 6298
                                  .answer_us = connection->srtt_us + 4 * connection->rttvar_us,
                                  .tick_rate = link->welcome.tick_rate};
    hc_cl_sending_choose(&link->sending, &choice, message, now_us);
}

void hc_cl_link_put_inputs(struct hc_cl_link *link, struct hc_writer *body, size_t reserved,
                           const struct hc_cl_input_report *report, uint64_t now_us) {
    const struct hc_welcome *welcome = &link->welcome;
    struct hc_input_message message = {.client_tick = report->client_tick,
                                       .display_offset = report->display_offset,
                                       .ack_delay_us =
                                           hc_connection_ack_delay_us(&link->connection, now_us)};
    // Before the first stamp the server must force nothing: the join is not before WELCOME's tick.
    message.first = message.force_before =
        welcome->own_count > 0 ? welcome->tick : message.client_tick;
    if (link->inputs.any)
        choose_inputs(link, &message, now_us);
    struct source source = {.inputs = &link->inputs, .first = message.first};
    body->size -= reserved;
    // An empty body has room for it. Without room the acks would go out alone.
    if (hc_message_put_input(body, link->config->game, welcome->own_count, &message, own_input,
                             &source) &&
        link->inputs.any)
        hc_cl_sending_note(&link->sending, message.first + message.count);
    body->size += reserved;
}

void hc_cl_link_put_path(struct hc_cl_link *link, struct hc_writer *body) {
    if (link->path.due)
        (void)hc_message_put_path(body, HC_MESSAGE_PATH_RESPONSE, link->path.data);
    link->path.due = false;
}

/// The bytes of messages in one DATA, at most: inputs need the rest.
static size_t messages_bytes(const struct hc_cl_link *link) {
    return link->connection.body_max / 2;
}

size_t hc_cl_link_reserve(const struct hc_cl_link *link, bool messages) {
    const struct hc_reliable_channel *channel = &link->messages;
    bool any = channel->out.oldest != channel->out.next ||
               hc_unreliable_count(&channel->unreliable_out) > 0;
    size_t path = link->path.due ? HC_PATH_MESSAGE_SIZE : 0;
    return path + (messages && any ? messages_bytes(link) : 0);
}

size_t hc_cl_link_room(struct hc_cl_link *link, size_t *reserved, uint64_t now_us) {
    struct hc_connection *connection = &link->connection;
    uint32_t in_flight = connection->sent.in_flight;
    if (in_flight > link->stats->in_flight_max)
        link->stats->in_flight_max = in_flight;
    size_t most = connection->body_max, room = hc_connection_room(connection, now_us);
    if (room == most)
        return most;
    if (room == 0 && !link->path.due) {
        HC_MARK("data-held-back");
        link->stats->held_back++;
        return 0;
    }
    if (*reserved > HC_RELIABLE_ROOM_MIN)
        *reserved = HC_RELIABLE_ROOM_MIN;
    return room + *reserved < most ? room + *reserved : most;
}

size_t hc_cl_link_finish_data(struct hc_cl_link *link, struct hc_writer *body,
                              uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    hc_connection_put_messages(&link->connection, body, messages_bytes(link), now_us);
    return hc_connection_wrap(&link->connection, out, body->at, now_us);
}
