/// Owns the datagrams that wait to be sent beside the DATA of the clients, and how far sending is
/// among the clients.
///
/// Replies go before all DATA, and the copy of a snapshot right after the snapshot. Calls belong in
/// this order: hc_sv_outbox_init; then any, with hc_sv_outbox_take before each DATA. It obtains no
/// memory.
#pragma once

#include "hindcast/address.h"
#include "hindcast/connection.h"
#include "proto/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_SV_OUTBOX_CROWDED = HC_REPLIES_MAX / 2, ///< replies that wait before a RESET or an answer to
                                               ///< a CLOSE is left out; the rest is for handshakes
};

/// A datagram that waits, and its destination.
struct hc_sv_waiting {
    struct hc_address to;
    size_t size; ///< bytes; 0: it is sent to nobody
    uint8_t bytes[HC_DATAGRAM_MAX];
};

/// All zeros is an empty outbox.
struct hc_sv_outbox {
    /// Replies of the handshake, RESETs, and answers to CLOSEs: a ring.
    struct hc_sv_waiting replies[HC_REPLIES_MAX];
    unsigned first, count;     ///< the oldest reply, and the number of all
    struct hc_sv_waiting copy; ///< of the snapshot sent last, for an address to be validated
    unsigned cursor;           ///< places of clients before it have nothing more to send
};

/// Empties it: nothing waits, and the first client is the next to be sent to.
void hc_sv_outbox_init(struct hc_sv_outbox *outbox);

/// Whether no reply has room.
bool hc_sv_outbox_is_full(const struct hc_sv_outbox *outbox);

/// Whether so many replies wait that only handshakes may add more.
bool hc_sv_outbox_is_crowded(const struct hc_sv_outbox *outbox);

/// Appends a reply of `size` bytes, at most HC_DATAGRAM_MAX. The outbox is not full.
void hc_sv_outbox_reply(struct hc_sv_outbox *outbox, const struct hc_address *to,
                        const uint8_t *bytes, size_t size);

/// Copies the snapshot that is being sent, `size` bytes, for another address. The copy before has
/// been taken.
void hc_sv_outbox_copy(struct hc_sv_outbox *outbox, const struct hc_address *to,
                       const uint8_t *bytes, size_t size);

/// Removes the datagram that is sent before the next DATA, and writes it and its destination;
/// returns its size, 0: none waits.
size_t hc_sv_outbox_take(struct hc_sv_outbox *outbox, struct hc_address *to,
                         uint8_t out[static HC_DATAGRAM_MAX]);

/// The client in `place` is the next to be sent to; 0: all may have something to be sent.
void hc_sv_outbox_seek(struct hc_sv_outbox *outbox, unsigned place);
