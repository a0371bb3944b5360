/// Teleports shorter than the teleport distance of their kind, which a field marks: nobody is shown
/// on the way.
#include "tests/sim/players.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 4,
    SECONDS = 15,
    FRAME_US = 4 * MS_US,
    LEFT = 1000,   ///< the middle of the one place
    RIGHT = 3000,  ///< the middle of the other
    HALF = 200,    ///< of a place, to either side
    SPEED = 20,    ///< units in a tick
    WAIT = 12,     ///< ticks from hop to hop
    FAR = 4000,    ///< the teleport distance: a hop is shorter
    PATIENCE = 15, ///< ticks for which moves are predicted
    KEY_TICKS = 6, ///< for which keys are held
    KINDS = 2,
};

struct referee {
    uint8_t unused;
};

/// A player, who runs about in one of two places and hops to the other.
struct hopper {
    uint16_t x, y;
    uint8_t hops, wait;
};

struct hopper_input {
    int8_t move;
    uint8_t hop;
};

static const struct hc_field referee_fields[] = {HC_FIELD(struct referee, unused, 1, false)};
static struct hc_field hopper_fields[] = {
    HC_FIELD(struct hopper, x, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hopper, y, 14, false, .interpolate = HC_LINEAR),
    HC_FIELD(struct hopper, hops, 8, false),
    HC_FIELD(struct hopper, wait, 8, false, .countdown = true),
};
static const struct hc_field input_fields[] = {
    HC_FIELD(struct hopper_input, move, 2, true),
    HC_FIELD(struct hopper_input, hop, 1, false),
};
static const struct hc_kind kinds[KINDS] = {
    {"referee", sizeof(struct referee), 1, referee_fields, NULL, NULL, 0, 0},
    {"hopper", sizeof(struct hopper), 4, hopper_fields, "x", "y", FAR, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}};

static bool start(const struct hc_world *world, hc_entity self, void *out) {
    (void)world, (void)out;
    return self == HC_REFEREE;
}

static int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    const struct hopper *now = hc_scene_state(scene, self);
    struct hopper next = {.x = LEFT, .y = (uint16_t)(100 * self)};
    if (self == HC_REFEREE) {
        *(struct referee *)out = (struct referee){0};
        return true;
    }
    enum hc_roster change = hc_scene_roster(scene);
    if (change == HC_ROSTER_LEAVE || (change != HC_ROSTER_JOIN && now == NULL))
        return false;
    if (change != HC_ROSTER_JOIN) {
        const struct hopper_input *input = hc_scene_input(scene);
        bool left = now->x < (LEFT + RIGHT) / 2;
        int middle = left ? LEFT : RIGHT;
        next = *now;
        next.x = (uint16_t)clamp(now->x + input->move * SPEED, middle - HALF, middle + HALF);
        next.wait = now->wait > 0 ? (uint8_t)(now->wait - 1) : 0;
        if (input->hop && now->wait == 0) {
            next.x = left ? RIGHT : LEFT;
            next.hops++;
            next.wait = WAIT;
        }
    }
    memcpy(out, &next, sizeof next);
    return true;
}

static void predict(const void *last, uint32_t age, void *out) {
    struct hopper_input *input = out;
    memcpy(input, last, sizeof *input);
    input->hop = 0;
    if (age > PATIENCE)
        input->move = 0;
}

static void sanitize(void *input) {
    struct hopper_input *hopper = input;
    hopper->move = (int8_t)clamp(hopper->move, -1, 1);
}

static const struct hc_game hoppers = {
    .name = "hoppers",
    .version = 1,
    .players_max = CLIENTS,
    .kinds = kinds,
    .kind_count = KINDS,
    .owned = owned,
    .owned_count = 1,
    .input_fields = input_fields,
    .input_field_count = 2,
    .input_size = sizeof(struct hopper_input),
    .reach = 100,
    .start = start,
    .step = step,
    .predict_input = predict,
    .sanitize_input = sanitize,
};

static void press(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                  void *input) {
    (void)context, (void)sim, (void)index;
    uint64_t random = hc_random(7, tick / KEY_TICKS, (uint16_t)client, 0);
    struct hopper_input keys = {(int8_t)((int)(random % 3) - 1), random >> 8 & 1};
    memcpy(input, &keys, sizeof keys);
}

/// Counts the frames in which a client shows somebody between the places, farther from each than
/// all of it, and in `*hops` the hops.
static unsigned count_between(enum hc_others others, unsigned *hops) {
    struct hc_sim_config config = hc_sim_config_players(&hoppers, CLIENTS, 80, 3);
    config.up.jitter_us = config.down.jitter_us = 20 * MS_US;
    config.up.loss_ppm = config.down.loss_ppm = HC_NETWORK_SIM_PPM / 20;
    config.client.others = others;
    config.hooks.script = press;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    unsigned between = 0;
    for (unsigned frame = 0; frame < SECONDS * SECOND_US / FRAME_US; frame++) {
        hc_sim_run(sim, FRAME_US);
        for (unsigned c = 0; c < CLIENTS; c++) {
            const struct hc_client *client = hc_sim_client(sim, c);
            struct hc_client_shown shown;
            for (hc_entity next = 0;
                 hc_client_show_next(client, hc_sim_client_now(sim, c), &next, &shown);) {
                double x = shown.kind == 1 ? HC_SHOWN(&shown, struct hopper, x) : LEFT;
                between += x > LEFT + 3 * HALF && x < RIGHT - 3 * HALF;
            }
        }
    }
    *hops = 0;
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    for (unsigned c = 0; c < CLIENTS; c++) {
        hc_player player = hc_client_player(hc_sim_client(sim, c), 0);
        const struct hc_world *world = hc_client_world(hc_sim_client(sim, c));
        struct hopper hopper;
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(sim, c))->hash_mismatches, 0);
        memcpy(&hopper,
               hc_timeline_states(timeline, hc_timeline_head(timeline)) +
                   (size_t)hc_world_player(world, player) * world->stride,
               sizeof hopper);
        *hops += hopper.hops;
    }
    hc_sim_destroy(sim);
    return between;
}

START_TEST(nobody_is_shown_on_the_way_of_a_teleport_that_a_field_marks) {
    unsigned hops;
    hopper_fields[2].teleports = true;
    for (enum hc_others others = HC_OTHERS_PREDICTED; others <= HC_OTHERS_AS_RECEIVED; others++) {
        ck_assert_uint_eq(count_between(others, &hops), 0);
        ck_assert_uint_gt(hops, SECONDS * CLIENTS);
    }
}
END_TEST

START_TEST(short_teleport_that_no_field_marks_is_shown_as_a_move) {
    unsigned hops;
    hopper_fields[2].teleports = false;
    ck_assert_uint_gt(count_between(HC_OTHERS_PREDICTED, &hops), hops);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("short_teleports");
    TCase *tests = tcase_create("short_teleports");
    tcase_add_test(tests, nobody_is_shown_on_the_way_of_a_teleport_that_a_field_marks);
    tcase_add_test(tests, short_teleport_that_no_field_marks_is_shown_as_a_move);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
