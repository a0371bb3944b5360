/// The host: its configuration, its memory and its datagrams.
#include "server/host_internal.h"
#include "server/path.h"

#include "common/alloc.h"
#include "common/mark.h"
#include "server/replication/look.h"
#include "server/replication/snapshot.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

struct hc_sv_host_test hc_sv_host_test_default(void) {
    return (struct hc_sv_host_test){
        .future = 64, .last_tick = HC_SNAPSHOT_TICK_MAX, .ticks_per_advance = 16};
}

/// NULL when every field is in its range, else a sentence about one that is not.
static const char *check_ranges(const struct hc_server_config *config,
                                const struct hc_sv_host_test *test, char *why, size_t size) {
    const struct range {
        const char *name;
        uint32_t value, min, max;
    } ranges[] = {
        {"clients", config->clients, 1,
         config->game->players_max < HC_SERVER_CLIENTS_MAX ? config->game->players_max
                                                           : HC_SERVER_CLIENTS_MAX},
        {"tick_rate", config->tick_rate, 1, HC_TICK_RATE_MAX},
        {"history", config->history, 0, HC_HISTORY_MAX},
        {"future", test->future, 1, HC_FUTURE_MAX},
        {"late_margin", config->late_margin, 0, HC_HISTORY_MAX},
        {"lag_compensation_ms", config->lag_compensation_ms, 0, 10000},
        {"last_tick", test->last_tick, 1, HC_SNAPSHOT_TICK_MAX},
        {"force_rewind", config->force_rewind, 0, config->history},
        {"timeout_us", config->timeout_us, 1, UINT32_MAX},
        {"spectators", config->spectators, 0, HC_SERVER_CLIENTS_MAX},
        {"players_per_client", config->players_per_client, 1, HC_OWN_PLAYERS_MAX},
        {"ticks_per_advance", test->ticks_per_advance, 1, 1024},
        {"client_rate", config->client_rate, HC_SERVER_CLIENT_RATE_MIN, UINT32_MAX},
        {"snapshot_rate", config->snapshot_rate, 0, config->tick_rate},
        {"keys.count", config->keys.count, 1, 2},
        {"remembered_users", config->remembered_users, 0, HC_SERVER_REMEMBERED_MAX},
        {"match", config->match, 0, config->matches != 0 ? config->matches : HC_MATCH_MAX},
        {"matches", config->matches, 0, HC_MATCH_MAX},
        {"clients of a match", config->match != 0 ? config->clients : 0, 0,
         HC_SERVER_MATCH_CLIENTS_MAX},
        {"spectators of a match", config->match != 0 ? config->spectators : 0, 0,
         HC_SERVER_MATCH_CLIENTS_MAX},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct range *r = &ranges[i];
        if (r->value >= r->min && r->value <= r->max)
            continue;
        snprintf(why, size, "%s is %u, but must be in [%u, %u]", r->name, r->value, r->min, r->max);
        return why;
    }
    return NULL;
}

const char *hc_sv_host_config_check(const struct hc_server_config *config,
                                    const struct hc_sv_host_test *test, char *why,
                                    size_t why_size) {
    struct hc_world world = {0};
    struct hc_sv_host_test defaults = hc_sv_host_test_default();
    if (config->game == NULL) {
        snprintf(why, why_size, "game is missing");
        return why;
    }
    if (hc_game_check(config->game, why, why_size) != NULL ||
        check_ranges(config, test != NULL ? test : &defaults, why, why_size) != NULL)
        return why;
    if (hc_world_init(&world, config->game, config->clients, config->tick_rate, config->seed,
                      config->allocator) != HC_OK) {
        snprintf(why, why_size, "a world of %u players has too many entities", config->clients);
        return why;
    }
    hc_world_free(&world);
    return NULL;
}

// ---- Creation -----------------------------------------------------------------------------------

static struct hc_timeline_config timeline_config(const struct hc_sv_host *host) {
    struct hc_timeline_config config = {.world = &host->world,
                                        .history = host->config.history,
                                        .future = host->test.future,
                                        .allocator = host->config.allocator};
    memcpy(config.secret, host->secrets.world, sizeof config.secret);
    return config;
}

/// Allocates and counts.
static void *obtain(struct hc_sv_host *host, size_t bytes) {
    host->stats.memory_bytes += bytes;
    return hc_allocate(host->config.allocator, bytes);
}

