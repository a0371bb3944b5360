/// The server: its configuration, its memory, and the calls of its program, which go to its parts
/// in order.
#include "server/host.h"

#include "common/alloc.h"
#include "common/elapsed.h"
#include "common/mark.h"
#include "server/handshake.h"
#include "server/inputs.h"
#include "server/receive.h"
#include "server/replication/sent.h"
#include "server/send.h"
#include "server/sessions.h"
#include "server/state.h"
#include "server/ticks.h"

#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    /// The size of the first struct hc_server_config. A program of this library's SONAME has at
    /// least its members.
    CONFIG_SIZE_MIN = offsetof(struct hc_server_config, cookie_secret) + sizeof(void *),
};

// ---- Configuration ------------------------------------------------------------------------------

void hc_server_config_init(struct hc_server_config *config, uint32_t size) {
    struct hc_server_config whole = {.clients = 8,
                                     .tick_rate = 60,
                                     .history = 64,
                                     .late_margin = 24,
                                     .lag_compensation_ms = 400,
                                     .timeout_us = HC_TIMEOUT_US,
                                     .linger_us = HC_RECONNECT_US,
                                     .connects_per_address = HC_CONNECTS_PER_ADDRESS,
                                     .clients_per_address = HC_CLIENTS_PER_ADDRESS,
                                     .players_per_client = HC_OWN_PLAYERS_MAX,
                                     .spectators = 4,
                                     .session_life_s = HC_SESSION_LIFE_S,
                                     .remembered_users = HC_REMEMBERED_USERS,
                                     .client_rate = 262144};
    whole.size = size;
    memset(config, 0, size);
    memcpy(config, &whole, size < sizeof whole ? size : sizeof whole);
}

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
    enum hc_status status = hc_world_init(&world, config->game, config->clients, config->tick_rate,
                                          config->seed, config->allocator);
    if (status == HC_NO_MEMORY) {
        snprintf(why, why_size, "memory is short");
        return why;
    }
    if (status != HC_OK) {
        snprintf(why, why_size, "a world of %u players has too many entities", config->clients);
        return why;
    }
    hc_world_free(&world);
    return NULL;
}

/// Writes the program's configuration over the defaults to `*whole`; false: its size is unknown.
static bool complete(const struct hc_server_config *config, struct hc_server_config *whole) {
    if (config->size < CONFIG_SIZE_MIN || config->size > sizeof *whole)
        return false;
    hc_server_config_init(whole, sizeof *whole);
    memcpy(whole, config, config->size);
    return true;
}

const char *hc_server_config_check(const struct hc_server_config *config, char *why,
                                   size_t why_size) {
    struct hc_server_config whole;
    if (!complete(config, &whole)) {
        snprintf(why, why_size,
                 "size is %u, but this library knows %u to %u bytes: it is of another "
                 "version than the headers",
                 config->size, (unsigned)CONFIG_SIZE_MIN, (unsigned)sizeof whole);
        return why;
    }
    const char *found = hc_sv_host_config_check(&whole, NULL, why, why_size);
    sodium_memzero(&whole, sizeof whole);
    return found;
}

// ---- Creation -----------------------------------------------------------------------------------

static struct hc_timeline_config timeline_config(const struct hc_server *server,
                                                 const struct hc_sv_secrets *secrets) {
    struct hc_timeline_config config = {.world = &server->world,
                                        .history = server->config.history,
                                        .future = server->test.future,
                                        .allocator = server->config.allocator};
    memcpy(config.secret, secrets->world, sizeof config.secret);
    return config;
}

/// Places for clients that play, and for spectators.
static uint16_t places_of(const struct hc_server_config *config) {
    return (uint16_t)(config->clients + config->spectators);
}

static bool build_replicator(struct hc_server *server, const struct hc_sv_secrets *secrets) {
    struct hc_sv_replicator_config config = {.world = &server->world,
                                             .timeline = server->timeline,
                                             .clients = places_of(&server->config),
                                             .history = server->config.history,
                                             .future = server->test.future,
                                             .snapshot_rate = server->config.snapshot_rate,
                                             .show_head = server->test.show_head,
                                             .allocator = server->config.allocator};
    memcpy(config.chain_key, secrets->chain, sizeof config.chain_key);
    bool built = hc_sv_replicator_init(&server->replicator, &config);
    server->stats.memory_bytes += server->replicator.memory_bytes;
    return built;
}

