/// Owns the reads of a game that draws: the visible entities, and their fields in the game's own
/// units.
#include "client/session_internal.h"

#include "hindcast/check.h"

bool hc_client_show(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                    struct hc_client_shown *shown) {
    int64_t fields[HC_FIELDS_MAX];
    const struct hc_world *world = &client->world;
    if (!client->newest.any || client->is_light ||
        !hc_cl_interpolation_show(&client->interpolation, client->timeline,
                                  hc_cl_session_shown(client, now_us), now_us, entity, fields))
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
