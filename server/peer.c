/// A peer: its memory, its connections, and what their acks mean to it.
#include "server/peer.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/limit.h"
#include "common/prefetch.h"
#include "hindcast/check.h"
#include "server/replication/replicator.h"

#include <stddef.h>
#include <string.h>

size_t hc_sv_peer_layout(struct hc_sv_peer *peer, struct hc_sv_replicator *replicator,
                         uint8_t *base) {
    size_t used = 0;
    peer->seen = hc_carve(base, &used, HC_OWN_PLAYERS_MAX * sizeof *peer->seen);
    peer->messages.bytes = hc_carve(base, &used, HC_RELIABLE_CHANNEL_BYTES);
    const struct hc_world *world = replicator->config.world;
    uint8_t *answer = hc_carve(base, &used, hc_unit_bytes(world));
    if (base != NULL)
        hc_unit_place(world, &peer->answer.value, answer);
    used += hc_sv_client_layout(&peer->replication, replicator, base == NULL ? NULL : base + used);
    return used;
}

/// The one place where a peer's state changes.
static void enter(struct hc_sv_peer *peer, enum hc_sv_peer_state state) {
    static const bool allowed[HC_SV_PEER_STATES][HC_SV_PEER_STATES] = {
        [HC_SV_PEER_FREE] = {[HC_SV_PEER_FREE] = true, [HC_SV_PEER_PLAYING] = true},
        [HC_SV_PEER_PLAYING] = {[HC_SV_PEER_FREE] = true,
                                [HC_SV_PEER_PLAYING] = true,
                                [HC_SV_PEER_LOST] = true,
                                [HC_SV_PEER_CLOSING] = true},
        [HC_SV_PEER_LOST] = {[HC_SV_PEER_FREE] = true,
                             [HC_SV_PEER_PLAYING] = true,
                             [HC_SV_PEER_LINGERING] = true,
                             [HC_SV_PEER_CLOSING] = true},
        [HC_SV_PEER_LINGERING] = {[HC_SV_PEER_FREE] = true, [HC_SV_PEER_PLAYING] = true},
        [HC_SV_PEER_CLOSING] = {[HC_SV_PEER_FREE] = true},
    };
    HC_ASSERT(allowed[peer->state][state]);
    if (peer->state == HC_SV_PEER_PLAYING && state != HC_SV_PEER_PLAYING)
        hc_sv_client_close(&peer->replication);
    peer->state = state;
    if (state != HC_SV_PEER_PLAYING)
        peer->messages_due = peer->snapshot_due = false;
}

void hc_sv_peer_open(struct hc_sv_peer *peer) {
    HC_ASSERT(!hc_sv_peer_has_session(peer));
    enter(peer, HC_SV_PEER_FREE);
    peer->user = (struct hc_sv_user){.client_id = 0};
    peer->ever_received = false;
    peer->late_ticks = peer->late_inputs = 0;
    peer->traffic = (struct hc_sv_traffic){.lost = 0};
    hc_sv_lateness_begin(&peer->lateness);
    peer->forged = 0;
    peer->unproven_us = 0;
    memset(peer->seen, 0, HC_OWN_PLAYERS_MAX * sizeof *peer->seen);
    hc_reliable_channel_begin(&peer->messages);
    hc_sv_client_open(&peer->replication);
}

// ---- Carried parts ------------------------------------------------------------------------------

static void snapshot_acked(void *owner, uint32_t seq) {
    struct hc_sv_peer *peer = owner;
    hc_sv_client_acked(&peer->replication, seq);
}

static void snapshot_lost(void *owner, uint32_t seq) {
    struct hc_sv_peer *peer = owner;
    hc_sv_client_lost(&peer->replication, seq);
}

static void names_acked(void *owner, uint32_t seq) {
    struct hc_sv_peer *peer = owner;
    hc_sv_names_acked(&peer->names, &peer->replication.interest.view, seq);
}

static void names_lost(void *owner, uint32_t seq) {
    struct hc_sv_peer *peer = owner;
    hc_sv_names_lost(&peer->names, seq);
}

static void notice_acked(void *owner, uint32_t seq) {
    hc_sv_delivery_acked(&((struct hc_sv_peer *)owner)->delivery, seq);
}

