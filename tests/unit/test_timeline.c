/// Tests of the timeline's counts and single cases; tests/exact tests that its states are exact.
#include "common/timeline.h"
#include "hindcast/scene.h"
#include "tests/run_suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

// A small game with reads that are easy to predict: players stand 1000 units apart, walk and score
// by their input, and count their neighbours; the referee sums the scores; the unowned "fans" read
// the referee's total.
struct referee {
    uint32_t total;
    uint32_t clock;
};
struct walker {
    int32_t x, y;
    int32_t score;
    int32_t seen;
};
struct pet {
    int32_t x, y;
};
struct fan {
    uint32_t cheers;
};
struct input {
    int8_t walk;
    uint8_t score;
};

enum { REFEREE, WALKER, PET, FAN };
enum { DEATH = 200 }; ///< the score by which a walker dies with its pets

static const struct hc_field referee_fields[] = {
    HC_FIELD(struct referee, total, 32, false, .group = 0),
    HC_FIELD(struct referee, clock, 32, false, .group = 1, .countdown = true),
};
static const struct hc_field walker_fields[] = {
    HC_FIELD(struct walker, x, 32, true),
    HC_FIELD(struct walker, y, 32, true),
    HC_FIELD(struct walker, score, 32, true),
    HC_FIELD(struct walker, seen, 32, true),
};
static const struct hc_field pet_fields[] = {
    HC_FIELD(struct pet, x, 32, true),
    HC_FIELD(struct pet, y, 32, true),
};
static const struct hc_field fan_fields[] = {HC_FIELD(struct fan, cheers, 32, false)};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct input, walk, 8, true),
    HC_FIELD(struct input, score, 8, false),
};
static const struct hc_kind kinds[] = {
    [REFEREE] = {"referee", sizeof(struct referee), 2, referee_fields, NULL, NULL, 0, 0},
    [WALKER] = {"walker", sizeof(struct walker), 4, walker_fields, "x", "y", 0, 2},
    [PET] = {"pet", sizeof(struct pet), 2, pet_fields, "x", "y", 0, 0},
    [FAN] = {"fan", sizeof(struct fan), 1, fan_fields, NULL, NULL, 0, 0},
};
static const struct hc_game_event_kind event_kinds[] = {{.name = "scores", .bits = 8},
                                                        {.name = "leaps"}};
static const struct hc_slots owned[] = {{WALKER, 1, 0}, {PET, 2, 0}};
static const struct hc_slots unowned[] = {{FAN, 5, 0}};
static const struct hc_reduction reductions[] = {{HC_REDUCE_SUM, "score"}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    if (world->kind_of[self] == REFEREE)
        *(struct referee *)out = (struct referee){.clock = 100000};
    return world->kind_of[self] == REFEREE || world->kind_of[self] == FAN;
}

static bool step_walker(struct hc_scene *scene, hc_entity self, struct walker *out) {
    const struct walker *was = hc_scene_state(scene, self);
    const struct input *input = hc_scene_input(scene);
    const hc_entity *ids;
    if (hc_scene_roster(scene) == HC_ROSTER_JOIN) {
        *out = (struct walker){.x = 1000 * scene->world->owner_of[self]};
        return true;
    }
    if (was == NULL)
        return false;
    *out = *was;
    out->x += input->walk;
    out->score += input->score;
    if (input->score > 0)
        hc_emit(scene, 0, input->score);
    if (input->walk > 0 && input->score == 2)
        hc_emit(scene, 1, 0);
    out->seen = (int32_t)hc_scene_neighbours(scene, &ids);
    return hc_scene_roster(scene) != HC_ROSTER_LEAVE && input->score != DEATH;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hc_world *world = scene->world;
    switch (world->kind_of[self]) {
    case REFEREE: {
        const struct referee *was = hc_scene_state(scene, self);
        *(struct referee *)out = (struct referee){.total = (uint32_t)hc_scene_reduction(scene, 0),
                                                  .clock = was->clock - 1};
        return true;
    }
    case WALKER:
        return step_walker(scene, self, out);
    case PET: { // follows its owner, one tick behind
        const struct walker *owner =
            hc_scene_state(scene, hc_world_player(world, world->owner_of[self]));
        if (owner != NULL)
            *(struct pet *)out = (struct pet){.x = owner->x};
        return owner != NULL && ((const struct input *)hc_scene_input(scene))->score != DEATH;
    }
    default: {
        const struct referee *referee = hc_scene_referee(scene, 0);
        ((struct fan *)out)->cheers = referee->total;
        return true;
    }
    }
}

