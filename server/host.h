/// The authority: one world, its timeline and its clients. A state machine without I/O.
///
/// Calls belong in this order:
///   1. hc_sv_host_create;
///   2. for each datagram: hc_sv_host_receive;
///   3. at hc_sv_host_deadline: hc_sv_host_advance, then (also after 2) hc_sv_host_send until it
///      returns 0, hc_sv_host_poll_event until it returns false, and hc_sv_host_next_message until
///      it returns NULL; back to 2;
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
#include "hindcast/game.h"
#include "hindcast/histogram.h"
#include "proto/address.h"
#include "proto/cookie.h"
#include "proto/datagram.h"
#include "proto/events.h"
#include "proto/message.h"
#include "proto/snapshot.h"
#include "proto/token.h"
#include "server/overload.h"
#include "server/refused_clients.h"

struct hc_sv_host;

enum {
    HC_SV_CLIENTS_MAX = 4096,
    HC_SV_CLIENT_RATE_MIN = 4000, ///< bytes/s
};

struct hc_sv_host_config {
    const struct hc_game *game;
    uint64_t rule_hash; ///< hc_game_rule_hash of the game; 0: hc_sv_host_create computes it
    uint16_t clients;   ///< connections at once, and player slots of the world
    uint16_t tick_rate; ///< Hz
    uint32_t history;   ///< W, the farthest rewind; ticks
    uint32_t future;    ///< inputs are accepted up to head + future; ticks
    /// Ticks by which a client's inputs may be later than they usually are (server/lateness.h);
    /// never later than `history`. So a client that is late only at times, on purpose or not,
    /// changes little of the past. HC_HISTORY_MAX: only `history` limits.
    uint32_t late_margin;
    hc_tick last_tick; ///< after it the host shuts down; [1, HC_SNAPSHOT_TICK_MAX]
    uint64_t seed;     ///< of the world
    uint8_t
        secret[HC_COOKIE_SECRET_SIZE]; ///< random, of this process alone; the host's copy is erased
    struct hc_token_ring keys;         ///< of the tokens that are accepted; at least one
    uint64_t audience;                 ///< tokens must be for it
    uint64_t unix_us;                  ///< Unix time at creation: tokens expire
    uint32_t timeout_us;               ///< a connection is lost after this much silence
    uint32_t linger_us; ///< a client without connection lingers for this long; 0: it leaves at once
    /// Limits of one IPv4 address or IPv6 /64, except loopback: connects a second, and clients at
    /// once; 0: any number.
    uint16_t connects_per_address, clients_per_address;
    /// The most local players of a client, even if its token allows more; and the most clients
    /// without players, which see everything, at once.
    uint16_t players_per_client, spectators;
    /// Seconds from a session's token to its end, over all its connections, also on other servers
    /// of the same keys; 0: no limit.
    uint32_t session_life_s;
    uint32_t ticks_per_advance; ///< the most ticks of one call, to catch up after a stall
    uint32_t client_rate;       ///< the most bytes/s to one client, IP headers included
    uint16_t snapshot_rate;     ///< Hz, at most the tick rate; 0: a snapshot at every tick
    /// Redoes this many ticks at every tick, as if a late input had changed them all: the worst
    /// case, to measure it; [0, history] ticks.
    uint32_t force_rewind;
    /// Shows the head instead of T in every snapshot, as naive servers do: the counter-example of
    /// the tests. No program sets it.
    bool show_head;
    const struct hc_allocator *allocator; ///< NULL: malloc
};

enum hc_sv_event_kind {
    HC_SV_EVENT_JOINED,  ///< a client was accepted
    HC_SV_EVENT_LEFT,    ///< a side closed the connection, for the reason `close`
    HC_SV_EVENT_TIMEOUT, ///< it was silent for too long, and did not reconnect in time
    HC_SV_EVENT_LOST,    ///< it was silent for too long; it lingers
    HC_SV_EVENT_RESUMED, ///< it reconnected: connection `cid` replaces `before`
    HC_SV_EVENT_MOVED,   ///< it has another address now
};

