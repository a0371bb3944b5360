/// Clients of one match that move and leave faster than the program reads the server's events.
#include "tests/attack/attack.h"
#include "tests/sim/raw_client.h"

#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "tests/sim/hosts.h"

#include <string.h>

enum {
    MATCHES = 2,
    CLIENTS = 96, ///< of a match; three events of each are more than any queue of 256 holds
    ROUNDS = 12,
    TICK_US = 16667,
    SECOND_US = 1000000,
    HOME_PORT = 4000,
    OTHER_PORT = 4001,
};

/// A port with several matches, and the clients of the first one.
struct port {
    struct hc_server_config config;
    struct hc_sv_host_test test;
    struct hc_sim_hosts hosts;
    uint64_t now_us, serial; ///< time since the beginning; of the newest token
    struct raw_client clients[CLIENTS];
    uint8_t challenges[CLIENTS][HC_PATH_SIZE]; ///< of their other addresses
    bool left[256];                            ///< LEFT was read
};

static void open_port(struct port *port) {
    *port = (struct port){.config = hc_test_server_config(&hc_arena),
                          .test = hc_sv_host_test_default(),
                          .hosts = {.config = &port->config, .test = &port->test, .seed = 7}};
    port->config.clients = CLIENTS;
    bool opened = hc_sim_hosts_open(&port->hosts, MATCHES, 0);
    HC_ASSERT(opened);
}

/// The time of the hosts.
static uint64_t host_now(const struct port *port) {
    return HC_SIM_HOST_EPOCH_US + port->now_us;
}

/// The place of a client in `clients`, from its address.
static unsigned place_of(const struct hc_address *address) {
    return address->ip[15];
}

/// Reads the events of the match at `place`, and gives the placement its sessions.
static void read_events(struct port *port, unsigned place) {
    struct hc_server_event event;
    while (hc_server_poll_event(port->hosts.all[place].core, &event))
        if (event.kind == HC_SERVER_EVENT_LEFT)
            port->left[place_of(&event.address)] = true;
    hc_sim_hosts_noted(&port->hosts, place, port->now_us);
}

/// Connects another user, whose token names no match, at the address of a place; returns the match
/// that admits it, 0: none does.
static uint16_t join(struct port *port, struct raw_client *raw, uint8_t place) {
    uint8_t bytes[HC_DATAGRAM_CONNECT_SIZE];
    struct hc_sv_placed placed;
    uint64_t user = ++port->serial, now_us = host_now(port);
    raw_client_begin(raw, port->hosts.all[0].core, hc_address_ipv4(127, 9, 0, place, HOME_PORT),
                     user, user);
    if (!raw_client_hello(raw, now_us))
        return 0;
    hc_endpoint_compute_key(&raw->endpoint);
    raw_client_write_connect(raw, 1, bytes);
    unsigned match = hc_sim_hosts_choose(&port->hosts, &raw->address, bytes, sizeof bytes,
                                         port->now_us, &placed);
    if (placed.match == 0)
        return 0;
    raw->host = port->hosts.all[match].core;
    raw->size = 0;
    hc_sim_hosts_give(&port->hosts, match, &raw->address, bytes, sizeof bytes, port->now_us,
                      &placed);
    if (raw_client_take_answer(raw, now_us) == HC_DATAGRAM_ACCEPT)
        raw_client_send_data(raw, NULL, 0, now_us);
    read_events(port, match);
    hc_sim_hosts_finish(&port->hosts, &placed);
    return raw->cid != 0 ? placed.match : 0;
}

/// Stores the PATH_CHALLENGE of a DATA that goes to a client's other address.
static void store_challenge(struct port *port, const struct hc_address *to, const uint8_t *bytes,
                            size_t size) {
    static struct hc_body body;
    unsigned place = place_of(to);
    uint8_t opened[HC_DATAGRAM_MAX];
    if (raw_client_find(&port->clients[place], bytes, size, HC_MESSAGE_PATH_CHALLENGE, opened,
                        &body))
        (void)hc_message_get_path(&body, port->challenges[place]);
}

