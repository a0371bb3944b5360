/// The simulation's event loop: the earliest deadline of a link, the host or a client runs next.
#include "tests/sim/sim.h"

#include "client/session.h"
#include "client/client.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/sim/deadlines.h"
#include "tests/sim/drifting_clock.h"
#include "tests/sim/hosts.h"
#include "tests/sim/packets.h"
#include "tests/sim/shared_links.h"
#include "tests/sim/unsealer.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    PORT_FIRST = 1024,
    TOKEN_LIFE_S = 60,
    EVENTS_AT_ONCE = 1 << 20, ///< more while no time passes: a core never meets its deadline
};

/// Purposes of random numbers; hosts.c has those before.
enum { DRAW_UP = 2, DRAW_DOWN, DRAW_CLIENT, DRAW_TOKEN, DRAW_SHARED };

struct seat {
    struct hc_sim_setup setup;
    struct hc_client *client; ///< NULL: none
    struct hc_network_sim *up, *down;
    struct hc_sim_setup running; ///< the setup as it was at the last connect
    uint8_t entropy[HC_CLIENT_ENTROPY_SIZE];
    uint64_t frozen_us; ///< the client is stopped until then
    uint32_t connects;
    uint32_t ports_taken;
    uint16_t port;
    hc_tick head; ///< newest tick that the trace has seen; HC_NO_TICK before the first
    struct hc_sim_events events;
};

struct observer {
    struct hc_sim_hooks hooks;
    void *context;
};

struct hc_sim {
    struct hc_sim_config config;
    struct observer observers[HC_SIM_OBSERVERS_MAX];
    unsigned observer_count;
    uint64_t now;
    struct hc_sim_hosts hosts;
    unsigned active;                    ///< the place of the host that a hook is about
    uint64_t frozen_us;                 ///< the hosts are stopped until then
    uint64_t issued;                    ///< tokens
    uint64_t strangers, stranger_bytes; ///< datagrams sent to them, and their bytes
    struct hc_unsealer *unsealer;
    const uint8_t *sealed; ///< the datagram that a hook receives, as it is on the wire
    uint16_t port;         ///< destination of that datagram, if the host sends it
    bool scripted;         ///< an observer has a script
    bool keys_released;    ///< nobody presses a key any more
    struct seat *seats;
    struct hc_sim_shared shared;
    /// Uplinks, downlinks, hosts, clients, shared links: so ties are decided.
    struct hc_deadlines *deadlines;
    uint64_t trace;
};

/// Calls a hook of each observer that has it.
#define OBSERVE(sim, hook, ...)                                                                    \
    for (const struct observer *o_ = (sim)->observers;                                             \
         o_ < (sim)->observers + (sim)->observer_count; o_++)                                      \
        if (o_->hooks.hook != NULL)                                                                \
    o_->hooks.hook(o_->context, __VA_ARGS__)

static void mix(struct hc_sim *sim, const void *bytes, size_t size) {
    sim->trace = XXH64(bytes, size, sim->trace);
}

static void mix_number(struct hc_sim *sim, uint64_t number) {
    sim->trace = hc_random(sim->trace ^ number, 0, 0, 0);
}

static struct seat *seat_of(const struct hc_sim *sim, unsigned client) {
    HC_ASSERT(client < sim->config.clients);
    return &sim->seats[client];
}

static uint32_t down_entry(const struct hc_sim *sim, unsigned client) {
    return sim->config.clients + client;
}

static uint32_t host_entry(const struct hc_sim *sim, unsigned place) {
    return 2 * sim->config.clients + place;
}

static uint32_t client_entry(const struct hc_sim *sim, unsigned client) {
    return 2 * sim->config.clients + HC_SIM_MATCHES_MAX + client;
}

static uint32_t shared_entry(const struct hc_sim *sim, unsigned way) {
    return client_entry(sim, 0) + sim->config.clients + way;
}

static uint64_t not_before(uint64_t when, uint64_t frozen_us) {
    return when < frozen_us ? frozen_us : when;
}

/// The client's first frame at `when` or later.
static uint64_t at_frame(const struct seat *seat, uint64_t when) {
    uint64_t frame_us = seat->running.frame_us;
    when = not_before(when, seat->frozen_us);
    return frame_us == 0 || when == UINT64_MAX ? when : (when + frame_us - 1) / frame_us * frame_us;
}

