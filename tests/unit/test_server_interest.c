/// The interest set of a client, against the rule written once more.
#include "hindcast/rng.h"
#include "server/replication/interest.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLAYERS = 90, // units in several words
    VIEW = 400,
    KEEP = VIEW + VIEW / 4,
    ENTITIES_MAX = 400,
    UNITS_MAX = 192,
    LIVES = 60,
    LOOKS = 60,
};

/// An entity as the test placed it.
struct thing {
    bool alive;
    int32_t x, y;
};

static struct hc_game game;
static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_interest interest;
static struct hc_sv_slots slots;
static struct hc_sv_index around;
static uint8_t *memory, *index_memory;
static struct thing things[ENTITIES_MAX];
static hc_tick now;

/// A world whose game sees `view` far and hides by `hides`.
static void open_world(uint32_t view, bool (*hides)(const struct hc_world *, hc_entity,
                                                    const void *, hc_entity, const void *)) {
    game = small_game;
    game.players_max = PLAYERS;
    game.view = view;
    game.hides = hides;
    ck_assert_int_eq(hc_world_init(&world, &game, PLAYERS, 60, 1, NULL), HC_OK);
    ck_assert_uint_le(world.entities, ENTITIES_MAX);
    ck_assert_uint_le(hc_unit_total(&world), UNITS_MAX);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.history = 4;
    config.replica = true;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    size_t bytes = hc_sv_slots_layout(&slots, UNITS_MAX, UNITS_MAX, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    hc_sv_slots_layout(&slots, UNITS_MAX, UNITS_MAX, memory);
    hc_sv_slots_clear(&slots);
    bytes = hc_sv_index_layout(&around, &world, NULL);
    index_memory = malloc(bytes);
    memset(index_memory, 0xa5, bytes);
    ck_assert_uint_eq(hc_sv_index_layout(&around, &world, index_memory), bytes);
    hc_sv_index_clear(&around);
    hc_sv_interest_open(&interest, &world, &slots);
    memset(things, 0, sizeof things);
    things[HC_REFEREE].alive = true;
    now = 0;
}

static void close_world(void) {
    free(index_memory);
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static hc_unit unit_of(hc_player player) {
    return (hc_unit)(1 + player);
}

/// The unowned entities: items with a position, then two ghosts without.
static hc_entity item(uint32_t index) {
    return (hc_entity)(1u + PLAYERS * world.per_owner + index);
}

static hc_entity ghost(uint32_t index) {
    return (hc_entity)(world.entities - 2 + index);
}

static void place(hc_entity entity, int32_t x, int32_t y) {
    things[entity] = (struct thing){.alive = true, .x = x, .y = y};
}

/// The next tick is as `things` says.
static void pass(void) {
    static uint8_t states[ENTITIES_MAX][HC_STATE_MAX];
    static struct hc_entity_state entities[ENTITIES_MAX];
    memset(states, 0, sizeof states);
    for (uint32_t e = 0; e < world.entities; e++) {
        const struct hc_kind *kind = hc_world_kind(&world, (hc_entity)e);
        if (things[e].alive && kind->x != NULL) {
            hc_field_set(&kind->fields[hc_kind_field(kind, kind->x)], states[e], things[e].x);
            hc_field_set(&kind->fields[hc_kind_field(kind, kind->y)], states[e], things[e].y);
        }
        entities[e] = (struct hc_entity_state){.entity = (hc_entity)e,
                                               .presence = things[e].alive ? HC_ALIVE : HC_ABSENT,
                                               .state = states[e]};
    }
    now++;
    if (hc_timeline_started(timeline))
        hc_timeline_advance(timeline); // so that the ticks before stay
    ck_assert_int_eq(hc_timeline_put_state(timeline, now, now, entities, world.entities), HC_OK);
}

/// The next tick is as `things` says, and the client of `own` looks at it.
static void sight(const hc_player *own, unsigned own_count) {
    pass();
    hc_sv_interest_update(&interest, &around, timeline, now, own, own_count);
}

/// The next tick is as `things` says, and only the seen units are checked.
static void narrow(const hc_player *own, unsigned own_count) {
    pass();
    hc_sv_interest_narrow(&interest, timeline, now, own, own_count);
}

static bool sees(hc_unit unit) {
    return hc_sv_view_sees(&interest.view, unit);
}

/// Hides every entity to the left of the viewer.
static bool hides_left(const struct hc_world *of, hc_entity viewer, const void *viewer_state,
                       hc_entity other, const void *other_state) {
    int64_t x = 0, y = 0, other_x = 0, other_y = 0;
    if (of != &world || !hc_world_position(of, viewer, viewer_state, &x, &y))
        ck_abort_msg("the viewer is no player of this world");
    return hc_world_position(of, other, other_state, &other_x, &other_y) && other_x < x;
}

/// The rule once more: whether players at `eyes` see the unit; `was`: they did before.
static bool should_see(hc_unit unit, bool was, const struct thing *eyes, unsigned own_count) {
    bool alive = false, seen = false;
    int64_t range = was ? game.view + game.view / 4 : game.view;
    for (uint32_t e = 0; e < world.entities; e++) {
        if (hc_unit_of(&world, (hc_entity)e) != unit || !things[e].alive)
            continue;
        alive = true;
        bool placed = hc_world_kind(&world, (hc_entity)e)->x != NULL;
        for (unsigned i = 0; i < own_count; i++) {
            if (!eyes[i].alive)
                continue;
            int64_t dx = llabs((int64_t)things[e].x - eyes[i].x);
            int64_t dy = llabs((int64_t)things[e].y - eyes[i].y);
            bool near = game.view == 0 || !placed || (dx <= range && dy <= range);
            bool hidden = game.hides != NULL && placed && things[e].x < eyes[i].x;
            seen = seen || (near && !hidden);
        }
    }
    return alive ? seen : was;
}

/// Moves, removes and revives some entities.
static void stir(struct hc_rng *rng) {
    for (uint32_t e = 1; e < world.entities; e++) {
        if (hc_rng_chance(rng, 30000))
            things[e].alive = !things[e].alive;
        if (hc_rng_chance(rng, 20000)) {
            things[e].x = (int32_t)hc_rng_below(rng, 6 * VIEW) - 3 * VIEW;
            things[e].y = (int32_t)hc_rng_below(rng, 6 * VIEW) - 3 * VIEW;
        }
        things[e].x += (int32_t)hc_rng_below(rng, 101) - 50;
        things[e].y += (int32_t)hc_rng_below(rng, 101) - 50;
    }
}

START_TEST(the_interest_follows_the_rule_however_players_move_join_and_leave) {
    uint32_t came = 0, went = 0;
    for (uint32_t life = 0; life < LIVES; life++) {
        struct hc_rng rng = hc_rng_init(41, life);
        bool hidden = life % 3 == 1, was[UNITS_MAX] = {0};
        open_world(life % 5 == 4 ? 0 : VIEW, hidden ? hides_left : NULL);
        unsigned own_count = hc_rng_below(&rng, HC_OWN_PLAYERS_MAX + 1);
        hc_player own[HC_OWN_PLAYERS_MAX];
        struct thing eyes[HC_OWN_PLAYERS_MAX] = {0};
        for (unsigned i = 0; i < own_count; i++)
            own[i] = (hc_player)(i * 20 + hc_rng_below(&rng, 20));
        bool everything = own_count == 0 || (game.view == 0 && !hidden);
        for (uint32_t step = 0; step < LOOKS; step++) {
            stir(&rng);
            sight(own, own_count);
            for (unsigned i = 0; i < own_count; i++)
                if (things[hc_world_player(&world, own[i])].alive)
                    eyes[i] = things[hc_world_player(&world, own[i])];
            for (uint32_t u = 0; u < hc_unit_total(&world); u++) {
                bool should =
                    everything || u == 0 || should_see((hc_unit)u, was[u], eyes, own_count);
                for (unsigned i = 0; i < own_count; i++)
                    should = should || u == unit_of(own[i]);
                if (sees((hc_unit)u) != should)
                    ck_abort_msg("life %u, sight %u, unit %u: %d", life, step, u, !should);
                came += should && !was[u];
                went += !should && was[u];
                was[u] = should;
            }
        }
        close_world();
    }
    ck_assert_uint_gt(came, 1000);
    ck_assert_uint_gt(went, 1000);
}
END_TEST

START_TEST(the_border_is_the_view_inwards_and_a_quarter_farther_outwards) {
    const hc_player own = 5;
    open_world(VIEW, NULL);
    place(hc_world_player(&world, own), -70, 40);
    for (int axis = 0; axis < 2; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct {
                int32_t away;
                bool seen;
            } walk[] = {{KEEP, false}, {VIEW + 1, false}, {VIEW, true},  {VIEW + 1, true},
                        {KEEP, true},  {KEEP + 1, false}, {KEEP, false}, {VIEW + 1, false}};
            for (unsigned i = 0; i < sizeof walk / sizeof walk[0]; i++) {
                int32_t away = sign * walk[i].away;
                place(hc_world_player(&world, 80), axis == 0 ? -70 + away : -70,
                      axis == 0 ? 40 : 40 + away);
                sight(&own, 1);
                ck_assert_msg(sees(unit_of(80)) == walk[i].seen, "axis %d, away %d", axis, away);
            }
        }
    close_world();
}
END_TEST

START_TEST(only_a_client_that_saw_a_player_learns_that_it_left) {
    const hc_player near = 1, far = 2, leaver = 3;
    for (int whose = 0; whose < 2; whose++) {
        open_world(VIEW, NULL);
        place(hc_world_player(&world, near), 0, 0);
        place(hc_world_player(&world, far), 10 * VIEW, 0);
        place(hc_world_player(&world, leaver), VIEW / 2, 0);
        const hc_player *own = whose == 0 ? &near : &far;
        sight(own, 1);
        things[hc_world_player(&world, leaver)].alive = false;
        for (int i = 0; i < 5; i++) {
            sight(own, 1);
            ck_assert(sees(unit_of(leaver)) == (whose == 0));
            ck_assert(!sees(unit_of(50))); // it never joined
        }
        place(hc_world_player(&world, leaver), 0, 3 * VIEW); // it joins again, far from both
        sight(own, 1);
        ck_assert(!sees(unit_of(leaver)));
        place(hc_world_player(&world, leaver), 10 * VIEW, VIEW);
        sight(own, 1);
        ck_assert(sees(unit_of(leaver)) == (whose == 1));
        close_world();
    }
}
END_TEST

START_TEST(a_dead_player_looks_from_its_last_place_and_a_new_one_does_not_look) {
    const hc_player own = 7, other = 8;
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 20), 0, 0);
    sight(&own, 1);
    ck_assert(sees(0) && sees(unit_of(own)) && !sees(unit_of(20)));
    place(hc_world_player(&world, own), 0, VIEW);
    sight(&own, 1);
    ck_assert(sees(unit_of(20)));
    things[hc_world_player(&world, own)].alive = false;
    place(hc_world_player(&world, 21), VIEW, VIEW);
    sight(&own, 1);
    ck_assert(sees(unit_of(20)) && sees(unit_of(21)));
    sight(&other, 1); // another player has not died there
    ck_assert(!sees(unit_of(20)) && !sees(unit_of(21)) && !sees(unit_of(22)));
    close_world();
}
END_TEST

