/// The life of a client's replication: layout, connections, acks, losses and reports.
#include "server/replication/client.h"

#include "common/alloc.h"
#include "common/prefetch.h"
#include "server/replication/extrapolation_budget.h"
#include "server/replication/replicator.h"

size_t hc_sv_client_layout(struct hc_sv_client *client, struct hc_sv_replicator *replicator,
                           uint8_t *base) {
    size_t used = 0;
    client->replicator = replicator;
    client->world = replicator->config.world;
    client->lists = hc_carve(base, &used, sizeof *client->lists);
    used += hc_sv_sent_log_layout(&client->sent_log, base == NULL ? NULL : base + used);
    return used;
}

void hc_sv_client_open(struct hc_sv_client *client) {
    client->own_count = 0;
    client->extrapolation_saved = hc_sv_client_extrapolation_most(client);
    hc_sv_view_open(&client->interest.view, &client->replicator->slots);
}

void hc_sv_client_connect(struct hc_sv_client *client, uint32_t cid, uint8_t extrapolations,
                          uint32_t rate, uint64_t now_us) {
    hc_sv_client_close(client);
    client->cid = cid;
    client->round_trip = UINT32_MAX;
    client->extrapolations = extrapolations;
    client->reported = client->moves = false;
    client->client_tick = 0;
    client->display_offset = 0;
    client->compared_at = 0;
    client->viewed_at = client->interest_at = HC_NO_TICK;
    client->newest_head = client->pinned = HC_NO_TICK;
    hc_sv_bandwidth_begin(&client->bandwidth, rate, now_us);
    hc_sv_sent_log_clear(&client->sent_log);
    hc_sv_lists_clear(client->lists);
    hc_sv_listing_clear(&client->listing);
    hc_sv_early_clear(&client->early);
    hc_sv_interest_open(&client->interest, client->world, &client->replicator->slots);
}

void hc_sv_client_close(struct hc_sv_client *client) {
    hc_sv_view_close(&client->interest.view);
}

void hc_sv_client_prefetch(const struct hc_sv_client *client) {
    hc_prefetch(client, offsetof(struct hc_sv_client, sent_log));
    hc_sv_sent_log_prefetch(&client->sent_log);
    hc_sv_interest_prefetch(&client->interest);
    hc_prefetch(&client->listing, sizeof *client - offsetof(struct hc_sv_client, listing));
}

void hc_sv_client_prefetch_pointed(const struct hc_sv_client *client) {
    struct hc_sv_replicator *replicator = client->replicator;
    const struct hc_timeline *timeline = replicator->config.timeline;
    const struct hc_sv_view *view = &client->interest.view;
    hc_sv_lists_prefetch(client->lists);
    if (client->viewed_at == HC_NO_TICK || client->shown >= hc_timeline_head(timeline))
        return;
    hc_tick tick = hc_tick_max(client->shown + 1, hc_timeline_oldest(timeline)); // if inputs come
    struct hc_sv_values_row row = hc_sv_values_row(&replicator->values, timeline, tick);
    unsigned next = (client->sent_log.newest + 1) % HC_SV_PLACES;
    unsigned acked = hc_sv_sent_log_acked_place(&client->sent_log);
    for (uint32_t i = 0; i < view->ahead_count; i++)
        hc_sv_values_prefetch_unit(&row, hc_sv_view_prefetch(view, i, acked, next));
}

void hc_sv_client_acked(struct hc_sv_client *client, uint32_t seq) {
    if (hc_sv_sent_log_acked(&client->sent_log, seq))
        hc_sv_lists_acked(client->lists, &client->sent_log);
}

void hc_sv_client_lost(struct hc_sv_client *client, uint32_t seq) {
    hc_sv_sent_log_lost(&client->sent_log, seq);
}

const struct hc_unit_value *hc_sv_client_compare(const struct hc_sv_client *client,
                                                 const struct hc_compare *compare, hc_unit *unit) {
    const struct hc_sv_view *view = &client->interest.view;
    unsigned place = hc_sv_sent_log_place(&client->sent_log, compare->as_of);
    const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (uint32_t i = 0; place < HC_SV_PLACES && slot != NULL && i < compare->count;
         slot = hc_sv_view_slot(view, slot->next)) {
        if ((slot->items.values >> place & 1) == 0)
            continue;
        const struct hc_sv_value *value =
            hc_sv_values_get(&client->replicator->values, slot->items.value_ids[place]);
        *unit = slot->unit;
        if (value != NULL && !hc_compare_is_hash(compare->hashes, i, value->hash))
            return &value->unit;
        i++;
    }
    return NULL;
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
