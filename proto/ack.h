/// Sequence numbers of DATA: which were received, and which of the sent ones are acked.
///
/// Seqs start at 1 (in tests elsewhere) and never wrap, because they are nonces. A connection ends
/// long before they run out. 0 means "none".
///
/// Receiving: hc_received_check before a datagram is opened, hc_received_accept after all of it was
/// read. Sending: hc_sent_next for each datagram, hc_sent_acked for each received one.
#pragma once

#include "hindcast/status.h"
#include "proto/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SENT_RING = 512, ///< datagrams remembered until they are acked: 2 s at 240 a second
    HC_ACKS_MAX = 33,   ///< seqs that `ack` and `ack_bits` name at most
};

/// Which of the peer's seqs were received. All zeros: none.
struct hc_received {
    uint32_t newest;                            ///< 0: none yet
    uint32_t bits[HC_RECEIVED_WINDOW / 32 + 1]; ///< ring by seq; one word more than the window
};

/// One datagram sent.
struct hc_sent_entry {
    uint64_t sent_us;
    uint32_t seq;   ///< 0: never used
    uint16_t bytes; ///< see hc_sent_note_size
    bool acked;
    bool left;   ///< acked, lost or exempt datagrams have left the flight
    bool exempt; ///< the loss of this datagram does not count
};

/// The newest datagrams sent.
struct hc_sent {
    uint32_t first, next; ///< seqs in [first, next) were sent
    uint32_t acked;       ///< the newest that an ack named; 0: none
    uint64_t acked_bits;  ///< bit i: `acked` - i was acked
    uint32_t in_flight;   ///< bytes of the datagrams that are in flight
    struct hc_sent_entry ring[HC_SENT_RING];
};

/// A datagram that was acked for the first time.
struct hc_acked {
    uint32_t seq;
    uint32_t bytes;
    uint64_t sent_us;
};

/// Checks `seq` and changes nothing: HC_OK, HC_DUPLICATE when received before, HC_TOO_OLD when
/// behind the window, HC_MALFORMED for 0. The window is that of RFC 6479, in subtraction form.
enum hc_status hc_received_check(const struct hc_received *received, uint32_t seq);

/// Marks `seq`, for which hc_received_check returned HC_OK, as received.
void hc_received_accept(struct hc_received *received, uint32_t seq);

/// The ack_bits to send with `ack` = received->newest.
uint32_t hc_received_ack_bits(const struct hc_received *received);

/// Starts with `first`, at least 1 (outside of tests 1), as the next seq.
void hc_sent_init(struct hc_sent *sent, uint32_t first);

/// The seq of a datagram sent at `now_us`, which is remembered; 0 when all are used up.
uint32_t hc_sent_next(struct hc_sent *sent, uint64_t now_us);

/// Notes the size of the datagram that was sent last, which is in flight until it is acked, lost or
/// forgotten.
void hc_sent_note_size(struct hc_sent *sent, uint16_t bytes);

/// Takes the acks of a received datagram. Writes the new ones to `acked`, newest first, and their
/// number to `*count`. HC_MALFORMED: one of them was never sent; nothing is changed. It takes at
/// most HC_ACKS_MAX steps and skips seqs that the ring has forgotten.
enum hc_status hc_sent_acked(struct hc_sent *sent, uint32_t ack, uint32_t ack_bits,
                             struct hc_acked acked[static HC_ACKS_MAX], uint32_t *count);

/// When `seq` was sent, acked or not; false: it is not remembered.
bool hc_sent_when(const struct hc_sent *sent, uint32_t seq, uint64_t *sent_us);

/// Exempts `seq`, which was sent last, from loss: it takes another path than the others.
void hc_sent_exempt(struct hc_sent *sent, uint32_t seq);

/// Takes `seq` for lost: if it is remembered, it is in flight no more.
void hc_sent_lose(struct hc_sent *sent, uint32_t seq);

/// Whether `seq` was sent, is remembered, is not exempt, and was not acked.
bool hc_sent_misses(const struct hc_sent *sent, uint32_t seq);
