/// Sends a client what is due: its CLOSE or its ACCEPT, messages, or a snapshot.
#include "server/send.h"

#include "common/elapsed.h"
#include "common/mark.h"
#include "server/desync.h"
#include "server/inputs.h"
#include "server/naming.h"
#include "server/path.h"
#include "server/replication/look.h"
#include "server/replication/snapshot.h"

#include <string.h>

// ---- The bound on the bytes in flight -----------------------------------------------------------

/// Bytes of the body of the peer's next DATA, 0: it is held back. While two addresses are in use,
/// what is not acked shows which of them is a relay's, and no congestion.
static uint32_t bound_of(struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_connection *connection = &peer->connection;
    bool contested = hc_sv_contest_is_on(&peer->contest, now_us);
    return contested ? (uint32_t)connection->body_max : hc_connection_room(connection, now_us);
}

// ---- Messages: all but snapshots ----------------------------------------------------------------

/// Whether to send the ticket now. Makes another ticket when the present one is old. The first
/// ticket waits for a datagram of the client, which shows that the client has its ACCEPT.
static bool ticket_due(struct hc_server *server, struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    if (peer->connection.received.newest == 0)
        return false;
    if (!ticket->any || hc_since(ticket->made_us, now_us) >= HC_TICKET_RENEW_US) {
        *ticket = (struct hc_sv_ticket){.any = true, .made_us = now_us};
        hc_sv_admission_make_ticket(&server->admission, &peer->user, peer->connection.cid,
                                    &peer->address, &ticket->ticket, now_us);
    }
    return !ticket->acked &&
           (ticket->sends == 0 || hc_since(ticket->sent_us, now_us) >= HC_TICKET_RESEND_US);
}

static void put_ticket(struct hc_sv_peer *peer, struct hc_writer *body, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    if (!hc_message_put_ticket(body, &ticket->ticket))
        return; // messages took the room
    ticket->seqs[ticket->sends++ % HC_SV_TICKET_SEQS] = peer->connection.sent.next;
    ticket->sent_us = now_us;
}

/// Writes the notice that is due to the peer.
static void put_notice(struct hc_server *server, struct hc_sv_peer *peer, struct hc_writer *body,
                       uint64_t now_us) {
    struct hc_notice notice;
    unsigned place = hc_sv_clients_place(&server->clients, peer);
    uint32_t number = hc_sv_delivery_next(&peer->delivery, &server->notices, (uint16_t)place,
                                          &notice, &server->stats.notices_missed, now_us);
    if (number > 0 && hc_notice_put(body, number, &notice))
        hc_sv_delivery_sent(&peer->delivery, peer->connection.sent.next,
                            hc_sv_peer_resend_us(peer, HC_NOTICE_RESEND_US), now_us);
}

/// Writes notices, messages, the ticket and names. They have a minimum of room, because snapshots
/// would take all of a low bandwidth, and one message may need more than a low bound leaves. The
/// excess is a debt to the bandwidth, and a snapshot goes before the next ones.
static void put_messages(struct hc_server *server, struct hc_sv_peer *peer, struct hc_writer *body,
                         size_t room, uint64_t now_us) {
    hc_sv_desync_put(&server->world, peer, body);
    put_notice(server, peer, body, now_us);
    hc_connection_put_messages(&peer->connection, body,
                               room < HC_RELIABLE_ROOM_MIN ? HC_RELIABLE_ROOM_MIN : room, now_us);
    if (ticket_due(server, peer, now_us))
        put_ticket(peer, body, now_us);
    hc_sv_naming_put(&server->clients, &server->replicator, peer, body, now_us);
    peer->messages_sent |= body->at > 0;
}

/// Writes the peer's next DATA without a snapshot, and its destination; returns its size, 0: none
/// is due.
static size_t send_messages(struct hc_server *server, struct hc_sv_peer *peer,
                            struct hc_address *to, uint8_t out[static HC_DATAGRAM_MAX],
                            uint64_t now_us) {
    uint32_t most = hc_sv_peer_messages_most(peer, now_us);
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, most);
    size_t size = hc_sv_path_challenge(peer, to, out, now_us);
    if (size > 0)
        return size;
    peer->messages_due = false;
    uint32_t bound = bound_of(peer, now_us);
    int32_t room =
        hc_sv_bandwidth_room(&peer->replication.bandwidth, bound < most ? bound : most, now_us);
    if (room <= 0)
        return 0;
    if (peer->snapshot_starved && peer->messages_sent)
        HC_MARK("messages-wait-for-snapshot");
    else
        put_messages(server, peer, &body, (size_t)room, now_us);
    bool silent = now_us >= hc_connection_keep_alive_us(&peer->connection) && !peer->snapshot_due;
    if (body.at == 0 && !silent)
        return 0;
    size = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_bandwidth_spend(&peer->replication.bandwidth, (uint32_t)body.at);
    return size;
}

