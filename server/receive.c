/// Receives the DATA of clients: opens each datagram, reads it in full, then applies its messages.
#include "server/receive.h"

#include "server/desync.h"
#include "server/handshake.h"
#include "server/inputs.h"
#include "server/path.h"
#include "server/sessions.h"

/// The messages of one DATA, read in full before any is applied.
struct received {
    bool has_input, has_close, has_response, has_events, has_unreliable, has_compare;
    uint8_t response[HC_PATH_SIZE];
    uint64_t arrived_us; ///< when the kernel received the datagram
    hc_tick acked;       ///< the tick of the newest snapshot that the client had acked before
    struct hc_input_message input;
    struct hc_input_run run;
    struct hc_close close;
    struct hc_compare compare;
};

static enum hc_status read_message(struct hc_server *server, const struct hc_sv_peer *peer,
                                   enum hc_message_type type, struct received *received) {
    switch (type) {
    case HC_MESSAGE_INPUT:
        received->has_input = true;
        return hc_message_get_input(&server->reading.body, server->world.game,
                                    peer->replication.own_count, &received->input, &received->run);
    case HC_MESSAGE_CLOSE:
        received->has_close = true;
        return hc_message_get_close(&server->reading.body, &received->close);
    case HC_MESSAGE_PATH_RESPONSE:
        received->has_response = true;
        return hc_message_get_path(&server->reading.body, received->response);
    case HC_MESSAGE_RELIABLE:
        received->has_events = true;
        return hc_reliable_check(&peer->messages.in, hc_body_values(&server->reading.body));
    case HC_MESSAGE_UNRELIABLE:
        received->has_unreliable = true;
        return hc_unreliable_check(hc_body_values(&server->reading.body));
    case HC_MESSAGE_COMPARE:
        received->has_compare = true;
        return hc_compare_get(&server->reading.body, &received->compare);
    default: // only a server sends it
        return HC_MALFORMED;
    }
}

static enum hc_status read_body(struct hc_server *server, const struct hc_sv_peer *peer,
                                const struct hc_data *data, struct received *received) {
    enum hc_status status = hc_body_begin(&server->reading.body, data->body, data->body_size);
    enum hc_message_type type = HC_MESSAGE_END;
    while (status == HC_OK && (type = hc_body_next(&server->reading.body)) != HC_MESSAGE_END)
        status = read_message(server, peer, type, received);
    return status;
}

/// Opens a DATA, whose `data` has its seq, from any address; its sender may be another one than the
/// client. A datagram from the client's own address is never dropped as forged. For one from the
/// address under validation, forged datagrams of other sources do not count. A duplicate is opened
/// only if it affects the client's address.
static enum hc_status open_from(struct hc_server *server, struct hc_sv_peer *peer,
                                const struct hc_address *from, const uint8_t *bytes, size_t size,
                                struct hc_data *data, uint64_t now_us) {
    uint32_t seq = data->seq;
    bool own = hc_address_equal(from, &peer->address);
    bool moves = hc_sv_validation_is_of(&peer->validation, from);
    if (!own && hc_sv_forged_drops(&server->forged, from, moves ? 0 : peer->forged)) {
        server->stats.dropped++;
        return HC_FULL;
    }
    enum hc_status status =
        hc_connection_open(&peer->connection, bytes, size, server->reading.opened, data);
    if (status == HC_OK && hc_sv_peer_floods(peer, size, now_us))
        return HC_FULL;
    bool useful = status == HC_DUPLICATE && peer->state == HC_SV_PEER_PLAYING &&
                  hc_sv_path_wants_duplicate(peer, from, seq, now_us);
    bool opens = useful && hc_seal_open_data(peer->connection.open_key, bytes, size,
                                             server->reading.opened) == HC_OK;
    server->stats.forged += status == HC_MALFORMED || (useful && !opens);
    if (!own && (status == HC_MALFORMED || useful)) {
        peer->forged++;
        hc_sv_forged_add(&server->forged, from);
    }
    if (opens)
        hc_sv_path_received(server, peer, from, seq, size, HC_SV_ARRIVAL_DUPLICATE, now_us);
    return status;
}

/// Takes the unreliable messages of the DATA.
static void take_unreliable(struct hc_server *server, struct hc_sv_peer *peer) {
    hc_body_rewind(&server->reading.body);
    hc_body_next_of(&server->reading.body, HC_MESSAGE_UNRELIABLE);
    uint32_t count =
        hc_unreliable_take(&peer->messages.unreliable_in, hc_body_values(&server->reading.body),
                           &server->stats.unreliable_dropped);
    hc_sv_program_arrived(&server->program, 0, count);
    server->stats.unreliable_received += count;
}

