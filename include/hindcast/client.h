/// libhindcast: a client of a Hindcast server, as a library for games.
///
/// A client is a state machine without I/O. The game owns the socket and the clock, and passes
/// datagrams and times to the client. The client predicts its world at `server tick + lead`, stamps
/// inputs `input_delay` ticks ahead, and rolls back to each state that the server sends. Calls
/// belong in this order:
///   1. hc_client_create;
///   2. each time a datagram arrives: hc_client_receive;
///   3. hc_client_set_input whenever a local player's input changes, at each event of a key;
///   4. at hc_client_deadline, or once a frame: hc_client_advance, then hc_client_send until it
///      returns 0; then hc_client_poll_event until it returns false, and hc_client_show_next to
///      draw; back to 2;
///   5. hc_client_leave, and 4 until the state is HC_CLIENT_CLOSED; hc_client_destroy.
///
/// The server admits a client by its token. The game fetches the token and its secret from its
/// backend. Every datagram of a connection is sealed with keys of that connection.
///
/// A client reconnects when the server is silent, has lost the connection, or was restarted. Until
/// then the world stands still and is shown as it was. The players linger on the server for a
/// while; a restarted server has a new world.
///
/// Simulated time follows the server's smoothly: it runs at most a twentieth faster or slower than
/// the clock, and never back. It jumps only within half a second after a join, or when it is off by
/// more than 250 ms; the latter is counted (clock_jumps) and logged.
///
/// Times are microseconds of one monotonic clock of the caller. One thread at a time may use a
/// client; two clients share nothing. A client allocates memory in hc_client_create and when the
/// server accepts it, never while playing.
#pragma once

#include "hindcast/allocator.h"
#include "hindcast/api.h"
#include "hindcast/client_counters.h"
#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/difference.h"
#include "hindcast/game.h"
#include "hindcast/notice.h"
#include "hindcast/timeline.h"

HC_C_BEGIN

struct hc_client;

/// The limits of struct hc_client_config.
enum {
    HC_INPUT_DELAY_MAX = 60,        ///< ticks
    HC_LEAD_MAX = 60,               ///< ticks
    HC_DISPLAY_OFFSET_MAX = 120,    ///< ticks
    HC_PREDICTION_LIMIT_MAX = 240,  ///< ticks
    HC_TICKS_PER_ADVANCE_MAX = 240, ///< ticks
    HC_CLIENT_ENTROPY_SIZE = 32,    ///< bytes
};

/// How a client shows the others: all entities but its own players, what they own, and the referee.
enum hc_others {
    HC_OTHERS_BY_GAME, ///< as received if the game's input has a field `shown_ago`, else predicted
    HC_OTHERS_PREDICTED, ///< the others are shown at the tick of the own players: nothing is late,
                         ///< but turns are corrected
    /// Some ticks before the own players, so that nearly all states have been received when they
    /// are shown. The client measures the number of these ticks, and changes it gradually. A player
    /// that aims at others is shown states of the server, and is itself shown as predicted.
    HC_OTHERS_AS_RECEIVED,
};

