#include "tests/exact/trial.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const keeper_names[TRIAL_KEEPERS] = {"selective", "full"};

bool trial_differs(const struct trial *trial, hc_tick tick, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("history %" PRIu32 " of seed %" PRIu64 " (%s, %u players, W %" PRIu32
           ") differs at tick %" PRIu32 " of [%" PRIu32 ", %" PRIu32 "]: ",
           trial->number, trial->seed, trial->config.replica ? "follower" : "authority",
           (unsigned)trial->world.players, trial->config.history, tick,
           hc_history_oldest(trial->record), hc_history_head(trial->record));
    vprintf(format, arguments);
    printf("\n  repeat: exact_histories --seed %" PRIu64 " --from %" PRIu32 " --histories 1\n",
           trial->seed, trial->number);
    va_end(arguments);
    fflush(stdout);
    return false;
}

/// Names the first entity and field in which a keeper's tick is not the record's.
static bool name_difference(const struct trial *trial, const char *keeper, hc_tick tick,
                            const uint8_t *presence, const uint8_t *states) {
    const struct hc_world *world = &trial->world;
    const uint8_t *true_presence = hc_history_presence(trial->record, tick);
    const uint8_t *true_states = hc_history_states(trial->record, tick);
    for (uint32_t e = 0; e < world->entities; e++) {
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        const uint8_t *a = true_states + (size_t)e * world->stride;
        const uint8_t *b = states + (size_t)e * world->stride;
        if (true_presence[e] != presence[e])
            return trial_differs(trial, tick, "%s: presence of %s %" PRIu32 " is %u, truly %u",
                                 keeper, kind->name, e, (unsigned)presence[e],
                                 (unsigned)true_presence[e]);
        for (uint16_t f = 0; f < kind->field_count; f++) {
            int64_t truly = hc_field_get(&kind->fields[f], a);
            int64_t held = hc_field_get(&kind->fields[f], b);
            if (truly != held)
                return trial_differs(trial, tick,
                                     "%s: %s of %s %" PRIu32 " is %" PRId64 ", truly %" PRId64,
                                     keeper, kind->fields[f].name, kind->name, e, held, truly);
        }
        if (memcmp(a, b, world->stride) != 0)
            return trial_differs(trial, tick, "%s: bytes outside the fields of %s %" PRIu32, keeper,
                                 kind->name, e);
    }
    return true;
}

static bool compare_world(const struct trial *trial, const char *keeper, hc_tick tick,
                          const uint8_t *presence, const uint8_t *states) {
    const struct hc_world *world = &trial->world;
    if (memcmp(presence, hc_history_presence(trial->record, tick), world->entities) == 0 &&
        memcmp(states, hc_history_states(trial->record, tick),
               (size_t)world->entities * world->stride) == 0)
        return true;
    return name_difference(trial, keeper, tick, presence, states);
}

static bool compare_effective(const struct trial *trial, unsigned k, hc_tick tick) {
    const struct hc_game *game = trial->world.game;
    const uint8_t *truly = hc_history_inputs(trial->record, tick);
    for (hc_player p = 0; p < trial->world.players; p++) {
        const uint8_t *held = hc_timeline_effective(trial->keepers[k], p, tick);
        const uint8_t *a = truly + (size_t)p * game->input_size;
        for (uint8_t f = 0; memcmp(held, a, game->input_size) != 0 && f < game->input_field_count;
             f++) {
            const struct hc_field *field = &game->input_fields[f];
            if (hc_field_get(field, held) != hc_field_get(field, a))
                return trial_differs(trial, tick,
                                     "%s: effective %s of player %u is %" PRId64 ", truly %" PRId64,
                                     keeper_names[k], field->name, (unsigned)p,
                                     hc_field_get(field, held), hc_field_get(field, a));
        }
    }
    return true;
}

/// How the slots of one tick stand, and which known input is newest before it.
static bool compare_slots(const struct trial *trial, unsigned k, hc_tick tick) {
    const struct hc_timeline *timeline = trial->keepers[k];
    size_t size = trial->world.game->input_size;
    for (hc_player p = 0; p < trial->world.players; p++) {
        enum hc_slot truly = hc_history_slot(trial->record, p, tick);
        enum hc_slot held = hc_timeline_slot(timeline, p, tick);
        if (truly != held)
            return trial_differs(trial, tick, "%s: slot of player %u is %d, truly %d",
                                 keeper_names[k], (unsigned)p, (int)held, (int)truly);
        if (hc_timeline_roster(timeline, p, tick) != hc_history_roster(trial->record, p, tick))
            return trial_differs(trial, tick, "%s: control of player %u", keeper_names[k],
                                 (unsigned)p);
        if ((tick + p) % 8 != 0) // looking back through the record is slow; chance covers the rest
            continue;
        uint8_t a[HC_INPUT_MAX], b[HC_INPUT_MAX];
        hc_tick at_a = HC_NO_TICK, at_b = HC_NO_TICK;
        bool has_a = hc_history_newest_input(trial->record, p, tick, &at_a, a);
        bool has_b = hc_timeline_newest_input(timeline, p, tick, &at_b, b);
        if (has_a != has_b || (has_a && (at_a != at_b || memcmp(a, b, size) != 0)))
            return trial_differs(
                trial, tick, "%s: newest input of player %u is of %" PRId64 ", truly of %" PRId64,
                keeper_names[k], (unsigned)p, has_b ? (int64_t)at_b : -1,
                has_a ? (int64_t)at_a : -1);
    }
    return true;
}

