/// A peer: its memory, its connection's numbering, acks and losses, and its CLOSEs.
#include "server/peer.h"

#include "common/alloc.h"
#include "hindcast/check.h"
#include "server/address_limit.h"

#include <string.h>

size_t hc_sv_peer_layout(struct hc_sv_peer *peer, const struct hc_world *world, uint8_t *base) {
    size_t used = 0;
    peer->seen = hc_carve(base, &used, HC_OWN_PLAYERS_MAX * sizeof *peer->seen);
    peer->events_bytes = hc_carve(base, &used, HC_EVENTS_BYTES_MAX + HC_EVENTS_STORE_MIN);
    used += hc_sv_client_layout(&peer->replication, world, base == NULL ? NULL : base + used);
    return used;
}

void hc_sv_peer_open(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                     const struct hc_address *address,
                     const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    HC_ASSERT(peer->state == HC_SV_PEER_FREE);
    peer->user = (struct hc_sv_user){.client_id = 0};
    peer->ever_received = false;
    peer->forged = 0;
    memset(peer->seen, 0, HC_OWN_PLAYERS_MAX * sizeof *peer->seen);
    hc_sv_peer_begin_events(peer);
    hc_sv_client_open(&peer->replication);
    hc_sv_peer_connect(peer, cid, rate, address, client_nonce, now_us);
}

void hc_sv_peer_connect(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                        const struct hc_address *address,
                        const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    HC_ASSERT(cid != 0);
    *peer = (struct hc_sv_peer){
        .state = HC_SV_PEER_PLAYING,
        .user = peer->user,
        .replication = peer->replication,
        .ever_received = peer->ever_received,
        .events_out = peer->events_out,
        .events_in = peer->events_in,
        .events_bytes = peer->events_bytes,
        .seen = peer->seen,
        .cid = cid,
        .address = *address,
        .forged = peer->forged,
        .loss_checked_to = 1,
        .received_us = now_us,
        .sent_us = now_us,
        .contest = {.home = *address, .held_us = now_us, .since = 1, .acked_us = now_us},
        .ended_next = peer->ended_next};
    memcpy(peer->client_nonce, client_nonce, HC_NONCE_SIZE);
    hc_sent_init(&peer->sent, 1);
    hc_events_out_continue(&peer->events_out);
    hc_sv_lateness_begin(&peer->lateness);
    hc_sv_client_connect(&peer->replication, cid, rate, now_us);
}

void hc_sv_peer_begin_events(struct hc_sv_peer *peer) {
    hc_events_out_init(&peer->events_out, 1, peer->events_bytes, HC_EVENTS_BYTES_MAX);
    hc_events_in_init(&peer->events_in, 1, peer->events_bytes + HC_EVENTS_BYTES_MAX,
                      HC_EVENTS_STORE_MIN);
}

bool hc_sv_peer_floods(struct hc_sv_peer *peer, size_t size, uint64_t now_us) {
    uint64_t rate = peer->replication.world->tick_rate;
    uint64_t players = peer->replication.own_count > 1 ? peer->replication.own_count : 1;
    return hc_sv_address_limit_exceeds(&peer->flood_us, 1000000 / (HC_FLOOD_DATAGRAMS * rate),
                                       HC_FLOOD_US, now_us) ||
           hc_sv_address_limit_exceeds(&peer->flood_bytes_us,
                                       size * 1000000 / (HC_FLOOD_BYTES * rate * players),
                                       HC_FLOOD_US, now_us);
}

void hc_sv_peer_close(struct hc_sv_peer *peer, enum hc_close_reason reason, uint64_t now_us) {
    HC_ASSERT(peer->state == HC_SV_PEER_PLAYING);
    peer->messages_due = false;
    peer->state = HC_SV_PEER_CLOSING;
    peer->close = reason;
    peer->closes_left = HC_CLOSES;
    peer->close_us = now_us;
    peer->snapshot_due = false;
}

/// Counts the datagrams that are lost since the last call.
static uint32_t count_lost(struct hc_sv_peer *peer) {
    uint32_t lost = 0;
    if (peer->acked > HC_SENT_RING && peer->loss_checked_to < peer->acked - HC_SENT_RING)
        peer->loss_checked_to = peer->acked - HC_SENT_RING; // older ones are forgotten
    for (; peer->loss_checked_to + HC_LOST_AFTER <= peer->acked; peer->loss_checked_to++)
        lost += hc_sent_misses(&peer->sent, peer->loss_checked_to);
    return lost;
}