/// Places for clients that play, and for spectators.
static uint16_t places_of(const struct hc_server_config *config) {
    return (uint16_t)(config->clients + config->spectators);
}

static bool build_replicator(struct hc_sv_host *host) {
    struct hc_sv_replicator_config config = {.world = &host->world,
                                             .timeline = host->timeline,
                                             .clients = places_of(&host->config),
                                             .history = host->config.history,
                                             .future = host->test.future,
                                             .snapshot_rate = host->config.snapshot_rate,
                                             .show_head = host->test.show_head,
                                             .allocator = host->config.allocator};
    memcpy(config.chain_key, host->secrets.chain, sizeof config.chain_key);
    host->stats.memory_bytes += hc_sv_replicator_memory(&config);
    return hc_sv_replicator_init(&host->replicator, &config);
}

static struct hc_sv_clients_config clients_config(struct hc_sv_host *host) {
    return (struct hc_sv_clients_config){.replicator = &host->replicator,
                                         .players = host->world.players,
                                         .places = places_of(&host->config),
                                         .per_address = host->config.clients_per_address,
                                         .match = host->config.match,
                                         .seed = host->rate.seed,
                                         .allocator = host->config.allocator};
}

/// Obtains all memory; false: it is short.
static bool build(struct hc_sv_host *host) {
    const struct hc_server_config *config = &host->config;
    if (hc_world_init(&host->world, config->game, config->clients, config->tick_rate, config->seed,
                      config->allocator) != HC_OK)
        return false;
    host->stats.memory_bytes +=
        host->world.entities * (sizeof *host->world.kind_of + sizeof *host->world.owner_of);
    struct hc_timeline_config timeline = timeline_config(host);
    host->timeline = hc_timeline_create(&timeline);
    host->stats.memory_bytes += hc_timeline_memory(&timeline);
    bool replicates = build_replicator(host);
    struct hc_sv_clients_config clients = clients_config(host);
    bool has_clients = replicates && hc_sv_clients_init(&host->clients, &clients);
    host->stats.memory_bytes += replicates ? hc_sv_clients_memory(&clients) : 0;
    bool has_program =
        hc_sv_program_init(&host->program, places_of(&host->config), config->allocator);
    host->stats.memory_bytes += hc_sv_program_memory(places_of(&host->config));
    uint32_t users = HC_REMEMBERED_EACH * (uint32_t)places_of(&host->config);
    users = users > config->remembered_users ? users : config->remembered_users;
    host->spent_memory = obtain(host, hc_sv_spent_layout(&host->spent, users, NULL));
    if (host->timeline == NULL || !has_clients || !has_program || host->spent_memory == NULL)
        return false;
    hc_sv_spent_layout(&host->spent, users, host->spent_memory);
    return true;
}

/// Draws the cookies' secret, which stays in memory: nothing else can be derived from it. The
/// configured secret, from which everything can be drawn, is not kept.
static void use_secret(struct hc_sv_host *host) {
    uint8_t cookies[HC_COOKIE_SECRET_SIZE];
    hc_ratchet_init(&host->ratchet, host->config.secret);
    host->config.secret = NULL;
    hc_ratchet_draw(&host->ratchet, cookies, sizeof cookies);
    hc_cookie_init(&host->jar,
                   host->config.cookie_secret != NULL ? host->config.cookie_secret : cookies);
    host->config.cookie_secret = NULL;
    sodium_memzero(cookies, sizeof cookies);
    hc_sv_host_unpredictable(host, (uint8_t *)&host->rate.seed, sizeof host->rate.seed);
    host->spent.seed = host->reset_rate.seed = host->rate.seed;
    hc_sv_host_unpredictable(host, (uint8_t *)&host->forged.seed, sizeof host->forged.seed);
}

