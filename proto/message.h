/// The messages other than SNAPSHOT (snapshot.h), RELIABLE (events.h) and UNRELIABLE
/// (unreliable.h).
///
///     WELCOME [1, tick_rate, players, seed, history, future, late_limit, tick, phase_us, [own
///     ...],
///              reset_token, resumed, zeros]
///     INPUT   [2, client_tick, display_offset, ack_delay_us, client_tick - first,
///              first - force_before, count, runs]
///     CLOSE   [4, reason, ...], with
///             [4, HC_CLOSE_DESYNC, tick, entity, field, compared, value, ...] and
///             [4, HC_CLOSE_RESTARTING, seconds, ...]; a reader skips values that it does not know
///     TICKET  [5, token, secret, reset_token]
///     PATH_CHALLENGE [6, data]         PATH_RESPONSE [7, data]
///     NAMES   [10, player, since, name, ...]
///
/// Every put appends one message to a body and returns true, or changes nothing and returns false
/// when it does not fit. Every get reads the current message of a body and checks the range of
/// every value; it returns HC_MALFORMED, with *out unspecified, when one is outside.
#pragma once

#include "common/timeline.h"
#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/game.h"
#include "proto/ack.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "proto/input_run.h"
#include "proto/name.h"
#include "proto/token.h"

enum {
    HC_PATH_SIZE = 8, ///< bytes of a PATH_CHALLENGE
    /// Bytes of a TICKET: array 1, type 1, three binaries with headers of 2.
    HC_TICKET_SIZE = 1 + 1 + 2 + HC_TOKEN_SIZE + 2 + HC_TOKEN_SECRET_SIZE + 2 + HC_RESET_TOKEN_SIZE,
    HC_PATH_MESSAGE_SIZE = 1 + 1 + 2 + HC_PATH_SIZE,
};

/// The values that a client needs before it can simulate.
struct hc_welcome {
    uint16_t tick_rate;  ///< Hz, [1, HC_TICK_RATE_MAX]
    uint16_t players;    ///< of the world, [1, game->players_max]
    uint64_t seed;       ///< of the world
    uint32_t history;    ///< W, ticks, [0, HC_HISTORY_MAX]
    uint32_t future;     ///< inputs are accepted up to head + future, [1, HC_FUTURE_MAX]
    uint32_t late_limit; ///< the client's inputs before head - late_limit are refused, [0, history]
    hc_tick tick;        ///< the server tick when it answered
    uint32_t phase_us;   ///< since that tick was due, [0, HC_PHASE_MAX_US]
    uint8_t own_count;   ///< [0, HC_OWN_PLAYERS_MAX]
    hc_player own[HC_OWN_PLAYERS_MAX];        ///< the client's players, all different
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< authenticates a RESET of this connection
    bool resumed; ///< the session of the connection that CONNECT named goes on, with its messages
};

/// The message of a client in every datagram.
struct hc_input_message {
    hc_tick client_tick;     ///< the tick that the client predicts now
    uint32_t display_offset; ///< the client shows client_tick - display_offset, [0, HC_HISTORY_MAX]
    uint32_t ack_delay_us;   ///< since it received the datagram `ack`, [0, HC_ACK_DELAY_MAX_US]
    hc_tick force_before;    ///< no input before this tick is sent again; at most `first`
    hc_tick first;           ///< tick of the first input
    uint32_t count;          ///< ticks, [0, HC_INPUT_RUN_MAX]; 0 without own players
};

/// The credential with which a client reconnects; the server renews it.
struct hc_ticket {
    struct hc_credential credential;          ///< only a server can read its token
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< replaces WELCOME's, or the last TICKET's
};

enum {
    HC_CLOSE_NO_ENTITY = UINT16_MAX, ///< of HC_CLOSE_DESYNC: none is suspect
    HC_CLOSE_NO_FIELD = UINT8_MAX,   ///< none is suspect, or the presence differs
};

/// Where a client's world differs, of HC_CLOSE_DESYNC.
struct hc_close_desync {
    hc_tick tick;    ///< of the snapshot that did not match
    uint16_t entity; ///< entity that differs, or HC_CLOSE_NO_ENTITY
    uint8_t field;   ///< index in the fields of the entity's kind, or HC_CLOSE_NO_FIELD
    bool compared;   ///< with the server's values; else it is a suspect
    int64_t value;   ///< where compared: the client's, of the field or the presence; else 0
};

/// How a connection ends.
struct hc_close {
    enum hc_close_reason reason;   ///< may be one that hc_close_reason does not list
    struct hc_close_desync desync; ///< of HC_CLOSE_DESYNC; else zeros
    uint32_t seconds;              ///< of HC_CLOSE_RESTARTING: until the server is back; else 0
};

/// A player's name.
struct hc_player_name {
    hc_player player;
    hc_tick since;             ///< a join or leave of the player from this tick on ends the name
    uint8_t name[HC_NAME_MAX]; ///< valid by hc_name_check, padded with zeros
};

/// Writes WELCOME to the beginning of a body of ACCEPT; its zeros fill the body.
bool hc_message_put_welcome(struct hc_writer *body, const struct hc_welcome *welcome);

/// Reads WELCOME; `game` limits the players.
enum hc_status hc_message_get_welcome(const struct hc_body *body, const struct hc_game *game,
                                      struct hc_welcome *out);

/// Appends INPUT with as many of the input->count ticks as fit, oldest first; input->count becomes
/// that number. `source` returns the inputs of the `players` own players; with 0, count is 0.
bool hc_message_put_input(struct hc_writer *body, const struct hc_game *game, uint32_t players,
                          struct hc_input_message *input, hc_input_source *source, void *context);

/// Reads INPUT of a client with `players` own players; `*run` then returns the inputs, borrowed
/// from the datagram. The caller checks the ticks.
enum hc_status hc_message_get_input(const struct hc_body *body, const struct hc_game *game,
                                    uint32_t players, struct hc_input_message *out,
                                    struct hc_input_run *run);

/// Appends CLOSE.
bool hc_message_put_close(struct hc_writer *body, const struct hc_close *close);

/// Reads CLOSE, also one whose reason is unknown.
enum hc_status hc_message_get_close(const struct hc_body *body, struct hc_close *out);

/// Appends TICKET.
bool hc_message_put_ticket(struct hc_writer *body, const struct hc_ticket *ticket);

/// Reads TICKET.
enum hc_status hc_message_get_ticket(const struct hc_body *body, struct hc_ticket *out);

/// Appends PATH_CHALLENGE or PATH_RESPONSE, by `type`.
bool hc_message_put_path(struct hc_writer *body, enum hc_message_type type,
                         const uint8_t data[static HC_PATH_SIZE]);

/// Reads PATH_CHALLENGE or PATH_RESPONSE.
enum hc_status hc_message_get_path(const struct hc_body *body, uint8_t out[static HC_PATH_SIZE]);

/// Appends NAMES with `count` names, [1, HC_NAMES_EACH], of ascending players.
bool hc_message_put_names(struct hc_writer *body, const struct hc_player_name *names,
                          uint32_t count);

/// Reads NAMES of a world of `players` players; writes their number to `*count`.
enum hc_status hc_message_get_names(const struct hc_body *body, uint32_t players,
                                    struct hc_player_name out[static HC_NAMES_EACH],
                                    uint32_t *count);
