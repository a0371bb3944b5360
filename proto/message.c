/// Messages: encoding and decoding of WELCOME, INPUT, CLOSE, TICKET, NAMES and the path messages.
#include "proto/message.h"

#include "hindcast/check.h"
#include "proto/pack.h"

#include <string.h>

enum {
    WELCOME_VALUES = 13,
    INPUT_VALUES = 8,
    TICKET_VALUES = 4,
    PATH_VALUES = 2,
    NAME_VALUES = 3, ///< of each name
    BINARY_HEADER_MAX = 3,
};

static void put_binary(struct hc_writer *body, const uint8_t *bytes, size_t size) {
    hc_pack_bin(body, size);
    hc_pack_bin_body(body, bytes, size);
}

/// Reads a binary of `size` bytes to `out`.
static void get_binary(struct hc_values *values, uint8_t *out, size_t size) {
    size_t found;
    const uint8_t *bytes = hc_values_binary(values, &found);
    if (bytes == NULL || found != size)
        values->failed = true;
    else
        memcpy(out, bytes, size);
}

/// Fills the body of an ACCEPT with zeros.
static void put_padding(struct hc_writer *body) {
    static const uint8_t zeros[HC_ACCEPT_BODY_MAX];
    // The binary is longer than 255 bytes: its header has 3.
    HC_ASSERT(body->at + BINARY_HEADER_MAX + UINT8_MAX < HC_ACCEPT_BODY_MAX);
    put_binary(body, zeros, HC_ACCEPT_BODY_MAX - BINARY_HEADER_MAX - body->at);
}

bool hc_message_put_welcome(struct hc_writer *body, const struct hc_welcome *welcome) {
    HC_ASSERT(welcome->own_count <= HC_OWN_PLAYERS_MAX);
    struct hc_writer before = *body;
    hc_pack_array(body, WELCOME_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_WELCOME);
    hc_pack_uint16(body, welcome->tick_rate);
    hc_pack_uint16(body, welcome->players);
    hc_pack_uint64(body, welcome->seed);
    hc_pack_uint32(body, welcome->history);
    hc_pack_uint32(body, welcome->future);
    hc_pack_uint32(body, welcome->late_limit);
    hc_pack_uint32(body, welcome->tick);
    hc_pack_uint32(body, welcome->phase_us);
    hc_pack_array(body, welcome->own_count);
    for (uint32_t i = 0; i < welcome->own_count; i++)
        hc_pack_uint16(body, welcome->own[i]);
    put_binary(body, welcome->reset_token, HC_RESET_TOKEN_SIZE);
    hc_pack_uint8(body, welcome->resumed);
    put_padding(body);
    return hc_body_commit(body, &before);
}

/// Reads the own players, all different, into `out`.
static void get_own(struct hc_values *values, struct hc_welcome *out) {
    struct hc_values own = hc_values_array(values);
    if (own.failed || own.left > HC_OWN_PLAYERS_MAX || own.left > out->players) {
        values->failed = true;
        return;
    }
    out->own_count = (uint8_t)own.left;
    for (uint32_t i = 0; i < out->own_count; i++) {
        out->own[i] = (hc_player)hc_values_unsigned(&own, out->players - 1u);
        for (uint32_t j = 0; j < i; j++)
            own.failed |= out->own[j] == out->own[i];
    }
    values->failed |= hc_values_done(&own) != HC_OK;
}

/// Reads a binary of zeros.
static void get_padding(struct hc_values *values) {
    size_t size = 0;
    const uint8_t *bytes = hc_values_binary(values, &size);
    for (size_t i = 0; bytes != NULL && i < size; i++)
        values->failed |= bytes[i] != 0;
}

