/// Owns a connection's numbers, times and keys: see connection.h.
#include "proto/connection.h"

#include "common/elapsed.h"

#include "hindcast/check.h"

#include <string.h>

enum { FAREWELL_SECONDS = 1 }; ///< the wait that the farewell of a restart asks for

void hc_connection_begin(struct hc_connection *connection, enum hc_connection_end end, uint32_t cid,
                         const struct hc_seal_keys *keys, struct hc_reliable_channel *messages,
                         uint64_t now_us) {
    bool is_client = end == HC_CONNECTION_CLIENT;
    HC_ASSERT(cid != 0);
    *connection = (struct hc_connection){.end = end,
                                         .cid = cid,
                                         .begun_us = now_us,
                                         .body_max = HC_DATA_BODY_MAX,
                                         .messages = messages,
                                         .received_us = now_us,
                                         .sent_us = now_us,
                                         .loss_checked_to = 1};
    hc_seal_init(&connection->sealer, is_client ? keys->c2s : keys->s2c);
    memcpy(connection->open_key, is_client ? keys->s2c : keys->c2s, HC_SEAL_KEY_SIZE);
    memcpy(connection->continue_key, keys->continues, HC_SEAL_KEY_SIZE);
    hc_sent_init(&connection->sent, 1);
    hc_flight_begin(&connection->flight, now_us);
    hc_reliable_out_continue(&messages->out);
    hc_unreliable_begin(&messages->unreliable_out); // they were for the connection before
}

void hc_connection_carry(struct hc_connection *connection, const struct hc_carried *parts,
                         unsigned count, void *owner) {
    connection->carried = parts;
    connection->carried_count = count;
    connection->owner = owner;
}

// ---- Receiving ----------------------------------------------------------------------------------