static void set_client_deadline(struct hc_sim *sim, unsigned client) {
    const struct seat *seat = seat_of(sim, client);
    uint64_t when = UINT64_MAX;
    if (seat->client != NULL)
        when = hc_sim_clock_moment(seat->running.clock_offset_us, seat->running.clock_ppm,
                                   hc_client_deadline(seat->client));
    hc_deadlines_set(sim->deadlines, client_entry(sim, client), at_frame(seat, when));
}

static void set_host_deadline(struct hc_sim *sim, unsigned place) {
    uint64_t when = UINT64_MAX;
    if (place < sim->hosts.count)
        when = hc_sim_hosts_deadline(&sim->hosts, place);
    hc_deadlines_set(sim->deadlines, host_entry(sim, place), not_before(when, sim->frozen_us));
}

static void set_host_deadlines(struct hc_sim *sim) {
    for (unsigned place = 0; place < HC_SIM_MATCHES_MAX; place++)
        set_host_deadline(sim, place);
}

/// The host that a hook is about.
static struct hc_server *active_host(const struct hc_sim *sim) {
    return sim->hosts.all[sim->active].core;
}

static void set_link_deadlines(struct hc_sim *sim, unsigned client) {
    const struct seat *seat = seat_of(sim, client);
    hc_deadlines_set(sim->deadlines, client,
                     not_before(hc_network_sim_deadline(seat->up), sim->frozen_us));
    hc_deadlines_set(sim->deadlines, down_entry(sim, client),
                     at_frame(seat, hc_network_sim_deadline(seat->down)));
}

static void set_shared_deadlines(struct hc_sim *sim) {
    for (unsigned way = 0; sim->config.shares && way < SHARED_LINKS; way++)
        hc_deadlines_set(sim->deadlines, shared_entry(sim, way),
                         not_before(hc_network_sim_deadline(sim->shared.links[way]),
                                    way == SHARED_UP ? sim->frozen_us : 0));
}

/// Opens the datagram for a hook, and stores it as it is on the wire in sim->sealed.
static const uint8_t *open_for_hook(struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                                    size_t size, uint8_t out[static HC_DATAGRAM_MAX]) {
    sim->sealed = bytes;
    return hc_unsealer_open(sim->unsealer, to_server, bytes, size, out);
}

static void poll_host_events(struct hc_sim *sim) {
    struct hc_server_event event;
    while (hc_server_poll_event(active_host(sim), &event))
        OBSERVE(sim, host_event, sim, &event);
    hc_sim_hosts_noted(&sim->hosts, sim->active, sim->now);
}

static size_t host_send(struct hc_sim *sim, struct hc_address *to, uint8_t *bytes) {
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_SEND, true);
    size_t size = hc_server_send(active_host(sim), to, bytes, hc_sim_host_now(sim));
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_SEND, false);
    return size;
}

/// The address of a client's port, as the host sees it.
static struct hc_address address_of(const struct hc_sim *sim, uint16_t port) {
    return sim->config.behind_router ? hc_address_ipv4(192, 0, 2, 1, port)
                                     : hc_address_ipv4(127, 0, 0, 1, port);
}

/// Sends all datagrams of the active host, and polls its events.
static void drain_host(struct hc_sim *sim) {
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    while ((size = host_send(sim, &to, bytes)) > 0) {
        struct hc_address known = address_of(sim, to.port);
        HC_ASSERT(hc_address_equal(&to, &known));
        if (to.port < PORT_FIRST) { // a stranger's
            sim->strangers++;
            sim->stranger_bytes += size;
            OBSERVE(sim, stranger_sent, sim, to.port, bytes, size);
            continue;
        }
        unsigned client = (to.port - PORT_FIRST) % sim->config.clients;
        sim->port = to.port;
        if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_ACCEPT)
            hc_unsealer_note_accept(sim->unsealer, bytes, size);
        OBSERVE(sim, host_sent, sim, client, open_for_hook(sim, false, bytes, size, opened), size);
        hc_packet_send(sim->config.shares ? sim->shared.links[SHARED_DOWN]
                                          : sim->seats[client].down,
                       sim->now, to.port, bytes, size);
        set_link_deadlines(sim, client);
        set_shared_deadlines(sim);
    }
    poll_host_events(sim);
    set_host_deadline(sim, sim->active);
}

