/// Owns the questions to a game's `hides`.
#include "check/hides.h"

#include "check/call.h"

#include <string.h>

enum { DIRTY = 0xa3, PLACE = 96 };

/// Two entities that are alive.
struct both {
    hc_entity viewer, other;
    const void *viewer_state, *other_state;
};

static void report(const struct hc_world *world, struct hc_ck_faults *faults, hc_tick tick,
                   const struct both *both, enum hc_ck_kind kind, const char *what) {
    char place[PLACE];
    hc_ck_fault(faults, kind, what, "%s: hides %s; the viewer is entity %u",
                hc_ck_place(world, tick, both->other, place, sizeof(place)), what,
                (unsigned)both->viewer);
}

static struct hc_ck_result ask(const struct hc_world *world, const struct both *both,
                               uint8_t pattern) {
    struct hc_ck_result result;
    hc_ck_call_hides(world, both->viewer, both->viewer_state, both->other, both->other_state,
                     pattern, &result);
    return result;
}

static void check(const struct hc_world *world, const struct hc_world *build, hc_tick tick,
                  const struct both *both, const struct both *between,
                  struct hc_ck_faults *faults) {
    struct hc_ck_result first = ask(world, both, 0);
    (void)ask(world, between, 0); // a function that keeps something answers otherwise then
    struct hc_ck_result again = ask(world, both, 0), dirty = ask(world, both, DIRTY);
    enum { RESULTS = 3 };
    const struct hc_ck_result *results[RESULTS] = {&first, &again, &dirty};
    for (unsigned i = 0; i < RESULTS; i++)
        if (results[i]->end.signal != 0) {
            char place[PLACE];
            hc_ck_crash(faults, &results[i]->end, "%s: hides, for the viewer entity %u,",
                        hc_ck_place(world, tick, both->other, place, sizeof(place)),
                        (unsigned)both->viewer);
            return;
        }
    if (!first.inside || !again.inside || !dirty.inside)
        report(world, faults, tick, both, HC_CK_WRITE, "writes to its arguments");
    if (first.alive != again.alive)
        report(world, faults, tick, both, HC_CK_HIDES, "gives another answer when it is repeated");
    else if (first.alive != dirty.alive)
        report(world, faults, tick, both, HC_CK_HIDES,
               "gives another answer with other memory around the states");
    else if (build != NULL && ask(build, both, 0).alive != first.alive)
        report(world, faults, tick, both, HC_CK_BUILD, "gives another answer in the other build");
}

/// Sets `both` to a player and a drawn entity; false: one of them is not alive, or the server never
/// asks for both, because a client always sees the referee and what its players own.
static bool choose(const struct hc_world *world, const struct hc_plain *plain, hc_player player,
                   struct hc_rng *rng, struct both *both) {
    const uint8_t *presence = hc_plain_presence(plain), *states = hc_plain_states(plain);
    both->viewer = hc_world_player(world, player);
    both->other = (hc_entity)hc_rng_below(rng, world->entities);
    both->viewer_state = states + (size_t)both->viewer * world->stride;
    both->other_state = states + (size_t)both->other * world->stride;
    return both->other != HC_REFEREE && world->owner_of[both->other] != player &&
           presence[both->viewer] == HC_ALIVE && presence[both->other] == HC_ALIVE;
}

void hc_ck_hides_tick(const struct hc_world *world, const struct hc_world *other,
                      const struct hc_plain *plain, struct hc_ck_faults *faults,
                      struct hc_rng *rng) {
    struct both both, between;
    bool has_between = false;
    for (hc_player p = 0; world->game->hides != NULL && p < world->players; p++) {
        if (!choose(world, plain, p, rng, &both))
            continue;
        check(world, other, hc_plain_tick(plain), &both, has_between ? &between : &both, faults);
        between = both;
        has_between = true;
    }
}
