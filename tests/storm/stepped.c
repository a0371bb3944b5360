#include "tests/storm/stepped.h"

#include "common/check.h"
#include "common/rng.h"
#include "tests/oracle/plain.h"
#include "tests/storm/inside.h"

#include <string.h>

enum { ONE_IN = 4, PURPOSE = 55, PLAYERS_MAX = 16 };

/// Compares tick + 1 with a step of `tick`, both in the timeline.
static void compare(struct storm_match *match, const struct hc_timeline *timeline, hc_tick tick,
                    const char *who) {
    const struct hc_world *world = storm_truth_world(match->truth);
    uint8_t inputs[PLAYERS_MAX * HC_INPUT_MAX], controls[PLAYERS_MAX];
    size_t size = world->game->input_size;
    if (match->plain == NULL)
        match->plain = hc_plain_create(world, true);
    HC_ASSERT(match->plain != NULL && world->players <= PLAYERS_MAX);
    for (hc_player p = 0; p < world->players; p++) {
        memcpy(inputs + p * size, hc_timeline_effective(timeline, p, tick), size);
        controls[p] = (uint8_t)hc_timeline_control(timeline, p, tick);
    }
    hc_plain_load(match->plain, tick, hc_timeline_presence(timeline, tick),
                  hc_timeline_states(timeline, tick));
    hc_plain_step(match->plain, inputs, controls);
    const uint8_t *presence = hc_timeline_presence(timeline, tick + 1);
    const uint8_t *states = hc_timeline_states(timeline, tick + 1);
    if (memcmp(presence, hc_plain_presence(match->plain), world->entities) != 0 ||
        memcmp(states, hc_plain_states(match->plain), (size_t)world->entities * world->stride) != 0)
        storm_fail_worlds(match->verdict, "stepped", tick + 1, world, who, presence, states,
                          hc_plain_presence(match->plain), hc_plain_states(match->plain));
}

/// Chooses one of the ticks that the newest rewind has simulated again, none before `first`.
static void look(struct storm_match *match, const struct hc_timeline *timeline, hc_tick first,
                 unsigned who, const char *name) {
    hc_tick head = hc_timeline_head(timeline), depth = hc_timeline_stats(timeline)->depth + 1;
    first =
        hc_tick_max(first, hc_tick_max(hc_timeline_oldest(timeline), hc_tick_back(head, depth)));
    uint64_t random = hc_random(match->plan->seed, head, who, PURPOSE);
    if (depth > 1 && first < head)
        compare(match, timeline, first + (hc_tick)(random % (head - first)), name);
}

void storm_stepped_host(struct storm_match *match) {
    if (match->plan->seed % ONE_IN == 2)
        look(match, hc_sv_host_timeline(hc_sim_host(match->sim)), 0, 0, "the server");
}

void storm_stepped_client(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    struct storm_seat *seat = &match->seats[client];
    hc_tick shown, as_of;
    if (match->plan->seed % ONE_IN != 2 || !hc_client_snapshot(core, &shown, &as_of))
        return;
    // What was put since the last rewind has not spread.
    uint64_t rewinds = hc_timeline_stats(hc_client_timeline(core))->rewinds;
    if (rewinds != seat->rewinds)
        look(match, hc_client_timeline(core), shown, 1 + client, "a client");
    seat->rewinds = rewinds;
}

void storm_stepped_free(struct storm_match *match) {
    hc_plain_destroy(match->plain);
}
