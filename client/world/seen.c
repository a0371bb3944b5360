/// Owns the names of players, and the marks of the players and entities that were reported to the
/// game.
#include "client/world/seen.h"

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

const char *hc_cl_seen_name_of(const struct hc_cl_seen *seen, hc_player player) {
    const struct hc_cl_seen_name *name = &seen->names[player];
    return name->name[0] != 0 && seen->roster[player] <= name->since ? name->name : NULL;
}

bool hc_cl_seen_name(struct hc_cl_seen *seen, const struct hc_player_name *name, uint32_t seq) {
    struct hc_cl_seen_name *known = &seen->names[name->player];
    const char *before = hc_cl_seen_name_of(seen, name->player);
    if (seq < known->seq)
        return false;
    bool equal = before != NULL && strncmp(before, (const char *)name->name, HC_NAME_MAX) == 0;
    known->seq = seq;
    known->since = name->since;
    memcpy(known->name, name->name, HC_NAME_MAX);
    return !equal && hc_cl_seen_name_of(seen, name->player) != NULL;
}

void hc_cl_seen_forget(struct hc_cl_seen *seen, hc_player player, uint32_t seq) {
    struct hc_cl_seen_name *known = &seen->names[player];
    if (seq >= known->seq)
        *known = (struct hc_cl_seen_name){.seq = seq};
}

bool hc_cl_seen_differs(struct hc_cl_seen *seen, hc_entity entity, bool visible) {
    uint64_t *word = &seen->visible[entity / 64], bit = UINT64_C(1) << entity % 64;
    if (visible == ((*word & bit) != 0))
        return false;
    *word ^= bit;
    return true;
}

bool hc_cl_seen_next(struct hc_cl_seen *seen, uint32_t entities, hc_entity *entity) {
    bool any = seen->next < entities;
    *entity = seen->next;
    seen->next = any ? (hc_entity)(seen->next + 1) : 0;
    return any;
}
