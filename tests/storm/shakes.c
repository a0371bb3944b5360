#include "tests/storm/shakes.h"

#include "proto/cookie.h"
#include "tests/storm/inside.h"
#include "tests/storm/newcomers.h"
#include "tests/storm/strangers.h"

#include <string.h>

enum {
    SHARE = 8, ///< of the matches, one in so many is looked at when it is over
    PORT_FIRST = 1024,
    REMEMBERED_US = 20000000, ///< so long an ended connection is not made again
};

static struct storm_shake *shake_of(struct storm_shakes *shakes, unsigned seat,
                                    const uint8_t *nonce) {
    for (unsigned i = 0; i < STORM_SHAKES && i < shakes->count; i++)
        if (shakes->shakes[i].seat == seat &&
            memcmp(shakes->shakes[i].connect.client_nonce, nonce, HC_NONCE_SIZE) == 0)
            return &shakes->shakes[i];
    return NULL;
}

const struct storm_shake *storm_shakes_of(struct storm_match *match, unsigned seat,
                                          const uint8_t *nonce) {
    return shake_of(&match->shakes, seat, nonce);
}

void storm_shakes_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                           size_t size, enum hc_status status) {
    struct hc_connect connect;
    if (port < PORT_FIRST || status != HC_OK || bytes[0] != HC_DATAGRAM_CONNECT ||
        hc_datagram_get_connect(bytes, size, &connect) != HC_OK)
        return;
    unsigned seat = (port - PORT_FIRST) % match->clients;
    if (match->seats[seat].hostile)
        return;
    struct storm_shake *handshake = shake_of(&match->shakes, seat, connect.client_nonce);
    if (handshake == NULL) {
        handshake = &match->shakes.shakes[match->shakes.count++ % STORM_SHAKES];
        *handshake = (struct storm_shake){.seat = seat};
    }
    handshake->port = port;
    handshake->connect = connect;
    memcpy(handshake->said, bytes, sizeof handshake->said);
}

void storm_shakes_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    struct storm_shake *handshake = shake_of(&match->shakes, client, accept.client_nonce);
    if (handshake == NULL)
        return;
    bool once_more = handshake->cid == accept.cid;
    if (once_more &&
        (size != handshake->accept_size || memcmp(bytes, handshake->accept, size) != 0))
        storm_fail(match->verdict, STORM_WRONG, "accepted", 0,
                   "client %u is accepted again in other words", client);
    if (handshake->cid != 0 && !once_more && !handshake->unheard)
        storm_fail(match->verdict, STORM_WRONG, "accepted", 0,
                   "client %u is accepted once more by the same attempt", client);
    // It does not bring back one that has ended: a CONNECT may have come in the same moment as the
    // goodbye, just before it, and its answer goes out after that.
    if (once_more)
        return;
    handshake->cid = accept.cid;
    handshake->ended = handshake->unheard = false;
    handshake->accept_size = size;
    memcpy(handshake->accept, bytes, size);
}

void storm_shakes_event(struct storm_match *match, const struct hc_sv_event *event) {
    for (unsigned i = 0; i < STORM_SHAKES && event->kind != HC_SV_EVENT_JOINED; i++) {
        struct storm_shake *handshake = &match->shakes.shakes[i];
        uint32_t cid = event->kind == HC_SV_EVENT_RESUMED ? event->before : event->cid;
        handshake->moved |= handshake->cid == cid && event->kind == HC_SV_EVENT_MOVED;
        if (handshake->cid != cid)
            continue;
        const struct storm_conn *conn =
            storm_conns_find(&match->conns, handshake->seat, handshake->cid);
        if (event->kind == HC_SV_EVENT_MOVED)
            continue;
        handshake->ended = true;
        handshake->ended_us = hc_sim_now(match->sim);
        // One that was not heard is replaced when its client asks from another address.
        handshake->unheard =
            (event->kind == HC_SV_EVENT_TIMEOUT || event->kind == HC_SV_EVENT_LOST ||
             event->kind == HC_SV_EVENT_RESUMED) &&
            conn != NULL && !storm_arrivals_any(match, conn);
    }
}

/// A CONNECT that comes once more: to one that stands the same ACCEPT is said again, one that has
/// ended is not made again.
static void again(struct storm_match *match, const struct storm_shake *handshake) {
    struct hc_sv_host *host = hc_sim_host(match->sim);
    uint8_t answer[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    uint64_t now_us = hc_sim_host_now(match->sim);
    unsigned clients = hc_sv_host_clients(host);
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, handshake->port);
    bool young = hc_cookie_slot(now_us) - handshake->connect.slot <= 1;
    bool late = handshake->ended && hc_sim_now(match->sim) < handshake->ended_us + REMEMBERED_US;
    if (handshake->cid == 0 || handshake->unheard || (handshake->ended && !late))
        return;
    enum hc_status status =
        hc_sv_host_receive(host, &from, handshake->said, sizeof handshake->said, now_us);
    size_t answered = storm_strangers_answer(match, &from, answer, now_us);
    bool same = answered == handshake->accept_size &&
                memcmp(hc_sim_open(match->sim, false, answer, answered, opened), handshake->accept,
                       answered) == 0;
    if (hc_sv_host_clients(host) != clients)
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is let in again by what comes late",
                   handshake->seat, handshake->cid);
    else if (young && !handshake->ended && !handshake->moved && (status != HC_OK || !same))
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is there, and not told so again: %s",
                   handshake->seat, handshake->cid, hc_status_text(status));
    else if ((!young || late || handshake->moved) && (status == HC_OK || answered > 0))
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is answered, although it has ended or its cookie "
                   "is too old",
                   handshake->seat, handshake->cid);
}

void storm_shakes_end(struct storm_match *match) {
    if (match->plan->seed % SHARE != 4 || match->verdict->result != STORM_FINE)
        return;
    for (unsigned i = 0; i < STORM_SHAKES && i < match->shakes.count; i++)
        again(match, &match->shakes.shakes[i]);
    storm_newcomers(match);
    storm_strangers(match);
}
