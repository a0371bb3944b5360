/// Receives the DATA of clients: opens each datagram, reads it in full, then applies its messages.
#include "server/host_internal.h"
#include "server/path.h"

#include "common/mark.h"
#include "common/input_fields.h"

#include <string.h>

void hc_sv_receive_force(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_player player,
                         hc_tick before) {
    struct hc_timeline *tl = host->timeline;
    hc_tick from = hc_timeline_inputs_through(tl, player) + 1;
    hc_tick end = hc_tick_min(before, hc_timeline_head(tl) + host->test.future + 1);
    // List the slots before forcing them, because afterwards all forced slots look the same.
    for (hc_tick t = from; t < end; t++) {
        if (hc_timeline_slot(tl, player, t) != HC_SLOT_UNKNOWN)
            continue;
        if (t + host->config.history <= hc_timeline_head(tl))
            HC_MARK("slot-closed-by-window");
        hc_sv_lists_force(peer->replication.lists, player, t, 1);
    }
    host->stats.inputs_forced += hc_timeline_force(tl, player, end);
}

/// Notes a new input of `own` for `tick`: whether the client is idle, and how late it is.
static void note_input(struct hc_sv_host *host, struct hc_sv_peer *peer, unsigned own, hc_tick tick,
                       const uint8_t *input) {
    hc_tick head = hc_timeline_head(host->timeline);
    size_t size = host->world.game->input_size;
    if (memcmp(peer->newest_input[own], input, size) != 0) {
        hc_sv_replicator_turn(&host->replicator, peer->replication.own[own],
                              peer->newest_input[own], input);
        memcpy(peer->newest_input[own], input, size);
        peer->active_at = head;
    }
    if (tick >= head)
        return;
    host->stats.inputs_late++;
    peer->late_ticks += head - tick;
    if (peer->late_ticks > host->stats.latest.ticks)
        host->stats.latest = (struct hc_server_latest){peer->user.client_id, peer->late_ticks};
}

/// The oldest tick that a client can have shown when it gave the inputs of this datagram: it had
/// the newest snapshot that its datagrams before have acked, and shows so many ticks before that.
static hc_tick oldest_shown(const struct hc_sv_client *client, hc_tick acked) {
    return acked == HC_NO_TICK ? 0 : hc_tick_back(acked, client->display_offset + 1);
}

/// Limits the tick that the client says it was shown when it gave the input of `tick`. Writes
/// whether it was before `oldest`, and whether it was farther back than the server allows.
static void limit_shown_ago(const struct hc_sv_host *host, hc_tick oldest, hc_tick tick,
                            uint8_t *input, bool *unsent, bool *limited) {
    const struct hc_game *game = host->world.game;
    uint64_t most = (uint64_t)host->config.lag_compensation_ms * host->world.tick_rate / 1000;
    *unsent = hc_shown_ago_limit(game, input, tick > oldest ? tick - oldest : 0);
    *limited =
        hc_shown_ago_limit(game, input, most < game->lookback ? (uint32_t)most : game->lookback);
}

/// Puts one input of a client into the timeline, and counts it once by its outcome. An input comes
/// many times, because datagrams repeat it until it is acked.
static void put_input(struct hc_sv_host *host, struct hc_sv_peer *peer, unsigned own, hc_tick tick,
                      const void *packed, hc_tick oldest) {
    uint8_t input[HC_INPUT_MAX];
    bool unsent, limited;
    hc_player player = peer->replication.own[own];
    hc_tick *seen = &peer->seen[own][tick % HC_SV_SEEN];
    if (*seen == tick + 1)
        return;
    memcpy(input, packed, host->world.game->input_size);
    host->world.game->sanitize_input(input);
    limit_shown_ago(host, oldest, tick, input, &unsent, &limited);
    switch (hc_timeline_put_input(host->timeline, player, tick, input)) {
    case HC_OK:
        host->stats.inputs_received++;
        host->stats.shown_ago_unsent += unsent;
        host->stats.shown_ago_limited += limited;
        note_input(host, peer, own, tick, input);
        hc_sv_roster_input(&host->replicator.roster, player, tick);
        break;
    case HC_TOO_OLD:
        host->stats.inputs_refused++;
        break;
    default: // its slot has an input, or was closed: at a join, as too late, or by force_before
        if (hc_timeline_slot(host->timeline, player, tick) != HC_SLOT_FORCED)
            break;
        if (tick + hc_sv_host_late_limit(host, peer) < hc_timeline_head(host->timeline))
            host->stats.inputs_refused++;
        else
            host->stats.inputs_lost++;
        break;
    }
    *seen = tick + 1;
}

/// How many of a datagram's ticks are not beyond the future limit. The others are refused, each
/// time, without a look at them: a repeat may still be in time.
static uint32_t ticks_in_time(const struct hc_sv_host *host,
                              const struct hc_input_message *message) {
    hc_tick end = hc_timeline_head(host->timeline) + host->test.future + 1;
    uint32_t most = message->first < end ? end - message->first : 0;
    if (message->count > most)
        HC_MARK("input-too-new");
    return message->count < most ? message->count : most;
}

