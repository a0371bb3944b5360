/// Owns the list of entities as a client was sent them.
#include "server/replication/sent.h"

#include "server/replication/replicator.h"

/// Adds the alive entities of a value to the list, which has `count`; returns how many it has then.
static uint32_t add(const struct hc_world *world, hc_unit unit, const struct hc_unit_value *value,
                    struct hc_server_sent *out, uint32_t count, uint32_t most) {
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++) {
        if (value->presence[i] != HC_ALIVE)
            continue;
        if (count < most)
            out[count] =
                (struct hc_server_sent){.entity = (hc_entity)(hc_unit_first(world, unit) + i),
                                        .tick = value->tick,
                                        .state = value->states + (size_t)i * world->stride};
        count++;
    }
    return count;
}

uint32_t hc_sv_sent_list(const struct hc_sv_client *client, struct hc_server_sent *out,
                         uint32_t most) {
    const struct hc_sv_view *view = &client->interest.view;
    const struct hc_sv_slot *slot = hc_sv_view_slot(view, view->first);
    uint32_t count = 0;
    for (; slot != NULL; slot = hc_sv_view_slot(view, slot->next)) {
        if (!hc_sv_slot_sees(slot))
            continue;
        hc_sv_value_id id = hc_sv_items_sent(&slot->items, &client->sent_log);
        const struct hc_sv_value *value = hc_sv_values_get(&client->replicator->values, id);
        if (value != NULL)
            count = add(client->world, slot->unit, &value->unit, out, count, most);
    }
    return count;
}
