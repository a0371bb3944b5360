/// Owns the links of a fleet's clients, and the sums of counts: of clients, and of fleets.
#include "client/bots/fleet.h"

#include "common/elapsed.h"
#include "common/programs/counters.h"

#include <string.h>

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

void hc_cl_fleet_add_udp(struct hc_cl_udp_stats *sum, const struct hc_cl_udp_stats *one) {
    sum->datagrams_in += one->datagrams_in;
    sum->bytes_in += one->bytes_in;
    sum->datagrams_out += one->datagrams_out;
    sum->bytes_out += one->bytes_out;
    sum->send_errors += one->send_errors;
    sum->sim_lost += one->sim_lost;
    sum->sim_dropped_full += one->sim_dropped_full;
}

void hc_cl_fleet_merge(struct hc_cl_fleet_result *result, const struct hc_cl_fleet_result *other) {
    const struct {
        uint32_t *to, from;
    } ends[] = {
        {&result->ends.accepted, other->ends.accepted},
        {&result->ends.left, other->ends.left},
        {&result->ends.cut_off, other->ends.cut_off},
        {&result->ends.denied, other->ends.denied},
        {&result->ends.closed, other->ends.closed},
        {&result->ends.desynced, other->ends.desynced},
        {&result->ends.timeout, other->ends.timeout},
        {&result->ends.failed, other->ends.failed},
        {&result->jitters, other->jitters},
        {&result->self.processes, other->self.processes},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        *ends[i].to += ends[i].from;
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
    result->snapshots.due += other->snapshots.due;
    result->snapshots.received += other->snapshots.received;
    result->snapshots.lost += other->snapshots.lost;
    result->snapshots.sessions += other->snapshots.sessions;
    result->snapshots.incomplete += other->snapshots.incomplete;
    result->snapshots.starved += other->snapshots.starved;
    result->looks += other->looks;
    result->others_seen += other->others_seen;
    hc_histogram_merge(&result->join_us, &other->join_us);
    hc_histogram_merge(&result->snapshot_age_us, &other->snapshot_age_us);
    hc_histogram_merge(&result->input_delay, &other->input_delay);
    result->jitter_us += other->jitter_us;
    hc_cl_fleet_add_udp(&result->udp, &other->udp);
    result->self.cpu_us += other->self.cpu_us;
    result->self.due += other->self.due;
    result->self.sent += other->self.sent;
    result->self.dropped += other->self.dropped;
    result->self.send_errors += other->self.send_errors;
    hc_histogram_merge(&result->self.lateness_us, &other->self.lateness_us);
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
}
