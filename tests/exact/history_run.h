/// The run of one random history, after which two timelines and the record must be equal.
///
/// A selective timeline, a full one, and the record of tests/oracle are given the same operations
/// in the same random order: late, early, missing, forced, duplicate and out-of-range inputs;
/// joins, leaves and rejoins; on a replica also true and false states, retractions and restarts.
/// Their states and inputs must then be equal, byte for byte.
#pragma once

#include "tests/exact/truth.h"
#include "check/history.h"

enum { RUN_SELECTIVE, RUN_FULL, RUN_TIMELINES };

/// The counts of a run, see run_count_names.
enum run_count {
    COUNT_AUTHORITIES,
    COUNT_REPLICAS,
    COUNT_COMPARED_TICKS,
    COUNT_IN_TIME,      ///< histories replayed with every input in time
    COUNT_SPREAD,       ///< authorities on which late inputs changed an entity of another player
    COUNT_DIED_OUT,     ///< authorities on which a change died out before the head
    COUNT_LATE_INPUTS,  ///< known inputs put before the head
    COUNT_EARLY_INPUTS, ///< known inputs put at the head or after it
    COUNT_OLD_INPUTS,   ///< before the window; a replica predicts from them
    COUNT_DOUBLED,      ///< inputs for slots that were not unknown
    COUNT_FORCED,       ///< forced slots
    COUNT_JOINS,
    COUNT_LEAVES,
    COUNT_STATES,
    COUNT_RESTARTS,
    COUNT_RETRACTED,
    COUNT_DEATHS,
    COUNT_RESPAWNS,
    COUNT_PICKUPS,
    COUNT_CONTESTED, ///< pickups taken with two or more players in grasp
    COUNT_MATCH_ENDS,
    COUNT_REWINDS,
    COUNT_SELECTIVE_STEPS, ///< entity steps taken again
    COUNT_FULL_STEPS,
    RUN_COUNTS
};

/// The text of each count.
extern const char *const run_count_names[RUN_COUNTS];

/// A history in progress: everything is drawn from `seed` and `number`.
struct history_run {
    uint64_t seed;
    uint32_t number;

    struct hc_rng rng;
    struct hc_game game;
    struct hc_world world;
    struct hc_timeline_config config;
    struct truth *truth;
    struct hc_history *record;
    struct hc_timeline *timelines[RUN_TIMELINES];
    uint32_t advances, done; ///< ticks of the history, and ticks so far
    bool always;             ///< compare after every advance
    bool lossless;           ///< every input arrives inside the window
    bool spread, died_out;   ///< see COUNT_SPREAD, COUNT_DIED_OUT
    bool *late;              ///< [players] had a late input since the last resimulation
    bool any_late;
    uint8_t *before; ///< the selective timeline's ring before a resimulation
    uint64_t counts[RUN_COUNTS];
};

/// Plays history `number` of `seed` and fills `run->counts`. False after a difference, which it has
/// printed with the command that repeats it.
bool run_history(struct history_run *run, uint64_t seed, uint32_t number);

/// Prints a difference at `tick` and the command that repeats the history; returns false.
__attribute__((format(printf, 3, 4))) bool run_differs(const struct history_run *run, hc_tick tick,
                                                       const char *format, ...);

/// The operations, applied to the record and to both timelines; false when their results differ.
bool run_put_input(struct history_run *run, hc_player player, hc_tick tick, const uint8_t *input);
bool run_put_roster(struct history_run *run, hc_player player, hc_tick tick,
                    enum hc_roster roster_change);
bool run_force(struct history_run *run, hc_player player, hc_tick before);
bool run_retract(struct history_run *run, hc_player player, hc_tick tick);
bool run_put_state(struct history_run *run, hc_tick tick, hc_tick as_of,
                   const struct hc_entity_state *entities, uint32_t count);

/// Does the random operations before an advance; false when results differ.
bool run_act_authority(struct history_run *run);
bool run_act_replica(struct history_run *run);

/// Puts the states of some or all entities at `tick` on a replica; a few of them are false.
bool run_receive_state(struct history_run *run, hc_tick tick);

/// Compares both timelines with the record over the whole ring; false after a difference. All must
/// be resimulated.
bool run_compare(struct history_run *run);

/// Plays an authority's history again with every input in time, if all of them are known; false
/// when a state differs from the record's.
bool run_compare_in_time(struct history_run *run);
