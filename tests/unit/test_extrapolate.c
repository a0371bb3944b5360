/// Tests of common/extrapolate.h and common/runs.h on matches in the arena.
#include "common/scene.h"
#include "common/runs.h"
#include "common/timeline.h"
#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"
#include "tests/unit/scarce.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 6, QUIET = PLAYERS - 1 }; // player QUIET never sends an input

/// A match whose players hold each of their random inputs for a while.
struct match {
    struct hc_world world;
    struct hc_timeline *timeline;
    struct hc_extrapolator *extrapolator;
    struct hc_rng rng;
    struct hc_arena_input inputs[PLAYERS];
    uint32_t held[PLAYERS]; ///< ticks left
};

/// A unit's value and its memory.
struct held_value {
    struct hc_unit_value value;
    _Alignas(8) uint8_t memory[HC_UNIT_ENTITIES_MAX * (1 + HC_STATE_MAX)];
};

static void open_match(struct match *match, uint32_t stream) {
    *match = (struct match){.rng = hc_rng_init(51, stream)};
    ck_assert_int_eq(hc_world_init(&match->world, &hc_arena, PLAYERS, 60, stream, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &match->world;
    match->timeline = hc_timeline_create(&config);
    match->extrapolator = hc_extrapolator_create(&match->world);
    ck_assert(match->timeline != NULL && match->extrapolator != NULL);
    hc_timeline_start(match->timeline);
    for (hc_player p = 0; p < PLAYERS; p++)
        ck_assert_int_eq(hc_timeline_put_roster(match->timeline, p, 0, HC_ROSTER_JOIN), HC_OK);
    hc_timeline_advance(match->timeline);
}

static void close_match(struct match *match) {
    hc_extrapolator_destroy(match->extrapolator);
    hc_timeline_destroy(match->timeline);
    hc_world_free(&match->world);
}

static void play(struct match *match, unsigned ticks) {
    for (; ticks > 0; ticks--) {
        for (hc_player p = 0; p < QUIET; p++) {
            struct hc_arena_input *input = &match->inputs[p];
            if (match->held[p]-- == 0) {
                *input = (struct hc_arena_input){
                    .move_x = (int8_t)(hc_rng_below(&match->rng, 3) - 1),
                    .move_y = (int8_t)(hc_rng_below(&match->rng, 3) - 1),
                    .aim = (uint8_t)hc_rng_below(&match->rng, 256),
                    .fire = hc_rng_below(&match->rng, 3) != 0,
                };
                match->held[p] = hc_rng_below(&match->rng, 90);
            }
            hc_tick head = hc_timeline_head(match->timeline);
            ck_assert_int_eq(hc_timeline_put_input(match->timeline, p, head, input), HC_OK);
        }
        hc_timeline_advance(match->timeline);
    }
}

/// Reads the value of `unit` at `tick` from the match.
static void read_value(const struct match *match, hc_unit unit, hc_tick tick,
                       struct held_value *out) {
    *out = (struct held_value){.value.tick = tick, .value.known = HC_NO_TICK};
    hc_unit_place(&match->world, &out->value, out->memory);
    hc_unit_read(&match->world, unit, hc_timeline_presence(match->timeline, tick),
                 hc_timeline_states(match->timeline, tick), &out->value);
    hc_player player = hc_unit_player(&match->world, unit);
    if (player != HC_NO_PLAYER)
        hc_timeline_newest_input(match->timeline, player, tick, &out->value.known,
                                 out->value.input);
}

static const struct hc_arena_referee *referee_at(const struct match *match, hc_tick tick) {
    return (const struct hc_arena_referee *)(const void *)hc_timeline_states(match->timeline, tick);
}

static void extrapolate_by(struct match *match, enum hc_extrapolation how, hc_unit unit,
                           const struct held_value *from, const void *referee, hc_tick tick,
                           struct held_value *out) {
    memset(out, 0, sizeof *out);
    hc_unit_place(&match->world, &out->value, out->memory);
    hc_extrapolate(match->extrapolator, how, unit, &from->value,
                   &(struct hc_extrapolate_under){.referee = referee}, tick, &out->value);
}

static void extrapolate(struct match *match, hc_unit unit, const struct held_value *from,
                        const void *referee, hc_tick tick, struct held_value *out) {
    extrapolate_by(match, HC_EXTRAPOLATION_STEP, unit, from, referee, tick, out);
}

/// Whether both are equal, of the same tick, and of the same bytes.
static bool same(const struct match *match, hc_unit unit, const struct held_value *a,
                 const struct held_value *b) {
    return a->value.tick == b->value.tick && a->value.known == b->value.known &&
           hc_unit_equal(&match->world, unit, &a->value, &b->value) &&
           memcmp(a->memory, b->memory, sizeof a->memory) == 0;
}

// ---- Against the match itself -------------------------------------------------------------------

/// Whether no entity of another unit is within reach of one of `unit` at `tick`.
static bool alone_at(const struct match *match, hc_unit unit, hc_tick tick) {
    const struct hc_world *world = &match->world;
    struct hc_scene scene = {
        .world = world,
        .tick = tick,
        .states = hc_timeline_states(match->timeline, tick),
        .presence = hc_timeline_presence(match->timeline, tick),
    };
    for (uint32_t i = 0; i < hc_unit_count(world, unit); i++) {
        scene.self = (hc_entity)(hc_unit_first(world, unit) + i);
        for (uint32_t e = 1; e < world->entities; e++)
            if (hc_unit_of(world, (hc_entity)e) != unit && hc_scene_may_read(&scene, (hc_entity)e))
                return false;
    }
    return true;
}

static bool lives_at(const struct match *match, hc_player player, hc_tick tick) {
    hc_entity entity = hc_world_player(&match->world, player);
    const struct hc_arena_player *state = (const void *)(hc_timeline_states(match->timeline, tick) +
                                                         (size_t)entity * match->world.stride);
    return hc_timeline_presence(match->timeline, tick)[entity] == HC_ALIVE && state->health > 0;
}

/// Whether `unit` was alone, the referee's phase the same and, if `holds`, its input held from
/// `tick` on.
static bool undisturbed(const struct match *match, hc_unit unit, hc_tick tick, bool holds) {
    hc_tick head = hc_timeline_head(match->timeline);
    hc_player player = hc_unit_player(&match->world, unit);
    const struct hc_arena_referee *before = referee_at(match, tick);
    for (hc_tick t = tick; t < head; t++) {
        const struct hc_arena_referee *after = referee_at(match, t + 1);
        if (player != HC_NO_PLAYER && !lives_at(match, player, t) && lives_at(match, player, t + 1))
            return false; // only the server knows the place of a respawn
        if (after->phase != before->phase || after->match != before->match)
            return false;
        if (holds && player != HC_NO_PLAYER &&
            memcmp(hc_timeline_effective(match->timeline, player, tick - 1),
                   hc_timeline_effective(match->timeline, player, t), hc_arena.input_size) != 0)
            return false;
        if (unit != 0 && !alone_at(match, unit, t))
            return false;
    }
    return true;
}

START_TEST(extrapolation_of_a_lone_unit_with_held_input_is_exact) {
    unsigned compared = 0, far = 0, moved = 0, shots = 0, unowned = 0;
    for (uint32_t stream = 0; stream < 12; stream++) {
        struct match match;
        open_match(&match, stream);
        play(&match, 40);
        for (unsigned round = 0; round < 250; round++) {
            play(&match, 1 + hc_rng_below(&match.rng, 4));
            hc_tick head = hc_timeline_head(match.timeline);
            hc_tick tick = head - hc_rng_below(&match.rng, HC_EXTRAPOLATE_TICKS_MAX + 1);
            for (uint32_t u = 0; u < hc_unit_total(&match.world); u++) {
                hc_unit unit = (hc_unit)u;
                if (!undisturbed(&match, unit, tick, true))
                    continue;
                struct held_value from, to, out;
                read_value(&match, unit, tick, &from);
                read_value(&match, unit, head, &to);
                extrapolate(&match, unit, &from, referee_at(&match, tick), head, &out);
                ck_assert_msg(same(&match, unit, &out, &to), "stream %u: unit %u, %u to %u", stream,
                              unit, tick, head);
                compared++;
                far += head - tick > 20;
                moved += memcmp(from.memory, to.memory, sizeof to.memory) != 0;
                unowned += unit > PLAYERS;
                for (uint32_t i = 1; i < hc_unit_count(&match.world, unit); i++)
                    shots +=
                        from.value.presence[i] == HC_ABSENT && to.value.presence[i] == HC_ALIVE;
            }
        }
        close_match(&match);
    }
    // Without enough events the property shows nothing.
    ck_assert_msg(compared > 5000 && far > 1000 && moved > 3000 && shots > 300 && unowned > 500,
                  "%u compared, %u far, %u moved, %u shots, %u unowned", compared, far, moved,
                  shots, unowned);
}
END_TEST

/// Writes the changes of the player's effective input from from->tick to the head.
static void find_changes(const struct match *match, hc_player player,
                         const struct hc_unit_value *from, struct hc_input_changes *out) {
    uint8_t given[HC_INPUT_MAX] = {0};
    hc_extrapolate_input(&match->world, from, given);
    out->count = 0;
    for (hc_tick t = from->tick; t < hc_timeline_head(match->timeline); t++) {
        const void *input = hc_timeline_effective(match->timeline, player, t);
        if (memcmp(input, given, hc_arena.input_size) == 0)
            continue;
        memcpy(given, input, hc_arena.input_size);
        out->at[out->count].tick = t;
        memcpy(out->at[out->count++].input, given, sizeof given);
    }
}

START_TEST(extrapolation_of_a_lone_player_with_its_input_changes_is_exact) {
    unsigned compared = 0, changing = 0, wrong_without = 0;
    for (uint32_t stream = 20; stream < 32; stream++) {
        struct match match;
        open_match(&match, stream);
        play(&match, 40);
        for (unsigned round = 0; round < 250; round++) {
            play(&match, 1 + hc_rng_below(&match.rng, 4));
            hc_tick head = hc_timeline_head(match.timeline);
            hc_tick tick = head - 1 - hc_rng_below(&match.rng, HC_EXTRAPOLATE_TICKS_MAX);
            for (hc_player p = 0; p < PLAYERS; p++) {
                hc_unit unit = (hc_unit)(1 + p);
                struct hc_input_changes changes;
                struct held_value from, to, out, plain;
                if (!undisturbed(&match, unit, tick, false))
                    continue;
                read_value(&match, unit, tick, &from);
                read_value(&match, unit, head, &to);
                find_changes(&match, p, &from.value, &changes);
                extrapolate(&match, unit, &from, referee_at(&match, tick), head, &plain);
                memset(&out, 0, sizeof out);
                hc_unit_place(&match.world, &out.value, out.memory);
                hc_extrapolate(match.extrapolator, HC_EXTRAPOLATION_STEP, unit, &from.value,
                               &(struct hc_extrapolate_under){.referee = referee_at(&match, tick),
                                                              .changes = &changes},
                               head, &out.value);
                ck_assert_msg(same(&match, unit, &out, &to), "stream %u: unit %u, %u to %u", stream,
                              unit, tick, head);
                compared++;
                changing += changes.count > 1;
                wrong_without += !same(&match, unit, &plain, &to);
            }
        }
        close_match(&match);
    }
    ck_assert_msg(compared > 4000 && changing > 200 && wrong_without > 1000,
                  "%u compared, %u with more than one change, %u wrong without", compared, changing,
                  wrong_without);
}
END_TEST

// ---- Against a replica's timeline ---------------------------------------------------------------

/// Draws a new age for the value's input, and makes some of its entities unknown.
static void distort(struct match *match, hc_unit unit, struct held_value *from) {
    bool owned = hc_unit_player(&match->world, unit) != HC_NO_PLAYER;
    if (owned && from->value.known != HC_NO_TICK) {
        from->value.known = from->value.tick - 1 - hc_rng_below(&match->rng, 20);
        if (hc_rng_below(&match->rng, 8) == 0) {
            from->value.known = HC_NO_TICK;
            memset(from->value.input, 0, sizeof from->value.input);
        }
    }
    for (uint32_t i = 0; i < hc_unit_count(&match->world, unit); i++) {
        if (hc_rng_below(&match->rng, 8) != 0)
            continue;
        from->value.presence[i] = HC_UNKNOWN;
        memset(from->value.states + (size_t)i * match->world.stride, 0, match->world.stride);
    }
}

/// Simulates `from` with a replica's timeline on which only the unit and the referee are known, and
/// the predicted input is known at every tick.
static void simulate(const struct match *match, hc_unit unit, const struct held_value *from,
                     const void *referee, hc_tick tick, struct held_value *out) {
    const struct hc_world *world = &match->world;
    const struct hc_unit_value *value = &from->value;
    struct hc_timeline_config config = {.world = world, .future = 1, .replica = true};
    struct hc_timeline *timeline = hc_timeline_create(&config);
    struct hc_entity_state put[1 + HC_UNIT_ENTITIES_MAX];
    uint32_t count = 0;
    for (; count < hc_unit_count(world, unit); count++)
        put[count] = (struct hc_entity_state){
            .entity = (hc_entity)(hc_unit_first(world, unit) + count),
            .presence = value->presence[count],
            .state = value->states + (size_t)count * world->stride,
        };
    if (unit != 0 && referee != NULL)
        put[count++] = (struct hc_entity_state){HC_REFEREE, HC_ALIVE, referee};
    ck_assert_int_eq(hc_timeline_put_state(timeline, value->tick, value->tick, put, count), HC_OK);

    hc_player player = hc_unit_player(world, unit);
    uint8_t input[HC_INPUT_MAX] = {0};
    if (value->known != HC_NO_TICK)
        hc_arena.predict_input(value->input, value->tick - value->known, input);
    for (hc_tick t = value->tick; t < tick; t++) {
        if (player != HC_NO_PLAYER)
            ck_assert_int_eq(hc_timeline_put_input(timeline, player, t, input), HC_OK);
        hc_timeline_advance(timeline);
    }
    *out = (struct held_value){.value.tick = tick, .value.known = value->known};
    memcpy(out->value.input, value->input, sizeof out->value.input);
    if (value->known != HC_NO_TICK)
        out->value.known += tick - value->tick;
    hc_unit_place(world, &out->value, out->memory);
    hc_unit_read(world, unit, hc_timeline_presence(timeline, tick),
                 hc_timeline_states(timeline, tick), &out->value);
    hc_timeline_destroy(timeline);
}

START_TEST(extrapolation_equals_a_replica_that_knows_only_the_unit_and_the_referee) {
    unsigned changed = 0;
    for (uint32_t stream = 100; stream < 108; stream++) {
        struct match match;
        open_match(&match, stream);
        play(&match, 40);
        for (unsigned round = 0; round < 80; round++) {
            play(&match, 1 + hc_rng_below(&match.rng, 12));
            hc_tick head = hc_timeline_head(match.timeline);
            hc_tick tick = head + hc_rng_below(&match.rng, HC_EXTRAPOLATE_TICKS_MAX + 1);
            struct hc_arena_referee some = {
                .phase = (uint8_t)hc_rng_below(&match.rng, 3),
                .match = hc_rng_below(&match.rng, 4) == 0,
            };
            const void *referee = hc_rng_below(&match.rng, 4) == 0 ? NULL : &some;
            for (uint32_t u = 0; u < hc_unit_total(&match.world); u++) {
                hc_unit unit = (hc_unit)u;
                struct held_value from, expected, out;
                read_value(&match, unit, head, &from);
                distort(&match, unit, &from);
                simulate(&match, unit, &from, referee, tick, &expected);
                extrapolate(&match, unit, &from, referee, tick, &out);
                ck_assert_msg(same(&match, unit, &out, &expected),
                              "stream %u: unit %u, %u to %u, referee %d", stream, unit, head, tick,
                              referee != NULL);
                changed += memcmp(from.memory, out.memory, sizeof out.memory) != 0;
            }
        }
        close_match(&match);
    }
    ck_assert_uint_gt(changed, 2500);
}
END_TEST

START_TEST(extrapolating_twice_equals_extrapolating_once_over_both_distances) {
    unsigned changed = 0;
    for (uint32_t stream = 200; stream < 208; stream++) {
        struct match match;
        open_match(&match, stream);
        play(&match, 40);
        for (unsigned round = 0; round < 100; round++) {
            play(&match, 1 + hc_rng_below(&match.rng, 12));
            hc_tick head = hc_timeline_head(match.timeline);
            uint32_t both = hc_rng_below(&match.rng, HC_EXTRAPOLATE_TICKS_MAX + 1);
            uint32_t one = hc_rng_below(&match.rng, both + 1);
            for (uint32_t u = 0; u < hc_unit_total(&match.world); u++) {
                hc_unit unit = (hc_unit)u;
                struct held_value from, at_once, halves;
                enum hc_extrapolation how = u % (HC_EXTRAPOLATION_STEP + 1);
                const void *referee = referee_at(&match, head);
                read_value(&match, unit, head, &from);
                distort(&match, unit, &from);
                extrapolate_by(&match, how, unit, &from, referee, head + both, &at_once);
                extrapolate_by(&match, how, unit, &from, referee, head + one, &halves);
                changed += memcmp(halves.memory, at_once.memory, sizeof halves.memory) != 0;
                hc_extrapolate(match.extrapolator, how, unit, &halves.value,
                               &(struct hc_extrapolate_under){.referee = referee}, head + both,
                               &halves.value);
                ck_assert_msg(same(&match, unit, &halves, &at_once),
                              "stream %u: unit %u, %u + %u + %u", stream, unit, head, one,
                              both - one);
            }
        }
        close_match(&match);
    }
    ck_assert_uint_gt(changed, 2500);
}
END_TEST

/// The player of a value, which may lie unaligned.
static struct hc_arena_player player_of(const struct held_value *held) {
    struct hc_arena_player player;
    memcpy(&player, held->value.states, sizeof player);
    return player;
}

/// Whether the player keeps its speed in each tick of its extrapolation up to `to`.
static bool keeps_speed(struct match *match, hc_unit unit, const struct held_value *from,
                        hc_tick to) {
    struct hc_arena_player first = player_of(from);
    bool keeps = from->value.presence[0] == HC_ALIVE;
    for (hc_tick t = from->value.tick + 1; t <= to && keeps; t++) {
        struct held_value at;
        extrapolate(match, unit, from, NULL, t, &at);
        struct hc_arena_player player = player_of(&at);
        keeps = player.vx == first.vx && player.vy == first.vy;
    }
    return keeps;
}

START_TEST(a_player_that_runs_straight_on_moves_linearly) {
    unsigned moved = 0;
    for (uint32_t stream = 210; stream < 214; stream++) {
        struct match match;
        open_match(&match, stream);
        for (unsigned round = 0; round < 600; round++) {
            play(&match, 1);
            hc_tick head = hc_timeline_head(match.timeline);
            for (hc_unit unit = 1; unit <= PLAYERS; unit++) {
                struct held_value from, stepped, linear;
                hc_tick to = head + 1 + hc_rng_below(&match.rng, 12);
                read_value(&match, unit, head, &from);
                if (!keeps_speed(&match, unit, &from, to))
                    continue; // it turns, or hits a wall
                extrapolate(&match, unit, &from, NULL, to, &stepped);
                extrapolate_by(&match, HC_EXTRAPOLATION_LINEAR, unit, &from, NULL, to, &linear);
                struct hc_arena_player a = player_of(&from), b = player_of(&stepped);
                struct hc_arena_player c = player_of(&linear);
                ck_assert_msg(b.x == c.x && b.y == c.y, "stream %u, unit %u", stream, unit);
                moved += a.x != b.x || a.y != b.y;
            }
        }
        close_match(&match);
    }
    ck_assert_uint_gt(moved, 500);
}
END_TEST

// ---- The scene of a step ------------------------------------------------------------------------

static unsigned spied_steps;
static bool referee_known;

/// The arena's step, after a check of the whole scene.
static bool spy(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_world *world = scene->world;
    hc_unit unit = hc_unit_of(world, self);
    static const uint8_t zeros[HC_STATE_MAX];
    for (uint32_t e = 1; e < world->entities; e++) {
        if (hc_unit_of(world, (hc_entity)e) == unit)
            continue;
        ck_assert_uint_eq(scene->presence[e], HC_UNKNOWN);
        ck_assert_mem_eq(scene->states + (size_t)e * world->stride, zeros, world->stride);
    }
    ck_assert_uint_eq(scene->presence[HC_REFEREE], referee_known ? HC_ALIVE : HC_UNKNOWN);
    if (!referee_known)
        ck_assert_mem_eq(scene->states, zeros, world->stride);
    for (hc_player p = 0; p < world->players; p++) {
        ck_assert_uint_eq(scene->roster_changes[p], HC_ROSTER_NONE);
        if (p != hc_unit_player(world, unit))
            ck_assert_mem_eq(scene->inputs + (size_t)p * hc_arena.input_size, zeros,
                             hc_arena.input_size);
    }
    const hc_entity *ids;
    ck_assert_uint_eq(hc_scene_neighbours(scene, &ids), 0);
    spied_steps++;
    return hc_arena.step(scene, self, out);
}

START_TEST(a_step_sees_only_its_unit_and_a_known_referee) {
    struct match match;
    open_match(&match, 150);
    play(&match, 200);
    struct hc_game spied = hc_arena;
    spied.step = spy;
    match.world.game = &spied;
    hc_tick head = hc_timeline_head(match.timeline);
    for (unsigned round = 0; round < 500; round++) {
        hc_unit unit = (hc_unit)hc_rng_below(&match.rng, hc_unit_total(&match.world));
        referee_known = hc_rng_below(&match.rng, 2) == 0;
        struct held_value from, out;
        read_value(&match, unit, head, &from);
        extrapolate(&match, unit, &from, referee_known ? referee_at(&match, head) : NULL,
                    head + round % 8, &out);
    }
    ck_assert_uint_gt(spied_steps, 2000);
    match.world.game = &hc_arena;
    close_match(&match);
}
END_TEST

// ---- Limits -------------------------------------------------------------------------------------

START_TEST(values_beyond_the_limit_are_held) {
    struct match match;
    open_match(&match, 300);
    play(&match, 200);
    hc_tick head = hc_timeline_head(match.timeline);
    static const uint32_t distances[] = {HC_EXTRAPOLATE_TICKS_MAX + 1, 1000, UINT32_C(3000000000)};
    for (uint32_t u = 1; u < hc_unit_total(&match.world); u++)
        for (unsigned i = 0; i < 3; i++) {
            struct held_value from, out;
            read_value(&match, (hc_unit)u, head, &from);
            extrapolate(&match, (hc_unit)u, &from, referee_at(&match, head), head + distances[i],
                        &out);
            ck_assert_mem_eq(out.memory, from.memory, sizeof out.memory);
            ck_assert(hc_unit_equal(&match.world, (hc_unit)u, &from.value, &out.value));
            ck_assert_uint_eq(out.value.tick, head + distances[i]);
        }
    close_match(&match);
}
END_TEST

START_TEST(the_referee_is_held_at_any_distance_while_its_countdowns_fall) {
    struct match match;
    open_match(&match, 301);
    hc_tick head = hc_timeline_head(match.timeline);
    for (unsigned round = 0; round < 300; round++) {
        struct held_value from, out;
        struct hc_arena_referee referee = {
            .phase = (uint8_t)hc_rng_below(&match.rng, 3),
            .match = (uint8_t)hc_rng_below(&match.rng, 256),
            .clock = (uint16_t)hc_rng_below(&match.rng, 300),
        };
        read_value(&match, 0, head, &from);
        memcpy(from.value.states, &referee, sizeof referee);
        uint32_t ticks = hc_rng_below(&match.rng, 400);
        extrapolate(&match, 0, &from, round % 2 == 0 ? NULL : &referee, head + ticks, &out);
        for (uint32_t i = 0; i < ticks; i++)
            hc_scene_hold_referee(&match.world, from.value.states, from.value.states);
        ck_assert_mem_eq(out.memory, from.memory, sizeof out.memory);
        // Up to the greatest tick, which is too far to count down tick by tick.
        referee.clock = 0;
        extrapolate(&match, 0, &from, NULL, HC_NO_TICK - 1, &out);
        ck_assert_mem_eq(out.value.states, &referee, sizeof referee);
        // An unknown referee stays unknown.
        from.value.presence[0] = HC_UNKNOWN;
        memset(from.value.states, 0, sizeof referee);
        extrapolate(&match, 0, &from, NULL, head + ticks, &out);
        ck_assert_mem_eq(out.memory, from.memory, sizeof out.memory);
    }
    close_match(&match);
}
END_TEST

START_TEST(a_unit_without_baseline_is_absent_and_stays_absent) {
    struct match match;
    open_match(&match, 302);
    for (uint32_t u = 0; u < hc_unit_total(&match.world); u++) {
        struct held_value absent, later, out;
        memset(&absent, 0xee, sizeof absent);
        memset(&later, 0xee, sizeof later);
        hc_unit_place(&match.world, &absent.value, absent.memory);
        hc_unit_place(&match.world, &later.value, later.memory);
        hc_extrapolate_absent(&match.world, (hc_unit)u, 9, &absent.value);
        hc_extrapolate_absent(&match.world, (hc_unit)u, 29, &later.value);
        ck_assert(absent.value.tick == 9 && absent.value.known == HC_NO_TICK);
        for (size_t i = 0; i < HC_INPUT_MAX; i++)
            ck_assert_uint_eq(absent.value.input[i], 0);
        size_t count = hc_unit_count(&match.world, (hc_unit)u);
        for (size_t i = 0; i < count; i++)
            ck_assert_uint_eq(absent.value.presence[i], HC_ABSENT);
        for (size_t i = 0; i < count * match.world.stride; i++)
            ck_assert_uint_eq(absent.value.states[i], 0);
        extrapolate(&match, (hc_unit)u, &absent, NULL, 29, &out);
        ck_assert(hc_unit_equal(&match.world, (hc_unit)u, &out.value, &later.value));
        ck_assert(out.value.tick == 29 && out.value.known == HC_NO_TICK);
    }
    close_match(&match);
}
END_TEST

// ---- Along stored runs --------------------------------------------------------------------------

/// Opens runs in memory that the caller frees.
static uint8_t *open_runs(const struct match *match, struct hc_runs *runs, uint32_t places,
                          uint32_t each, uint32_t kept) {
    size_t bytes =
        hc_runs_layout(runs, &match->world, match->extrapolator, places, each, kept, NULL);
    uint8_t *memory = calloc(1, bytes);
    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_eq(
        hc_runs_layout(runs, &match->world, match->extrapolator, places, each, kept, memory),
        bytes);
    return memory;
}

static void extrapolate_along(struct hc_runs *runs, hc_unit unit, const struct held_value *from,
                              const struct hc_input_changes *changes, hc_tick tick,
                              struct held_value *out) {
    uint64_t hash = hc_runs_hash(runs->world, unit, &from->value);
    struct hc_unit_value end = hc_runs_extrapolate(runs, unit, &from->value, hash, changes, tick);
    memset(out, 0, sizeof *out);
    hc_unit_place(runs->world, &out->value, out->memory);
    hc_unit_copy(runs->world, unit, &out->value, &end);
}

START_TEST(an_extrapolation_along_runs_equals_one_tick_by_tick) {
    const uint32_t shapes[][3] = {{1, 1, 1}, {3, 4, 1}, {5, 2, HC_RUN_TICKS}, {100, 32, 12}};
    unsigned changing = 0, unknown = 0;
    for (uint32_t stream = 0; stream < 12; stream++) {
        struct match match;
        open_match(&match, 60 + stream);
        struct hc_runs runs;
        const uint32_t *shape = shapes[stream % 4];
        uint8_t *memory = open_runs(&match, &runs, shape[0], shape[1], shape[2]);
        play(&match, HC_EXTRAPOLATE_TICKS_MAX + 1);
        for (unsigned round = 0; round < 1500; round++) {
            play(&match, hc_rng_below(&match.rng, 2));
            hc_unit unit = (hc_unit)(1 + hc_rng_below(&match.rng, hc_unit_total(&match.world) - 1));
            hc_player player = hc_unit_player(&match.world, unit);
            hc_tick head = hc_timeline_head(match.timeline);
            hc_tick tick = head - 1 - hc_rng_below(&match.rng, HC_EXTRAPOLATE_TICKS_MAX);
            const void *referee =
                hc_rng_below(&match.rng, 16) == 0 ? NULL : referee_at(&match, tick);
            struct hc_input_changes changes = {.count = 0};
            struct held_value from, plain, out;
            read_value(&match, unit, tick, &from);
            if (hc_rng_below(&match.rng, 8) == 0)
                distort(&match, unit, &from);
            if (player != HC_NO_PLAYER && hc_rng_below(&match.rng, 2) == 0)
                find_changes(&match, player, &from.value, &changes);
            memset(&plain, 0, sizeof plain);
            hc_unit_place(&match.world, &plain.value, plain.memory);
            hc_extrapolate(match.extrapolator, HC_EXTRAPOLATION_STEP, unit, &from.value,
                           &(struct hc_extrapolate_under){.referee = referee, .changes = &changes},
                           head, &plain.value);
            hc_runs_refer(&runs, referee);
            extrapolate_along(&runs, unit, &from, &changes, head, &out);
            ck_assert_msg(same(&match, unit, &plain, &out), "stream %u: unit %u, %u to %u", stream,
                          unit, tick, head);
            changing += changes.count > 1;
            unknown += referee == NULL;
        }
        free(memory);
        close_match(&match);
    }
    ck_assert_msg(changing > 200 && unknown > 500, "%u with changes, %u without referee", changing,
                  unknown);
}
END_TEST

static unsigned steps_taken;

static bool count_step(struct hc_scene *scene, hc_entity self, void *next) {
    steps_taken++;
    return hc_arena.step(scene, self, next);
}

START_TEST(an_extrapolation_that_goes_on_a_tick_later_takes_one_step) {
    struct match match;
    open_match(&match, 80);
    struct hc_game counting = hc_arena;
    counting.step = count_step;
    struct hc_runs runs;
    uint8_t *memory = open_runs(&match, &runs, 1, 4, 1);
    hc_unit unit = 1 + QUIET; // without an input it goes on as it does
    struct held_value from, out;
    struct hc_input_changes none = {.count = 0};
    play(&match, 20);
    read_value(&match, unit, hc_timeline_head(match.timeline), &from);
    hc_runs_refer(&runs, referee_at(&match, from.value.tick));
    match.world.game = &counting;
    for (unsigned i = 0; i < 8; i++) { // the first also learns which fields the steps read
        struct held_value next;
        extrapolate_along(&runs, unit, &from, &none, from.value.tick + 10, &out);
        ck_assert_msg(i == 0 || steps_taken == match.world.per_owner, "%u: %u", i, steps_taken);
        steps_taken = 0;
        extrapolate(&match, unit, &from, runs.referee, from.value.tick + 1, &next);
        steps_taken = 0;
        from = next;
        hc_unit_place(&match.world, &from.value, from.memory);
    }
    match.world.game = &hc_arena;
    free(memory);
    close_match(&match);
}
END_TEST

START_TEST(memory_comes_from_the_worlds_allocator_and_its_lack_is_reported) {
    struct scarce scarce = {.left = 3}; // the world takes two
    struct hc_allocator allocator = {scarce_allocate, scarce_release, &scarce};
    struct hc_world world;
    ck_assert_int_eq(hc_world_init(&world, &hc_arena, PLAYERS, 60, 1, &allocator), HC_OK);
    struct hc_extrapolator *extrapolator = hc_extrapolator_create(&world);
    ck_assert_ptr_nonnull(extrapolator);
    ck_assert_ptr_null(hc_extrapolator_create(&world));
    hc_extrapolator_destroy(extrapolator);
    hc_extrapolator_destroy(NULL);
    hc_world_free(&world);
    ck_assert_int_eq(scarce.held, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("extrapolate");
    TCase *tests = tcase_create("extrapolate");
    tcase_add_test(tests, extrapolation_of_a_lone_unit_with_held_input_is_exact);
    tcase_add_test(tests, extrapolation_of_a_lone_player_with_its_input_changes_is_exact);
    tcase_add_test(tests, extrapolation_equals_a_replica_that_knows_only_the_unit_and_the_referee);
    tcase_add_test(tests, extrapolating_twice_equals_extrapolating_once_over_both_distances);
    tcase_add_test(tests, a_player_that_runs_straight_on_moves_linearly);
    tcase_add_test(tests, a_step_sees_only_its_unit_and_a_known_referee);
    tcase_add_test(tests, values_beyond_the_limit_are_held);
    tcase_add_test(tests, the_referee_is_held_at_any_distance_while_its_countdowns_fall);
    tcase_add_test(tests, a_unit_without_baseline_is_absent_and_stays_absent);
    tcase_add_test(tests, an_extrapolation_along_runs_equals_one_tick_by_tick);
    tcase_add_test(tests, an_extrapolation_that_goes_on_a_tick_later_takes_one_step);
    tcase_add_test(tests, memory_comes_from_the_worlds_allocator_and_its_lack_is_reported);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