static struct hc_sv_clients_config clients_config(struct hc_server *server) {
    return (struct hc_sv_clients_config){.replicator = &server->replicator,
                                         .players = server->world.players,
                                         .places = places_of(&server->config),
                                         .per_address = server->config.clients_per_address,
                                         .match = server->config.match,
                                         .seed = server->admission.connects.seed,
                                         .allocator = server->config.allocator};
}

/// Obtains all memory; false: it is short. Draws what the parts need of the ratchet.
static bool build(struct hc_server *server, const struct hc_sv_secrets *secrets) {
    const struct hc_server_config *config = &server->config;
    const uint16_t places = places_of(config);
    if (hc_world_init(&server->world, config->game, config->clients, config->tick_rate,
                      config->seed, config->allocator) != HC_OK)
        return false;
    server->stats.memory_bytes +=
        server->world.entities * (sizeof *server->world.kind_of + sizeof *server->world.owner_of);
    struct hc_timeline_config timeline = timeline_config(server, secrets);
    server->timeline = hc_timeline_create(&timeline);
    server->stats.memory_bytes += hc_timeline_memory(&timeline);
    bool admits = hc_sv_admission_init(&server->admission, config,
                                       hc_datagram_protocol_id(config->game, config->rule_hash),
                                       places, &server->ratchet);
    server->stats.memory_bytes += hc_sv_admission_memory(config, places);
    hc_ratchet_draw(&server->ratchet, (uint8_t *)&server->forged.seed, sizeof server->forged.seed);
    if (server->timeline == NULL || !admits || !build_replicator(server, secrets))
        return false;
    struct hc_sv_clients_config clients = clients_config(server);
    bool has_clients = hc_sv_clients_init(&server->clients, &clients);
    server->stats.memory_bytes += server->clients.memory_bytes + hc_sv_program_memory(places);
    return has_clients && hc_sv_program_init(&server->program, places, config->allocator);
}

struct hc_sv_secrets hc_sv_host_secrets(const uint8_t secret[static HC_SERVER_SECRET_SIZE]) {
    static const uint8_t label[] = "HCAST03 world";
    struct hc_sv_secrets secrets;
    _Static_assert(sizeof secrets >= crypto_generichash_BYTES_MIN &&
                       sizeof secrets <= crypto_generichash_BYTES_MAX,
                   "the secrets are one hash");
    int failed = crypto_generichash((uint8_t *)&secrets, sizeof secrets, label, sizeof label - 1,
                                    secret, HC_SERVER_SECRET_SIZE);
    HC_ASSERT(failed == 0);
    return secrets;
}

struct hc_server *hc_sv_host_create(const struct hc_server_config *config,
                                    const struct hc_sv_host_test *test, uint64_t unix_us,
                                    uint64_t now_us) {
    char why[256];
    HC_ASSERT(config->secret != NULL);
    if (hc_sv_host_config_check(config, test, why, sizeof why) != NULL || sodium_init() < 0)
        return NULL;
    struct hc_server *server = hc_allocate(config->allocator, sizeof *server);
    if (server == NULL)
        return NULL;
    server->config = *config;
    server->test = test != NULL ? *test : hc_sv_host_test_default();
    if (config->rule_hash == 0)
        server->config.rule_hash = hc_game_rule_hash(config->game, config->allocator);
    struct hc_sv_secrets secrets = hc_sv_host_secrets(config->secret);
    hc_ratchet_init(&server->ratchet, config->secret);
    server->stats.memory_bytes = sizeof *server;
    bool built = server->config.rule_hash != 0 && build(server, &secrets);
    sodium_memzero(&secrets, sizeof secrets);
    // The parts have what they need of these. The secret, from which all can be drawn, is not kept.
    server->config.secret = server->config.cookie_secret = NULL;
    sodium_memzero(&server->config.keys, sizeof server->config.keys);
    if (!built) {
        hc_server_destroy(server);
        return NULL;
    }
    hc_sv_schedule_init(&server->schedule, config->tick_rate,
                        hc_sv_clock_advance(&server->clock, now_us));
    hc_sv_overload_init(&server->overload, config->history);
    hc_sv_outbox_init(&server->outbox);
    hc_server_set_time(server, unix_us, now_us);
    server->stats.remembered = server->admission.spent.counts;
    hc_timeline_start(server->timeline);
    return server;
}

