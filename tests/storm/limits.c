#include "tests/storm/limits.h"

#include "proto/snapshot.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 32,      ///< of the matches, one in so many
    BLOCKS_MAX = 64, ///< more than any core obtains
};

// ---- Ranges -------------------------------------------------------------------------------------

static void host_is(struct storm_match *match, const struct hc_sv_host_config *config,
                    const char *name, bool wanted) {
    char why[256] = "";
    bool fits = hc_sv_host_config_check(config, why, sizeof why) == NULL;
    if (fits != wanted || (!wanted && strstr(why, name) == NULL))
        storm_fail(match->verdict, STORM_WRONG, "limits", 0,
                   "a server's %s that %s in its range is %s: %s", name, wanted ? "is" : "is not",
                   fits ? "allowed" : "refused", why);
    if (!fits && hc_sv_host_create(config, 0) != NULL)
        storm_fail(match->verdict, STORM_WRONG, "limits", 0,
                   "a server is created with a %s that is refused", name);
}

#define HOST_RANGE(name, least, most)                                                              \
    do {                                                                                           \
        struct hc_sv_host_config config = hc_sim_config(match->sim)->host;                         \
        config.force_rewind = 0;                                                                   \
        config.snapshot_rate = 0;                                                                  \
        config.name = least;                                                                       \
        host_is(match, &config, #name, true);                                                      \
        config.name = most;                                                                        \
        host_is(match, &config, #name, true);                                                      \
        config.name++;                                                                             \
        host_is(match, &config, #name, config.name == 0 && (least) == 0);                          \
        config.name = least;                                                                       \
        config.name--;                                                                             \
        host_is(match, &config, #name, (least) == 0 && (uint64_t)(most) == UINT32_MAX);            \
    } while (0)

static void check_host_ranges(struct storm_match *match) {
    struct hc_sv_host_config host = hc_sim_config(match->sim)->host;
    HOST_RANGE(tick_rate, 1, HC_TICK_RATE_MAX);
    HOST_RANGE(history, 0, HC_HISTORY_MAX);
    HOST_RANGE(future, 1, HC_FUTURE_MAX);
    HOST_RANGE(force_rewind, 0, config.history);
    HOST_RANGE(timeout_us, 1, UINT32_MAX);
    HOST_RANGE(client_rate, HC_SV_CLIENT_RATE_MIN, UINT32_MAX);
    HOST_RANGE(snapshot_rate, 0, config.tick_rate);
    HOST_RANGE(late_margin, 0, HC_HISTORY_MAX);
    host.clients = 0;
    host_is(match, &host, "clients", false);
    host.clients = (uint16_t)(host.game->players_max + 1);
    host_is(match, &host, "clients", false);
    host = hc_sim_config(match->sim)->host;
    host.ticks_per_advance = 0;
    host_is(match, &host, "ticks_per_advance", false);
    host.game = NULL;
    host_is(match, &host, "game", false);
}

static void client_is(struct storm_match *match, const struct hc_client_config *config,
                      const char *name, bool wanted) {
    const char *why = hc_client_config_check(config);
    bool fits = why == NULL;
    if (fits != wanted || (!wanted && strcmp(why, name) != 0))
        storm_fail(match->verdict, STORM_WRONG, "limits", 0,
                   "a client's %s that %s in its range is %s: %s", name, wanted ? "is" : "is not",
                   fits ? "allowed" : "refused", fits ? "" : why);
    if (!fits && hc_client_create(config, 0) != NULL)
        storm_fail(match->verdict, STORM_WRONG, "limits", 0,
                   "a client is created with a %s that is refused", name);
}

#define CLIENT_MOST(name, most)                                                                    \
    do {                                                                                           \
        struct hc_client_config config = hc_client_config_default();                               \
        config.game = match->conns.game;                                                           \
        config.prediction_limit = HC_PREDICTION_LIMIT_MAX;                                         \
        config.name = most;                                                                        \
        client_is(match, &config, #name, true);                                                    \
        config.name++;                                                                             \
        client_is(match, &config, #name, false);                                                   \
    } while (0)

static void check_client_ranges(struct storm_match *match) {
    struct hc_client_config client = hc_client_config_default();
    client_is(match, &client, "game", false);
    CLIENT_MOST(players, HC_OWN_PLAYERS_MAX);
    CLIENT_MOST(input_delay, HC_INPUT_DELAY_MAX);
    CLIENT_MOST(display_offset, HC_DISPLAY_OFFSET_MAX);
    CLIENT_MOST(lead, HC_LEAD_MAX);
    CLIENT_MOST(prediction_limit, HC_PREDICTION_LIMIT_MAX);
    CLIENT_MOST(input_redundancy, HC_INPUT_RUN_MAX);
    client.game = match->conns.game;
    client.prediction_limit = 1;
    client_is(match, &client, "prediction_limit", true);
    client.lead = 1; // it would never play
    client_is(match, &client, "prediction_limit", false);
    client.lead = 0;
    client.prediction_limit = 0;
    client_is(match, &client, "prediction_limit", false);
    client = hc_client_config_default();
    client.game = match->conns.game;
    client.timeout_us = 0;
    client_is(match, &client, "timeout_us", false);
}

// ---- Memory -------------------------------------------------------------------------------------

void *storm_purse_spend(void *context, size_t bytes) {
    struct storm_purse *purse = context;
    if (purse->asked++ == purse->without)
        return NULL;
    purse->held++;
    return malloc(bytes);
}

void storm_purse_give_back(void *context, void *block) {
    struct storm_purse *purse = context;
    if (block != NULL)
        purse->held--;
    free(block);
}

/// Creates a server without its first block, without its second, and so on, until it has them all.
static void run_short(struct storm_match *match) {
    struct hc_sv_host_config config = hc_sim_config(match->sim)->host;
    for (unsigned without = 0; without < BLOCKS_MAX; without++) {
        struct storm_purse purse = {.without = without};
        struct hc_allocator allocator = {
            .allocate = storm_purse_spend, .release = storm_purse_give_back, .context = &purse};
        config.allocator = &allocator;
        struct hc_sv_host *host = hc_sv_host_create(&config, 0);
        bool created = host != NULL, lacked = purse.asked > without;
        hc_sv_host_destroy(host);
        if (purse.held != 0 || created == lacked)
            storm_fail(match->verdict, STORM_WRONG, "memory", 0,
                       "a server without its block %u is %s, and leaves %d behind", without,
                       created ? "created" : "not created", purse.held);
        if (!lacked)
            return;
    }
    storm_fail(match->verdict, STORM_WRONG, "memory", 0, "a server can never be had");
}

void storm_limits_end(struct storm_match *match) {
    if (match->plan->seed % SHARE != 20 || match->verdict->result != STORM_FINE)
        return;
    check_host_ranges(match);
    check_client_ranges(match);
    run_short(match);
}
