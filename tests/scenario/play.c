#include "tests/scenario/play.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/scenario/require.h"
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
    const uint16_t players = ledger_world(play->sent_log)->players;
    for (; play->scanned <= hc_timeline_head(timeline); play->scanned++) {
        for (hc_player p = 0; p < players && p < PLAY_CLIENTS_MAX; p++)
            if (hc_timeline_roster(timeline, p, play->scanned) == HC_ROSTER_JOIN)
                play->joined[p] = play->scanned;
    }
    play->scanned--; // the head's own controls may still come
}

static void host_advances(void *context, struct hc_sim *sim) {
    struct play *play = context;
    ledger_expect(play->sent_log, hc_sim_host(sim));
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct play *play = context;
    const struct hc_sv_host *host = hc_sim_host(sim);
    scan_joins(play, hc_sv_host_timeline(host));
    ledger_note(play->sent_log, host);
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

struct hc_network_sim_config play_link(uint32_t latency_ms, uint32_t loss_percent) {
    struct hc_network_sim_config link = hc_network_sim_config_default();
    link.latency_us = latency_ms * PLAY_MS;
    link.loss_ppm = loss_percent * (HC_NETWORK_SIM_PPM / 100);
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

static void script_bare(void *context, struct hc_sim *sim, unsigned client, unsigned index,
                        hc_tick tick, void *input) {
    (void)context;
    play_keys(&hc_arena, (uint32_t)hc_sim_config(sim)->seed, client, index, tick, input);
}

struct hc_sim_config play_config_bare(unsigned clients, uint32_t latency_ms, uint64_t seed) {
    struct hc_sim_config config = play_config(&hc_arena, clients, latency_ms, seed);
    config.hooks.script = script_bare;
    config.trace_worlds = false;
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
    play->sent_log = ledger_create(&hc_sim_config(play->sim)->host, PLAY_TICKS);
    ledger_note(play->sent_log, hc_sim_host(play->sim));
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
    ledger_destroy(play->sent_log);
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

void play_set_links(struct play *play, struct hc_network_sim_config link) {
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

/// The larger of the distances along x and y.
static int64_t apart(int64_t ax, int64_t ay, int64_t bx, int64_t by) {
    int64_t dx = ax < bx ? bx - ax : ax - bx, dy = ay < by ? by - ay : ay - by;
    return dx > dy ? dx : dy;
}

/// Whether the alive `entity` is within `range` of the alive `eye`.
static bool sees(const struct hc_world *world, const uint8_t *states, hc_entity eye,
                 hc_entity entity, uint32_t range) {
    int64_t x, y, eye_x, eye_y;
    if (!hc_world_position(world, entity, states + (size_t)entity * world->stride, &x, &y))
        return world->owner_of[entity] == HC_NO_PLAYER;
    return hc_world_position(world, eye, states + (size_t)eye * world->stride, &eye_x, &eye_y) &&
           apart(eye_x, eye_y, x, y) <= range;
}

bool play_in_view(const struct play *play, unsigned client, hc_unit unit, const uint8_t *presence,
                  const uint8_t *states, uint32_t range) {
    const struct hc_world *world = ledger_world(play->sent_log);
    const struct hc_client *core = hc_sim_client(play->sim, client);
    hc_entity first = hc_unit_first(world, unit);
    hc_player own = hc_client_player(core, 0);
    if (unit == 0 || own == HC_NO_PLAYER || world->game->view == 0)
        return true;
    for (unsigned i = 0; (own = hc_client_player(core, i)) != HC_NO_PLAYER; i++) {
        hc_entity eye = hc_world_player(world, own);
        if (own == hc_unit_player(world, unit))
            return true;
        for (uint32_t e = first; e < first + hc_unit_count(world, unit); e++)
            if (presence[eye] == HC_ALIVE && presence[e] == HC_ALIVE &&
                sees(world, states, eye, (hc_entity)e, range))
                return true;
    }
    return false;
}

/// For how many ticks up to `tick`, at most `most`, the unit was in view, or out of it.
static uint32_t ticks_in_view(const struct play *play, unsigned client, hc_unit unit, hc_tick tick,
                              uint32_t range, bool in, uint32_t most) {
    uint32_t ticks = 0;
    while (ticks < most && ticks <= tick &&
           play_in_view(play, client, unit, ledger_presence(play->sent_log, tick - ticks),
                        ledger_states(play->sent_log, tick - ticks), range) == in)
        ticks++;
    return ticks;
}

static bool is_alive(const struct hc_world *world, hc_unit unit, const uint8_t *presence) {
    for (uint32_t e = 0; e < hc_unit_count(world, unit); e++)
        if (presence[hc_unit_first(world, unit) + e] == HC_ALIVE)
            return true;
    return false;
}

/// Returns whether the client knows the unit.
static bool check_unit(const struct play *play, unsigned client, hc_unit unit, hc_tick tick) {
    enum { IN_VIEW = 60, OUT_OF_VIEW = 120 };
    const struct hc_world *world = ledger_world(play->sent_log);
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(play->sim, client));
    hc_entity first = hc_unit_first(world, unit);
    uint32_t count = hc_unit_count(world, unit), view = world->game->view;
    const uint8_t *presence = ledger_presence(play->sent_log, tick) + first;
    const uint8_t *states = ledger_states(play->sent_log, tick) + (size_t)first * world->stride;
    const uint8_t *held = hc_timeline_presence(timeline, tick) + first;
    bool known = false;
    for (uint32_t e = 0; e < count; e++)
        known = known || held[e] != HC_UNKNOWN;
    if (!known) {
        REQUIRE(ticks_in_view(play, client, unit, tick, view, true, IN_VIEW) < IN_VIEW,
                "client %u does not know unit %u at %u, which is in view", client, unit, tick);
        return false;
    }
    // Twice the view is more than what keeps from flickering at its border.
    REQUIRE(!is_alive(world, unit, ledger_presence(play->sent_log, tick)) ||
                ticks_in_view(play, client, unit, tick, 2 * view, false, OUT_OF_VIEW) < OUT_OF_VIEW,
            "client %u knows unit %u at %u, which is far away", client, unit, tick);
    REQUIRE(memcmp(held, presence, count) == 0 &&
                memcmp(hc_timeline_states(timeline, tick) + (size_t)first * world->stride, states,
                       (size_t)count * world->stride) == 0,
            "client %u holds unit %u at %u otherwise than the server", client, unit, tick);
    return true;
}

hc_tick play_check_final(const struct play *play, unsigned client) {
    const struct hc_client *core = hc_sim_client(play->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct hc_world *world = ledger_world(play->sent_log);
    hc_tick final;
    uint64_t chain;
    bool all = true;
    ck_assert(hc_client_final(core, &final, &chain));
    ck_assert_uint_le(final, ledger_final(play->sent_log));
    ck_assert_msg(chain == ledger_chain(play->sent_log, final), "chain at %u", final);
    // The chain is told now and then, so the newest told may be of a tick that has left the ring.
    hc_tick tick = hc_tick_max(final, hc_timeline_oldest(timeline));
    for (uint32_t u = 0; u < hc_unit_total(world); u++)
        all = check_unit(play, client, (hc_unit)u, tick) && all;
    ck_assert_msg(!all || hc_timeline_hash(timeline, tick) == ledger_hash(play->sent_log, tick),
                  "hash at %u", tick);
    return tick;
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