struct hc_server *hc_server_create(const struct hc_server_config *config, uint64_t unix_us,
                                   uint64_t now_us) {
    struct hc_server_config whole;
    uint8_t secret[HC_SERVER_SECRET_SIZE];
    if (!complete(config, &whole) || sodium_init() < 0)
        return NULL;
    randombytes_buf(secret, sizeof secret);
    if (whole.secret == NULL)
        whole.secret = secret;
    struct hc_server *server = hc_sv_host_create(&whole, NULL, unix_us, now_us);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&whole, sizeof whole);
    return server;
}

void hc_server_follow(struct hc_server *server, const struct hc_server *before) {
    hc_sv_admission_follow(&server->admission, &before->admission);
    server->stats.remembered = server->admission.spent.counts;
}

void hc_server_start(struct hc_server *server, uint64_t now_us) {
    HC_ASSERT(hc_timeline_head(server->timeline) == 0);
    hc_sv_schedule_init(&server->schedule, server->config.tick_rate,
                        hc_sv_clock_advance(&server->clock, now_us));
}

void hc_server_destroy(struct hc_server *server) {
    if (server == NULL)
        return;
    const struct hc_allocator *allocator = server->config.allocator;
    hc_sv_program_free(&server->program);
    hc_sv_clients_free(&server->clients);
    hc_sv_replicator_free(&server->replicator);
    hc_sv_admission_free(&server->admission);
    hc_timeline_destroy(server->timeline);
    hc_world_free(&server->world);
    sodium_memzero(server, sizeof *server);
    hc_release(allocator, server);
}

/// The server's own time of a moment on the caller's clock.
static uint64_t own_us(const struct hc_server *server, uint64_t now_us) {
    return hc_sv_clock_own_us(&server->clock, now_us);
}

void hc_server_shutdown(struct hc_server *server, uint64_t now_us) {
    hc_sv_sessions_close_all(server, &(struct hc_close){.reason = HC_CLOSE_SHUTDOWN},
                             own_us(server, now_us));
    hc_sv_outbox_seek(&server->outbox, 0);
}

void hc_server_restart(struct hc_server *server, uint32_t seconds, uint64_t now_us) {
    struct hc_close close = {.reason = HC_CLOSE_RESTARTING, .seconds = seconds};
    if (seconds > HC_RESTART_SECONDS_MAX)
        close.seconds = HC_RESTART_SECONDS_MAX;
    hc_sv_sessions_close_all(server, &close, own_us(server, now_us));
    hc_sv_outbox_seek(&server->outbox, 0);
}

// ---- Datagrams ----------------------------------------------------------------------------------

enum hc_status hc_server_receive(struct hc_server *server, const struct hc_address *from,
                                 const uint8_t *bytes, size_t size, uint64_t now_us) {
    return hc_server_deny(server, from, bytes, size, 0, now_us);
}

enum hc_status hc_server_deny(struct hc_server *server, const struct hc_address *from,
                              const uint8_t *bytes, size_t size, enum hc_deny_reason reason,
                              uint64_t now_us) {
    server->stats.datagrams_in++;
    server->stats.bytes_in += size;
    enum hc_status status =
        hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA
            ? hc_sv_receive_data(server, from, bytes, size, own_us(server, now_us))
            : hc_sv_handshake_receive(server, from, bytes, size, reason, own_us(server, now_us));
    if (status != HC_OK)
        server->stats.rejected[status]++;
    return status;
}

size_t hc_server_send(struct hc_server *server, struct hc_address *to,
                      uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us) {
    size_t size = hc_sv_outbox_take(&server->outbox, to, out);
    if (size == 0)
        size = hc_sv_send_next(server, to, out, own_us(server, now_us));
    if (size > 0) {
        server->stats.datagrams_out++;
        server->stats.bytes_out += size;
    }
    return size;
}

