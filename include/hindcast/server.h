/// libhindcast-server: a Hindcast server, as a library for programs.
///
/// A server is one world and its clients: a state machine without I/O. The program owns the socket
/// and the clock, and passes datagrams and times to the server. Calls belong in this order:
///   1. hc_server_create;
///   2. for each datagram that arrives: hc_server_receive;
///   3. at hc_server_deadline: hc_server_advance, then (also after 2) hc_server_send until it
///      returns 0, hc_server_poll_event until it returns false, and hc_server_next_message and
///      hc_server_next_unreliable until they return NULL; back to 2;
///   4. hc_server_shutdown or hc_server_restart, and 2 and 3 until hc_server_closed;
///      hc_server_destroy.
///
/// The server admits a client by its token, which one of the server's keys has sealed. The game's
/// backend issues tokens with that key, or the server does itself (hc_server_issue). The game may
/// refuse a user all the same (hc_server_config.admit).
///
/// A client that was silent for too long has lost its connection. It lingers for a while, and can
/// reconnect with its token or with a ticket that the server sent it. A server that was restarted
/// with the same keys admits it too, but with new players.
///
/// Times are microseconds of one monotonic clock of the caller. If it is set back all the same,
/// ticks and timeouts go on from the time before. One thread at a time may use a server; two
/// servers share nothing. A server allocates memory in hc_server_create alone.
#pragma once

#include "hindcast/address.h"
#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/difference.h"
#include "hindcast/game.h"
#include "hindcast/notice.h"
#include "hindcast/rewind.h"
#include "hindcast/server_counters.h"
#include "hindcast/timeline.h"

HC_C_BEGIN

struct hc_server;

/// The limits of struct hc_server_config, of refused users and of cids.
enum {
    HC_SERVER_CLIENTS_MAX = 4096,       ///< clients that play; there may be as many spectators
    HC_SERVER_MATCH_CLIENTS_MAX = 256,  ///< clients that play in one of several matches
    HC_SERVER_CID_MATCH_AT = 22,        ///< lowest bit of the match in the cids of such a server
    HC_SERVER_CLIENT_RATE_MIN = 4000,   ///< the least `client_rate`, bytes/s
    HC_SERVER_REFUSED_MAX = 16384,      ///< client_ids that may be refused
    HC_SERVER_REMEMBERED_MAX = 1 << 20, ///< users whose used tokens are remembered
    HC_SERVER_SECRET_SIZE = 32,         ///< bytes
};

/// A user, as its token describes it.
struct hc_server_user {
    uint64_t client_id;               ///< the backend's number of the user
    uint8_t name[HC_TOKEN_NAME_SIZE]; ///< UTF-8, padded with zeros; may be empty. The server sends
                                      ///< it to clients that see the user's players
    uint8_t user_data[HC_TOKEN_USER_DATA_SIZE]; ///< bytes of the backend, for the game
    uint8_t players; ///< the most local players of its client, [0, HC_OWN_PLAYERS_MAX]
    bool watch;      ///< the client may join without players; spectators see everything
};

/// The configuration of a server. It begins with its size, so that a program and a library of
/// different versions agree on it: the library gives members that the program does not know their
/// defaults, and refuses a size that the library does not know. New members come last.
struct hc_server_config {
    uint32_t size; ///< bytes of this struct; hc_server_config_default sets it

