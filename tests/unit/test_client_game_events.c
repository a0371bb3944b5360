/// Tests of the delivery of game events: when their tick is shown, or at once; each exactly once.
#include "client/world/game_events.h"

#include "common/timeline.h"
#include "hindcast/scene.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"

#include <stdlib.h>

// A game whose players emit the event of kind `input - 1` in a step with an input above 0.
enum { OWN, OTHER, PLAYERS, BEGIN = 100, NUMBER_BITS = 12, SEEN = 0, KNOWN = 1, FINAL = 2 };

static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, byte_fields, NULL, NULL, 0, 2}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};
static const struct hc_game_event_kind event_kinds[] = {
    [SEEN] = {.name = "seen", .bits = NUMBER_BITS},
    [KNOWN] = {.name = "known", .at_once = true},
    [FINAL] = {.name = "final", .final_only = true},
};

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const uint8_t *input = self == HC_REFEREE ? NULL : hc_scene_input(scene);
    *(uint8_t *)out = 0;
    if (input != NULL && *input > 0)
        hc_emit(scene, *input - 1u, 0);
    return true;
}

static const hc_player own[] = {OWN};
static struct hc_game game = BYTE_GAME("events", PLAYERS, kinds, owned, step);
static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_cl_interpolation interpolation;
static void *memory;
static struct hc_cl_game_events events;
static struct hc_client_stats stats;

static hc_entity entity_of(hc_player player) {
    return hc_world_player(&world, player);
}

static void set_up(void) {
    game.event_kinds = event_kinds;
    game.event_kind_count = 3;
    ck_assert_int_eq(hc_world_init(&world, &game, PLAYERS, 60, 1, NULL), HC_OK);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.replica = true;
    timeline = hc_timeline_create(&config);
    memory = calloc(1, hc_cl_interpolation_layout(&interpolation, &world, 0, NULL));
    ck_assert(timeline != NULL && memory != NULL);
    hc_cl_interpolation_layout(&interpolation, &world, 0, memory);
    interpolation.own = own;
    interpolation.own_count = 1;
    static const uint8_t zero;
    struct hc_entity_state states[PLAYERS];
    for (hc_player p = 0; p < PLAYERS; p++)
        states[p] = (struct hc_entity_state){entity_of(p), HC_ALIVE, &zero};
    ck_assert_int_eq(hc_timeline_put_state(timeline, BEGIN, BEGIN, states, PLAYERS), HC_OK);
    stats = (struct hc_client_stats){.snapshots = 0};
    hc_cl_game_events_begin(&events, &stats);
}

