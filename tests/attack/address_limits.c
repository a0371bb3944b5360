/// Limits of one network address: connected clients, and RESETs.
#include "tests/attack/attack.h"
#include "tests/attack/raw_client.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { SECOND_US = 1000000, TICK_US = 16667 };

static struct hc_sv_host *open_host(uint16_t clients, uint16_t per_address, uint64_t now_us) {
    struct hc_sv_host_config config = hc_sv_host_config_default();
    config.game = &hc_arena;
    config.rule_hash = hc_test_rule_hash(config.game);
    config.keys = hc_endpoint_token_ring();
    config.unix_us = HC_TEST_UNIX_US;
    config.clients = clients;
    config.clients_per_address = per_address;
    struct hc_sv_host *host = hc_sv_host_create(&config, now_us);
    HC_ASSERT(host != NULL);
    return host;
}

// ---- Clients that move --------------------------------------------------------------------------

/// Answers the PATH_CHALLENGE in a DATA from the challenged address.
static void answer_challenge(struct raw_client *raw, const struct hc_address *to,
                             const uint8_t *bytes, size_t size, uint64_t now_us) {
    static struct hc_body body;
    uint8_t opened[HC_DATAGRAM_MAX], answer[64], sealed[HC_DATAGRAM_MAX];
    uint8_t data[HC_PATH_SIZE];
    struct hc_writer writer = hc_bytes_writer(answer, sizeof answer);
    struct hc_data read;
    enum hc_message_type type;
    if (hc_endpoint_get_data(&raw->endpoint, false, bytes, size, opened, &read) != HC_OK ||
        hc_body_begin(&body, read.body, read.body_size) != HC_OK)
        return;
    while ((type = hc_body_next(&body)) != HC_MESSAGE_END) {
        if (type != HC_MESSAGE_PATH_CHALLENGE || hc_message_get_path(&body, data) != HC_OK)
            continue;
        hc_message_put_path(&writer, HC_MESSAGE_PATH_RESPONSE, data);
        size_t sealed_size = raw_client_seal(raw, answer, writer.at, 0, 0, sealed);
        hc_sv_host_receive(raw->host, to, sealed, sealed_size, now_us);
    }
}

void attack_address_clients(struct attack *attack) {
    enum { CLIENTS = 12, ALLOWED = 4, TICKS = 300 };
    uint64_t now_us = 5 * SECOND_US, size;
    struct hc_sv_host *host = open_host(CLIENTS, ALLOWED, now_us);
    struct raw_client clients[CLIENTS];
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_address home = hc_address_ipv4(198, 51, 100, (uint8_t)i, 4000);
        raw_client_begin(&clients[i], host, home, 1 + i, 1 + i);
        attack_require(attack, raw_client_join(&clients[i], 1, now_us), "no client can join");
    }
    for (unsigned tick = 0; tick < TICKS; tick++, now_us += TICK_US) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            struct hc_address house = hc_address_ipv4(192, 0, 2, 1, (uint16_t)(1000 + i));
            size = raw_client_seal(&clients[i], NULL, 0, 0, 0, bytes);
            hc_sv_host_receive(host, &house, bytes, size, now_us);
        }
        hc_sv_host_advance(host, now_us);
        while ((size = hc_sv_host_send(host, &to, bytes, now_us)) > 0)
            if (to.ip[12] == 192)
                answer_challenge(&clients[to.port - 1000], &to, bytes, size, now_us);
    }
    uint64_t moved = hc_sv_host_stats(host)->moved;
    attack->tries = CLIENTS;
    attack->accepted = moved > ALLOWED ? moved - ALLOWED : 0;
    attack_effect(attack, "%llu of %d clients moved to an address of %d", (unsigned long long)moved,
                  CLIENTS, ALLOWED);
    attack_require(attack, moved == ALLOWED, "%llu moved", (unsigned long long)moved);
    attack_require(attack, hc_sv_host_clients(host) == CLIENTS, "a session was ended");
    attack_require_none(attack, CLIENTS);
    hc_sv_host_destroy(host);
}

