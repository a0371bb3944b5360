/// The reports to the game about what it sees: the joins, leaves and names of players, and entities
/// that became visible or ceased to be.
#pragma once

#include "hindcast/client.h"
#include "proto/message.h"

/// The newest name of a player.
struct hc_cl_seen_name {
    uint32_t seq;  ///< of the DATA that brought it, or that dropped the player after it; 0: none
    hc_tick since; ///< a join or leave of the player from this tick on ends it
    char name[HC_NAME_MAX + 1]; ///< with a zero at its end; empty: not known
};

/// Only seen.c writes to it.
struct hc_cl_seen {
    struct hc_cl_seen_name *names; ///< [players]
    hc_tick *roster;               ///< [players] tick + 1 of the newest join or leave; 0: none
    uint64_t *visible;             ///< bit e: entity e was visible in the newest report about it
    hc_entity next;                ///< the entity that is examined next in the present round
};

/// Lays it out from `base` (zeroed; NULL: only measures) and returns the bytes needed.
size_t hc_cl_seen_layout(struct hc_cl_seen *seen, const struct hc_world *world, uint8_t *base);

/// Notes a roster change of `player` at `tick`; true: it is new, and no newer one is known.
bool hc_cl_seen_roster(struct hc_cl_seen *seen, hc_player player, hc_tick tick);

/// Takes a name from the DATA `seq`; true: it is new, and known from now on.
bool hc_cl_seen_name(struct hc_cl_seen *seen, const struct hc_player_name *name, uint32_t seq);

/// Forgets the name of a player that a snapshot in the DATA `seq` drops, unless it came later.
void hc_cl_seen_forget(struct hc_cl_seen *seen, hc_player player, uint32_t seq);

/// The known name of a player; NULL: none. A join or a leave ends the name before it.
const char *hc_cl_seen_name_of(const struct hc_cl_seen *seen, hc_player player);

/// Writes the entity that is examined next to `*entity`. False: the round has examined all
/// `entities`, and a new one begins.
bool hc_cl_seen_next(struct hc_cl_seen *seen, uint32_t entities, hc_entity *entity);

/// Notes whether an entity is visible; true: it was not so in the newest report about it.
bool hc_cl_seen_differs(struct hc_cl_seen *seen, hc_entity entity, bool visible);
