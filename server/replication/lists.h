/// The lists before a snapshot's units: forced inputs of the client's own players, and joins and
/// leaves of the others. Each entry is repeated until the client acks a snapshot that carried it.
#pragma once

#include "proto/snapshot.h"
#include "server/replication/sent_log.h"

enum { HC_SV_FORCED_RANGES = HC_SNAPSHOT_FORCED_SENT }; ///< remembered for a client

/// A player of the world.
struct hc_sv_roster_player {
    hc_tick joined; ///< tick of its newest join; HC_NO_TICK: it has left since, or never joined
    hc_tick newest_input; ///< the newest tick with a known input, of any owner
    hc_tick turned_at;    ///< head when an input came that changed keys; 0: never
    uint64_t changed;     ///< number of its newest change, plus 1; 0: none
};

/// The newest joins and leaves of a world.
struct hc_sv_roster {
    struct hc_snapshot_roster changes[HC_SNAPSHOT_ROSTER_MAX]; ///< ring by number, ascending ticks
    uint64_t before[HC_SNAPSHOT_ROSTER_MAX]; ///< of the player's change before, as `changed`
    uint64_t first, end;                     ///< numbers of the changes, [first, end)
    struct hc_sv_roster_player *players;     ///< [world.players]
};

/// Slots of an own player that the server closed before their inputs came.
struct hc_sv_forced_range {
    hc_player player;
    hc_tick first;
    uint32_t count;
    hc_sv_places carried; ///< logged snapshots that carried the range as it is
};

/// The items of the lists that one client was sent.
struct hc_sv_lists {
    struct hc_sv_forced_range forced[HC_SV_FORCED_RANGES]; ///< oldest first
    unsigned forced_count;
    uint64_t roster_end; ///< changes from this number on were not sent
    // Of the changes, by number.
    hc_sv_places carried[HC_SNAPSHOT_ROSTER_MAX]; ///< logged snapshots that carried the change
    bool received[HC_SNAPSHOT_ROSTER_MAX];        ///< one of them was acked
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

/// The newest join of the player if it comes before `tick` and no leave before `tick` follows it;
/// HC_NO_TICK: there is none.
hc_tick hc_sv_roster_joined(const struct hc_sv_roster *roster, hc_player player, hc_tick tick);

/// Begins to load what a snapshot without forced inputs, joins and leaves reads of the lists into
/// the processor's cache.
void hc_sv_lists_prefetch(const struct hc_sv_lists *lists);

/// Nothing was sent, and nothing is to be.
void hc_sv_lists_clear(struct hc_sv_lists *lists);

/// Adds `count` forced slots of the own `player` from `first` on. The slots of each player ascend.
/// The oldest range is forgotten when there are too many.
void hc_sv_lists_force(struct hc_sv_lists *lists, hc_player player, hc_tick first, uint32_t count);

/// Snapshots were acked: removes the forced ranges that they carried.
void hc_sv_lists_acked(struct hc_sv_lists *lists, const struct hc_sv_sent_log *sent_log);

struct hc_sv_builder;

/// Gathers the entries that the client may lack, for a snapshot whose units are gathered. The log
/// has evicted the places `gone`, and the snapshot has no place yet.
void hc_sv_lists_gather(struct hc_sv_builder *builder, hc_sv_places gone);

/// Logs the written entries as sent, and those that did not fit as not sent.
void hc_sv_lists_log(struct hc_sv_builder *builder);
