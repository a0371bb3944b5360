/// Bodies: the msgpack arrays [type, ...] inside DATA and ACCEPT.
///
/// Writing appends whole messages to a struct hc_writer over the datagram's body; a message that
/// does not fit leaves the writer unchanged. Reading visits all messages of a body:
///   1. hc_body_begin, which pre-checks all of it;
///   2. hc_body_next until it returns HC_MESSAGE_END; after each, the hc_message_get_* or
///      hc_snapshot_get_* of its type.
/// Nothing is allocated: struct hc_body holds the values of the current message.
#pragma once

#include "common/bytes.h"
#include "hindcast/status.h"
#include "proto/precheck.h"
#include "proto/unpack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The first value of every message. One number space for both directions.
enum hc_message_type {
    HC_MESSAGE_END = 0,            ///< no message: the body is at its end
    HC_MESSAGE_WELCOME = 1,        ///< server, in ACCEPT only: the world and the client's players
    HC_MESSAGE_INPUT = 2,          ///< client: its clock and its players' inputs
    HC_MESSAGE_SNAPSHOT = 3,       ///< server: the state of a tick and the server's clock
    HC_MESSAGE_CLOSE = 4,          ///< both: the connection ends
    HC_MESSAGE_TICKET = 5,         ///< server: what the client reconnects with
    HC_MESSAGE_PATH_CHALLENGE = 6, ///< server: to a path that is not validated
    HC_MESSAGE_PATH_RESPONSE = 7,  ///< client: validates the path
    HC_MESSAGE_RELIABLE = 8,       ///< both: the game's reliable messages, see events.h
    HC_MESSAGE_UNRELIABLE = 9,     ///< both: the game's unreliable messages, see unreliable.h
    HC_MESSAGE_NAMES = 10,         ///< server: names of the players that the client sees
    HC_MESSAGE_COMPARE = 11,       ///< client: asks where a snapshot differs, see compare.h
    HC_MESSAGE_DIFFERS = 12,       ///< server: its values of what differs, see compare.h
    HC_MESSAGE_TYPES,
    HC_MESSAGE_NOTICE = 112, ///< server: what it tells the people who play, see notice.h
};

enum {
    /// Messages in one body: at most one of each type.
    HC_BODY_MESSAGES_MAX = HC_MESSAGE_TYPES,
    /// Types from this one to the greatest of one byte, 127, are of later versions: a body is read
    /// as if their messages were not in it. Types from HC_MESSAGE_NOTICE on are skipped by peers of
    /// earlier versions.
    HC_MESSAGE_SKIPPED = 113,
};

/// A body that is being read. It takes 19 kB: use one for all datagrams.
struct hc_body {
    const uint8_t *bytes;                          ///< borrowed until the last message was read
    uint32_t count;                                ///< messages
    uint32_t next;                                 ///< the message that is read next
    uint8_t types[HC_BODY_MESSAGES_MAX];           ///< an enum hc_message_type each
    uint16_t starts[HC_BODY_MESSAGES_MAX];         ///< first byte of each message in `bytes`
    uint16_t ends[HC_BODY_MESSAGES_MAX];           ///< first byte behind each message in `bytes`
    enum hc_message_type type;                     ///< of the current message
    struct hc_value values[HC_PRECHECK_NODES_MAX]; ///< of the current message
};

/// The values of one message or array, taken in order. A failure sticks: the caller takes all
/// values and calls hc_values_done once at the end.
struct hc_values {
    const struct hc_value *next;
    uint32_t left;
    bool failed; ///< a value was missing, of another type or out of range
};

/// Pre-checks the `size` bytes at `bytes`. HC_MALFORMED or HC_TRUNCATED: a message is not well
/// formed, its type is unknown or comes twice, or WELCOME or CLOSE is not the only message; the
/// caller must not use the body then.
enum hc_status hc_body_begin(struct hc_body *body, const uint8_t *bytes, size_t size);

/// Makes the next message the current one and returns its type; HC_MESSAGE_END after the last. It
/// ends the values of earlier messages, but not the bytes that they borrowed from the datagram.
enum hc_message_type hc_body_next(struct hc_body *body);

/// As hc_body_next, but skips to the next message of `type`; HC_MESSAGE_END when there is none.
enum hc_message_type hc_body_next_of(struct hc_body *body, enum hc_message_type type);

/// Goes back to the beginning of the body.
void hc_body_rewind(struct hc_body *body);

/// The values of the current message after its type.
struct hc_values hc_body_values(const struct hc_body *body);

/// The next value, an integer in [0, max]; 0 on failure.
uint64_t hc_values_unsigned(struct hc_values *values, uint64_t max);

/// The next value, an integer in [min, max]; 0 on failure.
int64_t hc_values_signed(struct hc_values *values, int64_t min, int64_t max);

/// The next value, a binary, borrowed from the datagram; NULL and size 0 on failure.
const uint8_t *hc_values_binary(struct hc_values *values, size_t *size);

/// The values of the next value, an array; none, and failed, on failure.
struct hc_values hc_values_array(struct hc_values *values);

/// HC_OK when every value was taken and none failed; else HC_MALFORMED.
enum hc_status hc_values_done(const struct hc_values *values);

/// Ends a message that began at `before`. False: it did not fit, and `writer` is `before` again.
bool hc_body_commit(struct hc_writer *writer, const struct hc_writer *before);