enum hc_status hc_message_get_welcome(const struct hc_body *body, const struct hc_game *game,
                                      struct hc_welcome *out) {
    if (body->type != HC_MESSAGE_WELCOME)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    *out = (struct hc_welcome){0};
    out->tick_rate = (uint16_t)hc_values_unsigned(&values, HC_TICK_RATE_MAX);
    out->players = (uint16_t)hc_values_unsigned(&values, game->players_max);
    out->seed = hc_values_unsigned(&values, UINT64_MAX);
    out->history = (uint32_t)hc_values_unsigned(&values, HC_HISTORY_MAX);
    out->future = (uint32_t)hc_values_unsigned(&values, HC_FUTURE_MAX);
    out->late_limit = (uint32_t)hc_values_unsigned(&values, out->history);
    out->tick = (hc_tick)hc_values_unsigned(&values, HC_NO_TICK - 1);
    out->phase_us = (uint32_t)hc_values_unsigned(&values, HC_PHASE_MAX_US);
    if (values.failed || out->tick_rate == 0 || out->players == 0 || out->future == 0)
        return HC_MALFORMED;
    get_own(&values, out);
    get_binary(&values, out->reset_token, HC_RESET_TOKEN_SIZE);
    out->resumed = hc_values_unsigned(&values, 1) == 1;
    get_padding(&values);
    return hc_values_done(&values);
}

/// Packs as many of the `*count` ticks as fit behind the longest header of a binary, as
/// hc_input_run_pack does.
static size_t put_runs(const struct hc_writer *body, const struct hc_game *game, uint32_t players,
                       uint32_t *count, hc_input_source *source, void *context,
                       uint8_t packed[static HC_DATA_BODY_MAX]) {
    size_t room = body->size - body->at;
    room = room > BINARY_HEADER_MAX ? room - BINARY_HEADER_MAX : 0;
    room = room < HC_DATA_BODY_MAX ? room : HC_DATA_BODY_MAX;
    if (players == 0 || *count == 0)
        return 0;
    return hc_input_run_pack(game, players, count, source, context, packed, room);
}

/// The values of INPUT before the runs.
static void put_input_values(struct hc_writer *body, const struct hc_input_message *input,
                             uint32_t count) {
    hc_pack_array(body, INPUT_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_INPUT);
    hc_pack_uint32(body, input->client_tick);
    hc_pack_uint32(body, input->display_offset);
    hc_pack_uint32(body, input->ack_delay_us);
    hc_pack_int64(body, (int64_t)input->client_tick - (int64_t)input->first);
    hc_pack_uint32(body, input->first - input->force_before);
    hc_pack_uint32(body, count);
}

bool hc_message_put_input(struct hc_writer *body, const struct hc_game *game, uint32_t players,
                          struct hc_input_message *input, hc_input_source *source, void *context) {
    HC_ASSERT(input->force_before <= input->first && input->count <= HC_INPUT_RUN_MAX);
    HC_ASSERT(players > 0 || input->count == 0);
    struct hc_writer before = *body;
    // The number of ticks stands before them and may become smaller: write the values before them
    // twice. The second time they are shorter, never longer.
    put_input_values(body, input, input->count);
    uint8_t packed[HC_DATA_BODY_MAX];
    uint32_t count = input->count;
    size_t used = put_runs(body, game, players, &count, source, context, packed);
    *body = before;
    put_input_values(body, input, count);
    hc_pack_bin(body, used);
    hc_pack_bin_body(body, packed, used);
    if (!hc_body_commit(body, &before))
        return false;
    input->count = count;
    return true;
}

enum hc_status hc_message_get_input(const struct hc_body *body, const struct hc_game *game,
                                    uint32_t players, struct hc_input_message *out,
                                    struct hc_input_run *run) {
    if (body->type != HC_MESSAGE_INPUT)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    out->client_tick = (hc_tick)hc_values_unsigned(&values, HC_NO_TICK - 1);
    out->display_offset = (uint32_t)hc_values_unsigned(&values, HC_HISTORY_MAX);
    out->ack_delay_us = (uint32_t)hc_values_unsigned(&values, HC_ACK_DELAY_MAX_US);
    int64_t client_tick = out->client_tick;
    out->first = (hc_tick)(client_tick -
                           hc_values_signed(&values, client_tick - (HC_NO_TICK - 1), client_tick));
    out->force_before = out->first - (hc_tick)hc_values_unsigned(&values, out->first);
    out->count = (uint32_t)hc_values_unsigned(&values, players > 0 ? HC_INPUT_RUN_MAX : 0);
    size_t size;
    const uint8_t *packed = hc_values_binary(&values, &size);
    if (hc_values_done(&values) != HC_OK || out->count > HC_NO_TICK - out->first)
        return HC_MALFORMED;
    return hc_input_run_begin(run, game, players, out->count, packed, size);
}

