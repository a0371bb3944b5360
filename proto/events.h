/// Events: messages of a game that arrive once and in order, though datagrams may not.
///
///     EVENTS [8, number, event, ...]   each event a binary of [1, HC_EVENTS_SIZE_MAX] bytes; an
///                                      integer k > 0 between two: the next k numbers are not here
///
/// Events are numbered from 1. A datagram carries any whole events that are not acked. The sender
/// remembers them by the seq of the datagram, so the ack of the datagram acks its events. Both ends
/// use both halves.
///
/// Sending: 1. hc_events_put, any time; 2. hc_events_send for each datagram, before the parts that
/// may take all the room; 3. hc_events_acked for each seq that hc_sent_acked returns. At most
/// HC_EVENTS_WINDOW events and HC_EVENTS_BYTES_MAX of their bytes are on the way, counted from the
/// oldest that is not acked. hc_events_put returns HC_FULL beyond that: the peer has received
/// nothing for long. The caller must close the session, because an event must not be left out.
///
/// Receiving: 1. hc_events_check, which changes nothing; 2. hc_events_take, once the whole datagram
/// was checked; 3. hc_events_next until NULL. A datagram counts as received (hc_replay_accept) only
/// after its events were taken.
///
/// Nothing is allocated; the caller lends the memory for the bytes. Any message of the peer costs
/// at most three visits of each of its values and one of each held byte, an ack HC_EVENTS_WINDOW
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

/// The last number. At 64 KiB a second, three bytes an event, it is reached after two days.
#define HC_EVENTS_NUMBER_MAX (UINT32_MAX - 1)

enum {
    HC_EVENTS_CARRIERS = HC_SENT_RING, ///< datagrams remembered, as many as by struct hc_sent
    HC_EVENTS_WORDS = HC_EVENTS_WINDOW / 64,

    /// Array 1, type 1, number 5, header of a binary 2, the event. An event's length is one byte.
    /// All of this is less than a quarter of a datagram's body: a snapshot leaves that room. A game
    /// splits longer data into several events.
    HC_EVENTS_ROOM_MIN = 1 + 1 + 5 + 2 + HC_EVENTS_SIZE_MAX,

    HC_EVENTS_RECORD = 2, ///< bytes that the receiver stores beside each event
    /// Bytes for a receiver that returns all events in order before it takes more.
    HC_EVENTS_STORE_MIN = HC_EVENTS_BYTES_MAX + HC_EVENTS_WINDOW * HC_EVENTS_RECORD,
    HC_EVENTS_STORE_MAX = 1 << 16,
    HC_EVENTS_CHANNEL_BYTES = HC_EVENTS_BYTES_MAX + HC_EVENTS_STORE_MIN,
};

/// An event on the way.
struct hc_events_entry {
    uint64_t sent_us; ///< when last
    uint16_t at;      ///< of its first byte in the ring
    uint8_t size;
    bool sent;
    bool acked;
};

/// The events that a datagram carried.
struct hc_events_carrier {
    uint32_t seq;                   ///< 0: none
    uint32_t base;                  ///< bit i is the event base + i
    uint64_t bits[HC_EVENTS_WORDS]; ///< 64 in each
};

/// The sending half.
struct hc_events_out {
    uint8_t *bytes;        ///< [capacity] a ring of the events on the way, borrowed
    uint32_t capacity;     ///< [HC_EVENTS_SIZE_MAX, HC_EVENTS_BYTES_MAX]
    uint32_t used;         ///< bytes of the ring
    uint32_t end;          ///< of the next event in the ring
    uint32_t oldest, next; ///< numbers in [oldest, next) are on the way
    uint64_t sendings;     ///< of events, first and repeated ones
    struct hc_events_entry entries[HC_EVENTS_WINDOW];      ///< by number
    struct hc_events_carrier carriers[HC_EVENTS_CARRIERS]; ///< by seq
};

/// The place of a received event.
struct hc_events_place {
    uint16_t at; ///< of its record
    uint8_t size;
    bool held;
};