// ---- Changes ------------------------------------------------------------------------------------

/// Copies the members that may change while clients play.
static void copy_changeable(const struct hc_server_config *from, struct hc_server_config *to) {
    to->late_margin = from->late_margin;
    to->lag_compensation_ms = from->lag_compensation_ms;
    to->timeout_us = from->timeout_us;
    to->linger_us = from->linger_us;
    to->connects_per_address = from->connects_per_address;
    to->clients_per_address = from->clients_per_address;
    to->players_per_client = from->players_per_client;
    to->session_life_s = from->session_life_s;
    to->client_rate = from->client_rate;
    to->snapshot_rate = from->snapshot_rate;
    to->force_rewind = from->force_rewind;
}

enum hc_status hc_server_reconfigure(struct hc_server *server,
                                     const struct hc_server_config *config, uint64_t now_us) {
    struct hc_server_config whole, changed = server->config;
    char why[256];
    if (!complete(config, &whole))
        return HC_INVALID;
    copy_changeable(&whole, &changed);
    sodium_memzero(&whole, sizeof whole);
    changed.keys.count = 1; // the configuration does not keep them
    if (check_ranges(&changed, &server->test, why, sizeof why) != NULL)
        return HC_INVALID;
    copy_changeable(&changed, &server->config);
    server->clients.config.per_address = changed.clients_per_address;
    server->replicator.config.snapshot_rate = changed.snapshot_rate;
    for (struct hc_sv_peer *peer = NULL;
         (peer = hc_sv_clients_next(&server->clients, peer)) != NULL;)
        if (hc_sv_peer_has_session(peer))
            hc_sv_bandwidth_limit(&peer->replication.bandwidth, changed.client_rate, now_us);
    return HC_OK;
}

// ---- Time ---------------------------------------------------------------------------------------

void hc_server_advance(struct hc_server *server, uint64_t now_us) {
    uint64_t us = hc_sv_clock_advance(&server->clock, now_us);
    for (uint32_t n = 0; n < server->test.ticks_per_advance && hc_sv_ticks_are_due(server, us); n++)
        hc_sv_ticks_run(server, us);
    // Too late to catch up: leave out the missed ticks and set the schedule back by them.
    while (hc_sv_ticks_are_due(server, us)) {
        HC_MARK("epoch-set-back");
        server->stats.ticks_missed +=
            hc_sv_schedule_skip(&server->schedule, hc_timeline_head(server->timeline), us);
    }
    if (hc_server_ended(server) && !server->admission.is_closed)
        hc_server_shutdown(server, now_us);
    hc_sv_outbox_seek(&server->outbox, 0); // because a CLOSE may be due without a tick
}

uint64_t hc_server_deadline(const struct hc_server *server) {
    uint64_t deadline = hc_sv_ticks_deadline_us(server);
    const struct hc_sv_clients *clients = &server->clients;
    for (struct hc_sv_peer *peer = NULL; (peer = hc_sv_clients_next(clients, peer)) != NULL;) {
        uint64_t close_us = hc_connection_close_due_us(&peer->connection);
        deadline = close_us < deadline ? close_us : deadline;
    }
    return hc_sv_clock_given_us(&server->clock, deadline);
}

void hc_server_note_work(struct hc_server *server, uint64_t advance_us, uint64_t send_us,
                         uint64_t other_us, uint64_t now_us) {
    const struct hc_timeline_stats *stats = hc_timeline_stats(server->timeline);
    struct hc_server_overload *counts = &server->stats.overload;
    struct hc_sv_overload *overload = &server->overload;
    struct hc_sv_work work =
        hc_sv_overload_split(overload, stats->steps, stats->resimulated_steps, advance_us);
    work.send_us = send_us;
    work.other_us += other_us;
    hc_sv_overload_note(overload, &work, own_us(server, now_us));
    counts->level = overload->level;
    counts->linear = server->replicator.linear = overload->linear;
    if (counts->level > counts->highest)
        counts->highest = counts->level;
}

// ---- Users --------------------------------------------------------------------------------------