    uint16_t clients;           ///< clients that play at once, and player slots of the world
    uint16_t tick_rate;         ///< Hz
    const struct hc_game *game; ///< borrowed
    uint64_t rule_hash;         ///< hc_game_rule_hash of the game; 0: hc_server_create computes it
    uint64_t seed;              ///< seed of the world's random numbers
    uint32_t history;           ///< W, the farthest rewind; ticks
    /// Ticks by which a client's inputs may be later than they usually are; no input may be later
    /// than `history`. So a client that is late only at times, on purpose or not, changes little of
    /// the past.
    uint32_t late_margin;
    struct hc_token_ring keys; ///< keys of the tokens that are accepted; at least one, copied
    uint64_t audience;         ///< tokens must name this number
    /// HC_SERVER_SECRET_SIZE unpredictable bytes, which only hc_server_create reads. NULL: from the
    /// operating system. Each server needs other bytes.
    const uint8_t *secret;
    uint32_t timeout_us; ///< a connection is lost after this much silence
    uint32_t linger_us; ///< a client without connection lingers for this long; 0: it leaves at once
    /// Limits of one IPv4 address or IPv6 /64, except loopback: connects a second, and clients at
    /// once; 0: any number.
    uint16_t connects_per_address, clients_per_address;
    uint16_t players_per_client; ///< the most local players of a client, whatever its token says
    uint16_t spectators;         ///< clients without players at once, beside `clients`
    /// Seconds from a session's token to its end, over all its connections, also on other servers
    /// of the same keys; 0: no limit.
    uint32_t session_life_s;
    uint32_t client_rate;   ///< the most bytes/s to one client, IP headers included
    uint16_t snapshot_rate; ///< Hz, at most the tick rate; 0: a snapshot at every tick
    /// Ticks, [0, history], that the server simulates again at every tick, as if a late input had
    /// changed all of them: to measure the worst case.
    uint32_t force_rewind;
    const struct hc_allocator *allocator; ///< NULL: malloc

    /// Decides about a user that has a valid token, finds room, and has no session yet: 0 admits
    /// it, any other reason denies it, such as HC_DENY_REFUSED or one of the game's own in
    /// [HC_DENY_GAME, HC_DENY_GAME_LAST]. hc_server_receive calls it, and it must not call the
    /// server. It may be called again for a user: a denied one may try again, and an admitted one
    /// is still dropped if its address connects too often. NULL: everybody is admitted.
    enum hc_deny_reason (*admit)(void *context, const struct hc_server_user *user,
                                 const struct hc_address *from);
    void *admit_context; ///< the first argument of `admit`
    /// The longest time from the tick that an input's player was shown to the input's tick
    /// (hc_field.shown_ago), ms in [0, 10000]; never longer than the game's lookback. 0: steps read
    /// no past by it.
    uint32_t lag_compensation_ms;

    /// This server's number among the matches of one port, [1, HC_MATCH_MAX]; 0: it has the port
    /// for itself. Such a server takes tokens of its match and of none, has at most
    /// HC_SERVER_MATCH_CLIENTS_MAX clients that play, and shows its number in the tickets and in
    /// the upper bits of the cids (HC_SERVER_CID_MATCH_AT) that it makes. So the program can pass
    /// each datagram to the server of its match, and a HELLO to any of them.
    uint32_t match;
    /// HC_SERVER_SECRET_SIZE unpredictable bytes, the same for all matches of a port, which only
    /// hc_server_create reads: each match accepts the cookies of the others. NULL: the server
    /// accepts only its own cookies.
    const uint8_t *cookie_secret;
    /// The number of matches of that port; 0: HC_MATCH_MAX. A ticket that names a higher match is
    /// from a time when the port had more matches, and is taken as a ticket of no match. A server
    /// that has the port for itself takes tickets of any match.
    uint32_t matches;
    /// The number of users whose used tokens are remembered; at least four times `clients` in any
    /// case. When there are more users, the server forgets those whose tokens were issued first,
    /// and denies tokens that were issued by then with HC_DENY_OUTDATED. It never forgets the users
    /// of sessions.
    uint32_t remembered_users;
};

/// The kinds of events.
enum hc_server_event_kind {
    HC_SERVER_EVENT_JOINED,      ///< a client was accepted
    HC_SERVER_EVENT_LEFT,        ///< a side closed the connection, for the reason `close`
    HC_SERVER_EVENT_TIMEOUT,     ///< a lost client did not reconnect in time
    HC_SERVER_EVENT_LOST,        ///< a client was silent for too long, and lingers
    HC_SERVER_EVENT_RECONNECTED, ///< a client reconnected: connection `cid` replaces `before`
    HC_SERVER_EVENT_MOVED,       ///< a client has another address now
    HC_SERVER_EVENT_ROUND_ENDED, ///< the round is over from the final tick `tick` on
    HC_SERVER_EVENT_KINDS
};

