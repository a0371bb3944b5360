#include "tests/storm/show.h"

#include "hindcast/rng.h"
#include "tests/storm/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 256,    ///< of shown values
    WHOLE = 65536, ///< of a tick's fraction
    ROUNDING = 8,  ///< shown units by which several roundings may differ
    GONE = 48,     ///< halvings after which nothing is left of any error
    SPOTS = 4,     ///< entities drawn at each look
    LONG = 8,      ///< each so many looks go far ahead
    FEW = 4,       ///< clients of a match that are looked at, about
    FAST = 2000,   ///< units/s: a little more than an arena's players run
    STREAM = 1000, ///< random streams from here on are this file's
};

struct moment {
    hc_tick tick;
    uint32_t fraction;
};

/// An entity at a moment: as recorded at its tick and at the one after, the same one twice when
/// nothing has passed of it.
struct between {
    uint8_t presence[2];
    const uint8_t *state[2];
    uint32_t fraction;
};

/// What is remembered of an entity.
struct track {
    bool off;                      ///< a correction of it may be fading
    uint64_t since_us;             ///< of that
    double offsets[HC_FIELDS_MAX]; ///< shown less recorded at that time; NAN: cannot be said
};

struct storm_show {
    struct hc_rng rng;
    bool shows; ///< a first state is there; then what follows holds as of the last look
    uint64_t interval_us, half_us;
    hc_tick head, news;
    uint64_t snapshots, restarts, deadline_us;
    bool held;        ///< at the oldest tick, as there is none that far back
    hc_tick first;    ///< the older of the ticks shown
    uint64_t rest_us; ///< when it has come to the newer; meaningful unless held
    uint64_t position;
    uint32_t entities;
    uint8_t *presence[2], *states[2]; ///< worlds as recorded at the ticks `first` and after
    struct track tracks[];
};

static void wrong(struct storm_match *match, unsigned client, const char *oracle, hc_tick tick,
                  const char *text) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u: %s", client, text);
}

// ---- Tables -------------------------------------------------------------------------------------

const struct hc_game *storm_show_vary(struct storm_tables *tables, const struct hc_game *game,
                                      uint64_t seed, unsigned tick_rate) {
    struct hc_rng rng = hc_rng_init(seed, STREAM - 1);
    for (uint8_t k = 0; k < game->kind_count; k++) {
        struct hc_kind *kind = &tables->kinds[k];
        *kind = game->kinds[k];
        memcpy(tables->fields[k], kind->fields, kind->field_count * sizeof *kind->fields);
        kind->fields = tables->fields[k];
        if (hc_rng_chance(&rng, 500000))
            kind->teleport = 1 + hc_rng_below(&rng, FAST / tick_rate);
        for (uint16_t f = 0; f < kind->field_count; f++)
            if (hc_rng_chance(&rng, 300000))
                tables->fields[k][f].interpolate = (uint8_t)hc_rng_below(&rng, HC_ANGLE + 1);
    }
    tables->game = *game;
    tables->game.kinds = tables->kinds;
    return &tables->game;
}

// ---- Time ---------------------------------------------------------------------------------------

static struct moment moment_at(const struct storm_show *show, uint64_t now_us) {
    uint64_t begun_us = show->rest_us - show->interval_us;
    struct moment moment = {.tick = show->first};
    if (!show->held && now_us >= show->rest_us)
        moment.tick++;
    else if (!show->held && now_us > begun_us)
        moment.fraction = (uint32_t)((now_us - begun_us) * WHOLE / show->interval_us);
    return moment;
}

/// What the client says that it shows, as one number.
static uint64_t position_at(struct storm_match *match, unsigned client, uint64_t now_us) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    hc_tick tick = 0;
    uint32_t fraction = 0;
    if (!hc_client_show_tick(core, now_us, &tick, &fraction))
        wrong(match, client, "show-tick", tick, "shows nothing, though it has a state");
    if (fraction >= WHOLE)
        wrong(match, client, "show-tick", tick, "shows more than a whole tick");
    return (uint64_t)tick * WHOLE + fraction;
}

static void check_moment(struct storm_match *match, unsigned client, uint64_t now_us) {
    struct moment moment = moment_at(match->seats[client].show, now_us);
    uint64_t due = (uint64_t)moment.tick * WHOLE + moment.fraction;
    uint64_t says = position_at(match, client, now_us);
    if (says > due + 1 || due > says + 1)
        storm_fail(match->verdict, STORM_WRONG, "show-tick", moment.tick,
                   "client %u shows tick %lu and %lu/65536, must be %u and %u", client,
                   (unsigned long)(says / WHOLE), (unsigned long)(says % WHOLE), moment.tick,
                   moment.fraction);
}