START_TEST(a_unit_is_seen_as_a_whole_and_an_entity_without_position_everywhere) {
    const hc_player own = 0;
    open_world(VIEW, NULL);
    place(hc_world_player(&world, own), 0, 0);
    place(hc_world_player(&world, 1), 9 * VIEW, 0);
    place((hc_entity)(hc_world_player(&world, 1) + 2), VIEW, VIEW); // its second item
    place(item(0), VIEW, -VIEW);
    place(item(1), VIEW + 1, 0);
    things[ghost(0)].alive = true;
    sight(&own, 1);
    ck_assert(sees(unit_of(1)));
    ck_assert(sees(hc_unit_of(&world, item(0))) && !sees(hc_unit_of(&world, item(1))));
    ck_assert(sees(hc_unit_of(&world, ghost(0))) && !sees(hc_unit_of(&world, ghost(1))));
    close_world();
}
END_TEST

START_TEST(a_distance_is_from_the_nearest_own_player_to_the_units_nearest_entity) {
    const hc_player own[2] = {10, 11};
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 10), 0, 0);
    place(hc_world_player(&world, 11), 1000, 0);
    place(hc_world_player(&world, 12), 5000, 0);
    place((hc_entity)(hc_world_player(&world, 12) + 1), 900, -130);
    place(item(3), -60, 20);
    things[ghost(1)].alive = true;
    sight(own, 2);
    ck_assert_uint_eq(hc_sv_interest_distance(&interest, timeline, now, unit_of(11)), 0);
    ck_assert_uint_eq(hc_sv_interest_distance(&interest, timeline, now, unit_of(12)), 130);
    hc_unit unit = hc_unit_of(&world, item(3));
    ck_assert_uint_eq(hc_sv_interest_distance(&interest, timeline, now, unit), 60);
    unit = hc_unit_of(&world, ghost(1));
    ck_assert_uint_eq(hc_sv_interest_distance(&interest, timeline, now, unit), 0);
    sight(NULL, 0);
    ck_assert_uint_eq(hc_sv_interest_distance(&interest, timeline, now, unit_of(12)), 0);
    close_world();
}
END_TEST

