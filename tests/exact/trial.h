/// One random history: a world, what happens in it, and three keepers of its past that must agree.
///
/// A selective timeline, one that steps everything again, and the record of tests/oracle are given
/// the same operations in the same random order: inputs late, early, missing, forced, doubled and
/// out of range; joins, leaves and rejoins; for a follower also states, true or not, retractions
/// and restarts. What they then hold must be equal, byte for byte.
#pragma once

#include "tests/exact/truth.h"
#include "tests/oracle/history.h"

enum { TRIAL_SELECTIVE, TRIAL_FULL, TRIAL_KEEPERS };

/// What happened in some histories; also the columns of the table, see trial_count_names.
enum trial_count {
    COUNT_AUTHORITIES,
    COUNT_FOLLOWERS,
    COUNT_COMPARED_TICKS,
    COUNT_IN_TIME,      ///< histories repeated with every input in time
    COUNT_SPREAD,       ///< authorities where late inputs changed an entity of another player
    COUNT_DIED_OUT,     ///< authorities where a change ended before the head
    COUNT_LATE_INPUTS,  ///< known inputs put before the head
    COUNT_EARLY_INPUTS, ///< known inputs put at the head or after it
    COUNT_OLD_INPUTS,   ///< before the window; on a follower they renew predictions
    COUNT_DOUBLED,      ///< inputs for slots that were closed already
    COUNT_FORCED,       ///< slots closed by force
    COUNT_JOINS,
    COUNT_LEAVES,
    COUNT_PINS,
    COUNT_RESTARTS,
    COUNT_RETRACTED,
    COUNT_DEATHS,
    COUNT_RESPAWNS,
    COUNT_PICKUPS,
    COUNT_CONTESTED, ///< pickups taken with two or more players in grasp
    COUNT_MATCH_ENDS,
    COUNT_REWINDS,
    COUNT_SELECTIVE_STEPS, ///< entity steps repeated
    COUNT_FULL_STEPS,
    TRIAL_COUNTS
};

/// What each count counts, in words.
extern const char *const trial_count_names[TRIAL_COUNTS];

struct trial {
    // The caller sets these two; all else is drawn from them.
    uint64_t seed;
    uint32_t number;

    struct hc_rng rng;
    struct hc_game game;
    struct hc_world world;
    struct hc_timeline_config config;
    struct truth *truth;
    struct hc_history *record;
    struct hc_timeline *keepers[TRIAL_KEEPERS];
    uint32_t advances, done; ///< ticks that the history lasts, and lasted so far
    bool always;             ///< compare after every advance
    bool lossless;           ///< every input comes, and inside the window
    bool spread, died_out;
    bool *late; ///< [players] of whom an input came late since the last settle
    bool any_late;
    uint8_t *before; ///< the selective timeline's ring before a settle
    uint64_t counts[TRIAL_COUNTS];
};

/// Plays history `number` of `seed`; false after a difference, which has been printed together with
/// the command that repeats it. `counts` of `trial` tell what happened.
bool trial_run(struct trial *trial, uint64_t seed, uint32_t number);

/// Prints a difference at `tick` and the command that repeats the history; returns false.
__attribute__((format(printf, 3, 4))) bool trial_differs(const struct trial *trial, hc_tick tick,
                                                         const char *format, ...);

/// The operations: done to all three keepers, whose answers must be the same (else false).
bool trial_put_input(struct trial *trial, hc_player player, hc_tick tick, const uint8_t *input);
bool trial_put_roster(struct trial *trial, hc_player player, hc_tick tick,
                      enum hc_roster roster_change);
bool trial_force(struct trial *trial, hc_player player, hc_tick before);
bool trial_retract(struct trial *trial, hc_player player, hc_tick tick);
bool trial_put_state(struct trial *trial, hc_tick tick, hc_tick as_of,
                     const struct hc_entity_state *entities, uint32_t count);

/// What befalls the keepers before an advance: of an authority, and of a follower.
bool trial_act_authority(struct trial *trial);
bool trial_act_replica(struct trial *trial);

/// Puts the state of `tick`, of every entity or of some, true or not quite: of a follower.
bool trial_hear_state(struct trial *trial, hc_tick tick);

/// Compares all that the three hold, over the whole ring; false after a difference. The record and
/// the timelines must be settled.
bool trial_compare(struct trial *trial);

/// Plays an authority's history once more with every input in time, where all of them have come in
/// the end; false when a state differs from the record's.
bool trial_compare_in_time(struct trial *trial);
