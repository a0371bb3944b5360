/// Owns the socket of the query port: who is answered, how often, and what.
#include "server/daemon/query_port.h"

#include "common/elapsed.h"
#include "common/limit.h"
#include "common/programs/clock.h"
#include "common/programs/loop.h"
#include "server/daemon/http_peer.h"
#include "server/daemon/query.h"
#include "server/daemon/udp.h"

#include <event2/event.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BATCH = 32,             ///< datagrams that are read at once
    PAUSE_US = 10000,       ///< from one whole batch to the next
    RECEIVE_BUFFER = 65536, ///< bytes
    LIMITS = 1024,          ///< places of addresses, which some share
    COST_US = 50000,        ///< of a datagram to one address: 20 a second
    BURST_US = 1000000,     ///< of one address: 20 at once
    COST_ALL_US = 2000,     ///< of an answer to any address: 500 a second
    BURST_ALL_US = 500000,  ///< of all addresses: 250 at once
    WAITING_MAX = 64,       ///< requests that wait for the list of players
    FRESH_US = 1000000,     ///< a list of players is given again for so long
};

/// A request for the players.
struct waiting {
    struct sockaddr_storage to;
    socklen_t size;
};

struct hc_sv_query_port {
    struct hc_sv_control *control;
    uint16_t game_port;
    int descriptor; ///< -1: none
    struct event *readable, *pause;
    uint8_t key[HC_SV_QUERY_KEY_SIZE];
    uint64_t unproven_us[LIMITS], proven_us[LIMITS]; ///< see hc_limit_exceeds
    uint64_t all_us;
    uint32_t answers; ///< that were sent in pieces
    unsigned waiting_count;
    struct waiting waiting[WAITING_MAX]; ///< [waiting_count]
    uint64_t listed_us;                  ///< when the players were listed; 0: not yet
    uint32_t player_count;
    struct hc_sv_query_player players[HC_SV_QUERY_PLAYERS_MAX]; ///< [player_count]
    uint8_t answer[HC_SV_QUERY_ANSWER_MAX];
};

// ---- Sending ------------------------------------------------------------------------------------

static void send_to(const struct hc_sv_query_port *port, const struct waiting *to,
                    const uint8_t *bytes, size_t size) {
    (void)sendto(port->descriptor, bytes, size, MSG_DONTWAIT, (const struct sockaddr *)&to->to,
                 to->size); // a lost answer is asked for again
}

/// Sends an answer of `size` bytes.
static void send_answer(struct hc_sv_query_port *port, const struct waiting *to, size_t size) {
    uint8_t piece[HC_SV_QUERY_PIECE_MAX];
    unsigned pieces = hc_sv_query_pieces(size);
    port->answers += pieces > 1;
    for (unsigned i = 0; i < pieces; i++)
        send_to(port, to, piece,
                hc_sv_query_put_piece(port->answer, size, port->answers, i, piece));
}

// ---- Info and rules -----------------------------------------------------------------------------

static void answer_info(struct hc_sv_query_port *port, const struct waiting *to) {
    const struct hc_sv_control *control = port->control;
    const struct hc_sv_options *options = control->options;
    const struct hc_game *game = options->plugin.game;
    uint32_t bots = (uint32_t)options->npcs * options->matches, players = bots;
    for (unsigned i = 0; i < options->workers; i++)
        players += hc_sv_worker_clients(&control->workers[i]);
    const struct hc_sv_query_info info = {.name = options->query_name,
                                          .map = game->name,
                                          .folder = game->name,
                                          .game = game->name,
                                          .version = control->setting->version,
                                          .tags = "hindcast",
                                          .port = port->game_port,
                                          .players = players,
                                          .players_max =
                                              (uint32_t)options->clients * options->matches,
                                          .bots = bots,
                                          .password = !options->dev};
    send_answer(port, to, hc_sv_query_put_info(&info, port->answer));
}

