/// One side of a secure connection, as tests play it by hand: tokens that a backend would issue,
/// and the sealing of datagrams as either side does it.
#pragma once

#include "hindcast/client.h"
#include "hindcast/game.h"
#include "proto/datagram.h"
#include "proto/seal.h"
#include "proto/token.h"

#include <stdbool.h>

/// Unix time at the beginning of every test.
#define HC_PARTY_UNIX_S UINT64_C(1700000000)
#define HC_PARTY_UNIX_US (HC_PARTY_UNIX_S * 1000000)

/// A client's secrets, which its server shares.
struct hc_party {
    uint64_t protocol_id;
    struct hc_credential credential;
    uint8_t secret[HC_EXCHANGE_KEY_SIZE];     ///< of the ephemeral key; drawn with the token
    uint8_t client_key[HC_EXCHANGE_KEY_SIZE]; ///< of a client whose server this is, see below
    struct hc_seal_keys keys;                 ///< once there is a connection
    struct {
        uint8_t secret[HC_EXCHANGE_KEY_SIZE], key[HC_EXCHANGE_KEY_SIZE];
        bool known;
    } ephemeral; ///< of hc_party_compute_key
};

/// The keys that tests issue tokens with.
struct hc_token_ring hc_party_ring(void);

/// A token of the user `client_id` for the servers of `game`, good for a minute; each `serial` is
/// another token.
void hc_party_issue(struct hc_party *party, const struct hc_game *game, uint64_t client_id,
                    uint64_t serial);

/// As hc_party_issue, of a token that says `token`, but for its id and secret, under `key`.
void hc_party_issue_as(struct hc_party *party, const struct hc_game *game,
                       const struct hc_token_key *key, const struct hc_token *token,
                       uint64_t serial);

/// Draws the party's ephemeral secret, which its token decides.
void hc_party_draw(struct hc_party *party);

/// Computes the public key of the secret once, for all later calls; optional. One of a secret that
/// was changed since is computed again by each call.
void hc_party_compute_key(struct hc_party *party);

/// Writes CONNECT with the token, the ephemeral key and the proof; both sizes are
/// HC_DATAGRAM_CONNECT_SIZE.
size_t hc_party_put_connect(const struct hc_party *party, const struct hc_connect *connect,
                            uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]);

/// Makes the keys that an ACCEPT stands for, for the client whose ephemeral secret is the party's.
/// HC_MALFORMED: its key is none.
enum hc_status hc_party_derive(struct hc_party *party, const struct hc_accept *accept);

/// The party becomes the server of `client`, which is connecting.
void hc_party_serve(struct hc_party *party, const struct hc_client *client);

/// Makes the keys and opens the ACCEPT into `opened`, from where `*accept` borrows its body.
enum hc_status hc_party_get_accept(struct hc_party *party, const uint8_t *bytes, size_t size,
                                   uint8_t opened[static HC_DATAGRAM_MAX],
                                   struct hc_accept *accept);

/// Makes the keys and writes ACCEPT with the party's ephemeral key, sealed, for the client of
/// hc_party_serve.
size_t hc_party_put_accept(struct hc_party *party, const struct hc_accept *accept,
                           uint8_t out[static HC_DATAGRAM_MAX]);

/// Writes DATA, sealed. A seq may be used again, as no honest side does.
size_t hc_party_put_data(const struct hc_party *party, bool to_server, const struct hc_data *data,
                         uint8_t out[static HC_DATAGRAM_MAX]);

/// Seals a DATA that is written, whatever stands in it.
void hc_party_seal(const struct hc_party *party, bool to_server, uint8_t *datagram, size_t size);

/// Opens a DATA into `opened`, with zeros for its tag.
enum hc_status hc_party_open(const struct hc_party *party, bool to_server, const uint8_t *bytes,
                             size_t size, uint8_t opened[static HC_DATAGRAM_MAX]);

/// hc_party_open, and hc_datagram_get_data.
enum hc_status hc_party_get_data(const struct hc_party *party, bool to_server, const uint8_t *bytes,
                                 size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                 struct hc_data *data);
