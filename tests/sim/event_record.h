/// A record of game events: what a client's game was told of each, or which ones happened.
#pragma once

#include "hindcast/client.h"

/// The record of an event.
enum {
    HC_EVENT_HAPPENED = 1, ///< by the server
    HC_EVENT_PREDICTED = 2,
    HC_EVENT_LATE = 4,
    HC_EVENT_CONFIRMED = 8,
    HC_EVENT_CANCELLED = 16,
};

struct hc_event_recorded {
    hc_tick tick;
    hc_entity entity;
    uint8_t kind;
    uint8_t flags; ///< 0: a free place of the table
    uint32_t number;
};

/// A hash table; all zeros is an empty one.
struct hc_event_record {
    struct hc_event_recorded *places;
    uint32_t capacity, count; ///< a power of two, or 0
    uint64_t shown, confirmed, cancelled, late;
};

/// Frees its memory, which empties it.
void hc_event_record_free(struct hc_event_record *record);

/// The flags of an event; 0: it is not recorded.
uint8_t hc_event_record_get(const struct hc_event_record *record, hc_tick tick, hc_entity entity,
                            uint8_t kind, uint32_t number);

/// Adds flags to an event; false: no memory.
bool hc_event_record_add(struct hc_event_record *record, hc_tick tick, hc_entity entity,
                         uint8_t kind, uint32_t number, uint8_t flags);

/// Records what a client's game is told. Returns NULL, or a sentence: it was shown twice, or
/// confirmed or cancelled without having been predicted, or twice. With `again` an event may be
/// shown once more after it was cancelled, because the client has reconnected.
const char *hc_event_record_note(struct hc_event_record *record,
                                 const struct hc_client_game_event *event, bool again);
