/// Checks that no honest client is refused: no datagram, no place on a server that has one, and no
/// connection for an error.
#include "tests/storm/checkers/checker.h"

/// Whether a datagram was refused because it is broken.
static bool is_broken(enum hc_status status) {
    return status == HC_MALFORMED || status == HC_TRUNCATED || status == HC_INVALID;
}

/// An honest client is denied for a full server only when it is full. A place that was freed in
/// this very moment may have been taken when the answer was written.
static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    const struct storm_conns *conns = &match->conns;
    uint64_t now_us = hc_sim_now(match->sim);
    unsigned places = hc_sim_config(match->sim)->host.clients, connected = 0;
    unsigned players = (unsigned)storm_client_get(match, client, STORM_C_players);
    struct hc_deny deny;
    (void)state, (void)copy;
    if (match->seats[client].hostile || conns->count == STORM_CONNS_MAX ||
        hc_datagram_get_deny(datagram->bytes, datagram->size, &deny) != HC_OK ||
        deny.reason != HC_DENY_FULL)
        return;
    match->outcome->denials++;
    for (unsigned i = 0; i < conns->count; i++) {
        const struct storm_conn *conn = &conns->conns[i];
        if (!conn->connected && !conn->lingering && conn->freed_us + match->tick_us < now_us)
            continue;
        connected++;
        players += conn->player_count;
    }
    if (connected < places && players <= places)
        storm_wrong(match, "denied", 0, client, "is denied a place on a server that has one");
}

/// A server sends nothing broken, and no attacker sends in its name. (A hostile client may receive
/// acks of datagrams that were forged in its name, and a client that has just moved a RESET for its
/// former address.)
static void client_received(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status) {
    bool moves = storm_client_get(match, client, STORM_C_rebind_ticks) != 0;
    (void)state;
    if (!match->seats[client].hostile && is_broken(status) && !(moves && !datagram->is_data))
        storm_fail(match->verdict, STORM_WRONG, "wire", 0,
                   "client %u refuses a datagram of the server: %s", client,
                   hc_status_text(status));
}

static void client_event(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event) {
    (void)state;
    if (!match->seats[client].hostile &&
        (event->kind == HC_CLIENT_EVENT_VERSION ||
         (event->kind == HC_CLIENT_EVENT_CLOSED && event->close == HC_CLOSE_ERROR)))
        storm_wrong(match, "closed", 0, client, "gives up for an error");
}

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    unsigned client = (event->address.port - STORM_PORT_FIRST) % match->clients;
    (void)state;
    // An attacker may send the same from all of its ports.
    if (event->kind == HC_SERVER_EVENT_MOVED &&
        (conn == NULL || !conn->connected ||
         (!match->seats[client].hostile &&
          storm_client_get(match, client, STORM_C_rebind_ticks) == 0)))
        storm_wrong(match, "events", 0, client, "has moved to another address, and could not");
}

static void end(struct storm_match *match, void *state) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(match->sim));
    bool moves = false; // a cookie is then for another address
    (void)state;
    for (unsigned i = 0; i < match->clients; i++)
        moves |= storm_client_get(match, i, STORM_C_rebind_ticks) != 0;
    for (unsigned s = 0; s < HC_STATUS_COUNT && !storm_match_attacked(match) && !moves; s++)
        if (is_broken((enum hc_status)s) && stats->rejected[s] > 0)
            storm_fail(match->verdict, STORM_WRONG, "wire", 0,
                       "the server refuses %lu honest datagrams: %s",
                       (unsigned long)stats->rejected[s], hc_status_text((enum hc_status)s));
}

const struct storm_checker storm_check_refusals = {.name = "refusals",
                                                   .host_event = host_event,
                                                   .host_sent = host_sent,
                                                   .client_received = client_received,
                                                   .client_event = client_event,
                                                   .end = end};
