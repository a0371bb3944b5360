/// The budget of one client: how many bytes its next snapshot may have, and what of it comes first.
///
/// Bytes: a token bucket, filled at a rate that falls by a seventh when more than one datagram in
/// twenty of the last second was lost, and rises by a fortieth otherwise, between a sixteenth of
/// the cap (or HC_SV_BANDWIDTH_FLOOR) and the cap: there are paths that lose at any rate. A second
/// of which nothing was learnt changes nothing. Over any time t a sender that asks for room first
/// sends at most t + HC_SV_BANDWIDTH_BURST_MS of the cap, IP headers included.
///
/// Order: every unit has a score that grows while it is not told, faster when it has changed and
/// when it is near; the highest go first, what does not fit is skipped, and only what was told
/// falls back to 0. So nobody starves: whoever waits overtakes everybody in the end. A candidate of
/// n that are not own, of which at least the first m of the order are told each time, is told in
/// one of HC_SV_PRIORITY_SPREAD * (floor((n - 1) / m) + 1) orders in a row that it is in; if it has
/// changed in all of them, in a HC_SV_PRIORITY_CHANGED-th of that. Proof, for S the spread: let it
/// wait t orders. Who is told ahead of it in one of the last t / S of them would need, to be ahead
/// again, the S-th part of the time since the beginning, which is more than what remains: so each
/// of the n - 1 is told ahead of it at most once there, m each time, and m * floor(t / S) <= n - 1.
#pragma once

#include "common/unit.h"

enum {
    HC_SV_BANDWIDTH_FLOOR = 4000,   ///< bytes/s: below it, and
    HC_SV_BANDWIDTH_PART = 16,      ///< below that part of the cap, no loss puts a client
    HC_SV_BANDWIDTH_BURST_MS = 100, ///< of the rate may be saved up
    HC_SV_BANDWIDTH_OVERHEAD =
        61, ///< bytes of a datagram besides its body: IP, UDP, header and seal
    HC_SV_BANDWIDTH_WINDOW_US = 1000000, ///< over which losses are counted

    HC_SV_PRIORITY_NEAR = 4,    ///< times as fast grows what is here as what is at the view's end
    HC_SV_PRIORITY_CHANGED = 4, ///< times as fast grows what has changed
    HC_SV_PRIORITY_SPREAD = HC_SV_PRIORITY_NEAR * HC_SV_PRIORITY_CHANGED,
};

struct hc_sv_bandwidth {
    uint32_t cap;      ///< bytes/s
    uint32_t rate;     ///< bytes/s now
    int64_t saved;     ///< bytes that may be sent now, in 1/1000000; negative: sent without room
    uint64_t at_us;    ///< when that was so
    uint64_t since_us; ///< of the counts below
    uint32_t sent, lost;
    uint32_t *score; ///< [units]
    uint32_t units;
};

/// Lays the scores out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_bandwidth_layout(struct hc_sv_bandwidth *budget, const struct hc_world *world,
                              uint8_t *base);

/// Begins at the cap of at least HC_SV_BANDWIDTH_FLOOR bytes/s, at `now_us`: all saved up, all
/// scores 0.
void hc_sv_bandwidth_begin(struct hc_sv_bandwidth *budget, uint32_t cap, uint64_t now_us);

/// Body bytes that the next datagram may have, at most `most`; 0: none may go out now.
int32_t hc_sv_bandwidth_room(struct hc_sv_bandwidth *budget, uint32_t most, uint64_t now_us);

/// A datagram with a body of `bytes` goes out. What exceeds the room is a debt, paid first.
void hc_sv_bandwidth_spend(struct hc_sv_bandwidth *budget, uint32_t bytes);

/// Datagrams were found to have arrived, or to be lost.
void hc_sv_bandwidth_learn(struct hc_sv_bandwidth *budget, uint32_t arrived, uint32_t lost,
                           uint64_t now_us);

/// A unit that may be told: how far it is and whether what the client has of it is out of date.
struct hc_sv_candidate {
    hc_unit unit;
    bool own; ///< the client's own, or the referee: before all others
    bool changed;
    uint32_t distance; ///< to the nearest own player, wire units
    uint32_t view;     ///< the game's view, 0: none, all are equally near
};

/// Lets the scores of the candidates, all different, grow. Once for each snapshot.
void hc_sv_priority_grow(struct hc_sv_bandwidth *budget, const struct hc_sv_candidate *candidates,
                         uint32_t count);

/// Puts the candidates in order, first things first. Ties are broken by unit. A Shell sort in
/// place, with the gaps of Ciura (2001).
void hc_sv_priority_order(const struct hc_sv_bandwidth *budget, struct hc_sv_candidate *candidates,
                          uint32_t count);

/// `unit` was told.
void hc_sv_priority_sent(struct hc_sv_bandwidth *budget, hc_unit unit);