enum hc_status hc_server_kick(struct hc_server *server, uint32_t cid, enum hc_close_reason reason,
                              uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&server->clients, cid);
    if (reason != HC_CLOSE_KICKED && (reason < HC_CLOSE_GAME || reason > HC_CLOSE_GAME_LAST))
        return HC_INVALID;
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    hc_sv_sessions_close(server, peer, reason, own_us(server, now_us));
    hc_sv_outbox_seek(&server->outbox, 0);
    return HC_OK;
}

enum hc_status hc_server_set_refused(struct hc_server *server, const uint64_t *client_ids,
                                     uint32_t count, uint64_t not_before_s, uint64_t now_us) {
    enum hc_status status =
        hc_sv_admission_set_refused(&server->admission, client_ids, count, not_before_s);
    if (status != HC_OK)
        return status;
    hc_sv_sessions_close_refused(server, own_us(server, now_us));
    hc_sv_outbox_seek(&server->outbox, 0);
    return HC_OK;
}

enum hc_status hc_server_set_keys(struct hc_server *server, const struct hc_token_ring *keys) {
    if (keys->count < 1 || keys->count > 2)
        return HC_INVALID;
    hc_sv_admission_set_keys(&server->admission, keys);
    for (unsigned i = 0; i < server->clients.config.places; i++)
        server->clients.peers[i].ticket.any = false;
    return HC_OK;
}

void hc_server_set_time(struct hc_server *server, uint64_t unix_us, uint64_t now_us) {
    hc_sv_admission_set_time(&server->admission, unix_us, own_us(server, now_us));
}

enum hc_status hc_server_issue(struct hc_server *server, const struct hc_server_user *user,
                               uint32_t life_s, struct hc_credential *credential, uint64_t now_us) {
    return hc_sv_admission_issue(&server->admission, user, life_s, credential,
                                 own_us(server, now_us));
}

// ---- NPCs ---------------------------------------------------------------------------------------

hc_player hc_server_add_npc(struct hc_server *server) {
    return hc_sv_players_add_npc(&server->clients.players);
}

enum hc_status hc_server_name_npc(struct hc_server *server, hc_player player, const char *name) {
    uint8_t field[HC_TOKEN_NAME_SIZE] = {0};
    if (!hc_sv_players_has_npc(&server->clients.players, player))
        return HC_UNEXPECTED;
    size_t size = strlen(name);
    if (size > sizeof field)
        return HC_INVALID;
    for (size_t i = 0; i < size; i++) // without an ending zero
        field[i] = (uint8_t)name[i];
    if (!hc_sv_admission_takes_name(field))
        return HC_INVALID;
    hc_sv_players_name_npc(&server->clients.players, player, field,
                           hc_timeline_head(server->timeline) + 1);
    return HC_OK;
}

enum hc_status hc_server_remove_npc(struct hc_server *server, hc_player player) {
    return hc_sv_players_remove_npc(&server->clients.players, player) ? HC_OK : HC_UNEXPECTED;
}

enum hc_status hc_server_put_npc_input(struct hc_server *server, hc_player player, hc_tick tick,
                                       const void *input) {
    return hc_sv_inputs_put_npc(server, player, tick, input);
}

// ---- The program --------------------------------------------------------------------------------

bool hc_server_poll_event(struct hc_server *server, struct hc_server_event *event) {
    return hc_sv_program_poll(&server->program, &server->clients, event);
}

bool hc_server_next_game_event(struct hc_server *server, struct hc_server_game_event *event) {
    struct hc_sv_event next;
    if (!hc_sv_final_events_next(&server->replicator.final_events, &next))
        return false;
    *event = (struct hc_server_game_event){.tick = next.tick,
                                           .entity = next.entity,
                                           .kind = (uint8_t)hc_game_event_kind(next.event),
                                           .number = hc_game_event_number(next.event)};
    return true;
}

enum hc_status hc_server_send_message(struct hc_server *server, uint32_t cid, const void *message,
                                      size_t size, uint64_t now_us) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&server->clients, cid);
    if (peer == NULL || !hc_sv_peer_has_session(peer))
        return HC_UNEXPECTED;
    enum hc_status status = hc_reliable_put(&peer->messages.out, message, size);
    if (status == HC_FULL)
        hc_sv_sessions_close(server, peer, HC_CLOSE_TIMEOUT, own_us(server, now_us));
    return status;
}