// ---- Handshakes again ---------------------------------------------------------------------------

/// Whether the peer may be sent another DATA. Few are allowed before its first one, because the
/// address may be that of an amplification's victim.
static bool may_send(const struct hc_sv_peer *peer) {
    return peer->connection.received.newest > 0 ||
           peer->connection.sent.next + peer->accept_repeated <= HC_SILENT_MAX;
}

/// Sends the ACCEPT again, once, to a client that has sent no DATA for a while: it may be lost, and
/// the client would ask for it only later. Returns the size, or 0.
static size_t repeat_accept(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX]) {
    if (peer->connection.received.newest > 0 || peer->accept_repeated ||
        peer->connection.sent.next <= HC_SILENT_ACCEPT || !hc_sv_peer_has_session(peer))
        return 0;
    HC_MARK("accept-repeated");
    peer->accept_repeated = true;
    memcpy(out, peer->accept, sizeof peer->accept);
    return sizeof peer->accept;
}

// ---- Snapshots ----------------------------------------------------------------------------------

/// Bytes of the peer's next snapshot; 0: it waits for the next tick, because the bandwidth or the
/// bound on the bytes in flight leaves too little.
static uint32_t snapshot_room(struct hc_server *server, struct hc_sv_peer *peer, uint64_t now_us) {
    uint32_t bound = bound_of(peer, now_us);
    uint32_t room = hc_sv_snapshot_room(&peer->replication, peer->connection.body_max, now_us);
    if (bound > HC_SNAPSHOT_OVERHEAD)
        return room < bound - HC_SNAPSHOT_OVERHEAD ? room : bound - HC_SNAPSHOT_OVERHEAD;
    HC_MARK("snapshot-held-back");
    server->stats.snapshots_held_back++;
    return 0;
}

/// Writes the peer's snapshot; returns the datagram's size, 0: it waits, or no seq is left.
static size_t send_snapshot(struct hc_server *server, struct hc_sv_peer *peer,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    hc_tick head = hc_timeline_head(server->timeline);
    struct hc_writer body = hc_connection_writer(&peer->connection, out);
    struct hc_sv_snapshot_datagram datagram = {
        .seq = peer->connection.sent.next, // hc_sv_peer_wrap takes it
        .phase_us = hc_sv_schedule_phase_us(&server->schedule, head, now_us),
        .ack_delay_us = hc_connection_ack_delay_us(&peer->connection, now_us),
        .refused_before = hc_tick_back(head, hc_sv_inputs_late_limit(server, peer)),
        .room = snapshot_room(server, peer, now_us),
        .every = peer->snapshot_every};
    peer->snapshot_starved = datagram.room == 0;
    if (peer->snapshot_starved)
        return 0;
    if (peer->connection.sent.in_flight > server->stats.in_flight_max)
        server->stats.in_flight_max = peer->connection.sent.in_flight;
    datagram.has_margin = hc_sv_margin_report(&peer->margin, now_us, &datagram.margin);
    hc_sv_look(&server->replicator, &peer->replication);
    hc_sv_snapshot_send(&server->replicator, &peer->replication, &datagram, &body, &server->stats);
    peer->messages_sent = false;
    return hc_sv_peer_wrap(peer, out, body.at, now_us);
}

/// Begins to load what the datagrams to the next two peers read.
static void prefetch_next(const struct hc_server *server, const struct hc_sv_peer *peer) {
    const struct hc_sv_peer *next = hc_sv_clients_next(&server->clients, peer);
    const struct hc_sv_peer *second =
        next == NULL ? NULL : hc_sv_clients_next(&server->clients, next);
    if (second != NULL)
        hc_sv_peer_prefetch(second);
    if (next != NULL)
        hc_sv_client_prefetch_pointed(&next->replication);
}

// ---- Client after client ------------------------------------------------------------------------

size_t hc_sv_send_next(struct hc_server *server, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_sv_peer *peer = NULL;
    while ((peer = hc_sv_clients_from(&server->clients, server->outbox.cursor)) != NULL) {
        unsigned place = hc_sv_clients_place(&server->clients, peer);
        hc_sv_outbox_seek(&server->outbox, place);
        *to = peer->address;
        size_t size = hc_sv_peer_send_close(peer, out, now_us);
        if (size == 0)
            size = repeat_accept(peer, out);
        bool allowed = may_send(peer);
        if (size == 0 && allowed && peer->messages_due)
            size = send_messages(server, peer, to, out, now_us);
        bool due = size == 0 && peer->snapshot_due;
        if (due)
            peer->snapshot_due = false; // later in the tick, inputs may come that its values lack
        if (due && allowed) {
            prefetch_next(server, peer);
            size = send_snapshot(server, peer, out, now_us);
            hc_sv_path_copy(server, peer, out, size, now_us);
        }
        if (size > 0)
            return size;
        hc_sv_outbox_seek(&server->outbox, place + 1);
    }
    return 0;
}
