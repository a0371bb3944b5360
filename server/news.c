#include "server/core.h"

#include "common/mark.h"

#include <string.h>

enum {
    TICKET_LIFE_S = 600,         ///< Unix seconds in which a ticket is good
    TICKET_RENEW_US = 120000000, ///< a client is given another one so often
    TICKET_AGAIN_US = 250000,    ///< and the same one again while it does not say that it has it
    ASK_AGAIN_US = 100000,       ///< between two PATH_CHALLENGEs,
    ASK_PATIENCE = 8,            ///< the first so many of a row; then twice as long after each,
    ASK_DOUBLINGS = 3,           ///< so often at most: 0.8 s
    ASK_ANEW_US = 10000000,      ///< after which a row is forgotten
    KEEP_ALIVE_US = 100000,      ///< the longest silence
};

// ---- Tickets ------------------------------------------------------------------------------------

/// The number of a client's next ticket: greater than that of any before, whatever the clock shows.
static uint64_t next_number(struct hc_sv_user *user, uint64_t unix_us) {
    if (user->ticket < UINT64_MAX)
        user->ticket = unix_us > user->ticket ? unix_us : user->ticket + 1;
    return user->ticket;
}

/// Another ticket, good for an entrance like the token that the peer came with.
static void make_ticket(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    struct hc_token token = {.kind = HC_TOKEN_RESUME,
                             .issued_s = hc_sv_host_unix_s(host, now_us),
                             .expire_s = hc_sv_host_unix_s(host, now_us) + TICKET_LIFE_S,
                             .players = peer->user.players,
                             .watch = peer->user.watch,
                             .client_id = peer->user.client_id,
                             .audience = host->config.audience};
    uint64_t end_s = peer->user.begun_s + host->config.session_life_s;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    if (host->config.session_life_s != 0 && token.expire_s > end_s)
        token.expire_s = end_s;
    *ticket = (struct hc_sv_ticket){.any = true, .made_us = now_us};
    hc_token_put_ticket_id(token.token_id,
                           next_number(&peer->user, hc_sv_host_unix_us(host, now_us)),
                           peer->user.begun_s);
    hc_sv_host_unpredictable(host, token.secret, sizeof token.secret);
    hc_sv_host_unpredictable(host, nonce, sizeof nonce);
    memcpy(token.name, peer->user.name, sizeof token.name);
    memcpy(token.user_data, peer->user.user_data, sizeof token.user_data);
    const struct hc_token_key *key = &host->config.keys.keys[0];
    hc_token_seal(key, host->protocol_id, &token, nonce, ticket->ticket.credential.token);
    memcpy(ticket->ticket.credential.secret, token.secret, sizeof token.secret);
    hc_seal_reset_token(key, peer->cid, host->config.audience, &peer->address,
                        ticket->ticket.reset_token);
}

/// Who has been heard has what it needs to be told one.
static bool ticket_due(struct hc_sv_host *host, struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    if (peer->replay.newest == 0)
        return false;
    if (!ticket->any || now_us - ticket->made_us >= TICKET_RENEW_US)
        make_ticket(host, peer, now_us);
    return !ticket->acked && (ticket->told == 0 || now_us - ticket->told_us >= TICKET_AGAIN_US);
}

static void put_ticket(struct hc_sv_peer *peer, struct hc_writer *body, uint64_t now_us) {
    struct hc_sv_ticket *ticket = &peer->ticket;
    if (!hc_message_put_ticket(body, &ticket->ticket))
        return; // events have taken the room
    ticket->seqs[ticket->told++ % HC_SV_TICKET_SEQS] = peer->sent.next;
    ticket->told_us = now_us;
}

// ---- Addresses ----------------------------------------------------------------------------------

/// Whether the peer may not move to an address. To another port of its own address it always may.
static bool is_full(const struct hc_sv_host *host, const struct hc_sv_peer *peer,
                    const struct hc_address *address) {
    uint8_t present[16], other[16];
    hc_sv_rate_prefix(&peer->address, present);
    hc_sv_rate_prefix(address, other);
    return memcmp(present, other, sizeof present) != 0 &&
           hc_sv_host_address_is_full(host, address, peer);
}

void hc_sv_news_came(struct hc_sv_host *host, struct hc_sv_peer *peer,
                     const struct hc_address *from, size_t size, bool newest) {
    struct hc_sv_path *path = &peer->path;
    if (hc_address_equal(from, &peer->address)) {
        path->any = path->any && !newest; // it is where it was
        return;
    }
    if (!path->any || !hc_address_equal(from, &path->address)) {
        if (!newest)
            return; // on its way for long
        HC_MARK("path-to-be-shown");
        *path = (struct hc_sv_path){
            .any = true, .address = *from, .asked = path->asked, .asked_us = path->asked_us};
        hc_sv_host_unpredictable(host, path->data, sizeof path->data);
        path->full = is_full(host, peer, from);
    }
    path->bytes_in += size;
    peer->news_due = true;
}