static void drain_hosts(struct hc_sim *sim) {
    for (sim->active = 0; sim->active < sim->hosts.count; sim->active++)
        drain_host(sim);
    sim->active = 0;
}

/// Calls an observer's tamper hook, and seals the datagram again if it was changed; false: it is
/// not sent.
static bool tamper(struct hc_sim *sim, const struct observer *observer, unsigned client,
                   uint8_t *bytes, size_t size) {
    uint8_t opened[HC_DATAGRAM_MAX], changed[HC_DATAGRAM_MAX];
    if (observer->hooks.tamper == NULL)
        return true;
    const uint8_t *plain = open_for_hook(sim, true, bytes, size, opened);
    memcpy(changed, plain, size);
    if (!observer->hooks.tamper(observer->context, sim, client, changed, size))
        return false;
    if (memcmp(changed, plain, size) != 0)
        memcpy(bytes, hc_sim_seal(sim, true, changed, size, opened), size);
    return true;
}

/// Calls the tamper hooks of all observers, up to the first that lets the datagram not be sent.
static bool tamper_all(struct hc_sim *sim, unsigned client, uint8_t *bytes, size_t size) {
    bool sent = true;
    for (unsigned i = 0; i < sim->observer_count && sent; i++)
        sent = tamper(sim, &sim->observers[i], client, bytes, size);
    return sent;
}

static void drain_client(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    uint8_t bytes[HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    size_t size;
    while ((size = hc_client_send(seat->client, bytes, hc_sim_client_now(sim, client))) > 0) {
        if (!tamper_all(sim, client, bytes, size))
            continue;
        if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
            hc_unsealer_note_connect(sim->unsealer, bytes, size,
                                     seat->client->link.handshake.attempt.secret);
        OBSERVE(sim, client_sent, sim, client, open_for_hook(sim, true, bytes, size, opened), size);
        hc_packet_send(seat->up, sim->now, seat->port, bytes, size);
    }
    set_link_deadlines(sim, client);
}

/// Polls a client's events, adds its new tick to the trace and calls client_changed.
static void observe_client(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    struct hc_client_event event;
    while (hc_client_poll_event(seat->client, &event)) {
        seat->events.count[event.kind]++;
        seat->events.last = event;
        OBSERVE(sim, client_event, sim, client, &event);
    }
    const struct hc_timeline *timeline = hc_client_timeline(seat->client);
    hc_tick head;
    if (hc_cl_session_head(seat->client, &head)) {
        if (head != seat->head) {
            mix_number(sim, head);
            if (sim->config.trace_worlds && timeline != NULL)
                mix_number(sim, hc_timeline_hash(timeline, head));
        }
        seat->head = head;
    }
    OBSERVE(sim, client_changed, sim, client);
    set_client_deadline(sim, client);
}

/// Gives a datagram off a client's uplink to its host.
static void give_host(struct hc_sim *sim, unsigned client, uint16_t port, const uint8_t *bytes,
                      size_t size) {
    struct hc_address from = address_of(sim, port);
    enum hc_datagram_kind kind = hc_datagram_kind(bytes, size);
    uint64_t ahead_us = kind == HC_DATAGRAM_DATA ? sim->config.arrivals_ahead_us : 0;
    uint8_t opened[HC_DATAGRAM_MAX];
    struct hc_sv_placed placed;
    sim->active = hc_sim_hosts_choose(&sim->hosts, &from, bytes, size, sim->now, &placed);
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_RECEIVE, true);
    enum hc_status status = hc_sim_hosts_give(&sim->hosts, sim->active, &from, bytes, size,
                                              sim->now + ahead_us, &placed);
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_RECEIVE, false);
    // Only an accepted one: a thief's CONNECT may name another client's nonce.
    if (status == HC_OK && kind == HC_DATAGRAM_CONNECT)
        hc_unsealer_note_connect(sim->unsealer, bytes, size, NULL);
    poll_host_events(sim);
    hc_sim_hosts_finish(&sim->hosts, &placed);
    OBSERVE(sim, host_received, sim, client, port, open_for_hook(sim, true, bytes, size, opened),
            size, status);
}

