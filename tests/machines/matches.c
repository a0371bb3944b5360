/// Plays the same matches on every machine, and prints a line of hashes for each:  hc_matches
/// [MATCH]
///
/// Two machines whose lines are equal computed the same worlds, counted the same and sent the same
/// datagrams, byte for byte. With the name of a match it plays that one, and prints a line for each
/// tick of the server too: the first that differs shows where two machines part.
#include "client/session.h"
#include "common/draw_input.h"
#include "hindcast/arena.h"
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/sim/players.h"
#include "tests/storm/examples.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { CLIENTS = 5, HOLD_TICKS = 6, SECONDS = 7 };

/// How a match differs from the others of its game.
struct kind {
    const char *name, *up, *down; ///< presets of the links
    uint64_t seed;
    void (*configure)(struct hc_sim_config *config);
    void (*disturb)(struct hc_sim *sim, unsigned second); ///< before each second but the first
};

/// The hashes of a match so far.
struct hashes {
    bool ticks; ///< prints them at each tick
    uint64_t worlds, predicted, sent, datagrams;
    hc_tick head[CLIENTS];
};

static uint64_t mix(uint64_t hash, uint64_t number) {
    return hc_random(hash ^ number, 0, 0, 0);
}

// ---- The matches --------------------------------------------------------------------------------

static void keep_defaults(struct hc_sim_config *config) {
    (void)config;
}

static void show_the_past(struct hc_sim_config *config) {
    config->up.duplicate_ppm = config->down.reorder_ppm = HC_NETWORK_SIM_PPM / 20;
    config->client.display_offset = 8;
}

static void see_little(struct hc_sim_config *config) {
    config->host.snapshot_rate = 20;
    config->host.client_rate = 12000;
    config->host.history = 16;
    config->client.others = HC_OTHERS_AS_RECEIVED;
    config->client.extrapolation = HC_EXTRAPOLATION_LINEAR;
}

static void stand_still(struct hc_sim *sim, unsigned second) {
    (void)sim, (void)second;
}

static void come_and_go(struct hc_sim *sim, unsigned second) {
    bool connected = true;
    if (second == 2)
        hc_sim_leave(sim, 1);
    else if (second == 3)
        hc_sim_kill(sim, 0);
    else if (second == 4)
        connected = hc_sim_connect(sim, 1);
    else if (second == 5)
        connected = hc_sim_connect(sim, 0);
    HC_ASSERT(connected);
}

static void change_paths(struct hc_sim *sim, unsigned second) {
    bool restarted = true;
    if (second == 2)
        hc_sim_rebind(sim, 0);
    else if (second == 3)
        hc_sim_freeze_host(sim, hc_sim_now(sim) + SECOND_US / 4);
    else if (second == 4)
        hc_sim_freeze_client(sim, 1, hc_sim_now(sim) + SECOND_US / 2);
    else if (second == 5)
        restarted = hc_sim_restart_host(sim);
    HC_ASSERT(restarted);
}

static const struct kind kinds[] = {
    {"good", "good", "good", 1, keep_defaults, stand_still},
    {"awful", "awful", "bad", 2, show_the_past, stand_still},
    {"sparse", "ok", "ok", 3, see_little, stand_still},
    {"coming", "bad", "bad", 4, keep_defaults, come_and_go},
    {"restart", "ok", "bad", 5, keep_defaults, change_paths},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

// ---- Playing ------------------------------------------------------------------------------------

/// Every player holds a drawn input for a while.
static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    const struct hc_sim_config *config = hc_sim_config(sim);
    uint64_t held = tick / (HOLD_TICKS + client);
    struct hc_rng rng = hc_rng_init(hc_random(config->seed, client, (uint32_t)held, index), 0);
    (void)context;
    hc_draw_input(config->host.game, &rng, input);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct hashes *hashes = context;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    hc_tick head = hc_timeline_head(timeline);
    hashes->worlds = mix(hashes->worlds, hc_timeline_hash(timeline, head));
    if (hashes->ticks)
        printf("tick %" PRIu32 " worlds %016" PRIx64 " predicted %016" PRIx64 " sent %016" PRIx64
               "\n",
               head, hashes->worlds, hashes->predicted, hashes->sent);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct hashes *hashes = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    hc_tick head;
    if (!hc_cl_session_head(core, &head) || head == hashes->head[client])
        return;
    hashes->head[client] = head;
    hashes->predicted = mix(hashes->predicted, head);
    hashes->predicted = mix(hashes->predicted, hc_timeline_hash(hc_client_timeline(core), head));
}

