#include "tests/exact/trial.h"

#include "hindcast/arena.h"
#include "tests/exact/hurry.h"

#include <stdlib.h>
#include <string.h>

const char *const trial_count_names[TRIAL_COUNTS] = {
    [COUNT_AUTHORITIES] = "authorities",
    [COUNT_FOLLOWERS] = "followers",
    [COUNT_COMPARED_TICKS] = "ticks compared",
    [COUNT_IN_TIME] = "histories repeated in time",
    [COUNT_SPREAD] = "authorities that spread to another player",
    [COUNT_DIED_OUT] = "authorities that died out before the head",
    [COUNT_LATE_INPUTS] = "late inputs",
    [COUNT_EARLY_INPUTS] = "inputs in time",
    [COUNT_OLD_INPUTS] = "inputs older than the window",
    [COUNT_DOUBLED] = "inputs for closed slots",
    [COUNT_FORCED] = "slots forced",
    [COUNT_JOINS] = "joins",
    [COUNT_LEAVES] = "leaves",
    [COUNT_PINS] = "states put",
    [COUNT_RESTARTS] = "restarts",
    [COUNT_RETRACTED] = "inputs retracted",
    [COUNT_DEATHS] = "deaths",
    [COUNT_RESPAWNS] = "respawns",
    [COUNT_PICKUPS] = "pickups taken",
    [COUNT_CONTESTED] = "pickups contested",
    [COUNT_MATCH_ENDS] = "match ends",
    [COUNT_REWINDS] = "rewinds",
    [COUNT_SELECTIVE_STEPS] = "entity steps repeated, selective",
    [COUNT_FULL_STEPS] = "entity steps repeated, full",
};

static uint32_t between(struct trial *trial, uint32_t from, uint32_t to) {
    return from + hc_rng_below(&trial->rng, to - from + 1);
}

/// Draws the world and the window.
static bool draw_setting(struct trial *trial) {
    static const uint16_t rates[5] = {10, 15, 20, 30, 60};
    static const uint32_t windows[4][2] = {{0, 4}, {5, 16}, {8, 32}, {24, 64}};
    bool tiny = hc_rng_below(&trial->rng, 4) == 0;
    uint32_t players = tiny ? between(trial, 2, 5) : between(trial, 7, 9);
    if (!tiny && hc_rng_below(&trial->rng, 6) == 0)
        players = between(trial, 10, 20);
    const uint32_t *window = windows[hc_rng_below(&trial->rng, 4)];
    trial->advances = between(trial, 64, hc_rng_below(&trial->rng, 8) == 0 ? 160 : 96);
    hurry_game(&trial->game);
    uint16_t rate = rates[hc_rng_below(&trial->rng, 5)];
    if (hc_world_init(&trial->world, &trial->game, (uint16_t)players, rate,
                      hc_rng_next(&trial->rng), NULL) != HC_OK)
        return false;
    trial->config = hc_timeline_config_default();
    trial->config.world = &trial->world;
    trial->config.history = between(trial, window[0], window[1]);
    trial->config.future = between(trial, 1, 40);
    trial->config.replica = hc_rng_below(&trial->rng, 3) == 0;
    trial->always = hc_rng_below(&trial->rng, 10) == 0;
    trial->lossless = hc_rng_below(&trial->rng, 3) == 0 && !trial->config.replica;
    return true;
}

static struct truth *draw_truth(struct trial *trial) {
    uint32_t late_max = between(trial, 0, trial->config.history);
    if (!trial->lossless)
        late_max += between(trial, 0, 6);
    struct truth_plan plan = {
        .world = &trial->world,
        .ticks = trial->advances + trial->config.future + (trial->config.replica ? 128 : 8),
        .hold_max = between(trial, 1, 12),
        .early_max = (int32_t)between(trial, 0, hc_tick_min(trial->config.future, 6)),
        .late_max = (int32_t)late_max,
        .missing_ppm = trial->lossless ? 0 : between(trial, 0, 100000),
        .leave_ppm = between(trial, 0, 15000),
        .states = trial->config.replica,
    };
    return truth_create(&plan, &trial->rng);
}