/// The configuration of a client. It begins with its size, so that a program and a library of
/// different versions agree on it: the library gives members that the program does not know their
/// defaults, and refuses a size that the library does not know. New members come last.
struct hc_client_config {
    uint32_t size;              ///< bytes of this struct; hc_client_config_default sets it
    const struct hc_game *game; ///< borrowed; with the hashes of the server's game
    uint64_t rule_hash; ///< hc_game_rule_hash of the game, for programs with many clients; 0:
                        ///< hc_client_create computes it
    struct hc_credential credential; ///< a token for this server, and its secret
    uint8_t players;                 ///< local players, [0, HC_OWN_PLAYERS_MAX]; 0 watches
    /// The best extrapolation by which the server may encode snapshots; the client also computes
    /// the simpler ones. A better one takes fewer bytes and more time of both ends.
    enum hc_extrapolation extrapolation;
    uint32_t input_delay;      ///< D: an input sampled at tick P is stamped P + D; ticks; at least,
                               ///< if input_delay_max is greater
    uint32_t display_offset;   ///< ticks that the shown tick is behind the predicted one
    enum hc_others others;     ///< the others' shown tick, never after the one of display_offset
    uint32_t lead;             ///< ticks that the prediction is ahead of the server, at least, if
                               ///< lead_max is greater; each server limits it and D to its future,
                               ///< see hc_client_recent
    uint32_t prediction_limit; ///< ticks ahead of the last received state before a stall; more
                               ///< than `lead`, and better more than lead and a round trip
    uint32_t input_redundancy; ///< ticks of input in each datagram; 0: all that are not acked
    uint32_t smoothing_us;     ///< half-life of a visible correction; 0: shown at once
    uint32_t timeout_us;       ///< silence after which the connection is lost; 3 s or more, because
                               ///< a server may take 1 s to free an earlier connection
    uint32_t reconnect_us;     ///< time after a loss to reconnect within; 0: never reconnect
    /// HC_CLIENT_ENTROPY_SIZE unpredictable bytes, the source of nonces and keys. Only
    /// hc_client_create reads them. NULL: from the operating system. Each client needs other bytes:
    /// with the same bytes, the same token and the same `now_us` a second run repeats the keys of
    /// the first.
    const uint8_t *entropy;
    /// Called before and after each rollback, with the earliest tick that is stepped again. Before
    /// it, later ticks are as they were predicted, except for states just received. Every step
    /// between the two calls repeats a tick, and every other step is of a new one: a step must not
    /// depend on that, but a game may count or trace it. Both calls may read the client, and must
    /// not change it. NULL: none.
    void (*rollback_begins)(void *context, const struct hc_client *client, hc_tick first);
    void (*rollback_ended)(void *context, const struct hc_client *client, hc_tick first);
    void *rollback_context; ///< the first argument of both calls
    /// Keeps a connection after HC_CLIENT_EVENT_DESYNC. False: it is closed with HC_CLOSE_DESYNC.
    bool stays_desynced;
    const struct hc_allocator *allocator; ///< NULL: malloc
    /// Called with one line of text, without newline, for each notable event, never for each
    /// datagram; NULL: no log.
    void (*log)(void *context, const char *line);
    void *log_context; ///< the first argument of `log`
    /// New ticks that one hc_client_advance simulates at most; 0: those of 100 ms, and at least 4.
    /// Of a frame that took longer, the rest follows at 1.05 times the usual pace, so that a slow
    /// frame does not cause the next one. More than 250 ms follow as fast as this number allows.
    uint32_t ticks_per_advance;
    /// Above `input_delay` and `lead`: the delay is automatic, see struct hc_client_timing. 0: it
    /// is fixed.
    uint32_t input_delay_max, lead_max;
    /// Ticks: hc_client_set_display may change the display offset up to it, for which the client
    /// has memory. Less than `display_offset`: up to that.
    uint32_t display_offset_max;
};

/// Input delay and lead, in ticks. A delay is automatic if its maximum is greater than it: the
/// client chooses it within both from the margins of its inputs, so that all but the worst 2 % of
/// them are in time at the server as far as the bounds allow. It rises at once, and falls after 4 s
/// in which less was needed. The input delay takes as much as it may, and the lead the rest.
struct hc_client_timing {
    uint32_t input_delay, input_delay_max; ///< [0, HC_INPUT_DELAY_MAX]
    uint32_t lead, lead_max;               ///< [0, HC_LEAD_MAX]
};

/// The tick at which a client shows its world.
struct hc_client_display {
    uint32_t offset;       ///< ticks that the shown tick is behind the predicted one
    enum hc_others others; ///< the tick of the others
};

/// The state of the connection.
enum hc_client_state {
    HC_CLIENT_CONNECTING,   ///< the client is in the handshake
    HC_CLIENT_JOINING,      ///< the server has accepted, and no state was received yet
    HC_CLIENT_PLAYING,      ///< the client predicts
    HC_CLIENT_STALLED,      ///< the client waits for the server, at the prediction limit
    HC_CLIENT_RECONNECTING, ///< the connection is lost, and the client is in a new handshake
    HC_CLIENT_LEAVING,      ///< the client sends CLOSE
    HC_CLIENT_CLOSED,       ///< the connection is over; the last event tells the reason
};

