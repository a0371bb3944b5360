/// The authority: one world, its timeline and its clients. A state machine without I/O.
///
/// Calls belong in this order:
///   1. hc_sv_host_create;
///   2. for each datagram: hc_sv_host_receive;
///   3. at hc_sv_host_deadline: hc_sv_host_advance, then (also after 2) hc_sv_host_send until it
///      returns 0, hc_sv_host_poll_event until it returns false, and hc_sv_host_next_message and
///      hc_sv_host_next_unreliable until they return NULL; back to 2;
///   4. hc_sv_host_shutdown, and 3 until hc_sv_host_closed; hc_sv_host_destroy.
/// Times are microseconds of one monotonic clock. All memory is obtained in 1.
///
/// The host admits only clients with a token of one of its keys. A client that was silent for too
/// long has lost its connection. It lingers for a while, and can reconnect with its token or with
/// its ticket. A host that was restarted with the same keys admits it too, but with new players.
///
/// A client whose datagrams come from another address must validate that path. Until then
/// hc_sv_host_send returns each of its snapshots twice in a row, with the same bytes: for the
/// validated address, and for the other one within the limit of an unvalidated path.
#pragma once

#include "common/timeline.h"
#include "hindcast/address.h"
#include "hindcast/game.h"
#include "hindcast/server.h"
#include "proto/cookie.h"
#include "proto/datagram.h"
#include "proto/events.h"
#include "proto/message.h"
#include "proto/snapshot.h"
#include "proto/token.h"
#include "server/overload.h"
#include "server/refused_clients.h"

struct hc_sv_host;

/// Settings of a host that only tests change.
struct hc_sv_host_test {
    uint32_t future;            ///< inputs are accepted up to head + future; ticks
    hc_tick last_tick;          ///< after it the host shuts down; [1, HC_SNAPSHOT_TICK_MAX]
    uint32_t ticks_per_advance; ///< the most ticks of one call, to catch up after a stall
    bool show_head; ///< shows the head instead of T in every snapshot, as naive servers do
};

/// Future 64, no last tick but the wire's, 16 ticks in one call, T shown: the settings of programs.
struct hc_sv_host_test hc_sv_host_test_default(void);

/// As hc_server_config_check, for a configuration of this library's size. `test`: NULL for the
/// defaults.
const char *hc_sv_host_config_check(const struct hc_server_config *config,
                                    const struct hc_sv_host_test *test, char *why, size_t why_size);

/// As hc_server_create, for a configuration of this library's size with a secret. `test`: NULL for
/// the defaults.
struct hc_sv_host *hc_sv_host_create(const struct hc_server_config *config,
                                     const struct hc_sv_host_test *test, uint64_t unix_us,
                                     uint64_t now_us);

/// Makes an unused host remember the used tokens and the refused users of another one, with as many
/// clients.
void hc_sv_host_follow(struct hc_sv_host *host, const struct hc_sv_host *before);

/// Moves tick 0 to `now_us`, before the first advance.
void hc_sv_host_start(struct hc_sv_host *host, uint64_t now_us);

/// Frees it and sends nothing to the clients; NULL is allowed.
void hc_sv_host_destroy(struct hc_sv_host *host);

/// Takes a datagram, which is borrowed for the call. `now_us` is the arrival time; for DATA it need
/// not be in order. Returns HC_OK, or the cause of its refusal.
enum hc_status hc_sv_host_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);

/// As hc_server_deny; 0 denies nothing.
enum hc_status hc_sv_host_deny(struct hc_sv_host *host, const struct hc_address *from,
                               const uint8_t *bytes, size_t size, enum hc_deny_reason reason,
                               uint64_t now_us);

/// Runs the ticks and timeouts that are due at `now_us`, and marks snapshots and CLOSEs as due.
void hc_sv_host_advance(struct hc_sv_host *host, uint64_t now_us);

/// Writes the next due datagram and its destination; returns its size, 0: none is due.
size_t hc_sv_host_send(struct hc_sv_host *host, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// Notes the time, us, that the embedder measured since the last call, up to `now_us`: in
/// hc_sv_host_advance, in hc_sv_host_send, and in all other work. The host leaves work out while
/// the sum takes too much of the time (server/overload.h); without these calls it never does.
void hc_sv_host_note_work(struct hc_sv_host *host, uint64_t advance_us, uint64_t send_us,
                          uint64_t other_us, uint64_t now_us);

/// The time of the next hc_sv_host_advance.
uint64_t hc_sv_host_deadline(const struct hc_sv_host *host);

/// As hc_server_poll_event.
bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_server_event *event);

