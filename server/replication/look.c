/// The tick shown, and the units in view there with their values and inputs, as slots of a client.
#include "server/replication/look.h"

#include "common/mark.h"
#include "hindcast/check.h"
#include "server/replication/listing.h"

enum { INTEREST_TICKS = 8 }; ///< between two full looks at a client's interest

hc_tick hc_sv_look_tick(const struct hc_sv_replicator *replicator,
                        const struct hc_sv_client *client) {
    const struct hc_timeline *timeline = replicator->config.timeline;
    hc_tick tick = hc_timeline_head(timeline);
    for (unsigned i = 0; !replicator->config.show_head && i < client->own_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, client->own[i]) + 1);
    return tick;
}

/// Renews the client's interest: a full look now and then, else only the seen units are checked.
static void renew_interest(struct hc_sv_replicator *replicator, struct hc_sv_client *client) {
    const struct hc_timeline *timeline = replicator->config.timeline;
    hc_tick head = client->viewed_at;
    if (client->interest_at == HC_NO_TICK || head - client->interest_at >= INTEREST_TICKS) {
        hc_sv_interest_update(&client->interest, &replicator->index, timeline, client->shown,
                              client->own, client->own_count);
        client->interest_at = head;
    } else {
        hc_sv_interest_narrow(&client->interest, timeline, client->shown, client->own,
                              client->own_count);
    }
}

/// Ticks from the one shown on that have known inputs of the unit's player, unless it is own.
static uint16_t known_inputs(const struct hc_sv_replicator *replicator,
                             const struct hc_sv_client *client, const struct hc_sv_slot *slot) {
    hc_player player = hc_unit_player(client->world, slot->unit);
    if (player == HC_NO_PLAYER || slot->shown.own)
        return 0;
    hc_tick newest = replicator->roster.players[player].newest_input;
    return (uint16_t)(hc_tick_max(newest + 1, client->shown) - client->shown);
}

/// Stores the values of the seen units at the tick shown. Returns the end of all known inputs.
static hc_tick value_units(struct hc_sv_replicator *replicator, struct hc_sv_client *client) {
    const struct hc_sv_view *view = &client->interest.view;
    struct hc_sv_values_row row =
        hc_sv_values_row(&replicator->values, replicator->config.timeline, client->shown);
    hc_tick end = client->shown;
    client->referee_id = hc_sv_values_put(&row, HC_REFEREE);
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (; slot != NULL; slot = hc_sv_view_slot(view, slot->next)) {
        if (!hc_sv_slot_sees(slot))
            continue;
        slot->shown.value_id = hc_sv_values_put(&row, slot->unit);
        slot->shown.own = hc_sv_client_owns_unit(client, slot->unit);
        slot->shown.inputs = known_inputs(replicator, client, slot);
        end = hc_tick_max(end, client->shown + slot->shown.inputs);
    }
    return end;
}

void hc_sv_look_walk(const struct hc_sv_client *client, const struct hc_timeline *timeline,
                     hc_tick first, hc_tick end, hc_sv_look_hide *hide, void *context) {
    for (hc_tick tick = first; tick < end; tick++) {
        struct hc_sv_interest_sight sight;
        hc_sv_interest_sight_at(&client->interest, timeline, tick, client->own, client->own_count,
                                &sight);
        if (sight.everything)
            return;
        hide(context, &sight, tick);
    }
}

/// Ends the inputs of the players that are out of view at `tick`, after the one shown, before it.
static void end_inputs(void *context, const struct hc_sv_interest_sight *sight, hc_tick tick) {
    const struct hc_sv_client *client = context;
    const struct hc_sv_view *view = &client->interest.view;
    uint16_t before = (uint16_t)(tick - client->shown);
    struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    for (; slot != NULL; slot = hc_sv_view_slot(view, slot->next))
        if (hc_sv_slot_sees(slot) && slot->shown.inputs > before &&
            !hc_sv_interest_in_view(sight, slot->unit)) {
            HC_MARK("inputs-out-of-view");
            slot->shown.inputs = before;
        }
}

void hc_sv_look(struct hc_sv_replicator *replicator, struct hc_sv_client *client) {
    const struct hc_timeline *timeline = replicator->config.timeline;
    hc_tick head = hc_timeline_head(timeline);
    HC_ASSERT(client->viewed_at != head);
    client->viewed_at = head;
    client->shown = hc_sv_look_tick(replicator, client);
    renew_interest(replicator, client);
    hc_tick end = value_units(replicator, client); // of inputs; not all of it is simulated
    hc_sv_look_walk(client, timeline, client->shown + 1, hc_tick_min(end, head + 1), end_inputs,
                    client);
    hc_sv_listing_look(replicator, client);
}
