/// The calls of a server for this project's tests alone, beside hindcast/server.h: settings that no
/// program changes, and state that its clients never learn.
///
/// A server is a state machine without I/O. It calls its parts (server/state.h) in this order:
///   1. hc_server_receive: a HELLO or CONNECT goes to the handshake, and from there to admission,
///      clients, program and outbox; a DATA through its connection to the inputs;
///   2. hc_server_advance, for each tick that is due: sessions, inputs that come too late, the
///      timeline, replication, the program, and the snapshots that are due;
///   3. hc_server_send: what waits in the outbox, then client after client.
#pragma once

#include "hindcast/game.h"
#include "hindcast/server.h"
#include "hindcast/tick.h"
#include "proto/limits.h"
#include "proto/snapshot.h"
#include "server/host_test.h"

/// Future 64, no last tick but the wire's, 16 ticks in one call, T shown: the settings of programs.
struct hc_sv_host_test hc_sv_host_test_default(void);

/// As hc_server_config_check, for a configuration of this library's size. `test`: NULL for the
/// defaults.
const char *hc_sv_host_config_check(const struct hc_server_config *config,
                                    const struct hc_sv_host_test *test, char *why, size_t why_size);

/// As hc_server_create, for a configuration of this library's size with a secret. `test`: NULL for
/// the defaults.
struct hc_server *hc_sv_host_create(const struct hc_server_config *config,
                                    const struct hc_sv_host_test *test, uint64_t unix_us,
                                    uint64_t now_us);

/// The secrets that a server derives from its own for its world. Clients never receive them.
struct hc_sv_secrets {
    uint8_t world[HC_SCENE_SECRET_SIZE]; ///< for hc_scene_secret_random
    uint8_t chain[HC_CHAIN_KEY_SIZE];    ///< of the chain hash, for auditors of the whole world
};

/// The secrets of a server with the configured `secret`.
struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_SERVER_SECRET_SIZE]);

/// The final tick F, and the chained hash of all ticks up to it.
hc_tick hc_sv_host_final(const struct hc_server *server, uint64_t *chain);
