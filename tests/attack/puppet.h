/// A client that is played by hand, against a host's core: it says what the attack wants it to say.
///
/// Calls belong in this order: puppet_begin; puppet_hello; puppet_connect, or puppet_write_connect
/// and puppet_say; puppet_data and puppet_input. puppet_say takes all that the host has to send,
/// and keeps what is for the puppet; the rest is lost. puppet_data sends and takes nothing.
#pragma once

#include "proto/message.h"
#include "server/host.h"
#include "tests/sim/party.h"

struct puppet {
    struct hc_sv_host *host;
    struct hc_address address;
    struct hc_party party;
    struct hc_datagram_cookie cookie; ///< with its nonce, and once it was answered
    uint32_t cid, seq;                ///< of the session; the newest that was sent
    uint32_t heard;                   ///< newest seq that came from the host
    struct hc_welcome welcome;
    uint64_t bytes_in, bytes_out; ///< from the puppet and to it
    size_t size;                  ///< of the newest answer; 0: none
    uint8_t answer[HC_DATAGRAM_MAX];
};

/// A host of the arena, and its time.
struct gate {
    struct hc_sv_host *host;
    uint64_t now_us;
};

/// A gate for `clients`, whose host takes tokens of hc_party_ring.
struct gate gate_open(uint16_t clients);
void gate_close(struct gate *gate);

/// Goes on by `us`, tick by tick. What the host has to say is lost, but for what it says to
/// `puppet` (NULL: nobody), of which the bytes are counted.
void gate_run(struct gate *gate, uint64_t us, struct puppet *puppet);

/// Begins with a token of `user`, good for an hour; each `serial` is another token,
/// issued the later the greater it is.
void puppet_begin(struct puppet *puppet, struct hc_sv_host *host, struct hc_address address,
                  uint64_t user, uint64_t serial);

/// The same with a token that says `token`, sealed under `key`.
void puppet_begin_as(struct puppet *puppet, struct hc_sv_host *host, struct hc_address address,
                     const struct hc_token_key *key, const struct hc_token *token, uint64_t serial);

/// What the token of a puppet says.
struct hc_token puppet_token(uint64_t user);

/// Says HELLO; whether a COOKIE came.
bool puppet_hello(struct puppet *puppet, uint64_t now_us);

/// The CONNECT that the puppet would say.
void puppet_write_connect(const struct puppet *puppet, uint8_t players,
                          uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]);

/// Sends a CONNECT that is written; what kind of answer came, HC_DATAGRAM_NONE for none.
enum hc_datagram_kind puppet_take_connect(struct puppet *puppet,
                                          const uint8_t bytes[static HC_DATAGRAM_CONNECT_SIZE],
                                          uint64_t now_us);

/// Says CONNECT; what kind of answer came, HC_DATAGRAM_NONE for none.
enum hc_datagram_kind puppet_connect(struct puppet *puppet, uint8_t players, uint64_t now_us);

/// Says HELLO and CONNECT; whether it was let in.
bool puppet_join(struct puppet *puppet, uint8_t players, uint64_t now_us);

/// Says anything, and takes the answers.
enum hc_status puppet_say(struct puppet *puppet, const uint8_t *bytes, size_t size,
                          uint64_t now_us);

/// Takes what the host has to say.
void puppet_listen(struct puppet *puppet, uint64_t now_us);

/// Seals `body` as the next DATA, with `ack` and `ack_bits`, into `out`; returns its size.
size_t puppet_seal(struct puppet *puppet, const uint8_t *body, size_t size, uint32_t ack,
                   uint32_t ack_bits, uint8_t out[static HC_DATAGRAM_MAX]);

/// Says it, acknowledging nothing, from its own address.
enum hc_status puppet_data(struct puppet *puppet, const uint8_t *body, size_t size,
                           uint64_t now_us);

/// Says INPUT.
enum hc_status puppet_input(struct puppet *puppet, struct hc_input_message message,
                            hc_input_source *source, void *context, uint64_t now_us);
