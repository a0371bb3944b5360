#include "tests/scenario/play.h"

#include "common/arena/arena.h"
#include "common/rng.h"
#include "tests/sim/lanes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    const struct play *play = context;
    if (!play->hands_off)
        play_keys(hc_sim_config(sim)->host.game, play->seed, client, index, tick, input);
}

/// Joins are looked for at once: a client may hear of its own before it is final.
static void scan_joins(struct play *play, const struct hc_timeline *timeline) {
    const uint16_t players = ledger_world(play->ledger)->players;
    for (; play->scanned <= hc_timeline_head(timeline); play->scanned++) {
        for (hc_player p = 0; p < players && p < PLAY_CLIENTS_MAX; p++)
            if (hc_timeline_control(timeline, p, play->scanned) == HC_CONTROL_JOIN)
                play->joined[p] = play->scanned;
    }
    play->scanned--; // the head's own controls may still come
}

static void host_advances(void *context, struct hc_sim *sim) {
    struct play *play = context;
    ledger_expect(play->ledger, hc_sim_host(sim));
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct play *play = context;
    const struct hc_sv_host *host = hc_sim_host(sim);
    scan_joins(play, hc_sv_host_timeline(host));
    ledger_note(play->ledger, host);
    if (play->host_ticked != NULL)
        play->host_ticked(play);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct play *play = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    for (unsigned i = 0; timeline != NULL && i < HC_OWN_PLAYERS_MAX; i++) {
        struct stamps *stamps = play->stamps[client][i];
        hc_player player = hc_client_player(core, i);
        if (stamps != NULL && player != HC_NO_PLAYER)
            stamps_note(stamps, timeline, player);
    }
    if (play->client_changed != NULL)
        play->client_changed(play, client);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct play *play = context;
    (void)sim;
    if (play->host_sent != NULL)
        play->host_sent(play, client, bytes, size);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct play *play = context;
    (void)sim;
    if (play->client_sent != NULL)
        play->client_sent(play, client, bytes, size);
}

struct hc_link_config play_link(uint32_t latency_ms, uint32_t loss_percent) {
    struct hc_link_config link = hc_link_config_default();
    link.latency_us = latency_ms * PLAY_MS;
    link.loss_ppm = loss_percent * (HC_LINK_PPM / 100);
    return link;
}

struct hc_sim_config play_config(const struct hc_game *game, unsigned clients, uint32_t latency_ms,
                                 uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_default(game);
    config.clients = clients;
    config.host.clients = (uint16_t)clients;
    config.up = config.down = play_link(latency_ms, 0);
    config.seed = seed;
    return config;
}

struct play *play_create(const struct hc_sim_config *config) {
    struct play *play = calloc(1, sizeof *play);
    ck_assert_ptr_nonnull(play);
    ck_assert_uint_le(config->clients, PLAY_CLIENTS_MAX);
    struct hc_sim_config own = *config;
    own.context = play;
    own.hooks = (struct hc_sim_hooks){.script = script,
                                      .host_advances = host_advances,
                                      .host_ticked = host_ticked,
                                      .client_changed = client_changed,
                                      .host_sent = host_sent,
                                      .client_sent = client_sent};
    play->seed = (uint32_t)config->seed;
    play->sim = hc_sim_create(&own);
    ck_assert_ptr_nonnull(play->sim);
    play->ledger = ledger_create(&hc_sim_config(play->sim)->host, PLAY_TICKS);
    ledger_note(play->ledger, hc_sim_host(play->sim));
    for (unsigned p = 0; p < PLAY_CLIENTS_MAX; p++)
        play->joined[p] = HC_NO_TICK;
    for (unsigned i = 0; i < config->clients; i++)
        for (unsigned k = 0; k < config->client.players; k++)
            play->stamps[i][k] = stamps_create(PLAY_TICKS, config->host.game->input_size);
    return play;
}

void play_without_stamps(struct play *play) {
    for (unsigned i = 0; i < PLAY_CLIENTS_MAX; i++) {
        for (unsigned k = 0; k < HC_OWN_PLAYERS_MAX; k++) {
            stamps_destroy(play->stamps[i][k]);
            play->stamps[i][k] = NULL;
        }
    }
}

