/// The authority: one world, its timeline, and the clients that play in it. A state machine
/// without I/O.
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
/// Nobody gets in without a token of one of the host's keys. A client that was silent for too long
/// has lost its connection, but its players are kept for a while: it may come back with its token
/// or with the ticket that it was given, also to a host that was restarted with the same keys,
/// which gives it new players then.
///
/// A client whose address seems to be another one has to show it. Until then hc_sv_host_send hands
/// each of its snapshots out twice, one right after the other and byte by byte the same: for the
/// address that it has shown, and for the other one, as far as that may be sent anything. For
/// whoever empties the host into a socket these are two datagrams like any others.
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
#include "server/refused_clients.h"
#include "server/replication/counts.h"

struct hc_sv_host;

enum {
    HC_SV_CLIENTS_MAX = 4096,
    HC_SV_CLIENT_RATE_MIN = 4000, ///< bytes/s
};

struct hc_sv_host_config {
    const struct hc_game *game;
    uint16_t clients;   ///< connections at once, and player slots of the world
    uint16_t tick_rate; ///< Hz
    uint32_t history;   ///< W, the farthest rewind; ticks
    uint32_t future;    ///< inputs are accepted up to head + future; ticks
    /// Ticks by which a client's inputs may be later than they usually are (server/lateness.h), and
    /// in no case later than `history`: a client that is late only now and then, on purpose or not,
    /// changes little of the past. HC_HISTORY_MAX: `history` alone counts.
    uint32_t late_margin;
    hc_tick last_tick; ///< after it the host shuts down; [1, HC_SNAPSHOT_TICK_MAX]
    uint64_t seed;     ///< of the world
    uint8_t
        secret[HC_COOKIE_SECRET_SIZE]; ///< random, of this process alone; the host's copy is erased
    struct hc_token_ring keys;         ///< of the tokens that are accepted; at least one
    uint64_t audience;                 ///< that a token must be for
    uint64_t unix_us;    ///< what the world's clocks show at creation, since 1970: tokens expire
    uint32_t timeout_us; ///< silence after which a client's connection is lost
    uint32_t keep_us;    ///< for which its players are kept then; 0: they leave at once
    /// Of one IPv4 address or IPv6 /64, loopback apart: connects a second, and clients at once;
    /// 0: any number.
    uint16_t connects_per_address, clients_per_address;
    /// Beside what its token allows: the most local players of a client; and how many clients
    /// without players, which see everything, may be connected at once.
    uint16_t players_per_client, spectators;
    /// The longest that a session may last from its token on, over all its connections, also on
    /// servers of the same keys; 0: for ever. Seconds.
    uint32_t session_life_s;
    uint32_t ticks_per_advance; ///< catching up after a stall: at most so many ticks a call
    uint32_t client_rate;       ///< bytes/s that a client is sent at most, IP headers included
    uint16_t snapshot_rate;     ///< Hz, at most the tick rate; 0: a snapshot at every tick
    /// Repeats all steps of so many ticks at every tick, as if an input that old had come late and
    /// had changed everything: the worst case, to measure it; [0, history] ticks.
    uint32_t force_rewind;
    /// Shows the head instead of T in every snapshot: what naive servers do, kept as the
    /// counter-example that the tests measure against. No program sets it.
    bool show_head;
    const struct hc_allocator *allocator; ///< NULL: malloc
};

enum hc_sv_event_kind {
    HC_SV_EVENT_JOINED,  ///< a client was accepted
    HC_SV_EVENT_LEFT,    ///< it said goodbye, or was told to go: `close` says why
    HC_SV_EVENT_TIMEOUT, ///< it was silent for too long, and did not come back
    HC_SV_EVENT_LOST,    ///< it was silent for too long; its players are kept
    HC_SV_EVENT_RESUMED, ///< it has another connection, `cid`, in the place of `before`
    HC_SV_EVENT_MOVED,   ///< its address is another one now
};

struct hc_sv_event {
    enum hc_sv_event_kind kind;
    struct hc_address address;
    uint32_t cid, before;
    enum hc_close_reason close;
    uint64_t client_id;
    uint8_t name[HC_TOKEN_NAME_SIZE]; ///< padded with zeros; hc_name_check has accepted it, or none
    uint8_t player_count;
    hc_player players[HC_OWN_PLAYERS_MAX];
};

/// Something that a client's game says to the server's.
struct hc_sv_message {
    uint32_t cid;
    uint64_t client_id;
    size_t size; ///< in [1, HC_EVENTS_SIZE_MAX]
};

/// CONNECTs that were denied for one reason.
struct hc_sv_denials {
    uint64_t count;
    struct hc_address address; ///< of the newest, which has shown it by its cookie
    bool proven;               ///< the newest has shown that the token is its own
    uint64_t client_id;        ///< of the newest, if `proven`
};