static void answer_rules(struct hc_sv_query_port *port, const struct waiting *to) {
    const struct hc_sv_options *options = port->control->options;
    const struct hc_plugin *plugin = &options->plugin;
    char game_version[16], id[24], rate[16], matches[16], history[16];
    snprintf(game_version, sizeof(game_version), "%u", (unsigned)plugin->game->version);
    snprintf(id, sizeof(id), "0x%016" PRIx64,
             hc_datagram_protocol_id(plugin->game, plugin->rule_hash));
    snprintf(rate, sizeof(rate), "%u", (unsigned)options->tick_rate);
    snprintf(matches, sizeof(matches), "%u", (unsigned)options->matches);
    snprintf(history, sizeof(history), "%u", (unsigned)options->history);
    const struct hc_sv_query_rule rules[] = {
        {"game_version", game_version},
        {"protocol_id", id},
        {"tick_rate_hz", rate},
        {"history_ticks", history},
        {"matches", matches},
        {"ready", hc_sv_control_is_ready(port->control) ? "1" : "0"}};
    send_answer(port, to,
                hc_sv_query_put_rules(rules, sizeof(rules) / sizeof(*rules), port->answer));
}

// ---- Players ------------------------------------------------------------------------------------

static void answer_players(struct hc_sv_query_port *port, const struct waiting *to) {
    send_answer(port, to, hc_sv_query_put_players(port->players, port->player_count, port->answer));
}

/// Copies the clients of a match that are connected and play.
static void take_players(struct hc_sv_query_port *port, const struct hc_sv_match *match) {
    for (uint32_t i = 0; i < match->listed_count; i++) {
        const struct hc_server_client *client = &match->listed[i];
        if (!client->session.connected || client->session.player_count == 0 ||
            port->player_count == HC_SV_QUERY_PLAYERS_MAX)
            continue;
        struct hc_sv_query_player *player = &port->players[port->player_count++];
        *player =
            (struct hc_sv_query_player){.seconds = (uint32_t)(client->connected_us / 1000000)};
        memcpy(player->name, client->name, sizeof(client->name));
    }
}

/// The workers have listed their clients, but those of matches that hang.
static void on_listed(void *context) {
    struct hc_sv_query_port *port = context;
    const struct hc_sv_control *control = port->control;
    port->player_count = 0;
    port->listed_us = hc_clock_us();
    for (unsigned number = 1; number <= control->options->matches; number++)
        if (hc_sv_control_has_published(control,
                                        hc_sv_worker_of(number, control->options->workers)) &&
            !hc_sv_control_match_hangs(control, number))
            take_players(port, hc_sv_worker_match(control->workers, number));
    for (unsigned i = 0; i < port->waiting_count; i++)
        answer_players(port, &port->waiting[i]);
    port->waiting_count = 0;
}

/// Answers with a list of players that is not older than a second.
static void ask_players(struct hc_sv_query_port *port, const struct waiting *to) {
    if (port->listed_us != 0 && hc_since(port->listed_us, hc_clock_us()) < FRESH_US) {
        answer_players(port, to);
        return;
    }
    if (port->waiting_count == WAITING_MAX)
        return; // it is asked again
    port->waiting[port->waiting_count++] = *to;
    hc_sv_control_ask(port->control);
}

// ---- Requests -----------------------------------------------------------------------------------

/// The place of the part of an address that is one user's.
static unsigned place_of(const struct hc_sv_query_port *port, const struct sockaddr_storage *from) {
    const struct hc_sv_http_peer peer = hc_sv_http_peer(from);
    uint8_t hash[crypto_shorthash_BYTES];
    crypto_shorthash(hash, peer.bytes, sizeof(peer.bytes), port->key);
    return (hash[0] | (unsigned)hash[1] << 8) % LIMITS;
}