/// An event about one client, or the end of a round.
struct hc_server_event {
    enum hc_server_event_kind kind;
    hc_tick tick; ///< tick of ROUND_ENDED, whose other members are 0; the timeline holds its states
                  ///< at least until the next hc_server_advance
    /// Of LEFT with HC_CLOSE_DESYNC: the place where the client's world differs, and the client's
    /// value, by the client's word; the server adds its own value.
    struct hc_difference difference;
    struct hc_address address;
    uint32_t cid;               ///< names the client in calls, until RECONNECTED names another
    uint32_t before;            ///< former cid of RECONNECTED
    enum hc_close_reason close; ///< reason of LEFT
    bool by_client;             ///< LEFT: the client ended the session; false: the server did
    uint64_t client_id;
    uint8_t name[HC_TOKEN_NAME_SIZE]; ///< as in hc_server_user; accepted by the server's check
    uint8_t user_data[HC_TOKEN_USER_DATA_SIZE];
    uint8_t player_count;
    hc_player players[HC_OWN_PLAYERS_MAX]; ///< [player_count]
};

/// A session: a client that is connected or lingers.
struct hc_server_session {
    uint64_t client_id;
    uint32_t cid; ///< cid of the newest connection
    uint8_t player_count;
    bool connected; ///< the client is connected; false: it lingers
};

/// A session with what the server has counted and measured of it. The counts are of the whole
/// session. A spectator has no inputs.
struct hc_server_client {
    struct hc_server_session session;
    uint8_t name[HC_TOKEN_NAME_SIZE];      ///< as in hc_server_user
    hc_player players[HC_OWN_PLAYERS_MAX]; ///< [session.player_count]
    struct hc_address address;
    uint64_t connected_us; ///< time since its newest connection began
    uint64_t datagrams_received, bytes_received;
    uint64_t datagrams_sent, bytes_sent; ///< without handshakes and CLOSEs
    uint64_t datagrams_lost;             ///< datagrams sent that counted as lost
    uint64_t rtt_us;                     ///< smoothed round trip of RFC 6298; 0: none was measured
    uint64_t jitter_us;                  ///< mean deviation of the round trips (RFC 6298)
    bool has_margin;                     ///< inputs came in the 2 s before the newest report of it
    int32_t margin_low_us;     ///< all inputs of that time but the worst 2 % came so long before
                               ///< their step was due, or after it if it is negative
    int32_t margin_median_us;  ///< lower median of these margins
    uint32_t usual_late_ticks; ///< the lateness of its inputs that is usual, rounded up
    uint32_t display_offset;   ///< ticks that its display is behind the newest snapshot
    uint64_t late_inputs;      ///< its inputs that came late and were taken: each rewinds the world
    uint64_t late_ticks;       ///< ticks that these went back, in all
};

/// An entity as a client was sent it: by the newest snapshot that carried it and does not count as
/// lost.
struct hc_server_sent {
    hc_entity entity;
    hc_tick tick;      ///< tick of the state
    const void *state; ///< state_size bytes of its kind, valid until the next hc_server_advance
};

/// A message of a client's game to the server's, reliable or not.
struct hc_server_message {
    uint32_t cid;
    uint64_t client_id;
    size_t size; ///< bytes, [1, HC_MESSAGE_SIZE_MAX]
};

/// CONNECTs that were denied for one reason.
struct hc_server_denials {
    uint64_t count;
    struct hc_address address; ///< address of the newest, which its cookie proves
    bool proven;               ///< the newest has proved that it owns the token
    uint64_t client_id;        ///< client_id of the newest, if `proven`
};

/// The newest HELLO or CONNECT of another game, or of another build of this one.
struct hc_server_other_build {
    struct hc_address address; ///< anybody may have sent it in this address's name
    uint64_t protocol_id;
};

/// The levels of overload, by the snapshots that clients are still sent, see hc_server_note_work.
enum hc_server_overload_level {
    HC_SERVER_OVERLOAD_NONE,        ///< all clients are sent all of their snapshots
    HC_SERVER_OVERLOAD_FAR_HALF,    ///< far and idle clients are sent half of theirs
    HC_SERVER_OVERLOAD_FAR_QUARTER, ///< far and idle clients are sent a quarter of theirs
    HC_SERVER_OVERLOAD_HALF,        ///< all are sent half, far and idle clients a quarter
    HC_SERVER_OVERLOAD_THIRD,       ///< all are sent a third, far and idle clients a sixth
    HC_SERVER_OVERLOAD_REFUSE,      ///< as at THIRD, and new clients are refused
    HC_SERVER_OVERLOAD_LEVELS
};

