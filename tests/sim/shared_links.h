/// The links that all clients of a simulation share, one in each direction.
#pragma once

#include "hindcast/network_sim.h"

enum { SHARED_UP, SHARED_DOWN, SHARED_LINKS };

/// All zeros: the clients share none.
struct hc_sim_shared {
    struct hc_network_sim *links[SHARED_LINKS];
};

/// Creates the links with these conditions; false: an invalid one, or no memory.
bool hc_sim_shared_create(struct hc_sim_shared *shared, const struct hc_network_sim_config *up,
                          const struct hc_network_sim_config *down, uint64_t seed,
                          uint32_t packets_max);

/// Frees them, if there are any.
void hc_sim_shared_destroy(struct hc_sim_shared *shared);

/// Sets the conditions.
void hc_sim_shared_set(struct hc_sim_shared *shared, const struct hc_network_sim_config *up,
                       const struct hc_network_sim_config *down, uint64_t now_us);
