/// Tokens, keys and sealing of one end of a connection.
#include "tests/sim/endpoint.h"

#include "client/client.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { LIFE_S = 60, KEY_ID = 3, KNOWN_GAMES = 16 };

/// Purposes of random numbers.
enum { DRAW_KEY, DRAW_ID, DRAW_SECRET, DRAW_NONCE };

static void draw(uint8_t *out, size_t size, uint64_t serial, uint32_t purpose) {
    for (uint32_t i = 0; i < size; i++)
        out[i] = (uint8_t)hc_random(serial, purpose, i, 0);
}

uint64_t hc_test_rule_hash(const struct hc_game *game) {
    static struct {
        uint64_t game_hash, rule_hash;
        bool (*step)(struct hc_scene *scene, hc_entity self, void *out);
    } known[KNOWN_GAMES];
    static unsigned next;
    uint64_t game_hash = hc_game_hash(game);
    for (unsigned i = 0; i < KNOWN_GAMES; i++)
        if (known[i].game_hash == game_hash && known[i].step == game->step)
            return known[i].rule_hash;
    unsigned oldest = next++ % KNOWN_GAMES;
    known[oldest].game_hash = game_hash;
    known[oldest].rule_hash = hc_game_rule_hash(game, NULL);
    known[oldest].step = game->step;
    return known[oldest].rule_hash;
}

uint64_t hc_test_protocol_id(const struct hc_game *game) {
    return hc_datagram_protocol_id(game, hc_test_rule_hash(game));
}

struct hc_token_ring hc_endpoint_token_ring(void) {
    struct hc_token_ring ring = {.count = 1, .keys = {{.id = KEY_ID}}};
    draw(ring.keys[0].key, sizeof ring.keys[0].key, 0, DRAW_KEY);
    return ring;
}

struct hc_server_config hc_test_server_config(const struct hc_game *game) {
    static const uint8_t secret[HC_SERVER_SECRET_SIZE];
    struct hc_server_config config = hc_server_config_default();
    config.game = game;
    config.rule_hash = hc_test_rule_hash(game);
    config.keys = hc_endpoint_token_ring();
    config.secret = secret;
    return config;
}

/// Writes the public key of the endpoint's secret.
static void get_ephemeral(const struct hc_endpoint *endpoint,
                          uint8_t out[static HC_EXCHANGE_KEY_SIZE]) {
    if (endpoint->ephemeral.known &&
        memcmp(endpoint->ephemeral.secret, endpoint->secret, sizeof endpoint->secret) == 0)
        memmove(out, endpoint->ephemeral.key, HC_EXCHANGE_KEY_SIZE);
    else
        hc_seal_public(endpoint->secret, out);
}

void hc_endpoint_issue_token_as(struct hc_endpoint *endpoint, const struct hc_game *game,
                                const struct hc_token_key *key, const struct hc_token *token,
                                uint64_t serial) {
    struct hc_token drawn = *token;
    uint8_t nonce[HC_TOKEN_NONCE_SIZE];
    draw(drawn.token_id, sizeof drawn.token_id, serial, DRAW_ID);
    draw(drawn.secret, sizeof drawn.secret, serial, DRAW_SECRET);
    draw(nonce, sizeof nonce, serial, DRAW_NONCE);
    *endpoint = (struct hc_endpoint){.protocol_id = hc_test_protocol_id(game)};
    hc_token_seal(key, endpoint->protocol_id, &drawn, nonce, endpoint->credential.token);
    memcpy(endpoint->credential.secret, drawn.secret, sizeof drawn.secret);
    hc_endpoint_draw_secret(endpoint);
}

void hc_endpoint_draw_secret(struct hc_endpoint *endpoint) {
    for (unsigned i = 0; i < sizeof endpoint->secret; i++)
        endpoint->secret[i] = (uint8_t)~endpoint->credential.secret[i];
}

void hc_endpoint_compute_key(struct hc_endpoint *endpoint) {
    get_ephemeral(endpoint, endpoint->ephemeral.key);
    memcpy(endpoint->ephemeral.secret, endpoint->secret, sizeof endpoint->secret);
    endpoint->ephemeral.known = true;
}

void hc_endpoint_issue_token(struct hc_endpoint *endpoint, const struct hc_game *game,
                             uint64_t client_id, uint64_t serial) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = {.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_TEST_UNIX_S + LIFE_S,
                             .client_id = client_id};
    hc_endpoint_issue_token_as(endpoint, game, &ring.keys[0], &token, serial);
}