/// Values of CLOSE.
static uint32_t close_values(enum hc_close_reason reason) {
    return reason == HC_CLOSE_DESYNC ? 7 : reason == HC_CLOSE_RESTARTING ? 3 : 2;
}

static void put_desync(struct hc_writer *body, const struct hc_close_desync *desync) {
    hc_pack_uint32(body, desync->tick);
    hc_pack_uint16(body, desync->entity);
    hc_pack_uint8(body, desync->field);
    hc_pack_uint8(body, desync->compared);
    hc_pack_int64(body, desync->value);
}

static void get_desync(struct hc_values *values, struct hc_close_desync *out) {
    out->tick = (hc_tick)hc_values_unsigned(values, HC_NO_TICK - 1);
    out->entity = (uint16_t)hc_values_unsigned(values, UINT16_MAX);
    out->field = (uint8_t)hc_values_unsigned(values, UINT8_MAX);
    out->compared = hc_values_unsigned(values, 1) == 1;
    out->value = hc_values_signed(values, INT32_MIN, UINT32_MAX);
}

bool hc_message_put_close(struct hc_writer *body, const struct hc_close *close) {
    struct hc_writer before = *body;
    hc_pack_array(body, close_values(close->reason));
    hc_pack_uint8(body, HC_MESSAGE_CLOSE);
    hc_pack_uint8(body, (uint8_t)close->reason);
    if (close->reason == HC_CLOSE_DESYNC)
        put_desync(body, &close->desync);
    if (close->reason == HC_CLOSE_RESTARTING)
        hc_pack_uint32(body, close->seconds);
    return hc_body_commit(body, &before);
}

enum hc_status hc_message_get_close(const struct hc_body *body, struct hc_close *out) {
    if (body->type != HC_MESSAGE_CLOSE)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    *out = (struct hc_close){
        .reason = (enum hc_close_reason)hc_values_unsigned(&values, HC_CLOSE_GAME_LAST)};
    if (out->reason == HC_CLOSE_DESYNC)
        get_desync(&values, &out->desync);
    if (out->reason == HC_CLOSE_RESTARTING)
        out->seconds = (uint32_t)hc_values_unsigned(&values, HC_RESTART_SECONDS_MAX);
    return values.failed || out->reason == 0 ? HC_MALFORMED : HC_OK; // a newer peer adds values
}

bool hc_message_put_ticket(struct hc_writer *body, const struct hc_ticket *ticket) {
    struct hc_writer before = *body;
    hc_pack_array(body, TICKET_VALUES);
    hc_pack_uint8(body, HC_MESSAGE_TICKET);
    put_binary(body, ticket->credential.token, HC_TOKEN_SIZE);
    put_binary(body, ticket->credential.secret, HC_TOKEN_SECRET_SIZE);
    put_binary(body, ticket->reset_token, HC_RESET_TOKEN_SIZE);
    return hc_body_commit(body, &before);
}

enum hc_status hc_message_get_ticket(const struct hc_body *body, struct hc_ticket *out) {
    if (body->type != HC_MESSAGE_TICKET)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    get_binary(&values, out->credential.token, HC_TOKEN_SIZE);
    get_binary(&values, out->credential.secret, HC_TOKEN_SECRET_SIZE);
    get_binary(&values, out->reset_token, HC_RESET_TOKEN_SIZE);
    return hc_values_done(&values);
}

