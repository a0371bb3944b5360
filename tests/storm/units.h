/// Units as the checkers see them: quick digests of their values, on the server at a head, and of
/// each client the snapshots that had a value of them.
///
/// The units of a snapshot are those that its client has read: its hash covers them.
#pragma once

#include "common/timeline.h"
#include "common/unit.h"
#include "tests/storm/verdict.h"

struct storm_match;
struct storm_conn;
struct storm_sent;

enum {
    STORM_UNITS_MAX = 128,
    STORM_UNIT_ROWS = 1024, ///< ticks whose digests are remembered
};

/// The values of a unit that a client has received.
struct storm_received_unit {
    hc_tick as_of;        ///< head of the newest snapshot that named it; HC_NO_TICK: none
    hc_tick received[64]; ///< by head % 64: heads of the snapshots with a value, HC_NO_TICK: none
    hc_tick since;        ///< head of the first since it was unknown; HC_NO_TICK: it is unknown
    bool dropped;         ///< by the newest
};

/// Digests of all units at a tick, as it stood at a head.
struct storm_units {
    const struct hc_world *world;
    uint32_t total;
    hc_tick *tick, *head; ///< [STORM_UNIT_ROWS]
    uint64_t *digests;    ///< [STORM_UNIT_ROWS][total]
    hc_tick *inputs_head; ///< [STORM_UNIT_ROWS] at which the two that follow were made
    uint64_t *inputs_us;  ///< [STORM_UNIT_ROWS] when they were
    uint64_t *bases;      ///< [STORM_UNIT_ROWS][players] storm_unit_base
    uint64_t *inputs;     ///< [STORM_UNIT_ROWS][players] storm_inputs_digest
};

void storm_units_init(struct storm_units *units, const struct hc_world *world);
void storm_units_free(struct storm_units *units);

/// The digest of a unit in a world.
uint64_t storm_unit_digest(const struct hc_world *world, hc_unit unit, const uint8_t *presence,
                           const uint8_t *states);

/// The digests of all units on the server at `tick`, as they are now.
const uint64_t *storm_units_row(struct storm_match *match, hc_tick tick);

/// The digest of a player's newest known input before `tick`, from which later ones are predicted.
/// 0: the player is not there.
uint64_t storm_unit_base(const struct hc_world *world, const struct hc_timeline *timeline,
                         hc_player player, hc_tick tick);

/// The digest of a player's inputs, joins and leaves that are known in [tick, as_of].
uint64_t storm_inputs_digest(const struct hc_world *world, const struct hc_timeline *timeline,
                             hc_player player, hc_tick tick, hc_tick as_of);

/// The hash of a world by its definition, field by field.
uint64_t storm_world_hash(const struct hc_world *world, const uint8_t *presence,
                          const uint8_t *states);

/// Whether the unit is in view of a connection wherever it is.
bool storm_unit_always_seen(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit);

/// How far the unit is from the nearest own player on the server at `tick`; -1: nothing of it is
/// alive, or an own player is not.
int64_t storm_unit_distance(const struct storm_match *match, const struct storm_conn *conn,
                            hc_unit unit, hc_tick tick);

/// Whether the unit may be out of the interest set at `tick`: farther than the view and a quarter
/// of it, or at an unknown distance.
bool storm_unit_may_be_hidden(const struct storm_match *match, const struct storm_conn *conn,
                              hc_unit unit, hc_tick tick);

/// Whether it surely is out of it.
bool storm_unit_hidden(const struct storm_match *match, const struct storm_conn *conn, hc_unit unit,
                       hc_tick tick);

/// Whether any entity of the unit is known in a world.
bool storm_unit_known(const struct hc_world *world, hc_unit unit, const uint8_t *presence);

/// Remembers the values that a snapshot sent now has to contain.
void storm_units_sent(struct storm_match *match, const struct storm_conn *conn,
                      struct storm_sent *sent, hc_tick tick);

/// A client has been created.
void storm_units_created(struct storm_match *match, unsigned client);

/// A client has accepted a SNAPSHOT.
void storm_units_taken(struct storm_match *match, unsigned client);

/// The first unit whose newest snapshot is `sent`, but whose value there the client does not hold;
/// false: there is none.
bool storm_units_differ(const struct storm_match *match, unsigned client,
                        const struct storm_sent *sent, hc_unit *unit);

/// Whether the client has received a value of the unit in the snapshot of head `as_of`.
bool storm_units_received(const struct storm_match *match, unsigned client, hc_tick as_of,
                          hc_unit unit);

/// Whether a snapshot that the client has received had the unit at this tick.
bool storm_units_received_at(const struct storm_match *match, unsigned client,
                             const struct storm_conn *conn, hc_unit unit, hc_tick tick);

/// Fails with the difference in one unit; the pointers of `right` may be NULL.
void storm_units_fail(struct storm_match *match, const char *oracle, hc_tick tick, hc_unit unit,
                      const char *who, const struct hc_timeline *held, struct storm_state right);
