/// A client whose datagrams a test makes by itself, of the arena, and a host that has no others.
///
/// Calls belong in this order: raw_client_begin; raw_client_hello; raw_client_connect, or
/// raw_client_write_connect and raw_client_send_connect; raw_client_send_data and
/// raw_client_send_input. raw_client_send takes all that the host has to send, and stores the
/// client's datagrams; the rest is lost. raw_client_send_data sends and takes nothing. Its host may
/// also be that of a simulation (sim.h), whose time is hc_sim_host_now.
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
    uint32_t ack, ack_bits;           ///< of the next DATA; 0: no ack
    uint32_t received;                ///< newest seq that came from the host
    struct hc_welcome welcome;
    uint64_t bytes_in, bytes_out; ///< from the client and to it
    size_t size;                  ///< of the newest answer; 0: none
    uint8_t answer[HC_DATAGRAM_MAX];
};

/// A host in virtual time, whose clients are all raw.
struct raw_host {
    struct hc_server *host;
    uint64_t now_us;
    /// Takes each datagram that the host sends in raw_host_run; NULL: nothing does.
    void (*sent)(void *context, const struct hc_address *to, const uint8_t *bytes, size_t size);
    void *context; ///< its first argument
};

/// Creates a host of the arena, with a configuration like that of hc_test_server_config.
struct raw_host raw_host_create(const struct hc_server_config *config);
void raw_host_destroy(struct raw_host *host);

/// Runs the host for `us`, tick by tick, and polls its events. `raw` takes the datagrams to it
/// (NULL: nobody does).
void raw_host_run(struct raw_host *host, uint64_t us, struct raw_client *raw);

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

/// Takes the host's answer to a CONNECT; returns its kind, HC_DATAGRAM_NONE for none.
enum hc_datagram_kind raw_client_take_answer(struct raw_client *raw, uint64_t now_us);

/// Opens a DATA to the client, and finds its first message of this type. False: it has none, or is
/// not the client's. Else `body` stands before the message; it borrows `opened`.
bool raw_client_find(const struct raw_client *raw, const uint8_t *bytes, size_t size,
                     enum hc_message_type type, uint8_t opened[static HC_DATAGRAM_MAX],
                     struct hc_body *body);

/// Seals `body` as the next DATA into `out`; returns its size.
size_t raw_client_seal(struct raw_client *raw, const uint8_t *body, size_t size,
                       uint8_t out[static HC_DATAGRAM_MAX]);

/// Sends `body` as the next DATA.
enum hc_status raw_client_send_data(struct raw_client *raw, const uint8_t *body, size_t size,
                                    uint64_t now_us);

/// Sends CLOSE, because the client leaves; returns whether it was taken.
bool raw_client_leave(struct raw_client *raw, uint64_t now_us);

/// Sends INPUT.
enum hc_status raw_client_send_input(struct raw_client *raw, struct hc_input_message message,
                                     hc_input_source *source, void *context, uint64_t now_us);
