/// Checks that a narrow link is not flooded: no end sends more than twice what the link can carry
/// for longer than it may take to notice.
#include "tests/storm/checkers/checker.h"

enum {
    BIN_US = 50000,
    BINS = 20,        ///< of the time over which bytes are counted: a second
    OVER_BINS = 20,   ///< in a row in which more may be sent, until an end has noticed the queue
    HIDDEN_BINS = 60, ///< of a way on which a queue is harder to see
    /// Bytes that may go in a second however narrow the link is: a DATA in 100 ms, at least.
    LEAST = 3000,
    UP = 0,
    DOWN,
    WAYS,
};

#define UNLIMITED (UINT64_MAX / 64) ///< bytes that a link without a limit carries in a bin

/// The bytes of one direction of a link.
struct way {
    uint64_t sent[BINS], offered[BINS]; ///< rings by bin
    uint32_t over;                      ///< bins in a row in which twice the offer was exceeded
};

struct offered {
    uint64_t bin; ///< the newest
    struct way ways[STORM_CLIENTS_MAX][WAYS];
};

/// The bytes of all bins; many if one of them is UNLIMITED.
static uint64_t sum_of(const uint64_t bins[static BINS]) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < BINS; i++)
        sum += bins[i];
    return sum;
}

/// The bins in a row in which more may be sent than twice the offer. A queue does not reorder, so
/// it is harder to see where jitter or copies do; where datagrams are lost, few round trips show
/// it.
static uint32_t over_most(const struct storm_match *match, unsigned client) {
    const int64_t *of = match->plan->client[client];
    bool hides = of[STORM_C_up_reorder] != 0 || of[STORM_C_down_reorder] != 0 ||
                 of[STORM_C_up_jitter_ms] != 0 || of[STORM_C_down_jitter_ms] != 0 ||
                 of[STORM_C_up_duplicate] != 0 || of[STORM_C_down_duplicate] != 0 ||
                 of[STORM_C_up_loss] != 0 || of[STORM_C_down_loss] != 0;
    return hides ? HIDDEN_BINS : OVER_BINS;
}

/// Ends the newest bin of a way.
static void end_bin(struct storm_match *match, struct way *way, uint64_t bin, unsigned client,
                    bool up) {
    struct hc_network_sim_config link = storm_links_of(match, client, up);
    uint64_t rate = link.bytes_per_s;
    way->offered[bin % BINS] = rate == 0 ? UNLIMITED : rate * BIN_US / 1000000;
    uint64_t sent = sum_of(way->sent), offered = sum_of(way->offered);
    if (sent <= 2 * offered || sent <= LEAST)
        way->over = 0;
    else
        way->over++;
    if (way->over > over_most(match, client))
        storm_fail(match->verdict, STORM_WRONG, "offered", storm_match_head(match),
                   "client %u: %lu bytes were sent %s in a second, the link carries %lu", client,
                   (unsigned long)sent, up ? "up" : "down", (unsigned long)offered);
    way->sent[(bin + 1) % BINS] = 0;
}

static void host_ticked(struct storm_match *match, void *state) {
    struct offered *all = state;
    uint64_t bin = hc_sim_now(match->sim) / BIN_US;
    for (; all->bin < bin; all->bin++)
        for (unsigned i = 0; i < match->clients; i++)
            for (unsigned w = 0; w < WAYS; w++)
                end_bin(match, &all->ways[i][w], all->bin, i, w == UP);
}

static void count(struct storm_match *match, struct offered *all, unsigned client, unsigned way,
                  const struct storm_datagram *datagram) {
    // After a move nothing is known of the way, and handshakes are not bound.
    bool moves = storm_client_get(match, client, STORM_C_rebind_ticks) != 0;
    host_ticked(match, all);
    if (!moves && datagram->kind == HC_DATAGRAM_DATA)
        all->ways[client][way].sent[all->bin % BINS] += datagram->size;
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    (void)copy;
    count(match, state, client, DOWN, datagram);
}

static void client_sent(struct storm_match *match, void *state, unsigned client,
                        const struct storm_datagram *datagram) {
    count(match, state, client, UP, datagram);
}

const struct storm_checker storm_check_offered = {.name = "offered",
                                                  .state_size = sizeof(struct offered),
                                                  .host_ticked = host_ticked,
                                                  .host_sent = host_sent,
                                                  .client_sent = client_sent};
