/// The reports to the game about what it sees: the joins and leaves of other players, and entities
/// that became visible or ceased to be.
#pragma once

#include "hindcast/client.h"

struct hc_cl_seen {
    hc_tick *roster;   ///< [players] tick + 1 of the newest join or leave; 0: none
    uint64_t *visible; ///< bit e: entity e was visible in the newest report about it
    hc_entity next;    ///< the entity that is examined next in the present round
};

/// Lays it out from `base` (zeroed; NULL: only measures) and returns the bytes needed.
size_t hc_cl_seen_layout(struct hc_cl_seen *seen, const struct hc_world *world, uint8_t *base);

/// Notes a roster change of `player` at `tick`; true: it is new, and no newer one is known.
bool hc_cl_seen_roster(struct hc_cl_seen *seen, hc_player player, hc_tick tick);