/// What the host has counted since its creation.
struct hc_sv_host_stats {
    uint64_t datagrams_in, datagrams_out, bytes_in, bytes_out;
    uint64_t rejected[HC_STATUS_COUNT]; ///< datagrams refused, by cause; they changed nothing
    uint64_t forged;                    ///< DATA that were opened in vain
    uint64_t dropped; ///< DATA not opened, because too many of their source or connection were
    uint64_t joins, leaves, timeouts, denied;
    struct hc_sv_denials denials[HC_DENY_REASONS_END]; ///< by hc_deny_reason
    uint64_t unproven; ///< CONNECTs without the secret of their token, which got no answer
    uint64_t lost, resumed, moved; ///< connections, by what became of them
    uint64_t resets;               ///< sent
    uint64_t inputs_received;      ///< distinct ones that took effect
    uint64_t inputs_late;          ///< of those, for a tick already simulated
    uint64_t inputs_forced;        ///< slots closed before their input came
    uint64_t inputs_refused;       ///< came too late, once each, or beyond the future, each time
    uint64_t inputs_lost;          ///< delivered inside the window, yet their slot had been forced
    uint64_t snapshots, snapshots_rewound;  ///< sent; of those, that showed a resimulated tick
    uint64_t copies, copied_bytes;          ///< of them, for addresses that are still to be shown
    uint64_t corrections;                   ///< units of past ticks sent
    struct hc_sv_snapshot_bits bits;        ///< of these snapshots
    uint64_t deltas_encoded, deltas_reused; ///< of units, for all clients
    uint64_t extrapolation_steps;           ///< ticks that their extrapolations simulated
    uint64_t units_looked_at;               ///< for snapshots, and of past ticks for corrections
    uint32_t longest_unsent_ticks;          ///< that a unit in a client's view was not sent
    uint64_t ticks_missed;                  ///< by which the clock was set back after a stall
    uint64_t ticks_late;                    ///< begun a tick or more after they were due
    struct hc_histogram rewind_depth;       ///< ticks, one entry for each rewind
    struct hc_histogram lateness;           ///< microseconds from a tick's due time to its advance
    size_t memory_bytes;
};

/// 60 Hz, W 64, future 64, slack 24, 8 clients, timeout 10 s, players kept for 30
/// s, 5 connects a second and 16 clients of one address. `game`, `seed`, `secret`, `keys` and
/// `unix_us` must still be set.
struct hc_sv_host_config hc_sv_host_config_default(void);

/// NULL when the configuration can be used, else a sentence with the numbers in `why` (terminated):
/// among others, when a full world would have too many entities.
const char *hc_sv_host_config_check(const struct hc_sv_host_config *config, char *why,
                                    size_t why_size);

/// A host whose tick 0 is at `now_us`; NULL: invalid configuration or no memory.
struct hc_sv_host *hc_sv_host_create(const struct hc_sv_host_config *config, uint64_t now_us);

/// Moves tick 0 to `now_us`, for a host that was created some time before its first advance.
void hc_sv_host_start(struct hc_sv_host *host, uint64_t now_us);

/// Frees it, without a word to the clients; NULL is allowed.
void hc_sv_host_destroy(struct hc_sv_host *host);

/// A datagram arrived; it is borrowed for the call. HC_OK or why it was refused.
enum hc_status hc_sv_host_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);

/// Does what is due at `now_us`: ticks, timeouts, goodbyes; makes snapshots due.
void hc_sv_host_advance(struct hc_sv_host *host, uint64_t now_us);

/// Writes the next datagram that is due and where it goes; returns its size, 0 when none is.
size_t hc_sv_host_send(struct hc_sv_host *host, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// When hc_sv_host_advance has something to do next.
uint64_t hc_sv_host_deadline(const struct hc_sv_host *host);

/// Takes the oldest event; false when there is none. Events beyond 256 unread ones are dropped.
bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_sv_event *event);

/// Accepts tokens of these keys, at least one, from now on. Sessions go on, and every client is
/// sent a ticket of the used key.
void hc_sv_host_set_keys(struct hc_sv_host *host, const struct hc_token_ring *keys);

/// Refuses these users from now on, in the place of those before; whoever of them is connected is
/// closed with HC_CLOSE_KICKED. `client_ids` ascend.
void hc_sv_host_set_refused(struct hc_sv_host *host, const struct hc_sv_refused *refused,
                            uint64_t now_us);

/// What the world's clocks show at `now_us`, where they have been set since.
void hc_sv_host_set_time(struct hc_sv_host *host, uint64_t unix_us, uint64_t now_us);

/// Says the `size` bytes at `message` to a client's game: once, in order with all others, however
/// many datagrams are lost. HC_UNEXPECTED: there is no client `cid`. HC_INVALID: size not in
/// [1, HC_EVENTS_SIZE_MAX]. HC_FULL: the client has not heard anything for long; it is dropped, for
/// nothing may be left out.
enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us);

/// What a client's game has said next, valid until the next datagram; NULL: nothing. Who does not
/// listen loses the datagrams of those who go on talking.
const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host, struct hc_sv_message *heard);

/// Says goodbye to every client and accepts nobody any more.
void hc_sv_host_shutdown(struct hc_sv_host *host, uint64_t now_us);

/// Whether the host has simulated its last tick; it has shut down then.
bool hc_sv_host_ended(const struct hc_sv_host *host);

/// Whether everything about the shutdown has been said.
bool hc_sv_host_closed(const struct hc_sv_host *host);

/// The world's timeline, to be read only.
const struct hc_timeline *hc_sv_host_timeline(const struct hc_sv_host *host);

/// What a host draws from its secret for its world. No client is sent either.
struct hc_sv_secrets {
    uint8_t world[HC_SCENE_SECRET_SIZE]; ///< hc_scene_secret_random draws from it
    uint8_t chain[HC_CHAIN_KEY_SIZE]; ///< of the chain hash, for auditors who hold the whole world
};

/// The secrets of a host with this secret in its configuration.
struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_COOKIE_SECRET_SIZE]);

/// F, the newest tick that can never change, and the chained hash of all ticks up to it.
hc_tick hc_sv_host_final(const struct hc_sv_host *host, uint64_t *chain);

/// How many clients are connected.
unsigned hc_sv_host_clients(const struct hc_sv_host *host);

/// What has been counted; valid until the next call.
const struct hc_sv_host_stats *hc_sv_host_stats(const struct hc_sv_host *host);
