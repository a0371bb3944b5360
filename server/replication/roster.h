/// The roster: the newest joins and leaves of a world, and which of them each client was sent.
#pragma once

#include "proto/snapshot.h"

/// A player of the world.
struct hc_sv_roster_player {
    hc_tick joined; ///< tick of its newest join; HC_NO_TICK: it has left since, or never joined
    hc_tick newest_input; ///< the newest tick with a known input, of any owner
};

struct hc_sv_roster {
    struct hc_snapshot_roster changes[HC_SNAPSHOT_ROSTER_MAX]; ///< ring by number, ascending ticks
    uint64_t first, end;                 ///< numbers of the changes, [first, end)
    struct hc_sv_roster_player *players; ///< [world.players]
};

/// Which of the changes one client was sent.
struct hc_sv_roster_sent {
    uint64_t end; ///< changes from this number on were not sent
    /// [number % HC_SNAPSHOT_ROSTER_MAX] every snapshot from this seq on carried the change, until
    /// one of them was acked; 0: none.
    uint32_t since[HC_SNAPSHOT_ROSTER_MAX];
};

/// Lays the players out from `base` (NULL: only measures); returns the bytes needed.
size_t hc_sv_roster_layout(struct hc_sv_roster *roster, const struct hc_world *world,
                           uint8_t *base);

/// No player has joined.
void hc_sv_roster_clear(struct hc_sv_roster *roster, const struct hc_world *world);

/// `player` joins or leaves at `tick`, no earlier than the change before. The oldest change is
/// forgotten when there are too many.
void hc_sv_roster_stamp(struct hc_sv_roster *roster, hc_player player, hc_tick tick,
                        enum hc_roster roster_change);

/// The input of `player` for `tick` became known.
void hc_sv_roster_input(struct hc_sv_roster *roster, hc_player player, hc_tick tick);

/// The change with this number, in [first, end).
static inline const struct hc_snapshot_roster *hc_sv_roster_at(const struct hc_sv_roster *roster,
                                                               uint64_t number) {
    return &roster->changes[number % HC_SNAPSHOT_ROSTER_MAX];
}

/// The number of the oldest change from `tick` on; the end: none.
uint64_t hc_sv_roster_since(const struct hc_sv_roster *roster, hc_tick tick);

/// The newest join of the player if it comes before `tick` and no leave before `tick` follows it;
/// HC_NO_TICK: there is none.
hc_tick hc_sv_roster_joined(const struct hc_sv_roster *roster, hc_player player, hc_tick tick);

/// Since when the client was sent the change with this number, a place to read and write.
uint32_t *hc_sv_roster_sent_since(struct hc_sv_roster_sent *sent, const struct hc_sv_roster *roster,
                                  uint64_t number);