static void tear_down(void) {
    hc_cl_game_events_begin(&events, &stats);
    for (struct hc_client_game_event event; hc_cl_game_events_next(&events, &event);)
        continue;
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

/// Predicts the next tick, in whose step `player` emits an event of `kind`. Returns the tick.
static hc_tick predict(hc_player player, unsigned kind) {
    hc_tick head = hc_timeline_head(timeline);
    for (hc_player p = 0; p < PLAYERS; p++) {
        uint8_t input = p == player ? (uint8_t)(kind + 1) : 0;
        ck_assert_int_eq(hc_timeline_put_input(timeline, p, head, &input), HC_OK);
    }
    hc_timeline_advance(timeline);
    hc_cl_game_events_predict(&events, timeline, &interpolation, &stats);
    return head + 1;
}

/// Shows the own players at a tick, and the others `behind` ticks before it.
static void show(hc_tick tick, hc_tick behind) {
    struct hc_cl_interpolation_times times = {{.tick = tick}, {.tick = tick - behind}};
    hc_cl_game_events_show(&events, &interpolation, &times, &stats);
}

/// Takes a snapshot with the events of a final tick.
static void list(hc_tick tick, const struct hc_cl_received_event *listed, uint32_t count) {
    struct hc_cl_received snapshot = {.header = {.final = tick},
                                      .events_first = tick,
                                      .event_ticks = 1,
                                      .event_count = count,
                                      .events = (struct hc_cl_received_event *)listed};
    hc_cl_game_events_take(&events, &snapshot, &interpolation, &stats);
}

/// Lists the only event of a tick.
static void list_one(hc_tick tick, hc_player player, unsigned kind) {
    struct hc_cl_received_event event = {tick, entity_of(player), hc_game_event_of(kind, 0)};
    list(tick, &event, 1);
}

/// Takes a snapshot of the head `as_of` with an early list of a tick: `kind` of OTHER, or nothing
/// with a kind below 0.
static void list_early(hc_tick tick, hc_tick as_of, int kind) {
    struct hc_cl_received_event event = {tick, entity_of(OTHER),
                                         hc_game_event_of(kind < 0 ? 0 : (unsigned)kind, 0)};
    struct hc_cl_received snapshot = {.header = {.as_of = as_of, .tick = tick, .final = BEGIN - 1},
                                      .events = &event,
                                      .early_count = 1,
                                      .early = {{.tick = tick, .end = kind >= 0}}};
    hc_cl_game_events_take(&events, &snapshot, &interpolation, &stats);
    hc_cl_game_events_predict(&events, timeline, &interpolation, &stats);
}

/// Simulates a past tick again, in whose step nobody emits an event any more.
static void take_back(hc_tick tick) {
    static const uint8_t zero;
    for (hc_player p = 0; p < PLAYERS; p++)
        hc_timeline_retract(timeline, p, tick - 1);
    struct hc_entity_state state = {entity_of(OTHER), HC_ALIVE, &zero};
    ck_assert_int_eq(hc_timeline_put_state(timeline, tick, tick, &state, 1), HC_OK);
    hc_timeline_resimulate(timeline);
    hc_cl_game_events_predict(&events, timeline, &interpolation, &stats);
}

static void expect(enum hc_client_game_event_state state, hc_tick tick, hc_player player) {
    struct hc_client_game_event event;
    ck_assert(hc_cl_game_events_next(&events, &event));
    ck_assert_int_eq(event.state, state);
    ck_assert_uint_eq(event.tick, tick);
    ck_assert_uint_eq(event.entity, entity_of(player));
}

static void expect_none(void) {
    struct hc_client_game_event event;
    ck_assert(!hc_cl_game_events_next(&events, &event));
}

START_TEST(event_is_delivered_when_its_entity_is_shown_on_the_way_to_its_tick) {
    show(BEGIN, 5);
    hc_tick tick = predict(OWN, SEEN); // BEGIN + 1
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OWN);
    tick = predict(OTHER, SEEN);
    for (hc_tick others = BEGIN - 5; others + 1 < tick; others++) {
        expect_none();
        show(others + 5, 5);
    }
    expect_none();
    show(tick - 1 + 5, 5);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    show(tick + 20, 5);
    hc_cl_game_events_predict(&events, timeline, &interpolation, &stats);
    expect_none();
    ck_assert_uint_eq(stats.game_events_predicted, 2);
}
END_TEST

START_TEST(event_of_a_kind_that_does_not_wait_is_delivered_at_once) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, KNOWN);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    list_one(tick, OTHER, KNOWN);
    expect(HC_CLIENT_GAME_EVENT_CONFIRMED, tick, OTHER);
    list_one(tick + 1, OTHER, KNOWN); // not predicted
    expect(HC_CLIENT_GAME_EVENT_LATE, tick + 1, OTHER);
    show(tick + 20, 5);
    expect_none();
}
END_TEST

START_TEST(event_that_is_cancelled_before_its_delivery_is_never_delivered) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, SEEN);
    list(tick, NULL, 0);
    show(tick + 20, 5);
    hc_cl_game_events_predict(&events, timeline, &interpolation, &stats);
    expect_none();
    ck_assert_uint_eq(stats.game_events_predicted + stats.game_events_cancelled, 0);

    tick = predict(OTHER, SEEN);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    list(tick, NULL, 0);
    expect(HC_CLIENT_GAME_EVENT_CANCELLED, tick, OTHER);
    expect_none();
}
END_TEST

