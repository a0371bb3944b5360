/// Owns the names of players, and the marks of the players and entities that were reported to the
/// game.
#include "client/session_internal.h"

#include "common/alloc.h"

#include <string.h>

size_t hc_cl_seen_layout(struct hc_cl_seen *seen, const struct hc_world *world, uint8_t *base) {
    size_t used = 0;
    *seen = (struct hc_cl_seen){.next = 0};
    seen->names = hc_carve(base, &used, world->players * sizeof *seen->names);
    seen->roster = hc_carve(base, &used, world->players * sizeof *seen->roster);
    seen->visible = hc_carve(base, &used, (world->entities + 63) / 64 * sizeof *seen->visible);
    return used;
}

bool hc_cl_seen_roster(struct hc_cl_seen *seen, hc_player player, hc_tick tick) {
    if (tick < seen->roster[player])
        return false;
    seen->roster[player] = tick + 1;
    return true;
}

/// The known name of a player; NULL: none. A join or a leave ends the name before it.
static const char *name_of(const struct hc_cl_seen *seen, hc_player player) {
    const struct hc_cl_seen_name *name = &seen->names[player];
    return name->name[0] != 0 && seen->roster[player] <= name->since ? name->name : NULL;
}

bool hc_cl_seen_name(struct hc_cl_seen *seen, const struct hc_player_name *name, uint32_t seq) {
    struct hc_cl_seen_name *known = &seen->names[name->player];
    const char *before = name_of(seen, name->player);
    if (seq < known->seq)
        return false;
    bool equal = before != NULL && strncmp(before, (const char *)name->name, HC_NAME_MAX) == 0;
    known->seq = seq;
    known->since = name->since;
    memcpy(known->name, name->name, HC_NAME_MAX);
    return !equal && name_of(seen, name->player) != NULL;
}

void hc_cl_seen_forget(struct hc_cl_seen *seen, hc_player player, uint32_t seq) {
    struct hc_cl_seen_name *known = &seen->names[player];
    if (seq >= known->seq)
        *known = (struct hc_cl_seen_name){.seq = seq};
}

const char *hc_client_player_name(const struct hc_client *client, hc_player player) {
    return player < client->world.players ? name_of(&client->seen, player) : NULL;
}

bool hc_client_poll_visible(struct hc_client *client, uint64_t now_us,
                            struct hc_client_visible *change) {
    struct hc_cl_seen *seen = &client->seen;
    while (seen->next < client->world.entities) {
        struct hc_client_shown shown;
        hc_entity entity = seen->next++;
        uint64_t *word = &seen->visible[entity / 64], bit = UINT64_C(1) << entity % 64;
        bool visible = hc_client_show(client, now_us, entity, &shown);
        if (visible == ((*word & bit) != 0))
            continue;
        *word ^= bit;
        *change = (struct hc_client_visible){.entity = entity,
                                             .owner = client->world.owner_of[entity],
                                             .kind = client->world.kind_of[entity],
                                             .visible = visible};
        return true;
    }
    seen->next = 0;
    return false;
}