START_TEST(a_unit_that_leaps_out_of_view_is_removed_at_once_and_none_is_added) {
    const hc_player own[] = {3};
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 3), 0, 0);
    place(hc_world_player(&world, 4), VIEW, 0);
    place(hc_world_player(&world, 5), 0, -VIEW);
    sight(own, 1);
    hc_tick first = now;
    ck_assert(sees(unit_of(4)) && sees(unit_of(5)) && !sees(unit_of(6)));
    place(hc_world_player(&world, 4), KEEP, 0); // at the border
    place(hc_world_player(&world, 5), 9000, 0);
    place(hc_world_player(&world, 6), 10, 10);
    narrow(own, 1);
    ck_assert(sees(unit_of(4)) && !sees(unit_of(5)) && !sees(unit_of(6)) && sees(unit_of(3)));
    ck_assert_uint_eq(hc_sv_view_find(&interest.view, unit_of(4))->since, first);
    place(hc_world_player(&world, 5), 0, -VIEW);
    narrow(own, 1);
    ck_assert(!sees(unit_of(5))); // until the next update
    sight(own, 1);
    ck_assert(sees(unit_of(5)) && sees(unit_of(6)));
    ck_assert_uint_eq(hc_sv_view_find(&interest.view, unit_of(5))->since, now);
    things[hc_world_player(&world, 4)].alive = false;
    narrow(own, 1);
    ck_assert(sees(unit_of(4))); // its death is sent
    place(hc_world_player(&world, 3), -9000, 0);
    narrow(own, 1);
    ck_assert(sees(unit_of(3)) && sees(unit_of(4)) && !sees(unit_of(5)) && !sees(unit_of(6)));
    close_world();
}
END_TEST

