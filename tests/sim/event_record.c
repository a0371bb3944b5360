/// The table of recorded events.
#include "tests/sim/event_record.h"

#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 256 };

void hc_event_record_free(struct hc_event_record *record) {
    free(record->places);
    *record = (struct hc_event_record){.places = NULL};
}

/// The event's place, or the free one where it would be.
static struct hc_event_recorded *find(const struct hc_event_record *record, hc_tick tick,
                                      hc_entity entity, uint8_t kind, uint32_t number) {
    uint32_t at = (uint32_t)hc_random(kind, tick, entity, number) & (record->capacity - 1);
    for (;; at = (at + 1) & (record->capacity - 1)) {
        struct hc_event_recorded *place = &record->places[at];
        if (place->flags == 0 || (place->tick == tick && place->entity == entity &&
                                  place->kind == kind && place->number == number))
            return place;
    }
}

static bool grow(struct hc_event_record *record) {
    struct hc_event_record more = *record;
    more.capacity = record->capacity == 0 ? CAPACITY_MIN : record->capacity * 2;
    more.places = calloc(more.capacity, sizeof *more.places);
    if (more.places == NULL)
        return false;
    for (uint32_t i = 0; i < record->capacity; i++) {
        const struct hc_event_recorded *old = &record->places[i];
        if (old->flags != 0)
            *find(&more, old->tick, old->entity, old->kind, old->number) = *old;
    }
    free(record->places);
    *record = more;
    return true;
}

uint8_t hc_event_record_get(const struct hc_event_record *record, hc_tick tick, hc_entity entity,
                            uint8_t kind, uint32_t number) {
    return record->capacity == 0 ? 0 : find(record, tick, entity, kind, number)->flags;
}

bool hc_event_record_add(struct hc_event_record *record, hc_tick tick, hc_entity entity,
                         uint8_t kind, uint32_t number, uint8_t flags) {
    HC_ASSERT(flags != 0);
    if (record->count >= record->capacity / 2 && !grow(record))
        return false;
    struct hc_event_recorded *place = find(record, tick, entity, kind, number);
    record->count += place->flags == 0;
    *place = (struct hc_event_recorded){.tick = tick,
                                        .entity = entity,
                                        .kind = kind,
                                        .number = number,
                                        .flags = place->flags | flags};
    return true;
}

const char *hc_event_record_note(struct hc_event_record *record,
                                 const struct hc_client_game_event *event, bool again) {
    uint8_t had =
        hc_event_record_get(record, event->tick, event->entity, event->kind, event->number);
    uint8_t flags = 0;
    if (again && (had & HC_EVENT_CANCELLED) != 0)
        had = 0;
    switch (event->state) {
    case HC_CLIENT_GAME_EVENT_PREDICTED:
    case HC_CLIENT_GAME_EVENT_LATE:
        if (had != 0)
            return "shown twice";
        record->shown++;
        record->late += event->state == HC_CLIENT_GAME_EVENT_LATE;
        flags = event->state == HC_CLIENT_GAME_EVENT_LATE ? HC_EVENT_LATE : HC_EVENT_PREDICTED;
        break;
    case HC_CLIENT_GAME_EVENT_CONFIRMED:
        if (had != HC_EVENT_PREDICTED && !again)
            return "confirmed, but not waiting for that";
        record->confirmed++;
        flags = HC_EVENT_CONFIRMED;
        break;
    case HC_CLIENT_GAME_EVENT_CANCELLED:
        if (had != HC_EVENT_PREDICTED && !again)
            return "cancelled, but not waiting for that";
        record->cancelled++;
        flags = HC_EVENT_CANCELLED;
        break;
    }
    if (!hc_event_record_add(record, event->tick, event->entity, event->kind, event->number, flags))
        return "not recorded, because memory is short";
    return NULL;
}