static void deliver_up(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    uint8_t packet[HC_PACKET_DATAGRAM + HC_DATAGRAM_MAX];
    int length;
    while ((length = hc_network_sim_receive(seat->up, sim->now, packet, sizeof(packet))) >= 0) {
        mix_number(sim, sim->now);
        mix(sim, packet, (size_t)length);
        if (sim->config.shares)
            hc_network_sim_send(sim->shared.links[SHARED_UP], sim->now, packet, (size_t)length);
        else
            give_host(sim, client, hc_packet_port(packet), packet + HC_PACKET_DATAGRAM,
                      (size_t)length - HC_PACKET_DATAGRAM);
    }
    drain_hosts(sim);
    set_link_deadlines(sim, client);
    set_shared_deadlines(sim);
}

/// Lets what has passed a shared link go on: to the host, or to the client's downlink.
static void deliver_shared(struct hc_sim *sim, unsigned way) {
    uint8_t packet[HC_PACKET_DATAGRAM + HC_DATAGRAM_MAX];
    int length;
    while ((length = hc_network_sim_receive(sim->shared.links[way], sim->now, packet,
                                            sizeof(packet))) >= 0) {
        uint16_t port = hc_packet_port(packet);
        unsigned client = (port - PORT_FIRST) % sim->config.clients;
        if (way == SHARED_UP) {
            give_host(sim, client, port, packet + HC_PACKET_DATAGRAM,
                      (size_t)length - HC_PACKET_DATAGRAM);
        } else {
            hc_network_sim_send(sim->seats[client].down, sim->now, packet, (size_t)length);
            set_link_deadlines(sim, client);
        }
    }
    if (way == SHARED_UP)
        drain_hosts(sim);
    set_shared_deadlines(sim);
}

static void deliver_down(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    uint8_t packet[HC_PACKET_DATAGRAM + HC_DATAGRAM_MAX], opened[HC_DATAGRAM_MAX];
    int length;
    while ((length = hc_network_sim_receive(seat->down, sim->now, packet, sizeof(packet))) >= 0) {
        uint16_t port = hc_packet_port(packet);
        mix_number(sim, sim->now);
        mix(sim, packet, (size_t)length);
        if (seat->client == NULL || port != seat->port)
            continue; // the client has another port by now
        size_t size = (size_t)length - HC_PACKET_DATAGRAM;
        uint64_t now_us = hc_sim_client_now(sim, client) + sim->config.arrivals_ahead_us;
        enum hc_status status =
            hc_client_receive(seat->client, packet + HC_PACKET_DATAGRAM, size, now_us);
        OBSERVE(sim, client_received, sim, client,
                open_for_hook(sim, false, packet + HC_PACKET_DATAGRAM, size, opened), size, status);
        observe_client(sim, client);
    }
    set_link_deadlines(sim, client);
}

static void advance_host(struct hc_sim *sim, unsigned place) {
    struct hc_sim_host *host = &sim->hosts.all[place];
    sim->active = place;
    host->wakes_us = 0;
    OBSERVE(sim, host_advances, sim);
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_ADVANCE, true);
    hc_server_advance(host->core, hc_sim_host_now(sim));
    OBSERVE(sim, host_works, sim, HC_SIM_WORK_ADVANCE, false);
    poll_host_events(sim);
    const struct hc_timeline *timeline = hc_server_timeline(host->core);
    hc_tick head = hc_timeline_head(timeline);
    if (head != host->head) {
        host->head = head;
        mix_number(sim, hc_timeline_hash(timeline, head));
        OBSERVE(sim, host_ticked, sim);
    }
    drain_host(sim);
    bool renewed = hc_sim_hosts_renew(&sim->hosts, place, sim->now);
    HC_ASSERT(renewed);
    set_host_deadline(sim, place);
    sim->active = 0;
}

static void set_inputs(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    hc_tick head;
    if (!sim->scripted || !hc_cl_session_head(seat->client, &head))
        return;
    for (unsigned index = 0; index < seat->running.config.players; index++) {
        uint8_t input[HC_INPUT_MAX] = {0};
        if (!sim->keys_released)
            OBSERVE(sim, script, sim, client, index, head, input);
        hc_client_set_input(seat->client, index, input);
    }
}