/// Ends the session of a client that sent CLOSE, and answers it. A client that may be sent no
/// answer now repeats its CLOSE.
static void take_close(struct hc_server *server, struct hc_sv_peer *peer,
                       const struct hc_address *from, const struct hc_close *given,
                       uint64_t now_us) {
    struct hc_close close = *given;
    // It leaves, whatever else it says: the other reasons are a server's.
    if (close.reason != HC_CLOSE_ERROR && close.reason != HC_CLOSE_DESYNC)
        close.reason = HC_CLOSE_LEFT;
    if (hc_sv_peer_has_session(peer))
        hc_sv_sessions_drop(server, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_CLOSED, &close, now_us);
    else
        hc_connection_take_close(&peer->connection, &close);
    uint8_t answer[HC_DATAGRAM_MAX];
    if (hc_sv_outbox_is_crowded(&server->outbox))
        return;
    size_t size = hc_connection_answer_close(&peer->connection, answer, now_us);
    hc_sv_outbox_reply(&server->outbox, from, answer, size);
}

static void apply(struct hc_server *server, struct hc_sv_peer *peer, const struct hc_address *from,
                  struct received *received, uint64_t now_us) {
    if (received->has_response)
        hc_sv_path_response(server, peer, from, received->response, now_us);
    if (received->has_events)
        hc_sv_program_arrived(&server->program,
                              hc_reliable_channel_take(&peer->messages, &server->reading.body), 0);
    if (received->has_unreliable)
        take_unreliable(server, peer);
    if (received->has_input)
        hc_sv_inputs_put(server, peer, received->acked, &received->input, &received->run,
                         received->arrived_us);
    if (received->has_compare)
        hc_sv_desync_ask(&server->world, peer, &received->compare);
    if (received->has_close && received->close.reason == HC_CLOSE_DESYNC) {
        peer->difference = hc_sv_desync_difference(&server->world, peer, &received->close.desync);
        server->stats.desyncs++;
    }
    if (received->has_close)
        take_close(server, peer, from, &received->close, now_us);
}

/// Takes a DATA on a connection that has ended: the ack of a CLOSE, or a CLOSE of the client, which
/// may repeat it. Nothing else of it has an effect.
static enum hc_status receive_last(struct hc_server *server, struct hc_sv_peer *peer,
                                   const struct hc_address *from, const struct hc_data *data,
                                   const struct received *received, uint64_t now_us) {
    struct hc_accepted accepted;
    enum hc_status status = hc_connection_accept(&peer->connection, data, now_us, &accepted);
    if (status != HC_OK)
        return status;
    if (received->has_close)
        take_close(server, peer, from, &received->close, now_us);
    hc_sv_peer_close_ended(peer);
    return HC_OK;
}

enum hc_status hc_sv_receive_data(struct hc_server *server, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_data data;
    struct received received = {.arrived_us = now_us};
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &data.cid, &data.seq);
    if (status != HC_OK)
        return status;
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&server->clients, data.cid);
    if (peer == NULL || hc_connection_is_over(&peer->connection)) {
        hc_sv_handshake_reset(server, from, data.cid, data.seq, now_us);
        return HC_UNEXPECTED;
    }
    // It may have arrived while the newest datagram to the client was being made, and a little
    // before another one that was read first.
    server->reading.arrived_us =
        now_us > server->reading.arrived_us ? now_us : server->reading.arrived_us;
    now_us = server->reading.arrived_us > peer->connection.sent_us ? server->reading.arrived_us
                                                                   : peer->connection.sent_us;
    bool newest;
    status = open_from(server, peer, from, bytes, size, &data, now_us);
    if (status == HC_OK)
        status = read_body(server, peer, &data, &received);
    if (status == HC_OK && peer->state != HC_SV_PEER_PLAYING)
        return receive_last(server, peer, from, &data, &received, now_us);
    const struct hc_sv_sent_log *sent_log = &peer->replication.sent_log;
    uint64_t lost = peer->traffic.lost;
    received.acked = sent_log->base == HC_NO_TICK ? HC_NO_TICK : sent_log->base_tick;
    if (status == HC_OK)
        status = hc_sv_peer_accept(
            peer, &data, received.has_input ? received.input.ack_delay_us : 0, &newest, now_us);
    if (status != HC_OK)
        return status;
    server->stats.datagrams_lost += peer->traffic.lost - lost;
    peer->ever_received = true;
    peer->former = (struct hc_sv_former){0}; // the client has its ACCEPT
    hc_sv_path_received(server, peer, from, data.seq, size,
                        newest ? HC_SV_ARRIVAL_NEWEST : HC_SV_ARRIVAL_LATE, now_us);
    apply(server, peer, from, &received, now_us);
    return HC_OK;
}