START_TEST(a_unit_that_was_out_of_view_between_two_ticks_is_seen_anew) {
    const hc_player own[] = {3};
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 3), 0, 0);
    place(hc_world_player(&world, 4), 50, 0);
    place(hc_world_player(&world, 5), 60, 0);
    sight(own, 1);
    hc_tick first = now;
    place(hc_world_player(&world, 5), 5000, 0);
    pass();
    place(hc_world_player(&world, 5), 60, 0);
    narrow(own, 1);
    ck_assert(sees(unit_of(4)) && sees(unit_of(5)));
    ck_assert_uint_eq(hc_sv_view_find(&interest.view, unit_of(4))->since, first);
    ck_assert_uint_eq(hc_sv_view_find(&interest.view, unit_of(5))->since, now);
    close_world();
}
END_TEST

START_TEST(events_and_snapshots_find_a_unit_out_of_view_in_any_order) {
    const hc_player own[] = {3};
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 3), 0, 0);
    place(hc_world_player(&world, 5), 60, 0);
    sight(own, 1);
    struct hc_sv_slot *slot = hc_sv_view_slot(&interest.view, interest.view.first);
    while (slot->unit != unit_of(5))
        slot = hc_sv_view_slot(&interest.view, slot->next);
    place(hc_world_player(&world, 5), 5000, 0);
    pass();
    // The next tick is final before it is shown, and its events were looked at.
    hc_sv_slot_out_of_view(slot, now + 2);
    hc_sv_slot_out_of_view(slot, now + 1);
    ck_assert_uint_eq(slot->since, now + 2);
    narrow(own, 1);
    ck_assert(!sees(unit_of(5)));
    close_world();
}
END_TEST