struct hc_sv_host *hc_sv_host_create(const struct hc_server_config *config,
                                     const struct hc_sv_host_test *test, uint64_t unix_us,
                                     uint64_t now_us) {
    char why[256];
    HC_ASSERT(config->secret != NULL);
    if (hc_sv_host_config_check(config, test, why, sizeof why) != NULL || sodium_init() < 0)
        return NULL;
    struct hc_sv_host *host = hc_allocate(config->allocator, sizeof *host);
    if (host == NULL)
        return NULL;
    host->config = *config;
    host->test = test != NULL ? *test : hc_sv_host_test_default();
    if (config->rule_hash == 0)
        host->config.rule_hash = hc_game_rule_hash(config->game, config->allocator);
    host->secrets = hc_sv_host_secrets(config->secret);
    use_secret(host);
    host->stats.memory_bytes = sizeof *host;
    if (host->config.rule_hash == 0 || !build(host)) {
        hc_sv_host_destroy(host);
        return NULL;
    }
    hc_sv_schedule_init(&host->schedule, config->tick_rate, now_us);
    hc_sv_overload_init(&host->overload, config->history);
    host->protocol_id = hc_datagram_protocol_id(config->game, host->config.rule_hash);
    hc_sv_host_set_time(host, unix_us, now_us);
    host->stats.remembered = host->spent.counts;
    hc_timeline_start(host->timeline);
    return host;
}

void hc_sv_host_follow(struct hc_sv_host *host, const struct hc_sv_host *before) {
    hc_sv_spent_copy(&host->spent, &before->spent);
    host->stats.remembered = host->spent.counts;
    host->refused = before->refused;
    host->unix_time = before->unix_time;
}

void hc_sv_host_start(struct hc_sv_host *host, uint64_t now_us) {
    HC_ASSERT(hc_timeline_head(host->timeline) == 0);
    hc_sv_schedule_init(&host->schedule, host->config.tick_rate, now_us);
}

void hc_sv_host_destroy(struct hc_sv_host *host) {
    if (host == NULL)
        return;
    const struct hc_allocator *allocator = host->config.allocator;
    hc_release(allocator, host->spent_memory);
    hc_sv_program_free(&host->program);
    hc_sv_clients_free(&host->clients);
    hc_sv_replicator_free(&host->replicator);
    hc_timeline_destroy(host->timeline);
    hc_world_free(&host->world);
    sodium_memzero(host, sizeof *host);
    hc_release(allocator, host);
}

// ---- Datagrams ----------------------------------------------------------------------------------

enum hc_status hc_sv_host_receive(struct hc_sv_host *host, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us) {
    return hc_sv_host_deny(host, from, bytes, size, 0, now_us);
}

enum hc_status hc_sv_host_deny(struct hc_sv_host *host, const struct hc_address *from,
                               const uint8_t *bytes, size_t size, enum hc_deny_reason reason,
                               uint64_t now_us) {
    host->stats.datagrams_in++;
    host->stats.bytes_in += size;
    enum hc_status status = hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA
                                ? hc_sv_receive_data(host, from, bytes, size, now_us)
                                : hc_sv_handshake_receive(host, from, bytes, size, reason, now_us);
    if (status != HC_OK)
        host->stats.rejected[status]++;
    return status;
}

/// Whether the peer may be sent another DATA. Few are allowed before its first one, because the
/// address may be that of an amplification's victim.
static bool may_send(const struct hc_sv_peer *peer) {
    return peer->connection.replay.newest > 0 ||
           peer->connection.sent.next + peer->accept_repeated <= HC_SILENT_MAX;
}

/// Sends the ACCEPT again, once, to a client that has sent no DATA for a while: it may be lost, and
/// the client would ask for it only later. Returns the size, or 0.
static size_t repeat_accept(struct hc_sv_peer *peer, uint8_t out[static HC_DATAGRAM_MAX]) {
    if (peer->connection.replay.newest > 0 || peer->accept_repeated ||
        peer->connection.sent.next <= HC_SILENT_ACCEPT || !hc_sv_peer_has_session(peer))
        return 0;
    HC_MARK("accept-repeated");
    peer->accept_repeated = true;
    memcpy(out, peer->accept, sizeof peer->accept);
    return sizeof peer->accept;
}

