#include "server/core.h"

#include "common/mark.h"

#include <string.h>

void hc_sv_intake_force(struct hc_sv_host *host, struct hc_sv_peer *peer, hc_player player,
                        hc_tick before) {
    struct hc_timeline *tl = host->timeline;
    hc_tick from = hc_timeline_complete(tl, player) + 1;
    hc_tick end = hc_tick_min(before, hc_timeline_head(tl) + host->config.future + 1);
    // The ranges are read off before they are closed, for afterwards nothing tells old from new.
    for (hc_tick t = from; t < end; t++) {
        if (hc_timeline_slot(tl, player, t) != HC_SLOT_UNKNOWN)
            continue;
        if (t + host->config.history <= hc_timeline_head(tl))
            HC_MARK("slot-closed-by-window");
        hc_sv_peer_forced(peer, player, t, 1);
    }
    host->stats.inputs_forced += hc_timeline_force(tl, player, end);
}

/// One input of a client for one tick: taken, and counted once for what became of it. The same
/// input comes many times, in datagrams that repeat what is not acknowledged.
static void take_input(struct hc_sv_host *host, struct hc_sv_peer *peer, unsigned own, hc_tick tick,
                       const void *packed) {
    uint8_t input[HC_INPUT_MAX];
    hc_player player = peer->own[own];
    hc_tick *seen = &peer->seen[own][tick % HC_SV_SEEN];
    if (*seen == tick + 1)
        return;
    memcpy(input, packed, host->world.game->input_size);
    host->world.game->sanitize_input(input);
    switch (hc_timeline_put_input(host->timeline, player, tick, input)) {
    case HC_OK:
        host->stats.inputs_received++;
        if (tick < hc_timeline_head(host->timeline))
            host->stats.inputs_late++;
        if (tick > host->players[player].newest)
            host->players[player].newest = tick;
        break;
    case HC_TOO_OLD:
        host->stats.inputs_refused++;
        break;
    case HC_TOO_NEW: // may come again in time
        HC_MARK("input-too-new");
        host->stats.inputs_refused++;
        return;
    default: // never taken, so its slot was closed: at the join, or it is lost
        if (hc_timeline_slot(host->timeline, player, tick) == HC_SLOT_FORCED)
            host->stats.inputs_lost++;
        break;
    }
    *seen = tick + 1;
}

static void take_inputs(struct hc_sv_host *host, struct hc_sv_peer *peer,
                        const struct hc_input_message *message, struct hc_input_run *run) {
    if (!peer->reported || message->client_tick >= peer->client_tick) { // else it was overtaken
        peer->moves = peer->reported && message->client_tick > peer->client_tick;
        peer->client_tick = message->client_tick;
        peer->display_offset = message->display_offset;
        peer->reported = true;
    }
    for (unsigned own = 0; own < peer->own_count; own++)
        if (hc_sv_host_plays(host, peer, peer->own[own]))
            hc_sv_intake_force(host, peer, peer->own[own], message->force_before);
    for (uint32_t i = 0; i < message->count; i++) {
        for (unsigned own = 0; own < peer->own_count; own++) {
            const void *input = hc_input_run_next(run);
            if (hc_sv_host_plays(host, peer, peer->own[own])) // else its join is still to come
                take_input(host, peer, own, message->first + i, input);
        }
    }
}

/// What one DATA of a client says, read in full before any of it is done.
struct said {
    bool has_input, has_close;
    struct hc_input_message input;
    struct hc_input_run run;
    enum hc_close_reason close;
};

static enum hc_status read_body(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                                const struct hc_data *data, struct said *said) {
    enum hc_status status = hc_body_begin(&host->body, data->body, data->body_size);
    enum hc_message_type type = HC_MESSAGE_END;
    while (status == HC_OK && (type = hc_body_next(&host->body)) != HC_MESSAGE_END) {
        if (type == HC_MESSAGE_INPUT && !said->has_input) {
            said->has_input = true;
            status = hc_message_get_input(&host->body, host->world.game, peer->own_count,
                                          &said->input, &said->run);
        } else if (type == HC_MESSAGE_CLOSE) {
            said->has_close = true;
            status = hc_message_get_close(&host->body, &said->close);
        } else {
            status = HC_MALFORMED; // a server's message, or one too many
        }
    }
    return status;
}

static struct hc_sv_peer *find_peer(struct hc_sv_host *host, uint32_t cid,
                                    const struct hc_address *from) {
    uint32_t index = cid & ((1u << HC_SV_CID_INDEX_BITS) - 1);
    if (index >= host->config.clients)
        return NULL;
    struct hc_sv_peer *peer = &host->peers[index];
    bool same = peer->state == HC_SV_PEER_PLAYING && peer->cid == cid &&
                hc_address_equal(&peer->address, from);
    return same ? peer : NULL;
}

enum hc_status hc_sv_intake_receive(struct hc_sv_host *host, const struct hc_address *from,
                                    const uint8_t *bytes, size_t size, uint64_t now_us) {
    struct hc_data data;
    struct said said = {.has_input = false};
    enum hc_status status = hc_datagram_get_data(bytes, size, &data);
    if (status != HC_OK)
        return status;
    struct hc_sv_peer *peer = find_peer(host, data.cid, from);
    if (peer == NULL)
        return HC_UNEXPECTED;
    status = hc_replay_check(&peer->replay, data.seq);
    if (status == HC_OK)
        status = read_body(host, peer, &data, &said);
    if (status == HC_OK)
        status =
            hc_sv_peer_accept(peer, &data, said.has_input ? said.input.ack_delay_us : 0, now_us);
    if (status != HC_OK)
        return status;
    if (said.has_input)
        take_inputs(host, peer, &said.input, &said.run);
    if (said.has_close)
        hc_sv_host_drop(host, peer, HC_SV_EVENT_LEFT, said.close, false, now_us);
    return HC_OK;
}
