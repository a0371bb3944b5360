#include "tests/attack/puppet.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <sodium.h>
#include <string.h>

enum { TOKEN_LIFE_S = 3600, EPOCH_US = 5000000, DRAW_NONCE = 77 };

struct gate gate_open(uint16_t clients) {
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.clients = clients;
    config.keys = hc_party_ring();
    config.unix_us = HC_PARTY_UNIX_US;
    config.seed = 1;
    randombytes_buf(config.secret, sizeof config.secret); // as a daemon does
    struct gate gate = {.now_us = EPOCH_US};
    gate.host = hc_sv_host_create(&config, gate.now_us);
    HC_ASSERT(gate.host != NULL);
    return gate;
}

void gate_close(struct gate *gate) {
    hc_sv_host_destroy(gate->host);
    gate->host = NULL;
}

void gate_run(struct gate *gate, uint64_t us, struct puppet *puppet) {
    struct puppet nobody = {.host = gate->host};
    struct hc_sv_event event;
    for (uint64_t end = gate->now_us + us; gate->now_us < end;) {
        uint64_t next = hc_sv_host_deadline(gate->host);
        gate->now_us = next < end ? next : end;
        hc_sv_host_advance(gate->host, gate->now_us);
        puppet_listen(puppet != NULL ? puppet : &nobody, gate->now_us);
        while (hc_sv_host_poll_event(gate->host, &event)) {
        }
    }
}

struct hc_token puppet_token(uint64_t user) {
    return (struct hc_token){.players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .expire_s = HC_PARTY_UNIX_S + TOKEN_LIFE_S,
                             .client_id = user};
}

void puppet_begin_as(struct puppet *puppet, struct hc_sv_host *host, struct hc_address address,
                     const struct hc_token_key *key, const struct hc_token *token,
                     uint64_t serial) {
    *puppet = (struct puppet){.host = host, .address = address};
    hc_party_issue_as(&puppet->party, &hc_arena, key, token, serial);
    for (uint32_t i = 0; i < HC_NONCE_SIZE; i++)
        puppet->cookie.client_nonce[i] = (uint8_t)hc_random(serial, DRAW_NONCE, i, 0);
}

void puppet_begin(struct puppet *puppet, struct hc_sv_host *host, struct hc_address address,
                  uint64_t user, uint64_t serial) {
    struct hc_token_ring ring = hc_party_ring();
    struct hc_token token = puppet_token(user);
    token.issued_s = serial;
    puppet_begin_as(puppet, host, address, &ring.keys[0], &token, serial);
}

void puppet_listen(struct puppet *puppet, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    uint32_t cid, seq;
    size_t size;
    while ((size = hc_sv_host_send(puppet->host, &to, bytes, now_us)) > 0) {
        if (!hc_address_equal(&to, &puppet->address))
            continue;
        puppet->bytes_out += size;
        puppet->size = size;
        memcpy(puppet->answer, bytes, size);
        if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) == HC_OK && cid == puppet->cid)
            puppet->heard = seq;
    }
}

enum hc_status puppet_say(struct puppet *puppet, const uint8_t *bytes, size_t size,
                          uint64_t now_us) {
    puppet->size = 0;
    puppet->bytes_in += size;
    enum hc_status status = hc_sv_host_receive(puppet->host, &puppet->address, bytes, size, now_us);
    puppet_listen(puppet, now_us);
    return status;
}

bool puppet_hello(struct puppet *puppet, uint64_t now_us) {
    struct hc_hello hello = {.protocol_id = puppet->party.protocol_id};
    uint8_t bytes[HC_DATAGRAM_HELLO_SIZE];
    memcpy(hello.client_nonce, puppet->cookie.client_nonce, HC_NONCE_SIZE);
    puppet_say(puppet, bytes, hc_datagram_put_hello(&hello, bytes), now_us);
    return hc_datagram_get_cookie(puppet->answer, puppet->size, &puppet->cookie) == HC_OK;
}

void puppet_write_connect(const struct puppet *puppet, uint8_t players,
                          uint8_t out[static HC_DATAGRAM_CONNECT_SIZE]) {
    struct hc_connect connect = {
        .protocol_id = puppet->party.protocol_id, .slot = puppet->cookie.slot, .players = players};
    memcpy(connect.client_nonce, puppet->cookie.client_nonce, HC_NONCE_SIZE);
    memcpy(connect.cookie, puppet->cookie.cookie, HC_COOKIE_SIZE);
    hc_party_put_connect(&puppet->party, &connect, out);
}

/// Takes the answer to a CONNECT for what it is.
static void take_accept(struct puppet *puppet) {
    static struct hc_body body;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_accept accept;
    if (hc_party_get_accept(&puppet->party, puppet->answer, puppet->size, opened, &accept) != HC_OK)
        return;
    bool read = hc_body_begin(&body, accept.body, accept.body_size) == HC_OK &&
                hc_body_next(&body) == HC_MESSAGE_WELCOME &&
                hc_message_get_welcome(&body, &hc_arena, &puppet->welcome) == HC_OK;
    HC_ASSERT(read);
    puppet->cid = accept.cid;
    puppet->seq = 0;
}

enum hc_datagram_kind puppet_take_connect(struct puppet *puppet,
                                          const uint8_t bytes[static HC_DATAGRAM_CONNECT_SIZE],
                                          uint64_t now_us) {
    puppet_say(puppet, bytes, HC_DATAGRAM_CONNECT_SIZE, now_us);
    if (puppet->size > 0 && puppet->answer[0] == HC_DATAGRAM_ACCEPT)
        take_accept(puppet);
    return hc_datagram_kind(puppet->answer, puppet->size);
}

enum hc_datagram_kind puppet_connect(struct puppet *puppet, uint8_t players, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    hc_party_compute_key(&puppet->party);
    puppet_write_connect(puppet, players, bytes);
    return puppet_take_connect(puppet, bytes, now_us);
}

bool puppet_join(struct puppet *puppet, uint8_t players, uint64_t now_us) {
    return puppet_hello(puppet, now_us) &&
           puppet_connect(puppet, players, now_us) == HC_DATAGRAM_ACCEPT && puppet->cid != 0;
}

size_t puppet_seal(struct puppet *puppet, const uint8_t *body, size_t size, uint32_t ack,
                   uint32_t ack_bits, uint8_t out[static HC_DATAGRAM_MAX]) {
    struct hc_data data = {.cid = puppet->cid,
                           .seq = ++puppet->seq,
                           .ack = ack,
                           .ack_bits = ack_bits,
                           .body = body,
                           .body_size = size};
    return hc_party_put_data(&puppet->party, true, &data, out);
}

enum hc_status puppet_data(struct puppet *puppet, const uint8_t *body, size_t size,
                           uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    size_t sealed = puppet_seal(puppet, body, size, 0, 0, bytes);
    puppet->bytes_in += sealed;
    return hc_sv_host_receive(puppet->host, &puppet->address, bytes, sealed, now_us);
}

enum hc_status puppet_input(struct puppet *puppet, struct hc_input_message message,
                            hc_input_source *source, void *context, uint64_t now_us) {
    uint8_t bytes[HC_DATA_BODY_MAX];
    struct hc_writer body = hc_bytes_writer(bytes, sizeof bytes);
    bool fits = hc_message_put_input(&body, &hc_arena, puppet->welcome.own_count, &message, source,
                                     context);
    HC_ASSERT(fits);
    return puppet_data(puppet, bytes, body.at, now_us);
}