START_TEST(event_that_is_confirmed_before_it_is_shown_is_delivered_when_it_is_shown) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, SEEN);
    list_one(tick, OTHER, SEEN);
    expect_none();
    show(tick - 1 + 5, 5);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    expect(HC_CLIENT_GAME_EVENT_CONFIRMED, tick, OTHER);
    show(tick + 20, 5);
    list_one(tick, OTHER, SEEN);
    expect_none();
    ck_assert_uint_eq(stats.game_events_confirmed, 1);
}
END_TEST

START_TEST(event_that_was_not_predicted_waits_only_if_its_tick_is_not_shown_yet) {
    show(BEGIN, 5);
    list_one(BEGIN, OTHER, SEEN);
    list_one(BEGIN + 1, OWN, SEEN);
    expect(HC_CLIENT_GAME_EVENT_LATE, BEGIN + 1, OWN);
    expect_none();
    show(BEGIN + 4, 5);
    expect(HC_CLIENT_GAME_EVENT_LATE, BEGIN, OTHER);
    expect_none();
    show(BEGIN + 20, 5);
    list_one(BEGIN + 2, OTHER, SEEN);
    expect(HC_CLIENT_GAME_EVENT_LATE, BEGIN + 2, OTHER);
    show(BEGIN + 30, 5);
    expect_none();
    ck_assert_uint_eq(stats.game_events_late, 3);
}
END_TEST

START_TEST(new_connection_delivers_what_was_listed_and_cancels_what_was_delivered) {
    show(BEGIN, 5);
    hc_tick first = predict(OWN, SEEN), second = predict(OTHER, SEEN), third = predict(OTHER, SEEN);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, first, OWN);
    list_one(second, OTHER, SEEN);
    expect_none();
    hc_cl_game_events_begin(&events, &stats);
    expect(HC_CLIENT_GAME_EVENT_CANCELLED, first, OWN);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, second, OTHER);
    expect(HC_CLIENT_GAME_EVENT_CONFIRMED, second, OTHER);
    show(third + 20, 5);
    expect_none();
}
END_TEST

START_TEST(event_without_a_place_is_delivered_when_it_is_listed) {
    static struct hc_cl_received_event listed[HC_CL_EVENTS_KEPT + 1];
    hc_tick tick = BEGIN + 2;
    for (uint32_t i = 0; i <= HC_CL_EVENTS_KEPT; i++)
        listed[i] =
            (struct hc_cl_received_event){tick, entity_of(OTHER), hc_game_event_of(SEEN, i)};
    show(BEGIN, 5);
    list(tick, listed, HC_CL_EVENTS_KEPT + 1);
    struct hc_client_game_event event;
    ck_assert(hc_cl_game_events_next(&events, &event));
    ck_assert_uint_eq(event.number, HC_CL_EVENTS_KEPT);
    expect_none();
    hc_tick predicted = predict(OWN, SEEN); // no place: it is late
    expect_none();
    list_one(predicted, OWN, SEEN);
    expect(HC_CLIENT_GAME_EVENT_LATE, predicted, OWN);
    show(tick + 20, 5);
    for (uint32_t i = 0; i < HC_CL_EVENTS_UNREAD; i++)
        expect(HC_CLIENT_GAME_EVENT_LATE, tick, OTHER);
    expect_none();
    ck_assert_uint_eq(stats.game_events_unread, HC_CL_EVENTS_KEPT - HC_CL_EVENTS_UNREAD);
}
END_TEST

START_TEST(event_that_the_timeline_takes_back_before_it_is_shown_is_not_delivered) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, SEEN);
    take_back(tick);
    show(tick + 20, 5);
    expect_none();
    list(tick, NULL, 0);
    expect_none();

    tick = predict(OTHER, SEEN); // delivered before it is taken back
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    take_back(tick);
    expect_none();
    list(tick, NULL, 0);
    expect(HC_CLIENT_GAME_EVENT_CANCELLED, tick, OTHER);
    expect_none();
}
END_TEST