static void advance_client(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    if (seat->client == NULL)
        return;
    set_inputs(sim, client);
    hc_client_advance(seat->client, hc_sim_client_now(sim, client));
    if (seat->running.frame_us > 0) // it does nothing more in this frame
        seat->frozen_us = not_before(sim->now + 1, seat->frozen_us);
    drain_client(sim, client);
    observe_client(sim, client);
}

static void dispatch(struct hc_sim *sim, uint32_t entry) {
    unsigned clients = sim->config.clients;
    if (entry < clients)
        deliver_up(sim, entry);
    else if (entry < 2 * clients)
        deliver_down(sim, entry - clients);
    else if (entry < client_entry(sim, 0))
        advance_host(sim, entry - host_entry(sim, 0));
    else if (entry < shared_entry(sim, 0))
        advance_client(sim, entry - client_entry(sim, 0));
    else
        deliver_shared(sim, entry - shared_entry(sim, 0));
}

void hc_sim_run_until(struct hc_sim *sim, uint64_t until_us) {
    HC_ASSERT(until_us >= sim->now);
    // The test may have used a core directly in the meantime.
    set_host_deadlines(sim);
    for (unsigned i = 0; i < sim->config.clients; i++) {
        set_client_deadline(sim, i);
        set_link_deadlines(sim, i);
    }
    set_shared_deadlines(sim);
    uint32_t at_once = 0;
    for (;;) {
        uint32_t entry;
        uint64_t when = hc_deadlines_first(sim->deadlines, &entry);
        if (when > until_us)
            break;
        at_once = when > sim->now ? 0 : at_once + 1;
        HC_ASSERT(at_once < EVENTS_AT_ONCE);
        if (when > sim->now)
            sim->now = when;
        dispatch(sim, entry);
    }
    sim->now = until_us;
}

void hc_sim_run(struct hc_sim *sim, uint64_t us) {
    hc_sim_run_until(sim, sim->now + us);
}

struct hc_sim_config hc_sim_config_default(const struct hc_game *game) {
    struct hc_sim_config config = {
        .host = hc_server_config_default(),
        .host_test = hc_sv_host_test_default(),
        .client = hc_client_config_default(),
        .clients = 1,
        .up = hc_network_sim_config_default(),
        .down = hc_network_sim_config_default(),
        .packets_max = 4096,
        .seed = 1,
        .trace_worlds = true,
    };
    config.host.game = game;
    config.client.game = game;
    return config;
}

static bool create_seat(struct hc_sim *sim, unsigned client) {
    struct seat *seat = &sim->seats[client];
    uint64_t seed = sim->config.seed;
    seat->setup.config = sim->config.client;
    seat->setup.allowed_players = HC_OWN_PLAYERS_MAX;
    seat->head = HC_NO_TICK;
    seat->up = hc_network_sim_create(&sim->config.up, hc_random(seed, DRAW_UP, client, 0),
                                     sim->config.packets_max, sim->config.allocator);
    seat->down = hc_network_sim_create(&sim->config.down, hc_random(seed, DRAW_DOWN, client, 0),
                                       sim->config.packets_max, sim->config.allocator);
    return seat->up != NULL && seat->down != NULL;
}

bool hc_sim_restart_hosts(struct hc_sim *sim, unsigned matches, uint16_t clients) {
    hc_sim_hosts_close(&sim->hosts);
    sim->config.host.clients = clients;
    bool opened = hc_sim_hosts_open(&sim->hosts, matches, sim->now);
    if (opened)
        set_host_deadlines(sim);
    return opened;
}

bool hc_sim_restart_host(struct hc_sim *sim) {
    return hc_sim_restart_hosts(sim, hc_sim_matches(sim), sim->config.host.clients);
}

