/// The simulated link of a pane, and the steps by which keys change it while playing.
#pragma once

#include "hindcast/network_sim.h"

/// A condition of the link that has steps. Latency, jitter and loss are those of both directions.
enum hc_cl_condition {
    HC_CL_CONDITION_LATENCY,
    HC_CL_CONDITION_JITTER,
    HC_CL_CONDITION_LOSS,
    HC_CL_CONDITION_BANDWIDTH_UP,
    HC_CL_CONDITION_BANDWIDTH_DOWN,
    HC_CL_CONDITIONS
};

struct hc_cl_simulated_link {
    const char *preset;                    ///< The name of the preset; NULL: the link is none.
    struct hc_network_sim_config up, down; ///< The conditions to the server, and from it.
    uint32_t queue_us;                     ///< The queue of a limited bandwidth.
    enum hc_cl_condition chosen; ///< The condition that hc_cl_simulated_link_step changes.
};

/// A link that is `both` in each direction, which is the preset of that name unless it is NULL. A
/// bandwidth that is limited later gets a queue of `queue_us`.
struct hc_cl_simulated_link hc_cl_simulated_link_begin(const char *preset,
                                                       const struct hc_network_sim_config *both,
                                                       uint32_t queue_us);

/// Takes the next preset: none, good, ok, bad, awful; after other conditions none. The bandwidth is
/// no longer limited.
void hc_cl_simulated_link_next_preset(struct hc_cl_simulated_link *link);

/// Raises or lowers the chosen condition by a step. The jitter is never above the latency. False:
/// there is no further step.
bool hc_cl_simulated_link_step(struct hc_cl_simulated_link *link, bool more);

/// Copies the chosen condition of `from`, and the choice.
void hc_cl_simulated_link_copy(struct hc_cl_simulated_link *link,
                               const struct hc_cl_simulated_link *from);

/// Conditions under which at least as many datagrams are in flight as under those of the link now
/// and after any steps, to make a simulation with room for them.
struct hc_network_sim_config hc_cl_simulated_link_most(const struct hc_cl_simulated_link *link);

/// Writes the conditions to `text`, such as "bad link: 80 ms +- 20, 5 % loss".
void hc_cl_simulated_link_describe(const struct hc_cl_simulated_link *link, char *text,
                                   size_t size);

/// Writes the chosen condition to `text`, such as "latency 80 ms".
void hc_cl_simulated_link_describe_chosen(const struct hc_cl_simulated_link *link, char *text,
                                          size_t size);
