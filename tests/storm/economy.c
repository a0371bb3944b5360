#include "tests/storm/economy.h"

#include "common/scene.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 8,     ///< of the matches, one in so many
    DATA_MORE = 2, ///< than ticks, in a while
};

/// Rows of one tick each, the row of a tick being tick % rows.
struct storm_economy {
    uint32_t rows;
    hc_tick oldest, head;         ///< of the server when it had advanced last
    uint8_t *presence, *states;   ///< [rows] worlds as they were then
    uint8_t *given, *now;         ///< [rows] inputs that the steps were given, and as they are now
    uint8_t *changed, *must;      ///< [entities] of one tick
    uint64_t steps, least, extra; ///< counted up to then; of the newest advance: that must be, and
                                  ///< that may be beside them
};

struct storm_economy *storm_economy_create(const struct storm_match *match) {
    if (match->plan->seed % SHARE != 4 || storm_match_get(match, STORM_force_rewind) != 0)
        return NULL;
    const struct hc_world *world = storm_truth_world(match->truth);
    struct storm_economy *economy = calloc(1, sizeof *economy);
    if (economy == NULL)
        return NULL;
    size_t rows = (size_t)storm_match_get(match, STORM_history) + 2;
    size_t inputs = (size_t)world->players * world->game->input_size;
    economy->rows = (uint32_t)rows;
    economy->presence = calloc(rows, world->entities);
    economy->states = calloc(rows, (size_t)world->entities * world->stride);
    economy->given = calloc(rows, inputs);
    economy->now = calloc(rows, inputs);
    economy->changed = calloc(2, world->entities);
    if (economy->presence == NULL || economy->states == NULL || economy->given == NULL ||
        economy->now == NULL || economy->changed == NULL)
        abort();
    economy->must = economy->changed + world->entities;
    return economy;
}

void storm_economy_destroy(struct storm_economy *economy) {
    if (economy == NULL)
        return;
    free(economy->presence);
    free(economy->states);
    free(economy->given);
    free(economy->now);
    free(economy->changed);
    free(economy);
}

static void read_inputs(const struct storm_economy *economy, uint8_t *rows,
                        const struct hc_world *world, const struct hc_timeline *timeline,
                        hc_tick tick) {
    size_t size = world->game->input_size;
    uint8_t *row = rows + tick % economy->rows * world->players * size;
    for (hc_player p = 0; p < world->players; p++)
        memcpy(row + p * size, hc_timeline_effective(timeline, p, tick), size);
}

/// What has been put since the newest advance is in the effective inputs, and not yet in the
/// states. Once something was wrong the advances are no longer looked at, and the ring moves on.
void storm_economy_advances(struct storm_match *match) {
    struct storm_economy *economy = match->economy;
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    if (economy == NULL || match->verdict->result != STORM_FINE)
        return;
    for (hc_tick t = economy->oldest; t < economy->head; t++)
        read_inputs(economy, economy->now, storm_truth_world(match->truth), timeline, t);
}

// ---- What must be stepped again -----------------------------------------------------------------

/// One tick as it was and as it is.
struct both {
    const struct hc_world *world;
    const uint8_t *presence[2], *states[2];
};

static struct both both_at(const struct storm_economy *economy, const struct hc_world *world,
                           const struct hc_timeline *timeline, hc_tick tick) {
    size_t row = tick % economy->rows;
    struct both both = {
        .world = world,
        .presence = {economy->presence + row * world->entities, NULL},
        .states = {economy->states + row * world->entities * world->stride, NULL},
    };
    // What has left the ring was not changed by the rewind, which only writes later ticks.
    bool gone = tick < hc_timeline_oldest(timeline);
    both.presence[1] = gone ? both.presence[0] : hc_timeline_presence(timeline, tick);
    both.states[1] = gone ? both.states[0] : hc_timeline_states(timeline, tick);
    return both;
}

static bool differs(const struct both *both, hc_entity entity) {
    size_t at = (size_t)entity * both->world->stride;
    return both->presence[0][entity] != both->presence[1][entity] ||
           memcmp(both->states[0] + at, both->states[1] + at, both->world->stride) != 0;
}

static bool place(const struct both *both, unsigned side, hc_entity entity, int64_t *x,
                  int64_t *y) {
    return both->presence[side][entity] == HC_ALIVE &&
           hc_world_position(both->world, entity,
                             both->states[side] + (size_t)entity * both->world->stride, x, y);
}

/// Marks all that stand within reach of where `entity` was or is.
static void mark_reach(const struct both *both, hc_entity entity, uint8_t *must) {
    int64_t reach = both->world->game->reach, x = 0, y = 0, ex = 0, ey = 0;
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t e = 0; place(both, side, entity, &x, &y) && e < both->world->entities; e++)
            if (must[e] == 0 && place(both, 1, (hc_entity)e, &ex, &ey) && llabs(ex - x) <= reach &&
                llabs(ey - y) <= reach)
                must[e] = 1;
}

static void mark_owned(const struct hc_world *world, hc_player player, uint8_t *must) {
    for (uint32_t e = 0; e < world->entities; e++)
        must[e] |= world->owner_of[e] == player;
}

