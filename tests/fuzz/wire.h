/// The network between one client and its server in a fuzz program, where a hand that knows the
/// connection as its ends do can lose, repeat, hold back, change and add datagrams.
///
/// What an end sends is put into the air and stays there until it is taken out or, when the air is
/// full, lost: the oldest first.
#pragma once

#include "proto/datagram.h"
#include "tests/fuzz/deeds.h"

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_WIRE_FLIGHTS = 32 };

/// Which way a datagram goes.
enum fuzz_way { FUZZ_UP, FUZZ_DOWN };

struct fuzz_flight {
    enum fuzz_way way;
    bool taken; ///< it has arrived before, and was taken
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

struct fuzz_wire {
    uint8_t client_nonce[HC_NONCE_SIZE]; ///< of the newest HELLO
    uint32_t cid;                        ///< of the connection, 0: no ACCEPT has passed yet
    uint32_t newest[2];                  ///< seq of each way
    uint32_t count;
    struct fuzz_flight flights[FUZZ_WIRE_FLIGHTS];
};

/// Puts what an end sends into the air.
void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, const uint8_t *bytes, size_t size);

/// Copies the flight of `index` to `*out`, and removes it unless it is to come again.
void fuzz_wire_take(struct fuzz_wire *wire, uint32_t index, bool again, struct fuzz_flight *out);

/// Changes content, but not the tag, of a datagram, as an end could that means ill: pairs of a
/// place, two bytes, and a byte that is added to it without carry.
void fuzz_wire_change(struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_choices *choices);

/// An answer to a HELLO or a CONNECT, for the client that has sent the newest HELLO.
void fuzz_wire_answer(struct fuzz_wire *wire, struct fuzz_choices *choices,
                      struct fuzz_flight *out);

/// A DATA of the end that sends that way, as it comes next: what acks it has, then the body.
void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_choices *choices,
                     struct fuzz_flight *out);
