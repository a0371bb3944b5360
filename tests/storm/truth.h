/// The truth: a plain simulation that is fed with what the server declares known or forced, tick by
/// tick as they become final, and that the server must equal at every one of them.
///
/// Nothing of it looks at how the server works: which player is in follows from the events of the
/// server, joins and leaves are of the head at which they became due, and a forced input is what
/// the game predicts from the newest known one before it.
#pragma once

#include "server/host.h"
#include "tests/storm/conns.h"
#include "tests/storm/units.h"

struct storm_truth;

/// For a host of this configuration, and at most STORM_TICKS_MAX ticks. With `deep` the whole
/// window is looked at each time, and worlds are kept, so that what differs can be named. NULL when
/// memory is short.
struct storm_truth *storm_truth_create(const struct hc_sv_host_config *config, bool deep,
                                       struct storm_conns *conns, struct storm_verdict *verdict);
void storm_truth_destroy(struct storm_truth *truth);

/// The server has accepted or let go of somebody; `conn` may be NULL.
void storm_truth_event(struct storm_truth *truth, const struct hc_sv_event *event,
                       const struct storm_conn *conn);

/// Whether a player's leave is still to be stamped: who is given the slot now joins a tick later.
bool storm_truth_leaves(const struct storm_truth *truth, hc_player player);

/// The host is about to advance at `now_us` of its clock.
void storm_truth_expect(struct storm_truth *truth, const struct hc_sv_host *host, uint64_t now_us);

/// The host has advanced.
void storm_truth_note(struct storm_truth *truth, const struct hc_sv_host *host);

const struct hc_world *storm_truth_world(const struct storm_truth *truth);

/// The newest final tick looked at.
hc_tick storm_truth_final(const struct storm_truth *truth);

/// The newest tick before it for which the server knows an input that has a key, or is another than
/// was predicted: until it was known other ticks after it were shown. 0: none.
hc_tick storm_truth_news(const struct storm_truth *truth);

/// The newest tick up to that at which a player appeared at a place that only the server knows.
hc_tick storm_truth_appeared(const struct storm_truth *truth);

/// Of a tick up to that: the chain hash, and storm_world_digest of its world.
uint64_t storm_truth_chain(const struct storm_truth *truth, hc_tick tick);
uint64_t storm_truth_digest(const struct storm_truth *truth, hc_tick tick);

/// Of such a tick: storm_unit_digest of a unit.
uint64_t storm_truth_unit(const struct storm_truth *truth, hc_unit unit, hc_tick tick);

/// Its world, NULL unless `deep`.
const uint8_t *storm_truth_presence(const struct storm_truth *truth, hc_tick tick);
const uint8_t *storm_truth_states(const struct storm_truth *truth, hc_tick tick);

/// What the slot of a final tick was: known, forced, or unknown where nobody was in.
enum hc_slot storm_truth_slot(const struct storm_truth *truth, hc_player player, hc_tick tick);

/// A quick hash of a tick's bytes, for comparing on this machine.
uint64_t storm_world_digest(const struct hc_world *world, const uint8_t *presence,
                            const uint8_t *states);
