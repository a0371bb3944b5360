/// Creates and changes the links that all clients share.
#include "tests/sim/shared_links.h"

#include "hindcast/check.h"
#include "hindcast/rng.h"

bool hc_sim_shared_create(struct hc_sim_shared *shared, const struct hc_network_sim_config *up,
                          const struct hc_network_sim_config *down, uint64_t seed,
                          uint32_t packets_max) {
    const struct hc_network_sim_config *configs[SHARED_LINKS] = {up, down};
    bool created = true;
    for (unsigned way = 0; way < SHARED_LINKS; way++) {
        shared->links[way] =
            hc_network_sim_create(configs[way], hc_random(seed, way, 0, 0), packets_max, NULL);
        created &= shared->links[way] != NULL;
    }
    return created;
}

void hc_sim_shared_destroy(struct hc_sim_shared *shared) {
    for (unsigned way = 0; way < SHARED_LINKS; way++)
        hc_network_sim_destroy(shared->links[way]);
}

void hc_sim_shared_set(struct hc_sim_shared *shared, const struct hc_network_sim_config *up,
                       const struct hc_network_sim_config *down, uint64_t now_us) {
    const struct hc_network_sim_config *configs[SHARED_LINKS] = {up, down};
    for (unsigned way = 0; way < SHARED_LINKS; way++) {
        enum hc_status set = hc_network_sim_set_config(shared->links[way], now_us, configs[way]);
        HC_ASSERT(set == HC_OK);
    }
}
