#include "server/host_internal.h"

#include "common/mark.h"

#include <string.h>

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
                             .expire_s = hc_sv_host_unix_s(host, now_us) + HC_TICKET_LIFE_S,
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
    if (!ticket->any || now_us - ticket->made_us >= HC_TICKET_RENEW_US)
        make_ticket(host, peer, now_us);
    return !ticket->acked && (ticket->told == 0 || now_us - ticket->told_us >= HC_TICKET_RESEND_US);
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
    hc_sv_address_limit_prefix(&peer->address, present);
    hc_sv_address_limit_prefix(address, other);
    return memcmp(present, other, sizeof present) != 0 &&
           hc_sv_host_address_is_full(host, address, peer);
}

/// Whether datagrams of the client have come from two addresses lately.
static bool contested(const struct hc_sv_peer *peer, uint64_t now_us) {
    return peer->contest.any && now_us - peer->contest.seen_us < HC_PATH_IN_USE_US;
}

/// The client has acknowledged something new. Notes whether at least half arrive of what goes to
/// the present address alone: of the newest HC_PATH_STALL_SEQS up to the newest that it has
/// acknowledged.
static void judge(struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_contest *contest = &peer->contest;
    uint32_t sent = 0, missing = 0;
    for (uint32_t seq = peer->acked; seq >= contest->since && sent < HC_PATH_STALL_SEQS;
         seq--, sent++)
        missing += hc_sent_misses(&peer->sent, seq);
    contest->loss_checked_to = peer->acked;
    if (2 * missing > sent)
        return;
    contest->acked_us = now_us;
    if (sent == HC_PATH_STALL_SEQS && now_us - contest->held_us >= HC_PATH_HOME_US)
        contest->home = peer->address;
}

/// Whether too little of what went to the present address alone has been acknowledged for long.
/// Asked when something of the client comes, so that it is there to acknowledge.
static bool stalled(const struct hc_sv_peer *peer, uint64_t now_us) {
    return now_us - peer->contest.acked_us >= HC_PATH_STALL_US + 2 * peer->srtt_us;
}

static void contest(struct hc_sv_peer *peer, uint64_t now_us) {
    HC_MARK("two-addresses-in-use");
    peer->contest.any = true;
    peer->contest.seen_us = now_us;
}

/// Whether the datagram comes from the address before, and is of a time when the client should not
/// have been there any more.
static bool from_former(const struct hc_sv_peer *peer, const struct hc_address *from, uint32_t seq,
                        uint64_t now_us) {
    const struct hc_sv_contest *contest = &peer->contest;
    return contest->moved && seq >= contest->first &&
           (now_us - contest->moved_us < HC_PATH_RETURN_US || contested(peer, now_us)) &&
           hc_address_equal(from, &contest->former);
}

bool hc_sv_path_wants_duplicate(const struct hc_sv_peer *peer, const struct hc_address *from,
                                uint32_t seq, uint64_t now_us) {
    if (hc_address_equal(from, &peer->address))
        return peer->path.any && seq >= peer->path.first;
    return from_former(peer, from, seq, now_us) || stalled(peer, now_us);
}

/// The client's address is another one from now on.
static void move(struct hc_sv_host *host, struct hc_sv_peer *peer, const struct hc_address *to,
                 uint64_t now_us) {
    // The token of a RESET depends on the address.
    peer->ticket.any = false;
    peer->address = *to;
    hc_sv_lateness_move(&peer->lateness);
    peer->path = (struct hc_sv_path){.any = false};
    peer->narrow = (struct hc_sv_narrow){.any = true};
    peer->contest.since = peer->sent.next;
    peer->contest.acked_us = peer->contest.held_us = now_us;
    host->stats.moved++;
    hc_sv_host_event(host, peer, HC_SV_EVENT_MOVED, 0);
}

/// Another address comes up.
static void begin_path(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_address *from, uint32_t seq, bool late, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    bool open = stalled(peer, now_us);
    bool homed = (path->any && path->homed) || hc_address_equal(from, &peer->contest.home);
    // The client has left its address before the first of those that come up in a row.
    uint32_t first = path->any && path->first < seq ? path->first : seq;
    *path = (struct hc_sv_path){.any = true,
                                .held = !open && contested(peer, now_us),
                                .open = open,
                                .late = late,
                                .homed = homed,
                                .address = *from,
                                .first = first,
                                .begun_us = now_us,
                                .asked = path->asked,
                                .asked_us = path->asked_us};
    if (path->held)
        return;
    HC_MARK("path-to-be-shown");
    hc_sv_host_unpredictable(host, path->data, sizeof path->data);
    path->full = is_full(host, peer, from);
}

