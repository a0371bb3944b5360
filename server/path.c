/// Moves clients to the addresses that their datagrams come from, once these are validated.
#include "server/path.h"

#include "common/mark.h"

#include <string.h>

/// Whether too many clients are connected from an address for the peer to move there. Another port
/// of its own address is never full.
static bool is_full(struct hc_server *server, const struct hc_sv_peer *peer,
                    const struct hc_address *address) {
    uint8_t present[16], other[16];
    hc_sv_address_limit_prefix(&peer->address, present);
    hc_sv_address_limit_prefix(address, other);
    return memcmp(present, other, sizeof present) != 0 &&
           hc_sv_clients_address_is_full(&server->clients, address, peer);
}

static bool stalls(const struct hc_sv_peer *peer, uint64_t now_us) {
    return hc_sv_contest_stalls(&peer->contest, &peer->connection, now_us);
}

bool hc_sv_path_wants_duplicate(const struct hc_sv_peer *peer, const struct hc_address *from,
                                uint32_t seq, uint64_t now_us) {
    const struct hc_sv_validation *validation = &peer->validation;
    if (hc_address_equal(from, &peer->address))
        return validation->state != HC_SV_VALIDATION_NONE && seq >= validation->first;
    return hc_sv_contest_is_former(&peer->contest, from, seq, now_us) || stalls(peer, now_us);
}

/// Moves the client to another address.
static void move(struct hc_server *server, struct hc_sv_peer *peer, const struct hc_address *to,
                 uint64_t now_us) {
    peer->ticket.any = false; // the reset token in it depends on the address
    hc_sv_clients_move(&server->clients, peer, to);
    hc_connection_change_path(&peer->connection, now_us);
    hc_sv_validation_clear(&peer->validation);
    peer->narrow = (struct hc_sv_narrow){.any = true};
    hc_sv_contest_hold(&peer->contest, peer->connection.sent.next, now_us);
    server->stats.moved++;
    hc_sv_program_changed(&server->program, peer, HC_SERVER_EVENT_MOVED);
}

/// Begins to validate another address.
static void begin(struct hc_server *server, struct hc_sv_peer *peer,
                  const struct hc_sv_sighting *sighting, uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    enum hc_sv_validation_state state = stalls(peer, now_us) ? HC_SV_VALIDATION_OPEN
                                        : hc_sv_contest_is_on(&peer->contest, now_us)
                                            ? HC_SV_VALIDATION_HELD
                                            : HC_SV_VALIDATION_PROVING;
    hc_sv_validation_begin(validation, state, sighting, now_us);
    if (state == HC_SV_VALIDATION_HELD)
        return;
    HC_MARK("path-validation-begun");
    hc_ratchet_draw(&server->ratchet, validation->data, sizeof validation->data);
    validation->full = is_full(server, peer, sighting->from);
}

/// Takes a datagram from the present address, where the client is, if it sent it after the one that
/// showed another address.
static void received_here(struct hc_sv_peer *peer, uint32_t seq, uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    if (validation->state == HC_SV_VALIDATION_NONE || seq < validation->first ||
        (validation->state == HC_SV_VALIDATION_OPEN && stalls(peer, now_us)))
        return;
    hc_sv_contest_note(&peer->contest, now_us);
    hc_sv_validation_end(validation);
}

/// Takes a datagram from the former address. True: the client moves back there, because until now
/// nothing showed that two addresses are in use.
static bool moves_back(struct hc_server *server, struct hc_sv_peer *peer,
                       const struct hc_address *from, uint64_t now_us) {
    bool known = hc_sv_contest_is_on(&peer->contest, now_us);
    hc_sv_contest_note(&peer->contest, now_us);
    if (known || is_full(server, peer, from))
        return false;
    hc_sv_contest_take_back(&peer->contest);
    move(server, peer, from, now_us);
    return true;
}

