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
    struct storm_shake *shake = shake_of(&match->shakes, seat, connect.client_nonce);
    if (shake == NULL) {
        shake = &match->shakes.shakes[match->shakes.count++ % STORM_SHAKES];
        *shake = (struct storm_shake){.seat = seat};
    }
    shake->port = port;
    shake->connect = connect;
    memcpy(shake->said, bytes, sizeof shake->said);
}

void storm_shakes_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    struct storm_shake *shake = shake_of(&match->shakes, client, accept.client_nonce);
    if (shake == NULL)
        return;
    bool once_more = shake->cid == accept.cid;
    if (once_more && (size != shake->accept_size || memcmp(bytes, shake->accept, size) != 0))
        storm_fail(match->verdict, STORM_WRONG, "accepted", 0,
                   "client %u is accepted again in other words", client);
    if (shake->cid != 0 && !once_more && !shake->unheard)
        storm_fail(match->verdict, STORM_WRONG, "accepted", 0,
                   "client %u is accepted once more by the same attempt", client);
    // It does not bring back one that has ended: a CONNECT may have come in the same moment as the
    // goodbye, just before it, and its answer goes out after that.
    if (once_more)
        return;
    shake->cid = accept.cid;
    shake->ended = shake->unheard = false;
    shake->accept_size = size;
    memcpy(shake->accept, bytes, size);
}

void storm_shakes_event(struct storm_match *match, const struct hc_sv_event *event) {
    for (unsigned i = 0; i < STORM_SHAKES && event->kind != HC_SV_EVENT_JOINED; i++) {
        struct storm_shake *shake = &match->shakes.shakes[i];
        uint32_t cid = event->kind == HC_SV_EVENT_RESUMED ? event->before : event->cid;
        shake->moved |= shake->cid == cid && event->kind == HC_SV_EVENT_MOVED;
        if (shake->cid != cid)
            continue;
        const struct storm_conn *conn = storm_conns_find(&match->conns, shake->seat, shake->cid);
        if (event->kind == HC_SV_EVENT_MOVED)
            continue;
        shake->ended = true;
        shake->ended_us = hc_sim_now(match->sim);
        // One that was not heard is replaced when its client asks from another address.
        shake->unheard = (event->kind == HC_SV_EVENT_TIMEOUT || event->kind == HC_SV_EVENT_LOST ||
                          event->kind == HC_SV_EVENT_RESUMED) &&
                         conn != NULL && !storm_arrivals_any(match, conn);
    }
}

/// A CONNECT that comes once more: to one that stands the same ACCEPT is said again, one that has
/// ended is not made again.
static void again(struct storm_match *match, const struct storm_shake *shake) {
    struct hc_sv_host *host = hc_sim_host(match->sim);
    uint8_t answer[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    uint64_t now_us = hc_sim_host_now(match->sim);
    unsigned clients = hc_sv_host_clients(host);
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, shake->port);
    bool young = hc_cookie_slot(now_us) - shake->connect.slot <= 1;
    bool late = shake->ended && hc_sim_now(match->sim) < shake->ended_us + REMEMBERED_US;
    if (shake->cid == 0 || shake->unheard || (shake->ended && !late))
        return;
    enum hc_status status =
        hc_sv_host_receive(host, &from, shake->said, sizeof shake->said, now_us);
    size_t answered = storm_strangers_answer(match, &from, answer, now_us);
    bool same = answered == shake->accept_size &&
                memcmp(hc_sim_open(match->sim, false, answer, answered, opened), shake->accept,
                       answered) == 0;
    if (hc_sv_host_clients(host) != clients)
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is let in again by what comes late", shake->seat,
                   shake->cid);
    else if (young && !shake->ended && !shake->moved && (status != HC_OK || !same))
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is there, and not told so again: %s", shake->seat,
                   shake->cid, hc_status_text(status));
    else if ((!young || late || shake->moved) && (status == HC_OK || answered > 0))
        storm_fail(match->verdict, STORM_WRONG, "late-connect", 0,
                   "client %u, connection %08x, is answered, although it has ended or its cookie "
                   "is too old",
                   shake->seat, shake->cid);
}

void storm_shakes_end(struct storm_match *match) {
    if (match->plan->seed % SHARE != 4 || match->verdict->result != STORM_FINE)
        return;
    for (unsigned i = 0; i < STORM_SHAKES && i < match->shakes.count; i++)
        again(match, &match->shakes.shakes[i]);
    storm_newcomers(match);
    storm_strangers(match);
}
