/// Validates the addresses that a client's datagrams come from, and moves the client to them.
#include "server/path.h"

#include "common/elapsed.h"
#include "common/mark.h"
#include "server/host_internal.h"

#include <string.h>

/// Whether too many clients are connected from an address for the peer to move there. Another port
/// of its own address is never full.
static bool is_full(struct hc_sv_host *host, const struct hc_sv_peer *peer,
                    const struct hc_address *address) {
    uint8_t present[16], other[16];
    hc_sv_address_limit_prefix(&peer->address, present);
    hc_sv_address_limit_prefix(address, other);
    return memcmp(present, other, sizeof present) != 0 &&
           hc_sv_clients_address_is_full(&host->clients, address, peer);
}

/// Whether the client's datagrams came from two addresses lately.
static bool two_in_use(const struct hc_sv_peer *peer, uint64_t now_us) {
    return peer->contest.any && hc_since(peer->contest.seen_us, now_us) < HC_PATH_IN_USE_US;
}

/// Checks after a new ack whether at least half of the datagrams that went to the present address
/// alone are acked. Only the newest HC_PATH_STALL_SEQS up to the newest acked one count.
static void check_acks(struct hc_sv_peer *peer, uint64_t now_us) {
    struct hc_sv_contest *contest = &peer->contest;
    uint32_t sent = 0, missing = 0;
    for (uint32_t seq = peer->connection.acked; seq >= contest->since && sent < HC_PATH_STALL_SEQS;
         seq--, sent++)
        missing += hc_sent_misses(&peer->connection.sent, seq);
    contest->loss_checked_to = peer->connection.acked;
    if (2 * missing > sent)
        return;
    contest->acked_us = now_us;
    if (sent == HC_PATH_STALL_SEQS && hc_since(contest->held_us, now_us) >= HC_PATH_HOME_US)
        contest->home = peer->address;
}

/// How long an address may ack too little. A pause of the server makes the round trip longer, so
/// the time has a limit.
static uint64_t stall_us(const struct hc_sv_peer *peer) {
    uint64_t us = HC_PATH_STALL_US + 2 * peer->connection.srtt_us;
    return us < HC_PATH_STALL_MOST_US ? us : HC_PATH_STALL_MOST_US;
}

/// Whether too few of the datagrams that went to the present address alone were acked for some
/// time. Called when a datagram of the client comes, because only then it can ack.
static bool stalled(const struct hc_sv_peer *peer, uint64_t now_us) {
    return hc_since(peer->contest.acked_us, now_us) >= stall_us(peer);
}

/// Notes that datagrams of the client came from two addresses.
static void note_two_in_use(struct hc_sv_peer *peer, uint64_t now_us) {
    HC_MARK("two-addresses-in-use");
    peer->contest.any = true;
    peer->contest.seen_us = now_us;
}

/// Whether the datagram comes from the former address, although the client sent it after it moved.
static bool is_from_former(const struct hc_sv_peer *peer, const struct hc_address *from,
                           uint32_t seq, uint64_t now_us) {
    const struct hc_sv_contest *contest = &peer->contest;
    return contest->moved && seq >= contest->first &&
           (hc_since(contest->moved_us, now_us) < HC_PATH_RETURN_US || two_in_use(peer, now_us)) &&
           hc_address_equal(from, &contest->former);
}

bool hc_sv_path_wants_duplicate(const struct hc_sv_peer *peer, const struct hc_address *from,
                                uint32_t seq, uint64_t now_us) {
    if (hc_address_equal(from, &peer->address))
        return peer->path.any && seq >= peer->path.first;
    return is_from_former(peer, from, seq, now_us) || stalled(peer, now_us);
}

/// Moves the client to another address.
static void move(struct hc_sv_host *host, struct hc_sv_peer *peer, const struct hc_address *to,
                 uint64_t now_us) {
    peer->ticket.any = false; // the reset token in it depends on the address
    hc_sv_clients_move(&host->clients, peer, to);
    peer->path = (struct hc_sv_path){.any = false};
    peer->narrow = (struct hc_sv_narrow){.any = true};
    peer->contest.since = peer->connection.sent.next;
    peer->contest.acked_us = peer->contest.held_us = now_us;
    host->stats.moved++;
    hc_sv_program_changed(&host->program, peer, HC_SERVER_EVENT_MOVED);
}

/// Begins to validate another address.
static void begin_path(struct hc_sv_host *host, struct hc_sv_peer *peer,
                       const struct hc_address *from, uint32_t seq, bool late, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    bool open = stalled(peer, now_us);
    bool homed = (path->any && path->homed) || hc_address_equal(from, &peer->contest.home);
    // The client left its address before the first of several new addresses in a row.
    uint32_t first = path->any && path->first < seq ? path->first : seq;
    *path = (struct hc_sv_path){.any = true,
                                .held = !open && two_in_use(peer, now_us),
                                .open = open,
                                .late = late,
                                .homed = homed,
                                .address = *from,
                                .first = first,
                                .begun_us = now_us,
                                .unanswered = path->unanswered,
                                .challenged_us = path->challenged_us};
    if (path->held)
        return;
    HC_MARK("path-validation-begun");
    hc_sv_host_unpredictable(host, path->data, sizeof path->data);
    path->full = is_full(host, peer, from);
}

