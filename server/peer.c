#include "server/peer.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "hindcast/check.h"
#include "proto/snapshot.h"
#include "server/address_limit.h"

#include <string.h>

size_t hc_sv_peer_layout(struct hc_sv_peer *peer, const struct hc_world *world, uint8_t *base) {
    uint32_t entries = HC_SV_SENT_LOG_SNAPSHOTS * hc_snapshot_units_most(world);
    entries = entries > HC_SNAPSHOT_VALUES_MIN ? entries : HC_SNAPSHOT_VALUES_MIN;
    size_t used = 0;
    peer->world = world;
    peer->sent_log_entries = entries;
    peer->sent_log = hc_carve(base, &used, hc_sv_sent_log_memory(world, entries));
    used += hc_sv_pinned_layout(&peer->pinned, world, base == NULL ? NULL : base + used);
    used += hc_sv_interest_layout(&peer->interest, world, base == NULL ? NULL : base + used);
    used += hc_sv_bandwidth_layout(&peer->budget, world, base == NULL ? NULL : base + used);
    peer->events_bytes = hc_carve(base, &used, HC_EVENTS_BYTES_MAX + HC_EVENTS_STORE_MIN);
    return used;
}

void hc_sv_peer_open(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                     const struct hc_address *address,
                     const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    struct hc_sv_peer laid_out = *peer;
    HC_ASSERT(peer->state == HC_SV_PEER_FREE);
    *peer = (struct hc_sv_peer){.world = laid_out.world,
                                .sent_log_entries = laid_out.sent_log_entries,
                                .sent_log = laid_out.sent_log,
                                .pinned = laid_out.pinned,
                                .interest = laid_out.interest,
                                .budget = laid_out.budget,
                                .ended_next = laid_out.ended_next,
                                .events_bytes = laid_out.events_bytes};
    peer->extrapolation_saved = hc_sv_peer_extrapolation_most(peer);
    hc_sv_peer_begin_events(peer);
    hc_sv_peer_connect(peer, cid, rate, address, client_nonce, now_us);
}

void hc_sv_peer_connect(struct hc_sv_peer *peer, uint32_t cid, uint32_t rate,
                        const struct hc_address *address,
                        const uint8_t client_nonce[static HC_NONCE_SIZE], uint64_t now_us) {
    HC_ASSERT(cid != 0);
    peer->state = HC_SV_PEER_PLAYING;
    peer->cid = cid;
    peer->continues = 0;
    peer->lingers_until_us = 0;
    peer->address = *address;
    memcpy(peer->client_nonce, client_nonce, HC_NONCE_SIZE);
    peer->replay = (struct hc_replay){.newest = 0};
    hc_sent_init(&peer->sent, 1);
    peer->acked = peer->acked_snapshot = 0;
    peer->loss_checked_to = 1;
    peer->received_us = now_us;
    peer->newest_us = 0;
    peer->sent_us = now_us;
    peer->flood_us = peer->flood_bytes_us = 0;
    peer->path = (struct hc_sv_path){.any = false};
    peer->contest = (struct hc_sv_contest){
        .any = false, .home = *address, .held_us = now_us, .since = 1, .acked_us = now_us};
    peer->narrow = (struct hc_sv_narrow){.any = false}; // ACCEPT has shown a full datagram
    peer->ticket = (struct hc_sv_ticket){.any = false};
    peer->messages_due = false;
    hc_events_out_continue(&peer->events_out);
    peer->rtt_min_us = UINT64_MAX;
    peer->srtt_us = 0;
    hc_sv_lateness_begin(&peer->lateness);
    peer->client_tick = 0;
    peer->display_offset = 0;
    peer->reported = peer->moves = false;
    peer->interest_at = HC_NO_TICK;
    peer->forced_count = 0;
    memset(peer->roster_sent, 0, sizeof peer->roster_sent);
    peer->snapshot_due = false;
    peer->newest_head = HC_NO_TICK;
    peer->messages_sent = peer->snapshot_starved = false;
    peer->close = 0;
    peer->sent_log = hc_sv_sent_log_init(peer->world, peer->sent_log_entries, peer->sent_log);
    hc_sv_pinned_clear(&peer->pinned);
    hc_sv_interest_clear(&peer->interest);
    hc_sv_bandwidth_begin(&peer->budget, rate, now_us);
}

void hc_sv_peer_begin_events(struct hc_sv_peer *peer) {
    hc_events_out_init(&peer->events_out, 1, peer->events_bytes, HC_EVENTS_BYTES_MAX);
    hc_events_in_init(&peer->events_in, 1, peer->events_bytes + HC_EVENTS_BYTES_MAX,
                      HC_EVENTS_STORE_MIN);
}

