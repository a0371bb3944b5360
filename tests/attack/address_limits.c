/// Limits of one network address: connected clients, and RESETs; the searches for a user or an
/// address.
#include "server/state.h"
#include "tests/attack/attack.h"
#include "tests/attack/target.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"

#include <string.h>

enum { SECOND_US = 1000000, TICK_US = 16667 };

static struct raw_host open_host(uint16_t clients, uint16_t per_address) {
    struct hc_server_config config = hc_test_server_config(&hc_arena);
    config.clients = clients;
    config.clients_per_address = per_address;
    return raw_host_create(&config);
}

// ---- Clients that move --------------------------------------------------------------------------

enum { MOVERS = 12, ALLOWED = 4, HOUSE_PORT = 1000 };

/// Clients that move to one address.
struct house {
    struct raw_host target;
    struct raw_client clients[MOVERS];
};

/// Answers the PATH_CHALLENGE in a DATA from the challenged address.
static void answer_challenge(void *context, const struct hc_address *to, const uint8_t *bytes,
                             size_t size) {
    static struct hc_body body;
    struct house *house = context;
    uint8_t opened[HC_DATAGRAM_MAX], answer[HC_PATH_MESSAGE_SIZE], data[HC_PATH_SIZE];
    struct hc_writer writer = hc_bytes_writer(answer, sizeof answer);
    if (to->ip[12] != 192)
        return;
    struct raw_client *raw = &house->clients[to->port - HOUSE_PORT];
    if (!raw_client_find(raw, bytes, size, HC_MESSAGE_PATH_CHALLENGE, opened, &body) ||
        hc_message_get_path(&body, data) != HC_OK)
        return;
    hc_message_put_path(&writer, HC_MESSAGE_PATH_RESPONSE, data);
    raw_client_send_data(raw, answer, writer.at, house->target.now_us);
}

void attack_address_clients(struct attack *attack) {
    enum { TICKS = 300 };
    struct house house = {.target = open_host(MOVERS, ALLOWED)};
    struct hc_server *host = house.target.host;
    house.target.sent = answer_challenge;
    house.target.context = &house;
    for (unsigned i = 0; i < MOVERS; i++) {
        struct raw_client *raw = &house.clients[i];
        raw_client_begin(raw, host, hc_address_ipv4(198, 51, 100, (uint8_t)i, 4000), 1 + i, 1 + i);
        attack_require(attack, raw_client_join(raw, 1, house.target.now_us), "no client can join");
        raw->address = hc_address_ipv4(192, 0, 2, 1, (uint16_t)(HOUSE_PORT + i));
    }
    for (unsigned tick = 0; tick < TICKS; tick++) {
        for (unsigned i = 0; i < MOVERS; i++)
            raw_client_send_data(&house.clients[i], NULL, 0, house.target.now_us);
        raw_host_run(&house.target, TICK_US, NULL);
    }
    uint64_t moved = hc_server_stats(host)->moved;
    attack->tries = MOVERS;
    attack->accepted = moved > ALLOWED ? moved - ALLOWED : 0;
    attack_effect(attack, "%llu of %d clients moved to an address of %d", (unsigned long long)moved,
                  MOVERS, ALLOWED);
    attack_require(attack, moved == ALLOWED, "%llu moved", (unsigned long long)moved);
    attack_require(attack, hc_server_clients(host) == MOVERS, "a session was ended");
    attack_require_none(attack, MOVERS);
    raw_host_destroy(&house.target);
}

// ---- RESETs -------------------------------------------------------------------------------------

enum { RETURNERS = 512, STRANGERS = 200, STRANGER_DATA = 20, SPOOFED = 300 };

/// A DATA of a connection that the host does not know.
static void send_unknown(struct hc_server *host, struct hc_address from, uint32_t cid,
                         uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_data data = {.cid = cid, .seq = 2};
    size_t size = hc_datagram_put_data(&data, bytes);
    hc_server_receive(host, &from, bytes, size, now_us);
}

