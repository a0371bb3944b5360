/// Unreliable messages of a game: each arrives once and unaltered, or never.
///
///     UNRELIABLE [9, message, ...]   [1, HC_UNRELIABLE_EACH] binaries of [1, HC_MESSAGE_SIZE_MAX]
///                                    bytes
///
/// A message is in one datagram at most. Nobody acks it, and a datagram that is received twice
/// counts once (hc_received_check), so it never arrives twice. Messages of different datagrams may
/// arrive in any order.
///
/// Both ends use two queues: of the messages that wait for a datagram, and of those that wait for
/// the game. A message that finds no room in a queue is dropped.
#pragma once

#include "common/bytes.h"
#include "hindcast/connection.h"
#include "hindcast/status.h"
#include "proto/body.h"
#include "proto/limits.h"

/// Messages in the order in which they came: records [size 1 | message].
struct hc_unreliable {
    uint16_t begin, end; ///< of the records in `bytes`
    uint8_t bytes[HC_UNRELIABLE_BYTES];
};

/// Empties the queue.
void hc_unreliable_begin(struct hc_unreliable *queue);

/// Appends a copy of the `size` bytes at `message`. HC_INVALID: size is not in
/// [1, HC_MESSAGE_SIZE_MAX]. HC_FULL: there is no room. Both change nothing.
enum hc_status hc_unreliable_put(struct hc_unreliable *queue, const void *message, size_t size);

/// Removes the oldest message; returns its bytes, valid until the next hc_unreliable_put or
/// hc_unreliable_take, and their number in `*size`. NULL, and 0: there is none.
const uint8_t *hc_unreliable_next(struct hc_unreliable *queue, size_t *size);

/// Moves the oldest messages into an UNRELIABLE of at most `room` bytes at the end of `body`, up to
/// the first that does not fit. Returns their number; with 0 nothing was appended.
uint32_t hc_unreliable_send(struct hc_unreliable *queue, struct hc_writer *body, size_t room);

/// Checks the `values` of an UNRELIABLE (hc_body_values). HC_OK or HC_MALFORMED.
enum hc_status hc_unreliable_check(struct hc_values values);

/// Appends the messages of `values`, which hc_unreliable_check found valid. Returns the number of
/// those that found room; the others are dropped, and `*dropped` grows by their number.
uint32_t hc_unreliable_take(struct hc_unreliable *queue, struct hc_values values,
                            uint64_t *dropped);

/// The number of messages that hc_unreliable_next can return.
uint32_t hc_unreliable_count(const struct hc_unreliable *queue);