/// Takes the inputs of a datagram; `acked` is the tick of the newest snapshot that the client has
/// acked before, or HC_NO_TICK.
static void put_inputs(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_tick acked,
                       const struct hc_input_message *message, struct hc_input_run *run) {
    struct hc_sv_client *client = &peer->replication;
    hc_sv_client_report(client, message->client_tick, message->display_offset);
    hc_tick oldest = oldest_shown(client, acked);
    if (message->count > 0) // a refused stamp beyond the future must not hide later ones
        hc_sv_lateness_input(&peer->lateness,
                             hc_tick_min(message->first + message->count - 1,
                                         hc_timeline_head(host->timeline) + host->test.future));
    uint32_t count = ticks_in_time(host, message);
    for (unsigned own = 0; own < client->own_count; own++) {
        if (!hc_sv_clients_plays(&host->clients, peer, client->own[own]))
            continue;
        hc_sv_receive_force(host, peer, client->own[own], message->force_before);
        host->stats.inputs_refused += message->count - count;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned own = 0; own < client->own_count; own++) {
            const void *input = hc_input_run_next(run);
            if (hc_sv_clients_plays(&host->clients, peer,
                                    client->own[own])) // otherwise its join is due
                put_input(host, peer, own, message->first + i, input, oldest);
        }
    }
}

/// The messages of one DATA, read in full before any is applied.
struct received {
    bool has_input, has_close, has_response, has_events, has_unreliable, has_compare;
    uint8_t response[HC_PATH_SIZE];
    hc_tick acked; ///< the tick of the newest snapshot that the client had acked before
    struct hc_input_message input;
    struct hc_input_run run;
    struct hc_close close;
    struct hc_compare compare;
};

static enum hc_status read_message(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                                   enum hc_message_type type, struct received *received) {
    switch (type) {
    case HC_MESSAGE_INPUT:
        received->has_input = true;
        return hc_message_get_input(&host->body, host->world.game, peer->replication.own_count,
                                    &received->input, &received->run);
    case HC_MESSAGE_CLOSE:
        received->has_close = true;
        return hc_message_get_close(&host->body, &received->close);
    case HC_MESSAGE_PATH_RESPONSE:
        received->has_response = true;
        return hc_message_get_path(&host->body, received->response);
    case HC_MESSAGE_EVENTS:
        received->has_events = true;
        return hc_events_check(&peer->messages.in, hc_body_values(&host->body));
    case HC_MESSAGE_UNRELIABLE:
        received->has_unreliable = true;
        return hc_unreliable_check(hc_body_values(&host->body));
    case HC_MESSAGE_COMPARE:
        received->has_compare = true;
        return hc_compare_get(&host->body, &received->compare);
    default: // only a server sends it
        return HC_MALFORMED;
    }
}

static enum hc_status read_body(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                                const struct hc_data *data, struct received *received) {
    enum hc_status status = hc_body_begin(&host->body, data->body, data->body_size);
    enum hc_message_type type = HC_MESSAGE_END;
    while (status == HC_OK && (type = hc_body_next(&host->body)) != HC_MESSAGE_END)
        status = read_message(host, peer, type, received);
    return status;
}

/// Opens a DATA from any address; its sender may be another one than the client. A datagram from
/// the client's own address is never dropped as forged. For one from the address under validation,
/// forged datagrams of other sources do not count. A duplicate is opened only if it affects the
/// client's address.
static enum hc_status open_from(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                const struct hc_address *from, uint32_t seq, const uint8_t *bytes,
                                size_t size, struct hc_data *data, uint64_t now_us) {
    bool own = hc_address_equal(from, &peer->address);
    bool moves = hc_sv_validation_is_of(&peer->validation, from);
    if (!own && hc_sv_forged_drops(&host->forged, from, moves ? 0 : peer->forged)) {
        host->stats.dropped++;
        return HC_FULL;
    }
    enum hc_status status = hc_connection_open(&peer->connection, bytes, size, host->opened, data);
    if (status == HC_OK && hc_sv_peer_floods(peer, size, now_us))
        return HC_FULL;
    bool useful = status == HC_DUPLICATE && peer->state == HC_SV_PEER_PLAYING &&
                  hc_sv_path_wants_duplicate(peer, from, seq, now_us);
    bool opens =
        useful && hc_seal_open_data(peer->connection.open_key, bytes, size, host->opened) == HC_OK;
    host->stats.forged += status == HC_MALFORMED || (useful && !opens);
    if (!own && (status == HC_MALFORMED || useful)) {
        peer->forged++;
        hc_sv_forged_add(&host->forged, from);
    }
    if (opens)
        hc_sv_path_received(host, peer, from, seq, size, HC_SV_ARRIVAL_DUPLICATE, now_us);
    return status;
}

