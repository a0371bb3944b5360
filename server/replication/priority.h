/// The priority of a client's units: which are sent first when not all fit.
///
/// Every unit has a score. It grows while the unit is not sent, faster if the unit has changed and
/// if it is near. Units with the highest scores go first, a unit that does not fit is skipped, and
/// only a unit that was sent falls back to 0. So no unit starves: a unit that waits overtakes all
/// others in the end.
///
/// Let n candidates be not own, and let every order send at least the first m of them. Then a
/// candidate is sent within HC_SV_PRIORITY_SPREAD * (floor((n - 1) / m) + 1) orders in a row that
/// it is in; if it has changed in all of them, within a HC_SV_PRIORITY_CHANGED-th of that. Proof,
/// for S the spread: let it wait t orders. A unit sent ahead of it in one of the last t / S of them
/// would need, to be ahead again, the S-th part of the time since the beginning, which is more than
/// what remains. So each of the n - 1 others is sent ahead of it at most once there, m each time,
/// and m * floor(t / S) <= n - 1.
#pragma once

#include "common/unit.h"

enum {
    HC_SV_PRIORITY_NEAR = 4,    ///< a unit at distance 0 grows so many times as fast as at the end
                                ///< of the view
    HC_SV_PRIORITY_CHANGED = 4, ///< a changed unit grows so many times as fast
    HC_SV_PRIORITY_SPREAD = HC_SV_PRIORITY_NEAR * HC_SV_PRIORITY_CHANGED,
};

struct hc_sv_priority {
    uint32_t *score; ///< [units]
    uint32_t units;
};

/// A unit that may be sent.
struct hc_sv_candidate {
    hc_unit unit;
    bool own;          ///< the client's own, or the referee: before all others
    bool changed;      ///< the client's value of it is out of date
    uint32_t distance; ///< to the nearest own player, wire units
    uint32_t view;     ///< the game's view, 0: none, all are equally near
};

/// Lays the scores out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_priority_layout(struct hc_sv_priority *priority, const struct hc_world *world,
                             uint8_t *base);

/// Sets all scores to 0.
void hc_sv_priority_clear(struct hc_sv_priority *priority);

/// Lets the scores of the candidates, all different, grow. Once for each snapshot.
void hc_sv_priority_grow(struct hc_sv_priority *priority, const struct hc_sv_candidate *candidates,
                         uint32_t count);

/// Sorts the candidates, the first to send first, ties by unit. A Shell sort in place, with the
/// gaps of Ciura (2001).
void hc_sv_priority_order(const struct hc_sv_priority *priority, struct hc_sv_candidate *candidates,
                          uint32_t count);

/// `unit` was sent.
void hc_sv_priority_sent(struct hc_sv_priority *priority, hc_unit unit);