void play_destroy(struct play *play) {
    play_without_stamps(play);
    ledger_destroy(play->ledger);
    hc_sim_destroy(play->sim);
    free(play);
}

void play_join_all(struct play *play) {
    unsigned clients = hc_sim_clients(play->sim), playing = 0;
    for (unsigned i = 0; i < clients; i++)
        ck_assert(hc_sim_connect(play->sim, i));
    for (uint64_t end = hc_sim_now(play->sim) + 10 * PLAY_S; playing < clients;) {
        ck_assert_msg(hc_sim_now(play->sim) < end, "only %u of %u play", playing, clients);
        hc_sim_run(play->sim, 10 * PLAY_MS);
        playing = 0;
        for (unsigned i = 0; i < clients; i++)
            playing += play_state(play, i) == HC_CLIENT_PLAYING;
    }
}

void play_set_links(struct play *play, struct hc_link_config link) {
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        hc_sim_set_link(play->sim, i, &link, &link);
}

void play_keys(const struct hc_game *game, uint32_t seed, unsigned client, unsigned index,
               hc_tick tick, void *input) {
    // Keys are held for 5 to 12 ticks, and each player's for times of its own.
    uint32_t who = client * HC_OWN_PLAYERS_MAX + index;
    hc_tick held = tick / (5 + who % 8);
    uint64_t random = hc_random(seed, who, held, 7);
    if (game == &hc_arena) {
        struct hc_arena_input keys = {.move_x = (int8_t)(random % 3 - 1),
                                      .move_y = (int8_t)(random / 8 % 3 - 1),
                                      .aim = (uint8_t)(random >> 16),
                                      .fire = (random >> 24) % 4 == 0};
        memcpy(input, &keys, sizeof keys);
        return;
    }
    struct lanes_input keys = {.push = (int8_t)(random % 16 - 8), .touch = (uint8_t)(random >> 8)};
    memcpy(input, &keys, sizeof keys);
}

enum hc_client_state play_state(const struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    return core != NULL ? hc_client_state(core) : HC_CLIENT_CLOSED;
}

static uint64_t sum(const uint64_t rejected[HC_STATUS_COUNT]) {
    uint64_t total = 0;
    for (unsigned i = 0; i < HC_STATUS_COUNT; i++)
        total += rejected[i];
    return total;
}

uint64_t play_client_rejected(const struct play *play, unsigned client) {
    return sum(hc_client_stats(hc_sim_client(play->sim, client))->rejected);
}

uint64_t play_host_rejected(const struct play *play) {
    return sum(hc_sv_host_stats(hc_sim_host(play->sim))->rejected);
}

hc_tick play_check_final(const struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct hc_world *world = ledger_world(play->ledger);
    hc_tick final;
    uint64_t chain;
    ck_assert(hc_client_final(core, &final, &chain));
    ck_assert_uint_le(final, ledger_final(play->ledger));
    ck_assert_msg(chain == ledger_chain(play->ledger, final), "chain at %u", final);
    ck_assert_msg(final >= hc_timeline_oldest(timeline), "client %u no longer holds %u", client,
                  final);
    ck_assert_mem_eq(hc_timeline_presence(timeline, final), ledger_presence(play->ledger, final),
                     world->entities);
    ck_assert_mem_eq(hc_timeline_states(timeline, final), ledger_states(play->ledger, final),
                     (size_t)world->entities * world->stride);
    ck_assert_msg(hc_timeline_hash(timeline, final) == ledger_hash(play->ledger, final),
                  "hash at %u", final);
    return final;
}

void play_check_hashes(const struct play *play) {
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        const struct hc_client *core = hc_sim_client(play->sim, i);
        if (core == NULL)
            continue;
        const struct hc_client_stats *stats = hc_client_stats(core);
        ck_assert_uint_gt(stats->hash_checks, 0);
        ck_assert_uint_eq(stats->hash_mismatches, 0);
    }
}
