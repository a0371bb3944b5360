/// Checks that a client is never sent more than its rate allows, but for its own players, whose
/// bytes are a debt then; and no messages into a debt.
#include "tests/storm/checkers/checker.h"

enum {
    MICRO = 1000000,
    BURST_MS = 100,  ///< of the rate may be saved up
    UNDER = 28,      ///< bytes of IPv4 and UDP
    HEADERS = 61,    ///< bytes around a body: IPv4, UDP, DATA
    OWN_BYTES = 200, ///< the most of an own player, which every snapshot has
    LONG_US = 10000000,
};

/// The bytes that a connection may be sent, in millionths.
struct bucket {
    bool begun;
    uint64_t at_us;
    int64_t room;
};

struct rate {
    struct bucket buckets[STORM_CONNS_MAX];
};

static void fill(struct bucket *bucket, int64_t rate, uint64_t now_us) {
    int64_t full = rate * BURST_MS * 1000;
    uint64_t passed_us = now_us - bucket->at_us;
    int64_t more = (int64_t)(passed_us < LONG_US ? passed_us : LONG_US) * rate;
    if (!bucket->begun || bucket->room + more > full)
        bucket->room = full;
    else
        bucket->room += more;
    bucket->begun = true;
    bucket->at_us = now_us;
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    const struct storm_conn *conn = datagram->conn;
    bool shows = datagram->type == HC_MESSAGE_SNAPSHOT;
    // Challenges are paid by the datagrams of their address.
    if (conn == NULL || copy || (!shows && !conn->connected) ||
        datagram->type == HC_MESSAGE_PATH_CHALLENGE)
        return;
    struct bucket *bucket = &((struct rate *)state)->buckets[conn - match->conns.conns];
    fill(bucket, storm_match_get(match, STORM_client_rate), hc_sim_host_now(match->sim));
    if (!shows && bucket->room <= HEADERS * MICRO)
        storm_wrong(match, "rate", conn->snapshot_head, client,
                    "is sent messages although its rate is used up");
    int64_t debt = (int64_t)conn->player_count * OWN_BYTES * MICRO;
    bucket->room -= ((int64_t)datagram->size + UNDER) * MICRO;
    if (shows && bucket->room < -debt)
        storm_wrong(match, "rate", conn->snapshot_head, client,
                    "is sent more than its rate allows");
}

const struct storm_checker storm_check_rate = {
    .name = "rate", .state_size = sizeof(struct rate), .host_sent = host_sent};