static void notice_lost(void *owner, uint32_t seq) {
    hc_sv_delivery_lost(&((struct hc_sv_peer *)owner)->delivery, seq);
}

static void ticket_acked(void *owner, uint32_t seq) {
    struct hc_sv_ticket *ticket = &((struct hc_sv_peer *)owner)->ticket;
    for (unsigned i = 0; i < HC_SV_TICKET_SEQS; i++)
        ticket->acked |= ticket->seqs[i] == seq;
}

static void wide_body_acked(void *owner, uint32_t seq) {
    struct hc_sv_narrow *narrow = &((struct hc_sv_peer *)owner)->narrow;
    narrow->any &= narrow->tried != seq;
}

/// The parts that datagrams carry until they are acked or lost, besides messages. A snapshot
/// settles its items, lists and listed ticks by its place in the sent log.
static const struct hc_carried carried[] = {
    {snapshot_acked, snapshot_lost}, {names_acked, names_lost},
    {notice_acked, notice_lost},     {ticket_acked, NULL},
    {wide_body_acked, NULL},
};

// ---- Connections --------------------------------------------------------------------------------

/// The members of a session that its next connection keeps, but the large ones.
struct kept {
    enum hc_sv_peer_state state;
    struct hc_sv_user user;
    struct hc_sv_unread unread;
    bool ever_received;
    hc_tick (*seen)[HC_SV_SEEN];
    struct hc_unit_value answer;
    uint64_t late_inputs, late_ticks;
    struct hc_sv_traffic traffic;
    struct hc_sv_lateness lateness;
    struct hc_sv_delivery delivery;
    uint32_t forged;
    unsigned ended_next;
    uint64_t unproven_us;
};

static struct kept keep(const struct hc_sv_peer *peer) {
    return (struct kept){.state = peer->state,
                         .user = peer->user,
                         .unread = peer->unread,
                         .ever_received = peer->ever_received,
                         .seen = peer->seen,
                         .answer = peer->answer.value,
                         .late_inputs = peer->late_inputs,
                         .late_ticks = peer->late_ticks,
                         .traffic = peer->traffic,
                         .lateness = peer->lateness,
                         .delivery = peer->delivery,
                         .forged = peer->forged,
                         .ended_next = peer->ended_next,
                         .unproven_us = peer->unproven_us};
}

static void restore(struct hc_sv_peer *peer, const struct kept *kept) {
    peer->state = kept->state;
    peer->user = kept->user;
    peer->unread = kept->unread;
    peer->ever_received = kept->ever_received;
    peer->seen = kept->seen;
    peer->answer.value = kept->answer;
    peer->late_inputs = kept->late_inputs;
    peer->late_ticks = kept->late_ticks;
    peer->traffic = kept->traffic;
    peer->lateness = kept->lateness;
    peer->delivery = kept->delivery;
    peer->forged = kept->forged;
    peer->ended_next = kept->ended_next;
    peer->unproven_us = kept->unproven_us;
}

/// Zeros the bytes [from, to) of a peer.
static void zero(struct hc_sv_peer *peer, size_t from, size_t to) {
    memset((uint8_t *)peer + from, 0, to - from);
}

/// Zeros all members but those of the session. The large ones, `replication` and `messages`, stay
/// where they are: a copy would take 34 kB of the stack.
static void clear_connection(struct hc_sv_peer *peer) {
    struct kept kept = keep(peer);
    zero(peer, 0, offsetof(struct hc_sv_peer, replication));
    zero(peer, offsetof(struct hc_sv_peer, validation), offsetof(struct hc_sv_peer, messages));
    zero(peer, offsetof(struct hc_sv_peer, user), sizeof *peer);
    restore(peer, &kept);
}
_Static_assert(offsetof(struct hc_sv_peer, validation) - offsetof(struct hc_sv_peer, replication) ==
                       sizeof(struct hc_sv_client) &&
                   offsetof(struct hc_sv_peer, user) - offsetof(struct hc_sv_peer, messages) ==
                       sizeof(struct hc_reliable_channel),
               "clear_connection leaves out these two members alone");