/// Snapshots and joins left out because the server's work took too much of the time.
struct hc_server_overload {
    HC_SERVER_OVERLOAD_COUNTERS(HC_COUNTER_MEMBER)
};

/// The users whose used tokens are remembered.
struct hc_server_remembered {
    HC_SERVER_REMEMBERED_COUNTERS(HC_COUNTER_MEMBER)
};

/// The client whose late inputs went back by the most ticks in all.
struct hc_server_latest {
    uint64_t client_id, ticks; ///< `ticks` 0: no input was late
};

/// A game event of a final tick, which hc_emit raised.
struct hc_server_game_event {
    hc_tick tick; ///< tick of the state that the step wrote
    hc_entity entity;
    uint8_t kind; ///< index in hc_game.event_kinds
    uint32_t number;
};

/// The counts of a server since its creation. hindcast/server_counters.h describes its counters.
struct hc_server_stats {
    HC_SERVER_COUNTERS(HC_COUNTER_MEMBER)
    struct hc_server_denials denials[HC_DENY_REASONS_END]; ///< by hc_deny_reason, the
                                                           ///< game's own as HC_DENY_REFUSED
    struct hc_server_other_build other_build;
    struct hc_server_overload overload;
    struct hc_server_remembered remembered;
    struct hc_server_latest latest;
};

/// Writes the defaults to the first `size` bytes of `*config`, and `size` to its first member.
/// Programs call hc_server_config_default.
HC_API void hc_server_config_init(struct hc_server_config *config, uint32_t size);

/// 60 Hz, W 64, late margin 24, 8 clients, timeout 10 s, lingering 30 s, 5 connects a second and 16
/// clients of one address, 400 ms of lag compensation. The caller sets `game` and `keys`.
static inline struct hc_server_config hc_server_config_default(void) {
    struct hc_server_config config;
    hc_server_config_init(&config, sizeof config);
    return config;
}

/// NULL when the configuration is valid, else `why` (`why_size` bytes) with a terminated sentence
/// that names the numbers. A full world must not have too many entities either.
HC_API const char *hc_server_config_check(const struct hc_server_config *config, char *why,
                                          size_t why_size);

/// Creates a server whose tick 0 is at `now_us`; the caller frees it with hc_server_destroy.
/// `unix_us` is the Unix time at `now_us`, in microseconds: tokens expire by it. NULL: the
/// configuration is invalid, or memory is short.
HC_API struct hc_server *hc_server_create(const struct hc_server_config *config, uint64_t unix_us,
                                          uint64_t now_us);

/// Makes `server`, which has received nothing yet, take the place of `before` in its match: used
/// tokens stay used, and refused users refused. Both have as many `clients`.
HC_API void hc_server_follow(struct hc_server *server, const struct hc_server *before);

/// Moves tick 0 to `now_us`, before the first hc_server_advance.
HC_API void hc_server_start(struct hc_server *server, uint64_t now_us);

/// Frees a server and sends nothing to its clients; NULL is allowed.
HC_API void hc_server_destroy(struct hc_server *server);

/// Takes a datagram of `size` bytes, borrowed for the call. `now_us` is the arrival time; for DATA
/// it need not be in order. Returns HC_OK, or the cause of its refusal, which is also counted.
HC_API enum hc_status hc_server_receive(struct hc_server *server, const struct hc_address *from,
                                        const uint8_t *bytes, size_t size, uint64_t now_us);

/// Takes a CONNECT as hc_server_receive does, but denies it for `reason`, unless the server has a
/// reason of its own: the program of several matches on a port may know a reason that no single
/// server knows.
HC_API enum hc_status hc_server_deny(struct hc_server *server, const struct hc_address *from,
                                     const uint8_t *bytes, size_t size, enum hc_deny_reason reason,
                                     uint64_t now_us);

/// Runs the ticks and timeouts that are due at `now_us`, and marks snapshots and CLOSEs as due.
HC_API void hc_server_advance(struct hc_server *server, uint64_t now_us);

