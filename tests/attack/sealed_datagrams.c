/// Recorded, changed and forged datagrams, and keys and nonces that must not repeat.
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "proto/ack.h"
#include "tests/attack/target.h"
#include "tests/attack/honest_players.h"
#include "tests/sim/crypto_calls.h"
#include "tests/sim/tape.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 8,
    LATENCY_MS = 50,
    TAPE = 1024, ///< datagrams recorded, for each direction
};

/// Honest players whose datagrams are recorded on `tape`.
static struct honest_players *begin(struct attack *attack, unsigned clients,
                                    struct hc_sim_tape *tape, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, clients, LATENCY_MS, seed);
    struct honest_players *players = honest_create(&config);
    hc_sim_tape_begin(tape, players->sim, TAPE);
    honest_join_all(attack, players);
    hc_sim_run(players->sim, SECOND_US);
    return players;
}

static bool has_arrived(const struct honest_players *players, const struct hc_sim_taped *taped) {
    return taped->size > 0 && taped->sent_us + LATENCY_MS * MS_US < hc_sim_now(players->sim);
}

// ---- Replays ------------------------------------------------------------------------------------

/// Gives the host a client's datagram again, from its address, another client's or a stranger's.
/// The host may answer HELLO and CONNECT again, but they join no client.
static void replay_up(struct attack *attack, struct honest_players *players,
                      const struct hc_sim_taped *taped, unsigned n) {
    struct hc_address from = hc_sim_address(players->sim, taped->client);
    if (n % 3 == 1)
        from = hc_sim_address(players->sim, (taped->client + 1) % players->clients);
    if (n % 3 == 2)
        from = hc_address_ipv4(127, 0, 0, 1, 999);
    enum hc_status status = hc_server_receive(hc_sim_host(players->sim), &from, taped->sealed,
                                              taped->size, hc_sim_host_now(players->sim));
    bool is_data = hc_datagram_kind(taped->sealed, taped->size) == HC_DATAGRAM_DATA;
    attack_try(attack, is_data && status == HC_OK);
}

/// Gives a client a datagram of the host again, its own or another client's.
static void replay_down(struct attack *attack, struct honest_players *players,
                        const struct hc_sim_taped *taped, unsigned n) {
    unsigned to = n % 2 == 0 ? taped->client : (taped->client + 1) % players->clients;
    enum hc_status status = hc_client_receive(hc_sim_client(players->sim, to), taped->sealed,
                                              taped->size, hc_sim_client_now(players->sim, to));
    attack_try(attack, status == HC_OK);
}

static void replay_some(struct attack *attack, struct honest_players *players,
                        const struct hc_sim_tape *tape, struct hc_rng *rng, unsigned count) {
    for (unsigned n = 0; n < count; n++) {
        const struct hc_sim_taped *up = &tape->up[hc_rng_below(rng, TAPE)];
        const struct hc_sim_taped *down = &tape->down[hc_rng_below(rng, TAPE)];
        if (has_arrived(players, up))
            replay_up(attack, players, up, n);
        if (has_arrived(players, down))
            replay_down(attack, players, down, n);
    }
}

void attack_replay(struct attack *attack) {
    enum { STEPS = 260, EACH = 200, AFTER = 10000 };
    static struct hc_sim_tape tape, old;
    struct honest_players *players = begin(attack, CLIENTS, &tape, 31);
    struct hc_rng rng = hc_rng_init(31, 1);
    old = tape; // the handshakes are among these
    for (unsigned i = 0; i < STEPS; i++) {
        replay_some(attack, players, i % 4 == 0 ? &old : &tape, &rng, EACH);
        hc_sim_run(players->sim, 25 * MS_US);
    }
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(players->sim));
    attack_require(attack, stats->joins == CLIENTS && stats->resumed == 0 && stats->moved == 0,
                   "a replay joined a client");
    hc_sim_run(players->sim, SECOND_US);
    honest_require_unharmed(attack, players, CLIENTS);

    // The same to a restarted server.
    old = tape;
    attack_require(attack, hc_sim_restart_host(players->sim), "no other server");
    hc_sim_run(players->sim, 3 * SECOND_US);
    replay_some(attack, players, &old, &rng, AFTER);
    hc_sim_run(players->sim, SECOND_US);
    stats = hc_server_stats(hc_sim_host(players->sim));
    attack_require(attack, stats->joins == CLIENTS && hc_sim_playing(players->sim) == CLIENTS,
                   "after a restart a replay joined a client, or ended a session");
    attack_effect(attack, "%d play on without a stall or a lost input; a tenth after a restart",
                  CLIENTS);
    attack_require_none(attack, 100000);
    honest_destroy(players);
}

