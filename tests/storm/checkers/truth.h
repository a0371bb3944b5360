/// The truth: a plain simulation that gets each tick's inputs, known or forced, when they become
/// final. The server must equal it at every final tick.
///
/// It models nothing of the server: players follow from the server's events, roster changes are of
/// the head at which they became due, and a forced input is predicted by the game from the newest
/// known one before it.
#pragma once

#include "tests/sim/sim.h"
#include "tests/storm/connections.h"
#include "tests/storm/units.h"
#include "tests/storm/verdict.h"

struct storm_truth;

/// For a host of this configuration, and at most STORM_TICKS_MAX ticks. With `deep` it looks at the
/// whole window each time, and keeps worlds to name a difference. NULL when memory is short.
struct storm_truth *storm_truth_create(const struct hc_sim_config *sim, bool deep,
                                       struct storm_conns *conns, struct storm_verdict *verdict);
void storm_truth_destroy(struct storm_truth *truth);

/// Whether a player's leave is still to be stamped: the next owner of the slot joins a tick later.
bool storm_truth_leaves(const struct storm_truth *truth, hc_player player);

/// The world that is played; borrowed by all.
const struct hc_world *storm_truth_world(const struct storm_truth *truth);

/// The newest final tick looked at.
hc_tick storm_truth_final(const struct storm_truth *truth);

/// The newest tick before it with an input that has a key, or differs from its prediction: until
/// the input arrived, ticks after it were shown otherwise. 0: none.
hc_tick storm_truth_changed(const struct storm_truth *truth);

/// The newest tick up to that at which a player appeared at a place that only the server knows.
hc_tick storm_truth_appeared(const struct storm_truth *truth);

/// Of a tick up to that: the chain hash, and storm_world_digest of its world.
uint64_t storm_truth_chain(const struct storm_truth *truth, hc_tick tick);
uint64_t storm_truth_digest(const struct storm_truth *truth, hc_tick tick);

/// Of such a tick: storm_unit_digest of a unit.
uint64_t storm_truth_unit(const struct storm_truth *truth, hc_unit unit, hc_tick tick);

/// Its world, whose pointers are NULL unless `deep`.
struct storm_state storm_truth_state(const struct storm_truth *truth, hc_tick tick);

/// The slot of a final tick: known, forced, or unknown where no player was in.
enum hc_slot storm_truth_slot(const struct storm_truth *truth, hc_player player, hc_tick tick);

/// A quick hash of a tick's bytes, for comparing on this machine.
uint64_t storm_world_digest(const struct hc_world *world, const uint8_t *presence,
                            const uint8_t *states);
