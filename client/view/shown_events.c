/// Owns the game events that drawings show for a while.
#include "client/view/shown_events.h"

#include "common/elapsed.h"

#include <stdbool.h>
#include <string.h>

static bool is_same(const struct hc_client_game_event *a, const struct hc_client_game_event *b) {
    return a->tick == b->tick && a->entity == b->entity && a->kind == b->kind &&
           a->number == b->number;
}

static void remove_at(struct hc_cl_shown_events *events, uint32_t index) {
    uint32_t after = --events->count - index;
    memmove(&events->at[index], &events->at[index + 1], after * sizeof(*events->at));
    memmove(&events->since_us[index], &events->since_us[index + 1],
            after * sizeof(*events->since_us));
}

void hc_cl_shown_events_note(struct hc_cl_shown_events *events,
                             const struct hc_client_game_event *event, uint64_t now_us) {
    if (event->state == HC_CLIENT_GAME_EVENT_CONFIRMED)
        return;
    if (event->state == HC_CLIENT_GAME_EVENT_CANCELLED) {
        for (uint32_t i = events->count; i-- > 0;)
            if (is_same(&events->at[i].event, event))
                remove_at(events, i);
        return;
    }
    if (events->count == HC_CL_SHOWN_EVENTS)
        remove_at(events, 0);
    events->at[events->count] = (struct hc_frame_event){.event = *event};
    events->since_us[events->count++] = now_us;
}

void hc_cl_shown_events_age(struct hc_cl_shown_events *events, uint64_t now_us) {
    while (events->count > 0 && hc_since(events->since_us[0], now_us) >= HC_FRAME_EVENT_MS * 1000)
        remove_at(events, 0);
    for (uint32_t i = 0; i < events->count; i++)
        events->at[i].age = (double)hc_since(events->since_us[i], now_us) / 1e6;
}