/// The window's expected answer, by a set that forgets nothing.
static enum hc_status expected_status(const uint8_t *seen, uint32_t first, uint32_t newest,
                                      uint32_t seq) {
    if (newest != 0 && seq + (uint64_t)HC_RECEIVED_WINDOW <= newest)
        return HC_TOO_OLD;
    return seen[seq - first] ? HC_DUPLICATE : HC_OK;
}

void attack_replay_window(struct attack *attack) {
    enum { ROUNDS = 40, OPERATIONS = 5000, SEQS = 1 << 17 };
    static uint8_t seen[SEQS];
    uint64_t passed = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct hc_rng rng = hc_rng_init(32, round);
        struct hc_received received = {.newest = 0};
        // From the beginning, over 2^31, and up to the last there is.
        uint32_t first = round % 3 == 0   ? 1
                         : round % 3 == 1 ? (UINT32_C(1) << 31) - SEQS / 2
                                          : UINT32_MAX - SEQS;
        uint32_t newest = 0, at = first;
        memset(seen, 0, sizeof seen);
        for (unsigned i = 0; i < OPERATIONS; i++) {
            uint32_t back = hc_rng_below(&rng, hc_rng_below(&rng, 4) == 0 ? 600 : 40);
            uint32_t seq = hc_rng_below(&rng, 3) == 0 || at - first < back ? at : at - back;
            at += hc_rng_below(&rng, hc_rng_below(&rng, 50) == 0 ? 400 : 3);
            enum hc_status right = expected_status(seen, first, newest, seq);
            enum hc_status status = hc_received_check(&received, seq);
            attack_try(attack, status != right);
            if (status != HC_OK)
                continue;
            hc_received_accept(&received, seq);
            seen[seq - first] = 1;
            newest = seq > newest ? seq : newest;
            passed++;
        }
        HC_ASSERT(at - first < SEQS);
    }
    attack_effect(attack, "%llu new ones passed, and no other; also up to 2^31 and to the last",
                  (unsigned long long)passed);
    attack_require_none(attack, 200000);
}

// ---- Nonces -------------------------------------------------------------------------------------

/// Lets clients lose their connections in every way, and reconnect.
static void lose_connections(struct attack *attack, struct honest_players *players) {
    struct hc_network_sim_config dead = hc_network_sim_config_default(), alive = dead;
    struct hc_token_ring ring = hc_endpoint_token_ring();
    const uint8_t next[HC_TOKEN_KEY_SIZE] = {1, 2, 3};
    dead.loss_ppm = HC_NETWORK_SIM_PPM;
    alive.latency_us = LATENCY_MS * MS_US;
    for (unsigned round = 0; round < 3; round++) {
        hc_sim_run(players->sim, 2 * SECOND_US);
        hc_sim_rebind(players->sim, 0);
        hc_sim_run(players->sim, 2 * SECOND_US);
        hc_sim_set_link(players->sim, 1, &dead, &dead); // until both sides have given up
        hc_sim_run(players->sim, 11 * SECOND_US);
        hc_sim_set_link(players->sim, 1, &alive, &alive);
        hc_sim_leave(players->sim, 2);
        hc_sim_run(players->sim, 2 * SECOND_US);
        attack_require(attack, hc_sim_connect(players->sim, 2), "no memory");
        hc_sim_run(players->sim, 2 * SECOND_US);
        if (round < 2) // a restarted server knows only the first key
            attack_require(attack, hc_sim_restart_host(players->sim), "no other server");
        if (round == 1) {
            attack_require(attack, hc_token_ring_publish(&ring, next) == HC_OK, "no second key");
            hc_server_set_keys(hc_sim_host(players->sim), &ring);
            attack_require(attack, hc_token_ring_use(&ring) == HC_OK, "not used");
            hc_server_set_keys(hc_sim_host(players->sim), &ring);
        }
        hc_sim_run(players->sim, 4 * SECOND_US);
        attack_require(attack, hc_sim_playing(players->sim) == players->clients,
                       "only %u play in round %u", hc_sim_playing(players->sim), round);
    }
}