/// The reason why a connection is lost.
enum hc_client_loss {
    HC_CLIENT_LOSS_SILENCE, ///< the client received no datagram for timeout_us
    HC_CLIENT_LOSS_RESET,   ///< the server does not know the connection: restarted, or freed it
    HC_CLIENT_LOSS_TIMEOUT, ///< the server received no datagram for too long
    HC_CLIENT_LOSS_RENEWAL, ///< the connection is so old that it needs new keys
    HC_CLIENT_LOSS_RESTART, ///< the server restarts
};

/// The kinds of events.
enum hc_client_event_kind {
    HC_CLIENT_EVENT_ACCEPTED,    ///< the server accepted: hc_client_world and hc_client_player are
                                 ///< known
    HC_CLIENT_EVENT_PLAYING,     ///< the first state was received
    HC_CLIENT_EVENT_STALLED,     ///< the client predicts no further until the server answers
    HC_CLIENT_EVENT_UNSTALLED,   ///< the client predicts again after a stall
    HC_CLIENT_EVENT_DENIED,      ///< closed: the server denied the client, see `deny`
    HC_CLIENT_EVENT_VERSION,     ///< closed: the server runs another build
    HC_CLIENT_EVENT_CLOSED,      ///< closed by the server or by hc_client_leave, see `close`
    HC_CLIENT_EVENT_TIMEOUT,     ///< closed: timeout_us of silence, then reconnect_us in vain
    HC_CLIENT_EVENT_LOST,        ///< the connection is lost and the client reconnects, see `loss`
    HC_CLIENT_EVENT_RECONNECTED, ///< the server accepted the client again after a loss, see
                                 ///< `resumed`
    HC_CLIENT_EVENT_MOVED,       ///< the server receives this client from a new address
    HC_CLIENT_EVENT_DESYNC, ///< the client computes another world than the server, see `difference`
    HC_CLIENT_EVENT_PLAYER_JOINED, ///< another player joined at `tick`, see `player` and `name`
    HC_CLIENT_EVENT_PLAYER_LEFT,   ///< another player left at `tick`
    HC_CLIENT_EVENT_PLAYER_NAMED,  ///< a player's name became known, or is another one now
    HC_CLIENT_EVENT_NOTICE,        ///< the server tells the people who play something, see `notice`
    HC_CLIENT_EVENT_KINDS
};

/// An event; the members that its kind does not name are 0.
struct hc_client_event {
    enum hc_client_event_kind kind;
    enum hc_deny_reason deny; ///< reason of DENIED
    /// Milliseconds. Of DENIED: the time after which the game may try again; 0: never. Of LOST: the
    /// time that the client waits because the server restarts, before it reconnects within
    /// hc_client_config.reconnect_us.
    uint32_t retry_ms;
    enum hc_close_reason close; ///< reason of CLOSED
    enum hc_client_loss loss;   ///< reason of LOST
    bool resumed; ///< RECONNECTED: the session is resumed with its players and messages; false: the
                  ///< session is new, as after ACCEPTED
    /// The player of PLAYER_JOINED, PLAYER_LEFT and PLAYER_NAMED; at most 64 such events wait. The
    /// server reports players that this client sees. Players that joined earlier become visible
    /// without PLAYER_JOINED (hc_client_poll_visible), and their names follow.
    hc_player player;
    char name[HC_TOKEN_NAME_SIZE + 1]; ///< name of that player; empty: none, or not arrived yet
    hc_tick tick;                      ///< tick of DESYNC, PLAYER_JOINED and PLAYER_LEFT
    /// Of DESYNC: the place where the world differs from the server's. The client asks the server
    /// for its values; without an answer within a second the place is only a suspect.
    struct hc_difference difference;
    /// Of NOTICE, valid until the next hc_client_poll_event; else NULL. Each notice comes once, in
    /// the order in which the server made them; of 8 that wait unread, later ones are dropped.
    const struct hc_notice *notice;
};

/// The state of an attempt to connect.
struct hc_client_attempt {
    bool answered; ///< the server has answered, at least by a COOKIE
    bool denied;   ///< a DENY arrived, see `deny`; the client retries until it times out
    bool proven;   ///< the DENY is from the server; else anybody on the path may have sent it
    enum hc_deny_reason deny;
    uint64_t protocol_id; ///< the server's, by its own word, if it runs another build; else 0
};

