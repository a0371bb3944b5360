/// The validation of a path: another address from which the newest datagrams of a client come.
///
/// The address becomes the client's only after a PATH_RESPONSE (RFC 9000, 8.2 and 9.3). Until then
/// it is sent PATH_CHALLENGEs and copies of the snapshots, so that the client loses at most a round
/// trip; in all at most HC_PATH_FACTOR times the bytes received from it (8.1).
///
/// It may be the address of an attacker that copies the client's datagrams and is faster. So copies
/// take nothing of the client's bandwidth, their loss does not count, and challenges without a
/// response, to one address or to many, become rarer. The client of an address under validation may
/// also have moved again: then nothing more comes from it.
///
///     state     meaning                                          sent there   valid response from
///     NONE      no address is under validation
///     HELD      the present address is in use as well            nothing
///     PROVING   the client seems to have moved                   both kinds   the address
///     OPEN      the client acks nothing at the present address   both kinds   any address
///
///     hc_sv_validation_begin   any             to HELD, PROVING or OPEN
///     hc_sv_validation_end     any             to NONE; the row of challenges goes on
///     hc_sv_validation_clear   any             to NONE, and nothing is known of the row
///
/// While an address is `full`, which only PROVING and OPEN can be, nothing is sent there either.
#pragma once

#include "hindcast/address.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>

enum hc_sv_validation_state {
    HC_SV_VALIDATION_NONE,
    HC_SV_VALIDATION_HELD,
    HC_SV_VALIDATION_PROVING,
    HC_SV_VALIDATION_OPEN,
};

/// All members are written by validation.c alone, except `data` and `full`, which path.c fills in.
struct hc_sv_validation {
    enum hc_sv_validation_state state;
    bool late;  ///< a duplicate or a late datagram showed the address first
    bool homed; ///< the address, or one before it in a row, is the client's home
    bool full;  ///< the address has as many clients as allowed
    struct hc_address address;
    uint8_t data[HC_PATH_SIZE]; ///< of the challenges
    uint32_t first;       ///< seq of the datagram that showed it, or one before it in a row, first
    uint64_t begun_us;    ///< when that was received
    uint64_t received_us; ///< when the newest datagram from it was received
    uint64_t bytes_in, bytes_out;
    uint32_t unanswered;    ///< challenges in a row without a response, to any address
    uint64_t challenged_us; ///< when the newest of them was sent
};

/// A datagram that shows an address.
struct hc_sv_sighting {
    const struct hc_address *from;
    uint32_t seq;
    bool late; ///< a duplicate, or older than the newest
    bool home; ///< from the client's home
};

/// Begins to validate the address of a sighting, in a state other than NONE. The client left its
/// address before the first of several new ones in a row.
void hc_sv_validation_begin(struct hc_sv_validation *validation, enum hc_sv_validation_state state,
                            const struct hc_sv_sighting *sighting, uint64_t now_us);

/// The client did not move.
void hc_sv_validation_end(struct hc_sv_validation *validation);

/// The client has moved.
void hc_sv_validation_clear(struct hc_sv_validation *validation);

/// A datagram came from the address. `size` is the bytes that may be repaid; 0 for a copy that
/// anybody could have made.
void hc_sv_validation_received(struct hc_sv_validation *validation, size_t size, uint64_t now_us);

/// Whether this address is under validation.
bool hc_sv_validation_is_of(const struct hc_sv_validation *validation,
                            const struct hc_address *address);

/// Whether the address of a sighting replaces the one under validation. An open one stays for
/// `stall_us`, the time for a challenge and the response; for twice that if the new address came up
/// in the same way, by a newest datagram or by a late one, because a relay whose copies are always
/// first, from many addresses, must not take all of the time. An address that has been silent for
/// HC_PATH_SILENT_US can be replaced; for half of that if the new one was seen in a late datagram,
/// because the relay is silent at each of its addresses. The client's home goes before all others
/// once in a stall, because the relay may answer for each of them.
bool hc_sv_validation_yields(const struct hc_sv_validation *validation,
                             const struct hc_sv_sighting *sighting, uint64_t stall_us,
                             uint64_t now_us);

/// Whether a PATH_RESPONSE with `data` from an address is the answer to a challenge. Only a
/// receiver of the challenge can answer it. On an open path a relay that is always first brings the
/// response too.
bool hc_sv_validation_is_answer(const struct hc_sv_validation *validation,
                                const struct hc_address *from,
                                const uint8_t data[static HC_PATH_SIZE]);

/// Whether a PATH_CHALLENGE in a datagram of `size` bytes is due. Unanswered ones double the wait,
/// but not for an address that was sent none.
bool hc_sv_validation_challenge_due(struct hc_sv_validation *validation, size_t size,
                                    uint64_t now_us);

/// A PATH_CHALLENGE of `size` bytes was sent.
void hc_sv_validation_challenged(struct hc_sv_validation *validation, size_t size, uint64_t now_us);

/// Takes a copy of `size` bytes; false: it may not be sent. An honest client answers long before
/// the last challenge.
bool hc_sv_validation_copies(struct hc_sv_validation *validation, size_t size);
