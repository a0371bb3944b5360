/// The hosts, and the placement of clients in them.
#include "tests/sim/hosts.h"

#include "common/elapsed.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/sim/endpoint.h"

#include <string.h>

enum { EMPTY_US = 2000000 }; ///< a match without clients gets another world after this

/// Purposes of random numbers.
enum { DRAW_WORLD, DRAW_SECRET, DRAW_COOKIES = 100 };

uint64_t hc_sim_hosts_clock(const struct hc_sim_hosts *hosts, uint64_t now_us) {
    return HC_SIM_HOST_EPOCH_US + now_us + (uint64_t)hosts->set_us;
}

void hc_sim_hosts_set_clock(struct hc_sim_hosts *hosts, int64_t by_us) {
    for (unsigned i = 0; i < hosts->count; i++)
        hosts->all[i].wakes_us = hc_sim_hosts_deadline(hosts, i);
    hosts->set_us += by_us;
}

/// A host with the next world; NULL: an invalid configuration or no memory.
static struct hc_server *create(struct hc_sim_hosts *hosts, unsigned place, uint64_t now_us) {
    struct hc_server_config *config = hosts->config;
    bool many = hosts->placement != NULL;
    uint32_t world = hosts->worlds++;
    config->seed = hc_random(hosts->seed, DRAW_WORLD, world, 0);
    for (uint32_t i = 0; i < HC_SERVER_SECRET_SIZE; i++)
        hosts->secret[i] = (uint8_t)hc_random(hosts->seed, DRAW_SECRET, i, world);
    config->secret = hosts->secret;
    config->keys = hc_endpoint_token_ring();
    config->rule_hash = hc_test_rule_hash(config->game);
    config->match = many ? place + 1 : 0;
    config->matches = many ? hosts->count : 0;
    config->cookie_secret = many ? hosts->cookie_secret : NULL;
    return hc_sv_host_create(config, hosts->test, HC_TEST_UNIX_US + now_us,
                             hc_sim_hosts_clock(hosts, now_us));
}

static bool open_placement(struct hc_sim_hosts *hosts) {
    const struct hc_server_config *config = hosts->config;
    struct hc_sv_placement_config place = {.matches = hosts->count,
                                           .clients = config->clients,
                                           .players = config->clients,
                                           .spectators = config->spectators,
                                           .protocol_id = hc_test_protocol_id(config->game),
                                           .audience = config->audience,
                                           .keys = hc_endpoint_token_ring(),
                                           .hash_seed = hosts->seed};
    for (uint32_t i = 0; i < HC_SERVER_SECRET_SIZE; i++)
        hosts->cookie_secret[i] = (uint8_t)hc_random(hosts->seed, DRAW_COOKIES, i, hosts->worlds);
    memcpy(place.cookie_secret, hosts->cookie_secret, sizeof place.cookie_secret);
    hosts->placement = hc_sv_placement_create(&place);
    return hosts->placement != NULL;
}

bool hc_sim_hosts_open(struct hc_sim_hosts *hosts, unsigned matches, uint64_t now_us) {
    HC_ASSERT(matches != 1 && matches <= HC_SIM_MATCHES_MAX);
    hosts->count = matches == 0 ? 1 : matches;
    bool opened = matches == 0 || open_placement(hosts);
    for (unsigned i = 0; opened && i < hosts->count; i++) {
        hosts->all[i] =
            (struct hc_sim_host){.core = create(hosts, i, now_us), .idle = matches != 0};
        opened = hosts->all[i].core != NULL;
    }
    return opened;
}

void hc_sim_hosts_close(struct hc_sim_hosts *hosts) {
    for (unsigned i = 0; i < hosts->count; i++) {
        hc_server_destroy(hosts->all[i].core);
        hosts->all[i] = (struct hc_sim_host){.core = NULL};
    }
    hc_sv_placement_destroy(hosts->placement);
    hosts->placement = NULL;
    hosts->count = 0;
}

unsigned hc_sim_hosts_choose(struct hc_sim_hosts *hosts, const struct hc_address *from,
                             const uint8_t *bytes, size_t size, uint64_t now_us,
                             struct hc_sv_placed *placed) {
    *placed = (struct hc_sv_placed){.match = 0};
    if (hosts->placement == NULL)
        return 0;
    uint16_t match = hc_sv_placement_named(hosts->count, bytes, size);
    placed->match = match;
    if (match == 0 && hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
        hc_sv_placement_choose(hosts->placement, from, bytes, size, HC_TEST_UNIX_US + now_us,
                               hc_sim_hosts_clock(hosts, now_us), placed);
    return placed->match != 0 ? placed->match - 1u : from->port % hosts->count;
}

enum hc_status hc_sim_hosts_give(struct hc_sim_hosts *hosts, unsigned place,
                                 const struct hc_address *from, const uint8_t *bytes, size_t size,
                                 uint64_t at_us, struct hc_sv_placed *placed) {
    struct hc_sim_host *host = &hosts->all[place];
    if (host->idle && hc_datagram_kind(bytes, size) == HC_DATAGRAM_CONNECT)
        hc_server_start(host->core, hc_sim_hosts_clock(hosts, at_us));
    return hc_sv_placement_give(placed, host->core, from, bytes, size,
                                hc_sim_hosts_clock(hosts, at_us));
}

void hc_sim_hosts_noted(struct hc_sim_hosts *hosts, unsigned place, uint64_t now_us) {
    struct hc_server_session sessions[2 * HC_SERVER_MATCH_CLIENTS_MAX];
    struct hc_sim_host *host = &hosts->all[place];
    if (hosts->placement == NULL)
        return;
    uint32_t count = hc_server_sessions(host->core, sessions, sizeof sessions / sizeof sessions[0]);
    host->idle = host->idle && hc_server_stats(host->core)->joins == 0;
    if (count > 0)
        host->empty_us = 0;
    else if (host->empty_us == 0 && !host->idle)
        host->empty_us = hc_sim_hosts_clock(hosts, now_us);
    bool refuses = hc_server_stats(host->core)->overload.level >= HC_SERVER_OVERLOAD_REFUSE;
    hc_sv_placement_set_match(hosts->placement, (uint16_t)(place + 1), sessions, count, refuses);
}

void hc_sim_hosts_finish(struct hc_sim_hosts *hosts, const struct hc_sv_placed *placed) {
    if (hosts->placement != NULL)
        hc_sv_placement_finish(hosts->placement, placed);
}

uint64_t hc_sim_hosts_deadline(const struct hc_sim_hosts *hosts, unsigned place) {
    const struct hc_sim_host *host = &hosts->all[place];
    uint64_t when = host->idle ? UINT64_MAX : hc_server_deadline(host->core);
    when = when == UINT64_MAX ? when : hc_since(hc_sim_hosts_clock(hosts, 0), when);
    return host->wakes_us > 0 && host->wakes_us < when ? host->wakes_us : when;
}

bool hc_sim_hosts_renew(struct hc_sim_hosts *hosts, unsigned place, uint64_t now_us) {
    struct hc_sim_host *host = &hosts->all[place];
    if (host->empty_us == 0 ||
        hc_since(host->empty_us, hc_sim_hosts_clock(hosts, now_us)) < EMPTY_US)
        return true;
    struct hc_server *next = create(hosts, place, now_us);
    if (next == NULL)
        return false;
    hc_server_follow(next, host->core);
    hc_server_destroy(host->core);
    *host = (struct hc_sim_host){.core = next, .idle = true};
    hc_sim_hosts_noted(hosts, place, now_us);
    return true;
}