static void predict(const void *last, uint32_t age, void *out) {
    *(struct input *)out = (struct input){.walk = age < 4 ? ((const struct input *)last)->walk : 0};
}

static void sanitize(void *input) {
    (void)input;
}

static const struct hc_game game = {
    .name = "walkers",
    .version = 1,
    .players_max = 256,
    .kinds = kinds,
    .kind_count = 4,
    .owned = owned,
    .owned_count = 2,
    .unowned = unowned,
    .unowned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct input),
    .reductions = reductions,
    .reduction_count = 1,
    .reach = 10,
    .start = start,
    .step = step,
    .predict_input = predict,
    .sanitize_input = sanitize,
    .event_kinds = event_kinds,
    .event_kind_count = 2,
};

enum { PLAYERS = 256, PER_OWNER = 3 };

static struct hc_world world;
static struct hc_timeline *timeline;

static void set_up(void) {
    char why[200];
    ck_assert_pstr_eq(hc_game_check(&game, why, sizeof why), NULL);
    ck_assert_int_eq(hc_world_init(&world, &game, PLAYERS, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.history = 16;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    hc_timeline_start(timeline);
    for (hc_player p = 0; p < PLAYERS; p++)
        ck_assert_int_eq(hc_timeline_put_roster(timeline, p, 0, HC_ROSTER_JOIN), HC_OK);
    for (int i = 0; i < 20; i++)
        hc_timeline_advance(timeline);
}

static void tear_down(void) {
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static enum hc_status put(hc_player player, hc_tick tick, int walk, int score) {
    struct input input = {.walk = (int8_t)walk, .score = (uint8_t)score};
    return hc_timeline_put_input(timeline, player, tick, &input);
}

static uint64_t resimulated_steps(void) {
    uint64_t before = hc_timeline_stats(timeline)->resimulated_steps;
    hc_timeline_resimulate(timeline);
    return hc_timeline_stats(timeline)->resimulated_steps - before;
}

static const void *state(hc_tick tick, hc_entity entity) {
    return hc_timeline_states(timeline, tick) + (size_t)entity * world.stride;
}

START_TEST(late_input_of_a_lone_player_steps_only_its_entities) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(7, head - 5, 3, 0), HC_OK);
    ck_assert_uint_eq(resimulated_steps(), 5 * PER_OWNER);
    ck_assert_uint_eq(hc_timeline_stats(timeline)->depth, 5);
    const struct walker *walker = state(head, hc_world_player(&world, 7));
    ck_assert_int_eq(walker->x, 7000 + 4 * 3); // predicted for three ticks more, then neutral
}
END_TEST

START_TEST(late_input_steps_those_within_reach_of_the_old_and_of_the_new_position) {
    hc_tick head = hc_timeline_head(timeline);
    for (int i = 0; i < 8; i++) { // 7 walks 992 towards 8, into its reach
        ck_assert_int_eq(put(7, head + (hc_tick)i, 124, 0), HC_OK);
        hc_timeline_advance(timeline);
    }
    head = hc_timeline_head(timeline);
    ck_assert_int_eq(((const struct walker *)state(head, hc_world_player(&world, 7)))->x, 7992);
    ck_assert_int_eq(put(7, head, 124, 0), HC_OK); // one step past it
    ck_assert_int_eq(put(7, head + 1, 0, 0), HC_OK);
    hc_timeline_advance(timeline);
    hc_timeline_advance(timeline);
    head = hc_timeline_head(timeline);
    uint64_t before = hc_timeline_stats(timeline)->resimulated_steps;
    ck_assert_int_eq(put(200, head - 1, 5, 0), HC_OK); // far away: neither is stepped
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_timeline_stats(timeline)->resimulated_steps - before, PER_OWNER);
    // A late input moves 8 aside. First its entities are stepped, then its entities and the
    // neighbours of its old and new positions: the pets of 7, which lag behind at 7992, but not 7
    // at 8116.
    ck_assert_int_eq(put(8, head - 2, 1, 0), HC_OK);
    ck_assert_uint_eq(resimulated_steps(), PER_OWNER + PER_OWNER + 2);
}
END_TEST

