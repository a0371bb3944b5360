/// Runs: extrapolations of units that are simulated alone, stored tick after tick.
///
/// Extrapolations from different baselines often reach the same state of a unit at the same tick:
/// most of all those of one client at the next tick, when both its baseline and the tick shown are
/// a tick newer. So the states of a unit under one input are stored as a run. An extrapolation that
/// comes upon a state of a run, with the run's input and the same fields of the referee, as far as
/// any step has read them, goes on along the run, and makes it longer where it ends. An
/// extrapolation is a few runs, one for each input. It equals hc_extrapolate's.
///
/// A state is recognised by its hash. Units whose numbers are equal modulo `places` share runs; the
/// unit is part of what a run is compared by.
#pragma once

#include "common/extrapolate.h"

enum {
    HC_RUN_TICKS = 32, ///< the newest ticks of a run whose hashes are stored
};

/// A run of a unit.
struct hc_run {
    uint64_t given;    ///< hash of the unit, its owner's input and the referee's fields; 0: free
    hc_tick first, to; ///< the ticks whose hashes are stored
    uint64_t hashes[HC_RUN_TICKS]; ///< hc_runs_hash at each of these, by the tick's remainder
};

struct hc_runs {
    const struct hc_world *world;
    struct hc_extrapolator *extrapolator; ///< borrowed
    uint32_t places;                      ///< of units
    uint32_t each;                        ///< runs of a place
    uint32_t kept;                        ///< the newest ticks of a run whose states are stored
    struct hc_run *at;                    ///< [places][each]
    uint64_t *used;  ///< [places][each] number of the newest extrapolation that used the run
    uint64_t *tags;  ///< [HC_RUN_TICKS][places][words] of the hashes at each tick: a byte of each,
                     ///< mixed with `given`
    uint32_t words;  ///< of the tags of a place at a tick
    uint8_t *states; ///< [places][each][kept] of hc_unit_bytes, by the tick's remainder
    uint64_t extrapolations; ///< extrapolations so far
    const void *referee;     ///< of the extrapolations that follow; NULL: unknown
    uint64_t referee_hash;   ///< of the fields that any step has read
    uint8_t groups;          ///< of the referee, that any step has read
};

/// Lays the arrays out from `base` (NULL: only measures) for `each` runs of `places` units, and the
/// states of their `kept` newest ticks, at most HC_RUN_TICKS; returns the bytes needed. The memory
/// is zeroed; that of a unit stays untouched until the unit is extrapolated. `extrapolator` and its
/// `world` are borrowed.
size_t hc_runs_layout(struct hc_runs *runs, const struct hc_world *world,
                      struct hc_extrapolator *extrapolator, uint32_t places, uint32_t each,
                      uint32_t kept, uint8_t *base);

/// The extrapolations that follow have this referee (state_size bytes, borrowed; NULL: unknown).
void hc_runs_refer(struct hc_runs *runs, const void *referee);

/// The hash of a unit's presence and states, which hc_unit_place has placed.
uint64_t hc_runs_hash(const struct hc_world *world, hc_unit unit,
                      const struct hc_unit_value *value);

/// The HC_EXTRAPOLATION_STEP of `from`, whose hc_runs_hash is `hash`, with these input changes to
/// `tick`: 1 to HC_EXTRAPOLATE_TICKS_MAX ticks later, of a unit that is not the referee. As
/// hc_extrapolate's. Its states are borrowed until the next call.
struct hc_unit_value hc_runs_extrapolate(struct hc_runs *runs, hc_unit unit,
                                         const struct hc_unit_value *from, uint64_t hash,
                                         const struct hc_input_changes *changes, hc_tick tick);