/// Counts since the client's creation; hindcast/client_counters.h describes them.
struct hc_client_stats {
    HC_CLIENT_LINK_COUNTERS(HC_COUNTER_MEMBER)
    HC_CLIENT_WORLD_COUNTERS(HC_COUNTER_MEMBER)
    HC_CLIENT_PATH_COUNTERS(HC_COUNTER_MEMBER)
};

/// The state of a game event for a client's game.
enum hc_client_game_event_state {
    HC_CLIENT_GAME_EVENT_PREDICTED, ///< to be shown now: the client or the server has predicted it
    HC_CLIENT_GAME_EVENT_LATE,      ///< to be shown now: the event happened, and was not predicted
    HC_CLIENT_GAME_EVENT_CONFIRMED, ///< a predicted event happened
    HC_CLIENT_GAME_EVENT_CANCELLED, ///< a predicted event did not happen, or was not sent
};

/// A game event, which a step emitted (hc_emit). (tick, entity, kind, number) identify it.
struct hc_client_game_event {
    enum hc_client_game_event_state state;
    hc_tick tick; ///< tick of the state that the step wrote, see hc_client_show_tick_of
    hc_entity entity;
    uint8_t kind; ///< index in hc_game.event_kinds
    uint32_t number;
};

/// The recent state of the connection and of the prediction, for a display or a log.
struct hc_client_recent {
    uint64_t rtt_us, jitter_us; ///< smoothed round trip, mean deviation; 0 before the first
    uint32_t loss_up_ppm;       ///< share of the newest 64 or so datagrams sent that were lost
    uint32_t loss_down_ppm;     ///< share of the server's newest 64 that have not arrived
    uint64_t rtt_min_us;        ///< the least round trip of the last 10 s; 0 before the first
    /// The margins of the own inputs: how long before the server simulates the step that an input
    /// drives it arrives there, as the server measures it. Negative: the input is late by so much,
    /// and the server rewinds. Of the last 2 s before the newest report, which comes ten times a
    /// second, the low one, which is the least but the worst 2 %, and the median; 0 while they are
    /// not known.
    int32_t margin_low_us, margin_median_us;
    bool margin_known;        ///< false: no input arrived at the server in these 2 s
    uint64_t snapshot_age_us; ///< time from the arrival of the newest snapshot to the newest
                              ///< hc_client_advance
    double drift_ppm; ///< microseconds that the server's clock gains on the local one in a second;
                      ///< 0 while it is not known
    bool drift_known; ///< the drift is known to about 10 ppm, as after half a minute on a steady
                      ///< path
    uint32_t predicted_ticks; ///< from the newest snapshot's tick to the predicted one
    uint32_t rollback_ticks;  ///< ticks that the newest rollback resimulated
    uint32_t others_ticks;    ///< from the tick at which others are shown to the predicted one
    uint32_t in_flight_bytes; ///< sent to the server and neither acked nor lost, headers included
    /// The most that may be in flight, because the path is congested; 0: there is no bound.
    uint32_t in_flight_bound_bytes;
    /// Ticks, in effect now: the configured ones, unless the server takes inputs for fewer ticks in
    /// advance, or those that the client has chosen.
    uint32_t input_delay, lead;
};

/// An entity that became visible, or ceased to be.
struct hc_client_visible {
    hc_entity entity;
    hc_player owner; ///< HC_NO_PLAYER: nobody's
    uint8_t kind;    ///< index in hc_game.kinds
    bool visible;    ///< the entity became visible; false: it ceased to be
};

/// A visible entity, as it is drawn at one moment: a copy, which the caller owns.
struct hc_client_shown {
    hc_entity entity;
    hc_player owner;             ///< HC_NO_PLAYER: nobody's
    uint8_t kind;                ///< index in hc_game.kinds
    const struct hc_kind *table; ///< table of that kind; borrowed from the game
    /// The table's fields in its order and in their own units, interpolated and smoothed as the
    /// table declares. HC_SHOWN reads them.
    double values[HC_FIELDS_MAX];
};

/// The value of a field as it is drawn, a double in the unit of the field: HC_SHOWN(&shown,
/// struct pong_ball, x). `type` is the struct of the entity's kind, and the game's table has a
/// field for `member`; otherwise it aborts.
#define HC_SHOWN(shown, type, member)                                                              \
    hc_client_shown_value((shown), sizeof(type), offsetof(type, member))