struct hc_sv_event {
    enum hc_sv_event_kind kind;
    struct hc_address address;
    uint32_t cid, before;
    enum hc_close_reason close;
    uint64_t client_id;
    uint8_t name[HC_TOKEN_NAME_SIZE]; ///< padded with zeros; accepted by hc_name_check, or empty
    uint8_t player_count;
    hc_player players[HC_OWN_PLAYERS_MAX];
};

/// A message of a client's game to the server's.
struct hc_sv_message {
    uint32_t cid;
    uint64_t client_id;
    size_t size; ///< in [1, HC_EVENTS_SIZE_MAX]
};

/// CONNECTs that were denied for one reason.
struct hc_sv_denials {
    uint64_t count;
    struct hc_address address; ///< of the newest; its cookie proves it
    bool proven;               ///< the newest has proved that it owns the token
    uint64_t client_id;        ///< of the newest, if `proven`
};

/// Snapshots and joins left out because the host's work took too much of the time.
struct hc_sv_overload_counts {
    enum hc_sv_overload_level level, highest; ///< now, and since the host's creation
    uint64_t ticks[HC_SV_OVERLOAD_LEVELS];    ///< of each level
    uint64_t snapshots, far_snapshots;        ///< left out; of far and idle clients
    uint64_t joins;                           ///< denied with HC_DENY_FULL
    uint64_t late_limited_ticks;              ///< in which inputs could be less late than `history`
};

/// The client whose late inputs went back by the most ticks in all.
struct hc_sv_latest {
    uint64_t client_id, ticks; ///< no ticks: there was none
};

/// The counts of a host since its creation.
struct hc_sv_host_stats {
    uint64_t datagrams_in, datagrams_out, bytes_in, bytes_out;
    uint64_t rejected[HC_STATUS_COUNT]; ///< datagrams refused, by cause; they changed nothing
    uint64_t forged;                    ///< DATA that could not be opened
    uint64_t dropped; ///< DATA not opened, because too many of its source or connection were forged
    uint64_t joins, leaves, timeouts, denied;
    struct hc_sv_denials denials[HC_DENY_REASONS_END]; ///< by hc_deny_reason
    uint64_t unproven;             ///< CONNECTs without the secret of their token: not answered
    uint64_t lost, resumed, moved; ///< connections, as the events of these names
    uint64_t resets;               ///< sent
    uint64_t inputs_received;      ///< distinct ones that took effect
    uint64_t inputs_late;          ///< of those, for a tick already simulated
    uint64_t inputs_forced;        ///< slots closed before their input came
    uint64_t inputs_refused;       ///< too late: once each; beyond the future: each time
    uint64_t inputs_lost;          ///< received inside the window, but after their slot was forced
    uint64_t snapshots, snapshots_rewound;  ///< sent; of those, with a resimulated tick
    uint64_t copies, copied_bytes;          ///< of snapshots, to addresses not yet validated
    uint64_t corrections;                   ///< units of past ticks sent
    uint64_t deltas_encoded, deltas_reused; ///< of units, for all clients
    uint64_t extrapolation_steps;           ///< ticks simulated for their extrapolations
    uint64_t units_examined;                ///< for snapshots, and of past ticks for corrections
    uint32_t longest_unsent_ticks;          ///< the longest wait of a unit in a client's interest
    uint64_t ticks_missed; ///< left out after stalls; the clock was set back by them
    uint64_t ticks_late;   ///< begun a tick or more after they were due
    struct hc_sv_overload_counts overload;
    struct hc_sv_latest latest;
    struct hc_histogram rewind_depth; ///< ticks, one entry for each rewind
    struct hc_histogram lateness;     ///< microseconds from a tick's due time to its advance
    size_t memory_bytes;
};

