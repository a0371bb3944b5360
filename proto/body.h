/// Bodies: the msgpack arrays [type, ...] that follow one another inside DATA
/// and ACCEPT.
///
/// Writing appends whole messages to a struct hc_writer over the datagram's
/// body room; a message that does not fit leaves the writer as it was. Reading
/// goes through all messages of a body:
///   1. hc_body_begin, which pre-checks all of it; 2. hc_body_next until it
///   gives HC_MESSAGE_END; after each, the hc_message_get_* or
///   hc_snapshot_get_* of its type.
/// Nothing is allocated: a message's values lie inside struct hc_body while it
/// is the present one.
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
    HC_MESSAGE_WELCOME = 1,        ///< server, in ACCEPT only: what the world is
    HC_MESSAGE_INPUT = 2,          ///< client: its clock and its players' inputs
    HC_MESSAGE_SNAPSHOT = 3,       ///< server: the state of a tick and the server's clock
    HC_MESSAGE_CLOSE = 4,          ///< both: the connection ends
    HC_MESSAGE_TICKET = 5,         ///< server: with what the client can come back
    HC_MESSAGE_PATH_CHALLENGE = 6, ///< server: to an address that the client seems to have now
    HC_MESSAGE_PATH_RESPONSE = 7,  ///< client: it has
    HC_MESSAGE_EVENTS = 8,         ///< both: the game's reliable messages, see events.h
    HC_MESSAGE_TYPES
};

enum {
    /// In one body: one of each type at most.
    HC_BODY_MESSAGES_MAX = HC_MESSAGE_TYPES,
};

/// A body that is being read. Large (19 kB): keep one and use it for every
/// datagram.
struct hc_body {
    const uint8_t *bytes;                          ///< borrowed until the last message is done with
    uint32_t count;                                ///< messages
    uint32_t next;                                 ///< the one to be read next
    uint8_t types[HC_BODY_MESSAGES_MAX];           ///< an enum hc_message_type each
    uint16_t starts[HC_BODY_MESSAGES_MAX + 1];     ///< in `bytes`; the last is the body's end
    enum hc_message_type type;                     ///< of the present message
    struct hc_value values[HC_PRECHECK_NODES_MAX]; ///< the present message
};

/// Where the values of one message or list are taken from, in order. A failure
/// sticks: the caller takes all it wants and looks at `failed`, through
/// hc_values_done, once at the end.
struct hc_values {
    const struct hc_value *next;
    uint32_t left;
    bool failed; ///< a value was missing, of another type or out of its range
};

/// Pre-checks the `size` bytes at `bytes`. HC_MALFORMED or HC_TRUNCATED: some
/// message is not well formed, its type is unknown or comes twice, WELCOME or
/// CLOSE is not the only message; then nothing of the body is to be used.
enum hc_status hc_body_begin(struct hc_body *body, const uint8_t *bytes, size_t size);

/// Makes the next message the present one and returns its type; HC_MESSAGE_END
/// after the last. The values of earlier messages end here; what they lent from
/// the datagram stays.
enum hc_message_type hc_body_next(struct hc_body *body);

/// As hc_body_next, but passes over the messages before the next one of `type`;
/// HC_MESSAGE_END when there is none.
enum hc_message_type hc_body_next_of(struct hc_body *body, enum hc_message_type type);

/// Goes back to before the first message.
void hc_body_rewind(struct hc_body *body);

/// The values of the present message after its type.
struct hc_values hc_body_values(const struct hc_body *body);

/// The next value, an integer in [0, max]; 0 on failure.
uint64_t hc_values_unsigned(struct hc_values *values, uint64_t max);

/// The next value, an integer in [min, max]; 0 on failure.
int64_t hc_values_signed(struct hc_values *values, int64_t min, int64_t max);

/// The next value, a binary, borrowed from the datagram; NULL and size 0 on
/// failure.
const uint8_t *hc_values_binary(struct hc_values *values, size_t *size);

/// The next value, an array, as values of its own; none, and failed, on
/// failure.
struct hc_values hc_values_array(struct hc_values *values);

/// HC_OK when every value was taken and none failed, else HC_MALFORMED.
enum hc_status hc_values_done(const struct hc_values *values);

/// Ends a message that began at `before`: true when it fitted, else `writer` is
/// as it was then.
bool hc_body_commit(struct hc_writer *writer, const struct hc_writer *before);
