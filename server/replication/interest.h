/// Interest: the units that one client may know of.
///
/// These are the units within the game's `view` of the client's own players, the own players and
/// the referee; a game may hide more. A unit leaves when it is a quarter of the view farther away,
/// so that it does not flicker at the border. A client without players may know of everything, as
/// may every client where the game has neither a view nor anything to hide. A client cannot show a
/// unit that the server never sent, however it is modified.
///
/// A unit is seen when one of its alive entities is within view of an own player that it is not
/// hidden from. A dead own player sees from its last place; one that was never alive does not
/// see. An unowned entity without a position is in every view. While nothing of a unit is alive
/// its state does not change: a client that saw it is sent its death and still knows it, no other
/// client learns of it, and the place where it comes back decides anew. So nothing leaks about a
/// player that joins, leaves or dies far away. A unit is seen as a whole: a client that sees a shot
/// is sent its player too.
///
/// hc_sv_interest_update looks for new units now and then, in an index of the tick's positions that
/// all clients share: its time depends on how many entities are near, not on the world's size.
/// Only a client that sees everything, and a game that hides units but has no view, take time
/// linear in the units. hc_sv_interest_narrow checks the seen units at every tick that is shown,
/// and hc_sv_interest_sight_at at every other tick of a snapshot, by the states of that tick: a
/// unit that leaps out of view is not sent once more.
#pragma once

#include "proto/datagram.h"
#include "server/replication/index.h"
#include "server/replication/view.h"

/// An own player as it was last found alive.
struct hc_sv_interest_eye {
    hc_player player;            ///< HC_NO_PLAYER: it was never alive
    int64_t x, y;                ///< 0 without a position
    uint8_t state[HC_STATE_MAX]; ///< if the game hides units
};

struct hc_sv_interest {
    struct hc_sv_view view; ///< with the interest set
    const struct hc_world *world;
    hc_tick tick; ///< the newest checked tick; HC_NO_TICK: none
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< in the order of the own players
};

/// An empty set, whose slots come from `slots`. `world` and `slots` are borrowed.
void hc_sv_interest_open(struct hc_sv_interest *interest, const struct hc_world *world,
                         struct hc_sv_slots *slots);

/// Begins to load what the next look reads of the interest into the processor's cache, without the
/// states that only a game that hides units needs.
void hc_sv_interest_prefetch(const struct hc_sv_interest *interest);

/// Looks for the units that a client with these players (at most HC_OWN_PLAYERS_MAX, always in the
/// same order) sees at `tick` in [oldest, head], the tick that is to be shown. Between two calls
/// the set gains no unit.
void hc_sv_interest_update(struct hc_sv_interest *interest, struct hc_sv_index *index,
                           const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                           unsigned own_count);

/// Removes the units that are out of view at `tick`, in [oldest, head] and not before the newest
/// checked tick. A unit that was out of view at a tick between the two counts as seen since `tick`.
void hc_sv_interest_narrow(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count);

/// A view of one tick, from where the own players are at it or were last alive.
struct hc_sv_interest_sight {
    const struct hc_world *world;
    const hc_player *own; ///< borrowed
    unsigned own_count, eye_count;
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< of the players that see
    bool everything;                                    ///< everything is in view
    bool by_distance; ///< no unit is hidden from a player that is near it
    const uint8_t *presence, *states;
};

/// Sets `*sight` to what these players see at `tick` in [oldest, head]. It is valid until the
/// timeline changes.
void hc_sv_interest_sight_at(const struct hc_sv_interest *interest,
                             const struct hc_timeline *timeline, hc_tick tick, const hc_player *own,
                             unsigned own_count, struct hc_sv_interest_sight *sight);

/// Whether a seen unit is in view at the sight's tick, the quarter included, or nothing of it is
/// alive there.
bool hc_sv_interest_in_view(const struct hc_sv_interest_sight *sight, hc_unit unit);

/// The distance at `tick` from the nearest own player's place at the last update to the unit's
/// nearest alive entity: the larger of |dx| and |dy|, wire units. 0: the unit is own or has no
/// position, or no player sees.
uint32_t hc_sv_interest_distance(const struct hc_sv_interest *interest,
                                 const struct hc_timeline *timeline, hc_tick tick, hc_unit unit);
