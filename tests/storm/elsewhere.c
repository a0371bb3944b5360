#include "tests/storm/elsewhere.h"

#include "proto/datagram.h"
#include "server/host_internal.h"
#include "tests/storm/inside.h"

#include <xxhash.h>

enum {
    TIMES = 3,
    QUESTION = 64, ///< bytes of a PATH_CHALLENGE, and more
    AGAIN_US = 100000,
    PATIENCE = 8, ///< questions that are asked so soon after one another
    DOUBLINGS = 3,
    ROW_US = 10000000, ///< after which a row is forgotten
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

/// The connection that a DATA is of, and its number; NULL: none.
static struct storm_conn *conn_of(struct storm_match *match, const uint8_t *bytes, size_t size,
                                  uint32_t *seq) {
    uint32_t cid;
    if (hc_datagram_get_data_clear(bytes, size, &cid, seq) != HC_OK)
        return NULL;
    return storm_conns_named(&match->conns, cid);
}

void storm_elsewhere_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                              size_t size, enum hc_status status) {
    uint32_t seq;
    struct storm_conn *conn = status == HC_OK ? conn_of(match, bytes, size, &seq) : NULL;
    if (conn == NULL)
        return;
    struct storm_elsewhere *elsewhere = &conn->elsewhere;
    if (seq > elsewhere->newest_seq) {
        uint16_t away = port == elsewhere->home ? 0 : port;
        if (away != elsewhere->away)
            elsewhere->in = elsewhere->out = 0;
        elsewhere->newest_seq = seq;
        elsewhere->away = away;
    }
    elsewhere->in += port == elsewhere->away ? size : 0;
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

/// What the server knows of another address of a client; NULL: nothing.
static const struct hc_sv_path *path_of(struct storm_match *match, const struct storm_conn *conn) {
    const struct hc_sv_peer *peer = hc_sv_host_peer(hc_sim_host(match->sim), conn->cid);
    return peer != NULL ? &peer->path : NULL;
}

void storm_elsewhere_ticked(struct storm_match *match) {
    uint64_t now_us = hc_sim_now(match->sim);
    for (unsigned i = 0; i < match->conns.count; i++) {
        struct storm_conn *conn = &match->conns.conns[i];
        struct storm_elsewhere *elsewhere = &conn->elsewhere;
        const struct hc_sv_path *path = path_of(match, conn);
        bool due = conn->there && path != NULL && path->any && !path->held && !path->open &&
                   elsewhere->away != 0 && elsewhere->out + QUESTION <= TIMES * elsewhere->in &&
                   now_us - elsewhere->asked_us >= pause_us(elsewhere, now_us);
        if (due && elsewhere->due)
            wrong(match, conn->seat, "is not asked whether it is where its newest came from");
        elsewhere->due = due;
    }
}

static void check_question(struct storm_match *match, struct storm_conn *conn, uint32_t seq) {
    struct storm_elsewhere *elsewhere = &conn->elsewhere;
    const struct hc_sv_peer *peer = hc_sv_host_peer(hc_sim_host(match->sim), conn->cid);
    uint64_t now_us = hc_sim_now(match->sim);
    if (peer == NULL || hc_sent_misses(&peer->sent, seq))
        wrong(match, conn->seat, "would be taken to lose what is asked somewhere else");
    if (now_us - elsewhere->asked_us < pause_us(elsewhere, now_us))
        wrong(match, conn->seat, "is asked too often whether it is somewhere else");
    elsewhere->asked++;
    elsewhere->asked_us = now_us;
    elsewhere->due = false;
}

/// An ACCEPT goes where the server takes its client to be, until that is heard.
static void follow_accept(struct storm_match *match, const uint8_t *bytes, size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    struct storm_conn *conn = storm_conns_named(&match->conns, accept.cid);
    if (conn != NULL && conn->elsewhere.home != 0 && !conn->heard)
        conn->elsewhere.home = hc_sim_port(match->sim);
}

bool storm_elsewhere_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size) {
    uint32_t seq;
    struct storm_conn *conn = conn_of(match, bytes, size, &seq);
    uint16_t port = hc_sim_port(match->sim);
    follow_accept(match, bytes, size);
    if (conn == NULL || conn->elsewhere.home == 0)
        return false;
    struct storm_elsewhere *elsewhere = &conn->elsewhere;
    bool snapshot = storm_counts_type(bytes, size) == HC_MESSAGE_SNAPSHOT;
    bool question = storm_counts_type(bytes, size) == HC_MESSAGE_PATH_CHALLENGE;
    uint64_t digest = snapshot ? XXH3_64bits(hc_sim_sealed(match->sim), size) : 0;
    if (port == elsewhere->home) {
        if (snapshot)
            elsewhere->newest = digest;
        if (question)
            wrong(match, client, "is asked whether it is where it has shown to be");
        return false;
    }
    if (snapshot ? digest != elsewhere->newest : !question)
        wrong(match, client, "is sent at an address that it has not shown what is for another");
    const struct hc_sv_path *path = path_of(match, conn);
    if (path != NULL && path->open && path->address.port == port) {
        elsewhere->away = port; // nothing of what goes home arrives, and duplicates count as well
        elsewhere->in = path->bytes_in;
        elsewhere->out = path->bytes_out - size; // of which the server has counted this one
    }
    if (port != elsewhere->away)
        wrong(match, client, "is sent something where its newest datagram did not come from");
    if (question)
        check_question(match, conn, seq);
    else if (elsewhere->asked > PATIENCE)
        wrong(match, client, "is sent copies where nobody answers");
    elsewhere->out += size;
    if (elsewhere->out > TIMES * elsewhere->in)
        storm_fail(match->verdict, STORM_WRONG, "elsewhere", 0,
                   "%lu bytes are sent to port %u, which client %u has not shown, for %lu",
                   (unsigned long)elsewhere->out, port, conn->seat, (unsigned long)elsewhere->in);
    return snapshot;
}