START_TEST(changed_reduction_steps_only_the_referee_and_its_readers) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(9, head - 4, 0, 1), HC_OK);
    // head-4: the owner's entities. head-3: these, and the referee for its sum. head-2 and head-1:
    // these, and the five fans.
    ck_assert_uint_eq(resimulated_steps(), PER_OWNER + (PER_OWNER + 1) + 2 * (PER_OWNER + 1 + 5));
    const struct fan *fan = state(head, (hc_entity)(world.entities - 1));
    ck_assert_uint_eq(fan->cheers, 1);
}
END_TEST

START_TEST(input_equal_to_its_prediction_steps_nothing_but_renews_it) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(3, head - 6, 2, 0), HC_OK);
    resimulated_steps();
    ck_assert_int_eq(put(3, head - 5, 2, 0), HC_OK); // as predicted; the prediction lasts longer
    ck_assert_uint_eq(resimulated_steps(), 2 * PER_OWNER);
    ck_assert_int_eq(put(3, head - 1, 0, 0), HC_OK); // as predicted: it had decayed
    ck_assert_uint_eq(resimulated_steps(), 0);
    const struct walker *walker = state(head, hc_world_player(&world, 3));
    ck_assert_int_eq(walker->x, 3000 + 2 * 5);
}
END_TEST

START_TEST(change_dies_out_where_the_recomputed_state_equals_the_old_one) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(3, head - 10, 2, 0), HC_OK);
    ck_assert_int_eq(put(3, head - 9, -2, 0), HC_OK);
    ck_assert_int_eq(put(3, head - 8, 0, 0), HC_OK);
    hc_timeline_resimulate(timeline);
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    // There, back, and one more tick for the pets, which are one tick behind.
    ck_assert_uint_eq(stats->resimulated_ticks, 3);
    ck_assert_uint_eq(stats->depth, 10);
}
END_TEST

START_TEST(only_ticks_with_different_states_count_as_changed) {
    hc_tick head = hc_timeline_head(timeline);
    for (hc_tick t = hc_timeline_oldest(timeline); t <= head; t++)
        ck_assert_uint_eq(hc_timeline_changed(timeline, t), t);
    // There, and back two ticks later; the pets are back one tick after the walker.
    ck_assert_int_eq(put(3, head - 10, 2, 0), HC_OK);
    ck_assert_int_eq(put(3, head - 9, -2, 0), HC_OK);
    ck_assert_int_eq(put(3, head - 8, 0, 0), HC_OK);
    hc_timeline_redo(timeline, head - 20); // equal states do not count
    hc_timeline_advance(timeline);
    for (hc_tick t = hc_timeline_oldest(timeline); t <= head + 1; t++) {
        bool changed = t == head - 9 || t == head - 8;
        ck_assert_uint_eq(hc_timeline_changed(timeline, t), changed ? head + 1 : t);
    }
}
END_TEST

/// Copies all of the ring to `out` unless that is NULL; returns its bytes.
static size_t copy_ring(uint8_t *out) {
    size_t used = 0, states = (size_t)world.entities * world.stride;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++) {
        if (out != NULL) {
            memcpy(out + used, hc_timeline_presence(timeline, t), world.entities);
            memcpy(out + used + world.entities, hc_timeline_states(timeline, t), states);
        }
        used += world.entities + states;
    }
    return used;
}

/// Redoes the ticks from `from` on. Fails the test unless every entity is stepped again in `ticks`
/// ticks and the ring stays equal.
static void check_redo(hc_tick from, uint32_t ticks) {
    size_t size = copy_ring(NULL);
    uint8_t *before = malloc(size), *after = malloc(size);
    ck_assert(before != NULL && after != NULL);
    copy_ring(before);
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    uint64_t ticks_before = stats->resimulated_ticks, changed = stats->changed;
    hc_timeline_redo(timeline, from);
    ck_assert_uint_eq(resimulated_steps(), (uint64_t)ticks * world.entities);
    ck_assert_uint_eq(stats->resimulated_ticks - ticks_before, ticks);
    ck_assert_uint_eq(stats->depth, ticks);
    ck_assert_uint_eq(stats->changed, changed);
    copy_ring(after);
    ck_assert_mem_eq(before, after, size);
    free(before);
    free(after);
}

START_TEST(redone_ticks_are_stepped_in_full_and_stay_equal) {
    hc_tick head = hc_timeline_head(timeline);
    for (hc_player p = 0; p < 40; p++) // a past with inputs
        ck_assert_int_eq(put(p, head - 1 - p % 16, 1 + p, p % 3 == 0), HC_OK);
    hc_timeline_resimulate(timeline);
    check_redo(head - 5, 5);
    check_redo(head - 1, 1);
    check_redo(head - 16, 16);
    ck_assert_uint_eq(resimulated_steps(), 0); // only once
}
END_TEST

