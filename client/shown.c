/// Owns the reads of a game that draws: the visible entities, their fields in the game's own units,
/// and the game events.
#include "client/shown.h"

#include "client/client.h"
#include "hindcast/check.h"

/// Whether there is a state to show.
static bool has_state(const struct hc_client *client) {
    return hc_client_timeline(client) != NULL && client->link.newest.any;
}

/// The position in simulated time at `now_us`, in 1/HC_CL_INTERPOLATION_WHOLE ticks.
static int64_t position_at(const struct hc_client *client, uint64_t now_us) {
    return hc_cl_timing_position(&client->timing, now_us, HC_CL_INTERPOLATION_WHOLE);
}

/// The times shown at `now_us`, if there is a state.
static struct hc_cl_interpolation_times times_at(const struct hc_client *client, uint64_t now_us) {
    return hc_cl_world_times(client->world, position_at(client, now_us));
}

bool hc_client_show_tick(const struct hc_client *client, uint64_t now_us, hc_tick *tick,
                         uint32_t *fraction) {
    if (!has_state(client))
        return false;
    struct hc_cl_interpolation_times times = times_at(client, now_us);
    *tick = times.own.tick;
    *fraction = times.own.fraction;
    return true;
}

bool hc_client_show_tick_of(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                            hc_tick *tick, uint32_t *fraction) {
    if (!has_state(client) || entity >= client->world->game_world.entities)
        return false;
    struct hc_cl_interpolation_times times = times_at(client, now_us);
    struct hc_cl_interpolation_time time =
        hc_cl_interpolation_time_of(&client->world->interpolation, &times, entity);
    *tick = time.tick;
    *fraction = time.fraction;
    return true;
}

bool hc_client_show(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                    struct hc_client_shown *shown) {
    int64_t fields[HC_FIELDS_MAX];
    const struct hc_cl_world *world = client->world;
    if (!has_state(client))
        return false;
    struct hc_cl_interpolation_times times = times_at(client, now_us);
    if (!hc_cl_interpolation_show(&world->interpolation, world->timeline, &times, now_us, entity,
                                  fields))
        return false;
    shown->entity = entity;
    shown->owner = world->game_world.owner_of[entity];
    shown->kind = world->game_world.kind_of[entity];
    shown->table = hc_world_kind(&world->game_world, entity);
    for (uint16_t f = 0; f < shown->table->field_count; f++)
        shown->values[f] = (double)fields[f] / HC_CL_INTERPOLATION_UNIT;
    return true;
}

bool hc_client_show_next(const struct hc_client *client, uint64_t now_us, hc_entity *next,
                         struct hc_client_shown *shown) {
    while (has_state(client) && *next < client->world->game_world.entities)
        if (hc_client_show(client, now_us, (*next)++, shown))
            return true;
    return false;
}

bool hc_client_poll_visible(struct hc_client *client, uint64_t now_us,
                            struct hc_client_visible *change) {
    const struct hc_world *world = hc_client_world(client);
    hc_entity entity;
    while (world != NULL && hc_cl_seen_next(&client->world->seen, world->entities, &entity)) {
        struct hc_client_shown shown;
        bool visible = hc_client_show(client, now_us, entity, &shown);
        if (!hc_cl_seen_differs(&client->world->seen, entity, visible))
            continue;
        *change = (struct hc_client_visible){.entity = entity,
                                             .owner = world->owner_of[entity],
                                             .kind = world->kind_of[entity],
                                             .visible = visible};
        return true;
    }
    return false;
}

bool hc_client_next_game_event(struct hc_client *client, uint64_t now_us,
                               struct hc_client_game_event *event) {
    if (has_state(client))
        hc_cl_world_show_events(client->world, position_at(client, now_us));
    return client->world != NULL && hc_cl_game_events_next(&client->world->game_events, event);
}

void hc_cl_shown_world(struct hc_client *client, hc_tick *tick, const uint8_t **presence,
                       const uint8_t **states) {
    struct hc_cl_world *world = client->world;
    HC_ASSERT(has_state(client));
    const struct hc_timeline *timeline = world->timeline;
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    hc_tick others =
        hc_tick_max(hc_tick_back(head, hc_cl_display_others(&world->display, head)), oldest);
    *tick = hc_tick_max(hc_tick_back(head, hc_cl_display_own(&world->display, head)), oldest);
    *presence = hc_timeline_presence(timeline, *tick);
    *states = hc_timeline_states(timeline, *tick);
    if (others != *tick)
        hc_cl_interpolation_compose(&world->interpolation, timeline, *tick, others, presence,
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