/// The receiving half. `bytes` is a log of records [slot 1 | size 1 | event]: received events are
/// appended, returned ones leave gaps until the log is full and is compacted.
struct hc_events_in {
    uint8_t *bytes;      ///< [capacity] the log, borrowed
    uint32_t capacity;   ///< [HC_EVENTS_STORE_MIN, HC_EVENTS_STORE_MAX]
    uint32_t used;       ///< bytes of the log, with gaps
    uint32_t held;       ///< bytes of the log without gaps
    uint32_t early;      ///< bytes of held events that came before a lower number
    uint32_t next;       ///< the number that is returned next
    uint32_t expected;   ///< the lowest number not received; [next, expected) can be returned
    uint64_t received;   ///< events taken
    uint64_t duplicates; ///< events received again, dropped
    struct hc_events_place places[HC_EVENTS_WINDOW]; ///< by number
};

/// A session's messages in both directions.
struct hc_events_channel {
    struct hc_events_out out;
    struct hc_events_in in;
    uint8_t *bytes; ///< [HC_EVENTS_CHANNEL_BYTES] of both, borrowed
    struct hc_unreliable unreliable_out, unreliable_in;
};

/// Starts with `first` (outside of tests 1) as the number of the first event, and lends `capacity`
/// bytes at `bytes`, which must outlive `out`.
void hc_events_out_init(struct hc_events_out *out, uint32_t first, uint8_t *bytes,
                        uint32_t capacity);

/// Queues a copy of the `size` bytes at `event` as the next event. HC_INVALID: size is not in
/// [1, HC_EVENTS_SIZE_MAX]. HC_FULL: the window, the bytes or the numbers are used up. Both change
/// nothing.
enum hc_status hc_events_put(struct hc_events_out *out, const void *event, size_t size);

/// Appends an EVENTS of at most `room` bytes to `body` for the datagram `seq`, sent at `now_us`:
/// the events that were never sent or not acked within max(HC_EVENTS_RESEND_LEAST_US, 5/4
/// `rtt_us`), oldest first, up to the first that does not fit. One always fits into
/// HC_EVENTS_ROOM_MIN. Called once for a datagram. Returns the number of events; with 0 nothing was
/// appended.
uint32_t hc_events_send(struct hc_events_out *out, struct hc_writer *body, size_t room,
                        uint32_t seq, uint64_t now_us, uint64_t rtt_us);

/// Acks the events of the datagram `seq`, which the peer received. A datagram is forgotten after
/// HC_EVENTS_CARRIERS more: its ack changes nothing, its events are sent again, and the peer drops
/// them.
void hc_events_acked(struct hc_events_out *out, uint32_t seq);

/// Resumes on a new connection between the same two, whose seqs start anew: events that are not
/// acked are sent again.
void hc_events_out_continue(struct hc_events_out *out);

/// Starts with the peer's `first`, and lends `capacity` bytes at `bytes`, which must outlive `in`.
void hc_events_in_init(struct hc_events_in *in, uint32_t first, uint8_t *bytes, uint32_t capacity);

/// Checks the `values` of an EVENTS (hc_body_values) and changes nothing. HC_OK, also when some or
/// all events were received before. HC_MALFORMED: not an EVENTS, an event too long or empty, or
/// more on the way than the peer may have. HC_FULL: there is no room until hc_events_next has
/// returned the events in order; a caller that cannot do that first drops the datagram as if it
/// were lost.
enum hc_status hc_events_check(const struct hc_events_in *in, struct hc_values values);

/// Takes the events of a message; those received before are dropped. Fails as
/// hc_events_check does, and changes nothing then.
enum hc_status hc_events_take(struct hc_events_in *in, struct hc_values values);

/// Returns the next event, in order, each once: its bytes, valid until the next hc_events_take, and
/// their number in `*size`. NULL, and 0: there is none.
const uint8_t *hc_events_next(struct hc_events_in *in, size_t *size);

/// Starts both halves anew with event 1, and empties the queues of unreliable messages;
/// `channel->bytes` is set.
void hc_events_channel_begin(struct hc_events_channel *channel);

/// Takes the EVENTS of a body, which hc_events_check found valid. Returns how many more events
/// hc_events_next can return.
uint32_t hc_events_channel_take(struct hc_events_channel *channel, struct hc_body *body);

/// The number of events that hc_events_next can return.
uint32_t hc_events_channel_unread(const struct hc_events_channel *channel);