/// Whether a datagram's address replaces the address under validation. An open one has a turn: time
/// for a challenge and the response. An address that was seen in the other way, in a newest
/// datagram or in a late one, can replace it after one turn, else after two: a relay whose copies
/// are always first, from many addresses, must not take all turns. An address that has been silent
/// for 150 ms can be replaced (the client moved on); for 75 ms if the new one was seen in a late
/// datagram (a relay is silent at each of its addresses). The client's home replaces any other once
/// in a stall, because the relay may answer for each of them.
static bool replaces(const struct hc_sv_peer *peer, const struct hc_address *from, bool late,
                     uint64_t now_us) {
    const struct hc_sv_path *path = &peer->path;
    uint64_t turn_us = stall_us(peer);
    uint64_t age_us = hc_since(path->begun_us, now_us),
             silent_us = hc_since(path->received_us, now_us);
    if (late && !stalled(peer, now_us))
        return false; // it was delayed
    if (!path->any || !path->open)
        return true;
    if (!path->homed && hc_address_equal(from, &peer->contest.home))
        return true;
    return silent_us >= (late ? HC_PATH_SILENT_US / 2 : HC_PATH_SILENT_US) ||
           age_us >= (late == path->late ? 2 * turn_us : turn_us);
}

void hc_sv_path_received(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, uint32_t seq, size_t size,
                         enum hc_sv_arrival how, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    bool late = how != HC_SV_ARRIVAL_NEWEST;
    if (peer->connection.acked >= peer->contest.since &&
        peer->connection.acked > peer->contest.loss_checked_to)
        check_acks(peer, now_us);
    if (hc_address_equal(from, &peer->address)) {
        if (!path->any || seq < path->first || (path->open && stalled(peer, now_us)))
            return;
        note_two_in_use(peer, now_us);
        path->any = false; // the client did not move
        return;
    }
    if (is_from_former(peer, from, seq, now_us)) {
        bool known = two_in_use(peer, now_us);
        note_two_in_use(peer, now_us);
        if (!known && !is_full(host, peer, from)) {
            peer->contest.moved = false;
            move(host, peer, from, now_us);
            return;
        }
    }
    bool other = !path->any || !hc_address_equal(from, &path->address);
    if (other && !replaces(peer, from, late, now_us))
        return;
    if (other || (path->held && (stalled(peer, now_us) || !two_in_use(peer, now_us))))
        begin_path(host, peer, from, seq, late, now_us);
    if (how != HC_SV_ARRIVAL_DUPLICATE || path->open)
        path->bytes_in += size;
    path->received_us = now_us;
    peer->messages_due |= !path->held;
}

void hc_sv_path_response(struct hc_sv_host *host, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE],
                         uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    // Only a receiver of the challenge can answer it. On an open path the response may come from
    // any address, because a relay that is always first brings it too.
    if (!path->any || path->held || (!path->open && !hc_address_equal(from, &path->address)) ||
        memcmp(data, path->data, HC_PATH_SIZE) != 0)
        return;
    struct hc_address to = path->address;
    path->full = is_full(host, peer, &to); // others may have moved there since the challenge
    if (path->full)
        return;
    // A relay was probably first with the datagram that showed this address late.
    if (path->late)
        note_two_in_use(peer, now_us);
    peer->contest.moved = true;
    peer->contest.former = peer->address;
    peer->contest.first = path->first;
    peer->contest.moved_us = now_us;
    move(host, peer, &to, now_us);
}

/// Whether `size` more bytes may be sent to the address under validation.
static bool may_send(const struct hc_sv_path *path, size_t size) {
    return path->any && !path->held && !path->full &&
           path->bytes_out + size <= HC_PATH_FACTOR * path->bytes_in;
}

/// Whether a PATH_CHALLENGE is due. Unanswered ones double the wait, but not for an address that
/// was sent none.
static bool challenge_due(struct hc_sv_path *path, uint64_t now_us) {
    uint64_t since_us = hc_since(path->challenged_us, now_us);
    if (path->unanswered > 0 && since_us >= HC_PATH_ROW_US)
        path->unanswered = 0;
    if (path->unanswered == 0)
        return true;
    uint32_t doublings = path->unanswered > HC_PATH_CHALLENGES && path->bytes_out > 0
                             ? path->unanswered - HC_PATH_CHALLENGES
                             : 0;
    doublings = doublings < HC_PATH_DOUBLINGS ? doublings : HC_PATH_DOUBLINGS;
    return since_us >= (uint64_t)HC_PATH_CHALLENGE_US << doublings;
}

size_t hc_sv_path_challenge(struct hc_sv_peer *peer, struct hc_address *to,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    if (!may_send(path, HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE) ||
        !challenge_due(path, now_us))
        return 0;
    bool fits = hc_message_put_path(&body, HC_MESSAGE_PATH_CHALLENGE, path->data);
    HC_ASSERT(fits && body.at == HC_PATH_MESSAGE_SIZE);
    size_t size = hc_connection_wrap_exempt(&peer->connection, out, body.at, now_us);
    if (size == 0)
        return 0;
    path->bytes_out += size;
    path->unanswered++;
    path->challenged_us = now_us;
    peer->contest.since = peer->connection.sent.next;
    *to = path->address;
    return size;
}

void hc_sv_path_copy(struct hc_sv_host *host, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size, uint64_t now_us) {
    struct hc_sv_path *path = &peer->path;
    // An honest client answers long before the last challenge.
    if (size == 0 || !may_send(path, size) || path->unanswered > HC_PATH_CHALLENGES)
        return;
    path->bytes_out += size;
    peer->contest.since = peer->connection.sent.next; // its ack may come from either address
    // An address that never acked gains no time by copies: a relay has many of them.
    if (!path->open && peer->contest.acked_us > peer->contest.held_us)
        peer->contest.acked_us = now_us;
    hc_sv_outbox_copy(&host->outbox, &path->address, bytes, size);
    host->stats.copies++;
    host->stats.copied_bytes += size;
}