/// Takes the unreliable messages of the DATA.
static void take_unreliable(struct hc_sv_host *host, struct hc_sv_peer *peer) {
    hc_body_rewind(&host->body);
    hc_body_next_of(&host->body, HC_MESSAGE_UNRELIABLE);
    uint32_t count = hc_unreliable_take(&peer->messages.unreliable_in, hc_body_values(&host->body),
                                        &host->stats.unreliable_dropped);
    hc_sv_program_arrived(&host->program, 0, count);
    host->stats.unreliable_received += count;
}

/// Ends the session of a client that sent CLOSE, and answers it. A client that may be sent no
/// answer now repeats its CLOSE.
static void take_close(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_address *from, const struct hc_close *given,
                       uint64_t now_us) {
    struct hc_close close = *given;
    // It leaves, whatever else it says: the other reasons are a server's.
    if (close.reason != HC_CLOSE_ERROR && close.reason != HC_CLOSE_DESYNC)
        close.reason = HC_CLOSE_LEFT;
    if (hc_sv_peer_has_session(peer))
        hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_CLOSED, &close, now_us);
    else
        hc_connection_take_close(&peer->connection, &close);
    uint8_t answer[HC_DATAGRAM_MAX];
    if (hc_sv_outbox_is_crowded(&host->outbox))
        return;
    size_t size = hc_connection_answer_close(&peer->connection, answer, now_us);
    hc_sv_outbox_reply(&host->outbox, from, answer, size);
}

static void apply(struct hc_sv_host *host, struct hc_sv_peer *peer, const struct hc_address *from,
                  struct received *received, uint64_t now_us) {
    if (received->has_response)
        hc_sv_path_response(host, peer, from, received->response, now_us);
    if (received->has_events)
        hc_sv_program_arrived(&host->program, hc_events_channel_take(&peer->messages, &host->body),
                              0);
    if (received->has_unreliable)
        take_unreliable(host, peer);
    if (received->has_input)
        put_inputs(host, peer, received->acked, &received->input, &received->run);
    if (received->has_compare)
        hc_sv_desync_ask(host, peer, &received->compare);
    if (received->has_close && received->close.reason == HC_CLOSE_DESYNC) {
        peer->difference = hc_sv_desync_difference(host, peer, &received->close.desync);
        host->stats.desyncs++;
    }
    if (received->has_close)
        take_close(host, peer, from, &received->close, now_us);
}

/// Takes a DATA on a connection that has ended: the ack of a CLOSE, or a CLOSE of the client, which
/// may repeat it. Nothing else of it has an effect.
static enum hc_status receive_last(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                   const struct hc_address *from, const struct hc_data *data,
                                   const struct received *received, uint64_t now_us) {
    struct hc_accepted accepted;
    enum hc_status status = hc_connection_accept(&peer->connection, data, now_us, &accepted);
    if (status != HC_OK)
        return status;
    if (received->has_close)
        take_close(host, peer, from, &received->close, now_us);
    hc_sv_peer_close_ended(peer);
    return HC_OK;
}

enum hc_status hc_sv_receive_data(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_data data;
    struct received received = {.has_input = false};
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    if (status != HC_OK)
        return status;
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (peer == NULL || hc_connection_is_over(&peer->connection)) {
        hc_sv_handshake_reset(host, from, cid, seq, now_us);
        return HC_UNEXPECTED;
    }
    // It may have arrived while the newest datagram to the client was being made, and a little
    // before another one that was read first.
    host->arrived_us = now_us > host->arrived_us ? now_us : host->arrived_us;
    now_us =
        host->arrived_us > peer->connection.sent_us ? host->arrived_us : peer->connection.sent_us;
    bool newest;
    status = open_from(host, peer, from, seq, bytes, size, &data, now_us);
    if (status == HC_OK)
        status = read_body(host, peer, &data, &received);
    if (status == HC_OK && peer->state != HC_SV_PEER_PLAYING)
        return receive_last(host, peer, from, &data, &received, now_us);
    const struct hc_sv_sent_log *sent_log = &peer->replication.sent_log;
    received.acked = sent_log->base == HC_NO_TICK ? HC_NO_TICK : sent_log->base_tick;
    if (status == HC_OK)
        status = hc_sv_peer_accept(
            peer, &data, received.has_input ? received.input.ack_delay_us : 0, &newest, now_us);
    if (status != HC_OK)
        return status;
    peer->ever_received = true;
    peer->former = (struct hc_sv_former){0}; // the client has its ACCEPT
    hc_sv_path_received(host, peer, from, seq, size,
                        newest ? HC_SV_ARRIVAL_NEWEST : HC_SV_ARRIVAL_LATE, now_us);
    apply(host, peer, from, &received, now_us);
    return HC_OK;
}
