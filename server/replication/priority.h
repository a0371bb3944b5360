/// Priority: the order of the units of a snapshot that does not hold them all.
///
/// When not all units fit, those with the highest scores go first. A slot's score grows while its
/// unit is not sent, faster if the unit has changed and if it is near. A unit that does not fit is
/// skipped, and only a unit that was sent falls back to 0. So no unit starves: a unit that waits
/// overtakes all others in the end.
///
/// Let n candidates be not own, and let every order send at least the first m of them. Then a
/// candidate is sent within HC_SV_PRIORITY_SPREAD * (floor((n - 1) / m) + 1) orders in a row that
/// it is in; if it has changed in all of them, within a HC_SV_PRIORITY_CHANGED-th of that. Proof,
/// for S the spread: let it wait t orders. A unit that is sent ahead of it begins at 0 again, and
/// grows at most S times as fast. If that happens in one of the last t / S orders, too few remain
/// in which it could overtake the candidate. So each of the n - 1 others is sent ahead of it at
/// most once there, m each time, and m * floor(t / S) <= n - 1.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SV_PRIORITY_NEAR = 4,    ///< a unit at distance 0 grows so many times as fast as at the end
                                ///< of the view
    HC_SV_PRIORITY_CHANGED = 4, ///< a changed unit grows so many times as fast
    HC_SV_PRIORITY_SPREAD = HC_SV_PRIORITY_NEAR * HC_SV_PRIORITY_CHANGED,
};

/// Lets the score of a candidate grow, once for each order. `changed`: the client's value of the
/// unit is out of date; `distance` to the nearest own player and the game's `view` are in wire
/// units. Without a view all are equally near.
void hc_sv_priority_grow(uint32_t *score, bool changed, uint32_t distance, uint32_t view);

/// The key that orders a candidate: first `own` ones (the client's own, or the referee), then the
/// highest scores, then the lowest numbers.
uint64_t hc_sv_priority_key(uint32_t score, bool own, uint32_t number);

/// Orders the keys of candidates, the first to send first. A Shell sort, because qsort may
/// allocate.
void hc_sv_priority_order(uint64_t *keys, uint32_t count);

/// The number of the candidate with this key.
static inline uint32_t hc_sv_priority_number(uint64_t key) {
    return UINT32_MAX - (uint32_t)key;
}