enum hc_status hc_connection_open(const struct hc_connection *connection, const uint8_t *bytes,
                                  size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                  struct hc_data *data) {
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    if (status == HC_OK && (cid != connection->cid || hc_connection_is_over(connection)))
        status = HC_UNEXPECTED;
    if (status == HC_OK)
        status = hc_received_check(&connection->received, seq);
    if (status == HC_OK)
        status = hc_seal_open_data(connection->open_key, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_data(opened, size, data) : status;
}

/// Counts the datagrams that are lost since the last call.
static uint32_t count_lost(struct hc_connection *connection) {
    uint32_t lost = 0;
    if (connection->acked > HC_SENT_RING &&
        connection->loss_checked_to < connection->acked - HC_SENT_RING)
        connection->loss_checked_to = connection->acked - HC_SENT_RING; // older ones are forgotten
    for (; connection->loss_checked_to + HC_LOST_AFTER <= connection->acked;
         connection->loss_checked_to++) {
        lost += hc_sent_misses(&connection->sent, connection->loss_checked_to);
        hc_sent_lose(&connection->sent, connection->loss_checked_to);
    }
    return lost;
}

/// Lets all parts know that the datagram is acked.
static void note_acked(struct hc_connection *connection, uint32_t seq) {
    hc_reliable_acked(&connection->messages->out, seq);
    if (connection->closes_left > 0 && seq >= connection->close_seq)
        connection->closes_left = 0;
    for (unsigned i = 0; i < connection->carried_count; i++)
        connection->carried[i].acked(connection->owner, seq);
}

/// Lets the carried parts know of the lost datagrams from `seq` on. Of forgotten ones they learn
/// nothing.
static void note_lost(const struct hc_connection *connection, uint32_t seq) {
    uint32_t end = connection->loss_checked_to;
    if (end > HC_SENT_RING && seq < end - HC_SENT_RING)
        seq = end - HC_SENT_RING;
    for (; seq < end; seq++)
        for (unsigned i = 0; i < connection->carried_count; i++)
            if (connection->carried[i].lost != NULL)
                connection->carried[i].lost(connection->owner, seq);
}

enum hc_status hc_connection_accept(struct hc_connection *connection, const struct hc_data *data,
                                    uint64_t now_us, struct hc_accepted *accepted) {
    enum hc_status status = hc_sent_acked(&connection->sent, data->ack, data->ack_bits,
                                          accepted->acked, &accepted->count);
    if (status != HC_OK)
        return status;
    accepted->ack = data->ack;
    accepted->newest = data->seq > connection->received.newest;
    if (accepted->newest)
        connection->newest_us = now_us;
    hc_received_accept(&connection->received, data->seq);
    connection->received_us = now_us;
    accepted->bytes = 0;
    for (uint32_t i = accepted->count; i-- > 0;) { // oldest first, so that no acked one is lost
        note_acked(connection, accepted->acked[i].seq);
        accepted->bytes += accepted->acked[i].bytes;
    }
    if (accepted->count > 0 && accepted->acked[accepted->count - 1].seq < connection->acked)
        hc_flight_reordered(&connection->flight, now_us);
    hc_flight_acked(&connection->flight, accepted->bytes, now_us);
    if (accepted->count > 0 && accepted->acked[0].seq > connection->acked)
        connection->acked = accepted->acked[0].seq;
    uint32_t checked = connection->loss_checked_to;
    accepted->lost = count_lost(connection);
    note_lost(connection, checked);
    return HC_OK;
}

bool hc_connection_measure(struct hc_connection *connection, const struct hc_accepted *accepted,
                           uint64_t delay_us, uint64_t now_us, uint64_t *rtt_us) {
    uint64_t sent_us;
    bool acks_it_first = accepted->count > 0 && accepted->acked[0].seq == accepted->ack;
    if ((!acks_it_first && accepted->ack <= connection->measured) ||
        !hc_sent_when(&connection->sent, accepted->ack, &sent_us))
        return false;
    // The peer's clock may run fast, its delay may be false, and its ack a guess.
    uint64_t elapsed_us = hc_since(sent_us, now_us);
    *rtt_us = hc_since(delay_us, elapsed_us);
    uint64_t srtt_us = connection->srtt_us;
    uint64_t deviation_us = hc_since(*rtt_us, srtt_us) + hc_since(srtt_us, *rtt_us);
    bool first = connection->measured == 0;
    connection->rttvar_us = first ? *rtt_us / 2 : (3 * connection->rttvar_us + deviation_us) / 4;
    connection->srtt_us = first ? *rtt_us : (7 * srtt_us + *rtt_us) / 8;
    if (accepted->ack > connection->measured)
        connection->measured = accepted->ack;
    return true;
}

void hc_connection_take_round_trip(struct hc_connection *connection,
                                   const struct hc_accepted *accepted, uint64_t rtt_us,
                                   uint64_t now_us) {
    uint64_t sent_us = 0;
    (void)hc_sent_when(&connection->sent, accepted->ack, &sent_us);
    hc_flight_measured(&connection->flight, rtt_us, sent_us, accepted->bytes, now_us);
}

// ---- Sending ------------------------------------------------------------------------------------

void hc_connection_change_path(struct hc_connection *connection, uint64_t now_us) {
    hc_flight_begin(&connection->flight, now_us);
}

uint32_t hc_connection_room(struct hc_connection *connection, uint64_t now_us) {
    const uint32_t headers = HC_FLIGHT_OVERHEAD + HC_DATAGRAM_MAX - HC_DATA_BODY_MAX;
    // Of the first datagram after the newest acked one. A client that receives nothing goes on: its
    // datagrams show the server its address.
    uint64_t sent_us = now_us;
    if (connection->end == HC_CONNECTION_SERVER && connection->acked + 1 < connection->sent.next)
        (void)hc_sent_when(&connection->sent, connection->acked + 1, &sent_us);
    struct hc_flight_state state = {.in_flight = connection->sent.in_flight,
                                    .waits_us = hc_since(sent_us, now_us),
                                    .silent = now_us >= hc_connection_keep_alive_us(connection)};
    uint32_t room = hc_flight_room(&connection->flight, &state, now_us);
    uint32_t body = room > headers ? room - headers : 0;
    connection->room = body < connection->body_max ? body : (uint32_t)connection->body_max;
    return connection->room;
}

struct hc_writer hc_connection_writer(const struct hc_connection *connection,
                                      uint8_t out[static HC_DATAGRAM_MAX]) {
    return hc_bytes_writer(out + HC_DATA_BODY_AT, connection->body_max);
}

void hc_connection_put_messages(struct hc_connection *connection, struct hc_writer *body,
                                size_t room, uint64_t now_us) {
    size_t before = body->at;
    hc_reliable_send(&connection->messages->out, body, room, connection->sent.next, now_us,
                     connection->srtt_us);
    hc_unreliable_send(&connection->messages->unreliable_out, body, room - (body->at - before));
}

size_t hc_connection_wrap(struct hc_connection *connection, uint8_t out[static HC_DATAGRAM_MAX],
                          size_t body_size, uint64_t now_us) {
    struct hc_data data = {.cid = connection->cid,
                           .seq = hc_sent_next(&connection->sent, now_us),
                           .ack = connection->received.newest,
                           .ack_bits = hc_received_ack_bits(&connection->received),
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = body_size};
    HC_ASSERT(body_size <= connection->body_max);
    if (data.seq == 0)
        return 0;
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_data(&connection->sealer, out, size);
    hc_flight_sent(&connection->flight, connection->sent.in_flight, now_us);
    hc_sent_note_size(&connection->sent, (uint16_t)(size + HC_FLIGHT_OVERHEAD));
    connection->sent_us = now_us;
    return size;
}

size_t hc_connection_wrap_exempt(struct hc_connection *connection,
                                 uint8_t out[static HC_DATAGRAM_MAX], size_t body_size,
                                 uint64_t now_us) {
    uint64_t sent_us = connection->sent_us;
    size_t size = hc_connection_wrap(connection, out, body_size, now_us);
    if (size > 0)
        hc_sent_exempt(&connection->sent, connection->sent.next - 1);
    connection->sent_us = sent_us;
    return size;
}

uint32_t hc_connection_ack_delay_us(const struct hc_connection *connection, uint64_t now_us) {
    uint64_t delay_us =
        connection->received.newest > 0 ? hc_since(connection->newest_us, now_us) : 0;
    return (uint32_t)(delay_us < HC_ACK_DELAY_MAX_US ? delay_us : HC_ACK_DELAY_MAX_US);
}

uint64_t hc_connection_keep_alive_us(const struct hc_connection *connection) {
    return connection->sent_us + HC_KEEP_ALIVE_US;
}

// ---- The end ------------------------------------------------------------------------------------

uint64_t hc_connection_lost_us(const struct hc_connection *connection, uint64_t timeout_us) {
    return connection->sent.next >= HC_SEQ_LOST ? 0 : connection->received_us + timeout_us;
}

bool hc_connection_keys_expired(const struct hc_connection *connection, uint64_t now_us) {
    return connection->sent.next >= HC_SEQ_RENEW || connection->received.newest >= HC_SEQ_RENEW ||
           hc_since(connection->begun_us, now_us) >= HC_KEYS_LIFE_US;
}

void hc_connection_close(struct hc_connection *connection, const struct hc_close *close, bool send,
                         uint64_t now_us) {
    connection->close = *close;
    connection->close_seq = connection->sent.next;
    connection->closes_left = send ? HC_CLOSES : 0;
    connection->close_us = now_us;
}

uint64_t hc_connection_close_due_us(const struct hc_connection *connection) {
    return connection->closes_left > 0 ? connection->close_us : UINT64_MAX;
}

size_t hc_connection_send_close(struct hc_connection *connection,
                                uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    if (now_us < hc_connection_close_due_us(connection))
        return 0;
    struct hc_writer body = hc_connection_writer(connection, out);
    bool fits = hc_message_put_close(&body, &connection->close);
    HC_ASSERT(fits);
    connection->closes_left--;
    if (connection->closes_left < HC_CLOSES - HC_CLOSES_AT_ONCE)
        connection->close_us = now_us;
    if (connection->closes_left <= HC_CLOSES - HC_CLOSES_AT_ONCE)
        connection->close_us += HC_CLOSE_PERIOD_US;
    return hc_connection_wrap(connection, out, body.at, now_us);
}

void hc_connection_take_close(struct hc_connection *connection, const struct hc_close *close) {
    if (connection->close.reason == 0)
        connection->close = *close;
    connection->closed_by_peer = true;
    connection->closes_left = 0; // the peer knows of the end, too
}

size_t hc_connection_answer_close(struct hc_connection *connection,
                                  uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    HC_ASSERT(connection->closed_by_peer);
    return hc_connection_wrap(connection, out, 0, now_us);
}

size_t hc_connection_farewell(const struct hc_connection *connection, bool restarts,
                              uint8_t out[static HC_DATAGRAM_MAX]) {
    const struct hc_close close = {.reason = restarts ? HC_CLOSE_RESTARTING : HC_CLOSE_SHUTDOWN,
                                   .seconds = restarts ? FAREWELL_SECONDS : 0};
    struct hc_writer body = hc_connection_writer(connection, out);
    bool fits = hc_message_put_close(&body, &close);
    HC_ASSERT(fits);
    // No acks: with a seq of its own, the datagram must not change.
    const struct hc_data data = {.cid = connection->cid,
                                 .seq = HC_SEQ_FAREWELL + restarts,
                                 .body = out + HC_DATA_BODY_AT,
                                 .body_size = body.at};
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_farewell(&connection->sealer, out, size);
    return size;
}

bool hc_connection_is_over(const struct hc_connection *connection) {
    bool closed = connection->close.reason != 0 && connection->closes_left == 0;
    return connection->cid == 0 || (closed && !connection->closed_by_peer);
}
