/// The ledger: what the server held at each tick once that was final, and that it stayed so.
#pragma once

#include "server/host.h"

struct sent_log;

/// For ticks in [0, `ticks`) of a host of this configuration.
struct sent_log *ledger_create(const struct hc_sv_host_config *config, uint32_t ticks);

void ledger_destroy(struct sent_log *sent_log);

/// Looks at the slots that the coming tick pushes out of the window; to be called before every
/// advance of the host.
void ledger_expect(struct sent_log *sent_log, const struct hc_sv_host *host);

/// Enters what has become final; to be called after every advance of the host. Fails the test when
/// the final tick moves back, leaves its bounds, or a final tick has changed since.
void ledger_note(struct sent_log *sent_log, const struct hc_sv_host *host);

const struct hc_world *ledger_world(const struct sent_log *sent_log);

/// The secret of the server's world.
const uint8_t *ledger_secret(const struct sent_log *sent_log);

/// The newest tick entered.
hc_tick ledger_final(const struct sent_log *sent_log);

/// Of a tick up to that: its states and presence, its hash, and the chain hash up to it.
const uint8_t *ledger_states(const struct sent_log *sent_log, hc_tick tick);
const uint8_t *ledger_presence(const struct sent_log *sent_log, hc_tick tick);
uint64_t ledger_hash(const struct sent_log *sent_log, hc_tick tick);
uint64_t ledger_chain(const struct sent_log *sent_log, hc_tick tick);

/// Of a tick before it: all players' effective inputs and controls, and how a slot stands. A host
/// without history keeps no inputs, and these must not be called.
const uint8_t *ledger_inputs(const struct sent_log *sent_log, hc_tick tick);
const uint8_t *ledger_controls(const struct sent_log *sent_log, hc_tick tick);
enum hc_slot ledger_slot(const struct sent_log *sent_log, hc_player player, hc_tick tick);

/// How many slots of `player` in [first, end) were forced.
uint32_t ledger_forced(const struct sent_log *sent_log, hc_player player, hc_tick first,
                       hc_tick end);

/// Fails the test unless a plain simulation from scratch, with these inputs and controls, comes to
/// these states at every tick.
void ledger_check_plain(const struct sent_log *sent_log);
