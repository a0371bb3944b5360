#include "tests/storm/elsewhere.h"

#include "proto/datagram.h"
#include "tests/storm/inside.h"

#include <xxhash.h>

enum {
    PORTS = sizeof((struct storm_elsewhere){0}.ports) / sizeof(struct storm_elsewhere_port),
    TIMES = 3,
    MESSAGE_AT = HC_DATA_BODY_AT + 1, ///< after the array's header
};

static void wrong(struct storm_match *match, unsigned client, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "elsewhere", 0, "client %u: %s", client, text);
}

void storm_elsewhere_event(struct storm_conn *conn, const struct hc_sv_event *event) {
    if (conn != NULL && (event->kind == HC_SV_EVENT_JOINED || event->kind == HC_SV_EVENT_RESUMED ||
                         event->kind == HC_SV_EVENT_MOVED))
        conn->elsewhere.home = event->address.port;
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
    if (conn == NULL || port == conn->elsewhere.home)
        return;
    struct storm_elsewhere_port *known = port_of(&conn->elsewhere, port, true);
    known->in += size;
    known->turn = ++conn->elsewhere.turns;
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
    return snapshot;
}
