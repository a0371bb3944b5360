#include "tests/storm/elsewhere.h"

#include "proto/datagram.h"
#include "tests/storm/inside.h"

#include <xxhash.h>

enum {
    PORTS = sizeof((struct storm_elsewhere){0}.ports) / sizeof(struct storm_elsewhere_port),
    TIMES = 3,
    QUESTION = 64, ///< bytes of a PATH_CHALLENGE, and more
    AGAIN_US = 100000,
    PATIENCE = 8, ///< questions that are asked so soon after one another
    DOUBLINGS = 3,
    ROW_US = 10000000,                ///< after which a row is forgotten
    TICKS = 3,                        ///< in which the server asks
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
};

static void wrong(struct storm_match *match, unsigned client, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "elsewhere", 0, "client %u: %s", client, text);
}

void storm_elsewhere_event(struct storm_conn *conn, const struct hc_sv_event *event) {
    if (conn == NULL || (event->kind != HC_SV_EVENT_JOINED && event->kind != HC_SV_EVENT_RESUMED &&
                         event->kind != HC_SV_EVENT_MOVED))
        return;
    conn->elsewhere.home = event->address.port;
    conn->elsewhere.away = 0;
    conn->elsewhere.asked = 0;
}

/// What is known of a port; if `anew` and that is nothing, in the place of the one that has been
/// silent for longest. NULL: nothing.
static struct storm_elsewhere_port *port_of(struct storm_elsewhere *elsewhere, uint16_t port,
                                            bool anew) {
    struct storm_elsewhere_port *oldest = &elsewhere->ports[0];
    for (unsigned i = 0; i < PORTS; i++) {
        struct storm_elsewhere_port *known = &elsewhere->ports[i];
        if (known->port == port)
            return known;
        if (known->turn < oldest->turn)
            oldest = known;
    }
    if (!anew)
        return NULL;
    *oldest = (struct storm_elsewhere_port){.port = port};
    return oldest;
}

static struct storm_conn *conn_of(struct storm_match *match, const uint8_t *bytes, size_t size) {
    uint32_t cid, seq;
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) != HC_OK)
        return NULL;
    return storm_conns_named(&match->conns, cid);
}

void storm_elsewhere_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                              size_t size, enum hc_status status) {
    struct storm_conn *conn = status == HC_OK ? conn_of(match, bytes, size) : NULL;
    uint32_t cid, seq;
    if (conn == NULL || hc_datagram_get_data_clear(bytes, size, &cid, &seq) != HC_OK)
        return;
    struct storm_elsewhere *elsewhere = &conn->elsewhere;
    if (seq > elsewhere->newest_seq) {
        elsewhere->newest_seq = seq;
        uint16_t away = port == elsewhere->home ? 0 : port;
        if (away != elsewhere->away)
            elsewhere->away_in = elsewhere->away_out = 0;
        elsewhere->away = away;
    }
    if (port == elsewhere->home)
        return;
    elsewhere->away_in += port == elsewhere->away ? size : 0;
    struct storm_elsewhere_port *known = port_of(elsewhere, port, true);
    known->in += size;
    known->turn = ++elsewhere->turns;
}

/// How long after the last question the next one may be asked.
static uint64_t pause_us(struct storm_elsewhere *elsewhere, uint64_t now_us) {
    if (now_us - elsewhere->asked_us >= ROW_US)
        elsewhere->asked = 0;
    if (elsewhere->asked == 0)
        return 0;
    unsigned vain = elsewhere->asked > PATIENCE ? elsewhere->asked - PATIENCE : 0;
    return (uint64_t)AGAIN_US << (vain < DOUBLINGS ? vain : DOUBLINGS);
}

void storm_elsewhere_ticked(struct storm_match *match) {
    uint64_t now_us = hc_sim_now(match->sim);
    for (unsigned i = 0; i < match->conns.count; i++) {
        struct storm_conn *conn = &match->conns.conns[i];
        struct storm_elsewhere *elsewhere = &conn->elsewhere;
        bool due = conn->there && elsewhere->away != 0 &&
                   elsewhere->away_out + QUESTION <= TIMES * elsewhere->away_in &&
                   now_us - elsewhere->asked_us >= pause_us(elsewhere, now_us);
        if (due && now_us == elsewhere->ticked_us)
            continue; // of several ticks at once
        elsewhere->ticked_us = now_us;
        elsewhere->unasked = due ? elsewhere->unasked + 1 : 0;
        if (elsewhere->unasked > TICKS)
            wrong(match, conn->seat, "is not asked whether it is where its newest came from");
    }
}

static void check_question(struct storm_match *match, struct storm_conn *conn) {
    struct storm_elsewhere *elsewhere = &conn->elsewhere;
    uint64_t now_us = hc_sim_now(match->sim);
    if (now_us - elsewhere->asked_us < pause_us(elsewhere, now_us))
        wrong(match, conn->seat, "is asked too often whether it is somewhere else");
    elsewhere->asked++;
    elsewhere->asked_us = now_us;
    elsewhere->unasked = 0;
}

bool storm_elsewhere_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size) {
    struct storm_conn *conn = conn_of(match, bytes, size);
    uint16_t port = hc_sim_port(match->sim);
    if (conn == NULL || conn->elsewhere.home == 0)
        return false;
    bool snapshot = bytes[MESSAGE_AT] == HC_MESSAGE_SNAPSHOT;
    uint64_t digest = snapshot ? XXH3_64bits(hc_sim_sealed(match->sim), size) : 0;
    if (port == conn->elsewhere.home) {
        if (snapshot)
            conn->elsewhere.newest = digest;
        if (bytes[MESSAGE_AT] == HC_MESSAGE_PATH_CHALLENGE)
            wrong(match, client, "is asked whether it is where it has shown to be");
        return false;
    }
    if (port != conn->elsewhere.away)
        wrong(match, client, "is sent something where its newest datagram did not come from");
    if (bytes[MESSAGE_AT] == HC_MESSAGE_PATH_CHALLENGE)
        check_question(match, conn);
    else if (conn->elsewhere.asked > PATIENCE)
        wrong(match, client, "is sent copies where nobody answers");
    struct storm_elsewhere_port *known = port_of(&conn->elsewhere, port, false);
    if (snapshot ? digest != conn->elsewhere.newest
                 : bytes[MESSAGE_AT] != HC_MESSAGE_PATH_CHALLENGE)
        wrong(match, client, "is sent at an address that it has not shown what is for another");
    uint64_t in = known != NULL ? known->in : 0, out = size + (known != NULL ? known->out : 0);
    if (out > TIMES * in)
        storm_fail(match->verdict, STORM_WRONG, "elsewhere", 0,
                   "%lu bytes are sent to port %u, which client %u has not shown, for %lu",
                   (unsigned long)out, port, conn->seat, (unsigned long)in);
    if (known != NULL)
        known->out = out;
    conn->elsewhere.away_out += size;
    return snapshot;
}