size_t hc_endpoint_put_connect(const struct hc_endpoint *endpoint, const struct hc_connect *connect,
                               uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]) {
    struct hc_connect complete = *connect;
    memcpy(complete.token, endpoint->credential.token, HC_TOKEN_SIZE);
    get_ephemeral(endpoint, complete.client_key);
    size_t size = hc_datagram_put_connect(&complete, out);
    if (connect->continues != 0)
        hc_seal_put_continue_proof(endpoint->keys.continues, out);
    hc_token_put_proof(endpoint->credential.secret, out);
    return size;
}

static struct hc_seal_material material_of(const struct hc_endpoint *endpoint,
                                           const struct hc_accept *accept) {
    struct hc_seal_material material = {.protocol_id = endpoint->protocol_id, .cid = accept->cid};
    memcpy(material.secret, endpoint->credential.secret, sizeof material.secret);
    memcpy(material.token, endpoint->credential.token, sizeof material.token);
    memcpy(material.client_nonce, accept->client_nonce, HC_NONCE_SIZE);
    memcpy(material.server_nonce, accept->server_nonce, HC_NONCE_SIZE);
    memcpy(material.server_key, accept->server_key, sizeof material.server_key);
    return material;
}

enum hc_status hc_endpoint_derive_keys(struct hc_endpoint *endpoint,
                                       const struct hc_accept *accept) {
    struct hc_seal_material material = material_of(endpoint, accept);
    enum hc_status status = hc_seal_exchange(endpoint->secret, accept->server_key, material.shared);
    if (status != HC_OK)
        return status;
    get_ephemeral(endpoint, material.client_key);
    hc_seal_derive(&material, &endpoint->keys);
    return HC_OK;
}

void hc_endpoint_serve(struct hc_endpoint *endpoint, const struct hc_client *client) {
    hc_seal_public(client->link.handshake.attempt.secret, endpoint->client_key);
}

enum hc_status hc_endpoint_get_accept(struct hc_endpoint *endpoint, const uint8_t *bytes,
                                      size_t size, uint8_t opened[static HC_DATAGRAM_MAX],
                                      struct hc_accept *accept) {
    enum hc_status status = hc_datagram_get_accept(bytes, size, accept);
    if (status != HC_OK)
        return status;
    status = hc_endpoint_derive_keys(endpoint, accept);
    if (status == HC_OK)
        status = hc_seal_open_accept(endpoint->keys.s2c, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_accept(opened, size, accept) : status;
}

size_t hc_endpoint_put_accept(struct hc_endpoint *endpoint, const struct hc_accept *accept,
                              uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_sealer sealer;
    struct hc_accept complete = *accept;
    get_ephemeral(endpoint, complete.server_key);
    size_t size = hc_datagram_put_accept(&complete, out);
    struct hc_seal_material material = material_of(endpoint, &complete);
    memcpy(material.client_key, endpoint->client_key, sizeof material.client_key);
    enum hc_status status =
        hc_seal_exchange(endpoint->secret, endpoint->client_key, material.shared);
    HC_ASSERT(status == HC_OK);
    hc_seal_derive(&material, &endpoint->keys);
    hc_seal_init(&sealer, endpoint->keys.s2c);
    hc_seal_accept(&sealer, out, size);
    return size;
}

void hc_endpoint_seal(const struct hc_endpoint *endpoint, bool to_server, uint8_t *datagram,
                      size_t size) {
    struct hc_sealer sealer;
    hc_seal_init(&sealer, to_server ? endpoint->keys.c2s : endpoint->keys.s2c);
    hc_seal_data(&sealer, datagram, size);
}

size_t hc_endpoint_put_data(const struct hc_endpoint *endpoint, bool to_server,
                            const struct hc_data *data, uint8_t out[static HC_DATAGRAM_MAX]) {
    size_t size = hc_datagram_put_data(data, out);
    hc_endpoint_seal(endpoint, to_server, out, size);
    return size;
}

enum hc_status hc_endpoint_open(const struct hc_endpoint *endpoint, bool to_server,
                                const uint8_t *bytes, size_t size,
                                uint8_t opened[static HC_DATAGRAM_MAX]) {
    const uint8_t *key = to_server ? endpoint->keys.c2s : endpoint->keys.s2c;
    enum hc_status status = hc_seal_open_data(key, bytes, size, opened);
    if (status == HC_OK)
        memset(opened + size - HC_TAG_SIZE, 0, HC_TAG_SIZE);
    return status;
}

enum hc_status hc_endpoint_get_data(const struct hc_endpoint *endpoint, bool to_server,
                                    const uint8_t *bytes, size_t size,
                                    uint8_t opened[static HC_DATAGRAM_MAX], struct hc_data *data) {
    enum hc_status status = hc_endpoint_open(endpoint, to_server, bytes, size, opened);
    return status == HC_OK ? hc_datagram_get_data(opened, size, data) : status;
}