START_TEST(a_redo_is_cut_to_the_ticks_in_the_ring) {
    hc_tick head = hc_timeline_head(timeline);
    check_redo(0, 16);
    check_redo(head, 0);
    check_redo(HC_NO_TICK, 0);
}
END_TEST

START_TEST(a_redo_does_not_change_the_effect_of_a_late_input) {
    struct hc_timeline *redone = timeline;
    struct hc_world first_world = world;
    set_up(); // a second timeline with the same past; both use the second, equal world
    struct hc_timeline *plain = timeline;
    hc_tick head = hc_timeline_head(plain);
    for (unsigned n = 0; n < 2; n++) {
        timeline = n == 0 ? redone : plain;
        ck_assert_int_eq(put(7, head - 5, 3, 1), HC_OK);
    }
    hc_timeline_redo(redone, head - 3);
    hc_timeline_advance(redone);
    hc_timeline_advance(plain);
    ck_assert_uint_eq(hc_timeline_stats(redone)->depth, 5);
    for (hc_tick t = hc_timeline_oldest(plain); t <= head + 1; t++)
        ck_assert(hc_timeline_hash(plain, t) == hc_timeline_hash(redone, t));
    hc_timeline_destroy(redone);
    timeline = plain;
    hc_world_free(&first_world);
}
END_TEST

/// The number of events of a player at a tick; the first one is written to `*event`.
static uint32_t events_of(hc_tick tick, hc_player player, hc_game_event *event) {
    uint32_t count;
    const hc_game_event *events =
        hc_timeline_events(timeline, tick, hc_world_player(&world, player), &count);
    *event = count > 0 ? events[0] : 0;
    return count;
}

/// Replaces the timeline by an authority of the same game with vacant players that stay so, of
/// which nobody has joined yet.
static void set_up_vacant(void) {
    static struct hc_game vacant;
    struct hc_timeline_config config = hc_timeline_config_default();
    tear_down();
    vacant = game;
    vacant.stays_vacant = true;
    ck_assert_int_eq(hc_world_init(&world, &vacant, PLAYERS, 60, 1, NULL), HC_OK);
    config.world = &world;
    config.history = 16;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    hc_timeline_start(timeline);
}

/// The steps of the next tick.
static uint64_t advance_steps(void) {
    uint64_t before = hc_timeline_stats(timeline)->steps;
    hc_timeline_advance(timeline);
    return hc_timeline_stats(timeline)->steps - before;
}

START_TEST(the_slots_of_vacant_players_are_not_stepped) {
    enum { UNOWNED = 1 + 5 }; // the referee and the fans
    static const hc_player joins[] = {0, 3, 4, 100, PLAYERS - 1};
    const unsigned count = sizeof joins / sizeof joins[0];
    set_up_vacant();
    ck_assert_uint_eq(advance_steps(), UNOWNED);
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(hc_timeline_put_roster(timeline, joins[i], 1, HC_ROSTER_JOIN), HC_OK);
    for (hc_tick t = 1; t < 20; t++)
        ck_assert_uint_eq(advance_steps(), UNOWNED + count * PER_OWNER);
    hc_timeline_redo(timeline, 10);
    ck_assert_uint_eq(resimulated_steps(), 10 * (UNOWNED + count * PER_OWNER));

    // After a leave the pets live on for a tick. Then the states of the ring's former ticks, in
    // which the players lived, are in the way once more.
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(hc_timeline_put_roster(timeline, joins[i], 20, HC_ROSTER_LEAVE), HC_OK);
    for (hc_tick t = 20; t < 60; t++)
        hc_timeline_advance(timeline);
    ck_assert_uint_eq(advance_steps(), UNOWNED);
    ck_assert_uint_eq(hc_timeline_presence(timeline, 61)[hc_world_player(&world, 3)], HC_ABSENT);
}
END_TEST

