/// Tests of client/world alone: a world that follows snapshots, without a connection; and of its
/// parts that have no test of their own.
#include "client/world/world.h"
#include "client/world/desync.h"

#include "hindcast/scene.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"
#include "tests/unit/scarce.h"

#include <string.h>

enum { PLAYERS = 3, OWN = 1, RATE = 100, UNITS = 1 + PLAYERS };

static const struct hc_kind kinds[] = {BYTE_REFEREE,
                                       {"player", 1, 1, byte_fields, NULL, NULL, 0, 0}};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

/// A player moves by its input.
static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    uint8_t place = *(const uint8_t *)hc_scene_state(scene, self);
    if (self != HC_REFEREE)
        place = (uint8_t)(place + *(const uint8_t *)hc_scene_input(scene));
    *(uint8_t *)out = place;
    return true;
}

static const struct hc_game game = BYTE_GAME("walkers", PLAYERS, kinds, owned, step);
static struct hc_client_config config;
static struct hc_client_stats stats;
static struct hc_cl_world world;
static struct hc_welcome welcome;

// The snapshot that is given next.
static struct hc_cl_received snapshot;
static struct hc_cl_received_value values[UNITS];
static struct hc_cl_received_input inputs[8];
static struct hc_snapshot_forced forced[1];
static uint8_t rooms[UNITS][64];

static unsigned begun, ended; ///< rollbacks
static hc_tick rolled_back_to;

static void rollback_begins(void *context, const struct hc_client *client, hc_tick first) {
    ck_assert_ptr_eq(context, &begun);
    ck_assert_ptr_eq(client, (const struct hc_client *)&config);
    begun++;
    rolled_back_to = first;
}

static void rollback_ended(void *context, const struct hc_client *client, hc_tick first) {
    (void)context, (void)client;
    ended++;
    ck_assert_uint_eq(first, rolled_back_to);
}

static void set_up(void) {
    config = hc_client_config_default();
    config.game = &game;
    config.prediction_limit = 20;
    config.rollback_begins = rollback_begins;
    config.rollback_ended = rollback_ended;
    config.rollback_context = &begun;
    stats = (struct hc_client_stats){.snapshots = 0};
    welcome = (struct hc_welcome){
        .tick_rate = RATE, .players = PLAYERS, .future = 64, .own_count = 1, .own = {OWN}};
    begun = ended = 0;
    memset(&world, 0, sizeof world);
    // The hooks' argument is not looked into.
    hc_cl_world_init(&world, &config, &stats, (const struct hc_client *)&config);
    ck_assert(hc_cl_world_build(&world, &welcome, config.input_delay, HC_CL_WORLD_AHEAD_MIN));
}

static void tear_down(void) {
    hc_cl_world_free(&world);
}

/// Begins a snapshot of `tick` in which all players are at `place`.
static void begin_snapshot(hc_tick tick, uint8_t place) {
    snapshot = (struct hc_cl_received){.header = {.as_of = tick + 4, .tick = tick, .own_count = 1},
                                       .value_count = UNITS,
                                       .values = values,
                                       .inputs = inputs,
                                       .forced = forced};
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct hc_unit_value value = {.tick = tick, .known = HC_NO_TICK};
        hc_unit_place(&world.game_world, &value, rooms[unit]);
        value.presence[0] = HC_ALIVE;
        value.states[0] = unit == 0 ? 0 : place;
        values[unit] = (struct hc_cl_received_value){.unit = (hc_unit)unit, .value = value};
    }
}

static bool take(bool overtaken) {
    return hc_cl_world_take(&world, &snapshot, overtaken, 0, 1000);
}

static uint8_t place_of(hc_player player, hc_tick tick) {
    hc_entity entity = hc_world_player(&world.game_world, player);
    return hc_timeline_states(world.timeline, tick)[(size_t)entity * world.game_world.stride];
}

static void put_own(hc_tick tick, uint8_t input) {
    hc_cl_world_put_input(&world, 0, tick, &input);
}

static void advance(uint32_t ticks) {
    for (; ticks > 0; ticks--)
        hc_cl_world_advance(&world, hc_cl_world_head(&world) + 1, snapshot.header.tick);
}

// ---- Snapshots ----------------------------------------------------------------------------------

START_TEST(timeline_begins_at_the_first_snapshot) {
    begin_snapshot(100, 7);
    ck_assert(take(false));
    ck_assert_uint_eq(hc_cl_world_head(&world), 100);
    ck_assert_uint_eq(place_of(OWN, 100), 7);
    ck_assert_uint_eq(stats.snapshots, 1);
    ck_assert_uint_eq(stats.snapshots_matched, 1);
    ck_assert_uint_eq(begun, 0);
}
END_TEST

START_TEST(snapshot_that_the_client_predicted_matches) {
    begin_snapshot(100, 7);
    take(false);
    put_own(100, 2);
    put_own(101, 3);
    advance(2);
    ck_assert_uint_eq(place_of(OWN, 102), 12);
    begin_snapshot(101, 7);
    values[1 + OWN].value.states[0] = 9;
    ck_assert(!take(false));
    ck_assert_uint_eq(stats.snapshots_matched, 2);
    ck_assert_uint_eq(stats.rollbacks, 0);
}
END_TEST

