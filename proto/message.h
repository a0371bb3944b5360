/// The messages that are not about a snapshot: WELCOME, INPUT, CLOSE, TICKET, PATH_CHALLENGE and
/// PATH_RESPONSE. (EVENTS is in events.h.)
///
///     WELCOME [1, tick_rate, players, seed, history, future, refusal, tick, phase_us, [own ...],
///              reset_token, kept, zeros]
///     INPUT   [2, client_tick, display_offset, ack_delay_us, client_tick - first,
///              first - force_before, count, runs]
///     CLOSE   [4, reason]
///     TICKET  [5, token, secret, reset_token]
///     PATH_CHALLENGE [6, data]         PATH_RESPONSE [7, data]
///
/// Every put appends one message to a body and returns true, or changes nothing and returns false
/// when it does not fit. Every get reads the present message of a body, checks every value against
/// its range, and returns HC_MALFORMED with *out unspecified when one is outside.
#pragma once

#include "common/timeline.h"
#include "hindcast/connection.h"
#include "hindcast/credential.h"
#include "hindcast/game.h"
#include "proto/ack.h"
#include "proto/body.h"
#include "proto/datagram.h"
#include "proto/input_run.h"
#include "proto/token.h"

enum {
    HC_PATH_SIZE = 8, ///< bytes of a PATH_CHALLENGE
    /// Bytes of a TICKET: array 1, type 1, three binaries with headers of 2.
    HC_TICKET_SIZE = 1 + 1 + 2 + HC_TOKEN_SIZE + 2 + HC_TOKEN_SECRET_SIZE + 2 + HC_RESET_TOKEN_SIZE,
    HC_PATH_MESSAGE_SIZE = 1 + 1 + 2 + HC_PATH_SIZE,
};

/// What a client must know before it can simulate.
struct hc_welcome {
    uint16_t tick_rate;  ///< Hz, [1, HC_TICK_RATE_MAX]
    uint16_t players;    ///< of the world, [1, game->players_max]
    uint64_t seed;       ///< of the world
    uint32_t history;    ///< W, ticks, [0, HC_HISTORY_MAX]
    uint32_t future;     ///< inputs are accepted up to head + future, [1, HC_FUTURE_MAX]
    uint32_t late_limit; ///< this client's inputs before head - refusal are refused, [0, history]
    hc_tick tick;        ///< the server's head when it answered
    uint32_t phase_us;   ///< since that tick was due, [0, HC_PHASE_MAX_US]
    uint8_t own_count;   ///< [0, HC_OWN_PLAYERS_MAX]
    hc_player own[HC_OWN_PLAYERS_MAX];        ///< the client's players, all different
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< by which a RESET of this connection is known
    bool resumed; ///< the connection that CONNECT named goes on, with its players and its events
};

/// What a client says in every datagram.
struct hc_input_message {
    hc_tick client_tick;     ///< the tick that the client predicts now
    uint32_t display_offset; ///< it shows client_tick - display_offset, [0, HC_HISTORY_MAX]
    uint32_t ack_delay_us;   ///< since the datagram named by `ack` came, [0, HC_ACK_DELAY_MAX_US]
    hc_tick force_before;    ///< no input before this one will be sent again; at most `first`
    hc_tick first;           ///< tick of the first input
    uint32_t count;          ///< ticks, [0, HC_INPUT_RUN_MAX]; 0 without own players
};

/// With what a client comes back after its connection is lost; a new one ever so often.
struct hc_ticket {
    struct hc_credential credential;          ///< its token is for the server's eyes, as ever
    uint8_t reset_token[HC_RESET_TOKEN_SIZE]; ///< in the place of WELCOME's, or the last TICKET's
};

/// Writes WELCOME to the beginning of a body; for ACCEPT alone, which its zeros fill up.
bool hc_message_put_welcome(struct hc_writer *body, const struct hc_welcome *welcome);

/// Reads WELCOME; `game` gives the most players.
enum hc_status hc_message_get_welcome(const struct hc_body *body, const struct hc_game *game,
                                      struct hc_welcome *out);

/// Appends INPUT. Of the input->count ticks wanted as many go in as fit, oldest first, and
/// input->count becomes that number. `players` is the number of own players, whose inputs `source`
/// gives; with 0, count is 0.
bool hc_message_put_input(struct hc_writer *body, const struct hc_game *game, uint32_t players,
                          struct hc_input_message *input, hc_input_source *source, void *context);

/// Reads INPUT of a client with `players` own players; `*run` then yields the inputs, borrowed from
/// the datagram. Whether the ticks make sense now is left to the server.
enum hc_status hc_message_get_input(const struct hc_body *body, const struct hc_game *game,
                                    uint32_t players, struct hc_input_message *out,
                                    struct hc_input_run *run);

/// Appends CLOSE.
bool hc_message_put_close(struct hc_writer *body, enum hc_close_reason reason);

/// Reads CLOSE.
enum hc_status hc_message_get_close(const struct hc_body *body, enum hc_close_reason *out);

/// Appends TICKET.
bool hc_message_put_ticket(struct hc_writer *body, const struct hc_ticket *ticket);

/// Reads TICKET.
enum hc_status hc_message_get_ticket(const struct hc_body *body, struct hc_ticket *out);

/// Appends PATH_CHALLENGE or PATH_RESPONSE, as `type` says.
bool hc_message_put_path(struct hc_writer *body, enum hc_message_type type,
                         const uint8_t data[static HC_PATH_SIZE]);

/// Reads PATH_CHALLENGE or PATH_RESPONSE.
enum hc_status hc_message_get_path(const struct hc_body *body, uint8_t out[static HC_PATH_SIZE]);
