/// The network between one client and its server in a fuzz program. It drops, repeats, delays,
/// changes and forges datagrams, with the secrets of both ends.
///
/// It has the token keys and reads the client's ephemeral secret, so it derives the keys of the
/// connection: changed and forged datagrams have the seal, proof or MAC of the end that they claim.
///
/// A datagram is in flight until it is taken; when the network is full the oldest one is dropped.
#pragma once

#include "hindcast/address.h"
#include "proto/datagram.h"
#include "tests/fuzz/actions.h"
#include "tests/sim/endpoint.h"

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_WIRE_FLIGHTS = 32 };

/// The direction of a datagram.
enum fuzz_way { FUZZ_UP, FUZZ_DOWN };

struct fuzz_flight {
    enum fuzz_way way;
    uint16_t port; ///< the client's, its source or destination
    bool taken;    ///< the receiver has accepted it before
    size_t size;
    uint8_t bytes[HC_DATAGRAM_MAX];
};

struct fuzz_wire {
    struct hc_token_ring ring;           ///< opens the tokens
    const struct hc_client *client;      ///< the sender of the datagrams that go up
    struct hc_address address;           ///< the client's
    uint8_t client_nonce[HC_NONCE_SIZE]; ///< of the newest HELLO
    struct hc_endpoint endpoint;         ///< the client's secrets, after its CONNECT
    uint32_t cid;                        ///< of the connection; 0: no ACCEPT yet
    uint32_t newest[2];                  ///< seq of each direction
    uint32_t count;
    struct fuzz_flight flights[FUZZ_WIRE_FLIGHTS];
};

/// Takes a datagram that an end sent; `port` is the client's.
void fuzz_wire_put(struct fuzz_wire *wire, enum fuzz_way way, uint16_t port, const uint8_t *bytes,
                   size_t size);

/// Copies the flight of `index` to `*out`, and removes it unless it comes `again`.
void fuzz_wire_take(struct fuzz_wire *wire, uint32_t index, bool again, struct fuzz_flight *out);

/// Changes a datagram as a hostile end could, by pairs of a place, two bytes, and a byte that is
/// XORed to it. DATA and ACCEPT are opened, changed and sealed again, proofs and MACs are renewed;
/// a datagram of unknown keys is changed as it is.
void fuzz_wire_change(const struct fuzz_wire *wire, struct fuzz_flight *flight,
                      struct fuzz_source *source);

/// Forges an answer to a HELLO, a CONNECT or a DATA, for the client of the newest HELLO.
void fuzz_wire_answer(const struct fuzz_wire *wire, struct fuzz_source *source,
                      struct fuzz_flight *out);

/// Forges the next DATA of the end that sends in direction `way`: its acks, then its body.
void fuzz_wire_forge(struct fuzz_wire *wire, enum fuzz_way way, struct fuzz_source *source,
                     struct fuzz_flight *out);
