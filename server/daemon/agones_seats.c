/// Owns the differences of the list `players` and the counter `rooms`.
#include "server/daemon/agones_seats.h"

#include "server/daemon/agones_object.h"

#include <inttypes.h>
#include <stdio.h>

// ---- Players ------------------------------------------------------------------------------------

bool hc_sv_agones_players_open(struct hc_sv_agones_players *players) {
    players->held = json_object();
    players->wanted = json_object();
    return players->held != NULL && players->wanted != NULL;
}

void hc_sv_agones_players_clear(struct hc_sv_agones_players *players) {
    json_object_clear(players->wanted);
}

void hc_sv_agones_players_want(struct hc_sv_agones_players *players, uint64_t client_id) {
    char value[24];
    if (json_object_size(players->wanted) >= HC_SV_AGONES_PLAYERS_MAX)
        return;
    snprintf(value, sizeof(value), "%" PRIu64, client_id);
    json_object_set_new(players->wanted, value, json_true());
    // A promised player has come: its value is removed when it leaves.
    if (json_is_false(json_object_get(players->held, value)))
        json_object_set_new(players->held, value, json_true());
}

bool hc_sv_agones_players_read(struct hc_sv_agones_players *players, const json_t *list) {
    const json_t *values = json_object_get(list, "values"), *value;
    json_t *held = json_object();
    size_t i;
    // Empty values may be null, or left out.
    if (held == NULL || hc_sv_agones_number(json_object_get(list, "capacity")) < 0) {
        json_decref(held);
        return false;
    }
    json_array_foreach(values, i, value) {
        const char *text = json_string_value(value);
        if (text == NULL)
            continue;
        bool of_session = json_is_true(json_object_get(players->held, text)) ||
                          json_object_get(players->wanted, text) != NULL;
        json_object_set_new(held, text, json_boolean(of_session));
    }
    json_decref(players->held);
    players->held = held;
    players->capacity = hc_sv_agones_number(json_object_get(list, "capacity"));
    return true;
}

const char *hc_sv_agones_players_next(const struct hc_sv_agones_players *players, bool lapsed,
                                      bool *adds) {
    const char *value;
    json_t *of_session;
    *adds = false;
    json_object_foreach(players->held, value, of_session) {
        if ((lapsed || json_is_true(of_session)) && json_object_get(players->wanted, value) == NULL)
            return value;
    }
    *adds = true;
    if (json_object_size(players->held) >= (size_t)players->capacity)
        return NULL;
    json_object_foreach(players->wanted, value, of_session) {
        if (json_object_get(players->held, value) == NULL)
            return value;
    }
    return NULL;
}

void hc_sv_agones_players_change(struct hc_sv_agones_players *players, const char *value,
                                 bool adds) {
    if (adds)
        json_object_set_new(players->held, value, json_true());
    else
        json_object_del(players->held, value);
}

void hc_sv_agones_players_close(struct hc_sv_agones_players *players) {
    json_decref(players->held);
    json_decref(players->wanted);
    *players = (struct hc_sv_agones_players){.held = NULL};
}

// ---- Rooms --------------------------------------------------------------------------------------

bool hc_sv_agones_rooms_read(struct hc_sv_agones_rooms *rooms, const json_t *counter) {
    const json_t *number = json_object_get(counter, "count");
    int64_t count = number == NULL ? 0 : hc_sv_agones_number(number); // a 0 may be left out
    int64_t capacity = hc_sv_agones_number(json_object_get(counter, "capacity"));
    if (count < 0 || capacity < 0)
        return false;
    rooms->count = count;
    rooms->capacity = capacity;
    return true;
}

int64_t hc_sv_agones_rooms_change(const struct hc_sv_agones_rooms *rooms, int64_t used,
                                  bool lapsed) {
    int64_t ended = used < rooms->used ? rooms->used - used : 0;
    int64_t right = lapsed || rooms->count - ended < used ? used : rooms->count - ended;
    if (right > rooms->capacity)
        right = rooms->capacity;
    return right - rooms->count;
}
