/// Owns the conditions of the links, and the troubles that they are in.
#include "tests/storm/match_internal.h"

enum {
    WAYS_UP = 1,        ///< bit of a key that names ways
    WAYS_DOWN = 2,      ///< the other bit
    SHARED_DIP_PART = 8 ///< of its rate is left to a shared link in its dip
};

/// Whether a key that names ways names this one.
static bool has_way(int64_t ways, bool up) {
    return (ways & (up ? WAYS_UP : WAYS_DOWN)) != 0;
}

/// Changes a link as its troubles do.
static void trouble(const struct storm_match *match, unsigned client, bool up,
                    struct hc_network_sim_config *link) {
    const int64_t *of = match->plan->client[client];
    const bool *troubles = match->seats[client].troubles;
    if (troubles[STORM_WORSE]) {
        uint32_t loss = (uint32_t)of[STORM_C_worse_loss] * 1000;
        link->latency_us += (uint32_t)of[STORM_C_worse_latency_ms] * 1000;
        link->loss_ppm = link->loss_ppm > loss ? link->loss_ppm : loss;
    }
    if (troubles[STORM_ROUTE] && has_way(of[STORM_C_route_ways], up)) {
        int64_t latency_us = (int64_t)link->latency_us + of[STORM_C_route_ms] * 1000;
        link->latency_us = latency_us > 0 ? (uint32_t)latency_us : 0;
    }
    if (troubles[STORM_DIP] && has_way(of[STORM_C_dip_ways], up)) {
        link->bytes_per_s = (uint32_t)of[STORM_C_dip_rate];
        link->queue_bytes = (uint32_t)of[STORM_C_dip_queue];
    }
    if (troubles[STORM_SPLIT] || troubles[STORM_SCAN] ||
        (troubles[STORM_DARK] && has_way(of[STORM_C_dark_ways], up)))
        link->loss_ppm = HC_NETWORK_SIM_PPM;
}

struct hc_network_sim_config storm_links_of(const struct storm_match *match, unsigned client,
                                            bool up) {
    const int64_t *of = match->plan->client[client];
    int first = up ? STORM_C_up_latency_ms : STORM_C_down_latency_ms;
    _Static_assert(STORM_C_up_queue_ms - STORM_C_up_latency_ms == 7 &&
                       STORM_C_down_queue_ms - STORM_C_down_latency_ms == 7,
                   "both ways have the same keys in the same order");
    struct hc_network_sim_config link = {.latency_us = (uint32_t)of[first] * 1000};
    if (match->healed)
        return link;
    link.jitter_us = (uint32_t)of[first + 1] * 1000;
    link.loss_ppm = (uint32_t)of[first + 2] * 1000;
    link.burst_mean = (uint32_t)of[first + 3];
    link.duplicate_ppm = (uint32_t)of[first + 4] * 1000;
    link.reorder_ppm = (uint32_t)of[first + 5] * 1000;
    link.bytes_per_s = (uint32_t)of[first + 6];
    link.queue_bytes = (uint32_t)(of[first + 6] * of[first + 7] / 1000);
    trouble(match, client, up, &link);
    return link;
}

struct hc_network_sim_config storm_links_shared(const struct storm_match *match, bool up) {
    struct hc_network_sim_config link = {.latency_us = 0};
    int64_t rate = storm_match_get(match, STORM_shared_rate);
    if (match->healed || !has_way(storm_match_get(match, STORM_shared), up))
        return link;
    link.bytes_per_s = (uint32_t)(match->shared_dip ? rate / SHARED_DIP_PART : rate);
    link.queue_bytes = (uint32_t)(rate * storm_match_get(match, STORM_shared_queue_ms) / 1000);
    return link;
}

void storm_links_set(struct storm_match *match, unsigned client) {
    struct hc_network_sim_config up = storm_links_of(match, client, true),
                                 down = storm_links_of(match, client, false);
    hc_sim_set_link(match->sim, client, &up, &down);
}

void storm_links_set_all(struct storm_match *match) {
    struct hc_network_sim_config up = storm_links_shared(match, true),
                                 down = storm_links_shared(match, false);
    for (unsigned i = 0; i < match->clients; i++)
        storm_links_set(match, i);
    if (storm_match_get(match, STORM_shared) != 0)
        hc_sim_set_shared(match->sim, &up, &down);
}

void storm_links_trouble(struct storm_match *match, unsigned client, enum storm_trouble trouble,
                         bool on) {
    static const char *const names[STORM_TROUBLES] = {
        "blackout",    "worse link", "narrow link",         "scan",
        "another way", "partition",  "narrower shared link"};
    STORM_NOTE(match, "client %u: %s %d", client, names[trouble], on);
    if (trouble == STORM_SHARED_DIP) {
        match->shared_dip = on;
        storm_links_set_all(match);
    } else if (trouble == STORM_SPLIT) {
        for (unsigned i = 0; i < match->clients; i++)
            match->seats[i].troubles[trouble] =
                on && (storm_match_get(match, STORM_split_mask) >> i & 1) != 0;
        storm_links_set_all(match);
    } else {
        match->seats[client].troubles[trouble] = on;
        storm_links_set(match, client);
    }
}
