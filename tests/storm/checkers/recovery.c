/// Checks that a client plays on within five seconds after its links were narrow, or in any other
/// trouble: it is in, and what it knows is new.
#include "tests/storm/checkers/checker.h"

enum {
    SOON_US = 5000000,
    FRESH_US = 2000000, ///< the age of what it knows, besides the wait for room and the way
    LOSS_MOST = 200, ///< in a thousand: with more, or with bursts, a link never leaves its trouble
    SNAPSHOTS = 8,   ///< that may be lost one after another
};

struct recovery {
    uint64_t known_us[STORM_CLIENTS_MAX]; ///< when something new was last known
    hc_tick as_of[STORM_CLIENTS_MAX];     ///< newest snapshot
    bool checked[STORM_CLIENTS_MAX];      ///< the client was checked after its last trouble
};

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct recovery *all = state;
    hc_tick tick, as_of;
    if (!hc_client_snapshot(hc_sim_client(match->sim, client), &tick, &as_of) ||
        as_of == all->as_of[client])
        return;
    all->as_of[client] = as_of;
    all->known_us[client] = hc_sim_now(match->sim);
}

/// Whether the client's links are good but for troubles that end.
static bool is_fair(const struct storm_match *match, unsigned client) {
    const int64_t *of = match->plan->client[client];
    return match->healed || (of[STORM_C_up_loss] <= LOSS_MOST &&
                             of[STORM_C_down_loss] <= LOSS_MOST && of[STORM_C_up_burst] == 0 &&
                             of[STORM_C_down_burst] == 0 && of[STORM_C_rebind_ticks] == 0);
}

static void check(struct storm_match *match, struct recovery *all, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct storm_conn *conn =
        storm_conns_find(&match->conns, client, match->seats[client].cid);
    // A client that was lost may have to wait for a place, or has given up.
    if (core == NULL || conn == NULL || hc_client_state(core) == HC_CLIENT_LEAVING ||
        !conn->connected || !is_fair(match, client))
        return;
    uint64_t age_us = hc_sim_now(match->sim) - all->known_us[client];
    uint64_t least_us = SNAPSHOTS * storm_calm_wait_ticks(match) * match->tick_us;
    if (age_us > FRESH_US + least_us + storm_calm_straggle_us(match, client))
        storm_fail(match->verdict, STORM_STUCK, "recovery", storm_match_head(match),
                   "client %u knows nothing newer than %lu ms, long after its last trouble", client,
                   (unsigned long)(age_us / 1000));
}

/// Looks at each client once after each time of trouble.
static void host_ticked(struct storm_match *match, void *state) {
    struct recovery *all = state;
    for (unsigned i = 0; i < match->clients; i++) {
        uint64_t calm_us = match->seats[i].trouble_us + SOON_US;
        bool due = hc_sim_now(match->sim) >= calm_us && !match->seats[i].hostile;
        if (due && !all->checked[i])
            check(match, all, i);
        all->checked[i] = due;
    }
}

const struct storm_checker storm_check_recovery = {.name = "recovery",
                                                   .state_size = sizeof(struct recovery),
                                                   .host_ticked = host_ticked,
                                                   .client_changed = client_changed};
