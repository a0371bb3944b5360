/// The comparison of the timelines with the record.
#include "tests/exact/history_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const timeline_names[RUN_TIMELINES] = {"selective", "full"};

bool run_differs(const struct history_run *run, hc_tick tick, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("history %" PRIu32 " of seed %" PRIu64 " (%s, %u players, W %" PRIu32
           ") differs at tick %" PRIu32 " of [%" PRIu32 ", %" PRIu32 "]: ",
           run->number, run->seed, run->config.replica ? "replica" : "authority",
           (unsigned)run->world.players, run->config.history, tick, hc_history_oldest(run->record),
           hc_history_head(run->record));
    vprintf(format, arguments);
    printf("\n  repeat: exact_histories --seed %" PRIu64 " --from %" PRIu32 " --histories 1\n",
           run->seed, run->number);
    va_end(arguments);
    fflush(stdout);
    return false;
}

/// Prints the first entity and field in which a timeline's tick differs from the record's.
static bool name_difference(const struct history_run *run, const char *name, hc_tick tick,
                            const uint8_t *presence, const uint8_t *states) {
    const struct hc_world *world = &run->world;
    const uint8_t *true_presence = hc_history_presence(run->record, tick);
    const uint8_t *true_states = hc_history_states(run->record, tick);
    for (uint32_t e = 0; e < world->entities; e++) {
        const struct hc_kind *kind = hc_world_kind(world, (hc_entity)e);
        const uint8_t *a = true_states + (size_t)e * world->stride;
        const uint8_t *b = states + (size_t)e * world->stride;
        if (true_presence[e] != presence[e])
            return run_differs(run, tick, "%s: presence of %s %" PRIu32 " is %u, truly %u", name,
                               kind->name, e, (unsigned)presence[e], (unsigned)true_presence[e]);
        for (uint16_t f = 0; f < kind->field_count; f++) {
            int64_t truly = hc_field_get(&kind->fields[f], a);
            int64_t held = hc_field_get(&kind->fields[f], b);
            if (truly != held)
                return run_differs(run, tick,
                                   "%s: %s of %s %" PRIu32 " is %" PRId64 ", truly %" PRId64, name,
                                   kind->fields[f].name, kind->name, e, held, truly);
        }
        if (memcmp(a, b, world->stride) != 0)
            return run_differs(run, tick, "%s: bytes outside the fields of %s %" PRIu32, name,
                               kind->name, e);
    }
    return true;
}

static bool compare_world(const struct history_run *run, const char *name, hc_tick tick,
                          const uint8_t *presence, const uint8_t *states) {
    const struct hc_world *world = &run->world;
    if (memcmp(presence, hc_history_presence(run->record, tick), world->entities) == 0 &&
        memcmp(states, hc_history_states(run->record, tick),
               (size_t)world->entities * world->stride) == 0)
        return true;
    return name_difference(run, name, tick, presence, states);
}

/// Compares the game events of one tick.
static bool compare_events(const struct history_run *run, const char *name,
                           const struct hc_timeline *timeline, hc_tick tick) {
    uint32_t truly, held;
    for (uint32_t e = 0; e < run->world.entities; e++) {
        const hc_game_event *a = hc_history_events(run->record, tick, (hc_entity)e, &truly);
        const hc_game_event *b = hc_timeline_events(timeline, tick, (hc_entity)e, &held);
        if (truly != held || (held > 0 && memcmp(a, b, held * sizeof *a) != 0))
            return run_differs(run, tick,
                               "%s: events of %s %" PRIu32 ": %" PRIu32 ", truly %" PRIu32, name,
                               hc_world_kind(&run->world, (hc_entity)e)->name, e, held, truly);
    }
    return true;
}

static bool compare_effective(const struct history_run *run, unsigned k, hc_tick tick) {
    const struct hc_game *game = run->world.game;
    const uint8_t *truly = hc_history_inputs(run->record, tick);
    for (hc_player p = 0; p < run->world.players; p++) {
        const uint8_t *held = hc_timeline_effective(run->timelines[k], p, tick);
        const uint8_t *a = truly + (size_t)p * game->input_size;
        for (uint8_t f = 0; memcmp(held, a, game->input_size) != 0 && f < game->input_field_count;
             f++) {
            const struct hc_field *field = &game->input_fields[f];
            if (hc_field_get(field, held) != hc_field_get(field, a))
                return run_differs(run, tick,
                                   "%s: effective %s of player %u is %" PRId64 ", truly %" PRId64,
                                   timeline_names[k], field->name, (unsigned)p,
                                   hc_field_get(field, held), hc_field_get(field, a));
        }
    }
    return true;
}