/// A datagram goes on its way, as it is on the wire.
static void sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                 size_t size) {
    struct hashes *hashes = context;
    (void)bytes;
    hashes->sent = mix(hashes->sent, hc_sim_now(sim) * CLIENTS + client);
    hashes->sent = XXH64(hc_sim_sealed(sim), size, hashes->sent);
    hashes->datagrams++;
}

/// Mixes in `size` bytes of counts, which are uint64_t each.
static uint64_t mix_counts(uint64_t hash, const void *counts, size_t size) {
    const uint64_t *numbers = counts;
    for (size_t i = 0; i < size / sizeof *numbers; i++)
        hash = mix(hash, numbers[i]);
    return hash;
}

/// The counts of the server and of all clients. Their memory differs between machines.
static uint64_t hash_counts(struct hc_sim *sim) {
    const struct hc_server_stats *server = hc_server_stats(hc_sim_host(sim));
    uint64_t hash = mix_counts(0, server, offsetof(struct hc_server_stats, memory_bytes));
    for (unsigned i = 0; i < hc_sim_clients(sim); i++) {
        struct hc_client_stats client = *hc_client_stats(hc_sim_client(sim, i));
        client.memory_bytes = 0;
        hash = mix_counts(hash, &client, sizeof client);
    }
    return hash;
}

static void play(const struct hc_game *game, const struct kind *kind, const char *name,
                 bool ticks) {
    struct hashes hashes = {.ticks = ticks};
    unsigned clients = game->players_max < CLIENTS ? game->players_max : CLIENTS;
    struct hc_sim_config config = hc_sim_config_players(game, clients, 0, kind->seed);
    bool found = hc_network_sim_preset(kind->up, &config.up) &&
                 hc_network_sim_preset(kind->down, &config.down);
    HC_ASSERT(found);
    kind->configure(&config);
    config.context = &hashes;
    config.hooks = (struct hc_sim_hooks){.script = script,
                                         .host_ticked = host_ticked,
                                         .client_changed = client_changed,
                                         .host_sent = sent,
                                         .client_sent = sent};
    struct hc_sim *sim = hc_sim_create(&config);
    HC_ASSERT(sim != NULL);
    for (unsigned i = 0; i < clients; i++)
        hc_sim_setup(sim, i)->clock_ppm = 100 * (int32_t)i;
    bool connected = hc_sim_connect_all(sim);
    HC_ASSERT(connected);
    for (unsigned second = 0; second < SECONDS; second++) {
        if (second > 0)
            kind->disturb(sim, second);
        hc_sim_run(sim, SECOND_US);
    }
    uint64_t chain;
    hc_tick final = hc_sv_host_final(hc_sim_host(sim), &chain);
    printf("%-14s final tick %" PRIu32 " chain %016" PRIx64 " worlds %016" PRIx64
           " predicted %016" PRIx64 " counts %016" PRIx64 " datagrams %" PRIu64 " %016" PRIx64 "\n",
           name, final, chain, hashes.worlds, hashes.predicted, hash_counts(sim), hashes.datagrams,
           hashes.sent);
    hc_sim_destroy(sim);
}

int main(int count, char **arguments) {
    const struct hc_game *const games[] = {&hc_arena, storm_examples_game(1),
                                           storm_examples_game(2)};
    unsigned played = 0;
    for (unsigned g = 0; g < sizeof games / sizeof *games; g++) {
        for (unsigned k = 0; k < KINDS; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s-%s", games[g]->name, kinds[k].name);
            if (count == 1 || (count == 2 && strcmp(arguments[1], name) == 0)) {
                play(games[g], &kinds[k], name, count == 2);
                played++;
            }
        }
    }
    if (played == 0)
        fprintf(stderr, "hc_matches: there is no such match\n");
    return played > 0 ? 0 : 2;
}
