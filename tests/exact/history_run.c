/// The course of a random history: its settings, its ticks, and the counts of its events.
#include "tests/exact/history_run.h"

#include "hindcast/arena.h"
#include "tests/exact/crowded_arena.h"

#include <stdlib.h>
#include <string.h>

const char *const run_count_names[RUN_COUNTS] = {
    [COUNT_AUTHORITIES] = "authorities",
    [COUNT_REPLICAS] = "replicas",
    [COUNT_COMPARED_TICKS] = "ticks compared",
    [COUNT_IN_TIME] = "histories replayed with inputs in time",
    [COUNT_SPREAD] = "authorities that spread to another player",
    [COUNT_DIED_OUT] = "authorities that died out before the head",
    [COUNT_LATE_INPUTS] = "late inputs",
    [COUNT_EARLY_INPUTS] = "inputs in time",
    [COUNT_OLD_INPUTS] = "inputs older than the window",
    [COUNT_DOUBLED] = "inputs for closed slots",
    [COUNT_FORCED] = "slots forced",
    [COUNT_JOINS] = "joins",
    [COUNT_LEAVES] = "leaves",
    [COUNT_STATES] = "states received",
    [COUNT_RESTARTS] = "restarts",
    [COUNT_RETRACTED] = "inputs retracted",
    [COUNT_DEATHS] = "deaths",
    [COUNT_RESPAWNS] = "respawns",
    [COUNT_PICKUPS] = "pickups taken",
    [COUNT_CONTESTED] = "pickups contested",
    [COUNT_MATCH_ENDS] = "match ends",
    [COUNT_REWINDS] = "rewinds",
    [COUNT_SELECTIVE_STEPS] = "entity steps taken again, selective",
    [COUNT_FULL_STEPS] = "entity steps taken again, full",
};

static uint32_t between(struct history_run *run, uint32_t from, uint32_t to) {
    return from + hc_rng_below(&run->rng, to - from + 1);
}

/// Draws the world and the window.
static bool draw_setting(struct history_run *run) {
    static const uint16_t rates[5] = {10, 15, 20, 30, 60};
    static const uint32_t windows[4][2] = {{0, 4}, {5, 16}, {8, 32}, {24, 64}};
    bool tiny = hc_rng_below(&run->rng, 4) == 0;
    uint32_t players = tiny ? between(run, 2, 5) : between(run, 7, 9);
    if (!tiny && hc_rng_below(&run->rng, 6) == 0)
        players = between(run, 10, 20);
    const uint32_t *window = windows[hc_rng_below(&run->rng, 4)];
    run->advances = between(run, 64, hc_rng_below(&run->rng, 8) == 0 ? 160 : 96);
    uint32_t lookback = run->number % 4 < 2 ? 0 : 1 + run->number / 4 % 16;
    crowded_arena_game(&run->game, run->number % 2 == 1, lookback);
    run->game.stays_vacant = run->number % 3 != 0; // otherwise all steps are taken
    uint16_t rate = rates[hc_rng_below(&run->rng, 5)];
    if (hc_world_init(&run->world, &run->game, (uint16_t)players, rate, hc_rng_next(&run->rng),
                      NULL) != HC_OK)
        return false;
    run->config = hc_timeline_config_default();
    run->config.world = &run->world;
    run->config.history = between(run, window[0], window[1]);
    run->config.future = between(run, 1, 40);
    run->config.replica = hc_rng_below(&run->rng, 3) == 0;
    run->always = hc_rng_below(&run->rng, 10) == 0;
    run->lossless = hc_rng_below(&run->rng, 3) == 0 && !run->config.replica;
    return true;
}

static struct truth *draw_truth(struct history_run *run) {
    uint32_t late_max = between(run, 0, run->config.history);
    if (!run->lossless)
        late_max += between(run, 0, 6);
    struct truth_plan plan = {
        .world = &run->world,
        .ticks = run->advances + run->config.future + (run->config.replica ? 128 : 8),
        .hold_max = between(run, 1, 12),
        .early_max = (int32_t)between(run, 0, hc_tick_min(run->config.future, 6)),
        .late_max = (int32_t)late_max,
        .missing_ppm = run->lossless ? 0 : between(run, 0, 100000),
        .leave_ppm = between(run, 0, 15000),
        .states = run->config.replica,
    };
    return truth_create(&plan, &run->rng);
}