START_TEST(a_player_that_is_vacant_earlier_loses_its_later_events) {
    hc_game_event event;
    set_up_vacant();
    ck_assert_int_eq(hc_timeline_put_roster(timeline, 7, 0, HC_ROSTER_JOIN), HC_OK);
    for (int i = 0; i < 16; i++)
        hc_timeline_advance(timeline);
    ck_assert_int_eq(put(7, 10, 0, DEATH), HC_OK);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(events_of(11, 7, &event), 1);
    ck_assert_int_eq(put(7, 8, 0, DEATH), HC_OK);
    hc_timeline_redo(timeline, 8);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(events_of(9, 7, &event), 1);
    ck_assert_uint_eq(events_of(11, 7, &event), 0);
}
END_TEST

START_TEST(a_late_roster_change_of_a_replica_steps_a_vacant_player) {
    struct hc_entity_state absent = {hc_world_player(&world, 7), HC_ABSENT, NULL};
    set_up_vacant();
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.replica = true;
    hc_timeline_destroy(timeline);
    timeline = hc_timeline_create(&config);
    ck_assert_int_eq(hc_timeline_put_state(timeline, 5, 5, &absent, 1), HC_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(advance_steps(), 0); // the others are unknown
    ck_assert_int_eq(hc_timeline_put_roster(timeline, 7, 6, HC_ROSTER_JOIN), HC_OK);
    hc_timeline_redo(timeline, 5);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_timeline_presence(timeline, 6)[absent.entity], HC_ABSENT);
    ck_assert_uint_eq(hc_timeline_presence(timeline, 7)[absent.entity], HC_ALIVE);
    ck_assert_uint_eq(hc_timeline_presence(timeline, 9)[absent.entity], HC_ALIVE);
}
END_TEST

START_TEST(events_are_those_of_the_newest_step_to_their_tick) {
    hc_tick head = hc_timeline_head(timeline), at = head - 5;
    hc_game_event event;
    ck_assert_uint_eq(events_of(at + 1, 7, &event), 0);
    ck_assert_int_eq(put(7, at, 1, 2), HC_OK);
    uint64_t changed = hc_timeline_events_changed(timeline, at + 1);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(events_of(at + 1, 7, &event), 2);
    ck_assert_uint_eq(event, hc_game_event_of(1, 0));
    ck_assert_uint_eq(events_of(at, 7, &event), 0);
    ck_assert_uint_gt(hc_timeline_events_changed(timeline, at + 1), changed);
    ck_assert_uint_eq(hc_timeline_next_emitter(timeline, at + 1, 0), hc_world_player(&world, 7));
    ck_assert_uint_eq(hc_timeline_next_emitter(timeline, at + 1, hc_world_player(&world, 7) + 1u),
                      world.entities);

    // A step that is not repeated keeps its events, and a repeated one that emits the same, too.
    changed = hc_timeline_events_changed(timeline, at + 1);
    ck_assert_int_eq(put(9, at, 0, 3), HC_OK);
    ck_assert_int_eq(put(7, at - 1, 1, 0), HC_OK);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(events_of(at + 1, 7, &event), 2);
    ck_assert_uint_eq(events_of(at + 1, 9, &event), 1);
    changed = hc_timeline_events_changed(timeline, at + 1);
    hc_timeline_redo(timeline, at - 1);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_timeline_events_changed(timeline, at + 1), changed);

    // A new tick begins without the events of the tick whose place it takes.
    for (int i = 0; i < 20; i++)
        hc_timeline_advance(timeline);
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++)
        ck_assert_uint_eq(hc_timeline_next_emitter(timeline, t, 0), world.entities);
}
END_TEST

START_TEST(an_authoritative_state_has_no_events) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.replica = true;
    hc_timeline_destroy(timeline);
    timeline = hc_timeline_create(&config);
    hc_entity entity = hc_world_player(&world, 7);
    struct walker walker = {.x = 1};
    struct hc_entity_state put_at = {entity, HC_ALIVE, &walker};
    hc_game_event event;
    ck_assert_int_eq(hc_timeline_put_state(timeline, 5, 5, &put_at, 1), HC_OK);
    for (hc_tick t = 5; t < 8; t++) {
        ck_assert_int_eq(put(7, t, 0, 3), HC_OK);
        hc_timeline_advance(timeline);
    }
    ck_assert_uint_eq(events_of(7, 7, &event), 1);
    ck_assert_int_eq(hc_timeline_put_state(timeline, 7, 9, &put_at, 1), HC_OK);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(events_of(6, 7, &event), 1);
    ck_assert_uint_eq(events_of(7, 7, &event), 0);
    ck_assert_uint_eq(events_of(8, 7, &event), 1);
}
END_TEST

