/// Checks that an address which a client has not validated is sent at most three bytes for each
/// that came from it: challenges, and copies of snapshots.
#include "tests/storm/checkers/checker.h"

#include <xxhash.h>

enum { TIMES = 3, PORTS = 64 };

/// The traffic of a connection at one port since its address was validated last.
struct port {
    uint16_t port;
    uint64_t in, out; ///< bytes
};

struct route {
    uint64_t newest; ///< digest of the newest snapshot that went to the validated address
    unsigned count;
    struct port ports[PORTS];
};

struct paths {
    struct route routes[STORM_CONNS_MAX];
};

static struct route *route_of(struct storm_match *match, void *state,
                              const struct storm_conn *conn) {
    return &((struct paths *)state)->routes[conn - match->conns.conns];
}

/// NULL: there are too many to follow.
static struct port *port_of(struct route *route, uint16_t port) {
    for (unsigned i = 0; i < route->count; i++)
        if (route->ports[i].port == port)
            return &route->ports[i];
    if (route->count == PORTS)
        return NULL;
    route->ports[route->count] = (struct port){.port = port};
    return &route->ports[route->count++];
}

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    if (event->kind == HC_SERVER_EVENT_MOVED && conn != NULL)
        route_of(match, state, conn)->count = 0;
}

static void host_received(struct storm_match *match, void *state, uint16_t from,
                          const struct storm_datagram *datagram, enum hc_status status) {
    (void)status; // a duplicate counts as well
    if (datagram->conn == NULL)
        return;
    struct port *port = port_of(route_of(match, state, datagram->conn), from);
    if (port != NULL)
        port->in += datagram->size;
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    const struct storm_conn *conn = datagram->conn;
    if (conn == NULL)
        return;
    struct route *route = route_of(match, state, conn);
    bool shows = datagram->type == HC_MESSAGE_SNAPSHOT;
    bool asks = datagram->type == HC_MESSAGE_PATH_CHALLENGE;
    uint64_t digest = shows ? XXH3_64bits(hc_sim_sealed(match->sim), datagram->size) : 0;
    uint16_t to = hc_sim_port(match->sim);
    if (to == conn->home_port) {
        route->newest = shows ? digest : route->newest;
        if (asks)
            storm_wrong(match, "path", 0, client, "is challenged at its validated address");
        return;
    }
    if (copy && (!shows || digest != route->newest))
        storm_wrong(match, "path", 0, client,
                    "is sent something new at an address that is not validated");
    struct port *port = port_of(route, to);
    if (port == NULL)
        return;
    port->out += datagram->size;
    if (port->out > TIMES * port->in)
        storm_fail(match->verdict, STORM_WRONG, "path", 0,
                   "port %u, which client %u has not validated, is sent %lu bytes for %lu", to,
                   conn->seat, (unsigned long)port->out, (unsigned long)port->in);
}

const struct storm_checker storm_check_paths = {.name = "paths",
                                                .state_size = sizeof(struct paths),
                                                .host_event = host_event,
                                                .host_received = host_received,
                                                .host_sent = host_sent};