static bool prepare(struct history_run *run) {
    if (!draw_setting(run))
        return false;
    run->truth = draw_truth(run);
    if (run->truth == NULL)
        return false;
    run->record = hc_history_create(&run->config, run->truth->plan.ticks);
    for (unsigned k = 0; k < RUN_TIMELINES; k++) {
        struct hc_timeline_config config = run->config;
        config.full = k == RUN_FULL;
        run->timelines[k] = hc_timeline_create(&config);
    }
    size_t tick = (size_t)run->world.entities * (run->world.stride + 1u);
    run->late = calloc(run->world.players, sizeof *run->late);
    run->before = malloc(tick * (run->config.history + 1));
    return run->record != NULL && run->timelines[0] != NULL && run->timelines[1] != NULL &&
           run->late != NULL && run->before != NULL;
}

static void clean_up(struct history_run *run) {
    truth_destroy(run->truth);
    hc_history_destroy(run->record);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        hc_timeline_destroy(run->timelines[k]);
    free(run->late);
    free(run->before);
    hc_world_free(&run->world);
}

/// Starts an authority at tick 0, or a replica with a state. Every put before that is refused.
static bool begin(struct history_run *run) {
    uint8_t input[HC_INPUT_MAX] = {0};
    if (!run_put_input(run, 0, 0, input) || !run_put_roster(run, 0, 0, HC_ROSTER_JOIN))
        return false;
    if (run->config.replica)
        return run_receive_state(run, between(run, 0, 20));
    hc_history_start(run->record);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        hc_timeline_start(run->timelines[k]);
    return true;
}

/// Copies the selective timeline's ring, to find the changes of a resimulation.
static void copy_ring(struct history_run *run) {
    const struct hc_timeline *timeline = run->timelines[RUN_SELECTIVE];
    size_t entities = run->world.entities, bytes = entities * run->world.stride;
    uint8_t *to = run->before;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++) {
        memcpy(to, hc_timeline_presence(timeline, t), entities);
        memcpy(to + entities, hc_timeline_states(timeline, t), bytes);
        to += entities + bytes;
    }
}

/// Whether an entity differs from the copy `before` although its owner had no late input.
static bool reached_another(const struct history_run *run, const uint8_t *before, hc_tick tick) {
    const struct hc_world *world = &run->world;
    const uint8_t *states = hc_timeline_states(run->timelines[RUN_SELECTIVE], tick);
    for (uint32_t e = 0; e < world->entities; e++) {
        hc_player owner = world->owner_of[e];
        size_t at = (size_t)e * world->stride;
        if (owner != HC_NO_PLAYER && !run->late[owner] &&
            memcmp(states + at, before + world->entities + at, world->stride) != 0)
            return true;
    }
    return false;
}

/// Finds whether late inputs reached other players, and whether their changes died out.
static void measure_spread(struct history_run *run) {
    const struct hc_timeline *timeline = run->timelines[RUN_SELECTIVE];
    size_t entities = run->world.entities, bytes = entities * run->world.stride;
    const uint8_t *before = run->before;
    bool changed = false, differs = false;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++) {
        differs = memcmp(before, hc_timeline_presence(timeline, t), entities) != 0 ||
                  memcmp(before + entities, hc_timeline_states(timeline, t), bytes) != 0;
        changed = changed || differs;
        run->spread = run->spread || (differs && reached_another(run, before, t));
        before += entities + bytes;
    }
    run->died_out = run->died_out || (changed && !differs);
}

static void resimulate(struct history_run *run) {
    bool watched = run->any_late && !run->config.replica && !(run->spread && run->died_out);
    if (watched)
        copy_ring(run);
    // An extra resimulation before the advance must make no difference.
    if (watched || hc_rng_below(&run->rng, 8) == 0)
        hc_timeline_resimulate(run->timelines[RUN_SELECTIVE]);
    if (hc_rng_below(&run->rng, 8) == 0)
        hc_timeline_resimulate(run->timelines[RUN_FULL]);
    if (watched)
        measure_spread(run);
    run->any_late = false;
    memset(run->late, 0, run->world.players * sizeof *run->late);
}