/// Compares the slots of one tick, and the newest known inputs before it.
static bool compare_slots(const struct history_run *run, unsigned k, hc_tick tick) {
    const struct hc_timeline *timeline = run->timelines[k];
    size_t size = run->world.game->input_size;
    for (hc_player p = 0; p < run->world.players; p++) {
        enum hc_slot truly = hc_history_slot(run->record, p, tick);
        enum hc_slot held = hc_timeline_slot(timeline, p, tick);
        if (truly != held)
            return run_differs(run, tick, "%s: slot of player %u is %d, truly %d",
                               timeline_names[k], (unsigned)p, (int)held, (int)truly);
        if (hc_timeline_roster(timeline, p, tick) != hc_history_roster(run->record, p, tick))
            return run_differs(run, tick, "%s: roster change of player %u", timeline_names[k],
                               (unsigned)p);
        if ((tick + p) % 8 != 0) // the record searches slowly; other histories compare the rest
            continue;
        uint8_t a[HC_INPUT_MAX], b[HC_INPUT_MAX];
        hc_tick at_a = HC_NO_TICK, at_b = HC_NO_TICK;
        bool has_a = hc_history_newest_input(run->record, p, tick, &at_a, a);
        bool has_b = hc_timeline_newest_input(timeline, p, tick, &at_b, b);
        if (has_a != has_b || (has_a && (at_a != at_b || memcmp(a, b, size) != 0)))
            return run_differs(run, tick,
                               "%s: newest input of player %u is of %" PRId64 ", truly of %" PRId64,
                               timeline_names[k], (unsigned)p, has_b ? (int64_t)at_b : -1,
                               has_a ? (int64_t)at_a : -1);
    }
    return true;
}

static bool compare_inputs_through(const struct history_run *run, unsigned k) {
    for (hc_player p = 0; p < run->world.players; p++) {
        if (run->config.replica || !hc_history_joined(run->record, p))
            continue;
        hc_tick truly = hc_history_inputs_through(run->record, p);
        hc_tick held = hc_timeline_inputs_through(run->timelines[k], p);
        if (truly != held)
            return run_differs(run, truly, "%s: player %u has inputs through %" PRIu32,
                               timeline_names[k], (unsigned)p, held);
    }
    return true;
}

static bool compare_timeline(struct history_run *run, unsigned k) {
    const struct hc_timeline *timeline = run->timelines[k];
    hc_tick head = hc_history_head(run->record), oldest = hc_history_oldest(run->record);
    if (hc_timeline_head(timeline) != head || hc_timeline_oldest(timeline) != oldest)
        return run_differs(run, hc_timeline_head(timeline), "%s: head or oldest",
                           timeline_names[k]);
    for (hc_tick t = oldest; t <= head; t++) {
        // Inputs first, because they determine the states.
        if (t < head && !compare_effective(run, k, t))
            return false;
        if (!compare_world(run, timeline_names[k], t, hc_timeline_presence(timeline, t),
                           hc_timeline_states(timeline, t)))
            return false;
        if (!compare_events(run, timeline_names[k], timeline, t))
            return false;
        run->counts[COUNT_COMPARED_TICKS]++;
    }
    for (hc_tick t = hc_history_first_input(run->record); t <= head + run->config.future; t++)
        if (!compare_slots(run, k, t))
            return false;
    if (hc_timeline_hash(timeline, head) != hc_world_hash(&run->world,
                                                          hc_history_presence(run->record, head),
                                                          hc_history_states(run->record, head)))
        return run_differs(run, head, "%s: hash", timeline_names[k]);
    return compare_inputs_through(run, k);
}

bool run_compare(struct history_run *run) {
    // `full` first: if it is wrong too, the error is in the rules of inputs, not in the spread.
    return compare_timeline(run, RUN_FULL) && compare_timeline(run, RUN_SELECTIVE);
}

/// Whether every slot before the head at which its player was in is known.
static bool all_known(const struct history_run *run) {
    for (hc_player p = 0; p < run->world.players; p++) {
        bool in = false;
        for (hc_tick t = 0; t < hc_history_head(run->record); t++) {
            if (in && hc_history_slot(run->record, p, t) != HC_SLOT_KNOWN)
                return false;
            enum hc_roster roster_change = hc_history_roster(run->record, p, t);
            in = roster_change == HC_ROSTER_NONE ? in : roster_change == HC_ROSTER_JOIN;
        }
    }
    return true;
}

static void put_in_time(struct history_run *run, struct hc_timeline *timeline, hc_tick tick) {
    for (hc_player p = 0; p < run->world.players; p++) {
        if (hc_history_slot(run->record, p, tick) == HC_SLOT_KNOWN)
            (void)hc_timeline_put_input(timeline, p, tick,
                                        hc_history_inputs(run->record, tick) +
                                            (size_t)p * run->world.game->input_size);
        enum hc_roster roster_change = hc_history_roster(run->record, p, tick);
        if (roster_change != HC_ROSTER_NONE)
            (void)hc_timeline_put_roster(timeline, p, tick, roster_change);
    }
}

bool run_compare_in_time(struct history_run *run) {
    if (run->config.replica || !all_known(run))
        return true;
    struct hc_timeline *timeline = hc_timeline_create(&run->config);
    if (timeline == NULL)
        return run_differs(run, 0, "no memory");
    hc_timeline_start(timeline);
    hc_tick head = hc_history_head(run->record);
    bool same = true;
    for (hc_tick t = 0; same && t < head; t++) {
        put_in_time(run, timeline, t);
        hc_timeline_advance(timeline);
        same = compare_world(run, "in time", t + 1, hc_timeline_presence(timeline, t + 1),
                             hc_timeline_states(timeline, t + 1)) &&
               compare_events(run, "in time", timeline, t + 1);
    }
    if (same && hc_timeline_stats(timeline)->resimulated_steps != 0)
        same = run_differs(run, head, "in time: rewound although nothing came late");
    hc_timeline_destroy(timeline);
    run->counts[COUNT_IN_TIME]++;
    return same;
}