void hc_sv_news_answered(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE]) {
    struct hc_sv_path *path = &peer->path;
    if (!path->any || !hc_address_equal(from, &path->address) ||
        memcmp(data, path->data, HC_PATH_SIZE) != 0)
        return;
    path->full = is_full(host, peer, from); // others may have moved there in the meantime
    if (path->full)
        return;
    // The token of a RESET depends on the address.
    peer->ticket.any = false;
    peer->address = *from;
    hc_sv_lateness_move(&peer->lateness);
    *path = (struct hc_sv_path){.any = false};
    host->stats.moved++;
    hc_sv_host_event(host, peer, HC_SV_EVENT_MOVED, 0);
}

/// Whether `size` bytes more may go to the other address.
static bool may_go(const struct hc_sv_path *path, size_t size) {
    return path->any && !path->full && path->bytes_out + size <= HC_SV_PATH_TIMES * path->bytes_in;
}

/// Whether it is time to ask at the other address.
static bool ask_due(struct hc_sv_path *path, uint64_t now_us) {
    if (path->asked > 0 && now_us - path->asked_us >= ASK_ANEW_US)
        path->asked = 0;
    if (path->asked == 0)
        return true;
    uint32_t vain = path->asked > ASK_PATIENCE ? path->asked - ASK_PATIENCE : 0;
    uint64_t wait_us = (uint64_t)ASK_AGAIN_US << (vain < ASK_DOUBLINGS ? vain : ASK_DOUBLINGS);
    return now_us - path->asked_us >= wait_us;
}

/// Asks at the other address.
static size_t ask(struct hc_sv_peer *peer, struct hc_address *to,
                  uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    if (!may_go(path, HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE) ||
        !ask_due(path, now_us))
        return 0;
    bool fits = hc_message_put_path(&body, HC_MESSAGE_PATH_CHALLENGE, path->data);
    HC_ASSERT(fits && body.at == HC_PATH_MESSAGE_SIZE);
    // To its own address the client is sent nothing by this: neither a sign of life, nor anything
    // whose loss would have to be made up for.
    uint64_t sent_us = peer->sent_us;
    uint32_t seq = peer->sent.next;
    size_t size = hc_sv_peer_wrap(peer, out, body.at, now_us);
    if (size == 0)
        return 0;
    peer->sent_us = sent_us;
    hc_sent_excuse(&peer->sent, seq);
    path->bytes_out += size;
    path->asked++;
    path->asked_us = now_us;
    *to = path->address;
    return size;
}

void hc_sv_news_copy(struct hc_sv_host *host, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size) {
    struct hc_sv_path *path = &peer->path;
    // An honest client answers long before patience ends.
    if (size == 0 || !may_go(path, size) || path->asked > ASK_PATIENCE)
        return;
    HC_ASSERT(host->copy.size == 0);
    path->bytes_out += size;
    host->copy.to = path->address;
    host->copy.size = size;
    memcpy(host->copy.bytes, bytes, size);
    host->stats.copies++;
    host->stats.copied_bytes += size;
}

// ---- Sending ------------------------------------------------------------------------------------

/// Events and the ticket. Snapshots would leave room for neither where little may be sent: what
/// exceeds it is a debt, and the next turn is theirs.
static void put_news(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_writer *body,
                     size_t room, uint64_t now_us) {
    hc_events_send(&peer->events_out, body, room < HC_EVENTS_ROOM_MIN ? HC_EVENTS_ROOM_MIN : room,
                   peer->sent.next, now_us, peer->srtt_us);
    if (ticket_due(host, peer, now_us))
        put_ticket(peer, body, now_us);
    peer->news_went |= body->at > 0;
}

size_t hc_sv_news_send(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    size_t size = ask(peer, to, out, now_us);
    if (size > 0)
        return size;
    peer->news_due = false;
    int32_t room = hc_sv_budget_room(&peer->budget, HC_DATA_BODY_MAX, now_us);
    if (room <= 0)
        return 0;
    if (peer->put_off && peer->news_went)
        HC_MARK("news-wait-for-snapshot");
    else
        put_news(host, peer, &body, (size_t)room, now_us);
    bool silent = now_us - peer->sent_us >= KEEP_ALIVE_US && !peer->snapshot_due;
    if (body.at == 0 && !silent)
        return 0;
    size = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_budget_spend(&peer->budget, (uint32_t)body.at);
    return size;
}
