/// One end of a secure connection, without a host or a client behind it: issues itself a token, as
/// a backend would, derives the keys, and seals and opens datagrams.
#pragma once

#include "hindcast/client.h"
#include "hindcast/game.h"
#include "hindcast/server.h"
#include "proto/datagram.h"
#include "proto/seal.h"
#include "proto/token.h"

#include <stdbool.h>

/// Unix time at the beginning of every test.
#define HC_TEST_UNIX_S UINT64_C(1700000000)
#define HC_TEST_UNIX_US (HC_TEST_UNIX_S * 1000000)

/// The secrets of a client's connection.
struct hc_endpoint {
    uint64_t protocol_id;
    struct hc_credential credential;
    uint8_t secret[HC_EXCHANGE_KEY_SIZE];     ///< of the ephemeral key; drawn with the token
    uint8_t client_key[HC_EXCHANGE_KEY_SIZE]; ///< of the client that this serves
    struct hc_seal_keys keys;                 ///< once the ACCEPT is known
    struct {
        uint8_t secret[HC_EXCHANGE_KEY_SIZE], key[HC_EXCHANGE_KEY_SIZE];
        bool known;
    } ephemeral; ///< of hc_endpoint_compute_key
};

/// hc_game_rule_hash of a game, computed once for each of a few games.
uint64_t hc_test_rule_hash(const struct hc_game *game);

/// The protocol_id of a game, by hc_test_rule_hash.
uint64_t hc_test_protocol_id(const struct hc_game *game);

/// The token keys of all tests.
struct hc_token_ring hc_endpoint_token_ring(void);

/// The defaults of a server of `game` with the token keys of all tests, and a constant secret.
struct hc_server_config hc_test_server_config(const struct hc_game *game);

/// Issues a token of the user `client_id` for the servers of `game`, valid for a minute; each
/// `serial` gives another token.
void hc_endpoint_issue_token(struct hc_endpoint *endpoint, const struct hc_game *game,
                             uint64_t client_id, uint64_t serial);

/// Issues a token with the content of `token`, except its id and secret, under `key`.
void hc_endpoint_issue_token_as(struct hc_endpoint *endpoint, const struct hc_game *game,
                                const struct hc_token_key *key, const struct hc_token *token,
                                uint64_t serial);

/// Draws the ephemeral secret from the token's secret.
void hc_endpoint_draw_secret(struct hc_endpoint *endpoint);

/// Computes the ephemeral public key once for all later calls; optional. After a change of the
/// secret each call computes it again.
void hc_endpoint_compute_key(struct hc_endpoint *endpoint);

/// Writes CONNECT with the token, the ephemeral key and the proofs, that of `continues` by the keys
/// of the ACCEPT before; both sizes are HC_DATAGRAM_CONNECT_SIZE.
size_t hc_endpoint_put_connect(const struct hc_endpoint *endpoint, const struct hc_connect *connect,
                               uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]);

/// Derives the client's keys from an ACCEPT and the ephemeral secret. HC_MALFORMED: the ACCEPT's
/// key is invalid.
enum hc_status hc_endpoint_derive_keys(struct hc_endpoint *endpoint,
                                       const struct hc_accept *accept);

/// Makes this the server's end for `client`, which is connecting.
void hc_endpoint_serve(struct hc_endpoint *endpoint, const struct hc_client *client);

/// Derives the keys and opens the ACCEPT into `opened`, from which `*accept` borrows its body.
enum hc_status hc_endpoint_get_accept(struct hc_endpoint *endpoint, const uint8_t *bytes,
                                      size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                      struct hc_accept *accept);

/// Derives the keys and writes the sealed ACCEPT for the client of hc_endpoint_serve.
size_t hc_endpoint_put_accept(struct hc_endpoint *endpoint, const struct hc_accept *accept,
                              uint8_t out[static HC_DATAGRAM_MAX]);

/// Writes DATA, sealed. Repeating a seq is allowed, though no honest end does it.
size_t hc_endpoint_put_data(const struct hc_endpoint *endpoint, bool to_server,
                            const struct hc_data *data, uint8_t out[static HC_DATAGRAM_MAX]);

/// Seals a written DATA in place, valid or not.
void hc_endpoint_seal(const struct hc_endpoint *endpoint, bool to_server, uint8_t *datagram,
                      size_t size);

/// Opens a DATA into `opened`, with zeros for the tag.
enum hc_status hc_endpoint_open(const struct hc_endpoint *endpoint, bool to_server,
                                const uint8_t *bytes, size_t size,
                                uint8_t opened[static HC_DATAGRAM_MAX]);

/// Opens a DATA and reads it.
enum hc_status hc_endpoint_get_data(const struct hc_endpoint *endpoint, bool to_server,
                                    const uint8_t *bytes, size_t size,
                                    uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data);