/// As hc_server_sessions.
uint32_t hc_sv_host_sessions(const struct hc_sv_host *host, struct hc_server_session *out,
                             uint32_t most);

/// As hc_server_next_game_event.
bool hc_sv_host_next_game_event(struct hc_sv_host *host, struct hc_server_game_event *event);

/// Accepts tokens of these keys, at least one, from now on. Sessions continue, and every client is
/// sent a ticket of the first key.
void hc_sv_host_set_keys(struct hc_sv_host *host, const struct hc_token_ring *keys);

/// As hc_server_kick.
enum hc_status hc_sv_host_kick(struct hc_sv_host *host, uint32_t cid, enum hc_close_reason reason,
                               uint64_t now_us);

/// As hc_server_set_refused.
enum hc_status hc_sv_host_set_refused(struct hc_sv_host *host, const uint64_t *client_ids,
                                      uint32_t count, uint64_t not_before_s, uint64_t now_us);

/// As hc_server_add_npc.
hc_player hc_sv_host_add_npc(struct hc_sv_host *host);

/// As hc_server_name_npc.
enum hc_status hc_sv_host_name_npc(struct hc_sv_host *host, hc_player player, const char *name);

/// As hc_server_remove_npc.
enum hc_status hc_sv_host_remove_npc(struct hc_sv_host *host, hc_player player);

/// As hc_server_put_npc_input.
enum hc_status hc_sv_host_put_npc_input(struct hc_sv_host *host, hc_player player, hc_tick tick,
                                        const void *input);

/// As hc_server_set_time.
void hc_sv_host_set_time(struct hc_sv_host *host, uint64_t unix_us, uint64_t now_us);

/// As hc_server_issue.
enum hc_status hc_sv_host_issue(struct hc_sv_host *host, const struct hc_server_user *user,
                                uint32_t life_s, struct hc_credential *credential, uint64_t now_us);

/// Sends the `size` bytes at `message` to a client's game, once and in order, even if datagrams are
/// lost. HC_UNEXPECTED: there is no client `cid`. HC_INVALID: size not in [1, HC_EVENTS_SIZE_MAX].
/// HC_FULL: too many messages are not acked; the client is dropped, because none may be left out.
enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us);

/// The next message of a client's game, valid until the next datagram; NULL: none. While too many
/// messages of a client are unread, its datagrams are refused.
const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host, struct hc_server_message *received);

/// As hc_server_send_unreliable.
enum hc_status hc_sv_host_send_unreliable(struct hc_sv_host *host, uint32_t cid,
                                          const void *message, size_t size);

/// As hc_server_next_unreliable.
const uint8_t *hc_sv_host_next_unreliable(struct hc_sv_host *host,
                                          struct hc_server_message *received);

/// Closes every connection and admits no more clients.
void hc_sv_host_shutdown(struct hc_sv_host *host, uint64_t now_us);

/// See hc_server_restart.
void hc_sv_host_restart(struct hc_sv_host *host, uint32_t seconds, uint64_t now_us);

/// Whether the host has simulated its last tick, and so has shut down.
bool hc_sv_host_ended(const struct hc_sv_host *host);

/// See hc_server_closed.
bool hc_sv_host_closed(const struct hc_sv_host *host);

/// The world's timeline, read-only.
const struct hc_timeline *hc_sv_host_timeline(const struct hc_sv_host *host);

/// The world's parameters.
const struct hc_world *hc_sv_host_world(const struct hc_sv_host *host);

/// The secrets that a host derives from its own for its world. Clients never receive them.
struct hc_sv_secrets {
    uint8_t world[HC_SCENE_SECRET_SIZE]; ///< for hc_scene_secret_random
    uint8_t chain[HC_CHAIN_KEY_SIZE];    ///< of the chain hash, for auditors of the whole world
};

/// The secrets of a host with the configured `secret`.
struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_SERVER_SECRET_SIZE]);

/// The final tick F, and the chained hash of all ticks up to it.
hc_tick hc_sv_host_final(const struct hc_sv_host *host, uint64_t *chain);

/// How many clients are connected.
unsigned hc_sv_host_clients(const struct hc_sv_host *host);

/// The counts, valid until the next call.
const struct hc_server_stats *hc_sv_host_stats(const struct hc_sv_host *host);