static bool prepare(struct trial *trial) {
    if (!draw_setting(trial))
        return false;
    trial->truth = draw_truth(trial);
    if (trial->truth == NULL)
        return false;
    trial->record = hc_history_create(&trial->config, trial->truth->plan.ticks);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++) {
        struct hc_timeline_config config = trial->config;
        config.full = k == TRIAL_FULL;
        trial->keepers[k] = hc_timeline_create(&config);
    }
    size_t tick = (size_t)trial->world.entities * (trial->world.stride + 1u);
    trial->late = calloc(trial->world.players, sizeof *trial->late);
    trial->before = malloc(tick * (trial->config.history + 1));
    return trial->record != NULL && trial->keepers[0] != NULL && trial->keepers[1] != NULL &&
           trial->late != NULL && trial->before != NULL;
}

static void clean_up(struct trial *trial) {
    truth_destroy(trial->truth);
    hc_history_destroy(trial->record);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        hc_timeline_destroy(trial->keepers[k]);
    free(trial->late);
    free(trial->before);
    hc_world_free(&trial->world);
}

/// Begins at tick 0, or for a follower at a state, before which nothing may be put.
static bool begin(struct trial *trial) {
    uint8_t input[HC_INPUT_MAX] = {0};
    if (!trial_put_input(trial, 0, 0, input) || !trial_put_roster(trial, 0, 0, HC_ROSTER_JOIN))
        return false;
    if (trial->config.replica)
        return trial_hear_state(trial, between(trial, 0, 20));
    hc_history_start(trial->record);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        hc_timeline_start(trial->keepers[k]);
    return true;
}

/// Keeps what the selective timeline holds, to see afterwards what a settle has changed.
static void watch(struct trial *trial) {
    const struct hc_timeline *timeline = trial->keepers[TRIAL_SELECTIVE];
    size_t entities = trial->world.entities, bytes = entities * trial->world.stride;
    uint8_t *to = trial->before;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++) {
        memcpy(to, hc_timeline_presence(timeline, t), entities);
        memcpy(to + entities, hc_timeline_states(timeline, t), bytes);
        to += entities + bytes;
    }
}

/// Whether an entity of a player of whom nothing came late differs from what was kept.
static bool reached_another(const struct trial *trial, const uint8_t *before, hc_tick tick) {
    const struct hc_world *world = &trial->world;
    const uint8_t *states = hc_timeline_states(trial->keepers[TRIAL_SELECTIVE], tick);
    for (uint32_t e = 0; e < world->entities; e++) {
        hc_player owner = world->owner_of[e];
        size_t at = (size_t)e * world->stride;
        if (owner != HC_NO_PLAYER && !trial->late[owner] &&
            memcmp(states + at, before + world->entities + at, world->stride) != 0)
            return true;
    }
    return false;
}

/// Finds how far late inputs reached: to other players, and to the head.
static void see(struct trial *trial) {
    const struct hc_timeline *timeline = trial->keepers[TRIAL_SELECTIVE];
    size_t entities = trial->world.entities, bytes = entities * trial->world.stride;
    const uint8_t *before = trial->before;
    bool changed = false, now = false;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++) {
        now = memcmp(before, hc_timeline_presence(timeline, t), entities) != 0 ||
              memcmp(before + entities, hc_timeline_states(timeline, t), bytes) != 0;
        changed = changed || now;
        trial->spread = trial->spread || (now && reached_another(trial, before, t));
        before += entities + bytes;
    }
    trial->died_out = trial->died_out || (changed && !now);
}

static void settle(struct trial *trial) {
    bool watched = trial->any_late && !trial->config.replica && !(trial->spread && trial->died_out);
    if (watched)
        watch(trial);
    // A settle of its own before that of the advance must make no difference.
    if (watched || hc_rng_below(&trial->rng, 8) == 0)
        hc_timeline_resimulate(trial->keepers[TRIAL_SELECTIVE]);
    if (hc_rng_below(&trial->rng, 8) == 0)
        hc_timeline_resimulate(trial->keepers[TRIAL_FULL]);
    if (watched)
        see(trial);
    trial->any_late = false;
    memset(trial->late, 0, trial->world.players * sizeof *trial->late);
}

