/// Reliable messages: messages of a game that arrive once and in order, though datagrams may not.
///
///     RELIABLE [8, number, message, ...]   each message a binary of [1, HC_MESSAGE_SIZE_MAX]
///     bytes; an
///                                      integer k > 0 between two: the next k numbers are not here
///
/// Messages are numbered from 1. A datagram carries any whole messages that are not acked. The
/// sender remembers them by the seq of the datagram, so the ack of the datagram acks its messages.
/// Both ends use both halves.
///
/// Sending: 1. hc_reliable_put, any time; 2. hc_reliable_send for each datagram, before the parts
/// that may take all the room; 3. hc_reliable_acked for each seq that hc_sent_acked returns. At
/// most HC_RELIABLE_WINDOW messages and HC_RELIABLE_BYTES_MAX of their bytes are on the way,
/// counted from the oldest that is not acked. hc_reliable_put returns HC_FULL beyond that: the peer
/// has received nothing for long. The caller must close the session, because a message must not be
/// left out.
///
/// Receiving: 1. hc_reliable_check, which changes nothing; 2. hc_reliable_take, once the whole
/// datagram was checked; 3. hc_reliable_next until NULL. A datagram counts as received
/// (hc_received_accept) only after its messages were taken.
///
/// Nothing is allocated; the caller lends the memory for the bytes. Any RELIABLE of the peer costs
/// at most three visits of each of its values and one of each held byte, an ack HC_RELIABLE_WINDOW
/// steps.
#pragma once

#include "common/bytes.h"
#include "hindcast/connection.h"
#include "hindcast/status.h"
#include "proto/ack.h"
#include "proto/body.h"
#include "proto/unreliable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The last number. At 64 KiB a second, three bytes a message, it is reached after two days.
#define HC_RELIABLE_NUMBER_MAX (UINT32_MAX - 1)

enum {
    HC_RELIABLE_CARRIERS = HC_SENT_RING, ///< datagrams remembered, as many as by struct hc_sent
    HC_RELIABLE_WORDS = HC_RELIABLE_WINDOW / 64,

    /// Array 1, type 1, number 5, header of a binary 2, the message. A message's length is one
    /// byte. All of this is less than a quarter of a datagram's body: a snapshot leaves that room.
    /// A game splits longer data into several messages.
    HC_RELIABLE_ROOM_MIN = 1 + 1 + 5 + 2 + HC_MESSAGE_SIZE_MAX,

    HC_RELIABLE_RECORD = 2, ///< bytes that the receiver stores beside each message
    /// Bytes for a receiver that returns all messages in order before it takes more.
    HC_RELIABLE_STORE_MIN = HC_RELIABLE_BYTES_MAX + HC_RELIABLE_WINDOW * HC_RELIABLE_RECORD,
    HC_RELIABLE_STORE_MAX = 1 << 16,
    HC_RELIABLE_CHANNEL_BYTES = HC_RELIABLE_BYTES_MAX + HC_RELIABLE_STORE_MIN,
};

/// A message on the way.
struct hc_reliable_entry {
    uint64_t sent_us; ///< when last
    uint16_t at;      ///< of its first byte in the ring
    uint8_t size;
    bool sent;
    bool acked;
};

/// The messages that a datagram carried.
struct hc_reliable_carrier {
    uint32_t seq;                     ///< 0: none
    uint32_t base;                    ///< bit i is the message base + i
    uint64_t bits[HC_RELIABLE_WORDS]; ///< 64 in each
};

/// The sending half.
struct hc_reliable_out {
    uint8_t *bytes;        ///< [capacity] a ring of the messages on the way, borrowed
    uint32_t capacity;     ///< [HC_MESSAGE_SIZE_MAX, HC_RELIABLE_BYTES_MAX]
    uint32_t used;         ///< bytes of the ring
    uint32_t end;          ///< of the next message in the ring
    uint32_t oldest, next; ///< numbers in [oldest, next) are on the way
    uint64_t sendings;     ///< of messages, first and repeated ones
    struct hc_reliable_entry entries[HC_RELIABLE_WINDOW];      ///< by number
    struct hc_reliable_carrier carriers[HC_RELIABLE_CARRIERS]; ///< by seq
};

/// The place of a received message.
struct hc_reliable_place {
    uint16_t at; ///< of its record
    uint8_t size;
    bool held;
};

