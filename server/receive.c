/// Receives the DATA of clients: opens each datagram, reads it in full, then applies its messages.
#include "server/host_internal.h"
#include "server/path.h"

#include "common/mark.h"

#include <string.h>

void hc_sv_receive_force(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_player player,
                         hc_tick before) {
    struct hc_timeline *tl = host->timeline;
    hc_tick from = hc_timeline_inputs_through(tl, player) + 1;
    hc_tick end = hc_tick_min(before, hc_timeline_head(tl) + host->config.future + 1);
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
        memcpy(peer->newest_input[own], input, size);
        peer->active_at = head;
    }
    if (tick >= head)
        return;
    host->stats.inputs_late++;
    peer->late_ticks += head - tick;
    if (peer->late_ticks > host->stats.latest.ticks)
        host->stats.latest = (struct hc_sv_latest){peer->user.client_id, peer->late_ticks};
}

/// Puts one input of a client into the timeline, and counts it once by its outcome. An input comes
/// many times, because datagrams repeat it until it is acked.
static void put_input(struct hc_sv_host *host, struct hc_sv_peer *peer, unsigned own, hc_tick tick,
                      const void *packed) {
    uint8_t input[HC_INPUT_MAX];
    hc_player player = peer->replication.own[own];
    hc_tick *seen = &peer->seen[own][tick % HC_SV_SEEN];
    if (*seen == tick + 1)
        return;
    memcpy(input, packed, host->world.game->input_size);
    host->world.game->sanitize_input(input);
    switch (hc_timeline_put_input(host->timeline, player, tick, input)) {
    case HC_OK:
        host->stats.inputs_received++;
        note_input(host, peer, own, tick, input);
        hc_sv_roster_input(&host->replicator.roster, player, tick);
        break;
    case HC_TOO_OLD:
        host->stats.inputs_refused++;
        break;
    case HC_TOO_NEW: // a repeat may still be in time
        HC_MARK("input-too-new");
        host->stats.inputs_refused++;
        return;
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

static void put_inputs(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_input_message *message, struct hc_input_run *run) {
    struct hc_sv_client *client = &peer->replication;
    hc_sv_client_report(client, message->client_tick, message->display_offset);
    if (message->count > 0) // a refused stamp beyond the future must not hide later ones
        hc_sv_lateness_input(&peer->lateness,
                             hc_tick_min(message->first + message->count - 1,
                                         hc_timeline_head(host->timeline) + host->config.future));
    for (unsigned own = 0; own < client->own_count; own++)
        if (hc_sv_host_plays(host, peer, client->own[own]))
            hc_sv_receive_force(host, peer, client->own[own], message->force_before);
    for (uint32_t i = 0; i < message->count; i++) {
        for (unsigned own = 0; own < client->own_count; own++) {
            const void *input = hc_input_run_next(run);
            if (hc_sv_host_plays(host, peer, client->own[own])) // otherwise its join is due
                put_input(host, peer, own, message->first + i, input);
        }
    }
}

/// The messages of one DATA, read in full before any is applied.
struct received {
    bool has_input, has_close, has_response, has_events;
    uint8_t response[HC_PATH_SIZE];
    struct hc_input_message input;
    struct hc_input_run run;
    enum hc_close_reason close;
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

static struct hc_sv_peer *find_peer(struct hc_sv_host *host, uint32_t cid) {
    struct hc_sv_peer *peer = hc_sv_host_peer(host, cid);
    bool connected =
        peer != NULL && peer->state != HC_SV_PEER_FREE && peer->state != HC_SV_PEER_LINGERING;
    return connected ? peer : NULL;
}

/// Opens a DATA from any address; its sender may be another one than the client. A datagram from
/// the client's own address is never dropped as forged. For one from the address under validation,
/// forged datagrams of other sources do not count. A duplicate is opened only if it affects the
/// client's address.
static enum hc_status open_from(struct hc_sv_host *host, struct hc_sv_peer *peer,
                                const struct hc_address *from, uint32_t seq, const uint8_t *bytes,
                                size_t size, struct hc_data *data, uint64_t now_us) {
    bool own = hc_address_equal(from, &peer->address);
    bool moves = peer->path.any && hc_address_equal(from, &peer->path.address);
    if (!own && hc_sv_forged_drops(&host->forged, from, moves ? 0 : peer->forged)) {
        host->stats.dropped++;
        return HC_FULL;
    }
    enum hc_status status = hc_connection_open(&peer->connection, bytes, size, host->opened, data);
    if (status == HC_OK && hc_sv_peer_floods(peer, size, now_us))
        return HC_FULL;
    bool useful = status == HC_DUPLICATE && hc_sv_path_wants_duplicate(peer, from, seq, now_us);
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

static void apply(struct hc_sv_host *host, struct hc_sv_peer *peer, const struct hc_address *from,
                  struct received *received, uint64_t now_us) {
    if (received->has_response)
        hc_sv_path_response(host, peer, from, received->response, now_us);
    if (received->has_events)
        host->unread_messages += hc_events_channel_take(&peer->messages, &host->body);
    if (received->has_input)
        put_inputs(host, peer, &received->input, &received->run);
    if (received->has_close)
        hc_sv_host_drop(host, peer, HC_SV_EVENT_LEFT, received->close, false, now_us);
}

enum hc_status hc_sv_receive_data(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_data data;
    struct received received = {.has_input = false};
    uint32_t cid, seq;
    enum hc_status status = hc_datagram_get_data_clear(bytes, size, &cid, &seq);
    if (status != HC_OK)
        return status;
    struct hc_sv_peer *peer = find_peer(host, cid);
    if (peer == NULL)
        hc_sv_handshake_reset(host, from, cid, seq, now_us);
    if (peer == NULL || peer->state != HC_SV_PEER_PLAYING)
        return HC_UNEXPECTED;
    // It may have arrived while the newest datagram to the client was being made.
    now_us = now_us > peer->connection.sent_us ? now_us : peer->connection.sent_us;
    bool newest;
    status = open_from(host, peer, from, seq, bytes, size, &data, now_us);
    if (status == HC_OK)
        status = read_body(host, peer, &data, &received);
    if (status == HC_OK)
        status = hc_sv_peer_accept(
            peer, &data, received.has_input ? received.input.ack_delay_us : 0, &newest, now_us);
    if (status != HC_OK)
        return status;
    peer->ever_received = true;
    peer->continues = 0; // the client has its ACCEPT
    hc_sv_path_received(host, peer, from, seq, size,
                        newest ? HC_SV_ARRIVAL_NEWEST : HC_SV_ARRIVAL_LATE, now_us);
    apply(host, peer, from, &received, now_us);
    return HC_OK;
}