static bool play(struct trial *trial) {
    if (!begin(trial))
        return false;
    for (trial->done = 0;; trial->done++) {
        if (!(trial->config.replica ? trial_act_replica : trial_act_authority)(trial))
            return false;
        settle(trial);
        if (trial->done == trial->advances)
            break;
        hc_history_advance(trial->record);
        for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
            hc_timeline_advance(trial->keepers[k]);
        if (!trial->always)
            continue;
        hc_history_resimulate(trial->record);
        if (!trial_compare(trial))
            return false;
    }
    hc_history_resimulate(trial->record);
    for (unsigned k = 0; k < TRIAL_KEEPERS; k++)
        hc_timeline_resimulate(trial->keepers[k]);
    return trial_compare(trial) && trial_compare_in_time(trial);
}

/// Players alive in the world, and not dead in the game, within grasp of a pickup.
static unsigned grasping(const struct trial *trial, hc_tick tick,
                         const struct hc_arena_pickup *pickup) {
    const struct hc_world *world = &trial->world;
    const uint8_t *states = hc_history_states(trial->record, tick);
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

static void tally_entity(struct trial *trial, hc_tick tick, hc_entity entity, const uint8_t *before,
                         const uint8_t *after) {
    struct hc_arena_player was, is;
    struct hc_arena_pickup lay, lies;
    switch (trial->world.kind_of[entity]) {
    case HC_ARENA_KIND_PLAYER:
        memcpy(&was, before, sizeof was);
        memcpy(&is, after, sizeof is);
        trial->counts[COUNT_DEATHS] += was.health > 0 && is.health == 0;
        trial->counts[COUNT_RESPAWNS] += was.health == 0 && is.health > 0;
        break;
    case HC_ARENA_KIND_PICKUP:
        memcpy(&lay, before, sizeof lay);
        memcpy(&lies, after, sizeof lies);
        if (lies.winner == HC_ARENA_NOBODY)
            break;
        trial->counts[COUNT_PICKUPS]++;
        trial->counts[COUNT_CONTESTED] += grasping(trial, tick, &lay) > 1;
        break;
    case HC_ARENA_KIND_REFEREE:
        trial->counts[COUNT_MATCH_ENDS] +=
            ((const struct hc_arena_referee *)before)->phase == HC_ARENA_PLAYING &&
            ((const struct hc_arena_referee *)after)->phase == HC_ARENA_OVER;
        break;
    default:
        break;
    }
}

/// Counts what happened in the record of an authority; a follower's may hold lies.
static void tally(struct trial *trial) {
    const struct hc_world *world = &trial->world;
    trial->counts[trial->config.replica ? COUNT_FOLLOWERS : COUNT_AUTHORITIES]++;
    trial->counts[COUNT_SPREAD] += trial->spread;
    trial->counts[COUNT_DIED_OUT] += trial->died_out;
    const struct hc_timeline_stats *selective = hc_timeline_stats(trial->keepers[TRIAL_SELECTIVE]);
    trial->counts[COUNT_REWINDS] += selective->rewinds;
    trial->counts[COUNT_SELECTIVE_STEPS] += selective->resimulated_steps;
    trial->counts[COUNT_FULL_STEPS] +=
        hc_timeline_stats(trial->keepers[TRIAL_FULL])->resimulated_steps;
    for (hc_tick t = 0; !trial->config.replica && t < hc_history_head(trial->record); t++) {
        for (uint32_t e = 0; e < world->entities; e++) {
            bool both = hc_history_presence(trial->record, t)[e] == HC_ALIVE &&
                        hc_history_presence(trial->record, t + 1)[e] == HC_ALIVE;
            size_t at = (size_t)e * world->stride;
            if (both)
                tally_entity(trial, t, (hc_entity)e, hc_history_states(trial->record, t) + at,
                             hc_history_states(trial->record, t + 1) + at);
        }
    }
}

bool trial_run(struct trial *trial, uint64_t seed, uint32_t number) {
    *trial = (struct trial){.seed = seed, .number = number, .rng = hc_rng_init(seed, number)};
    bool prepared = prepare(trial);
    bool same = prepared && play(trial);
    if (same)
        tally(trial);
    clean_up(trial);
    return same;
}