/// The first moment from now on at which the newer tick is reached.
static uint64_t find_rest(struct storm_match *match, unsigned client, uint64_t now_us) {
    const struct storm_show *show = match->seats[client].show;
    uint64_t wanted = (uint64_t)(show->first + 1) * WHOLE;
    uint64_t low_us = now_us, high_us = now_us + show->interval_us;
    while (low_us < high_us) {
        uint64_t middle_us = low_us + (high_us - low_us) / 2;
        if (position_at(match, client, middle_us) >= wanted)
            high_us = middle_us;
        else
            low_us = middle_us + 1;
    }
    return low_us;
}

/// The tick shown is the predicted one less the display offset, or on the way there from the one
/// before: `offset` + 1 ticks before the head when that was due.
static void follow_time(struct storm_match *match, unsigned client, uint64_t now_us) {
    struct storm_show *show = match->seats[client].show;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_tick head = hc_timeline_head(timeline), oldest = hc_timeline_oldest(timeline);
    uint64_t behind = (uint64_t)storm_client_get(match, client, STORM_C_display) + 1;
    bool begins = !show->shows, moved = begins || head != show->head;
    bool in_time = !begins && head == show->head + 1 && now_us <= show->deadline_us + 1 &&
                   hc_client_stats(core)->snapshots == show->snapshots;
    show->held = head < oldest + behind;
    show->first = show->held ? oldest : (hc_tick)(head - behind);
    show->head = head;
    if (moved && !show->held) {
        show->rest_us = find_rest(match, client, now_us);
        if (in_time && show->rest_us + 2 < now_us + show->interval_us)
            wrong(match, client, "show-tick", head, "is ahead of a tick that is only now due");
    }
    check_moment(match, client, now_us);
    uint64_t position = position_at(match, client, now_us);
    if (!begins && position < show->position)
        wrong(match, client, "show-tick", head, "shows what runs backwards");
    show->position = position;
}

// ---- Blending -----------------------------------------------------------------------------------

static struct between recorded(const struct hc_world *world, const struct hc_timeline *timeline,
                               struct moment moment, uint32_t entity) {
    struct between between = {.fraction = moment.fraction};
    for (uint32_t i = 0; i < 2; i++) {
        hc_tick tick = moment.tick + (moment.fraction == 0 ? 0 : i);
        between.presence[i] = hc_timeline_presence(timeline, tick)[entity];
        between.state[i] = hc_timeline_states(timeline, tick) + (size_t)entity * world->stride;
    }
    return between;
}

static struct between remembered(const struct storm_show *show, size_t stride, hc_tick first,
                                 struct moment moment, uint32_t entity) {
    struct between between = {.fraction = moment.fraction};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = moment.tick - first + (moment.fraction == 0 ? 0 : i);
        between.presence[i] = show->presence[at][entity];
        between.state[i] = show->states[at] + entity * stride;
    }
    return between;
}

/// Whether there is nothing to blend: it is gone at the next tick, or teleports.
static bool stays(const struct hc_kind *kind, const struct between *between) {
    if (between->presence[1] != HC_ALIVE)
        return true;
    for (int i = 0; i < 2 && kind->x >= 0; i++) {
        const struct hc_field *field = &kind->fields[i == 0 ? kind->x : kind->y];
        int64_t way =
            hc_field_get(field, between->state[1]) - hc_field_get(field, between->state[0]);
        if (llabs(way) > (long long)kind->teleport)
            return true;
    }
    return false;
}