/// Runs the matches to the next tick, and takes the challenges; all else is lost.
static void next_tick(struct port *port) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    port->now_us += TICK_US;
    for (unsigned i = 0; i < MATCHES; i++) {
        if (port->hosts.all[i].idle)
            continue;
        hc_server_advance(port->hosts.all[i].core, host_now(port));
        while ((size = hc_server_send(port->hosts.all[i].core, &to, bytes, host_now(port))) > 0)
            if (to.port == OTHER_PORT)
                store_challenge(port, &to, bytes, size);
    }
}

/// Sends a DATA of the client from a port of its address.
static void send_from(struct port *port, struct raw_client *raw, uint16_t from,
                      const struct hc_writer *body) {
    size_t size = body != NULL ? body->at : 0;
    raw->address.port = from;
    raw_client_send_data(raw, body != NULL ? body->data : NULL, size, host_now(port));
    raw->address.port = HOME_PORT;
}

/// The client answers the challenge of its other address, is at home again, and leaves.
static void move_and_leave(struct port *port, unsigned place) {
    struct raw_client *raw = &port->clients[place];
    uint8_t response[HC_PATH_MESSAGE_SIZE], bytes[16];
    struct hc_writer answer = hc_bytes_writer(response, sizeof response);
    struct hc_writer close = hc_bytes_writer(bytes, sizeof bytes);
    hc_message_put_path(&answer, HC_MESSAGE_PATH_RESPONSE, port->challenges[place]);
    hc_message_put_close(&close, &(struct hc_close){.reason = HC_CLOSE_LEFT});
    send_from(port, raw, OTHER_PORT, &answer);
    send_from(port, raw, HOME_PORT, NULL);
    send_from(port, raw, HOME_PORT, &close);
}

/// Fills the first match with clients that all move twice and leave in one tick.
static void play_round(struct attack *attack, struct port *port) {
    const struct hc_server_stats *stats = hc_server_stats(port->hosts.all[0].core);
    uint64_t moved = stats->moved;
    unsigned admitted = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        admitted += join(port, &port->clients[i], (uint8_t)i) == 1;
    attack_require(attack, admitted == CLIENTS, "%u of %d have a place in an empty match", admitted,
                   CLIENTS);
    for (unsigned i = 0; i < CLIENTS; i++)
        send_from(port, &port->clients[i], OTHER_PORT, NULL);
    next_tick(port);
    memset(port->left, 0, sizeof port->left);
    for (unsigned i = 0; i < CLIENTS; i++)
        move_and_leave(port, i);
    attack_require(attack, stats->moved - moved == 2 * CLIENTS, "only %llu moves",
                   (unsigned long long)(stats->moved - moved));
    next_tick(port);
    for (unsigned match = 0; match < MATCHES; match++)
        read_events(port, match);
    for (unsigned i = 0; i < CLIENTS; i++)
        attack_try(attack, !port->left[i]);
    attack_require(attack, hc_server_sessions(port->hosts.all[0].core, NULL, 0) == 0,
                   "a session has not ended");
}

void attack_lost_ends(struct attack *attack) {
    static struct port port;
    struct raw_client raw;
    unsigned admitted = 0;
    open_port(&port);
    for (unsigned round = 0; round < ROUNDS; round++) {
        play_round(attack, &port);
        port.now_us += 2 * (uint64_t)SECOND_US;
    }
    for (unsigned i = 0; i < MATCHES * CLIENTS; i++)
        admitted += join(&port, &raw, (uint8_t)i) == 1 + i / CLIENTS;
    attack_require(attack, admitted == MATCHES * CLIENTS, "%u of %d places are left", admitted,
                   MATCHES * CLIENTS);
    attack_require(attack, join(&port, &raw, MATCHES * CLIENTS) == 0,
                   "a client has a place in a full match");
    attack_require(attack, hc_sv_placement_most(port.hosts.placement) == MATCHES * CLIENTS,
                   "the placement counted %u sessions at once",
                   hc_sv_placement_most(port.hosts.placement));
    attack_effect(attack,
                  "%d times %d clients moved twice and left in one tick; %u of %d places "
                  "are left",
                  ROUNDS, CLIENTS, admitted, MATCHES * CLIENTS);
    attack_require_none(attack, ROUNDS * CLIENTS);
    hc_sim_hosts_close(&port.hosts);
}
