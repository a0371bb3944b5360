/// Checks that a tick follows from the one before it, also before it is final: each tick that was
/// simulated again is one step of the tick before.
#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "check/plain.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <string.h>

enum { ONE_IN = 4, PURPOSE = 55, PLAYERS_MAX = 64 };

struct steps {
    struct hc_plain *plain;              ///< NULL until a step is taken
    uint64_t rewinds[STORM_CLIENTS_MAX]; ///< of each client's timeline when it was looked at last
};

/// Compares tick + 1 with a step of `tick`, both in the timeline.
static void compare(struct storm_match *match, struct steps *steps,
                    const struct hc_timeline *timeline, hc_tick tick, const uint8_t *secret,
                    const char *who) {
    const struct hc_world *world = storm_truth_world(match->truth);
    uint8_t inputs[PLAYERS_MAX * HC_INPUT_MAX], roster_changes[PLAYERS_MAX];
    size_t size = world->game->input_size;
    if (steps->plain == NULL)
        steps->plain = hc_plain_create(world, true);
    HC_ASSERT(steps->plain != NULL && world->players <= PLAYERS_MAX);
    for (hc_player p = 0; p < world->players; p++) {
        memcpy(inputs + p * size, hc_timeline_effective(timeline, p, tick), size);
        roster_changes[p] = (uint8_t)hc_timeline_roster(timeline, p, tick);
    }
    hc_plain_set_secret(steps->plain, secret);
    hc_plain_load(steps->plain, tick, hc_timeline_presence(timeline, tick),
                  hc_timeline_states(timeline, tick));
    for (hc_tick t =
             hc_tick_max(hc_timeline_oldest(timeline), hc_tick_back(tick, world->game->lookback));
         t < tick; t++)
        hc_plain_remember(steps->plain, t, hc_timeline_presence(timeline, t),
                          hc_timeline_states(timeline, t));
    hc_plain_step(steps->plain, inputs, roster_changes);
    struct storm_state held = {hc_timeline_presence(timeline, tick + 1),
                               hc_timeline_states(timeline, tick + 1)};
    struct storm_state right = {hc_plain_presence(steps->plain), hc_plain_states(steps->plain)};
    if (memcmp(held.presence, right.presence, world->entities) != 0 ||
        memcmp(held.states, right.states, (size_t)world->entities * world->stride) != 0)
        storm_fail_worlds(match->verdict, "stepped", tick + 1, world, who, held, right);
}

/// Draws one of the ticks that the newest rewind has simulated again, none before `first`.
static void look(struct storm_match *match, struct steps *steps, const struct hc_timeline *timeline,
                 hc_tick first, unsigned who, const uint8_t *secret, const char *name) {
    hc_tick head = hc_timeline_head(timeline), depth = hc_timeline_stats(timeline)->depth + 1;
    uint32_t lookback =
        storm_truth_world(match->truth)->game->lookback; // its ticks are needed, too
    first = hc_tick_max(
        first, hc_tick_max(hc_timeline_oldest(timeline) + lookback, hc_tick_back(head, depth)));
    uint64_t random = hc_random(match->plan->seed, head, who, PURPOSE);
    if (depth > 1 && first < head)
        compare(match, steps, timeline, first + (hc_tick)(random % (head - first)), secret, name);
}

static void host_ticked(struct storm_match *match, void *state) {
    struct hc_sv_secrets secrets = hc_sv_host_secrets(hc_sim_config(match->sim)->host.secret);
    if (match->plan->seed % ONE_IN == 2)
        look(match, state, storm_match_timeline(match), 0, 0, secrets.world, "the server");
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct steps *steps = state;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    hc_tick shown, as_of;
    if (match->plan->seed % ONE_IN != 2 || !hc_client_snapshot(core, &shown, &as_of))
        return;
    // An input that was put since the last rewind has not spread.
    uint64_t rewinds = hc_timeline_stats(hc_client_timeline(core))->rewinds;
    if (rewinds != steps->rewinds[client])
        look(match, steps, hc_client_timeline(core), shown, 1 + client, NULL, "a client");
    steps->rewinds[client] = rewinds;
}

static void forget(struct storm_match *match, void *state, unsigned client) {
    (void)match;
    ((struct steps *)state)->rewinds[client] = 0;
}

static void release(struct storm_match *match, void *state) {
    (void)match;
    hc_plain_destroy(((struct steps *)state)->plain);
}

const struct storm_checker storm_check_steps = {.name = "steps",
                                                .state_size = sizeof(struct steps),
                                                .host_ticked = host_ticked,
                                                .client_created = forget,
                                                .client_reconnected = forget,
                                                .client_changed = client_changed,
                                                .free = release};