static bool reductions_differ(const struct both *both) {
    int64_t were[HC_REDUCTIONS_MAX] = {0}, are[HC_REDUCTIONS_MAX] = {0};
    hc_scene_reduce(both->world, both->presence[0], both->states[0], were);
    hc_scene_reduce(both->world, both->presence[1], both->states[1], are);
    return memcmp(were, are, both->world->game->reduction_count * sizeof *were) != 0;
}

/// Counts the entities that must be stepped again at a tick, and those that may be.
static void count_tick(struct storm_economy *economy, const struct hc_world *world,
                       const struct hc_timeline *timeline, hc_tick tick) {
    struct both both = both_at(economy, world, timeline, tick);
    size_t size = world->game->input_size, row = tick % economy->rows * world->players * size;
    bool any = false;
    memset(economy->must, 0, world->entities);
    for (hc_player p = 0; p < world->players; p++)
        if (memcmp(economy->given + row + p * size, economy->now + row + p * size, size) != 0) {
            mark_owned(world, p, economy->must);
            any = true;
        }
    for (uint32_t e = 0; e < world->entities; e++) {
        economy->changed[e] = differs(&both, (hc_entity)e);
        any |= economy->changed[e] != 0;
    }
    if (!any)
        return;
    for (uint32_t e = 0; e < world->entities; e++) {
        if (economy->changed[e] == 0)
            continue;
        economy->must[e] = 1;
        if (world->owner_of[e] != HC_NO_PLAYER)
            mark_owned(world, world->owner_of[e], economy->must);
        mark_reach(&both, (hc_entity)e, economy->must);
    }
    if (reductions_differ(&both))
        economy->must[HC_REFEREE] = 1;
    for (uint32_t e = 0; e < world->entities; e++) {
        economy->least += economy->must[e];
        economy->extra += economy->changed[HC_REFEREE] != 0 && economy->must[e] == 0;
    }
}

// ---- After an advance ---------------------------------------------------------------------------

static void keep(struct storm_economy *economy, const struct hc_world *world,
                 const struct hc_timeline *timeline, hc_tick tick) {
    size_t row = tick % economy->rows, states = (size_t)world->entities * world->stride;
    memcpy(economy->presence + row * world->entities, hc_timeline_presence(timeline, tick),
           world->entities);
    memcpy(economy->states + row * states, hc_timeline_states(timeline, tick), states);
    if (tick < hc_timeline_head(timeline))
        read_inputs(economy, economy->given, world, timeline, tick);
}

void storm_economy_ticked(struct storm_match *match) {
    struct storm_economy *economy = match->economy;
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    if (economy == NULL)
        return;
    const struct hc_world *world = storm_truth_world(match->truth);
    uint64_t counted = hc_timeline_stats(timeline)->resimulated_steps;
    uint64_t steps = counted - economy->steps;
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    economy->steps = counted;
    economy->least = economy->extra = 0;
    // Of several ticks at once nobody has seen what came between.
    bool seen = head == economy->head + 1;
    for (hc_tick t = economy->oldest; seen && t < economy->head; t++)
        count_tick(economy, world, timeline, t);
    if (seen && (steps < economy->least || steps > economy->least + economy->extra))
        storm_fail(match->verdict, STORM_WRONG, "economy", head,
                   "%lu steps were repeated, what has changed explains %lu, and %lu more that may "
                   "have read the referee",
                   (unsigned long)steps, (unsigned long)economy->least,
                   (unsigned long)economy->extra);
    economy->oldest = oldest;
    economy->head = head;
    for (hc_tick t = oldest; t <= head; t++)
        keep(economy, world, timeline, t);
}

// ---- Datagrams ----------------------------------------------------------------------------------

/// Whether it plays, and on the connection that it has told of.
static bool plays(const struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    return core != NULL && !match->seats[client].hostile &&
           hc_client_state(core) == HC_CLIENT_PLAYING;
}

void storm_economy_count(struct storm_match *match) {
    for (unsigned i = 0; i < match->clients; i++) {
        struct storm_seat *seat = &match->seats[i];
        seat->mark_out = plays(match, i) ? seat->tally.out : UINT64_MAX;
        seat->mark_heard = seat->tally.stalls;
    }
    match->mark_us = hc_sim_now(match->sim);
}

void storm_economy_counted(struct storm_match *match) {
    uint64_t ticks = (hc_sim_now(match->sim) - match->mark_us) / match->tick_us + 1;
    for (unsigned i = 0; i < match->clients; i++) {
        const struct storm_seat *seat = &match->seats[i];
        // Who waits is heard of at other times.
        if (seat->mark_out == UINT64_MAX || !plays(match, i) ||
            seat->tally.stalls != seat->mark_heard)
            continue;
        uint64_t sent = seat->tally.out - seat->mark_out;
        if (sent > ticks + DATA_MORE)
            storm_fail(match->verdict, STORM_WRONG, "economy", 0,
                       "client %u sends %lu datagrams in %lu ticks", i, (unsigned long)sent,
                       (unsigned long)ticks);
    }
}
