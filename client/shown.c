/// Owns the reads of a game that draws: the visible entities, and their fields in the game's own
/// units.
#include "client/shown.h"

#include "client/session_internal.h"

#include "hindcast/check.h"

bool hc_client_show(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                    struct hc_client_shown *shown) {
    int64_t fields[HC_FIELDS_MAX];
    const struct hc_world *world = &client->world;
    if (!client->newest.any || client->is_light)
        return false;
    struct hc_cl_interpolation_times times = hc_cl_session_shown(client, now_us);
    if (!hc_cl_interpolation_show(&client->interpolation, client->timeline, &times, now_us, entity,
                                  fields))
        return false;
    shown->entity = entity;
    shown->owner = world->owner_of[entity];
    shown->kind = world->kind_of[entity];
    shown->table = hc_world_kind(world, entity);
    for (uint16_t f = 0; f < shown->table->field_count; f++)
        shown->values[f] = (double)fields[f] / HC_CL_INTERPOLATION_UNIT;
    return true;
}

bool hc_client_show_next(const struct hc_client *client, uint64_t now_us, hc_entity *next,
                         struct hc_client_shown *shown) {
    while (*next < client->world.entities)
        if (hc_client_show(client, now_us, (*next)++, shown))
            return true;
    return false;
}

void hc_cl_shown_world(struct hc_client *client, hc_tick *tick, const uint8_t **presence,
                       const uint8_t **states) {
    const struct hc_timeline *timeline = client->timeline;
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    HC_ASSERT(client->newest.any && !client->is_light);
    hc_tick others =
        hc_tick_max(hc_tick_back(head, hc_cl_display_others(&client->display)), oldest);
    *tick = hc_tick_max(hc_tick_back(head, client->display.offset), oldest);
    *presence = hc_timeline_presence(timeline, *tick);
    *states = hc_timeline_states(timeline, *tick);
    if (others != *tick)
        hc_cl_interpolation_compose(&client->interpolation, timeline, *tick, others, presence,
                                    states);
}

double hc_client_shown_value(const struct hc_client_shown *shown, size_t state_size,
                             size_t offset) {
    const struct hc_kind *kind = shown->table;
    uint16_t f = 0;
    HC_ASSERT(state_size == kind->state_size); // the struct of another kind
    while (f < kind->field_count && kind->fields[f].offset != offset)
        f++;
    HC_ASSERT(f < kind->field_count); // no field of the table
    return shown->values[f];
}