struct hc_sim *hc_sim_create(const struct hc_sim_config *config) {
    if (config->clients < 1 || config->clients > HC_SERVER_CLIENTS_MAX)
        return NULL;
    struct hc_sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL)
        return NULL;
    sim->config = *config;
    hc_sim_observe(sim, &config->hooks, config->context);
    sim->seats = calloc(config->clients, sizeof *sim->seats);
    sim->deadlines = hc_deadlines_create(3 * config->clients + HC_SIM_MATCHES_MAX + SHARED_LINKS);
    sim->hosts = (struct hc_sim_hosts){
        .config = &sim->config.host, .test = &sim->config.host_test, .seed = config->seed};
    struct hc_token_ring ring = hc_endpoint_token_ring();
    sim->unsealer =
        hc_unsealer_create(&ring, hc_test_protocol_id(config->host.game), config->host.audience);
    bool created =
        sim->seats != NULL && sim->deadlines != NULL && sim->unsealer != NULL &&
        (!config->shares ||
         hc_sim_shared_create(&sim->shared, &config->shared_up, &config->shared_down,
                              hc_random(config->seed, DRAW_SHARED, 0, 0), config->packets_max)) &&
        hc_sim_hosts_open(&sim->hosts, config->matches, 0);
    for (unsigned i = 0; created && i < config->clients; i++)
        created = create_seat(sim, i);
    if (!created) {
        hc_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

void hc_sim_destroy(struct hc_sim *sim) {
    if (sim == NULL)
        return;
    for (unsigned i = 0; sim->seats != NULL && i < sim->config.clients; i++) {
        hc_client_destroy(sim->seats[i].client);
        hc_network_sim_destroy(sim->seats[i].up);
        hc_network_sim_destroy(sim->seats[i].down);
    }
    hc_sim_shared_destroy(&sim->shared);
    hc_sim_hosts_close(&sim->hosts);
    hc_deadlines_destroy(sim->deadlines);
    hc_unsealer_destroy(sim->unsealer);
    free(sim->seats);
    free(sim);
}

void hc_sim_observe(struct hc_sim *sim, const struct hc_sim_hooks *hooks, void *context) {
    HC_ASSERT(sim->observer_count < HC_SIM_OBSERVERS_MAX);
    sim->scripted = sim->scripted || hooks->script != NULL;
    sim->observers[sim->observer_count++] = (struct observer){.hooks = *hooks, .context = context};
}

struct hc_sim_setup *hc_sim_setup(struct hc_sim *sim, unsigned client) {
    return &seat_of(sim, client)->setup;
}

/// Takes another port for the client; the remainder of its distance to PORT_FIRST is its number.
static void take_port(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    uint32_t ports = (UINT16_MAX - PORT_FIRST) / sim->config.clients;
    uint32_t number = seat->ports_taken++ % ports;
    seat->port = (uint16_t)(PORT_FIRST + number * sim->config.clients + client);
}

/// Issues a token of `user`, whose name is padded with zeros.
static void issue_token(struct hc_sim *sim, uint64_t user,
                        const char name[static HC_TOKEN_NAME_SIZE], uint8_t players,
                        struct hc_endpoint *endpoint) {
    struct hc_token_ring ring = hc_endpoint_token_ring();
    struct hc_token token = {.players = players,
                             .watch = true,
                             .issued_s = HC_TEST_UNIX_S + sim->now / 1000000,
                             .expire_s = HC_TEST_UNIX_S + sim->now / 1000000 + TOKEN_LIFE_S,
                             .client_id = user,
                             .audience = sim->config.host.audience};
    memcpy(token.name, name, sizeof token.name);
    hc_endpoint_issue_token_as(endpoint, sim->config.host.game, &ring.keys[0], &token,
                               hc_random(sim->config.seed, DRAW_TOKEN, (uint32_t)++sim->issued, 0));
}

bool hc_sim_connect(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    struct hc_endpoint endpoint;
    HC_ASSERT(seat->setup.clock_ppm > -HC_NETWORK_SIM_PPM);
    hc_client_destroy(seat->client);
    seat->running = seat->setup;
    for (uint32_t i = 0; i < HC_CLIENT_ENTROPY_SIZE; i++)
        seat->entropy[i] =
            (uint8_t)hc_random(sim->config.seed, DRAW_CLIENT, client, seat->connects << 8 | i);
    seat->running.config.entropy = seat->entropy;
    seat->running.config.rule_hash = hc_test_rule_hash(seat->running.config.game);
    uint64_t user = seat->setup.user;
    issue_token(sim, user != 0 ? user : (uint64_t)(client + 1) << 32 | seat->connects,
                seat->setup.name, seat->setup.allowed_players, &endpoint);
    seat->running.config.credential = endpoint.credential;
    if (!seat->setup.keeps_port || seat->ports_taken == 0)
        take_port(sim, client);
    seat->connects++;
    seat->head = HC_NO_TICK;
    seat->client = (seat->running.light ? hc_cl_session_create_light : hc_client_create)(
        &seat->running.config, hc_sim_client_now(sim, client));
    set_client_deadline(sim, client);
    return seat->client != NULL;
}

void hc_sim_rebind(struct hc_sim *sim, unsigned client) {
    take_port(sim, client);
}

void hc_sim_issue_token(struct hc_sim *sim, uint64_t user, struct hc_endpoint *endpoint) {
    static const char nobody[HC_TOKEN_NAME_SIZE];
    issue_token(sim, user, nobody, HC_OWN_PLAYERS_MAX, endpoint);
}

const struct hc_endpoint *hc_sim_endpoint(const struct hc_sim *sim, uint32_t cid) {
    return hc_unsealer_endpoint(sim->unsealer, cid);
}

const uint8_t *hc_sim_seal(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t out[static HC_DATAGRAM_MAX]) {
    uint32_t cid, seq;
    if (hc_datagram_get_data_clear(bytes, size, &cid, &seq) != HC_OK ||
        hc_unsealer_endpoint(sim->unsealer, cid) == NULL)
        return bytes;
    memcpy(out, bytes, size);
    hc_endpoint_seal(hc_unsealer_endpoint(sim->unsealer, cid), to_server, out, size);
    return out;
}

void hc_sim_note_handshake(struct hc_sim *sim, const uint8_t *bytes, size_t size) {
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
        hc_unsealer_note_connect(sim->unsealer, bytes, size, NULL);
    if (hc_datagram_kind(bytes, size) == HC_DATAGRAM_ACCEPT)
        hc_unsealer_note_accept(sim->unsealer, bytes, size);
}

const uint8_t *hc_sim_open(const struct hc_sim *sim, bool to_server, const uint8_t *bytes,
                           size_t size, uint8_t out[static HC_DATAGRAM_MAX]) {
    return hc_unsealer_open(sim->unsealer, to_server, bytes, size, out);
}

uint64_t hc_sim_strangers(const struct hc_sim *sim, uint64_t *bytes) {
    *bytes = sim->stranger_bytes;
    return sim->strangers;
}

const uint8_t *hc_sim_sealed(const struct hc_sim *sim) {
    return sim->sealed;
}

void hc_sim_leave(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    HC_ASSERT(seat->client != NULL);
    hc_client_leave(seat->client, hc_sim_client_now(sim, client));
    set_client_deadline(sim, client);
}

void hc_sim_kill(struct hc_sim *sim, unsigned client) {
    struct seat *seat = seat_of(sim, client);
    hc_client_destroy(seat->client);
    seat->client = NULL;
    set_client_deadline(sim, client);
}

void hc_sim_set_link(struct hc_sim *sim, unsigned client, const struct hc_network_sim_config *up,
                     const struct hc_network_sim_config *down) {
    struct seat *seat = seat_of(sim, client);
    enum hc_status set_up = up != NULL ? hc_network_sim_set_config(seat->up, sim->now, up) : HC_OK;
    enum hc_status set_down =
        down != NULL ? hc_network_sim_set_config(seat->down, sim->now, down) : HC_OK;
    HC_ASSERT(set_up == HC_OK && set_down == HC_OK);
    set_link_deadlines(sim, client);
}

void hc_sim_set_shared(struct hc_sim *sim, const struct hc_network_sim_config *up,
                       const struct hc_network_sim_config *down) {
    HC_ASSERT(sim->config.shares);
    hc_sim_shared_set(&sim->shared, up, down, sim->now);
}

void hc_sim_freeze_host(struct hc_sim *sim, uint64_t until_us) {
    sim->frozen_us = until_us;
    set_host_deadlines(sim);
    for (unsigned i = 0; i < sim->config.clients; i++)
        set_link_deadlines(sim, i);
}

void hc_sim_freeze_client(struct hc_sim *sim, unsigned client, uint64_t until_us) {
    seat_of(sim, client)->frozen_us = until_us;
    set_client_deadline(sim, client);
    set_link_deadlines(sim, client);
}

void hc_sim_jump_clock(struct hc_sim *sim, unsigned client, int64_t us) {
    seat_of(sim, client)->running.clock_offset_us += (uint64_t)us;
    set_client_deadline(sim, client);
}

void hc_sim_set_host_clock(struct hc_sim *sim, int64_t by_us) {
    hc_sim_hosts_set_clock(&sim->hosts, by_us);
    set_host_deadlines(sim);
}

void hc_sim_release_keys(struct hc_sim *sim) {
    sim->keys_released = true;
}

void hc_sim_inject(struct hc_sim *sim, unsigned client, uint16_t port, const uint8_t *bytes,
                   size_t size) {
    hc_packet_send(seat_of(sim, client)->up, sim->now, port, bytes, size);
    set_link_deadlines(sim, client);
}

void hc_sim_relay(struct hc_sim *sim, unsigned client, const uint8_t *bytes, size_t size) {
    hc_packet_send(seat_of(sim, client)->down, sim->now, seat_of(sim, client)->port, bytes, size);
    set_link_deadlines(sim, client);
}

uint16_t hc_sim_port(const struct hc_sim *sim) {
    return sim->port;
}

void hc_sim_shutdown(struct hc_sim *sim) {
    for (unsigned place = 0; place < sim->hosts.count; place++)
        hc_server_shutdown(sim->hosts.all[place].core, hc_sim_host_now(sim));
    set_host_deadlines(sim);
}

void hc_sim_announce_restart(struct hc_sim *sim, uint32_t seconds) {
    for (unsigned place = 0; place < sim->hosts.count; place++)
        hc_server_restart(sim->hosts.all[place].core, seconds, hc_sim_host_now(sim));
    set_host_deadlines(sim);
}

uint64_t hc_sim_now(const struct hc_sim *sim) {
    return sim->now;
}

uint64_t hc_sim_host_now(const struct hc_sim *sim) {
    return hc_sim_hosts_clock(&sim->hosts, sim->now);
}

uint64_t hc_sim_client_now(const struct hc_sim *sim, unsigned client) {
    const struct hc_sim_setup *running = &seat_of(sim, client)->running;
    return hc_sim_clock(running->clock_offset_us, running->clock_ppm, sim->now);
}

uint64_t hc_sim_trace(const struct hc_sim *sim) {
    return sim->trace;
}

unsigned hc_sim_clients(const struct hc_sim *sim) {
    return sim->config.clients;
}

const struct hc_sim_config *hc_sim_config(const struct hc_sim *sim) {
    return &sim->config;
}

unsigned hc_sim_matches(const struct hc_sim *sim) {
    return sim->hosts.placement != NULL ? sim->hosts.count : 0;
}

unsigned hc_sim_active(const struct hc_sim *sim) {
    return sim->active;
}

struct hc_server *hc_sim_match(struct hc_sim *sim, unsigned place) {
    HC_ASSERT(place < sim->hosts.count);
    return sim->hosts.all[place].core;
}

struct hc_server *hc_sim_host(struct hc_sim *sim) {
    return active_host(sim);
}

const struct hc_client_config *hc_sim_client_config(const struct hc_sim *sim, unsigned client) {
    return &seat_of(sim, client)->running.config;
}

struct hc_client *hc_sim_client(struct hc_sim *sim, unsigned client) {
    return seat_of(sim, client)->client;
}

struct hc_address hc_sim_address(const struct hc_sim *sim, unsigned client) {
    return address_of(sim, seat_of(sim, client)->port);
}

const struct hc_sim_events *hc_sim_events(const struct hc_sim *sim, unsigned client) {
    return &seat_of(sim, client)->events;
}

struct hc_network_sim_stats hc_sim_up_stats(const struct hc_sim *sim, unsigned client) {
    return hc_network_sim_stats(seat_of(sim, client)->up);
}

struct hc_network_sim_stats hc_sim_down_stats(const struct hc_sim *sim, unsigned client) {
    return hc_network_sim_stats(seat_of(sim, client)->down);
}
