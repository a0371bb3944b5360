/// Checks that either end accepts each datagram once, and refuses none that it has not had; and
/// that a datagram of a connection that has ended has no effect but its acks.
#include "proto/ack.h"
#include "server/state.h"
#include "tests/storm/checkers/checker.h"

#include <string.h>

/// The datagrams of a client's newest connection that it has accepted.
struct inbox {
    uint32_t cid, newest;
    uint8_t seqs[STORM_SEQS];
};

/// Counts of what a datagram can do to the server beside its acks.
struct effects {
    uint64_t inputs_received, inputs_forced, inputs_refused, inputs_lost;
    uint64_t messages, unreliable_received, unreliable_dropped;
    uint64_t moved, desyncs, leaves, lost;
};

struct replay {
    struct effects before; ///< effects before a datagram is received
    struct inbox clients[STORM_CLIENTS_MAX];
    uint32_t newest[STORM_CONNS_MAX]; ///< newest accepted seq of each connection
};

static void wrong(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                  const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "replay", 0,
               "the server %s: client %u, connection %08x, datagram %u", text, conn->seat,
               conn->cid, seq);
}

static struct effects count_effects(struct storm_match *match) {
    const struct hc_server *host = hc_sim_host(match->sim);
    const struct hc_server_stats *stats = hc_server_stats(host);
    return (struct effects){.inputs_received = stats->inputs_received,
                            .inputs_forced = stats->inputs_forced,
                            .inputs_refused = stats->inputs_refused,
                            .inputs_lost = stats->inputs_lost,
                            .messages = host->program.messages,
                            .unreliable_received = stats->unreliable_received,
                            .unreliable_dropped = stats->unreliable_dropped,
                            .moved = stats->moved,
                            .desyncs = stats->desyncs,
                            .leaves = stats->leaves,
                            .lost = stats->lost};
}

static void host_receives(struct storm_match *match, void *state) {
    ((struct replay *)state)->before = count_effects(match);
}

/// A DATA of a connection that had ended before can be accepted for its acks, or for a CLOSE.
static void check_ended(struct storm_match *match, const struct replay *replay,
                        const struct storm_conn *conn, const struct storm_datagram *datagram) {
    bool ended = !conn->connected && conn->dropped_us < hc_sim_now(match->sim);
    struct effects after = count_effects(match);
    if (ended && datagram->type != HC_MESSAGE_CLOSE &&
        memcmp(&after, &replay->before, sizeof after) != 0)
        wrong(match, conn, datagram->data.seq,
              "lets a datagram of a connection that has ended take effect");
}

static void host_received(struct storm_match *match, void *state, uint16_t port,
                          const struct storm_datagram *datagram, enum hc_status status) {
    const struct storm_conn *conn = datagram->conn;
    uint32_t seq = datagram->data.seq;
    (void)port;
    if (status == HC_FULL)
        return; // a limit on datagrams refused it, which unit tests judge
    if (conn == NULL || !conn->honest || seq >= STORM_SEQS)
        return;
    uint32_t *newest = &((struct replay *)state)->newest[conn - match->conns.conns];
    bool old = seq < *newest && *newest - seq >= HC_RECEIVED_WINDOW,
         again = conn->accepted[seq] != 0;
    if (status != HC_OK) {
        if (conn->connected && !(status == HC_DUPLICATE && again) && !(status == HC_TOO_OLD && old))
            wrong(match, conn, seq, hc_status_text(status));
        return;
    }
    check_ended(match, state, conn, datagram);
    if (again)
        wrong(match, conn, seq, "accepts a datagram twice");
    if (old)
        wrong(match, conn, seq, "accepts a datagram that is behind its window");
    *newest = seq > *newest ? seq : *newest;
}

static void client_received(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status) {
    struct inbox *inbox = &((struct replay *)state)->clients[client];
    uint32_t seq = datagram->data.seq;
    if (match->seats[client].hostile || !datagram->is_data || seq >= STORM_SEQS)
        return;
    if (status == HC_OK && datagram->data.cid != inbox->cid)
        *inbox = (struct inbox){.cid = datagram->data.cid};
    if (datagram->data.cid != inbox->cid)
        return;
    bool again = inbox->seqs[seq] != 0;
    // A snapshot is also too old when its baseline is gone.
    bool young = inbox->newest < seq + HC_RECEIVED_WINDOW && datagram->type != HC_MESSAGE_SNAPSHOT;
    if (status == HC_OK && again)
        storm_wrong(match, "replay", 0, client, "accepts a datagram twice");
    if (!again && (status == HC_DUPLICATE || (status == HC_TOO_OLD && young)))
        storm_wrong(match, "replay", 0, client, "refuses a datagram that it has not had");
    if (status != HC_OK)
        return;
    inbox->seqs[seq] = 1;
    inbox->newest = seq > inbox->newest ? seq : inbox->newest;
}

const struct storm_checker storm_check_replay = {.name = "replay",
                                                 .state_size = sizeof(struct replay),
                                                 .host_receives = host_receives,
                                                 .host_received = host_received,
                                                 .client_received = client_received};