/// Takes a datagram from an address that is neither. One that is late was delayed, unless the
/// present address stalls.
static void received_elsewhere(struct hc_server *server, struct hc_sv_peer *peer,
                               const struct hc_sv_sighting *sighting, size_t size,
                               enum hc_sv_arrival how, uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    bool stalled = stalls(peer, now_us),
         other = !hc_sv_validation_is_of(validation, sighting->from);
    if (other && ((sighting->late && !stalled) ||
                  !hc_sv_validation_yields(validation, sighting,
                                           hc_sv_contest_stall_us(&peer->connection), now_us)))
        return;
    bool released = validation->state == HC_SV_VALIDATION_HELD &&
                    (stalled || !hc_sv_contest_is_on(&peer->contest, now_us));
    if (other || released)
        begin(server, peer, sighting, now_us);
    bool counts = how != HC_SV_ARRIVAL_DUPLICATE || validation->state == HC_SV_VALIDATION_OPEN;
    hc_sv_validation_received(validation, counts ? size : 0, now_us);
    peer->messages_due |= validation->state != HC_SV_VALIDATION_HELD;
}

void hc_sv_path_received(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from, uint32_t seq, size_t size,
                         enum hc_sv_arrival how, uint64_t now_us) {
    struct hc_sv_sighting sighting = {
        .from = from, .seq = seq, .late = how != HC_SV_ARRIVAL_NEWEST};
    hc_sv_contest_check_acks(&peer->contest, &peer->connection, &peer->address, now_us);
    sighting.home = hc_address_equal(from, &peer->contest.home);
    if (hc_address_equal(from, &peer->address))
        received_here(peer, seq, now_us);
    else if (!hc_sv_contest_is_former(&peer->contest, from, seq, now_us) ||
             !moves_back(server, peer, from, now_us))
        received_elsewhere(server, peer, &sighting, size, how, now_us);
}

void hc_sv_path_response(struct hc_server *server, struct hc_sv_peer *peer,
                         const struct hc_address *from, const uint8_t data[static HC_PATH_SIZE],
                         uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    struct hc_address to = validation->address;
    if (!hc_sv_validation_is_answer(validation, from, data))
        return;
    validation->full =
        is_full(server, peer, &to); // others may have moved there since the challenge
    if (validation->full)
        return;
    // A relay was probably first with the datagram that showed this address late.
    if (validation->late)
        hc_sv_contest_note(&peer->contest, now_us);
    hc_sv_contest_move(&peer->contest, &peer->address, validation->first, now_us);
    move(server, peer, &to, now_us);
}

size_t hc_sv_path_challenge(struct hc_sv_peer *peer, struct hc_address *to,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    struct hc_writer body = hc_connection_writer(&peer->connection, out);
    if (!hc_sv_validation_challenge_due(
            validation, HC_DATA_BODY_AT + HC_PATH_MESSAGE_SIZE + HC_TAG_SIZE, now_us))
        return 0;
    bool fits = hc_message_put_path(&body, HC_MESSAGE_PATH_CHALLENGE, validation->data);
    HC_ASSERT(fits && body.at == HC_PATH_MESSAGE_SIZE);
    size_t size = hc_connection_wrap_exempt(&peer->connection, out, body.at, now_us);
    if (size == 0)
        return 0;
    hc_sv_validation_challenged(validation, size, now_us);
    hc_sv_contest_shared(&peer->contest, peer->connection.sent.next);
    *to = validation->address;
    return size;
}

void hc_sv_path_copy(struct hc_server *server, struct hc_sv_peer *peer, const uint8_t *bytes,
                     size_t size, uint64_t now_us) {
    struct hc_sv_validation *validation = &peer->validation;
    if (!hc_sv_validation_copies(validation, size))
        return;
    hc_sv_contest_shared(&peer->contest, peer->connection.sent.next);
    if (validation->state != HC_SV_VALIDATION_OPEN)
        hc_sv_contest_wait(&peer->contest, now_us);
    hc_sv_outbox_copy(&server->outbox, &validation->address, bytes, size);
    server->stats.copies++;
    server->stats.copied_bytes += size;
}