/// The receiving half. `bytes` is a log of records [slot 1 | size 1 | message]: received messages
/// are appended, returned ones leave gaps until the log is full and is compacted.
struct hc_reliable_in {
    uint8_t *bytes;      ///< [capacity] the log, borrowed
    uint32_t capacity;   ///< [HC_RELIABLE_STORE_MIN, HC_RELIABLE_STORE_MAX]
    uint32_t used;       ///< bytes of the log, with gaps
    uint32_t held;       ///< bytes of the log without gaps
    uint32_t early;      ///< bytes of held messages that came before a lower number
    uint32_t next;       ///< the number that is returned next
    uint32_t expected;   ///< the lowest number not received; [next, expected) can be returned
    uint64_t received;   ///< messages taken
    uint64_t duplicates; ///< messages received again, dropped
    struct hc_reliable_place places[HC_RELIABLE_WINDOW]; ///< by number
};

/// A session's messages in both directions.
struct hc_reliable_channel {
    struct hc_reliable_out out;
    struct hc_reliable_in in;
    uint8_t *bytes; ///< [HC_RELIABLE_CHANNEL_BYTES] of both, borrowed
    struct hc_unreliable unreliable_out, unreliable_in;
};

/// Starts with `first` (outside of tests 1) as the number of the first message, and lends
/// `capacity` bytes at `bytes`, which must outlive `out`.
void hc_reliable_out_init(struct hc_reliable_out *out, uint32_t first, uint8_t *bytes,
                          uint32_t capacity);

/// Queues a copy of the `size` bytes at `message` as the next message. HC_INVALID: size is not in
/// [1, HC_MESSAGE_SIZE_MAX]. HC_FULL: the window, the bytes or the numbers are used up. Both change
/// nothing.
enum hc_status hc_reliable_put(struct hc_reliable_out *out, const void *message, size_t size);

/// Appends a RELIABLE of at most `room` bytes to `body` for the datagram `seq`, sent at `now_us`:
/// the messages that were never sent or not acked within max(HC_RELIABLE_RESEND_LEAST_US, 5/4
/// `rtt_us`), oldest first, up to the first that does not fit. One always fits into
/// HC_RELIABLE_ROOM_MIN. Called once for a datagram. Returns the number of messages; with 0 nothing
/// was appended.
uint32_t hc_reliable_send(struct hc_reliable_out *out, struct hc_writer *body, size_t room,
                          uint32_t seq, uint64_t now_us, uint64_t rtt_us);

/// Acks the messages of the datagram `seq`, which the peer received. A datagram is forgotten after
/// HC_RELIABLE_CARRIERS more: its ack changes nothing, its messages are sent again, and the peer
/// drops them.
void hc_reliable_acked(struct hc_reliable_out *out, uint32_t seq);

/// Resumes on a new connection between the same two, whose seqs start anew: messages that are not
/// acked are sent again.
void hc_reliable_out_continue(struct hc_reliable_out *out);

/// Starts with the peer's `first`, and lends `capacity` bytes at `bytes`, which must outlive `in`.
void hc_reliable_in_init(struct hc_reliable_in *in, uint32_t first, uint8_t *bytes,
                         uint32_t capacity);

/// Checks the `values` of a RELIABLE (hc_body_values) and changes nothing. HC_OK, also when some or
/// all messages were received before. HC_MALFORMED: not a RELIABLE, a message too long or empty, or
/// more on the way than the peer may have. HC_FULL: there is no room until hc_reliable_next has
/// returned the messages in order; a caller that cannot do that first drops the datagram as if it
/// were lost.
enum hc_status hc_reliable_check(const struct hc_reliable_in *in, struct hc_values values);

/// Takes the messages of a RELIABLE; those received before are dropped. Fails as
/// hc_reliable_check does, and changes nothing then.
enum hc_status hc_reliable_take(struct hc_reliable_in *in, struct hc_values values);

/// Returns the next message, in order, each once: its bytes, valid until the next hc_reliable_take,
/// and their number in `*size`. NULL, and 0: there is none.
const uint8_t *hc_reliable_next(struct hc_reliable_in *in, size_t *size);

/// Starts both halves anew with message 1, and empties the queues of unreliable messages;
/// `channel->bytes` is set.
void hc_reliable_channel_begin(struct hc_reliable_channel *channel);

/// Takes the RELIABLE of a body, which hc_reliable_check found valid. Returns how many more
/// messages hc_reliable_next can return.
uint32_t hc_reliable_channel_take(struct hc_reliable_channel *channel, struct hc_body *body);

/// The number of messages that hc_reliable_next can return.
uint32_t hc_reliable_channel_unread(const struct hc_reliable_channel *channel);