/// Whether an address from which something came takes the place of the one that is being shown. An
/// open one is given the time to be asked and to answer. Then the next has its turn that is no more
/// like it: a relay whose copies come from many addresses, but always first, must not take all
/// turns. As each of these may answer, the client's home goes before all others, once in a stall.
static bool replaces(const struct hc_sv_peer *peer, const struct hc_address *from, bool late,
                     uint64_t now_us) {
    const struct hc_sv_path *path = &peer->path;
    uint64_t turn_us = HC_PATH_STALL_US + 2 * peer->srtt_us, age_us = now_us - path->begun_us;
    if (path->asked > HC_PATH_CHALLENGES)
        turn_us += (uint64_t)HC_PATH_CHALLENGE_US << HC_PATH_DOUBLINGS;
    if (late && !stalled(peer, now_us))
        return false; // on its way for long
    if (!path->any || !path->open)
        return true;
    if (!path->homed && hc_address_equal(from, &peer->contest.home))
        return true;
    return age_us >= (late == path->late ? 2 * turn_us : turn_us);
}

void hc_sv_path_received(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, uint32_t seq, size_t size,
                         enum hc_sv_arrival how, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    bool late = how != HC_SV_ARRIVAL_NEWEST;
    if (peer->acked >= peer->contest.since && peer->acked > peer->contest.loss_checked_to)
        judge(peer, now_us);
    if (hc_address_equal(from, &peer->address)) {
        if (!path->any || seq < path->first || (path->open && stalled(peer, now_us)))
            return;
        contest(peer, now_us);
        path->any = false; // it is where it was
        return;
    }
    if (from_former(peer, from, seq, now_us)) {
        bool before = contested(peer, now_us);
        contest(peer, now_us);
        if (!before && !is_full(host, peer, from)) {
            peer->contest.moved = false;
            move(host, peer, from, now_us);
            return;
        }
    }
    bool other = !path->any || !hc_address_equal(from, &path->address);
    if (other && !replaces(peer, from, late, now_us))
        return;
    if (other || (path->held && (stalled(peer, now_us) || !contested(peer, now_us))))
        begin_path(host, peer, from, seq, late, now_us);
    if (how != HC_SV_ARRIVAL_DUPLICATE || path->open)
        path->bytes_in += size;
    peer->messages_due |= !path->held;
}

void hc_sv_path_response(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE],
                         uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    // Only who has received the question can answer it. Where a relay is always first, it brings
    // the answer too.
    if (!path->any || path->held || (!path->open && !hc_address_equal(from, &path->address)) ||
        memcmp(data, path->data, HC_PATH_SIZE) != 0)
        return;
    struct hc_address to = path->address;
    path->full = is_full(host, peer, &to); // others may have moved there in the meantime
    if (path->full)
        return;
    if (path->open)
        contest(peer, now_us);
    peer->contest.moved = true;
    peer->contest.former = peer->address;
    peer->contest.first = path->first;
    peer->contest.moved_us = now_us;
    move(host, peer, &to, now_us);
}

/// Whether `size` bytes more may go to the other address.
static bool may_go(const struct hc_sv_path *path, size_t size) {
    return path->any && !path->held && !path->full &&
           path->bytes_out + size <= HC_PATH_FACTOR * path->bytes_in;
}

/// Whether it is time to ask at the other address.
static bool ask_due(struct hc_sv_path *path, uint64_t now_us) {
    if (path->asked > 0 && now_us - path->asked_us >= HC_PATH_ROW_US)
        path->asked = 0;
    if (path->asked == 0)
        return true;
    uint32_t vain = path->asked > HC_PATH_CHALLENGES ? path->asked - HC_PATH_CHALLENGES : 0;
    uint64_t wait_us = (uint64_t)HC_PATH_CHALLENGE_US
                       << (vain < HC_PATH_DOUBLINGS ? vain : HC_PATH_DOUBLINGS);
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
    hc_sent_exempt(&peer->sent, seq);
    path->bytes_out += size;
    path->asked++;
    path->asked_us = now_us;
    peer->contest.since = seq + 1;
    *to = path->address;
    return size;
}

void hc_sv_path_copy(struct hc_sv_host *host, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    // An honest client answers long before patience ends.
    if (size == 0 || !may_go(path, size) || path->asked > HC_PATH_CHALLENGES)
        return;
    HC_ASSERT(host->copy.size == 0);
    path->bytes_out += size;
    peer->contest.since = peer->sent.next; // who acknowledges it may have it from either address
    if (!path->open)
        peer->contest.acked_us = now_us;
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
    peer->messages_sent |= body->at > 0;
}

size_t hc_sv_send_messages(struct hc_sv_host *host, struct hc_sv_peer *peer, struct hc_address *to,
                           uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    uint32_t most = hc_sv_peer_messages_most(peer, now_us);
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, most);
    size_t size = ask(peer, to, out, now_us);
    if (size > 0)
        return size;
    peer->messages_due = false;
    int32_t room = hc_sv_bandwidth_room(&peer->replication.bandwidth, most, now_us);
    if (room <= 0)
        return 0;
    if (peer->snapshot_starved && peer->messages_sent)
        HC_MARK("news-wait-for-snapshot");
    else
        put_news(host, peer, &body, (size_t)room, now_us);
    bool silent = now_us - peer->sent_us >= HC_KEEP_ALIVE_US && !peer->snapshot_due;
    if (body.at == 0 && !silent)
        return 0;
    size = hc_sv_peer_wrap(peer, out, body.at, now_us);
    hc_sv_bandwidth_spend(&peer->replication.bandwidth, (uint32_t)body.at);
    return size;
}