/// Connects repeatedly with one token and one nonce: while its session lasts, and to a restarted
/// server, which does not know the spent token. Returns the number of joins.
static unsigned repeat_token(struct attack *attack) {
    enum { RESTARTS = 4, TIMES = 8, SENDS = 20, GONE_US = 33 * SECOND_US };
    struct raw_client once;
    unsigned joined = 0;
    raw_client_begin(&once, NULL, hc_address_ipv4(10, 2, 2, 2, 5000), 1, 1);
    for (unsigned restart = 0; restart < RESTARTS; restart++) {
        struct raw_host target = target_create(4);
        for (unsigned i = 0; i < TIMES; i++) {
            struct raw_client raw = once;
            raw.host = target.host;
            joined += raw_client_join(&raw, 1, target.now_us);
            for (unsigned n = 0; n < SENDS && raw.cid != 0; n++)
                raw_client_send_data(&raw, NULL, 0, target.now_us);
            // Until the nonce may repeat; its players linger meanwhile.
            raw_host_run(&target, GONE_US, NULL);
        }
        raw_host_destroy(&target);
    }
    attack_require(attack, joined == RESTARTS * TIMES, "only %u of %d joined", joined,
                   RESTARTS * TIMES);
    return joined;
}

void attack_nonces(struct attack *attack) {
    enum { SEALERS = 3 };
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, SEALERS, LATENCY_MS, 33);
    struct honest_players *players = honest_create(&config);
    hc_crypto_calls_reset();
    honest_join_all(attack, players);
    lose_connections(attack, players);
    unsigned joined = repeat_token(attack);
    struct hc_crypto_calls calls = hc_crypto_calls();
    uint64_t reconnects = 0;
    for (unsigned i = 0; i < SEALERS; i++)
        reconnects += hc_client_stats(hc_sim_client(players->sim, i))->reconnects;
    attack->tries = calls.sealed;
    attack->accepted = calls.repeats;
    attack_effect(attack,
                  "%u keys; %llu reconnects, 6 restarts, 1 rotation, 3 rebinds; one token %u times",
                  (unsigned)calls.keys, (unsigned long long)reconnects, joined);
    attack_require(attack, reconnects >= 5, "only %llu reconnects", (unsigned long long)reconnects);
    attack_require_none(attack, 10000);

    // The counter finds a repeated nonce.
    struct hc_endpoint endpoint;
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = 1, .seq = 1};
    hc_endpoint_issue_token(&endpoint, &hc_arena, 1, 2);
    hc_endpoint_put_data(&endpoint, true, &data, bytes);
    hc_endpoint_put_data(&endpoint, true, &data, bytes);
    attack_require(attack, hc_crypto_calls().repeats == calls.repeats + 1,
                   "the counter misses a repeated nonce");
    hc_crypto_calls_stop();
    honest_destroy(players);
}

// ---- Changed bits -------------------------------------------------------------------------------