void hc_sv_peer_connect(struct hc_sv_peer *peer, uint32_t cid, const struct hc_seal_keys *keys,
                        const struct hc_connect *connect, uint32_t rate,
                        const struct hc_address *address, uint64_t now_us) {
    clear_connection(peer);
    peer->address = *address;
    enter(peer, HC_SV_PEER_PLAYING);
    hc_sv_delivery_continue(&peer->delivery);
    hc_sv_contest_begin(&peer->contest, address, now_us);
    memcpy(peer->client_nonce, connect->client_nonce, HC_NONCE_SIZE);
    hc_connection_begin(&peer->connection, HC_CONNECTION_SERVER, cid, keys, &peer->messages,
                        now_us);
    hc_connection_carry(&peer->connection, carried, sizeof carried / sizeof carried[0], peer);
    hc_sv_client_connect(&peer->replication, cid, connect->extrapolations, rate, now_us);
}

const struct hc_server_farewell *hc_sv_peer_farewell(struct hc_sv_peer *peer) {
    struct hc_server_farewell *farewell = &peer->farewell;
    uint8_t made[HC_DATAGRAM_MAX];
    for (unsigned restarts = 0; restarts < 2 && farewell->sizes[restarts] == 0; restarts++) {
        size_t size = hc_connection_farewell(&peer->connection, restarts != 0, made);
        HC_ASSERT(size <= HC_SERVER_FAREWELL_MAX);
        memcpy(farewell->bytes[restarts], made, size);
        farewell->sizes[restarts] = (uint8_t)size;
    }
    farewell->to = peer->address;
    return farewell;
}

bool hc_sv_peer_floods(struct hc_sv_peer *peer, size_t size, uint64_t now_us) {
    uint64_t rate = peer->replication.world->tick_rate;
    uint64_t players = peer->replication.own_count > 1 ? peer->replication.own_count : 1;
    return hc_limit_exceeds(&peer->flood_us, 1000000 / (HC_FLOOD_DATAGRAMS * rate), HC_FLOOD_US,
                            now_us) ||
           hc_limit_exceeds(&peer->flood_bytes_us,
                            size * 1000000 / (HC_FLOOD_BYTES * rate * players), HC_FLOOD_US,
                            now_us);
}

void hc_sv_peer_prefetch(const struct hc_sv_peer *peer) {
    hc_prefetch(peer, offsetof(struct hc_sv_peer, connection.sent.ring));
    hc_sv_client_prefetch(&peer->replication);
    hc_sv_margin_prefetch(&peer->margin);
    hc_prefetch(&peer->names, 1);
    hc_prefetch(&peer->messages.out, offsetof(struct hc_reliable_out, sendings));
    hc_prefetch(&peer->messages.unreliable_out, 1);
}

void hc_sv_peer_lose(struct hc_sv_peer *peer, uint64_t lingers_until_us, uint64_t now_us) {
    enter(peer, HC_SV_PEER_LOST);
    peer->lingers_until_us = lingers_until_us;
    hc_connection_close(&peer->connection, &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, true,
                        now_us);
}

void hc_sv_peer_end(struct hc_sv_peer *peer, const struct hc_close *close, bool send_close,
                    uint64_t now_us) {
    if (peer->state == HC_SV_PEER_PLAYING || (peer->state == HC_SV_PEER_LOST && send_close))
        hc_connection_close(&peer->connection, close, send_close, now_us);
    enter(peer, peer->connection.closes_left > 0 ? HC_SV_PEER_CLOSING : HC_SV_PEER_FREE);
}

void hc_sv_peer_closed(struct hc_sv_peer *peer, const struct hc_close *close) {
    hc_connection_take_close(&peer->connection, close);
    enter(peer, HC_SV_PEER_FREE);
}

void hc_sv_peer_close_ended(struct hc_sv_peer *peer) {
    if (peer->connection.closes_left == 0 && peer->state == HC_SV_PEER_LOST)
        enter(peer, HC_SV_PEER_LINGERING);
    else if (peer->connection.closes_left == 0 && peer->state == HC_SV_PEER_CLOSING)
        enter(peer, HC_SV_PEER_FREE);
}