/// 60 Hz, W 64, future 64, late margin 24, 8 clients, timeout 10 s, lingering 30 s, 5 connects a
/// second and 16 clients of one address. `game`, `seed`, `secret`, `keys` and `unix_us` must still
/// be set.
struct hc_sv_host_config hc_sv_host_config_default(void);

/// NULL when the configuration is valid, else `why` with a terminated sentence that names the
/// numbers. A full world must not have too many entities either.
const char *hc_sv_host_config_check(const struct hc_sv_host_config *config, char *why,
                                    size_t why_size);

/// A host whose tick 0 is at `now_us`; NULL: invalid configuration or no memory.
struct hc_sv_host *hc_sv_host_create(const struct hc_sv_host_config *config, uint64_t now_us);

/// Moves tick 0 to `now_us`, before the first advance.
void hc_sv_host_start(struct hc_sv_host *host, uint64_t now_us);

/// Frees it and sends nothing to the clients; NULL is allowed.
void hc_sv_host_destroy(struct hc_sv_host *host);

/// Takes a datagram, which is borrowed for the call. `now_us` is when it arrived, which for DATA
/// may be before the last hc_sv_host_advance and hc_sv_host_send, or after the next
/// hc_sv_host_advance. HC_OK or the cause of its refusal.
enum hc_status hc_sv_host_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);

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

/// Takes the oldest event; false: none is left. Events beyond 256 unread ones are dropped.
bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_sv_event *event);

/// Accepts tokens of these keys, at least one, from now on. Sessions continue, and every client is
/// sent a ticket of the first key.
void hc_sv_host_set_keys(struct hc_sv_host *host, const struct hc_token_ring *keys);

/// Replaces the refused users. Their connections are closed with HC_CLOSE_KICKED. `client_ids`
/// ascend.
void hc_sv_host_set_refused(struct hc_sv_host *host, const struct hc_sv_refused *refused,
                            uint64_t now_us);

/// Sets the Unix time of `now_us`, after the system's clock was set.
void hc_sv_host_set_time(struct hc_sv_host *host, uint64_t unix_us, uint64_t now_us);

/// Sends the `size` bytes at `message` to a client's game, once and in order, even if datagrams are
/// lost. HC_UNEXPECTED: there is no client `cid`. HC_INVALID: size not in [1, HC_EVENTS_SIZE_MAX].
/// HC_FULL: too many messages are not acked; the client is dropped, because none may be left out.
enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us);

/// The next message of a client's game, valid until the next datagram; NULL: none. While too many
/// messages of a client are unread, its datagrams are refused.
const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host, struct hc_sv_message *received);

/// Closes every connection and admits no more clients.
void hc_sv_host_shutdown(struct hc_sv_host *host, uint64_t now_us);

/// Whether the host has simulated its last tick, and so has shut down.
bool hc_sv_host_ended(const struct hc_sv_host *host);

/// Whether the host has shut down and sent every CLOSE.
bool hc_sv_host_closed(const struct hc_sv_host *host);

/// The world's timeline, read-only.
const struct hc_timeline *hc_sv_host_timeline(const struct hc_sv_host *host);

/// The secrets that a host derives from its own for its world. Clients never receive them.
struct hc_sv_secrets {
    uint8_t world[HC_SCENE_SECRET_SIZE]; ///< for hc_scene_secret_random
    uint8_t chain[HC_CHAIN_KEY_SIZE];    ///< of the chain hash, for auditors of the whole world
};

/// The secrets of a host with the configured `secret`.
struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_COOKIE_SECRET_SIZE]);

/// The final tick F, and the chained hash of all ticks up to it.
hc_tick hc_sv_host_final(const struct hc_sv_host *host, uint64_t *chain);

/// How many clients are connected.
unsigned hc_sv_host_clients(const struct hc_sv_host *host);

/// The counts, valid until the next call.
const struct hc_sv_host_stats *hc_sv_host_stats(const struct hc_sv_host *host);