START_TEST(input_is_known_once_and_only_inside_the_window) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(1, head - 16, 1, 0), HC_OK);
    ck_assert_int_eq(put(1, head - 16, 2, 0), HC_DUPLICATE);
    ck_assert_int_eq(put(1, head - 17, 1, 0), HC_TOO_OLD);
    ck_assert_int_eq(put(1, head + 64, 1, 0), HC_OK);
    ck_assert_int_eq(put(1, head + 65, 1, 0), HC_TOO_NEW);
    ck_assert_int_eq(put(1, UINT32_MAX, 1, 0), HC_TOO_NEW);
    ck_assert_int_eq(((const struct input *)hc_timeline_input(timeline, 1, head - 16))->walk, 1);
}
END_TEST

START_TEST(inputs_through_follows_known_and_forced_slots_without_gaps) {
    hc_tick head = hc_timeline_head(timeline);
    hc_tick floor = head - 16 - 1; // slots that left the window count as forced
    ck_assert_uint_eq(hc_timeline_inputs_through(timeline, 5), floor);
    ck_assert_int_eq(put(5, floor + 2, 1, 0), HC_OK);
    ck_assert_uint_eq(hc_timeline_inputs_through(timeline, 5), floor);
    ck_assert_int_eq(put(5, floor + 1, 1, 0), HC_OK);
    ck_assert_uint_eq(hc_timeline_inputs_through(timeline, 5), floor + 2);
    ck_assert_uint_eq(hc_timeline_force(timeline, 5, head), 16 - 2);
    ck_assert_uint_eq(hc_timeline_inputs_through(timeline, 5), head - 1);
    ck_assert_int_eq(put(5, head - 1, 1, 0), HC_DUPLICATE);
}
END_TEST

START_TEST(leaving_forces_unknown_slots_and_ends_the_players_inputs) {
    hc_tick head = hc_timeline_head(timeline);
    ck_assert_int_eq(put(5, head + 3, 1, 0), HC_OK);
    ck_assert_int_eq(hc_timeline_put_roster(timeline, 5, head, HC_ROSTER_LEAVE), HC_OK);
    ck_assert_int_eq(hc_timeline_slot(timeline, 5, head), HC_SLOT_FORCED);
    ck_assert_int_eq(hc_timeline_slot(timeline, 5, head + 3), HC_SLOT_UNKNOWN);
    ck_assert_int_eq(put(5, head + 4, 1, 0), HC_UNEXPECTED);
    hc_timeline_advance(timeline);
    ck_assert_uint_eq(hc_timeline_presence(timeline, head)[hc_world_player(&world, 5)], HC_ALIVE);
    ck_assert_uint_eq(hc_timeline_presence(timeline, head + 1)[hc_world_player(&world, 5)],
                      HC_ABSENT);
}
END_TEST

START_TEST(reading_a_tick_outside_of_the_ring_aborts) {
    while (hc_timeline_oldest(timeline) == 0)
        hc_timeline_advance(timeline);
    (void)hc_timeline_states(timeline, _i == 0 ? hc_timeline_oldest(timeline) - 1
                                               : hc_timeline_head(timeline) + 1);
}
END_TEST

START_TEST(entities_at_opposite_ends_of_wide_positions_are_no_neighbours) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.replica = true;
    struct hc_timeline *replica = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(replica);
    const struct walker walkers[] = {{.x = INT32_MAX}, {.x = INT32_MIN}, {.x = INT32_MAX - 5}};
    struct hc_entity_state states[3];
    for (hc_player p = 0; p < 3; p++)
        states[p] = (struct hc_entity_state){hc_world_player(&world, p), HC_ALIVE, &walkers[p]};
    ck_assert_int_eq(hc_timeline_put_state(replica, 5, 5, states, 3), HC_OK);
    hc_timeline_advance(replica);
    static const int32_t seen[] = {1, 0, 1};
    for (hc_player p = 0; p < 3; p++) {
        const struct walker *walker =
            (const void *)(hc_timeline_states(replica, 6) +
                           (size_t)hc_world_player(&world, p) * world.stride);
        ck_assert_int_eq(walker->seen, seen[p]);
    }
    hc_timeline_destroy(replica);
}
END_TEST

// ---- The log of rewinds -------------------------------------------------------------------------

static struct hc_rewind_log *log_rewinds(void) {
    struct hc_rewind_log *log = hc_rewind_log_create(&world, NULL);
    ck_assert_ptr_nonnull(log);
    hc_timeline_log_rewinds(timeline, log);
    return log;
}