START_TEST(snapshot_with_another_state_rolls_back) {
    begin_snapshot(100, 7);
    take(false);
    put_own(100, 2);
    put_own(101, 3);
    advance(5);
    begin_snapshot(101, 7);
    values[1 + OWN].value.states[0] = 50;
    ck_assert(!take(false));
    ck_assert_uint_eq(place_of(OWN, 102), 53);
    ck_assert_uint_eq(stats.rollbacks, 1);
    ck_assert_uint_eq(begun, 1);
    ck_assert_uint_eq(ended, 1);
    ck_assert_uint_eq(rolled_back_to, 101);
    ck_assert_uint_eq(world.rollback_ticks, 4);
}
END_TEST

START_TEST(snapshot_after_the_head_restarts_the_timeline) {
    begin_snapshot(100, 7);
    take(false);
    advance(3);
    begin_snapshot(110, 20);
    ck_assert(take(false));
    ck_assert_uint_eq(hc_cl_world_head(&world), 110);
    ck_assert_uint_eq(place_of(OWN, 110), 20);
    ck_assert_uint_eq(stats.restarts, 1);
}
END_TEST

START_TEST(forced_own_input_is_predicted_instead) {
    begin_snapshot(100, 0);
    take(false);
    put_own(100, 1);
    put_own(101, 9);
    put_own(102, 9);
    advance(3);
    begin_snapshot(101, 1);
    snapshot.forced_count = 1;
    forced[0] = (struct hc_snapshot_forced){.first = 101, .count = 2};
    take(false);
    ck_assert_uint_eq(stats.inputs_forced, 2);
    ck_assert_uint_eq(place_of(OWN, 103), 3); // the input of 100, repeated
    take(false);
    ck_assert_uint_eq(stats.inputs_forced, 2);
}
END_TEST

START_TEST(inputs_of_others_count_unless_the_snapshot_was_overtaken) {
    begin_snapshot(100, 0);
    take(false);
    advance(3);
    for (int i = 0; i < 2; i++) {
        begin_snapshot(101, 0);
        snapshot.input_count = 1;
        inputs[0] = (struct hc_cl_received_input){.player = 2, .tick = 101, .input = {5}};
        take(i == 0);
        ck_assert_uint_eq(place_of(2, 103), i == 0 ? 0 : 10); // it is repeated
    }
}
END_TEST

START_TEST(corrections_change_past_ticks) {
    begin_snapshot(100, 0);
    take(false);
    advance(4);
    begin_snapshot(103, 0);
    values[3].correction = true;
    values[3].value.tick = 101;
    values[3].value.states[0] = 30;
    take(false);
    ck_assert_uint_eq(stats.corrections, 1);
    ck_assert_uint_eq(place_of(2, 101), 30);
}
END_TEST

// ---- Players ------------------------------------------------------------------------------------

static struct hc_player_name name_of(hc_player player, hc_tick since, const char *text) {
    struct hc_player_name name = {.player = player, .since = since};
    memcpy(name.name, text, strlen(text));
    return name;
}