/// Counts the returning clients that were sent a RESET for the first time.
static unsigned take_resets(struct hc_server *host, bool done[static RETURNERS], uint64_t *sent,
                            uint64_t now_us) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    unsigned count = 0;
    while (hc_server_send(host, &to, bytes, now_us) > 0) {
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
static void send_one(struct hc_server *host, unsigned number, uint32_t drawn,
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
    struct raw_host target = open_host(8, 4); // just restarted
    struct hc_server *host = target.host;
    const uint64_t begun_us = target.now_us;
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
        hc_server_advance(host, now_us);
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
    raw_host_destroy(&target);
}

// ---- Searches -----------------------------------------------------------------------------------

enum { ASKED = 200 };

/// A server with connected clients and remembered connections for all its places but two, and the
/// account that makes it search.
struct searched {
    struct raw_host target;
    struct raw_client player, again;
    uint8_t connect[HC_DATAGRAM_CONNECT_SIZE];
};

static void open_searched(struct attack *attack, struct searched *searched, uint16_t clients) {
    static struct raw_client other;
    searched->target = target_create(clients);
    struct hc_server *host = searched->target.host;
    uint64_t now_us = searched->target.now_us;
    for (uint16_t i = 0; i + 2 < clients; i++) {
        raw_client_begin(&other, host, hc_address_ipv4(127, 0, 0, 1, 1000 + i), 100 + i, 100 + i);
        attack_require(attack, raw_client_join(&other, 1, now_us), "a client cannot join");
        for (unsigned ended = 0; ended < HC_SV_ENDED_EACH; ended++)
            hc_sv_clients_ended(&host->clients, hc_sv_clients_of_cid(&host->clients, other.cid),
                                false, true, now_us);
    }
    raw_client_begin(&searched->player, host, hc_address_ipv4(198, 51, 100, 1, 4000), 7, 7);
    attack_require(attack, raw_client_join(&searched->player, 1, now_us), "it cannot join");
    raw_client_send_data(&searched->player, NULL, 0, now_us);
    raw_client_begin(&searched->again, host, hc_address_ipv4(198, 51, 100, 2, 4000), 7, 8);
    attack_require(attack, raw_client_hello(&searched->again, now_us), "no COOKIE comes");
    raw_client_write_connect(&searched->again, 1, searched->connect);
}

/// Counts what the searches for CONNECTs of an account that is connected read from the host.
static uint64_t ask_by_connect(struct attack *attack, struct searched *searched) {
    const struct hc_sv_search *search = &searched->target.host->clients.search;
    uint64_t before = search->matches;
    for (unsigned i = 0; i < ASKED; i++)
        attack_try(attack, raw_client_send_connect(&searched->again, searched->connect,
                                                   searched->target.now_us) != HC_DATAGRAM_DENY);
    return search->matches - before;
}

/// The same for DATA of a client, each from another address.
static uint64_t ask_by_address(struct attack *attack, struct searched *searched) {
    const struct hc_sv_search *search = &searched->target.host->clients.search;
    uint64_t before = search->matches;
    for (unsigned i = 0; i < ASKED; i++) {
        searched->player.address = hc_address_ipv4(10, 1, (uint8_t)i, 1, 4000);
        attack_try(attack, raw_client_send_data(&searched->player, NULL, 0,
                                                searched->target.now_us + i * TICK_US) != HC_OK);
    }
    return search->matches - before;
}

void attack_searches(struct attack *attack) {
    enum { FEW = 32, MANY = 2048, TAGS = 1 << 15 };
    static struct searched few, many;
    open_searched(attack, &few, FEW);
    open_searched(attack, &many, MANY);
    uint64_t connect = ask_by_connect(attack, &few), connect_many = ask_by_connect(attack, &many);
    uint64_t address = ask_by_address(attack, &few), address_many = ask_by_address(attack, &many);
    // So many connections share a tag on average; here all of a ring are of one user.
    uint64_t most = connect + (uint64_t)ASKED * (1 + MANY * HC_SV_ENDED_EACH / TAGS);
    attack_require(attack, connect >= ASKED, "a CONNECT searches nobody");
    attack_require(attack, connect_many <= most, "%d CONNECTs read %llu places", ASKED,
                   (unsigned long long)connect_many);
    attack_require(attack, address_many <= address + ASKED / 10, "%d DATA read %llu places", ASKED,
                   (unsigned long long)address_many);
    attack_effect(attack,
                  "with %d clients %d denied CONNECTs read %llu places, and with %d %llu; so many "
                  "DATA from new addresses %llu and %llu",
                  MANY, ASKED, (unsigned long long)connect_many, FEW, (unsigned long long)connect,
                  (unsigned long long)address_many, (unsigned long long)address);
    attack_require_none(attack, 4 * ASKED);
    raw_host_destroy(&few.target);
    raw_host_destroy(&many.target);
}