/// Writes the next due datagram to `out` (HC_DATAGRAM_MAX bytes), and its destination to `*to`;
/// returns its size, bytes; 0: none is due. While a client's new address is validated, a snapshot
/// is sent to both addresses: then two datagrams in a row have the same bytes.
HC_API size_t hc_server_send(struct hc_server *server, struct hc_address *to,
                             uint8_t out[HC_AT_LEAST(HC_DATAGRAM_MAX)], uint64_t now_us);

/// The time of the next hc_server_advance; UINT64_MAX when nothing is left to do.
HC_API uint64_t hc_server_deadline(const struct hc_server *server);

/// Removes the oldest event and writes it to `*event`; false: there is none. JOINED, LEFT and
/// TIMEOUT come one by one and in order, and none is lost: the server admits nobody (HC_DENY_FULL)
/// while 64 events, and two for each client that may be connected, are unread. LOST, RECONNECTED
/// and MOVED follow them, and tell the newest state of each session: older unread ones of the same
/// session are left out. ROUND_ENDED is dropped when too many events are unread.
HC_API bool hc_server_poll_event(struct hc_server *server, struct hc_server_event *event);

/// Writes the next game event of a final tick to `*event`, each once, in the order of ticks: for a
/// kill feed or a journal. A tick is final when all players' inputs before it have come, or else
/// `history` ticks after it, so its events come as late as the latest client's inputs do. False:
/// there is none. A game that reads none for long loses the oldest.
HC_API bool hc_server_next_game_event(struct hc_server *server, struct hc_server_game_event *event);

/// Sends the `size` bytes at `message`, copied, to a client's game, once and in order, even if
/// datagrams are lost. HC_UNEXPECTED: there is no client `cid`. HC_INVALID: size not in
/// [1, HC_MESSAGE_SIZE_MAX]. HC_FULL: too many messages are not acked; the client is dropped,
/// because none may be left out.
HC_API enum hc_status hc_server_send_message(struct hc_server *server, uint32_t cid,
                                             const void *message, size_t size, uint64_t now_us);

/// Returns the next message of a client's game, valid until the next hc_server_receive, and
/// describes it in `*received`; NULL: there is none. While too many messages of a client are
/// unread, its datagrams are refused.
HC_API const uint8_t *hc_server_next_message(struct hc_server *server,
                                             struct hc_server_message *received);

/// Tells the people who play at client `cid`, or (0) at all clients that are connected or linger, a
/// notice, copied: their games show it, HC_CLIENT_EVENT_NOTICE. Notices arrive once and in order,
/// even if datagrams are lost, and beside the messages of the game. The newest 32 of a server are
/// kept: a client that acks nothing while 32 more are made misses the oldest. HC_UNEXPECTED: there
/// is no client `cid`. HC_INVALID: hc_notice_check names a member.
HC_API enum hc_status hc_server_notify(struct hc_server *server, uint32_t cid,
                                       const struct hc_notice *notice, uint64_t now_us);

/// Sends the `size` bytes at `message`, copied, to a client's game at most once: they arrive with
/// one datagram or never, and in any order. HC_UNEXPECTED: client `cid` is not connected.
/// HC_INVALID: size not in [1, HC_MESSAGE_SIZE_MAX]. HC_FULL: messages of about 1000 bytes wait for
/// a datagram already; this one is dropped.
HC_API enum hc_status hc_server_send_unreliable(struct hc_server *server, uint32_t cid,
                                                const void *message, size_t size);

/// Returns the next unreliable message of a client's game, valid until the next hc_server_receive,
/// and describes it in `*received`; NULL: there is none. Messages that arrive while 1000 unread
/// bytes of their client wait are dropped.
HC_API const uint8_t *hc_server_next_unreliable(struct hc_server *server,
                                                struct hc_server_message *received);

/// Closes the connection of client `cid` for `reason`, which is HC_CLOSE_KICKED or one of the
/// game's own in [HC_CLOSE_GAME, HC_CLOSE_GAME_LAST], and ends its session: LEFT follows, and its
/// players leave at the next tick. Its token and its tickets are void: it may come back with
/// another token unless it is refused. HC_UNEXPECTED: there is no client `cid`. HC_INVALID: another
/// reason.
HC_API enum hc_status hc_server_kick(struct hc_server *server, uint32_t cid,
                                     enum hc_close_reason reason, uint64_t now_us);