enum hc_status hc_sv_peer_accept(struct hc_sv_peer *peer, const struct hc_data *data,
                                 uint32_t ack_delay_us, bool *newest, uint64_t now_us) {
    struct hc_sv_client *client = &peer->replication;
    struct hc_accepted accepted;
    uint64_t rtt_us;
    enum hc_status status = hc_connection_accept(&peer->connection, data, now_us, &accepted);
    if (status != HC_OK)
        return status;
    *newest = accepted.newest;
    peer->traffic.datagrams_in++;
    peer->traffic.bytes_in += HC_DATA_BODY_AT + data->body_size + HC_TAG_SIZE;
    peer->traffic.lost += accepted.lost;
    if (hc_connection_measure(&peer->connection, &accepted, ack_delay_us, now_us, &rtt_us)) {
        client->round_trip =
            hc_tick_min(client->round_trip, hc_tick_at_us(rtt_us, client->world->tick_rate));
        hc_connection_take_round_trip(&peer->connection, &accepted, rtt_us, now_us);
    }
    hc_sv_bandwidth_learn(&client->bandwidth, accepted.count, accepted.lost, now_us);
    return HC_OK;
}

uint64_t hc_sv_peer_resend_us(const struct hc_sv_peer *peer, uint64_t least_us) {
    uint64_t us = peer->connection.srtt_us + 4 * peer->connection.rttvar_us;
    return us > least_us ? us : least_us;
}

/// Whether a body larger than an untested path may carry is due again, to test the path.
static bool may_widen(const struct hc_sv_narrow *narrow, uint64_t now_us) {
    return narrow->tried == 0 || hc_since(narrow->tried_us, now_us) >= HC_PATH_WIDEN_US;
}

uint32_t hc_sv_peer_messages_most(const struct hc_sv_peer *peer, uint64_t now_us) {
    uint32_t most = peer->connection.body_max;
    bool narrow = peer->narrow.any && !may_widen(&peer->narrow, now_us);
    return narrow && most > HC_PATH_BODY_MAX ? HC_PATH_BODY_MAX : most;
}

size_t hc_sv_peer_wrap(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                       size_t body_size, uint64_t now_us) {
    if (body_size > HC_PATH_BODY_MAX && may_widen(&peer->narrow, now_us)) {
        peer->narrow.tried = peer->connection.sent.next;
        peer->narrow.tried_us = now_us;
    }
    size_t size = hc_connection_wrap(&peer->connection, out, body_size, now_us);
    peer->traffic.datagrams_out += size > 0;
    peer->traffic.bytes_out += size;
    return size;
}

size_t hc_sv_peer_send_close(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX],
                             uint64_t now_us) {
    size_t size = hc_connection_send_close(&peer->connection, out, now_us);
    hc_sv_peer_close_ended(peer);
    return size;
}

void hc_sv_peer_describe(const struct hc_sv_peer *peer, struct hc_server_client *out,
                         uint64_t now_us) {
    const struct hc_margin *margin = &peer->margin.report;
    const struct hc_sv_client *client = &peer->replication;
    memcpy(out->name, peer->user.name, sizeof out->name);
    memcpy(out->players, client->own, sizeof out->players);
    out->address = peer->address;
    out->connected_us = hc_since(peer->connection.begun_us, now_us);
    out->datagrams_received = peer->traffic.datagrams_in;
    out->bytes_received = peer->traffic.bytes_in;
    out->datagrams_sent = peer->traffic.datagrams_out;
    out->bytes_sent = peer->traffic.bytes_out;
    out->datagrams_lost = peer->traffic.lost;
    out->rtt_us = peer->connection.srtt_us;
    out->jitter_us = peer->connection.rttvar_us;
    out->has_margin = peer->margin.reported && margin->samples > 0;
    out->margin_low_us = margin->low * HC_MARGIN_UNIT_US;
    out->margin_median_us = margin->median * HC_MARGIN_UNIT_US;
    out->usual_late_ticks = peer->lateness.any ? (peer->lateness.usual + HC_SV_LATENESS_PARTS - 1) /
                                                     HC_SV_LATENESS_PARTS
                                               : 0;
    out->display_offset = client->display_offset;
    out->late_inputs = peer->late_inputs;
    out->late_ticks = peer->late_ticks;
}