bool hc_message_put_path(struct hc_writer *body, enum hc_message_type type,
                         const uint8_t data[static HC_PATH_SIZE]) {
    HC_ASSERT(type == HC_MESSAGE_PATH_CHALLENGE || type == HC_MESSAGE_PATH_RESPONSE);
    struct hc_writer before = *body;
    hc_pack_array(body, PATH_VALUES);
    hc_pack_uint8(body, (uint8_t)type);
    put_binary(body, data, HC_PATH_SIZE);
    return hc_body_commit(body, &before);
}

enum hc_status hc_message_get_path(const struct hc_body *body, uint8_t out[static HC_PATH_SIZE]) {
    if (body->type != HC_MESSAGE_PATH_CHALLENGE && body->type != HC_MESSAGE_PATH_RESPONSE)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    get_binary(&values, out, HC_PATH_SIZE);
    return hc_values_done(&values);
}

bool hc_message_put_names(struct hc_writer *body, const struct hc_player_name *names,
                          uint32_t count) {
    HC_ASSERT(count >= 1 && count <= HC_NAMES_EACH);
    struct hc_writer before = *body;
    hc_pack_array(body, 1 + NAME_VALUES * count);
    hc_pack_uint8(body, HC_MESSAGE_NAMES);
    for (uint32_t i = 0; i < count; i++) {
        hc_pack_uint16(body, names[i].player);
        hc_pack_uint32(body, names[i].since);
        put_binary(body, names[i].name, hc_name_size(names[i].name));
    }
    return hc_body_commit(body, &before);
}

static void get_name(struct hc_values *values, uint32_t players, struct hc_player_name *out) {
    size_t size;
    *out = (struct hc_player_name){
        .player = (hc_player)hc_values_unsigned(values, players - 1),
        .since = (hc_tick)hc_values_unsigned(values, HC_NO_TICK - 1),
    };
    const uint8_t *bytes = hc_values_binary(values, &size);
    if (bytes == NULL || hc_name_check(bytes, size) != HC_OK)
        values->failed = true;
    else
        memcpy(out->name, bytes, size);
}

enum hc_status hc_message_get_names(const struct hc_body *body, uint32_t players,
                                    struct hc_player_name out[static HC_NAMES_EACH],
                                    uint32_t *count) {
    if (body->type != HC_MESSAGE_NAMES)
        return HC_MALFORMED;
    struct hc_values values = hc_body_values(body);
    *count = values.left / NAME_VALUES;
    if (*count < 1 || *count > HC_NAMES_EACH)
        return HC_MALFORMED;
    for (uint32_t i = 0; i < *count; i++) {
        get_name(&values, players, &out[i]);
        values.failed |= i > 0 && out[i].player <= out[i - 1].player;
    }
    return hc_values_done(&values);
}

const char *hc_close_text(enum hc_close_reason reason) {
    switch (reason) {
    case HC_CLOSE_LEFT:
        return "the client left";
    case HC_CLOSE_SHUTDOWN:
        return "the server is shutting down";
    case HC_CLOSE_KICKED:
        return "kicked by the server";
    case HC_CLOSE_TIMEOUT:
        return "timed out";
    case HC_CLOSE_ERROR:
        return "protocol error";
    case HC_CLOSE_DESYNC:
        return "the client's world differs from the server's";
    case HC_CLOSE_RESTARTING:
        return "the server is restarting";
    case HC_CLOSE_SESSION_OVER:
        return "the session has lasted as long as the server lets it (--session-life)";
    case HC_CLOSE_REFUSED:
        return "the server refuses this user (--refused)";
    case HC_CLOSE_REASONS_END:
    case HC_CLOSE_GAME:
    case HC_CLOSE_GAME_LAST:
        break;
    }
    return reason >= HC_CLOSE_GAME && reason <= HC_CLOSE_GAME_LAST ? "removed by the game"
                                                                   : "unknown reason";
}