/// Flips each bit of a datagram that has not arrived yet, so that its seq is still acceptable.
static void flip_up(struct attack *attack, struct honest_players *players,
                    struct hc_sim_taped taped) {
    struct hc_address from = hc_sim_address(players->sim, taped.client);
    for (size_t bit = 0; bit < 8 * taped.size; bit++) {
        taped.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum hc_status status = hc_server_receive(hc_sim_host(players->sim), &from, taped.sealed,
                                                  taped.size, hc_sim_host_now(players->sim));
        attack_try(attack, status == HC_OK);
        taped.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void flip_down(struct attack *attack, struct honest_players *players,
                      struct hc_sim_taped taped) {
    struct hc_client *client = hc_sim_client(players->sim, taped.client);
    for (size_t bit = 0; bit < 8 * taped.size; bit++) {
        taped.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum hc_status status = hc_client_receive(client, taped.sealed, taped.size,
                                                  hc_sim_client_now(players->sim, taped.client));
        attack_try(attack, status == HC_OK);
        taped.sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

void attack_data_flips(struct attack *attack) {
    enum { ROUNDS = 150 };
    static struct hc_sim_tape tape;
    struct honest_players *players = begin(attack, 3, &tape, 34);
    for (unsigned i = 0; i < ROUNDS; i++) {
        hc_sim_run(players->sim, 70 * MS_US);
        flip_up(attack, players, tape.up[(tape.ups - 1 - i % 3) % TAPE]);
        flip_down(attack, players, tape.down[(tape.downs - 1 - i % 3) % TAPE]);
    }
    hc_sim_run(players->sim, SECOND_US);
    honest_require_unharmed(attack, players, players->clients);
    attack_effect(attack, "3 play on without a stall or a lost input");
    attack_require_none(attack, 100000);
    honest_destroy(players);
}

/// Runs a client's handshake up to its ACCEPT, which goes to `out`; returns its size.
static size_t await_accept(struct attack *attack, struct raw_host *target, struct hc_client *client,
                           uint8_t place, uint8_t out[static HC_DATAGRAM_MAX]) {
    struct raw_client raw = {.host = target->host,
                             .address = hc_address_ipv4(10, 1, 1, place, 5000)};
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (unsigned i = 0; i < 2; i++) { // HELLO, CONNECT
        target->now_us += 300000;
        hc_client_advance(client, target->now_us);
        size_t size = hc_client_send(client, bytes, target->now_us);
        attack_require(attack, size == HC_DATAGRAM_MAX, "the client sends nothing");
        raw_client_send(&raw, bytes, size, target->now_us);
        if (i == 0)
            hc_client_receive(client, raw.answer, raw.size, target->now_us);
    }
    attack_require(attack, raw.size > 0 && raw.answer[0] == HC_DATAGRAM_ACCEPT, "no ACCEPT");
    memcpy(out, raw.answer, raw.size);
    return raw.size;
}

void attack_accept_flips(struct attack *attack) {
    enum { SESSIONS = 4 };
    struct raw_host target = target_create(SESSIONS);
    unsigned joined = 0;
    for (unsigned i = 0; i < SESSIONS; i++) {
        struct hc_client_config config = hc_client_config_default();
        struct hc_endpoint endpoint;
        uint8_t accept[HC_DATAGRAM_MAX];
        hc_endpoint_issue_token(&endpoint, &hc_arena, 100 + i, 100 + i);
        config.game = &hc_arena;
        config.rule_hash = hc_test_rule_hash(config.game);
        config.credential = endpoint.credential;
        struct hc_client *client = hc_client_create(&config, target.now_us);
        HC_ASSERT(client != NULL);
        size_t size = await_accept(attack, &target, client, (uint8_t)i, accept);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
            attack_try(attack, hc_client_receive(client, accept, size, target.now_us) == HC_OK);
            accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        joined += hc_client_receive(client, accept, size, target.now_us) == HC_OK;
        hc_client_destroy(client);
    }
    attack_effect(attack, "%u of %d unchanged ones were accepted", joined, SESSIONS);
    attack_require(attack, joined == SESSIONS, "%u of %d true ones were accepted", joined,
                   SESSIONS);
    attack_require_none(attack, 5000);
    raw_host_destroy(&target);
}

// ---- Random numbers of a client -----------------------------------------------------------------

/// Inverts SplitMix64: the state that gave `out`.
static uint64_t undo_splitmix(uint64_t out) {
    static const struct {
        unsigned shift;
        uint64_t inverse;
    } steps[] = {{31, UINT64_C(0x319642b2d24d8ec3)}, {27, UINT64_C(0x96de1b173f119089)}, {30, 1}};
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t undone = out;
        for (unsigned by = steps[i].shift; by < 64; by += steps[i].shift)
            undone = out ^ undone >> steps[i].shift;
        out = undone * steps[i].inverse;
    }
    return out;
}

/// Whether SplitMix64, the bots' generator, computes the second half of 16 bytes from the first.
static bool follows(const uint8_t nonce[static HC_NONCE_SIZE]) {
    struct hc_reader reader = hc_bytes_reader(nonce, HC_NONCE_SIZE);
    uint64_t first = undo_splitmix(hc_bytes_get_u64(&reader));
    return undo_splitmix(hc_bytes_get_u64(&reader)) - first == UINT64_C(0x9e3779b97f4a7c15);
}

static struct hc_client *asking_client(const struct hc_client_config *config, uint64_t now_us,
                                       struct hc_hello *hello) {
    struct hc_client *client = hc_client_create(config, now_us);
    uint8_t bytes[HC_DATAGRAM_MAX];
    HC_ASSERT(client != NULL);
    hc_client_advance(client, now_us);
    size_t size = hc_client_send(client, bytes, now_us);
    HC_ASSERT(hc_datagram_get_hello(bytes, size, hello) == HC_OK);
    return client;
}

void attack_predicted_nonces(struct attack *attack) {
    enum { CLIENTS_ASKED = 2000 };
    static uint8_t seen[CLIENTS_ASKED][HC_NONCE_SIZE];
    struct hc_client_config config = hc_client_config_default();
    struct hc_endpoint endpoint;
    unsigned varied[8 * HC_NONCE_SIZE] = {0};
    hc_endpoint_issue_token(&endpoint, &hc_arena, 1, 1);
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    config.credential = endpoint.credential;
    for (unsigned i = 0; i < CLIENTS_ASKED; i++) {
        struct hc_hello hello;
        hc_client_destroy(asking_client(&config, 0, &hello));
        memcpy(seen[i], hello.client_nonce, HC_NONCE_SIZE);
        bool known = follows(seen[i]);
        for (unsigned k = 0; k < i && !known; k++)
            known = memcmp(seen[k], seen[i], HC_NONCE_SIZE) == 0;
        attack_try(attack, known);
        for (unsigned bit = 0; bit < 8 * HC_NONCE_SIZE; bit++)
            varied[bit] += seen[i][bit / 8] >> bit % 8 & 1;
    }
    // A random bit is set in half of them; 300 off is more than 13 standard deviations.
    for (unsigned bit = 0; bit < 8 * HC_NONCE_SIZE; bit++)
        attack_require(attack, varied[bit] > 700 && varied[bit] < 1300, "bit %u is set in %u of %d",
                       bit, varied[bit], CLIENTS_ASKED);
    attack_effect(attack,
                  "nonces of one token at one moment; none repeats or gives its other half");
    attack_require_none(attack, CLIENTS_ASKED);
}

/// Creates a client and runs its handshake up to its ACCEPT, which goes to `accept`.
static struct hc_client *join_by_hand(struct attack *attack, struct raw_host *target,
                                      const struct hc_client_config *config, uint8_t place,
                                      uint8_t accept[static HC_DATAGRAM_MAX], size_t *size) {
    struct hc_client *client = hc_client_create(config, target->now_us);
    HC_ASSERT(client != NULL);
    *size = await_accept(attack, target, client, place, accept);
    return client;
}

/// Lets a joined client seal some DATA.
static void send_some_data(struct hc_client *client, uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    for (unsigned i = 0; i < 4; i++, now_us += 100000) {
        hc_client_advance(client, now_us);
        while (hc_client_send(client, bytes, now_us) > 0)
            continue;
    }
}

/// Starts a client twice with one token, `apart_us` apart. The second one receives the first one's
/// ACCEPT and a COOKIE, and would seal with the same keys if it accepted them.
static void run_twice(struct attack *attack, const struct hc_client_config *config,
                      uint64_t apart_us) {
    struct raw_host target = target_create(2);
    uint8_t accept[HC_DATAGRAM_MAX], bytes[HC_DATAGRAM_MAX];
    struct hc_datagram_cookie cookie = {.slot = 1};
    struct hc_hello hello;
    size_t size;
    uint64_t begun_us = target.now_us;
    struct hc_client *first = join_by_hand(attack, &target, config, 1, accept, &size);
    attack_require(attack, hc_client_receive(first, accept, size, target.now_us) == HC_OK,
                   "a true ACCEPT is refused");
    send_some_data(first, target.now_us);
    struct hc_client *second = asking_client(config, begun_us + apart_us, &hello);
    memcpy(cookie.client_nonce, accept + 1 + HC_MAGIC_SIZE, HC_NONCE_SIZE);
    hc_client_receive(second, bytes, hc_datagram_put_cookie(&cookie, bytes), begun_us + apart_us);
    attack_try(attack, hc_client_receive(second, accept, size, begun_us + apart_us) == HC_OK);
    send_some_data(second, begun_us + apart_us);
    hc_client_destroy(first);
    hc_client_destroy(second);
    raw_host_destroy(&target);
}

void attack_replayed_accept(struct attack *attack) {
    enum { TIMES = 50 };
    static const uint8_t same[HC_CLIENT_ENTROPY_SIZE] = {1};
    struct hc_client_config config = hc_client_config_default();
    struct hc_endpoint endpoint;
    hc_crypto_calls_reset();
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    for (unsigned i = 0; i < TIMES; i++) {
        hc_endpoint_issue_token(&endpoint, &hc_arena, 1 + i, 1 + i);
        config.credential = endpoint.credential;
        config.entropy = NULL;
        run_twice(attack, &config, 0);
        config.entropy = same;
        run_twice(attack, &config, 1);
    }
    struct hc_crypto_calls calls = hc_crypto_calls();
    hc_crypto_calls_stop();
    attack_effect(attack, "%u sealed with %u keys, %u times one twice", calls.sealed, calls.keys,
                  calls.repeats);
    attack_require(attack, calls.repeats == 0, "%u repeats of a key and a number", calls.repeats);
    attack_require_none(attack, 2 * TIMES);
}

// ---- Recordings ---------------------------------------------------------------------------------

/// A recorded session: its handshake, and the token's secret, which a leaked token key opens.
struct recording {
    struct hc_seal_material material;
    unsigned client;
    bool complete;
};

/// The handshake of `client` on the tape.
static struct recording read_handshake(const struct hc_sim_tape *tape, unsigned client) {
    struct recording recording = {.client = client};
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_connect connect;
    struct hc_accept accept;
    struct hc_token token;
    for (unsigned i = 0; i < TAPE; i++) {
        const struct hc_sim_taped *up = &tape->up[i], *down = &tape->down[i];
        struct hc_seal_material *material = &recording.material;
        if (up->client == client &&
            hc_datagram_get_connect(up->sealed, up->size, &connect) == HC_OK &&
            hc_token_open(&ring, connect.protocol_id, 0, 0, connect.token, &token) == HC_OK) {
            material->protocol_id = connect.protocol_id;
            memcpy(material->secret, token.secret, sizeof token.secret);
            memcpy(material->token, connect.token, HC_TOKEN_SIZE);
            memcpy(material->client_nonce, connect.client_nonce, HC_NONCE_SIZE);
            memcpy(material->client_key, connect.client_key, HC_EXCHANGE_KEY_SIZE);
        }
        if (down->client == client &&
            hc_datagram_get_accept(down->sealed, down->size, &accept) == HC_OK) {
            material->cid = accept.cid;
            memcpy(material->server_nonce, accept.server_nonce, HC_NONCE_SIZE);
            memcpy(material->server_key, accept.server_key, HC_EXCHANGE_KEY_SIZE);
            recording.complete = true;
        }
    }
    return recording;
}

/// Tries to open all DATA of a recorded session.
static void open_all(struct attack *attack, const struct hc_sim_tape *tape, unsigned client,
                     const struct hc_seal_keys *keys) {
    uint8_t opened[HC_DATAGRAM_MAX];
    for (unsigned i = 0; i < TAPE; i++) {
        const struct hc_sim_taped *up = &tape->up[i], *down = &tape->down[i];
        if (up->client == client && hc_datagram_kind(up->sealed, up->size) == HC_DATAGRAM_DATA)
            attack_try(attack, hc_seal_open_data(keys->c2s, up->sealed, up->size, opened) == HC_OK);
        if (down->client == client &&
            hc_datagram_kind(down->sealed, down->size) == HC_DATAGRAM_DATA)
            attack_try(attack,
                       hc_seal_open_data(keys->s2c, down->sealed, down->size, opened) == HC_OK);
    }
}

/// The ephemeral secrets are missing, so the attack tries known values as the shared secret.
void attack_recorded_session(struct attack *attack) {
    enum { RECORDED = 4 };
    static struct hc_sim_tape tape;
    struct honest_players *players = begin(attack, RECORDED, &tape, 35);
    for (unsigned client = 0; client < RECORDED; client++) {
        struct recording recording = read_handshake(&tape, client);
        const struct hc_seal_material *known = &recording.material;
        const uint8_t *const candidates[] = {known->shared, known->client_key, known->server_key,
                                             known->secret};
        attack_require(attack, recording.complete, "no handshake on the tape");
        for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
            struct hc_seal_material material = *known;
            struct hc_seal_keys keys;
            memcpy(material.shared, candidates[i], sizeof material.shared);
            hc_seal_derive(&material, &keys);
            open_all(attack, &tape, client, &keys);
        }
        // The erased keys do open it, so nothing else was missing.
        const struct hc_endpoint *endpoint = hc_sim_endpoint(players->sim, known->cid);
        struct attack with = {.tries = 0};
        attack_require(attack, endpoint != NULL, "no such connection");
        if (endpoint != NULL)
            open_all(&with, &tape, client, &endpoint->keys);
        attack_require(attack, with.tries > 50 && with.accepted == with.tries,
                       "%llu of %llu open with the keys", (unsigned long long)with.accepted,
                       (unsigned long long)with.tries);
    }
    attack_effect(attack,
                  "the sessions of %d, with their tokens' secrets, and without the ephemeral",
                  RECORDED);
    attack_require_none(attack, 1000);
    honest_destroy(players);
}
