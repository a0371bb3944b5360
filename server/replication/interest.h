/// Interest: which units a client may know of.
///
/// A client is told of what lies within its game's `view` of its own players, of itself and of the
/// referee; a game may hide more. What leaves is kept until it is a quarter of the view farther
/// away, so that nobody flickers at the border. Without players it is everything, and so it is
/// where the game has neither a view nor anything to hide. What a client is not told of it cannot
/// show, whatever it does to itself.
///
/// A unit is seen when one of its alive entities is within view of an own player that it is not
/// hidden from; an own player that is not alive looks from where it was when it last was, or not at
/// all. An unowned entity without a position is in every view. A unit of which nothing is alive
/// stays what it was: who saw it is told that it is gone and goes on knowing it, nobody else hears
/// of it, and where it comes back decides anew. So of a player that joins, leaves or dies far away
/// nothing is said. A unit is seen as a whole: a player whose shot is in view is told of as well.
///
/// New units are looked for now and then (hc_sv_interest_update), which is linear in the entities.
/// A unit that is seen is checked at every tick that is sent (hc_sv_interest_narrow), and at every
/// other tick of which a snapshot says something (hc_sv_interest_look_at), by that tick's states:
/// a unit that leaps out of view is not sent once more.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"
#include "proto/datagram.h"

/// An own player as it was when it was last found alive.
struct hc_sv_interest_eye {
    hc_player player; ///< HC_NO_PLAYER: it never was
    int64_t x, y;     ///< 0 without a position
    uint8_t state[HC_STATE_MAX];
};

struct hc_sv_interest {
    const struct hc_world *world;
    uint64_t *seen; ///< a bit for each unit, zeros after the last
    hc_tick *since; ///< [units] of those that are seen: in view at every tick from this one on
    hc_tick tick;   ///< the newest that was checked; HC_NO_TICK: none
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< in the order of the own players
};

/// Lays the set out from `base` (NULL: only measures); returns the bytes needed. Clear it before
/// its use.
size_t hc_sv_interest_layout(struct hc_sv_interest *interest, const struct hc_world *world,
                             uint8_t *base);

/// Nothing is seen.
void hc_sv_interest_clear(struct hc_sv_interest *interest);

/// Looks at `tick` in [oldest, head], the one that is to be shown: what a client with these players
/// (at most HC_OWN_PLAYERS_MAX, in an order that stays) sees from now on. Linear in the entities;
/// need not be called for every tick: until the next call what is seen stays.
void hc_sv_interest_update(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count);

/// What is no longer in view at `tick`, in [oldest, head] and not before the newest checked, is no
/// longer seen. What was out of view at a tick that was left out is seen from `tick` on.
void hc_sv_interest_narrow(struct hc_sv_interest *interest, const struct hc_timeline *timeline,
                           hc_tick tick, const hc_player *own, unsigned own_count);

/// A tick from where the own players are at it, or were when they were last alive.
struct hc_sv_interest_look {
    const struct hc_world *world;
    const hc_player *own; ///< borrowed
    unsigned own_count, eye_count;
    struct hc_sv_interest_eye eyes[HC_OWN_PLAYERS_MAX]; ///< those that look
    bool everything;                                    ///< is in view
    const uint8_t *presence, *states;
};

/// A look at `tick` in [oldest, head]; valid until the timeline changes.
struct hc_sv_interest_look hc_sv_interest_look_at(const struct hc_sv_interest *interest,
                                                  const struct hc_timeline *timeline, hc_tick tick,
                                                  const hc_player *own, unsigned own_count);

/// Whether `unit`, which is seen, is in view in a look, the quarter included, or nothing of it is
/// alive there.
bool hc_sv_interest_in_view(const struct hc_sv_interest_look *look, hc_unit unit);

/// How far `unit` is at `tick` from where the nearest own player was at the last update: the larger
/// of |dx| and |dy| of its nearest alive entity, wire units. 0: it is own, has no position, or
/// nobody looks.
uint32_t hc_sv_interest_distance(const struct hc_sv_interest *interest,
                                 const struct hc_timeline *timeline, hc_tick tick, hc_unit unit);

/// Whether the client is to be told of `unit`.
static inline bool hc_sv_interest_sees(const struct hc_sv_interest *interest, hc_unit unit) {
    return (interest->seen[unit / 64] >> (unit % 64) & 1) != 0;
}