static bool play(struct history_run *run) {
    if (!begin(run))
        return false;
    for (run->done = 0;; run->done++) {
        if (!(run->config.replica ? run_act_replica : run_act_authority)(run))
            return false;
        resimulate(run);
        if (run->done == run->advances)
            break;
        hc_history_advance(run->record);
        for (unsigned k = 0; k < RUN_TIMELINES; k++)
            hc_timeline_advance(run->timelines[k]);
        if (!run->always)
            continue;
        hc_history_resimulate(run->record);
        if (!run_compare(run))
            return false;
    }
    hc_history_resimulate(run->record);
    for (unsigned k = 0; k < RUN_TIMELINES; k++)
        hc_timeline_resimulate(run->timelines[k]);
    return run_compare(run) && run_compare_in_time(run);
}

/// The number of living players that can grasp a pickup.
static unsigned grasping(const struct history_run *run, hc_tick tick,
                         const struct hc_arena_pickup *pickup) {
    const struct hc_world *world = &run->world;
    const uint8_t *states = hc_history_states(run->record, tick);
    unsigned count = 0;
    for (hc_player p = 0; p < world->players; p++) {
        hc_entity e = hc_world_player(world, p);
        struct hc_arena_player player;
        memcpy(&player, states + (size_t)e * world->stride, sizeof player);
        int32_t dx = player.x - pickup->x, dy = player.y - pickup->y;
        count += player.health > 0 && dx * dx + dy * dy <= HC_ARENA_GRASP * HC_ARENA_GRASP;
    }
    return count;
}

static void tally_entity(struct history_run *run, hc_tick tick, hc_entity entity,
                         const uint8_t *before, const uint8_t *after) {
    struct hc_arena_player was, is;
    struct hc_arena_pickup lay, lies;
    switch (run->world.kind_of[entity]) {
    case HC_ARENA_KIND_PLAYER:
        memcpy(&was, before, sizeof was);
        memcpy(&is, after, sizeof is);
        run->counts[COUNT_DEATHS] += was.health > 0 && is.health == 0;
        run->counts[COUNT_RESPAWNS] += was.health == 0 && is.health > 0;
        break;
    case HC_ARENA_KIND_PICKUP:
        memcpy(&lay, before, sizeof lay);
        memcpy(&lies, after, sizeof lies);
        if (lies.winner == HC_ARENA_NOBODY)
            break;
        run->counts[COUNT_PICKUPS]++;
        run->counts[COUNT_CONTESTED] += grasping(run, tick, &lay) > 1;
        break;
    case HC_ARENA_KIND_REFEREE:
        run->counts[COUNT_MATCH_ENDS] +=
            ((const struct hc_arena_referee *)before)->phase == HC_ARENA_PLAYING &&
            ((const struct hc_arena_referee *)after)->phase == HC_ARENA_OVER;
        break;
    default:
        break;
    }
}

/// Counts the events of the history. Game events count only on an authority, because a replica
/// receives false states too.
static void tally(struct history_run *run) {
    const struct hc_world *world = &run->world;
    run->counts[run->config.replica ? COUNT_REPLICAS : COUNT_AUTHORITIES]++;
    run->counts[COUNT_SPREAD] += run->spread;
    run->counts[COUNT_DIED_OUT] += run->died_out;
    const struct hc_timeline_stats *selective = hc_timeline_stats(run->timelines[RUN_SELECTIVE]);
    run->counts[COUNT_REWINDS] += selective->rewinds;
    run->counts[COUNT_SELECTIVE_STEPS] += selective->resimulated_steps;
    run->counts[COUNT_FULL_STEPS] += hc_timeline_stats(run->timelines[RUN_FULL])->resimulated_steps;
    for (hc_tick t = 0; !run->config.replica && t < hc_history_head(run->record); t++) {
        for (uint32_t e = 0; e < world->entities; e++) {
            bool both = hc_history_presence(run->record, t)[e] == HC_ALIVE &&
                        hc_history_presence(run->record, t + 1)[e] == HC_ALIVE;
            size_t at = (size_t)e * world->stride;
            if (both)
                tally_entity(run, t, (hc_entity)e, hc_history_states(run->record, t) + at,
                             hc_history_states(run->record, t + 1) + at);
        }
    }
}

bool run_history(struct history_run *run, uint64_t seed, uint32_t number) {
    *run = (struct history_run){.seed = seed, .number = number, .rng = hc_rng_init(seed, number)};
    bool prepared = prepare(run);
    bool same = prepared && play(run);
    if (same)
        tally(run);
    clean_up(run);
    return same;
}