bool hc_sv_peer_floods(struct hc_sv_peer *peer, size_t size, uint64_t now_us) {
    uint64_t rate = peer->world->tick_rate, players = peer->own_count > 1 ? peer->own_count : 1;
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

/// A snapshot has arrived: what it told, as all since another one did, is known. Whatever else is
/// acknowledged has carried nothing of that.
static void hear_of_snapshot(struct hc_sv_peer *peer, uint32_t acked) {
    unsigned pinned = 0;
    if (acked > peer->acked_snapshot)
        peer->acked_snapshot = acked;
    for (unsigned i = 0; i < peer->forced_count; i++)
        if (peer->forced[i].told == 0 || acked < peer->forced[i].told)
            peer->forced[pinned++] = peer->forced[i];
    peer->forced_count = pinned;
}

/// How many datagrams are found to be lost by now.
static uint32_t judge(struct hc_sv_peer *peer) {
    uint32_t lost = 0;
    if (peer->acked > HC_SENT_RING && peer->loss_checked_to < peer->acked - HC_SENT_RING)
        peer->loss_checked_to = peer->acked - HC_SENT_RING; // the rest is forgotten
    for (; peer->loss_checked_to + HC_SV_SENT_LOG_REORDER <= peer->acked; peer->loss_checked_to++)
        lost += hc_sent_misses(&peer->sent, peer->loss_checked_to);
    return lost;
}

/// An answer came after `elapsed_us`, of which the client says that it had waited for `delay_us`.
static void measure(struct hc_sv_peer *peer, uint64_t elapsed_us, uint32_t delay_us) {
    enum { SMOOTH = 8 };
    // Not below nothing, by whichever clock.
    uint64_t rtt_us = elapsed_us > delay_us ? elapsed_us - delay_us : 0;
    bool first = peer->rtt_min_us == UINT64_MAX;
    peer->srtt_us = first ? rtt_us : (peer->srtt_us * (SMOOTH - 1) + rtt_us) / SMOOTH;
    if (rtt_us < peer->rtt_min_us)
        peer->rtt_min_us = rtt_us;
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
    for (uint32_t i = count; i-- > 0;) // the oldest first: none is given up that is there
        if (hc_sv_sent_log_acked(peer->sent_log, acked[i].seq))
            hear_of_snapshot(peer, acked[i].seq);
    for (uint32_t i = 0; i < count; i++) {
        hc_events_acked(&peer->events_out, acked[i].seq);
        peer->narrow.any &= peer->narrow.tried != acked[i].seq;
        for (unsigned k = 0; k < HC_SV_TICKET_SEQS; k++)
            peer->ticket.acked |= peer->ticket.seqs[k] == acked[i].seq;
        if (acked[i].seq > peer->acked)
            peer->acked = acked[i].seq;
        if (acked[i].seq == data->ack)
            measure(peer, now_us - acked[i].sent_us, ack_delay_us);
    }
    hc_sv_bandwidth_learn(&peer->budget, count, judge(peer), now_us);
    return HC_OK;
}

void hc_sv_peer_forced(struct hc_sv_peer *peer, hc_player player, hc_tick first, uint32_t count) {
    for (unsigned i = 0; i < peer->forced_count; i++) {
        struct hc_sv_forced *range = &peer->forced[i];
        if (range->player != player || range->first + range->count != first ||
            range->count + count > HC_INPUT_RUN_MAX)
            continue;
        range->count += count;
        range->told = 0;
        return;
    }
    if (peer->forced_count == HC_SV_FORCED_RANGES) {
        HC_MARK("forced-ranges-full");
        memmove(peer->forced, peer->forced + 1, --peer->forced_count * sizeof peer->forced[0]);
    }
    peer->forced[peer->forced_count++] =
        (struct hc_sv_forced){.player = player, .first = first, .count = count};
}

/// Whether it is time to send a larger body than a path that is not known carries.
static bool widens(const struct hc_sv_narrow *narrow, uint64_t now_us) {
    return narrow->tried == 0 || now_us - narrow->tried_us >= HC_PATH_WIDEN_US;
}

uint32_t hc_sv_peer_news_most(const struct hc_sv_peer *peer, uint64_t now_us) {
    bool narrow = peer->narrow.any && !widens(&peer->narrow, now_us);
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
    if (body_size > HC_PATH_BODY_MAX && widens(&peer->narrow, now_us)) {
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

uint32_t hc_sv_peer_extrapolation_most(const struct hc_sv_peer *peer) {
    return HC_SV_EXTRAPOLATION_SAVED_MAX * HC_SV_EXTRAPOLATION_PARTS * hc_unit_total(peer->world);
}
