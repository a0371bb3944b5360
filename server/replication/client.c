/// The life of a client's replication: layout, connections, acks and reports.
#include "server/replication/client.h"

#include "common/alloc.h"
#include "server/replication/extrapolation_budget.h"

#include <string.h>

enum { ENTRIES_MIN = 4096 }; ///< of a sent log: more than one snapshot can carry

size_t hc_sv_client_layout(struct hc_sv_client *client, const struct hc_world *world,
                           uint8_t *base) {
    uint32_t entries = HC_SNAPSHOT_AGE_MAX * hc_snapshot_units_most(world);
    entries = entries > ENTRIES_MIN ? entries : ENTRIES_MIN;
    size_t used = 0;
    client->world = world;
    client->sent_log_entries = entries;
    client->sent_log = hc_carve(base, &used, hc_sv_sent_log_memory(world, entries));
    used += hc_sv_pinned_layout(&client->pinned, world, base == NULL ? NULL : base + used);
    used += hc_sv_interest_layout(&client->interest, world, base == NULL ? NULL : base + used);
    used += hc_sv_priority_layout(&client->priority, world, base == NULL ? NULL : base + used);
    return used;
}

void hc_sv_client_open(struct hc_sv_client *client) {
    client->own_count = 0;
    client->extrapolation_saved = hc_sv_client_extrapolation_most(client);
}

void hc_sv_client_connect(struct hc_sv_client *client, uint32_t cid, uint32_t rate,
                          uint64_t now_us) {
    struct hc_sv_client begun = {.world = client->world,
                                 .sent_log_entries = client->sent_log_entries,
                                 .sent_log = client->sent_log,
                                 .pinned = client->pinned,
                                 .interest = client->interest,
                                 .priority = client->priority,
                                 .own_count = client->own_count,
                                 .extrapolation_saved = client->extrapolation_saved,
                                 .cid = cid,
                                 .rtt_min_us = UINT64_MAX,
                                 .interest_at = HC_NO_TICK,
                                 .newest_head = HC_NO_TICK};
    memcpy(begun.own, client->own, sizeof begun.own);
    *client = begun;
    hc_sv_sent_log_init(client->world, client->sent_log_entries, client->sent_log);
    hc_sv_pinned_clear(&client->pinned);
    hc_sv_interest_clear(&client->interest);
    hc_sv_priority_clear(&client->priority);
    hc_sv_bandwidth_begin(&client->bandwidth, rate, now_us);
}

void hc_sv_client_acked(struct hc_sv_client *client, uint32_t seq) {
    if (!hc_sv_sent_log_acked(client->sent_log, seq))
        return; // other datagrams carry no forced inputs, joins or leaves
    if (seq > client->acked_snapshot)
        client->acked_snapshot = seq;
    hc_sv_forced_acked(&client->forced, seq);
}

void hc_sv_client_report(struct hc_sv_client *client, hc_tick client_tick,
                         uint32_t display_offset) {
    if (client->reported && client_tick < client->client_tick)
        return; // a newer report overtook it
    client->moves = client->reported && client_tick > client->client_tick;
    client->client_tick = client_tick;
    client->display_offset = display_offset;
    client->reported = true;
}

uint32_t hc_sv_client_extrapolation_most(const struct hc_sv_client *client) {
    return HC_SV_EXTRAPOLATION_SAVED_MAX * HC_SV_EXTRAPOLATION_PARTS * hc_unit_total(client->world);
}
