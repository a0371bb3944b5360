/// The network between one client and its server in a fuzz program, where a hand that knows the
/// connection as its ends do can lose, repeat, hold back, change and add datagrams.
///
/// The hand holds the token keys and reads the client's ephemeral secret, so that it has the keys
/// of the connection: what it changes and adds is sealed, proven and vouched for as the end that it
/// speaks for would do it.
///
/// What an end sends is put into the air and stays there until it is taken out or, when the air is
/// full, lost: the oldest first.
#pragma once

#include "proto/address.h"
#include "proto/datagram.h"
#include "tests/fuzz/deeds.h"
#include "tests/sim/party.h"

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_WIRE_FLIGHTS = 32 };

/// Which way a datagram goes.
enum fuzz_way { FUZZ_UP, FUZZ_DOWN };

struct fuzz_flight {
    enum fuzz_way way;
    uint16_t port; ///< the client's, where it comes from or goes to
    bool taken;    ///< it has arrived before, and was taken
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

struct fuzz_wire {
    struct hc_token_ring ring;           ///< opens the tokens
    const struct hc_client *client;      ///< whose datagrams go up
    struct hc_address address;           ///< the client's
    uint8_t client_nonce[HC_NONCE_SIZE]; ///< of the newest HELLO
    struct hc_party party;               ///< the client's secrets, once a CONNECT has passed
    uint32_t cid;                        ///< of the connection, 0: no ACCEPT has passed yet
    uint32_t newest[2];                  ///< seq of each way
    uint32_t count;
    struct fuzz_flight flights[FUZZ_WIRE_FLIGHTS];
};

/// Puts what an end sends into the air; `port` is the client's.
void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, uint16_t port, const uint8_t *bytes,
                   size_t size);

/// Copies the flight of `index` to `*out`, and removes it unless it is to come again.
void fuzz_wire_take(struct fuzz_wire *wire, uint32_t index, bool again, struct fuzz_flight *out);

/// Changes a datagram as an end could that means ill: pairs of a place, two bytes, and a byte that
/// is added to it without carry. DATA and ACCEPT are changed behind the seal, and what vouches for
/// a datagram is made anew; of one whose keys are not known the sealed bytes are changed.
void fuzz_wire_change(const struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_choices *selections);

/// An answer to a HELLO, a CONNECT or a DATA, for the client that has sent the newest HELLO.
void fuzz_wire_answer(const struct fuzz_wire *wire, struct fuzz_choices *selections,
                      struct fuzz_flight *out);

/// A DATA of the end that sends that way, as it comes next: what acks it has, then the body.
void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_choices *selections,
                     struct fuzz_flight *out);
