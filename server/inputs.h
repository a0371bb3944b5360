/// Puts the inputs of clients and NPCs into the timeline, and closes the slots of those that come
/// too late.
#pragma once

#include "server/state.h"

/// The peer's late limit, ticks.
uint32_t hc_sv_inputs_late_limit(const struct hc_server *server, const struct hc_sv_peer *peer);

/// Takes the inputs of a datagram that came at `arrived_us`; `acked` is the tick of the newest
/// snapshot that the client has acked before, or HC_NO_TICK.
void hc_sv_inputs_put(struct hc_server *server, struct hc_sv_peer *peer, hc_tick acked,
                      const struct hc_input_message *message, struct hc_input_run *run,
                      uint64_t arrived_us);

/// The reasons to force inputs.
enum hc_sv_inputs_cause {
    HC_SV_INPUTS_LATE,     ///< Their ticks are beyond the late limit of the client.
    HC_SV_INPUTS_GIVEN_UP, ///< The client sends these inputs no more.
    HC_SV_INPUTS_SILENT,   ///< The client has lost its connection.
};

/// Forces the unknown inputs of a peer's player before the tick `before`, counts them by their
/// cause and records them for the peer's snapshots.
void hc_sv_inputs_force(struct hc_server *server, struct hc_sv_peer *peer, hc_player player,
                        hc_tick before, enum hc_sv_inputs_cause cause);

/// As hc_server_put_npc_input.
enum hc_status hc_sv_inputs_put_npc(struct hc_server *server, hc_player player, hc_tick tick,
                                    const void *input);
