/// Checks that what a client shows never runs backwards, and is what it has recorded: exactly so
/// where nothing is smoothed, else off by a teleport at most.
#include "hindcast/rng.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 65536, ///< of a tick's fraction
    SPOTS = 4,     ///< entities drawn at each look
    STREAM = 1000, ///< random streams from here on are this file's
};

/// Of a value that was interpolated in other terms.
#define ROUNDING (1.0 / 256)

struct shown {
    bool any[STORM_CLIENTS_MAX];          ///< a client has shown something
    uint64_t position[STORM_CLIENTS_MAX]; ///< position that a client showed last: tick and fraction
    uint32_t looks;
};

/// An entity as recorded at the tick that is shown, and at the one after; the same one twice when
/// nothing has passed of it.
struct recorded {
    const struct hc_kind *kind;
    uint8_t presence[2];
    const uint8_t *state[2];
    uint32_t fraction;
};

static struct recorded record_of(const struct hc_client *core, hc_tick tick, uint32_t fraction,
                                 uint32_t entity) {
    const struct hc_world *world = hc_client_world(core);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    struct recorded recorded = {.kind = hc_world_kind(world, (hc_entity)entity),
                                .fraction = fraction};
    for (uint32_t i = 0; i < 2; i++) {
        hc_tick at = tick + (fraction == 0 ? 0 : i);
        recorded.presence[i] = hc_timeline_presence(timeline, at)[entity];
        recorded.state[i] = hc_timeline_states(timeline, at) + (size_t)entity * world->stride;
    }
    return recorded;
}

/// Whether there is nothing to interpolate: it is gone at the next tick, or teleports.
static bool stays(const struct recorded *recorded) {
    const struct hc_kind *kind = recorded->kind;
    if (recorded->presence[1] != HC_ALIVE)
        return true;
    for (int i = 0; i < 2 && kind->x != NULL; i++) {
        const struct hc_field *field =
            &kind->fields[hc_kind_field(kind, i == 0 ? kind->x : kind->y)];
        int64_t way =
            hc_field_get(field, recorded->state[1]) - hc_field_get(field, recorded->state[0]);
        if (llabs(way) > (long long)kind->teleport)
            return true;
    }
    return false;
}

static double turn_of(const struct hc_field *field) {
    return (double)((uint64_t)1 << field->bits);
}

/// Angles differ by half a turn at most.
static double difference(const struct hc_field *field, double a, double b) {
    double apart = a - b, turn = turn_of(field);
    while (field->interpolate == HC_ANGLE && apart >= turn / 2)
        apart -= turn;
    while (field->interpolate == HC_ANGLE && apart < -turn / 2)
        apart += turn;
    return apart;
}

/// By how much a shown field is off. NAN: of half a turn neither way round is the shorter.
static double offset_of(const struct recorded *recorded, uint16_t f, double shown) {
    const struct hc_field *field = &recorded->kind->fields[f];
    double from = (double)hc_field_get(field, recorded->state[0]);
    double to = (double)hc_field_get(field, recorded->state[1]);
    if (field->interpolate == HC_HOLD || recorded->fraction == 0 || stays(recorded))
        return difference(field, shown, from);
    double way = difference(field, to, from);
    if (field->interpolate == HC_ANGLE && fabs(way) * 2 >= turn_of(field))
        return NAN;
    return difference(field, shown, from + way * recorded->fraction / WHOLE);
}

static void check_entity(struct storm_match *match, unsigned client, uint64_t now_us,
                         uint64_t position, uint32_t entity) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    hc_tick tick;
    uint32_t fraction;
    if (!hc_client_show_tick_of(core, now_us, (hc_entity)entity, &tick, &fraction) ||
        (uint64_t)tick * WHOLE + fraction > position)
        storm_wrong(match, "show-tick", tick, client, "shows another entity after its own");
    struct recorded recorded = record_of(core, tick, fraction, entity);
    const struct hc_kind *kind = recorded.kind;
    struct hc_client_shown shown;
    bool smooths = storm_client_get(match, client, STORM_C_pops) == 0 &&
                   storm_client_get(match, client, STORM_C_smoothing_ms) > 0;
    bool visible = hc_client_show(core, now_us, (hc_entity)entity, &shown);
    if (visible != (recorded.presence[0] == HC_ALIVE)) {
        storm_wrong(match, "show", tick, client, "shows an entity with another presence");
        return;
    }
    for (uint16_t f = 0; visible && f < kind->field_count; f++) {
        const struct hc_field *field = &kind->fields[f];
        double turn = turn_of(field), least = field->is_signed ? -turn / 2 : 0;
        double off = offset_of(&recorded, f, shown.values[f]), most = INFINITY;
        if (field->interpolate == HC_HOLD)
            most = 0;
        else if (!smooths)
            most = fraction == 0 ? 0 : ROUNDING;
        else if (f == hc_kind_field(kind, kind->x) || f == hc_kind_field(kind, kind->y))
            most = (double)kind->teleport + ROUNDING;
        if (field->interpolate == HC_ANGLE &&
            (shown.values[f] < least || shown.values[f] >= least + turn))
            storm_wrong(match, "show", tick, client, "shows an angle out of its range");
        if (fabs(off) > most)
            storm_fail(match->verdict, STORM_WRONG, "show", tick,
                       "client %u shows entity %u (%s), %s, %.2f off what is recorded, at most "
                       "%.2f",
                       client, entity, kind->name, field->name, off, most);
    }
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct shown *last = state;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    struct hc_client_shown shown;
    hc_tick tick, received, as_of;
    uint32_t fraction;
    bool shows = hc_client_show_tick(core, now_us, &tick, &fraction);
    if (match->seats[client].hostile)
        return;
    if (shows != hc_client_snapshot(core, &received, &as_of) ||
        (!shows && hc_client_show(core, now_us, HC_REFEREE, &shown)))
        storm_wrong(match, "show-tick", 0, client, "shows something exactly without a state");
    last->any[client] = last->any[client] && shows;
    if (!shows)
        return;
    uint64_t position = (uint64_t)tick * WHOLE + fraction;
    if (fraction >= WHOLE || (last->any[client] && position < last->position[client]))
        storm_wrong(match, "show-tick", tick, client, "shows what runs backwards");
    last->any[client] = true;
    last->position[client] = position;
    struct hc_rng rng = hc_rng_init(match->plan->seed, STREAM + last->looks++);
    for (unsigned i = 0; i < SPOTS; i++)
        check_entity(match, client, now_us, position,
                     hc_rng_below(&rng, storm_truth_world(match->truth)->entities));
}

static void forget(struct storm_match *match, void *state, unsigned client) {
    (void)match;
    ((struct shown *)state)->any[client] = false;
}

const struct storm_checker storm_check_shown = {.name = "shown",
                                                .state_size = sizeof(struct shown),
                                                .client_created = forget,
                                                .client_reconnected = forget,
                                                .client_changed = client_changed};