START_TEST(early_event_is_delivered_when_it_is_shown_and_once) {
    const hc_tick tick = BEGIN + 3;
    show(BEGIN, 5);
    list_early(tick, tick, SEEN);
    list_early(tick, tick + 1, SEEN);
    list_early(tick, tick + 1, KNOWN); // the same snapshot cannot come again, nor say otherwise
    expect_none();
    show(tick + 4, 5);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    list_early(tick, tick + 2, SEEN);
    list_one(tick, OTHER, SEEN);
    expect(HC_CLIENT_GAME_EVENT_CONFIRMED, tick, OTHER);
    list_early(tick, tick + 3, SEEN); // of a tick that is decided
    show(tick + 20, 5);
    expect_none();
    ck_assert_uint_eq(stats.game_events_predicted, 1);
}
END_TEST

START_TEST(newer_early_list_replaces_an_older_one_in_any_order) {
    const hc_tick tick = BEGIN + 3;
    show(BEGIN, 5);
    list_early(tick, tick, SEEN);
    list_early(tick, tick + 2, -1);
    list_early(tick, tick + 1, SEEN); // overtaken
    show(tick + 20, 5);
    expect_none();
    list_early(tick, tick + 3, SEEN); // a rewind has brought it again
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
    list_early(tick, tick + 4, -1);
    list_early(tick, tick + 5, SEEN);
    list_early(tick, tick + 6, -1);
    expect_none();
    list(tick, NULL, 0);
    expect(HC_CLIENT_GAME_EVENT_CANCELLED, tick, OTHER);
    expect_none();
}
END_TEST

START_TEST(early_list_decides_against_the_own_prediction) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, SEEN);
    list_early(tick, tick, -1);
    show(tick + 20, 5);
    expect_none();
    tick = predict(OWN, SEEN); // at a tick without a list
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OWN);
}
END_TEST

START_TEST(event_of_a_kind_that_waits_for_the_final_tick_is_never_predicted) {
    show(BEGIN, 5);
    hc_tick tick = predict(OTHER, FINAL);
    list_early(tick, tick, FINAL);
    show(tick + 20, 5);
    expect_none();
    list_one(tick, OTHER, FINAL);
    expect(HC_CLIENT_GAME_EVENT_LATE, tick, OTHER);
    expect_none();
}
END_TEST

START_TEST(early_lists_of_a_connection_are_forgotten_with_it) {
    const hc_tick tick = BEGIN + 3;
    show(BEGIN, 5);
    list_early(tick, tick + 9, SEEN);
    hc_cl_game_events_begin(&events, &stats);
    show(tick + 20, 5);
    expect_none();
    list_early(tick, tick, SEEN);
    expect(HC_CLIENT_GAME_EVENT_PREDICTED, tick, OTHER);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client game events");
    TCase *tests = tcase_create("client game events");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, event_is_delivered_when_its_entity_is_shown_on_the_way_to_its_tick);
    tcase_add_test(tests, event_of_a_kind_that_does_not_wait_is_delivered_at_once);
    tcase_add_test(tests, event_that_is_cancelled_before_its_delivery_is_never_delivered);
    tcase_add_test(tests, event_that_is_confirmed_before_it_is_shown_is_delivered_when_it_is_shown);
    tcase_add_test(tests, event_that_was_not_predicted_waits_only_if_its_tick_is_not_shown_yet);
    tcase_add_test(tests, new_connection_delivers_what_was_listed_and_cancels_what_was_delivered);
    tcase_add_test(tests, event_without_a_place_is_delivered_when_it_is_listed);
    tcase_add_test(tests, event_that_the_timeline_takes_back_before_it_is_shown_is_not_delivered);
    tcase_add_test(tests, early_event_is_delivered_when_it_is_shown_and_once);
    tcase_add_test(tests, newer_early_list_replaces_an_older_one_in_any_order);
    tcase_add_test(tests, early_list_decides_against_the_own_prediction);
    tcase_add_test(tests, event_of_a_kind_that_waits_for_the_final_tick_is_never_predicted);
    tcase_add_test(tests, early_lists_of_a_connection_are_forgotten_with_it);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
