/// Sequence numbers of DATA: which were received, which of the sent ones are acknowledged.
///
/// Numbers start at 1 (tests start them elsewhere) and never wrap: they will be nonces. A
/// connection ends long before they run out. 0 means "none".
///
/// Receiving: hc_replay_check before anything of a datagram is believed, hc_replay_accept once it
/// is. Sending: hc_sent_next for each datagram, hc_sent_acked for each one received.
#pragma once

#include "hindcast/status.h"
#include "proto/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HC_SENT_RING = 512, ///< datagrams remembered until acknowledged: 2 s at 240 a second
    HC_ACKS_MAX = 33,   ///< what `ack` and `ack_bits` can name at once
};

/// Which of the peer's seqs were received. All zeros is the beginning.
struct hc_replay {
    uint32_t newest;                          ///< 0: none yet
    uint32_t bits[HC_REPLAY_WINDOW / 32 + 1]; ///< ring by seq; one word more than the window
};

/// One datagram sent.
struct hc_sent_entry {
    uint64_t sent_us;
    uint32_t seq; ///< 0: never used
    bool acked;
    bool exempt; ///< its loss says nothing
};

/// What was sent and not forgotten yet.
struct hc_sent {
    uint32_t first, next; ///< seqs in [first, next) were sent
    struct hc_sent_entry ring[HC_SENT_RING];
};

/// A datagram that was acknowledged for the first time.
struct hc_acked {
    uint32_t seq;
    uint64_t sent_us;
};

/// Judges `seq`: HC_OK, HC_DUPLICATE when received before, HC_TOO_OLD when behind the window,
/// HC_MALFORMED for 0. Changes nothing. The window is that of RFC 6479, in subtraction form.
enum hc_status hc_replay_check(const struct hc_replay *replay, uint32_t seq);

/// Marks `seq`, for which hc_replay_check returned HC_OK, as received.
void hc_replay_accept(struct hc_replay *replay, uint32_t seq);

/// The ack_bits to send with `ack` = replay->newest.
uint32_t hc_replay_ack_bits(const struct hc_replay *replay);

/// Begins with `first` (1 outside of tests, at least 1) as the next seq.
void hc_sent_init(struct hc_sent *sent, uint32_t first);

/// The seq of a datagram that leaves at `now_us`, which is remembered; 0 when all are used up.
uint32_t hc_sent_next(struct hc_sent *sent, uint64_t now_us);

/// Takes the acks of a received datagram. Writes those that are new to `acked`, newest first, and
/// how many to `*count`. HC_MALFORMED, and nothing changed: one of them was never sent. At most 33
/// steps whatever the peer says; what the ring has forgotten is passed over.
enum hc_status hc_sent_acked(struct hc_sent *sent, uint32_t ack, uint32_t ack_bits,
                             struct hc_acked acked[static HC_ACKS_MAX], uint32_t *count);

/// When `seq` was sent, acknowledged or not; false: it is not remembered.
bool hc_sent_when(const struct hc_sent *sent, uint32_t seq, uint64_t *sent_us);

/// `seq`, which was sent last, takes another way than the others: its loss says nothing.
void hc_sent_exempt(struct hc_sent *sent, uint32_t seq);

/// Whether `seq` was sent, is remembered, is not excused, and has not been acknowledged.
bool hc_sent_misses(const struct hc_sent *sent, uint32_t seq);
