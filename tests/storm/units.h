/// Units as the oracles see them: quick digests of their values, on the server at a head, and what
/// each client has been told of them last.
///
/// Of what a snapshot tells, and of nothing else, a client must hold what the server had. Which
/// units it tells is taken from what the client has read, as the same hash covers it; that nothing
/// is missing there is told.h's to see.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"

struct storm_match;
struct storm_conn;
struct storm_sent;

enum {
    STORM_UNITS_MAX = 128,
    STORM_UNIT_ROWS = 1024, ///< ticks whose digests are remembered
};

/// What a client was told of a unit last.
struct storm_heard_unit {
    hc_tick as_of;    ///< by this snapshot; HC_NO_TICK: never
    hc_tick told[64]; ///< by head % 64: heads of the snapshots with a value of it, HC_NO_TICK: none
    hc_tick since;    ///< head of the first one since it was unknown; HC_NO_TICK: it is unknown
    bool dropped;     ///< it was told to forget it
};

/// Digests of all units at a tick, as it stood at a head.
struct storm_units {
    const struct hc_world *world;
    uint32_t total;
    hc_tick *tick, *head; ///< [STORM_UNIT_ROWS]
    uint64_t *digests;    ///< [STORM_UNIT_ROWS][total]
    hc_tick *told_head;   ///< [STORM_UNIT_ROWS] at which the two that follow were made of that tick
    uint64_t *bases;      ///< [STORM_UNIT_ROWS][players] storm_unit_base
    uint64_t *beside;     ///< [STORM_UNIT_ROWS][players] storm_beside_digest
};

void storm_units_init(struct storm_units *units, const struct hc_world *world);
void storm_units_free(struct storm_units *units);

/// The digest of a unit in a world.
uint64_t storm_unit_digest(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                           const uint8_t *states);

/// The digests of all units on the server at `tick`, as they stand now, once for all that ask.
const uint64_t *storm_units_row(struct storm_match *match, hc_tick tick);

/// The digest of what a player's inputs from `tick` on are predicted from: its newest known one
/// before that. 0: the player is not there.
uint64_t storm_unit_base(const struct hc_world *world, const struct hc_timeline *timeline,
                         hc_player player, hc_tick tick);

/// Whether the unit is in view of a connection wherever it is.
bool storm_unit_always_seen(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit);

/// How far the unit is from the nearest own player on the server at `tick`; -1 if that cannot be
/// said, as nothing of it is alive or an own player is not.
int64_t storm_unit_distance(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit, hc_tick tick);

/// Whether the unit may be too far away at `tick` for anything of it to be sent: farther than the
/// view and a quarter of it, or an own player is not there, or nothing of the unit.
bool storm_unit_may_be_hidden(const struct storm_match *match, const struct storm_conn *conn,
                              hc_unit unit, hc_tick tick);

/// Whether it surely is.
bool storm_unit_hidden(const struct storm_match *match, const struct storm_conn *conn, hc_unit unit,
                       hc_tick tick);

/// Whether any entity of the unit is known in a world.
bool storm_unit_known(const struct hc_world *world, hc_unit unit, const uint8_t *presence);

/// Remembers what a snapshot that is sent now has to show.
void storm_units_sent(struct storm_match *match, const struct storm_conn *conn,
                      struct storm_sent *sent, hc_tick tick);

/// A client has been created.
void storm_units_created(struct storm_match *match, unsigned client);

/// A client has taken a SNAPSHOT.
void storm_units_taken(struct storm_match *match, unsigned client);

/// The first unit told by the snapshot `sent`, and by none since, of which the client does not hold
/// what was told; false: there is none.
bool storm_units_differ(const struct storm_match *match, unsigned client,
                        const struct storm_sent *sent, hc_unit *unit);

/// Whether the snapshot of head `as_of` told the client a value of the unit.
bool storm_units_told(const struct storm_match *match, unsigned client, hc_tick as_of,
                      hc_unit unit);

/// Fails with what differs in one unit: `right` may be NULL, then nobody knows any more.
void storm_units_fail(struct storm_match *match, const char *oracle, hc_tick tick, hc_unit unit,
                      const char *who, const struct hc_timeline *held,
                      const uint8_t *right_presence, const uint8_t *right_states);
