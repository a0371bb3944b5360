/// Owns the links of a fleet's clients, and the sums of counts: of clients, and of fleets.
#include "client/bots/fleet.h"

#include "common/elapsed.h"
#include "common/programs/counters.h"

#include <string.h>

#define OF_ENDS(name, kind, unit, key, ...)                                                        \
    HC_COUNTER_ROW(struct hc_cl_fleet_result, ends.name, kind, unit, key, __VA_ARGS__)
#define OF_DUE(name, kind, unit, key, ...)                                                         \
    HC_COUNTER_ROW(struct hc_cl_fleet_result, snapshots.name, kind, unit, key, __VA_ARGS__)
#define OF_SELF(name, kind, unit, key, ...)                                                        \
    HC_COUNTER_ROW(struct hc_cl_fleet_result, self.name, kind, unit, key, __VA_ARGS__)
#define OF_RUN(name, kind, unit, key, ...)                                                         \
    HC_COUNTER_ROW(struct hc_cl_fleet_result, name, kind, unit, key, __VA_ARGS__)
#define OF_UDP(name, kind, unit, key, ...)                                                         \
    HC_COUNTER_ROW(struct hc_cl_udp_stats, name, kind, unit, key, __VA_ARGS__)

static const struct hc_counter of_result[] = {HC_CL_ENDS_COUNTERS(OF_ENDS) HC_CL_DUE_COUNTERS(
    OF_DUE) HC_CL_SELF_COUNTERS(OF_SELF) HC_CL_RUN_COUNTERS(OF_RUN)};
static const struct hc_counter of_udp[] = {HC_CL_UDP_COUNTERS(OF_UDP)};
const struct hc_counters hc_cl_fleet_counters = HC_COUNTERS_OF(of_result);
const struct hc_counters hc_cl_fleet_udp_counters = HC_COUNTERS_OF(of_udp);

enum { LATE_MAX = 1000 }; ///< due datagrams of one client whose lateness is recorded at once

struct hc_network_sim_config hc_cl_fleet_link(const struct hc_cl_fleet_config *config,
                                              uint32_t number) {
    struct hc_network_sim_config link = config->link;
    uint32_t last = config->clients + config->lights - 1;
    if (config->latency_to_us > link.latency_us && last > 0)
        link.latency_us +=
            (uint32_t)((uint64_t)hc_since(link.latency_us, config->latency_to_us) * number / last);
    return link;
}

void hc_cl_fleet_add_lateness(struct hc_cl_fleet_self *self, uint64_t late_us, uint32_t tick_rate) {
    uint64_t interval_us = 1000000 / tick_rate, missed = late_us / interval_us;
    self->due += 1 + missed;
    self->sent++;
    for (uint64_t i = 0; i <= missed && i < LATE_MAX; i++)
        hc_histogram_record(&self->lateness_us, hc_since(i * interval_us, late_us));
}

void hc_cl_fleet_add_stats(struct hc_client_stats *sum, const struct hc_client_stats *one) {
    hc_counters_add(&hc_counters_link, sum, one);
    hc_counters_add(&hc_counters_world, sum, one);
    hc_counters_add(&hc_counters_path, sum, one);
}

void hc_cl_fleet_merge(struct hc_cl_fleet_result *result, const struct hc_cl_fleet_result *other) {
    hc_counters_add(&hc_cl_fleet_counters, result, other);
    hc_counters_add(&hc_cl_fleet_udp_counters, &result->udp, &other->udp);
    if (result->desync[0] == '\0')
        memcpy(result->desync, other->desync, sizeof(result->desync));
    for (unsigned i = 0; i < HC_DENY_REASONS_END; i++)
        result->ends.denied_by_reason[i] += other->ends.denied_by_reason[i];
    if (other->duration_us > result->duration_us)
        result->duration_us = other->duration_us;
    result->client_us += other->client_us;
    if (other->tick_rate != 0)
        result->tick_rate = other->tick_rate;
    result->first = hc_tick_min(result->first, other->first);
    result->last = hc_tick_max(result->last, other->last);
    hc_cl_fleet_add_stats(&result->full, &other->full);
    hc_cl_fleet_add_stats(&result->light, &other->light);
}

void hc_cl_fleet_sum(struct hc_cl_fleet_result *result) {
    result->all = result->full;
    hc_cl_fleet_add_stats(&result->all, &result->light);
}

void hc_cl_fleet_merge_progress(struct hc_cl_fleet_progress *progress,
                                const struct hc_cl_fleet_progress *other) {
    if (other->elapsed_us > progress->elapsed_us)
        progress->elapsed_us = other->elapsed_us;
    progress->playing += other->playing;
    progress->stalled += other->stalled;
    progress->connecting += other->connecting;
    progress->rtt_us += other->rtt_us;
    progress->rollbacks += other->rollbacks;
    progress->bytes_in += other->bytes_in;
    progress->bytes_out += other->bytes_out;
    progress->lost += other->lost;
    progress->snapshots += other->snapshots;
    progress->cpu_us += other->cpu_us;
    if (other->late_us > progress->late_us)
        progress->late_us = other->late_us;
    progress->stalls += other->stalls;
    progress->inputs_forced += other->inputs_forced;
}