/// Writes the defaults to the first `size` bytes of `*config`, and `size` to its first member.
/// Programs call hc_client_config_default.
HC_API void hc_client_config_init(struct hc_client_config *config, uint32_t size);

/// One local player, input delay and lead of the preset `balanced`, prediction limit 64 ticks,
/// display offset 0, others as the game wants it, all inputs repeated, corrections halved every
/// 50 ms, timeout 10 s, 30 s to reconnect. The caller sets `game` and `credential`.
static inline struct hc_client_config hc_client_config_default(void) {
    struct hc_client_config config;
    hc_client_config_init(&config, sizeof config);
    return config;
}

/// NULL when the configuration is valid, else the name of the first field out of its range, in
/// static storage.
HC_API const char *hc_client_config_check(const struct hc_client_config *config);

/// Creates a client that starts to connect at `now_us`; the caller frees it with hc_client_destroy.
/// NULL: the configuration is invalid, or memory is short.
HC_API struct hc_client *hc_client_create(const struct hc_client_config *config, uint64_t now_us);

/// Frees a client without a CLOSE to the server; NULL is allowed.
HC_API void hc_client_destroy(struct hc_client *client);

/// Processes a datagram of `size` bytes, borrowed for the call. The caller has checked that it is
/// from the server's address. `now_us` is when it arrived, which may be a little after the time of
/// the next hc_client_advance. Returns HC_OK, or the cause of its rejection, which is also counted.
HC_API enum hc_status hc_client_receive(struct hc_client *client, const uint8_t *bytes, size_t size,
                                        uint64_t now_us);

/// Sets the input of local player `index` (below config->players) from the next sampled tick on:
/// input_size bytes, copied. Fields out of range are limited to it, and the game's sanitize_input
/// is applied.
///
/// It may be called any number of times between two ticks, and with the same input again: once for
/// each event of a key, or once a frame. The next tick has the newest value of a stick or an
/// aim, and no press of a button is lost (hc_field.sampling). A game that polls its keys once a
/// frame does not see presses that are shorter than a frame: its events have them.
HC_API void hc_client_set_input(struct hc_client *client, unsigned index, const void *input);

/// Writes a preset to `*timing`: `rewind`, input delay 0 and lead 0, with own inputs shown at once;
/// `balanced`, the default, input delay 0 to 3 and lead 0 to 1, so that the server rewinds only for
/// paths that are longer than 4 ticks; `ahead`, the same, and a lead of up to 20 for the rest, so
/// that others see this player without corrections, and it them further in the future. False, and
/// nothing written, for another name.
HC_API bool hc_client_timing_preset(const char *name, struct hc_client_timing *timing);

/// Replaces input delay and lead from now on, also while playing. Each tick keeps exactly one
/// input: after a greater input delay one input fills several, and after a smaller one some wait.
/// HC_INVALID, and nothing changed: a number is out of its range, both maxima together exceed 48
/// and those of the client's configuration, or the lead reaches prediction_limit.
HC_API enum hc_status hc_client_set_timing(struct hc_client *client,
                                           const struct hc_client_timing *timing);

/// Replaces the display offset and the tick of the others, also while playing. The place shown at
/// `now_us` stays, and goes there from then on by an eighth of the time that passes: nothing that
/// is shown goes back or leaps, except others that are shown as received and were more than 8 ticks
/// from there. HC_INVALID, and nothing changed: a member is out of its range, or the offset exceeds
/// both those of the client's configuration.
HC_API enum hc_status hc_client_set_display(struct hc_client *client,
                                            const struct hc_client_display *display,
                                            uint64_t now_us);

/// Does all work that is due at `now_us`: predicts ticks, stalls, times out, schedules datagrams.
HC_API void hc_client_advance(struct hc_client *client, uint64_t now_us);

/// Writes the next due datagram to `out` (HC_DATAGRAM_MAX bytes) and returns its size, bytes; 0:
/// none is due. One may be due after the server has closed the connection: the answer.
HC_API size_t hc_client_send(struct hc_client *client, uint8_t out[HC_AT_LEAST(HC_DATAGRAM_MAX)],
                             uint64_t now_us);