// ---- RESETs -------------------------------------------------------------------------------------

enum { RETURNERS = 512, STRANGERS = 200, STRANGER_DATA = 20, SPOOFED = 300 };

/// A DATA of a connection that the host does not know.
static void send_unknown(struct hc_sv_host *host, struct hc_address from, uint32_t cid,
                         uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = cid, .seq = 2};
    size_t size = hc_datagram_put_data(&data, bytes);
    hc_sv_host_receive(host, &from, bytes, size, now_us);
}

/// Counts the returning clients that were sent a RESET for the first time.
static unsigned take_resets(struct hc_sv_host *host, bool done[static RETURNERS], uint64_t *sent,
                            uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    unsigned count = 0;
    while (hc_sv_host_send(host, &to, bytes, now_us) > 0) {
        unsigned i = (unsigned)to.ip[14] << 8 | to.ip[15];
        ++*sent;
        if (to.ip[12] != 198 || i >= RETURNERS || done[i])
            continue;
        done[i] = true;
        count++;
    }
    return count;
}

/// Sends one datagram of a tick: a stranger's, one from a spoofed address, or a returning client's.
static void send_one(struct hc_sv_host *host, unsigned number, uint32_t drawn,
                     const bool done[static RETURNERS], uint64_t now_us) {
    if (number < STRANGER_DATA * STRANGERS)
        send_unknown(host, hc_address_ipv4(203, 0, 113, (uint8_t)(number % STRANGERS), 4000), drawn,
                     now_us);
    else if (number < STRANGER_DATA * STRANGERS + SPOOFED)
        send_unknown(host,
                     hc_address_ipv4(11, (uint8_t)drawn, (uint8_t)(drawn >> 8), (uint8_t)number, 1),
                     drawn, now_us);
    else if (!done[number -= STRANGER_DATA * STRANGERS + SPOOFED])
        send_unknown(host, hc_address_ipv4(198, 18, (uint8_t)(number >> 8), (uint8_t)number, 4000),
                     4096 + number, now_us);
}

void attack_reset_flood(struct attack *attack) {
    enum { TICKS = 180, ALL = STRANGER_DATA * STRANGERS + SPOOFED + RETURNERS, WAKE = 100 };
    const uint64_t begun_us = 5 * SECOND_US;
    struct hc_sv_host *host = open_host(8, 4, begun_us); // just restarted
    struct hc_rng rng = hc_rng_init(70, 1);
    static bool done[RETURNERS];
    static unsigned order[ALL];
    unsigned answered = 0;
    uint64_t now_us = begun_us, sent = 0, slowest_us = 0;
    memset(done, 0, sizeof done);
    for (unsigned i = 0; i < ALL; i++)
        order[i] = i;
    for (unsigned n = 0; n < TICKS * ALL; n++) {
        unsigned i = n % ALL, other = i + hc_rng_below(&rng, ALL - i), number = order[other];
        order[other] = order[i];
        order[i] = number;
        now_us = begun_us + (uint64_t)n * TICK_US / ALL;
        send_one(host, number, (uint32_t)hc_rng_next(&rng), done, now_us);
        if (n % WAKE != 0)
            continue;
        hc_sv_host_advance(host, now_us);
        slowest_us = answered < RETURNERS ? now_us - begun_us : slowest_us;
        answered += take_resets(host, done, &sent, now_us);
    }
    double seconds = (double)slowest_us / SECOND_US;
    attack->tries = RETURNERS;
    attack->accepted = RETURNERS - answered;
    attack_effect(attack, "%u of %d clients had a RESET, the last after %.2f s; %.0f a second",
                  answered, RETURNERS, seconds, (double)sent * 60 / TICKS);
    attack_require(attack, slowest_us < SECOND_US, "the last waited for %.2f s", seconds);
    attack_require_none(attack, RETURNERS);
    hc_sv_host_destroy(host);
}