START_TEST(a_look_at_another_tick_goes_by_the_states_of_that_tick) {
    const hc_player own[] = {3};
    open_world(VIEW, NULL);
    place(hc_world_player(&world, 3), 0, 0);
    place(hc_world_player(&world, 4), 9000, 0);
    place(hc_world_player(&world, 5), KEEP + 1, 0);
    sight(own, 1);
    place(hc_world_player(&world, 4), 50, 0);
    place(hc_world_player(&world, 5), KEEP, 0);
    things[hc_world_player(&world, 3)].alive = false;
    sight(own, 1);
    struct hc_sv_interest_sight before;
    hc_sv_interest_sight_at(&interest, timeline, now - 1, own, 1, &before);
    ck_assert(!hc_sv_interest_in_view(&before, unit_of(4)) &&
              !hc_sv_interest_in_view(&before, unit_of(5)));
    ck_assert(hc_sv_interest_in_view(&before, unit_of(3)) && hc_sv_interest_in_view(&before, 0) &&
              hc_sv_interest_in_view(&before, unit_of(7))); // nothing of it is alive
    // A dead player looks from its last place.
    struct hc_sv_interest_sight after;
    hc_sv_interest_sight_at(&interest, timeline, now, own, 1, &after);
    ck_assert(hc_sv_interest_in_view(&after, unit_of(4)) &&
              hc_sv_interest_in_view(&after, unit_of(5)));
    struct hc_sv_interest_sight nobody;
    hc_sv_interest_sight_at(&interest, timeline, now - 1, NULL, 0, &nobody);
    ck_assert(nobody.everything && hc_sv_interest_in_view(&nobody, unit_of(4)));
    close_world();
}
END_TEST

START_TEST(clients_that_see_everything_leave_each_other_client_its_own_units_and_some_more) {
    enum { CLIENTS = 8, NEAR = 3 };
    static struct hc_sv_interest all[CLIENTS - 1];
    const hc_player own = PLAYERS - 1; // the last units
    open_world(VIEW, NULL);
    hc_sv_slots_layout(&slots, UNITS_MAX, CLIENTS, memory);
    hc_sv_slots_clear(&slots);
    place(hc_world_player(&world, own), 0, 0);
    for (hc_player p = 1; p <= NEAR; p++)
        place(hc_world_player(&world, own - p), VIEW / 2, 0);
    for (unsigned life = 0; life < 3; life++) {
        pass();
        for (unsigned i = 0; i < CLIENTS - 1; i++) {
            hc_sv_interest_open(&all[i], &world, &slots);
            hc_sv_interest_update(&all[i], &around, timeline, now, NULL, 0);
        }
        hc_sv_interest_open(&interest, &world, &slots);
        sight(&own, 1);
        ck_assert(sees(0));
        for (hc_player p = 0; p <= NEAR; p++)
            ck_assert(sees(unit_of(own - p)));
        // Places that nobody was promised go to those that come first.
        ck_assert_uint_gt(all[0].view.count, slots.share);
        ck_assert_uint_eq(all[CLIENTS - 2].view.count, slots.share);
        hc_sv_view_close(&interest.view);
        for (unsigned i = 0; i < CLIENTS - 1; i++)
            hc_sv_view_close(&all[i].view);
        ck_assert_uint_eq(slots.left, UNITS_MAX);
        ck_assert_uint_eq(slots.promised, slots.share * CLIENTS);
    }
    close_world();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server interest");
    TCase *tc = tcase_create("interest");
    tcase_add_test(tc, the_interest_follows_the_rule_however_players_move_join_and_leave);
    tcase_add_test(tc, the_border_is_the_view_inwards_and_a_quarter_farther_outwards);
    tcase_add_test(tc, only_a_client_that_saw_a_player_learns_that_it_left);
    tcase_add_test(tc, a_dead_player_looks_from_its_last_place_and_a_new_one_does_not_look);
    tcase_add_test(tc, a_unit_is_seen_as_a_whole_and_an_entity_without_position_everywhere);
    tcase_add_test(tc, a_distance_is_from_the_nearest_own_player_to_the_units_nearest_entity);
    tcase_add_test(tc, a_unit_that_leaps_out_of_view_is_removed_at_once_and_none_is_added);
    tcase_add_test(tc, a_unit_that_was_out_of_view_between_two_ticks_is_seen_anew);
    tcase_add_test(tc, events_and_snapshots_find_a_unit_out_of_view_in_any_order);
    tcase_add_test(tc, a_look_at_another_tick_goes_by_the_states_of_that_tick);
    tcase_add_test(tc,
                   clients_that_see_everything_leave_each_other_client_its_own_units_and_some_more);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