static void on_request(struct hc_sv_query_port *port, const struct waiting *from,
                       const uint8_t *bytes, size_t size, uint64_t now) {
    struct hc_sv_query query = hc_sv_query_read(bytes, size);
    struct hc_address address = hc_sv_udp_from_system(&from->to);
    unsigned place = place_of(port, &from->to);
    uint8_t challenge[HC_SV_QUERY_CHALLENGE_SIZE];
    if (query.kind == HC_SV_QUERY_NONE)
        return;
    if (!hc_sv_query_is_proven(&query, port->key, &address, now)) {
        if (hc_limit_exceeds(&port->unproven_us[place], COST_US, BURST_US, now))
            return;
        hc_sv_query_put_challenge(hc_sv_query_challenge(port->key, &address, now), challenge);
        send_to(port, from, challenge, sizeof(challenge));
        return;
    }
    if (hc_limit_exceeds(&port->proven_us[place], COST_US, BURST_US, now) ||
        hc_limit_exceeds(&port->all_us, COST_ALL_US, BURST_ALL_US, now))
        return;
    if (query.kind == HC_SV_QUERY_INFO)
        answer_info(port, from);
    else if (query.kind == HC_SV_QUERY_RULES)
        answer_rules(port, from);
    else
        ask_players(port, from);
}

static void on_readable(evutil_socket_t descriptor, short events, void *context) {
    struct hc_sv_query_port *port = context;
    uint8_t bytes[HC_SV_QUERY_REQUEST_MAX + 1]; // the last one shows that a datagram is longer
    const struct timeval wait = hc_clock_span(PAUSE_US);
    uint64_t now = hc_clock_us();
    (void)events;
    for (unsigned i = 0; i < BATCH; i++) {
        struct waiting from = {.size = sizeof(from.to)};
        ssize_t size = recvfrom(descriptor, bytes, sizeof(bytes), MSG_DONTWAIT,
                                (struct sockaddr *)&from.to, &from.size);
        if (size < 0)
            return;
        on_request(port, &from, bytes, (size_t)size, now);
    }
    event_del(port->readable);
    evtimer_add(port->pause, &wait);
}

static void on_pause(evutil_socket_t descriptor, short events, void *context) {
    const struct hc_sv_query_port *port = context;
    (void)descriptor;
    (void)events;
    event_add(port->readable, NULL);
}

// ---- Lifecycle ----------------------------------------------------------------------------------

/// Opens the socket and its events; false: `why` is a sentence.
static bool open_port(struct hc_sv_query_port *port, char *why, size_t why_size) {
    struct hc_sv_control *control = port->control;
    const struct hc_sv_options *options = control->options;
    int size = RECEIVE_BUFFER;
    sa_family_t family;
    port->descriptor =
        hc_sv_udp_bind(options->bind, "--query-port", options->query_port, &family, why, why_size);
    if (port->descriptor < 0)
        return false;
    setsockopt(port->descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    randombytes_buf(port->key, sizeof(port->key));
    port->readable =
        event_new(control->base, port->descriptor, EV_READ | EV_PERSIST, on_readable, port);
    port->pause = evtimer_new(control->base, on_pause, port);
    snprintf(why, why_size, "--query-port %u: no memory", options->query_port);
    if (port->pause == NULL || !hc_loop_add(port->readable))
        return false;
    hc_sv_control_add_reader(control, on_listed, port);
    hc_sv_log_event(control->log, HC_SV_LOG_INFO, "query-open",
                    json_pack("{s:i}", "port", (int)options->query_port));
    return true;
}

struct hc_sv_query_port *hc_sv_query_port_open(struct hc_sv_control *control, uint16_t game_port,
                                               char *why, size_t why_size) {
    why[0] = '\0';
    if (control->options->query_port == 0)
        return NULL;
    struct hc_sv_query_port *port = calloc(1, sizeof(*port));
    snprintf(why, why_size, "--query-port %u: no memory", control->options->query_port);
    if (port == NULL)
        return NULL;
    port->control = control;
    port->game_port = game_port;
    port->descriptor = -1;
    if (open_port(port, why, why_size))
        return port;
    hc_sv_query_port_close(port);
    return NULL;
}

void hc_sv_query_port_close(struct hc_sv_query_port *port) {
    if (port == NULL)
        return;
    hc_loop_free_event(port->readable);
    hc_loop_free_event(port->pause);
    if (port->descriptor >= 0)
        close(port->descriptor);
    sodium_memzero(port, sizeof(*port));
    free(port);
}
