/// Snapshots below the tick rate: others that are shown as received move as they did on the server,
/// and never leap.
#include "tests/sim/players.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 2,
    SECONDS = 20,
    FRAME_US = 6944,
    SPEED = 20,     ///< units in a tick
    BEGIN = 500000, ///< place of all players at first
    KEY_TICKS = 17, ///< for which a key is held
    KINDS = 2,
    RATES = 5,
    TICK_RATE = 60,
};

static const uint16_t rates[RATES] = {TICK_RATE, 30, 20, 15, 10};

struct referee {
    uint8_t unused;
};

struct runner {
    uint32_t x, y;
};

struct runner_input {
    int8_t move_x, move_y;
};

static const struct hc_field referee_fields[] = {HC_FIELD(struct referee, unused, 1, false)};
static const struct hc_field runner_fields[] = {
    HC_FIELD(struct runner, x, 20, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct runner, y, 20, false, .interpolate = HC_LINEAR),
};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct runner_input, move_x, 2, true),
    HC_FIELD(struct runner_input, move_y, 2, true),
};
static const struct hc_kind kinds[KINDS] = {
    {"referee", sizeof(struct referee), 1, referee_fields, NULL, NULL, 0, 0},
    {"runner", sizeof(struct runner), 2, runner_fields, "x", "y", 16 * SPEED, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct runner *now = hc_scene_state(scene, self);
    struct runner next = {BEGIN, BEGIN};
    if (self == HC_REFEREE) {
        *(struct referee *)out = (struct referee){0};
        return true;
    }
    enum hc_roster change = hc_scene_roster(scene);
    if (change == HC_ROSTER_LEAVE || (change != HC_ROSTER_JOIN && now == NULL))
        return false;
    if (change != HC_ROSTER_JOIN) {
        const struct runner_input *input = hc_scene_input(scene);
        next.x = (uint32_t)((int32_t)now->x + input->move_x * SPEED);
        next.y = (uint32_t)((int32_t)now->y + input->move_y * SPEED);
    }
    memcpy(out, &next, sizeof next);
    return true;
}

static void predict(const void *last, uint32_t age, void *out) {
    (void)age;
    memcpy(out, last, sizeof(struct runner_input));
}

static void sanitize(void *input) {
    struct runner_input *keys = input;
    keys->move_x = keys->move_x < -1 ? -1 : keys->move_x;
    keys->move_y = keys->move_y < -1 ? -1 : keys->move_y;
}

static const struct hc_game runners = {
    .name = "runners",
    .version = 1,
    .players_max = CLIENTS,
    .kinds = kinds,
    .kind_count = KINDS,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct runner_input),
    .reach = 100,
    .start = start,
    .step = step,
    .predict_input = predict,
    .sanitize_input = sanitize,
};

/// Runs to the right, and up and down by turns if `context` says so.
static void press(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                  void *input) {
    const bool *turns = context;
    (void)sim, (void)index;
    uint64_t random = hc_random(7, tick / KEY_TICKS, (uint16_t)client, 0);
    struct runner_input keys = {1, *turns ? (int8_t)((int)(random % 3) - 1) : 0};
    if (*turns && random >> 8 & 1)
        keys.move_x = -1;
    memcpy(input, &keys, sizeof keys);
}

static double distance(double x, double y) {
    return fmax(fabs(x), fabs(y));
}

/// The longest way along an axis that client 1 is shown of client 0 in one frame, in units.
static double watch(uint16_t snapshot_rate, bool turns, enum hc_others others) {
    struct hc_sim_config config = hc_sim_config_players(&runners, CLIENTS, 50, 3);
    config.client.others = others;
    config.host.tick_rate = TICK_RATE;
    config.host.snapshot_rate = snapshot_rate;
    config.hooks.script = press;
    config.context = &turns;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, 5 * SECOND_US); // until the offset of the others has settled
    double most = 0, x = 0, y = 0;
    const struct hc_client *client = hc_sim_client(sim, 1);
    hc_player player = hc_client_player(hc_sim_client(sim, 0), 0);
    hc_entity entity = hc_world_player(hc_client_world(client), player);
    for (unsigned frame = 0; frame < SECONDS * SECOND_US / FRAME_US; frame++) {
        struct hc_client_shown shown;
        hc_sim_run(sim, FRAME_US);
        ck_assert(hc_client_show(client, hc_sim_client_now(sim, 1), entity, &shown));
        double now_x = HC_SHOWN(&shown, struct runner, x),
               now_y = HC_SHOWN(&shown, struct runner, y);
        if (frame > 0)
            most = fmax(most, distance(now_x - x, now_y - y));
        x = now_x;
        y = now_y;
    }
    ck_assert_uint_eq(hc_client_stats(client)->hash_mismatches, 0);
    hc_sim_destroy(sim);
    return most;
}

/// The way of a runner in a frame. The shown time may run faster by an eighth, while the offset of
/// the others is lowered.
static double frame_way(void) {
    double ticks = (double)FRAME_US * TICK_RATE / SECOND_US;
    return SPEED * ticks * 9 / 8 + 0.1;
}

START_TEST(others_as_received_move_as_on_the_server_also_when_they_turn) {
    for (int turns = 0; turns <= 1; turns++) {
        double most = watch(rates[_i], turns, HC_OTHERS_AS_RECEIVED);
        ck_assert_msg(most <= frame_way(), "%u snapshots a second, turns %d: %.1f units in a frame",
                      rates[_i], turns, most);
        ck_assert_double_gt(most, 0);
    }
}
END_TEST

START_TEST(others_that_run_straight_and_are_predicted_never_leap) {
    double most = watch(rates[_i], false, HC_OTHERS_PREDICTED);
    ck_assert_msg(most <= frame_way(), "%u snapshots a second: %.1f units in a frame", rates[_i],
                  most);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("low_rates");
    TCase *tests = tcase_create("low_rates");
    tcase_add_loop_test(tests, others_as_received_move_as_on_the_server_also_when_they_turn, 0,
                        RATES);
    tcase_add_loop_test(tests, others_that_run_straight_and_are_predicted_never_leap, 0, RATES);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
