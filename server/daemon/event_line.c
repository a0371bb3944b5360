/// Owns the log lines of the server's events.
#include "server/daemon/event_line.h"

#include "proto/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// Adds the client's user to the fields of a log line.
static void add_user(json_t *fields, const struct hc_server_event *event) {
    char id[24];
    size_t size = hc_name_size(event->name);
    snprintf(id, sizeof(id), "%" PRIu64, event->client_id);
    json_object_set_new(fields, "user", json_string(id));
    if (size == 0)
        return;
    // UTF-8 that can be shown; the log escapes what is not plain.
    json_object_set_new(fields, "name", json_stringn((const char *)event->name, size));
}

static json_t *client_line(const struct hc_server *server, const struct hc_server_event *event) {
    char address[HC_ADDRESS_TEXT_MAX];
    json_t *players = json_array();
    for (unsigned i = 0; i < event->player_count; i++)
        json_array_append_new(players, json_integer(event->players[i]));
    json_t *fields = json_pack(
        "{s:s, s:I, s:o, s:i}", "address", hc_address_format(&event->address, address), "cid",
        (json_int_t)event->cid, "players", players, "clients", (int)hc_server_clients(server));
    add_user(fields, event);
    if (event->kind == HC_SERVER_EVENT_LEFT)
        json_object_update_new(fields,
                               json_pack("{s:s, s:s}", "reason", hc_close_text(event->close), "by",
                                         event->by_client ? "client" : "server"));
    return fields;
}

/// Adds the highest score of the players at the tick, if they have scores, and its first player.
static void add_score(json_t *fields, const struct hc_world *world, const uint8_t *presence,
                      const uint8_t *states) {
    const struct hc_kind *kind = hc_world_kind(world, hc_world_player(world, 0));
    int64_t best = INT64_MIN;
    hc_player leader = HC_NO_PLAYER;
    for (unsigned f = 0; f < kind->field_count; f++) {
        if (strcmp(kind->fields[f].name, "score") != 0)
            continue;
        for (hc_player p = 0; p < world->players; p++) {
            hc_entity self = hc_world_player(world, p);
            int64_t score = hc_field_get(&kind->fields[f], states + (size_t)self * world->stride);
            if (presence[self] != HC_ALIVE || score <= best)
                continue;
            best = score;
            leader = p;
        }
    }
    if (leader == HC_NO_PLAYER)
        return;
    json_object_set_new(fields, "best_score", json_integer(best));
    json_object_set_new(fields, "best_player", json_integer(leader));
}

static json_t *round_line(const struct hc_server *server, hc_tick tick) {
    const struct hc_timeline *timeline = hc_server_timeline(server);
    const struct hc_world *world = hc_server_world(server);
    const struct hc_kind *referee = &world->game->kinds[0];
    json_t *fields = json_pack("{s:I}", "tick", (json_int_t)tick);
    if (tick < hc_timeline_oldest(timeline))
        return fields;
    const uint8_t *states = hc_timeline_states(timeline, tick);
    json_t *own = json_object(); // a game's names may be those of other keys, such as `match`
    for (unsigned f = 0; f < referee->field_count; f++)
        json_object_set_new(own, referee->fields[f].name,
                            json_integer(hc_field_get(&referee->fields[f], states)));
    json_object_set_new(fields, "referee", own);
    add_score(fields, world, hc_timeline_presence(timeline, tick), states);
    return fields;
}

json_t *hc_sv_event_line(const struct hc_server *server, const struct hc_server_event *event,
                         const char **name) {
    static const char *const names[HC_SERVER_EVENT_KINDS] = {
        "joined", "left", "timeout", "lost", "reconnected", "moved", "round-ended"};
    *name = names[event->kind];
    return event->kind == HC_SERVER_EVENT_ROUND_ENDED ? round_line(server, event->tick)
                                                      : client_line(server, event);
}