/// A datagram was acked after `elapsed_us`; the client reports that it waited `delay_us`.
static void measure_rtt(struct hc_sv_peer *peer, uint64_t elapsed_us, uint32_t delay_us) {
    enum { SMOOTH = 8 };
    // The client's clock may run fast, or its delay may be false.
    uint64_t rtt_us = elapsed_us > delay_us ? elapsed_us - delay_us : 0;
    bool first = peer->replication.rtt_min_us == UINT64_MAX;
    peer->srtt_us = first ? rtt_us : (peer->srtt_us * (SMOOTH - 1) + rtt_us) / SMOOTH;
    if (rtt_us < peer->replication.rtt_min_us)
        peer->replication.rtt_min_us = rtt_us;
}

enum hc_status hc_sv_peer_accept(struct hc_sv_peer *peer, const struct hc_data *data,
                                 uint32_t ack_delay_us, uint64_t now_us) {
    struct hc_acked acked[HC_ACKS_MAX];
    uint32_t count = 0;
    enum hc_status status = hc_replay_check(&peer->replay, data->seq);
    if (status == HC_OK)
        status = hc_sent_acked(&peer->sent, data->ack, data->ack_bits, acked, &count);
    if (status != HC_OK)
        return status;
    if (data->seq > peer->replay.newest)
        peer->newest_us = now_us;
    hc_replay_accept(&peer->replay, data->seq);
    peer->received_us = now_us;
    for (uint32_t i = count; i-- > 0;) // oldest first, so that no acked one counts as lost
        hc_sv_client_acked(&peer->replication, acked[i].seq);
    for (uint32_t i = 0; i < count; i++) {
        hc_events_acked(&peer->events_out, acked[i].seq);
        peer->narrow.any &= peer->narrow.tried != acked[i].seq;
        for (unsigned k = 0; k < HC_SV_TICKET_SEQS; k++)
            peer->ticket.acked |= peer->ticket.seqs[k] == acked[i].seq;
        if (acked[i].seq > peer->acked)
            peer->acked = acked[i].seq;
        if (acked[i].seq == data->ack)
            measure_rtt(peer, now_us - acked[i].sent_us, ack_delay_us);
    }
    hc_sv_bandwidth_learn(&peer->replication.bandwidth, count, count_lost(peer), now_us);
    return HC_OK;
}

/// Whether a body larger than an untested path may carry is due again, to test the path.
static bool may_widen(const struct hc_sv_narrow *narrow, uint64_t now_us) {
    return narrow->tried == 0 || now_us - narrow->tried_us >= HC_PATH_WIDEN_US;
}

uint32_t hc_sv_peer_messages_most(const struct hc_sv_peer *peer, uint64_t now_us) {
    bool narrow = peer->narrow.any && !may_widen(&peer->narrow, now_us);
    return narrow ? HC_PATH_BODY_MAX : HC_DATA_BODY_MAX;
}

size_t hc_sv_peer_wrap(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                       size_t body_size, uint64_t now_us) {
    struct hc_data data = {.cid = peer->cid,
                           .seq = hc_sent_next(&peer->sent, now_us),
                           .ack = peer->replay.newest,
                           .ack_bits = hc_replay_ack_bits(&peer->replay),
                           .body = out + HC_DATA_BODY_AT,
                           .body_size = body_size};
    if (data.seq == 0)
        return 0;
    size_t size = hc_datagram_put_data(&data, out);
    hc_seal_data(&peer->sealer, out, size);
    peer->sent_us = now_us;
    if (body_size > HC_PATH_BODY_MAX && may_widen(&peer->narrow, now_us)) {
        peer->narrow.tried = data.seq;
        peer->narrow.tried_us = now_us;
    }
    return size;
}

size_t hc_sv_peer_send_close(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                             uint64_t now_us) {
    if (peer->state != HC_SV_PEER_CLOSING || now_us < peer->close_us)
        return 0;
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    bool fits = hc_message_put_close(&body, peer->close);
    HC_ASSERT(fits && peer->closes_left > 0);
    peer->closes_left--;
    if (peer->closes_left <= HC_CLOSES - HC_CLOSES_AT_ONCE)
        peer->close_us = now_us + HC_CLOSE_PERIOD_US;
    if (peer->closes_left == 0)
        peer->state = peer->lingers_until_us != 0 ? HC_SV_PEER_LINGERING : HC_SV_PEER_FREE;
    return hc_sv_peer_wrap(peer, out, body.at, now_us);
}

uint32_t hc_sv_peer_ack_delay(const struct hc_sv_peer *peer, uint64_t now_us) {
    uint64_t delay = now_us - peer->newest_us;
    if (peer->replay.newest == 0)
        return 0;
    return delay < HC_ACK_DELAY_MAX_US ? (uint32_t)delay : HC_ACK_DELAY_MAX_US;
}
