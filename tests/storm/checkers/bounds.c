/// Checks that work, memory and datagrams stay within their bounds.
#include "tests/storm/checkers/checker.h"

enum { RESERVE = 16 }; ///< ticks that a client's ring holds in reserve

struct bounds {
    hc_tick head;   ///< the server's head at the last look
    uint64_t again; ///< ticks that the server had simulated again at the last look
};

/// A rewind goes back by the history at most, for each new tick; and as far as the configuration
/// demands.
static void host_ticked(struct storm_match *match, void *state) {
    struct bounds *bounds = state;
    const struct hc_timeline *timeline = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(timeline);
    uint64_t again = hc_timeline_stats(timeline)->resimulated_ticks - bounds->again;
    uint64_t history = (uint64_t)storm_match_get(match, STORM_history);
    uint64_t forced = (uint64_t)storm_match_get(match, STORM_force_rewind);
    forced = forced < history ? forced : history;
    forced = forced < head - 1 ? forced : head - 1; // the newest tick is new
    if (again > history * (head - bounds->head) || (head > bounds->head && again < forced))
        storm_fail(match->verdict, STORM_WRONG, "bounds", head,
                   "%lu ticks were simulated again in %u advances of the server, the history is "
                   "%lu, and %lu were demanded",
                   (unsigned long)again, head - bounds->head, (unsigned long)history,
                   (unsigned long)forced);
    bounds->head = head;
    bounds->again += again;
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    (void)state, (void)copy;
    if (datagram->size > HC_DATAGRAM_MAX || datagram->size == 0)
        storm_wrong(match, "bounds", 0, client, "is sent a datagram too large");
}

static void client_sent(struct storm_match *match, void *state, unsigned client,
                        const struct storm_datagram *datagram) {
    (void)state;
    if (datagram->size > HC_DATAGRAM_MAX)
        storm_wrong(match, "bounds", 0, client, "sends a datagram too large");
}

static void client_ends(struct storm_match *match, void *state, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    uint32_t ring = storm_client_limit(match, client) +
                    (uint32_t)storm_client_get(match, client, STORM_C_display) + RESERVE;
    (void)state;
    if (timeline != NULL && hc_timeline_stats(timeline)->depth_max > ring)
        storm_wrong(match, "bounds", (hc_tick)hc_timeline_stats(timeline)->depth_max, client,
                    "has rolled back farther than its ring");
    if (hc_client_stats(core)->memory_bytes != match->seats[client].bytes)
        storm_wrong(match, "memory", 0, client, "does not say how much memory it has");
}

static void end(struct storm_match *match, void *state) {
    size_t reported = hc_server_stats(hc_sim_host(match->sim))->memory_bytes;
    (void)state;
    if (match->host_bytes > 0 && match->host_bytes != reported)
        storm_fail(match->verdict, STORM_WRONG, "memory", 0,
                   "the server has %zu bytes of memory and reports %zu", match->host_bytes,
                   reported);
}

static void release(struct storm_match *match, void *state) {
    size_t left = match->host_bytes;
    (void)state;
    for (unsigned i = 0; i < match->clients; i++)
        left += match->seats[i].bytes;
    if (left > 0)
        storm_fail(match->verdict, STORM_WRONG, "memory", 0, "%zu bytes are never freed", left);
}

const struct storm_checker storm_check_bounds = {.name = "bounds",
                                                 .state_size = sizeof(struct bounds),
                                                 .host_ticked = host_ticked,
                                                 .host_sent = host_sent,
                                                 .client_sent = client_sent,
                                                 .client_ends = client_ends,
                                                 .end = end,
                                                 .free = release};