START_TEST(the_log_names_the_input_that_rewound_and_the_entities_that_changed) {
    struct hc_rewind_log *log = log_rewinds();
    hc_tick head = hc_timeline_head(timeline);
    struct hc_timeline_stats before = *hc_timeline_stats(timeline);
    put(7, head - 5, 3, 0);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_rewind_log_count(log), 1);
    const struct hc_rewind *rewind = hc_rewind_log_get(log, 0);
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    ck_assert_uint_eq(rewind->head, head);
    ck_assert_uint_eq(rewind->from, head - stats->depth);
    ck_assert_uint_eq(rewind->ticks, stats->resimulated_ticks - before.resimulated_ticks);
    ck_assert_uint_eq(rewind->steps, stats->resimulated_steps - before.resimulated_steps);
    ck_assert_uint_eq(rewind->changed, stats->changed - before.changed);
    ck_assert_uint_eq(rewind->cause_count, 1); // the predictions after it are no causes
    ck_assert_int_eq(rewind->causes[0].kind, HC_REWIND_INPUT);
    ck_assert_uint_eq(rewind->causes[0].player, 7);
    ck_assert_uint_eq(rewind->causes[0].tick, head - 5);
    ck_assert_uint_eq(rewind->entities, PER_OWNER);
    ck_assert_uint_eq(rewind->change_count, PER_OWNER);
    ck_assert_uint_eq(rewind->changes[0].entity, hc_world_player(&world, 7));
    ck_assert_uint_eq(rewind->changes[0].first, head - 4);
    ck_assert_uint_eq(rewind->changes[0].last, head);
    ck_assert_uint_eq(rewind->changes[1].first, head - 3); // pets follow one tick behind
    hc_timeline_log_rewinds(timeline, NULL);
    put(8, head - 5, 3, 0);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_rewind_log_count(log), 1);
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(the_log_names_an_input_that_only_renews_its_prediction) {
    struct hc_rewind_log *log = log_rewinds();
    hc_tick head = hc_timeline_head(timeline);
    put(7, head - 8, 3, 0);
    hc_timeline_resimulate(timeline);
    put(7, head - 6, 3, 0); // as predicted, but the prediction lasts two ticks longer now
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_rewind_log_count(log), 2);
    const struct hc_rewind *rewind = hc_rewind_log_get(log, 1);
    ck_assert_uint_eq(rewind->cause_count, 1);
    ck_assert_uint_eq(rewind->causes[0].tick, head - 6);
    ck_assert_uint_eq(rewind->from, head - 4);
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(a_log_is_silent_about_an_input_that_rewinds_nothing) {
    struct hc_rewind_log *log = log_rewinds();
    hc_tick head = hc_timeline_head(timeline);
    put(7, head - 5, 0, 0);
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_rewind_log_count(log), 0);
    put(8, head - 2, 1, 0); // not mixed with the one before
    hc_timeline_resimulate(timeline);
    ck_assert_uint_eq(hc_rewind_log_get(log, 0)->cause_count, 1);
    ck_assert_uint_eq(hc_rewind_log_get(log, 0)->causes[0].player, 8);
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(a_log_counts_what_its_lists_leave_out) {
    struct hc_rewind_log *log = log_rewinds();
    hc_tick head = hc_timeline_head(timeline);
    for (hc_player p = 0; p < PLAYERS; p++)
        put(p, head - 3, 1, 0);
    hc_timeline_resimulate(timeline);
    const struct hc_rewind *rewind = hc_rewind_log_get(log, 0);
    ck_assert_uint_eq(rewind->cause_count, HC_REWIND_CAUSES_MAX);
    ck_assert(rewind->more_causes);
    ck_assert_uint_eq(rewind->entities, PLAYERS * PER_OWNER);
    ck_assert_uint_eq(rewind->change_count, HC_REWIND_CHANGES_MAX);
    put(7, head - 2, 0, 0);
    hc_timeline_resimulate(timeline);
    rewind = hc_rewind_log_get(log, 1);
    ck_assert_uint_eq(rewind->cause_count, 1);
    ck_assert(!rewind->more_causes);
    ck_assert_uint_eq(rewind->entities, PER_OWNER);
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(a_log_keeps_the_newest_rewinds) {
    struct hc_rewind_log *log = log_rewinds();
    for (unsigned i = 0; i < HC_REWINDS_KEPT + 3; i++) {
        put(1, hc_timeline_head(timeline) - 1, i % 2 == 0 ? 1 : -1, 0);
        hc_timeline_advance(timeline);
    }
    ck_assert_uint_eq(hc_rewind_log_count(log), HC_REWINDS_KEPT + 3);
    ck_assert_ptr_null(hc_rewind_log_get(log, 2));
    ck_assert_ptr_nonnull(hc_rewind_log_get(log, 3));
    ck_assert_uint_eq(hc_rewind_log_get(log, HC_REWINDS_KEPT + 2)->head + 1,
                      hc_timeline_head(timeline));
    ck_assert_ptr_null(hc_rewind_log_get(log, HC_REWINDS_KEPT + 3));
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(a_log_distinguishes_a_redo_from_late_inputs) {
    struct hc_rewind_log *log = log_rewinds();
    hc_tick head = hc_timeline_head(timeline);
    hc_timeline_redo(timeline, head - 4);
    hc_timeline_resimulate(timeline);
    const struct hc_rewind *rewind = hc_rewind_log_get(log, 0);
    ck_assert_uint_eq(rewind->ticks, 4);
    ck_assert_uint_eq(rewind->changed, 0);
    ck_assert_uint_eq(rewind->entities, 0);
    ck_assert_uint_eq(rewind->cause_count, 1);
    ck_assert_int_eq(rewind->causes[0].kind, HC_REWIND_ORDER);
    ck_assert_uint_eq(rewind->causes[0].tick, head - 4);
    hc_rewind_log_destroy(log);
}
END_TEST

START_TEST(memory_grows_with_the_history_up_to_its_limit) {
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    size_t small = hc_timeline_memory(&config);
    config.history = 128;
    ck_assert_uint_gt(hc_timeline_memory(&config), small);
    config.history = HC_HISTORY_MAX + 1;
    ck_assert_str_eq(hc_timeline_config_check(&config), "history");
    ck_assert_ptr_null(hc_timeline_create(&config));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("timeline");
    TCase *tc = tcase_create("timeline");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, late_input_of_a_lone_player_steps_only_its_entities);
    tcase_add_test(tc, late_input_steps_those_within_reach_of_the_old_and_of_the_new_position);
    tcase_add_test(tc, changed_reduction_steps_only_the_referee_and_its_readers);
    tcase_add_test(tc, input_equal_to_its_prediction_steps_nothing_but_renews_it);
    tcase_add_test(tc, only_ticks_with_different_states_count_as_changed);
    tcase_add_test(tc, change_dies_out_where_the_recomputed_state_equals_the_old_one);
    tcase_add_test(tc, redone_ticks_are_stepped_in_full_and_stay_equal);
    tcase_add_test(tc, a_redo_is_cut_to_the_ticks_in_the_ring);
    tcase_add_test(tc, a_redo_does_not_change_the_effect_of_a_late_input);
    tcase_add_test(tc, the_slots_of_vacant_players_are_not_stepped);
    tcase_add_test(tc, a_player_that_is_vacant_earlier_loses_its_later_events);
    tcase_add_test(tc, a_late_roster_change_of_a_replica_steps_a_vacant_player);
    tcase_add_test(tc, events_are_those_of_the_newest_step_to_their_tick);
    tcase_add_test(tc, an_authoritative_state_has_no_events);
    tcase_add_test(tc, input_is_known_once_and_only_inside_the_window);
    tcase_add_test(tc, inputs_through_follows_known_and_forced_slots_without_gaps);
    tcase_add_test(tc, leaving_forces_unknown_slots_and_ends_the_players_inputs);
    tcase_add_loop_test_raise_signal(tc, reading_a_tick_outside_of_the_ring_aborts, SIGABRT, 0, 2);
    tcase_add_test(tc, entities_at_opposite_ends_of_wide_positions_are_no_neighbours);
    tcase_add_test(tc, the_log_names_the_input_that_rewound_and_the_entities_that_changed);
    tcase_add_test(tc, the_log_names_an_input_that_only_renews_its_prediction);
    tcase_add_test(tc, a_log_is_silent_about_an_input_that_rewinds_nothing);
    tcase_add_test(tc, a_log_counts_what_its_lists_leave_out);
    tcase_add_test(tc, a_log_keeps_the_newest_rewinds);
    tcase_add_test(tc, a_log_distinguishes_a_redo_from_late_inputs);
    tcase_add_test(tc, memory_grows_with_the_history_up_to_its_limit);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