/// The time at which hc_client_advance or hc_client_send has work next; UINT64_MAX when closed.
HC_API uint64_t hc_client_deadline(const struct hc_client *client);

/// Removes the oldest event and writes it to `*event`; false when there is none.
HC_API bool hc_client_poll_event(struct hc_client *client, struct hc_client_event *event);

/// Sends `size` bytes at `message`, copied, to the server's game. Messages arrive once and in
/// order, until the client reconnects without a resumed session. HC_INVALID: `size` not in
/// [1, HC_MESSAGE_SIZE_MAX]. HC_UNEXPECTED: the client leaves or is closed. HC_FULL: too many
/// messages are not acked yet. On failure nothing changes.
HC_API enum hc_status hc_client_send_message(struct hc_client *client, const void *message,
                                             size_t size);

/// Returns the next message of the server's game, valid until the next hc_client_receive, and
/// writes its size, bytes, to `*size`. NULL: there is none. Unread messages wait in a bounded
/// store: when it is full, the client rejects datagrams with more messages, as if they were lost.
HC_API const uint8_t *hc_client_next_message(struct hc_client *client, size_t *size);

/// Sends `size` bytes at `message`, copied, to the server's game at most once: they arrive with one
/// datagram or never, and in any order. HC_INVALID: `size` not in [1, HC_MESSAGE_SIZE_MAX].
/// HC_UNEXPECTED: the client is not connected. HC_FULL: messages of about 1000 bytes wait for a
/// datagram already; this one is dropped.
HC_API enum hc_status hc_client_send_unreliable(struct hc_client *client, const void *message,
                                                size_t size);

/// Returns the next unreliable message of the server's game, valid until the next
/// hc_client_receive, and writes its size, bytes, to `*size`. NULL: there is none. Messages that
/// arrive while 1000 unread bytes wait are dropped.
HC_API const uint8_t *hc_client_next_unreliable(struct hc_client *client, size_t *size);

/// Leaves: the state becomes HC_CLIENT_LEAVING, and HC_CLIENT_CLOSED when the server has answered,
/// or some 2 s later.
HC_API void hc_client_leave(struct hc_client *client, uint64_t now_us);

/// The newest attempt to connect, to be shown while it lasts or after it has failed.
HC_API struct hc_client_attempt hc_client_attempt(const struct hc_client *client);

/// The state of the connection.
HC_API enum hc_client_state hc_client_state(const struct hc_client *client);

/// The world, as the server described it; NULL before HC_CLIENT_EVENT_ACCEPTED.
HC_API const struct hc_world *hc_client_world(const struct hc_client *client);

/// The world's player that local player `index` plays; HC_NO_PLAYER before
/// HC_CLIENT_EVENT_ACCEPTED.
HC_API hc_player hc_client_player(const struct hc_client *client, unsigned index);

/// The name of a player that this client sees, as its token has it: UTF-8 of at most
/// HC_TOKEN_NAME_SIZE bytes without control characters, with a zero at its end, valid until the
/// next datagram. NULL: the player has none, is not seen, or its name has not arrived yet; it
/// arrives within some round trips after the player, and HC_CLIENT_EVENT_PLAYER_NAMED reports it.
HC_API const char *hc_client_player_name(const struct hc_client *client, hc_player player);

/// The predicted timeline, for reading only; NULL before HC_CLIENT_EVENT_ACCEPTED.
HC_API const struct hc_timeline *hc_client_timeline(const struct hc_client *client);

/// Writes the tick of the newest applied snapshot to `*shown`, and the server's head when it was
/// sent to `*as_of`. False before the first.
HC_API bool hc_client_snapshot(const struct hc_client *client, hc_tick *shown, hc_tick *as_of);

/// Writes the server's final tick and the chained hash of all ticks up to it, as last received;
/// false before the first snapshot. The server keys the hash, so it can be compared only with that
/// of another client or of the server's journal.
HC_API bool hc_client_final(const struct hc_client *client, hc_tick *tick, uint64_t *chain);

