/// Checks that clients know players by names that these have had, and by the present ones at the
/// end.
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <string.h>

enum { SLOTS = 64, OWNERS = 24, NAME = HC_TOKEN_NAME_SIZE + 1 };

/// The owners that each slot has had. Of more than OWNERS the slot is not checked.
struct names {
    char owners[SLOTS][OWNERS][NAME];
    unsigned count[SLOTS];
    uint64_t since_us[SLOTS]; ///< when the newest owner came
};

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    struct names *names = state;
    (void)conn;
    if (event->kind != HC_SERVER_EVENT_JOINED && event->kind != HC_SERVER_EVENT_RECONNECTED)
        return;
    for (unsigned i = 0; i < event->player_count; i++) {
        hc_player player = event->players[i];
        if (player < SLOTS)
            names->since_us[player] = hc_sim_now(match->sim);
        if (player < SLOTS && names->count[player]++ < OWNERS)
            memcpy(names->owners[player][names->count[player] - 1], event->name,
                   sizeof event->name);
    }
}

/// The newest owner of this name, from 1 on; 0: none.
static unsigned owner_named(const struct names *names, hc_player player, const char *name) {
    unsigned owner = names->count[player];
    while (owner > 0 && strcmp(names->owners[player][owner - 1], name) != 0)
        owner--;
    return owner;
}

/// Whether the newest owner came so late that its name may still be under way to the client: after
/// a NAMES that is not acked yet, and lost once itself.
static bool is_new(const struct storm_match *match, const struct names *names, unsigned client,
                   hc_player player) {
    uint64_t each_us = HC_NAMES_RESEND_US + 3 * storm_calm_rtt_us(match, client);
    return hc_sim_now(match->sim) < names->since_us[player] + HC_NAMES_US + 3 * each_us;
}

/// Checks the names of all players that a client knows; `newest`: they are of the newest owners.
static void check(struct storm_match *match, const struct names *names, unsigned client,
                  bool newest) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    uint32_t players = storm_truth_world(match->truth)->players;
    for (hc_player p = 0; p < players && p < SLOTS; p++) {
        const char *name = hc_client_player_name(core, p);
        if (name == NULL || names->count[p] > OWNERS)
            continue;
        unsigned owner = owner_named(names, p, name);
        bool old = owner < names->count[p] && !is_new(match, names, client, p);
        if (owner == 0 || (newest && old))
            storm_fail(match->verdict, STORM_WRONG, "name", storm_match_head(match),
                       "client %u knows player %u as %s, %s", client, p, name,
                       owner == 0 ? "which it never was" : "which it was before");
    }
}

static void client_event(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event) {
    if (event->kind == HC_CLIENT_EVENT_PLAYER_NAMED && !match->seats[client].hostile)
        check(match, state, client, false);
}

static void calm(struct storm_match *match, void *state, enum storm_calm part) {
    for (unsigned i = 0; part == STORM_CALM_CHECK && i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        if (core != NULL && !match->seats[i].hostile && hc_client_state(core) == HC_CLIENT_PLAYING)
            check(match, state, i, true);
    }
}

const struct storm_checker storm_check_names = {.name = "names",
                                                .state_size = sizeof(struct names),
                                                .host_event = host_event,
                                                .client_event = client_event,
                                                .calm = calm};
