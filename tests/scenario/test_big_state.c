/// Tests of the largest states: 256 bytes and 64 fields of a kind, over the wire and back.
#include "hindcast/scene.h"
#include "tests/run_suite.h"
#include "tests/sim/byte_game.h"
#include "tests/sim/players.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS = HC_FIELDS_MAX, PLAYERS = 3 };

struct big {
    uint32_t at[FIELDS];
};
_Static_assert(sizeof(struct big) == HC_STATE_MAX, "the largest state");

static struct hc_field big_fields[FIELDS];
static char names[FIELDS][4];
static const struct hc_kind kinds[] = {
    BYTE_REFEREE,
    {"big", sizeof(struct big), FIELDS, big_fields, "f00", "f63", 0, 0},
};
static const struct hc_slots owned[] = {{.kind = 1, .count = 1}, {.kind = 1, .count = 2}};

/// Changes a few fields by the input; others follow them.
static bool step(struct hc_scene *scene, hc_entity self, void *out) {
    struct big *next = out;
    if (self == HC_REFEREE) {
        memset(out, 0, 1);
        return true;
    }
    const struct big *now = hc_scene_state(scene, self);
    const uint8_t *push = hc_scene_input(scene);
    memset(next, 0, sizeof *next);
    if (hc_scene_roster(scene) == HC_ROSTER_LEAVE)
        return false;
    if (now == NULL) // an owned slot appears a while after its owner
        return hc_scene_roster(scene) == HC_ROSTER_JOIN || *push > 200;
    *next = *now;
    for (unsigned f = *push % 7; f < FIELDS; f += 1 + *push % 13) {
        uint32_t mask = (uint32_t)((UINT64_C(1) << big_fields[f].bits) - 1);
        next->at[f] = (now->at[f] * 5u + *push + now->at[FIELDS - 1 - f] / 3) & mask;
    }
    return true;
}

static const struct hc_game game = BYTE_GAME("big", PLAYERS, kinds, owned, step);

static void lay_fields(void) {
    for (unsigned f = 0; f < FIELDS; f++) {
        snprintf(names[f], sizeof names[f], "f%02u", f);
        big_fields[f] = (struct hc_field){.name = names[f],
                                          .offset = (uint16_t)(4 * f),
                                          .size = 4,
                                          .bits = (uint8_t)(1 + f / 2),
                                          .interpolate = f % 2 == 0 ? HC_LINEAR : HC_HOLD};
    }
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    (void)context, (void)sim, (void)index;
    *(uint8_t *)input = (uint8_t)hc_random(3, tick / 9, client, 0);
}

START_TEST(the_largest_states_arrive_as_they_were_sent) {
    lay_fields();
    struct hc_sim_config config = hc_sim_config_players(&game, PLAYERS, 40, 1);
    config.up.loss_ppm = config.down.loss_ppm = 50000;
    config.hooks.script = script;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(sim);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run_until(sim, 10 * SECOND_US);
    for (unsigned i = 0; i < PLAYERS; i++) {
        const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, i));
        ck_assert_uint_gt(stats->hash_checks, 400);
        ck_assert_uint_eq(stats->hash_mismatches, 0);
    }
    // All fields have taken part.
    const struct hc_timeline *timeline = hc_server_timeline(hc_sim_host(sim));
    const uint8_t *states = hc_timeline_states(timeline, hc_timeline_head(timeline));
    uint32_t used[FIELDS] = {0};
    for (unsigned e = 1; e < 1 + 3 * PLAYERS; e++)
        for (unsigned f = 0; f < FIELDS; f++)
            used[f] |= ((const struct big *)(const void *)(states + e * sizeof(struct big)))->at[f];
    for (unsigned f = 2; f < FIELDS; f++)
        ck_assert_uint_ne(used[f], 0);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_player_that_no_datagram_holds_is_refused) {
    char why[160];
    struct hc_slots many[] = {{.kind = 1, .count = 1}, {.kind = 1, .count = 15}};
    struct hc_game crowded = game;
    lay_fields();
    ck_assert_ptr_null(hc_game_check(&crowded, why, sizeof why));
    crowded.owned = many;
    ck_assert_ptr_nonnull(hc_game_check(&crowded, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "a datagram cannot hold them"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("big state");
    TCase *tests = tcase_create("big state");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, the_largest_states_arrive_as_they_were_sent);
    tcase_add_test(tests, a_player_that_no_datagram_holds_is_refused);
    return run_suite(suite);
}
