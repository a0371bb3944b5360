/// Checks that what a client shows never runs backwards and does not leap, and is what it has
/// recorded: exactly so where nothing is smoothed, else off by a teleport at most.
#include "hindcast/rng.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 65536,            ///< of a tick's fraction
    SPOTS = 4,                ///< entities drawn at each look
    STREAM = 1000,            ///< random streams from here on are this file's
    LEAP_US = 1000000,        ///< in which a client may come to the tick that is due
    LEAP_FRAMES_US = 6000000, ///< that with long frames
    GONE_US = 200000,         ///< after which a client has done nothing for a while
    JOIN_SAMPLES = 16,        ///< round trips that a client measures before it knows the time
};

/// Of a value that was interpolated in other terms.
#define ROUNDING (1.0 / 256)

/// The shown position advances by so many ticks with each tick at most: its time is slewed, and its
/// offset to the newest tick changes.
#define FASTEST (1.06 * 1.125)
#define SPARE 0.25 ///< ticks

/// A moment at which a client was looked at.
struct moment {
    bool any;
    uint64_t at_us;    ///< time of the simulation
    uint64_t local_us; ///< by the client's clock
    uint64_t position; ///< tick and fraction
    uint64_t jumps;    ///< of its time, counted so far
};

struct shown {
    struct moment newest[STORM_CLIENTS_MAX], before[STORM_CLIENTS_MAX];
    uint64_t leapt_us[STORM_CLIENTS_MAX]; ///< when a client last joined, stalled or counted a jump
    uint64_t measured[STORM_CLIENTS_MAX]; ///< round trips that it had measured before it joined
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
    for (uint16_t f = 0; f < kind->field_count; f++)
        if (kind->fields[f].teleports && hc_field_get(&kind->fields[f], recorded->state[0]) !=
                                             hc_field_get(&kind->fields[f], recorded->state[1]))
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

static void forget(struct storm_match *match, void *state, unsigned client) {
    struct shown *all = state;
    (void)match;
    all->newest[client].any = all->before[client].any = false;
}

/// The jumps of a client's time that it has counted: those of its clock, and those after a stall.
static uint64_t jumps_of(const struct hc_client *core) {
    const struct hc_client_stats *stats = hc_client_stats(core);
    return stats->clock_jumps + stats->restarts + stats->stalled_ticks;
}

/// The time in which a client may come to the tick that is due: with long frames it gains little in
/// each.
static uint64_t catch_up_us(const struct storm_match *match, unsigned client) {
    bool frames = storm_client_get(match, client, STORM_C_frame_ms) != 0;
    return frames ? LEAP_FRAMES_US : LEAP_US;
}

/// Between two moments at which a player looks, what is shown advances by the time between them: a
/// little faster at most, unless the client has just joined, stalled or counted a jump.
static void check_leap(struct storm_match *match, const struct shown *all, unsigned client) {
    const struct moment *from = &all->before[client], *to = &all->newest[client];
    double rate = (double)storm_match_get(match, STORM_tick_rate);
    if (!from->any || to->at_us < all->leapt_us[client] + catch_up_us(match, client))
        return;
    double passed = (double)(to->local_us - from->local_us) * rate / 1e6;
    double shown = (double)(int64_t)(to->position - from->position) / WHOLE;
    if (shown > passed * FASTEST + SPARE)
        storm_fail(match->verdict, STORM_WRONG, "leap", (hc_tick)(to->position / WHOLE),
                   "client %u shows %.2f ticks more after %.2f ticks", client, shown, passed);
}

/// The shown position goes on: never back, and without leaps.
static void check_position(struct storm_match *match, struct shown *all, unsigned client,
                           uint64_t position) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    struct moment *newest = &all->newest[client];
    uint64_t now_us = hc_sim_now(match->sim), jumps = jumps_of(core);
    if (newest->any && now_us > newest->at_us) {
        check_leap(match, all, client);
        all->before[client] = *newest;
    }
    if (!newest->any)
        all->measured[client] = hc_client_stats(core)->rtt_us.count;
    if (!newest->any || now_us > newest->at_us + GONE_US || newest->jumps != jumps ||
        hc_client_state(core) == HC_CLIENT_STALLED ||
        hc_client_stats(core)->rtt_us.count < all->measured[client] + JOIN_SAMPLES)
        all->leapt_us[client] = now_us;
    if (newest->any && position < newest->position)
        storm_wrong(match, "show-tick", (hc_tick)(position / WHOLE), client,
                    "shows what runs backwards");
    *newest = (struct moment){.any = true,
                              .at_us = now_us,
                              .local_us = hc_sim_client_now(match->sim, client),
                              .position = position,
                              .jumps = jumps};
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct shown *all = state;
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
    if (!shows) {
        forget(match, state, client);
        return;
    }
    uint64_t position = (uint64_t)tick * WHOLE + fraction;
    if (fraction >= WHOLE)
        storm_wrong(match, "show-tick", tick, client, "shows more than a tick's fraction");
    check_position(match, all, client, position);
    struct hc_rng rng = hc_rng_init(match->plan->seed, STREAM + all->looks++);
    for (unsigned i = 0; i < SPOTS; i++)
        check_entity(match, client, now_us, position,
                     hc_rng_below(&rng, storm_truth_world(match->truth)->entities));
}

const struct storm_checker storm_check_shown = {.name = "shown",
                                                .state_size = sizeof(struct shown),
                                                .client_created = forget,
                                                .client_reconnected = forget,
                                                .client_changed = client_changed};
