/// Records the server's states, inputs and hashes of each final tick, and checks that they stay.
#pragma once

#include "server/host.h"

struct final_record;

/// Creates a record for ticks in [0, `ticks`) of a host of this configuration.
struct final_record *record_create(const struct hc_server_config *config, uint32_t ticks);

void record_destroy(struct final_record *record);

/// Copies the slots that leave the window at the next tick; call it before every advance of the
/// host.
void record_before_advance(struct final_record *record, const struct hc_server *host);

/// Records the ticks that have become final; call it after every advance of the host. Fails the
/// test if the final tick moves back or leaves its bounds, or if a final tick has changed.
void record_final_ticks(struct final_record *record, const struct hc_server *host);

const struct hc_world *record_world(const struct final_record *record);

/// The secret of the server's world.
const uint8_t *record_secret(const struct final_record *record);

/// The newest recorded tick.
hc_tick record_final(const struct final_record *record);

/// A recorded tick's states and presence, its hash, and the chain hash up to it.
const uint8_t *record_states(const struct final_record *record, hc_tick tick);
const uint8_t *record_presence(const struct final_record *record, hc_tick tick);
uint64_t record_hash(const struct final_record *record, hc_tick tick);
uint64_t record_chain(const struct final_record *record, hc_tick tick);

/// All players' effective inputs and roster changes of a tick before the newest, and the state of
/// one slot. Not for a host without history, which stores no inputs.
const uint8_t *record_inputs(const struct final_record *record, hc_tick tick);
const uint8_t *record_roster_changes(const struct final_record *record, hc_tick tick);
enum hc_slot record_slot(const struct final_record *record, hc_player player, hc_tick tick);

/// Counts the forced slots of `player` in [first, end).
uint32_t record_count_forced(const struct final_record *record, hc_player player, hc_tick first,
                             hc_tick end);

/// Fails the test unless a plain simulation from scratch, with these inputs and roster changes, has
/// these states at every tick.
void record_check_plain(const struct final_record *record);