/// Adds an NPC: a player without a client, whose inputs the program puts. It takes one of the
/// world's `clients` player slots and joins at the next tick. HC_NO_PLAYER: no slot is free.
HC_API hc_player hc_server_add_npc(struct hc_server *server);

/// Names an NPC, or names it anew, for the clients that see it: `name` is UTF-8 of at most
/// HC_TOKEN_NAME_SIZE bytes without control characters, copied; empty: none, as at first.
/// HC_UNEXPECTED: `player` is no NPC. HC_INVALID: a name that no token could have.
HC_API enum hc_status hc_server_name_npc(struct hc_server *server, hc_player player,
                                         const char *name);

/// Lets an NPC leave at the next tick. HC_UNEXPECTED: `player` is no NPC.
HC_API enum hc_status hc_server_remove_npc(struct hc_server *server, hc_player player);

/// Puts the input of an NPC for the step from `tick`, which is the head of the timeline or later:
/// input_size bytes, copied, cut to the range of their fields and sanitized; the head is its shown
/// tick (hc_field.shown_ago). The first input of a tick counts. A step without an input takes the
/// prediction, as when a client's input is late. Clients predict the NPC as any other player, and
/// receive the inputs of coming ticks with each snapshot: a client has an input in time that is put
/// ahead by more than its `lead` and the way of a datagram to it. A program draws the decisions of
/// NPCs from a secret seed, because clients know the seed of the world.
///
/// HC_UNEXPECTED: `player` is no NPC, or has not joined yet. HC_TOO_OLD: before the head.
/// HC_TOO_NEW: more than 64 ticks after it. HC_DUPLICATE: the tick has its input.
HC_API enum hc_status hc_server_put_npc_input(struct hc_server *server, hc_player player,
                                              hc_tick tick, const void *input);

/// Refuses the users of the `count` `client_ids`, which ascend, and every session and token older
/// than `not_before_s`, Unix time (0: none), in place of those refused before. Their connections
/// are closed with HC_CLOSE_KICKED. HC_INVALID: more than HC_SERVER_REFUSED_MAX, or not ascending;
/// then nothing changed.
HC_API enum hc_status hc_server_set_refused(struct hc_server *server, const uint64_t *client_ids,
                                            uint32_t count, uint64_t not_before_s, uint64_t now_us);

/// Accepts tokens of these keys, at least one, from now on. Sessions continue, and every client is
/// sent a ticket of the first key. HC_INVALID: not one or two keys; then nothing changed.
HC_API enum hc_status hc_server_set_keys(struct hc_server *server,
                                         const struct hc_token_ring *keys);

/// Takes over those members of `config` that may change while clients play: `late_margin`,
/// `lag_compensation_ms`, `timeout_us`, `linger_us`, `connects_per_address`, `clients_per_address`,
/// `players_per_client`, `session_life_s`, `client_rate`, `snapshot_rate` and `force_rewind`. The
/// other members are not read. A decision that was made stays: no client is closed because a limit
/// is lower now, and the life of a session and the time for which a client lingers count as they
/// began. HC_INVALID: a member is out of its range; then nothing changed.
HC_API enum hc_status hc_server_reconfigure(struct hc_server *server,
                                            const struct hc_server_config *config, uint64_t now_us);

/// Tells the server that the Unix time is `unix_us`, microseconds, at `now_us`. Call it now and
/// then, because the system's clock may be set. Tokens expire by this time, but a clock that is set
/// ahead counts for five seconds at most: otherwise a mistake would expire all tokens. It counts
/// again once it is right.
HC_API void hc_server_set_time(struct hc_server *server, uint64_t unix_us, uint64_t now_us);

/// Issues a token for `user` to this server's game, audience and match, sealed with the first key.
/// The token expires after `life_s` seconds. The client needs the whole `*credential`. HC_INVALID:
/// too many players, or a name that is not UTF-8 or holds invisible characters; then nothing is
/// written.
HC_API enum hc_status hc_server_issue(struct hc_server *server, const struct hc_server_user *user,
                                      uint32_t life_s, struct hc_credential *credential,
                                      uint64_t now_us);