static double turn_of(const struct hc_field *field) {
    return (double)((uint64_t)1 << field->bits) * UNIT;
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

/// The field without any smoothing. NAN where neither way round is the shorter.
static double blended(const struct hc_kind *kind, const struct hc_field *field,
                      const struct between *between) {
    double from = (double)hc_field_get(field, between->state[0]) * UNIT;
    double to = (double)hc_field_get(field, between->state[1]) * UNIT;
    if (field->interpolate == HC_HOLD || between->fraction == 0 || stays(kind, between))
        return from;
    double way = difference(field, to, from);
    if (field->interpolate == HC_ANGLE && fabs(way) * 2 >= turn_of(field))
        return NAN;
    return from + way * between->fraction / WHOLE;
}

/// What is left of an offset: halved again and again, and straight in between.
static double faded(double offset, uint64_t elapsed_us, uint64_t half_us) {
    uint64_t halves = elapsed_us / half_us;
    if (halves >= GONE)
        return 0;
    double part = (double)(elapsed_us % half_us) / (double)half_us;
    return offset / (double)((uint64_t)1 << halves) * (1 - part / 2);
}

// ---- Looking ------------------------------------------------------------------------------------

/// One entity as the client shows it.
struct look {
    struct storm_match *match;
    unsigned client;
    uint32_t entity;
    uint64_t now_us;
    const struct hc_kind *kind;
    struct between is;
    struct hc_client_shown shown;
    double offsets[HC_FIELDS_MAX]; ///< shown less recorded
};

static void differs(const struct look *look, uint16_t field, double must, const char *why) {
    storm_fail(
        look->match->verdict, STORM_WRONG, "show", look->match->seats[look->client].show->head,
        "client %u shows entity %u (%s), %s, %.2f off what is recorded (%.2f): must be %.2f, "
        "%s",
        look->client, look->entity, look->kind->name, look->kind->fields[field].name,
        look->offsets[field] / UNIT,
        blended(look->kind, &look->kind->fields[field], &look->is) / UNIT, must / UNIT, why);
}

/// True: it is alive, and its offsets are there. What never depends on corrections is checked.
static bool look_at(struct look *look, struct storm_match *match, unsigned client, uint32_t entity,
                    uint64_t now_us) {
    const struct storm_show *show = match->seats[client].show;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_world *world = hc_client_world(core);
    *look = (struct look){.match = match, .client = client, .entity = entity, .now_us = now_us};
    look->kind = hc_world_kind(world, (hc_entity)entity);
    look->is = recorded(world, hc_client_timeline(core), moment_at(show, now_us), entity);
    if (!hc_client_show(core, now_us, (hc_entity)entity, &look->shown))
        wrong(match, client, "show", show->head, "shows no entity, though it has a state");
    if (look->shown.presence != (enum hc_presence)look->is.presence[0])
        storm_fail(match->verdict, STORM_WRONG, "show", show->head,
                   "client %u shows entity %u with presence %d, recorded is %d", client, entity,
                   (int)look->shown.presence, look->is.presence[0]);
    if (look->is.presence[0] != HC_ALIVE)
        return false;
    for (uint16_t f = 0; f < look->kind->field_count; f++) {
        const struct hc_field *field = &look->kind->fields[f];
        int64_t value = look->shown.fields[f], turn = (INT64_C(1) << field->bits) * UNIT;
        int64_t least = field->is_signed ? -(turn / 2) : 0;
        look->offsets[f] = difference(field, (double)value, blended(look->kind, field, &look->is));
        if (field->interpolate == HC_ANGLE && (value < least || value >= least + turn))
            differs(look, f, 0, "as an angle it is out of range");
        // Which way round it is off cannot be said of half a turn.
        if (field->interpolate == HC_ANGLE &&
            fabs(look->offsets[f]) > turn_of(field) / 2 - ROUNDING)
            look->offsets[f] = NAN;
        if (field->interpolate == HC_HOLD && look->offsets[f] != 0)
            differs(look, f, 0, "as it holds");
    }
    return true;
}

/// What several roundings may come to: one of them is a part of the most that a field may be off;
/// of one that has been off again and again, of what it was.
static double rounding(const struct hc_kind *kind, uint16_t field, double off) {
    bool position = kind->x >= 0 && (field == kind->x || field == kind->y);
    double most = position ? (double)kind->teleport * UNIT : turn_of(&kind->fields[field]);
    return ROUNDING + (most > off ? most : off) / WHOLE;
}

/// Whether its offsets are what `of` holds, as much of it as is left after `elapsed_us`.
static void check_offsets(const struct look *look, const double *of, uint64_t elapsed_us,
                          const char *why) {
    uint64_t half_us = look->match->seats[look->client].show->half_us;
    for (uint16_t f = 0; f < look->kind->field_count; f++) {
        double must = of == NULL ? 0 : faded(of[f], elapsed_us, half_us);
        // Two roundings are in what was measured. What is less than a unit is nothing.
        bool exact = of == NULL || faded(fabs(of[f]) + 2, elapsed_us, half_us) < 0.5;
        double margin = exact ? look->is.fraction == 0 ? 0 : 1 - 1.0 / WHOLE
                              : rounding(look->kind, f, fabs(of[f]));
        if (fabs(difference(&look->kind->fields[f], look->offsets[f], exact ? 0 : must)) > margin)
            differs(look, f, must, why);
    }
}

static void check_spot(struct storm_match *match, unsigned client, uint32_t entity,
                       uint64_t now_us) {
    const struct storm_show *show = match->seats[client].show;
    const struct track *track = &show->tracks[entity];
    struct look look;
    if (!look_at(&look, match, client, entity, now_us))
        return;
    if (track->off)
        check_offsets(&look, track->offsets, now_us - track->since_us, "as it fades");
    else
        check_offsets(&look, NULL, 0, "as nothing was corrected");
}

// ---- Corrections --------------------------------------------------------------------------------

/// By how much the position is off, in the worse direction; 0 without a position.
static double distance(const struct hc_kind *kind, const double *offsets) {
    if (kind->x < 0)
        return 0;
    double x = fabs(offsets[kind->x]), y = fabs(offsets[kind->y]);
    return x > y ? x : y;
}

/// What was shown must still be shown, unless it would be off by more than a teleport or was not
/// there; then exactly what is recorded is.
static void check_corrected(struct storm_match *match, unsigned client, uint32_t entity,
                            const struct between *was, uint64_t now_us) {
    struct storm_show *show = match->seats[client].show;
    struct track *track = &show->tracks[entity];
    struct look look;
    double must[HC_FIELDS_MAX] = {0};
    bool both = look_at(&look, match, client, entity, now_us) && was->presence[0] == HC_ALIVE;
    for (uint16_t f = 0; both && f < look.kind->field_count; f++) {
        const struct hc_field *field = &look.kind->fields[f];
        double before = blended(look.kind, field, was);
        if (track->off)
            before += faded(track->offsets[f], now_us - track->since_us, show->half_us);
        if (field->interpolate != HC_HOLD)
            must[f] = difference(field, before, blended(look.kind, field, &look.is));
    }
    double far = distance(look.kind, must), limit = (double)look.kind->teleport * UNIT;
    double margin = ROUNDING + limit / WHOLE;
    bool pops = !both || far > limit + margin;
    if (!pops && far > limit - margin) // may be either
        pops = distance(look.kind, look.offsets) < limit / 2;
    track->off = false;
    if (look.shown.presence != HC_ALIVE)
        return;
    check_offsets(&look, pops ? NULL : must, 0, pops ? "as it pops" : "as nothing jumps");
    if (pops)
        return;
    track->off = true;
    track->since_us = now_us;
    memcpy(track->offsets, look.offsets, sizeof track->offsets);
}

/// What was shown had already gone on when the recorded past was changed: all that can be said is
/// that nothing is off by more than a teleport.
static void check_lost(struct storm_match *match, unsigned client, uint32_t entity,
                       uint64_t now_us) {
    struct track *track = &match->seats[client].show->tracks[entity];
    struct look look;
    if (look_at(&look, match, client, entity, now_us) &&
        distance(look.kind, look.offsets) > (double)look.kind->teleport * UNIT + 1)
        wrong(match, client, "show", match->seats[client].show->head,
              "shows something farther off than a teleport");
    track->off = true;
    track->since_us = now_us;
    for (unsigned f = 0; f < HC_FIELDS_MAX; f++)
        track->offsets[f] = NAN;
}

static bool same(const struct between *a, const struct between *b, size_t size) {
    for (int i = 0; i < 2; i++)
        if (a->presence[i] != b->presence[i] || memcmp(a->state[i], b->state[i], size) != 0)
            return false;
    return true;
}

/// A state was received. `first` and `before` are of what would be shown now without it.
static void follow_state(struct storm_match *match, unsigned client, hc_tick first,
                         struct moment before, bool surely, uint64_t now_us) {
    struct storm_show *show = match->seats[client].show;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_world *world = hc_client_world(core);
    struct moment now = moment_at(show, now_us);
    bool moved = now.tick != before.tick || now.fraction != before.fraction;
    for (uint32_t e = 0; e < show->entities && show->half_us > 0; e++) {
        if (!surely) {
            check_lost(match, client, e, now_us);
            continue;
        }
        struct between was = remembered(show, world->stride, first, before, e);
        struct between is = recorded(world, hc_client_timeline(core), now, e);
        if (moved || !same(&was, &is, world->stride))
            check_corrected(match, client, e, &was, now_us);
    }
}

/// Remembers what is recorded of the ticks shown. Without a state having come it is what it was:
/// else something would jump.
static void remember_states(struct storm_match *match, unsigned client, hc_tick second,
                            bool changes) {
    struct storm_show *show = match->seats[client].show;
    const struct hc_timeline *timeline = hc_client_timeline(hc_sim_client(match->sim, client));
    size_t entities = show->entities;
    size_t bytes = entities * hc_client_world(hc_sim_client(match->sim, client))->stride;
    for (uint32_t i = 0; i < 2; i++) {
        hc_tick tick = hc_tick_min(show->first + i, show->head);
        const uint8_t *presence = hc_timeline_presence(timeline, tick);
        const uint8_t *states = hc_timeline_states(timeline, tick);
        if (!changes && i == 0 && show->first == second &&
            (memcmp(show->presence[1], presence, entities) != 0 ||
             memcmp(show->states[1], states, bytes) != 0))
            wrong(match, client, "show", tick, "changes the past without a state having come");
        memcpy(show->presence[i], presence, entities);
        memcpy(show->states[i], states, bytes);
    }
}

// ---- Each look ----------------------------------------------------------------------------------

static struct storm_show *begin(struct storm_match *match, unsigned client) {
    const struct hc_world *world = storm_truth_world(match->truth);
    size_t entities = world->entities, tracks = entities * sizeof(struct track);
    struct storm_show *show =
        calloc(1, sizeof *show + tracks + 2 * entities * (1u + world->stride));
    if (show == NULL)
        abort();
    uint8_t *at = (uint8_t *)&show->tracks[entities];
    for (int i = 0; i < 2; i++, at += entities * (1u + world->stride)) {
        show->presence[i] = at;
        show->states[i] = at + entities;
    }
    show->rng = hc_rng_init(match->plan->seed, STREAM + client);
    show->entities = world->entities;
    show->interval_us = 1000000u / world->tick_rate;
    if (storm_client_get(match, client, STORM_C_pops) == 0)
        show->half_us = (uint64_t)storm_client_get(match, client, STORM_C_smoothing_ms) * 1000;
    return show;
}

void storm_show_free(struct storm_show *show) {
    free(show);
}

/// Before the first state nothing is shown, and nothing is off when it comes.
static void check_nothing(struct storm_match *match, unsigned client, uint64_t now_us) {
    struct storm_show *show = match->seats[client].show;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    struct hc_client_shown shown;
    hc_tick tick;
    uint32_t fraction;
    show->shows = false;
    for (uint32_t e = 0; e < show->entities; e++)
        show->tracks[e].off = false;
    if (hc_client_show_tick(core, now_us, &tick, &fraction) ||
        hc_client_show(core, now_us, HC_REFEREE, &shown))
        wrong(match, client, "show", 0, "shows something before it has a state");
}

/// A few entities now, and at a moment to come if nothing happens until then.
static void check_spots(struct storm_match *match, unsigned client, uint64_t now_us) {
    struct storm_show *show = match->seats[client].show;
    uint64_t ahead_us = hc_rng_below(&show->rng, (uint32_t)show->interval_us * 5 / 4);
    if (hc_rng_below(&show->rng, LONG) == 0)
        ahead_us = hc_rng_below(&show->rng, 2 * GONE * (uint32_t)(show->half_us + 1));
    check_moment(match, client, now_us + ahead_us);
    for (unsigned i = 0; i < SPOTS; i++)
        check_spot(match, client, hc_rng_below(&show->rng, show->entities),
                   now_us + (i % 2 == 0 ? 0 : ahead_us));
}

/// One client shows what it holds as any other does: of many a part is looked at.
static bool is_looked_at(const struct storm_match *match, unsigned client) {
    return (match->plan->seed + client) % ((match->clients + FEW - 1) / FEW) == 0;
}

void storm_show_look(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    struct storm_seat *seat = &match->seats[client];
    hc_tick news, as_of;
    if (!is_looked_at(match, client))
        return;
    if (seat->show == NULL)
        seat->show = begin(match, client);
    struct storm_show *show = seat->show;
    if (!hc_client_snapshot(core, &news, &as_of)) {
        check_nothing(match, client, now_us);
        return;
    }
    const struct hc_client_stats *stats = hc_client_stats(core);
    bool begins = !show->shows;
    bool changes = begins || stats->snapshots != show->snapshots;
    hc_tick first = show->first, head = show->head;
    struct moment before = moment_at(show, now_us);
    // It may have predicted up to the state before it took it.
    bool could = head < hc_tick_ahead(show->news, storm_client_limit(match, client));
    follow_time(match, client, now_us);
    bool caught_up = show->head != head && (stats->restarts == show->restarts || could);
    if (changes && !begins)
        follow_state(match, client, first, before, !caught_up, now_us);
    if (changes || show->head != head)
        remember_states(match, client, hc_tick_min(first + 1, head), changes);
    show->shows = true;
    show->news = news;
    show->snapshots = stats->snapshots;
    show->restarts = stats->restarts;
    show->deadline_us = hc_client_deadline(core);
    check_spots(match, client, now_us);
}
