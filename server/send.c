/// Sends a client everything but snapshots: messages, tickets, names, PATH_CHALLENGEs and
/// keep-alives.
#include "common/elapsed.h"
#include "common/mark.h"
#include "server/host_internal.h"
#include "server/naming.h"
#include "server/path.h"

#include <string.h>

/// The number of a client's next ticket. It is greater than all before, even after the clock was
/// set back.
static uint64_t next_ticket_number(struct hc_sv_user *user, uint64_t unix_us) {
    if (user->ticket < UINT64_MAX)
        user->ticket = unix_us > user->ticket ? unix_us : user->ticket + 1;
    return user->ticket;
}

/// Makes another ticket, with the rights of the token by which the peer connected.
static void make_ticket(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    uint64_t now_s = hc_unix_time_latest_us(&host->unix_time, now_us) / 1000000;
    struct hc_token token = {.kind = HC_TOKEN_RESUME,
                             .issued_s = now_s,
                             .expire_s = now_s + HC_TICKET_LIFE_S,
                             .players = peer->user.players,
                             .watch = peer->user.watch,
                             .match = (uint16_t)host->config.match,
                             .client_id = peer->user.client_id,
                             .audience = host->config.audience};
    uint64_t end_s = peer->user.begun_s + host->config.session_life_s;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    if (host->config.session_life_s != 0 && token.expire_s > end_s)
        token.expire_s = end_s;
    *ticket = (struct hc_sv_ticket){.any = true, .made_us = now_us};
    hc_token_put_ticket_id(token.token_id,
                           next_ticket_number(&peer->user, hc_sv_host_unix_us(host, now_us)),
                           peer->user.begun_s);
    hc_sv_host_unpredictable(host, token.secret, sizeof token.secret);
    hc_sv_host_unpredictable(host, nonce, sizeof nonce);
    memcpy(token.name, peer->user.name, sizeof token.name);
    memcpy(token.user_data, peer->user.user_data, sizeof token.user_data);
    const struct hc_token_key *key = &host->config.keys.keys[0];
    hc_token_seal(key, host->protocol_id, &token, nonce, ticket->ticket.credential.token);
    memcpy(ticket->ticket.credential.secret, token.secret, sizeof token.secret);
    hc_seal_reset_token(key, peer->connection.cid, host->config.audience, &peer->address,
                        ticket->ticket.reset_token);
}

/// Whether to send the ticket now. Makes another ticket when the present one is old. The first
/// ticket waits for a datagram of the client, which shows that the client has its ACCEPT.
static bool ticket_due(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    if (peer->connection.replay.newest == 0)
        return false;
    if (!ticket->any || hc_since(ticket->made_us, now_us) >= HC_TICKET_RENEW_US)
        make_ticket(host, peer, now_us);
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

/// Writes messages, the ticket and names. They have a minimum of room, because snapshots would take
/// all of a low bandwidth. The excess is a debt to the bandwidth, and a snapshot has the next turn.
static void put_messages(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_writer *body,
                         size_t room, uint64_t now_us) {
    hc_sv_desync_put(host, peer, body);
    hc_connection_put_messages(&peer->connection, body,
                               room < HC_EVENTS_ROOM_MIN ? HC_EVENTS_ROOM_MIN : room, now_us);
    if (ticket_due(host, peer, now_us))
        put_ticket(peer, body, now_us);
    hc_sv_naming_put(&host->clients, &host->replicator, peer, body, now_us);
    peer->messages_sent |= body->at > 0;
}

size_t hc_sv_send_messages(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_address *to,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    uint32_t most = hc_sv_peer_messages_most(peer, now_us);
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, most);
    size_t size = hc_sv_path_challenge(peer, to, out, now_us);
    if (size > 0)
        return size;
    peer->messages_due = false;
    int32_t room = hc_sv_bandwidth_room(&peer->replication.bandwidth, most, now_us);
    if (room <= 0)
        return 0;
    if (peer->snapshot_starved && peer->messages_sent)
        HC_MARK("messages-wait-for-snapshot");
    else
        put_messages(host, peer, &body, (size_t)room, now_us);
    bool silent = now_us >= hc_connection_keep_alive_us(&peer->connection) && !peer->snapshot_due;
    if (body.at == 0 && !silent)
        return 0;
    size = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_bandwidth_spend(&peer->replication.bandwidth, (uint32_t)body.at);
    return size;
}
