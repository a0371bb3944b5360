/// A client that sends the datagrams of an attack to a host's core.
///
/// Calls belong in this order: raw_client_begin; raw_client_hello; raw_client_connect, or
/// raw_client_write_connect and raw_client_send; raw_client_send_data and raw_client_send_input.
/// raw_client_send takes all that the host has to send, and stores the client's datagrams; the rest
/// is lost. raw_client_send_data sends and takes nothing.
#pragma once

#include "proto/message.h"
#include "server/host.h"
#include "tests/sim/endpoint.h"

struct raw_client {
    struct hc_server *host;
    struct hc_address address;
    struct hc_endpoint endpoint;
    struct hc_datagram_cookie cookie; ///< with its nonce, and once it was answered
    uint32_t cid, seq;                ///< of the session; the newest that was sent
    uint32_t received;                ///< newest seq that came from the host
    struct hc_welcome welcome;
    uint64_t bytes_in, bytes_out; ///< from the client and to it
    size_t size;                  ///< of the newest answer; 0: none
    uint8_t answer[HC_DATAGRAM_MAX];
};

/// A host of the arena, and its time.
struct target {
    struct hc_server *host;
    uint64_t now_us;
};

/// Creates a host for `clients`, which accepts tokens of hc_endpoint_token_ring.
struct target target_create(uint16_t clients);
void target_destroy(struct target *target);

/// Runs the host for `us`, tick by tick. Its datagrams are lost, except those to `raw` (NULL:
/// none), whose bytes are counted.
void target_run(struct target *target, uint64_t us, struct raw_client *raw);

/// Initialises a client with a token of `user`, valid for an hour; each `serial` gives another
/// token, and a greater one a later time of issue.
void raw_client_begin(struct raw_client *raw, struct hc_server *host, struct hc_address address,
                      uint64_t user, uint64_t serial);

/// The same with the content of `token`, sealed under `key`.
void raw_client_begin_as(struct raw_client *raw, struct hc_server *host, struct hc_address address,
                         const struct hc_token_key *key, const struct hc_token *token,
                         uint64_t serial);

/// The content of a client's token.
struct hc_token raw_client_token(uint64_t user);

/// Sends HELLO; returns whether a COOKIE came.
bool raw_client_hello(struct raw_client *raw, uint64_t now_us);

/// Writes the client's CONNECT.
void raw_client_write_connect(const struct raw_client *raw, uint8_t players,
                              uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]);

/// Sends a written CONNECT; returns the kind of the answer, HC_DATAGRAM_NONE for none.
enum hc_datagram_kind raw_client_send_connect(struct raw_client *raw,
                                              const uint8_t bytes[static HC_DATAGRAM_CONNECT_SIZE],
                                              uint64_t now_us);

/// Sends CONNECT; returns the kind of the answer, HC_DATAGRAM_NONE for none.
enum hc_datagram_kind raw_client_connect(struct raw_client *raw, uint8_t players, uint64_t now_us);

/// Sends HELLO and CONNECT; returns whether the client was admitted.
bool raw_client_join(struct raw_client *raw, uint8_t players, uint64_t now_us);

/// Sends any bytes, and takes the answers.
enum hc_status raw_client_send(struct raw_client *raw, const uint8_t *bytes, size_t size,
                               uint64_t now_us);

/// Takes the datagrams that the host sends.
void raw_client_receive(struct raw_client *raw, uint64_t now_us);

/// Seals `body` as the next DATA, with `ack` and `ack_bits`, into `out`; returns its size.
size_t raw_client_seal(struct raw_client *raw, const uint8_t *body, size_t size, uint32_t ack,
                       uint32_t ack_bits, uint8_t out[static HC_DATAGRAM_MAX]);

/// Sends `body` as the next DATA, without an ack.
enum hc_status raw_client_send_data(struct raw_client *raw, const uint8_t *body, size_t size,
                                    uint64_t now_us);

/// Sends INPUT.
enum hc_status raw_client_send_input(struct raw_client *raw, struct hc_input_message message,
                                     hc_input_source *source, void *context, uint64_t now_us);