/// Writes the peer's snapshot; returns the datagram's size, 0: it is starved, or no seq is left.
static size_t send_snapshot(struct hc_sv_host *host, struct hc_sv_peer *peer,
                            uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    hc_tick head = hc_timeline_head(host->timeline);
    struct hc_writer body = hc_bytes_writer(out + HC_DATA_BODY_AT, HC_DATA_BODY_MAX);
    struct hc_sv_snapshot_datagram datagram = {
        .seq = peer->connection.sent.next, // hc_sv_peer_wrap takes it
        .phase_us =
            hc_sv_schedule_phase_us(&host->schedule, hc_timeline_head(host->timeline), now_us),
        .ack_delay_us = hc_connection_ack_delay_us(&peer->connection, now_us),
        .refused_before = hc_tick_back(head, hc_sv_host_late_limit(host, peer)),
        .room = hc_sv_snapshot_room(&peer->replication, now_us),
        .every = peer->snapshot_every};
    peer->snapshot_starved = datagram.room == 0;
    if (peer->snapshot_starved)
        return 0;
    hc_sv_look(&host->replicator, &peer->replication);
    hc_sv_snapshot_send(&host->replicator, &peer->replication, &datagram, &body, &host->stats);
    peer->messages_sent = false;
    return hc_sv_peer_wrap(peer, out, body.at, now_us);
}

/// Begins to load what the datagrams to the next two peers read.
static void prefetch_next(const struct hc_sv_host *host, const struct hc_sv_peer *peer) {
    const struct hc_sv_peer *next = hc_sv_clients_next(&host->clients, peer);
    const struct hc_sv_peer *second =
        next == NULL ? NULL : hc_sv_clients_next(&host->clients, next);
    if (second != NULL)
        hc_sv_peer_prefetch(second);
    if (next != NULL)
        hc_sv_client_prefetch_pointed(&next->replication);
}

static size_t send_peer(struct hc_sv_host *host, struct hc_address *to,
                        uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    struct hc_sv_peer *peer = NULL;
    while ((peer = hc_sv_clients_from(&host->clients, host->outbox.cursor)) != NULL) {
        unsigned place = hc_sv_clients_place(&host->clients, peer);
        hc_sv_outbox_seek(&host->outbox, place);
        *to = peer->address;
        size_t size = hc_sv_peer_send_close(peer, out, now_us);
        if (size == 0)
            size = repeat_accept(peer, out);
        bool allowed = may_send(peer);
        if (size == 0 && allowed && peer->messages_due)
            size = hc_sv_send_messages(host, peer, to, out, now_us);
        bool due = size == 0 && peer->snapshot_due;
        if (due)
            peer->snapshot_due = false; // later in the tick, inputs may come that its values lack
        if (due && allowed) {
            prefetch_next(host, peer);
            size = send_snapshot(host, peer, out, now_us);
            hc_sv_path_copy(host, peer, out, size, now_us);
        }
        if (size > 0)
            return size;
        hc_sv_outbox_seek(&host->outbox, place + 1);
    }
    return 0;
}

size_t hc_sv_host_send(struct hc_sv_host *host, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    size_t size = hc_sv_outbox_take(&host->outbox, to, out);
    if (size == 0)
        size = send_peer(host, to, out, now_us);
    if (size > 0) {
        host->stats.datagrams_out++;
        host->stats.bytes_out += size;
    }
    return size;
}

/// Ends all sessions, and admits nobody any more.
static void shut_down(struct hc_sv_host *host, const struct hc_close *close, uint64_t now_us) {
    host->shutting_down = true;
    host->restart_ms = close->seconds * 1000;
    hc_sv_outbox_seek(&host->outbox, 0);
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(&host->clients, peer)) != NULL;)
        if (hc_sv_peer_has_session(peer))
            hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT, close, now_us);
}

void hc_sv_host_shutdown(struct hc_sv_host *host, uint64_t now_us) {
    shut_down(host, &(struct hc_close){.reason = HC_CLOSE_SHUTDOWN}, now_us);
}

void hc_sv_host_restart(struct hc_sv_host *host, uint32_t seconds, uint64_t now_us) {
    seconds = seconds < HC_RESTART_SECONDS_MAX ? seconds : HC_RESTART_SECONDS_MAX;
    shut_down(host, &(struct hc_close){.reason = HC_CLOSE_RESTARTING, .seconds = seconds}, now_us);
}

// ---- Keys and time ------------------------------------------------------------------------------

void hc_sv_host_unpredictable(struct hc_sv_host *host, uint8_t *out, size_t size) {
    hc_ratchet_draw(&host->ratchet, out, size);
}

struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_SERVER_SECRET_SIZE]) {
    static const uint8_t label[] = "HCAST02 world";
    struct hc_sv_secrets secrets;
    _Static_assert(sizeof secrets >= crypto_generichash_BYTES_MIN &&
                       sizeof secrets <= crypto_generichash_BYTES_MAX,
                   "the secrets are one hash");
    int failed = crypto_generichash((uint8_t *)&secrets, sizeof secrets, label, sizeof label - 1,
                                    secret, HC_SERVER_SECRET_SIZE);
    HC_ASSERT(failed == 0);
    return secrets;
}

void hc_sv_host_set_keys(struct hc_sv_host *host, const struct hc_token_ring *keys) {
    HC_ASSERT(keys->count >= 1 && keys->count <= 2);
    host->config.keys = *keys;
    for (unsigned i = 0; i < places_of(&host->config); i++)
        host->clients.peers[i].ticket.any = false;
}

void hc_sv_host_set_time(struct hc_sv_host *host, uint64_t unix_us, uint64_t now_us) {
    hc_unix_time_read(&host->unix_time, unix_us, now_us);
}

uint64_t hc_sv_host_unix_us(const struct hc_sv_host *host, uint64_t now_us) {
    return hc_unix_time_us(&host->unix_time, now_us);
}

uint64_t hc_sv_host_unix_s(const struct hc_sv_host *host, uint64_t now_us) {
    return hc_sv_host_unix_us(host, now_us) / 1000000;
}

// ---- The program --------------------------------------------------------------------------------

bool hc_sv_host_poll_event(struct hc_sv_host *host, struct hc_server_event *event) {
    return hc_sv_program_poll(&host->program, &host->clients, event);
}

bool hc_sv_host_next_game_event(struct hc_sv_host *host, struct hc_server_game_event *event) {
    struct hc_sv_final_event next;
    if (!hc_sv_final_events_next(&host->replicator.final_events, &next))
        return false;
    *event = (struct hc_server_game_event){.tick = next.tick,
                                           .entity = next.entity,
                                           .kind = (uint8_t)hc_game_event_kind(next.event),
                                           .number = hc_game_event_number(next.event)};
    return true;
}

enum hc_status hc_sv_host_send_message(struct hc_sv_host *host, uint32_t cid, const void *message,
                                       size_t size, uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    enum hc_status status = hc_events_put(&peer->messages.out, message, size);
    if (status == HC_FULL)
        hc_sv_host_drop(host, peer, HC_SERVER_EVENT_LEFT, HC_SV_END_SENT,
                        &(struct hc_close){.reason = HC_CLOSE_TIMEOUT}, now_us);
    return status;
}

const uint8_t *hc_sv_host_next_message(struct hc_sv_host *host,
                                       struct hc_server_message *received) {
    return hc_sv_program_next_message(&host->program, &host->clients, received);
}

enum hc_status hc_sv_host_send_unreliable(struct hc_sv_host *host, uint32_t cid,
                                          const void *message, size_t size) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, cid);
    if (peer == NULL || peer->state != HC_SV_PEER_PLAYING)
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&peer->messages.unreliable_out, message, size);
    host->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_sv_host_next_unreliable(struct hc_sv_host *host,
                                          struct hc_server_message *received) {
    return hc_sv_program_next_unreliable(&host->program, &host->clients, received);
}

// ---- Queries ------------------------------------------------------------------------------------

bool hc_sv_host_closed(const struct hc_sv_host *host) {
    return host->shutting_down && hc_sv_clients_are_gone(&host->clients);
}

uint32_t hc_sv_host_sessions(const struct hc_sv_host *host, struct hc_server_session *out,
                             uint32_t most) {
    uint32_t count = hc_sv_clients_sessions(&host->clients, out, most);
    HC_ASSERT(count == host->program.sessions);
    return count;
}

const struct hc_timeline *hc_sv_host_timeline(const struct hc_sv_host *host) {
    return host->timeline;
}

const struct hc_world *hc_sv_host_world(const struct hc_sv_host *host) {
    return &host->world;
}

hc_tick hc_sv_host_final(const struct hc_sv_host *host, uint64_t *chain) {
    if (chain != NULL)
        *chain = host->replicator.chain;
    return host->replicator.final;
}

unsigned hc_sv_host_clients(const struct hc_sv_host *host) {
    return hc_sv_clients_connected_count(&host->clients);
}

const struct hc_server_stats *hc_sv_host_stats(const struct hc_sv_host *host) {
    return &host->stats;
}