START_TEST(join_and_leave_of_another_player_are_reported_once_with_its_name) {
    struct hc_client_event event;
    struct hc_snapshot_roster join = {.player = 2, .tick = 105, .roster_change = HC_ROSTER_JOIN};
    struct hc_snapshot_roster leave = {.player = 2, .tick = 120, .roster_change = HC_ROSTER_LEAVE};
    struct hc_snapshot_roster own = {.player = OWN, .tick = 105, .roster_change = HC_ROSTER_JOIN};
    struct hc_player_name ada = name_of(2, 106, "Ada");
    ck_assert(hc_cl_world_name(&world, &ada, 9, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_PLAYER_NAMED);
    ck_assert(!hc_cl_world_name(&world, &ada, 10, &event)); // known
    ck_assert(hc_cl_world_roster(&world, &join, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_PLAYER_JOINED);
    ck_assert_str_eq(event.name, "Ada");
    ck_assert(!hc_cl_world_roster(&world, &join, &event));
    ck_assert(hc_cl_world_roster(&world, &leave, &event));
    ck_assert_int_eq(event.kind, HC_CLIENT_EVENT_PLAYER_LEFT);
    ck_assert_uint_eq(event.tick, 120);
    ck_assert_str_eq(event.name, "Ada");
    ck_assert(!hc_cl_world_roster(&world, &join, &event)); // it was overtaken
    ck_assert(!hc_cl_world_roster(&world, &own, &event));
    ck_assert_ptr_null(hc_cl_seen_name_of(&world.seen, 2));
}
END_TEST

START_TEST(name_of_a_dropped_player_is_forgotten) {
    struct hc_client_event event;
    struct hc_player_name ada = name_of(2, 0, "Ada");
    ck_assert(hc_cl_world_name(&world, &ada, 9, &event));
    begin_snapshot(100, 0);
    values[3].dropped = true;
    hc_cl_world_forget_names(&world, &snapshot, 8); // the name came later
    ck_assert_str_eq(hc_cl_seen_name_of(&world.seen, 2), "Ada");
    hc_cl_world_forget_names(&world, &snapshot, 10);
    ck_assert_ptr_null(hc_cl_seen_name_of(&world.seen, 2));
}
END_TEST

START_TEST(round_of_reports_examines_each_entity_once) {
    hc_entity entity, expected = 0;
    while (hc_cl_seen_next(&world.seen, world.game_world.entities, &entity))
        ck_assert_uint_eq(entity, expected++);
    ck_assert_uint_eq(expected, world.game_world.entities);
    ck_assert(hc_cl_seen_next(&world.seen, world.game_world.entities, &entity));
    ck_assert_uint_eq(entity, 0);
    ck_assert(hc_cl_seen_differs(&world.seen, 2, true));
    ck_assert(!hc_cl_seen_differs(&world.seen, 2, true));
    ck_assert(hc_cl_seen_differs(&world.seen, 2, false));
}
END_TEST

// ---- Memory -------------------------------------------------------------------------------------

START_TEST(world_is_built_whole_or_not_and_all_its_memory_is_freed) {
    static struct hc_cl_world poor;
    struct scarce scarce = {.left = 0};
    struct hc_allocator allocator = {scarce_allocate, scarce_release, &scarce};
    bool built = false;
    config.allocator = &allocator;
    for (int blocks = 0; !built; blocks++) {
        memset(&poor, 0, sizeof poor);
        scarce.left = blocks;
        hc_cl_world_init(&poor, &config, &stats, NULL);
        built = hc_cl_world_build(&poor, &welcome, 3, HC_CL_WORLD_AHEAD_MIN);
        ck_assert_int_eq(built, poor.bytes > 0);
        ck_assert_int_lt(blocks, 50);
        hc_cl_world_free(&poor);
        ck_assert_int_eq(scarce.held, 0);
    }
    config.allocator = NULL;
    size_t before = stats.memory_bytes;
    ck_assert_uint_eq(before, world.bytes);
    ck_assert(hc_cl_world_build(&world, &welcome, 3,
                                HC_CL_WORLD_AHEAD_MIN)); // in the place of the one before
    ck_assert_uint_eq(stats.memory_bytes, before);
    ck_assert(!hc_timeline_started(world.timeline));
}
END_TEST

// ---- Desync -------------------------------------------------------------------------------------

START_TEST(third_mismatch_of_another_head_within_a_second_is_a_desync) {
    struct hc_cl_desync desync = {.count = 0};
    ck_assert(!hc_cl_desync_note(&desync, 100, 1000000));
    ck_assert(!hc_cl_desync_note(&desync, 100, 1000001)); // a copy
    ck_assert(!hc_cl_desync_note(&desync, 101, 1500000));
    ck_assert(!hc_cl_desync_note(&desync, 102, 1000000 + HC_CL_DESYNC_US + 1));
    ck_assert(hc_cl_desync_note(&desync, 103, 1500000 + HC_CL_DESYNC_US));
    hc_cl_desync_report(&desync);
    ck_assert(!hc_cl_desync_note(&desync, 104, 1500000 + HC_CL_DESYNC_US));
}
END_TEST

START_TEST(question_ends_without_an_answer_after_its_time) {
    struct hc_cl_desync desync = {.count = 0};
    ck_assert_uint_eq(hc_cl_desync_reserve(&desync), 0);
    hc_cl_desync_ask(&desync, world.reader, 5000);
    ck_assert_uint_eq(hc_cl_desync_reserve(&desync), HC_COMPARE_SIZE_MAX);
    ck_assert(!hc_cl_desync_overdue(&desync, 5000 + HC_COMPARE_WAIT_US - 1));
    ck_assert(hc_cl_desync_overdue(&desync, 5000 + HC_COMPARE_WAIT_US));
    hc_cl_desync_report(&desync);
    ck_assert(!hc_cl_desync_overdue(&desync, 5000 + HC_COMPARE_WAIT_US));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client_world");
    TCase *tests = tcase_create("client_world");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, timeline_begins_at_the_first_snapshot);
    tcase_add_test(tests, snapshot_that_the_client_predicted_matches);
    tcase_add_test(tests, snapshot_with_another_state_rolls_back);
    tcase_add_test(tests, snapshot_after_the_head_restarts_the_timeline);
    tcase_add_test(tests, forced_own_input_is_predicted_instead);
    tcase_add_test(tests, inputs_of_others_count_unless_the_snapshot_was_overtaken);
    tcase_add_test(tests, corrections_change_past_ticks);
    tcase_add_test(tests, join_and_leave_of_another_player_are_reported_once_with_its_name);
    tcase_add_test(tests, name_of_a_dropped_player_is_forgotten);
    tcase_add_test(tests, round_of_reports_examines_each_entity_once);
    tcase_add_test(tests, world_is_built_whole_or_not_and_all_its_memory_is_freed);
    tcase_add_test(tests, third_mismatch_of_another_head_within_a_second_is_a_desync);
    tcase_add_test(tests, question_ends_without_an_answer_after_its_time);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