/// Writes the tick at which the own players are shown at `now_us`, and its progress to the next
/// tick in 1/65536, to `*tick` and `*fraction`. False before the first state.
HC_API bool hc_client_show_tick(const struct hc_client *client, uint64_t now_us, hc_tick *tick,
                                uint32_t *fraction);

/// As hc_client_show_tick, for the tick at which `entity` is shown: the same tick, or an earlier
/// one if the others are shown as they were received (hc_client_config.others).
HC_API bool hc_client_show_tick_of(const struct hc_client *client, uint64_t now_us,
                                   hc_entity entity, hc_tick *tick, uint32_t *fraction);

/// Writes `entity` as it is drawn at `now_us` to `*shown`. False, and nothing written: it is not
/// visible, because it is absent or unknown, or because no state was received yet.
HC_API bool hc_client_show(const struct hc_client *client, uint64_t now_us, hc_entity entity,
                           struct hc_client_shown *shown);

/// Writes the first entity from `*next` on that is visible at `now_us` to `*shown`, and sets
/// `*next` to the entity after it. False: there are no more. This loop visits all visible entities,
/// in ascending order:
///
///     struct hc_client_shown shown;
///     for (hc_entity next = 0; hc_client_show_next(client, now_us, &next, &shown);)
///         if (shown.kind == KIND_BALL)
///             draw_ball(HC_SHOWN(&shown, struct pong_ball, x),
///                       HC_SHOWN(&shown, struct pong_ball, y));
HC_API bool hc_client_show_next(const struct hc_client *client, uint64_t now_us, hc_entity *next,
                                struct hc_client_shown *shown);

/// Writes the next state of a game event to `*event`; false: there are no more.
///
/// Each event is delivered exactly once, as PREDICTED or LATE, when its entity is shown on the way
/// to its tick: when hc_client_show_tick_of gives the tick before it at `now_us`, or a later one.
/// So own events are delivered as soon as the client has predicted them, unless there is a display
/// offset, and those of others that are shown as they were received when they are seen. Events of
/// a kind with `at_once` do not wait for that.
///
/// The client predicts events itself, and the server sends those of others as it predicts them with
/// the state that shows them, so they wait for no slow player. The server lists the events of a
/// tick once more when the tick is final: all players' inputs before it have come or are refused.
/// Then each event that was delivered as PREDICTED is CONFIRMED or CANCELLED, and those that were
/// not predicted are LATE. A predicted event that is taken back before it is shown is never
/// delivered; one that is confirmed before that is delivered as PREDICTED and then as CONFIRMED.
/// Events of a kind with `final_only` come only then, all of them as LATE. A game that shows all of
/// PREDICTED and LATE, and takes CANCELLED ones back if it can, needs nothing more:
///
///     struct hc_client_game_event event;
///     while (hc_client_next_game_event(client, now_us, &event))
///         if (event.kind == EVENT_SHOT && event.state <= HC_CLIENT_GAME_EVENT_LATE)
///             play_bang(event.entity);
///
/// Events of units that the client does not see do not come. When the connection is lost, all
/// predicted events are cancelled. When more than 1,024 events are unread, the oldest are dropped.
HC_API bool hc_client_next_game_event(struct hc_client *client, uint64_t now_us,
                                      struct hc_client_game_event *event);

/// Writes the next entity that became visible or ceased to be, since the round of calls before, to
/// `*change`, in ascending order: for the game's own pools of drawings and sounds. Call it with the
/// same `now_us` until it returns false, which ends the round. With a new world, after ACCEPTED and
/// RECONNECTED, all entities are invisible without a report.
HC_API bool hc_client_poll_visible(struct hc_client *client, uint64_t now_us,
                                   struct hc_client_visible *change);

/// The value of the field at `offset` bytes of a state of `state_size` bytes; HC_SHOWN calls it.
/// Aborts if the kind's state has another size or no field there.
HC_API double hc_client_shown_value(const struct hc_client_shown *shown, size_t state_size,
                                    size_t offset);

/// Writes the recent state to `*recent`. False: no snapshot was received yet; all members are 0 but
/// `input_delay` and `lead`.
HC_API bool hc_client_recent(const struct hc_client *client, struct hc_client_recent *recent);

/// The client's counts; valid until the next call.
HC_API const struct hc_client_stats *hc_client_stats(const struct hc_client *client);

HC_C_END
