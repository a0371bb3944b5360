/// Events: byte strings that arrive exactly once and in order over datagrams that may not.
///
///     EVENTS [8, number, event, ...]   each event a binary of [1, HC_EVENTS_SIZE_MAX] bytes; an
///                                      integer k > 0 between two: the next k numbers are not here
///
/// Events are numbered from 1. A datagram carries any of those that the peer has not acknowledged,
/// each whole; which ones it carried is remembered by its seq, so that the acks of datagrams
/// acknowledge events too and nothing else has to be sent. Both sides use both halves.
///
/// Sending: 1. hc_events_put, any time; 2. hc_events_send for each datagram, before what may take
/// all the room; 3. hc_events_acked for each seq that hc_sent_acked names. At most HC_EVENTS_WINDOW
/// events and HC_EVENTS_BYTES_MAX of their bytes are on the way, counted from the oldest that is
/// not acknowledged. Who wants to put more gets HC_FULL: the peer has not heard anything for long,
/// and the session is to be closed, for an event that is left out cannot be made good.
///
/// Receiving: 1. hc_events_check, which judges a message and changes nothing; 2. hc_events_take
/// once all of the datagram is good; 3. hc_events_next until NULL. A datagram counts as received
/// (hc_replay_accept) only when its events were taken.
///
/// Nothing is allocated; the caller lends the memory for the bytes at the beginning. Whatever the
/// peer sends, a message costs at most three looks at each of its values and one at each byte held,
/// an acknowledgement HC_EVENTS_WINDOW steps.
#pragma once

#include "common/bytes.h"
#include "hindcast/connection.h"
#include "hindcast/status.h"
#include "proto/ack.h"
#include "proto/body.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The last number. At 64 KiB a second, three bytes an event, it is reached after two days.
#define HC_EVENTS_NUMBER_MAX (UINT32_MAX - 1)

enum {
    HC_EVENTS_CARRIERS = HC_SENT_RING, ///< datagrams remembered, as long as by struct hc_sent
    HC_EVENTS_WORDS = HC_EVENTS_WINDOW / 64,

    /// Array 1, type 1, number 5, header of a binary 2, the event. An event's length has one form,
    /// of a byte, and all of this is less than a quarter of a datagram's body: room that can be
    /// kept free beside every snapshot. Longer things are several events.
    HC_EVENTS_ROOM_MIN = 1 + 1 + 5 + 2 + HC_EVENTS_SIZE_MAX,

    HC_EVENTS_RECORD = 2, ///< bytes that the receiver keeps beside each event
    /// What a receiver that hands on all it can before it takes more has to hold at most.
    HC_EVENTS_STORE_MIN = HC_EVENTS_BYTES_MAX + HC_EVENTS_WINDOW * HC_EVENTS_RECORD,
    HC_EVENTS_STORE_MAX = 1 << 16,
};

/// An event on the way.
struct hc_events_entry {
    uint64_t sent_us; ///< when last
    uint16_t at;      ///< of its first byte in the ring
    uint8_t size;
    bool sent;
    bool acked;
};

/// What a datagram carried.
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
    uint32_t end;          ///< where in the ring the next event begins
    uint32_t oldest, next; ///< numbers in [oldest, next) are on the way
    uint64_t sendings;     ///< of events, the first ones and all others
    struct hc_events_entry entries[HC_EVENTS_WINDOW];      ///< by number
    struct hc_events_carrier carriers[HC_EVENTS_CARRIERS]; ///< by seq
};

/// Where an event that was received lies.
struct hc_events_place {
    uint16_t at; ///< of its record
    uint8_t size;
    bool held;
};

/// The receiving half. `bytes` is a log of records [slot 1 | size 1 | event]: what comes is
/// appended, what was handed on is a gap until the log is full and is pushed together.
struct hc_events_in {
    uint8_t *bytes;      ///< [capacity] the log, borrowed
    uint32_t capacity;   ///< [HC_EVENTS_STORE_MIN, HC_EVENTS_STORE_MAX]
    uint32_t used;       ///< bytes of the log, gaps and all
    uint32_t held;       ///< bytes of it that are no gaps
    uint32_t early;      ///< bytes of events held that came before one of a lower number
    uint32_t next;       ///< the number to be handed on next
    uint32_t expected;   ///< the lowest number that has not come; [next, expected) can be handed on
    uint64_t received;   ///< events taken
    uint64_t duplicates; ///< events that came again, dropped
    struct hc_events_place places[HC_EVENTS_WINDOW]; ///< by number
};

/// Begins with `first` as the number of the first event (1 outside of tests) and lends `capacity`
/// bytes at `bytes`, which must outlive `out`.
void hc_events_out_init(struct hc_events_out *out, uint32_t first, uint8_t *bytes,
                        uint32_t capacity);

/// Queues a copy of the `size` bytes at `event` as the next one. HC_INVALID: size not in
/// [1, HC_EVENTS_SIZE_MAX]. HC_FULL: the window, the bytes or the numbers are used up. Nothing is
/// changed then.
enum hc_status hc_events_put(struct hc_events_out *out, const void *event, size_t size);

/// Appends an EVENTS of at most `room` bytes to `body` for the datagram `seq`, which leaves at
/// `now_us`: the events that were never sent, and those that were not acknowledged within
/// max(HC_EVENTS_RESEND_LEAST_US, 5/4 `rtt_us`), oldest first, up to the first that does not fit.
/// With a room of HC_EVENTS_ROOM_MIN at least one always fits. Once for a datagram. Returns how
/// many events it carries; with 0 nothing was appended.
uint32_t hc_events_send(struct hc_events_out *out, struct hc_writer *body, size_t room,
                        uint32_t seq, uint64_t now_us, uint64_t rtt_us);

/// The peer has received the datagram `seq`: the events that it carried need not be sent again. A
/// datagram that is forgotten, HC_EVENTS_CARRIERS numbers after it left, changes nothing: its
/// events are sent again and the peer drops them.
void hc_events_acked(struct hc_events_out *out, uint32_t seq);

/// The connection is a new one, between the same two: its seqs begin anew. What is not acknowledged
/// is sent again.
void hc_events_out_continue(struct hc_events_out *out);

/// Begins with `first`, the peer's, and lends `capacity` bytes at `bytes`, which must outlive `in`.
void hc_events_in_init(struct hc_events_in *in, uint32_t first, uint8_t *bytes, uint32_t capacity);

/// Judges the `values` of an EVENTS (hc_body_values) and changes nothing. HC_OK, also when some or
/// all were received before. HC_MALFORMED: not an EVENTS, an event too long or empty, or more on
/// the way than the peer may have. HC_FULL: no room for it before hc_events_next has handed on what
/// it can; where that cannot be done first, the datagram is to be dropped as if it had been lost.
enum hc_status hc_events_check(const struct hc_events_in *in, struct hc_values values);

/// Takes the events of a message in; those received before are dropped, whatever they hold now.
/// Fails as hc_events_check does, and changes nothing then.
enum hc_status hc_events_take(struct hc_events_in *in, struct hc_values values);

/// Hands on the next event, in order, each once: its bytes, valid until the next hc_events_take,
/// and their number to `*size`. NULL, and 0: none is there.
const uint8_t *hc_events_next(struct hc_events_in *in, size_t *size);
