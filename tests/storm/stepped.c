#include "tests/storm/stepped.h"

#include "hindcast/check.h"
#include "hindcast/rng.h"
#include "tests/oracle/plain.h"
#include "tests/storm/inside.h"

#include <string.h>

enum { ONE_IN = 4, PURPOSE = 55, PLAYERS_MAX = 64 };

/// Compares tick + 1 with a step of `tick`, both in the timeline.
static void compare(struct storm_match *match, const struct hc_timeline *timeline, hc_tick tick,
                    const uint8_t *secret, const char *who) {
    const struct hc_world *world = storm_truth_world(match->truth);
    uint8_t inputs[PLAYERS_MAX * HC_INPUT_MAX], roster_changes[PLAYERS_MAX];
    size_t size = world->game->input_size;
    if (match->plain == NULL)
        match->plain = hc_plain_create(world, true);
    HC_ASSERT(match->plain != NULL && world->players <= PLAYERS_MAX);
    for (hc_player p = 0; p < world->players; p++) {
        memcpy(inputs + p * size, hc_timeline_effective(timeline, p, tick), size);
        roster_changes[p] = (uint8_t)hc_timeline_roster(timeline, p, tick);
    }
    hc_plain_set_secret(match->plain, secret);
    hc_plain_load(match->plain, tick, hc_timeline_presence(timeline, tick),
                  hc_timeline_states(timeline, tick));
    hc_plain_step(match->plain, inputs, roster_changes);
    const uint8_t *presence = hc_timeline_presence(timeline, tick + 1);
    const uint8_t *states = hc_timeline_states(timeline, tick + 1);
    if (memcmp(presence, hc_plain_presence(match->plain), world->entities) != 0 ||
        memcmp(states, hc_plain_states(match->plain), (size_t)world->entities * world->stride) != 0)
        storm_fail_worlds(match->verdict, "stepped", tick + 1, world, who, presence, states,
                          hc_plain_presence(match->plain), hc_plain_states(match->plain));
}

/// Chooses one of the ticks that the newest rewind has simulated again, none before `first`.
static void look(struct storm_match *match, const struct hc_timeline *timeline, hc_tick first,
                 unsigned who, const uint8_t *secret, const char *name) {
    hc_tick head = hc_timeline_head(timeline), depth = hc_timeline_stats(timeline)->depth + 1;
    first =
        hc_tick_max(first, hc_tick_max(hc_timeline_oldest(timeline), hc_tick_back(head, depth)));
    uint64_t random = hc_random(match->plan->seed, head, who, PURPOSE);
    if (depth > 1 && first < head)
        compare(match, timeline, first + (hc_tick)(random % (head - first)), secret, name);
}

/// Every entity is stepped once at every new tick. Where no input came late no tick is simulated
/// again; where none of the states came out different only the players' own entities were, of as
/// many players at most as inputs came late; and where a depth is demanded all entities are.
static void check_cost(struct storm_match *match) {
    const struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_timeline_stats *stats = hc_timeline_stats(hc_sv_host_timeline(host));
    const struct hc_world *world = storm_truth_world(match->truth);
    struct storm_steps *last = &match->steps;
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(host));
    uint64_t forced = (uint64_t)storm_match_get(match, STORM_force_rewind);
    uint64_t window = (uint64_t)storm_match_get(match, STORM_history);
    uint64_t late = hc_sv_host_stats(host)->inputs_late - last->late;
    uint64_t steps = stats->resimulated_steps - last->steps;
    uint64_t ticks = stats->resimulated_ticks - last->ticks;
    uint64_t changed = stats->changed - last->changed;
    uint64_t most = ticks * world->entities, least = changed;
    forced = forced < window ? forced : window;
    if (forced > 0)
        least = (forced < head - 1 ? forced : head - 1) * world->entities;
    else if (changed == 0)
        most = ticks * world->per_owner * (late < world->players ? late : world->players);
    if (steps < least || steps > most || (late == 0 && forced == 0 && ticks > 0))
        storm_fail(match->verdict, STORM_WRONG, "cost", head,
                   "%lu steps were repeated at %lu ticks, %lu to %lu may be, after %lu late "
                   "inputs; %lu came out different",
                   (unsigned long)steps, (unsigned long)ticks, (unsigned long)least,
                   (unsigned long)most, (unsigned long)late, (unsigned long)changed);
    if (stats->steps != (uint64_t)head * world->entities)
        storm_fail(match->verdict, STORM_WRONG, "cost", head,
                   "%lu steps were taken in %u ticks of %u entities", (unsigned long)stats->steps,
                   head, world->entities);
    *last = (struct storm_steps){.late = hc_sv_host_stats(host)->inputs_late,
                                 .steps = stats->resimulated_steps,
                                 .ticks = stats->resimulated_ticks,
                                 .changed = stats->changed};
}

void storm_stepped_host(struct storm_match *match) {
    check_cost(match);
    struct hc_sv_secrets secrets = hc_sv_host_secrets(hc_sim_config(match->sim)->host.secret);
    if (match->plan->seed % ONE_IN == 2)
        look(match, hc_sv_host_timeline(hc_sim_host(match->sim)), 0, 0, secrets.world,
             "the server");
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
        look(match, hc_client_timeline(core), shown, 1 + client, NULL, "a client");
    seat->rewinds = rewinds;
}

void storm_stepped_free(struct storm_match *match) {
    hc_plain_destroy(match->plain);
}