static bool compare_complete(const struct trial *trial, unsigned k) {
    for (hc_player p = 0; p < trial->world.players; p++) {
        if (trial->config.replica || !hc_history_joined(trial->record, p))
            continue;
        hc_tick truly = hc_history_inputs_through(trial->record, p);
        hc_tick held = hc_timeline_inputs_through(trial->keepers[k], p);
        if (truly != held)
            return trial_differs(trial, truly, "%s: player %u complete up to %" PRIu32,
                                 keeper_names[k], (unsigned)p, held);
    }
    return true;
}

static bool compare_keeper(struct trial *trial, unsigned k) {
    const struct hc_timeline *timeline = trial->keepers[k];
    hc_tick head = hc_history_head(trial->record), oldest = hc_history_oldest(trial->record);
    if (hc_timeline_head(timeline) != head || hc_timeline_oldest(timeline) != oldest)
        return trial_differs(trial, hc_timeline_head(timeline), "%s: head or oldest",
                             keeper_names[k]);
    for (hc_tick t = oldest; t <= head; t++) {
        // The inputs come first: they are the cause, states the effect.
        if (t < head && !compare_effective(trial, k, t))
            return false;
        if (!compare_world(trial, keeper_names[k], t, hc_timeline_presence(timeline, t),
                           hc_timeline_states(timeline, t)))
            return false;
        trial->counts[COUNT_COMPARED_TICKS]++;
    }
    for (hc_tick t = hc_history_first_input(trial->record); t <= head + trial->config.future; t++)
        if (!compare_slots(trial, k, t))
            return false;
    if (hc_timeline_hash(timeline, head) != hc_world_hash(&trial->world,
                                                          hc_history_presence(trial->record, head),
                                                          hc_history_states(trial->record, head)))
        return trial_differs(trial, head, "%s: hash", keeper_names[k]);
    return compare_complete(trial, k);
}

bool trial_compare(struct trial *trial) {
    // `full` goes first: where both are wrong the rules of inputs are, not those of spreading.
    return compare_keeper(trial, TRIAL_FULL) && compare_keeper(trial, TRIAL_SELECTIVE);
}

/// Whether every slot of every life before the head is known in the end.
static bool all_known(const struct trial *trial) {
    for (hc_player p = 0; p < trial->world.players; p++) {
        bool in = false;
        for (hc_tick t = 0; t < hc_history_head(trial->record); t++) {
            if (in && hc_history_slot(trial->record, p, t) != HC_SLOT_KNOWN)
                return false;
            enum hc_roster roster_change = hc_history_roster(trial->record, p, t);
            in = roster_change == HC_ROSTER_NONE ? in : roster_change == HC_ROSTER_JOIN;
        }
    }
    return true;
}

static void put_in_time(struct trial *trial, struct hc_timeline *timeline, hc_tick tick) {
    for (hc_player p = 0; p < trial->world.players; p++) {
        if (hc_history_slot(trial->record, p, tick) == HC_SLOT_KNOWN)
            (void)hc_timeline_put_input(timeline, p, tick,
                                        hc_history_inputs(trial->record, tick) +
                                            (size_t)p * trial->world.game->input_size);
        enum hc_roster roster_change = hc_history_roster(trial->record, p, tick);
        if (roster_change != HC_ROSTER_NONE)
            (void)hc_timeline_put_roster(timeline, p, tick, roster_change);
    }
}

bool trial_compare_in_time(struct trial *trial) {
    if (trial->config.replica || !all_known(trial))
        return true;
    struct hc_timeline *timeline = hc_timeline_create(&trial->config);
    if (timeline == NULL)
        return trial_differs(trial, 0, "no memory");
    hc_timeline_start(timeline);
    hc_tick head = hc_history_head(trial->record);
    bool same = true;
    for (hc_tick t = 0; same && t < head; t++) {
        put_in_time(trial, timeline, t);
        hc_timeline_advance(timeline);
        same = compare_world(trial, "in time", t + 1, hc_timeline_presence(timeline, t + 1),
                             hc_timeline_states(timeline, t + 1));
    }
    if (same && hc_timeline_stats(timeline)->resimulated_steps != 0)
        same = trial_differs(trial, head, "in time: rewound although nothing came late");
    hc_timeline_destroy(timeline);
    trial->counts[COUNT_IN_TIME]++;
    return same;
}