enum hc_status hc_server_notify(struct hc_server *server, uint32_t cid,
                                const struct hc_notice *notice, uint64_t now_us) {
    const struct hc_sv_peer *peer = cid == 0 ? NULL : hc_sv_clients_of_cid(&server->clients, cid);
    if (cid != 0 && (peer == NULL || !hc_sv_peer_has_session(peer)))
        return HC_UNEXPECTED;
    if (hc_notice_check(notice) != NULL)
        return HC_INVALID;
    unsigned place =
        peer == NULL ? HC_SV_NOTICE_TO_ALL : hc_sv_clients_place(&server->clients, peer);
    hc_sv_notices_add(&server->notices, notice, (uint16_t)place, own_us(server, now_us));
    server->stats.notices++;
    return HC_OK;
}

const uint8_t *hc_server_next_message(struct hc_server *server,
                                      struct hc_server_message *received) {
    return hc_sv_program_next_message(&server->program, &server->clients, received);
}

enum hc_status hc_server_send_unreliable(struct hc_server *server, uint32_t cid,
                                         const void *message, size_t size) {
    struct hc_sv_peer *peer = hc_sv_clients_of_cid(&server->clients, cid);
    if (peer == NULL || peer->state != HC_SV_PEER_PLAYING)
        return HC_UNEXPECTED;
    enum hc_status status = hc_unreliable_put(&peer->messages.unreliable_out, message, size);
    server->stats.unreliable_dropped += status == HC_FULL;
    return status;
}

const uint8_t *hc_server_next_unreliable(struct hc_server *server,
                                         struct hc_server_message *received) {
    return hc_sv_program_next_unreliable(&server->program, &server->clients, received);
}

// ---- Queries ------------------------------------------------------------------------------------

bool hc_server_ended(const struct hc_server *server) {
    return hc_sv_ticks_are_over(server);
}

bool hc_server_closed(const struct hc_server *server) {
    return server->admission.is_closed && hc_sv_clients_are_gone(&server->clients);
}

uint32_t hc_server_sessions(const struct hc_server *server, struct hc_server_session *out,
                            uint32_t most) {
    uint32_t count = hc_sv_clients_sessions(&server->clients, out, most);
    HC_ASSERT(count == server->program.sessions);
    return count;
}

uint32_t hc_server_list_clients(const struct hc_server *server, struct hc_server_client *out,
                                uint32_t most, uint64_t now_us) {
    return hc_sv_clients_list(&server->clients, out, most, now_us);
}

uint32_t hc_server_list_sent(const struct hc_server *server, uint32_t cid,
                             struct hc_server_sent *out, uint32_t most) {
    const struct hc_sv_peer *peer = hc_sv_clients_of_cid(&server->clients, cid);
    return peer != NULL && hc_sv_peer_has_session(peer)
               ? hc_sv_sent_list(&peer->replication, out, most)
               : 0;
}

uint32_t hc_server_farewells(struct hc_server *server, struct hc_server_farewell *out,
                             uint32_t most) {
    return hc_sv_clients_farewells(&server->clients, out, most);
}

const struct hc_timeline *hc_server_timeline(const struct hc_server *server) {
    return server->timeline;
}

void hc_server_log_rewinds(struct hc_server *server, struct hc_rewind_log *log) {
    server->rewinds = log;
    hc_timeline_log_rewinds(server->timeline, log);
}

void hc_server_watch(struct hc_server *server, hc_timeline_watch *watch, void *context) {
    hc_timeline_set_watch(server->timeline, watch, context);
}

const struct hc_world *hc_server_world(const struct hc_server *server) {
    return &server->world;
}

hc_tick hc_sv_host_final(const struct hc_server *server, uint64_t *chain) {
    if (chain != NULL)
        *chain = server->replicator.chain;
    return server->replicator.final;
}

unsigned hc_server_clients(const struct hc_server *server) {
    return hc_sv_clients_connected_count(&server->clients);
}

const struct hc_server_stats *hc_server_stats(const struct hc_server *server) {
    return &server->stats;
}
