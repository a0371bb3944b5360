/// Checks the counters of client and server against the traffic and events seen from outside.
#include "tests/storm/checkers/checker.h"

#include <inttypes.h>

struct traffic {
    uint64_t in, in_bytes, out, out_bytes, rejected[HC_STATUS_COUNT];
};

struct counters {
    struct traffic clients[STORM_CLIENTS_MAX], host;
    uint64_t stalls[STORM_CLIENTS_MAX]; ///< events
    uint64_t denials, snapshots, copies, events[HC_SERVER_EVENT_KINDS];
};

static void expect(struct storm_match *match, const char *who, unsigned client, const char *what,
                   uint64_t counted, uint64_t seen) {
    if (counted != seen)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "%s %u counts %" PRIu64 " %s, there were %" PRIu64, who, client, counted, what,
                   seen);
}

static void receive(struct traffic *traffic, size_t size, enum hc_status status) {
    traffic->in++;
    traffic->in_bytes += size;
    if (status != HC_OK)
        traffic->rejected[status]++;
}

static void send(struct traffic *traffic, size_t size) {
    traffic->out++;
    traffic->out_bytes += size;
}

// ---- The clients --------------------------------------------------------------------------------

static void client_created(struct storm_match *match, void *state, unsigned client) {
    struct counters *counters = state;
    (void)match;
    counters->clients[client] = (struct traffic){.in = 0};
    counters->stalls[client] = 0;
}

static void client_sends(struct storm_match *match, void *state, unsigned client, size_t size) {
    (void)match;
    send(&((struct counters *)state)->clients[client], size);
}

static void client_received(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status) {
    (void)match;
    receive(&((struct counters *)state)->clients[client], datagram->size, status);
}

static void client_event(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event) {
    (void)match;
    ((struct counters *)state)->stalls[client] += event->kind == HC_CLIENT_EVENT_STALLED;
}

static void client_ends(struct storm_match *match, void *state, unsigned client) {
    const struct counters *counters = state;
    const struct traffic *seen = &counters->clients[client];
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    expect(match, "client", client, "datagrams received", stats->datagrams_in, seen->in);
    expect(match, "client", client, "bytes received", stats->bytes_in, seen->in_bytes);
    expect(match, "client", client, "datagrams sent", stats->datagrams_out, seen->out);
    expect(match, "client", client, "bytes sent", stats->bytes_out, seen->out_bytes);
    expect(match, "client", client, "stalls", stats->stalls, counters->stalls[client]);
    for (unsigned s = 0; s < HC_STATUS_COUNT; s++)
        expect(match, "client", client, hc_status_text((enum hc_status)s), stats->rejected[s],
               seen->rejected[s]);
}

// ---- The server ---------------------------------------------------------------------------------

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    (void)match, (void)conn;
    ((struct counters *)state)->events[event->kind]++;
}

static void host_received(struct storm_match *match, void *state, uint16_t port,
                          const struct storm_datagram *datagram, enum hc_status status) {
    (void)match, (void)port;
    receive(&((struct counters *)state)->host, datagram->size, status);
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    struct counters *counters = state;
    (void)match, (void)client;
    send(&counters->host, datagram->size);
    counters->copies += copy;
    counters->snapshots += !copy && datagram->type == HC_MESSAGE_SNAPSHOT;
    counters->denials += datagram->kind == HC_DATAGRAM_DENY;
}

static void host_ticked(struct storm_match *match, void *state) {
    const struct hc_timeline *timeline = storm_match_timeline(match);
    (void)state;
    expect(match, "server", 0, "ticks simulated", hc_timeline_stats(timeline)->advances,
           hc_timeline_head(timeline));
}

static void end(struct storm_match *match, void *state) {
    const struct counters *counters = state;
    const struct hc_server *host = hc_sim_host(match->sim);
    const struct hc_server_stats *stats = hc_server_stats(host);
    const uint64_t *events = counters->events;
    uint64_t bytes, strangers = hc_sim_strangers(match->sim, &bytes);
    expect(match, "server", 0, "datagrams received", stats->datagrams_in, counters->host.in);
    expect(match, "server", 0, "bytes received", stats->bytes_in, counters->host.in_bytes);
    expect(match, "server", 0, "datagrams sent", stats->datagrams_out,
           counters->host.out + strangers);
    expect(match, "server", 0, "bytes sent", stats->bytes_out, counters->host.out_bytes + bytes);
    for (unsigned s = 0; s < HC_STATUS_COUNT; s++)
        expect(match, "server", 0, hc_status_text((enum hc_status)s), stats->rejected[s],
               counters->host.rejected[s]);
    expect(match, "server", 0, "joins", stats->joins, events[HC_SERVER_EVENT_JOINED]);
    expect(match, "server", 0, "leaves", stats->leaves, events[HC_SERVER_EVENT_LEFT]);
    expect(match, "server", 0, "resumed sessions", stats->resumed,
           events[HC_SERVER_EVENT_RECONNECTED]);
    expect(match, "server", 0, "changes of address", stats->moved, events[HC_SERVER_EVENT_MOVED]);
    expect(match, "server", 0, "timeouts", stats->timeouts, events[HC_SERVER_EVENT_TIMEOUT]);
    expect(match, "server", 0, "lost connections", stats->lost, events[HC_SERVER_EVENT_LOST]);
    expect(match, "server", 0, "clients", hc_server_clients(host),
           stats->joins - stats->leaves - stats->timeouts - storm_conns_lingering(&match->conns));
    expect(match, "server", 0, "copies", stats->copies, counters->copies);
    expect(match, "server", 0, "denials", stats->denied, counters->denials);
    expect(match, "server", 0, "snapshots", stats->snapshots, counters->snapshots);
}

const struct storm_checker storm_check_counters = {.name = "counters",
                                                   .state_size = sizeof(struct counters),
                                                   .client_created = client_created,
                                                   .client_sends = client_sends,
                                                   .client_received = client_received,
                                                   .client_event = client_event,
                                                   .client_ends = client_ends,
                                                   .host_event = host_event,
                                                   .host_received = host_received,
                                                   .host_sent = host_sent,
                                                   .host_ticked = host_ticked,
                                                   .end = end};