/// Notes the microseconds of work that the program measured since the last call, up to `now_us`: in
/// hc_server_advance, in hc_server_send, and in all else. The server leaves work out while the sum
/// takes too much of the time; without these calls it never does.
HC_API void hc_server_note_work(struct hc_server *server, uint64_t advance_us, uint64_t send_us,
                                uint64_t other_us, uint64_t now_us);

/// Closes every connection with HC_CLOSE_SHUTDOWN, which ends the clients, and admits no more.
HC_API void hc_server_shutdown(struct hc_server *server, uint64_t now_us);

/// As hc_server_shutdown, with HC_CLOSE_RESTARTING: each client waits for `seconds`, at most 300,
/// and up to one more, and then tries for 30 s to reconnect with its ticket. The program ends when
/// hc_server_closed returns true, and is started again with the same keys and at the same address.
HC_API void hc_server_restart(struct hc_server *server, uint32_t seconds, uint64_t now_us);

/// Whether the server has simulated the last tick that there is, and so has shut down.
HC_API bool hc_server_ended(const struct hc_server *server);

/// Whether the server has shut down, and every client has answered its CLOSE, or was sent it for
/// some 2 s.
HC_API bool hc_server_closed(const struct hc_server *server);

enum { HC_SERVER_FAREWELL_MAX = 48 }; ///< bytes of a farewell

/// The last words for a client, which a program sends when it cannot call the server any more.
struct hc_server_farewell {
    struct hc_address to;
    uint8_t sizes[2]; ///< of `bytes`
    /// [0]: the CLOSE of a shutdown; [1]: that of a restart, after which the client comes back.
    uint8_t bytes[2][HC_SERVER_FAREWELL_MAX];
};

/// The number of connected clients. Writes the farewells of up to `most` of them to `out`. They are
/// for a program that crashes, or whose call into the server does not return: it sends one of each
/// client, some times, and never calls the server again. Ask for them after each event of a
/// session.
HC_API uint32_t hc_server_farewells(struct hc_server *server, struct hc_server_farewell *out,
                                    uint32_t most);

/// The world's timeline, for reading only; its pointers are valid until the next call that takes
/// `now_us`.
HC_API const struct hc_timeline *hc_server_timeline(const struct hc_server *server);

/// Records the rewinds from now on in `log`, which is borrowed, of the same world, and of no other
/// server; NULL: in none.
HC_API void hc_server_log_rewinds(struct hc_server *server, struct hc_rewind_log *log);

/// Calls `watch` when a rewind or a new tick of the timeline begins and when it ends, so that a
/// program can measure them; NULL: calls nobody. A rewind is in the log of hc_server_log_rewinds,
/// with its clients, when the next tick begins.
HC_API void hc_server_watch(struct hc_server *server, hc_timeline_watch *watch, void *context);

/// The world's parameters.
HC_API const struct hc_world *hc_server_world(const struct hc_server *server);

/// The number of sessions. Writes up to `most` of them to `out`, which may be NULL if `most` is 0.
HC_API uint32_t hc_server_sessions(const struct hc_server *server, struct hc_server_session *out,
                                   uint32_t most);

/// The same with what the server knows of each session at `now_us`.
HC_API uint32_t hc_server_list_clients(const struct hc_server *server, struct hc_server_client *out,
                                       uint32_t most, uint64_t now_us);

/// The number of alive entities in the view of client `cid` as it was sent them, which rewinds do
/// not change; 0 if there is no such client. Writes up to `most` of them to `out`, in no order. The
/// client may miss the newest, and shows them later.
HC_API uint32_t hc_server_list_sent(const struct hc_server *server, uint32_t cid,
                                    struct hc_server_sent *out, uint32_t most);

/// The number of connected clients.
HC_API unsigned hc_server_clients(const struct hc_server *server);

/// The counts, at one place as long as the server lives.
HC_API const struct hc_server_stats *hc_server_stats(const struct hc_server *server);

/// Describes the snapshots that a level leaves out, for people; in static storage.
HC_API const char *hc_server_overload_text(enum hc_server_overload_level level);

HC_C_END
