/// Tests of lag compensation: shots hit what their shooters saw, within the server's bounds.
#include "tests/run_suite.h"
#include "tests/sim/aim_match.h"

enum { LATENCY_MS = 150 };

static struct aim_result play(struct aim_setting setting) {
    struct aim_result result;
    setting.jitter_ms = setting.latency_ms > 0 ? 4 : 0;
    setting.loss_ppm = setting.latency_ms > 0 ? 20000 : 0;
    setting.seconds = 6;
    setting.seed = 5;
    ck_assert(aim_match(&setting, &result));
    ck_assert_uint_gt(result.shots, 150);
    ck_assert_uint_eq(result.mismatches, 0);
    return result;
}

static double share(struct aim_result result) {
    return (double)result.hits / (double)result.shots;
}

START_TEST(shots_hit_what_is_seen_however_far_the_shooter_is) {
    struct aim_setting near = {.compensated = true};
    struct aim_setting far = {.latency_ms = LATENCY_MS, .compensated = true};
    struct aim_setting plain = far;
    plain.compensated = false;
    struct aim_result hit = play(far);
    double at_once = share(play(near));
    ck_assert_double_ge(at_once, 0.95);
    ck_assert_double_ge(share(hit), 0.95 * at_once);
    ck_assert_double_le(share(play(plain)), 0.6 * at_once); // or the comparison shows nothing
    ck_assert_uint_eq(hit.unsent, 0);
    ck_assert_uint_le(hit.limited, hit.inputs / 10); // the first ones show their first state
    ck_assert_uint_ge(hit.others_ticks, 15);         // a round trip less the input delay
}
END_TEST

START_TEST(shots_at_predicted_players_miss_when_these_turn) {
    struct aim_setting setting = {
        .latency_ms = LATENCY_MS, .compensated = true, .others = HC_OTHERS_PREDICTED};
    struct aim_result result = play(setting);
    ck_assert_double_le(share(result), 0.9); // that is what showing them as received is for
    ck_assert_uint_eq(result.others_ticks, 0);
}
END_TEST

START_TEST(server_looks_back_no_further_than_its_bound) {
    struct aim_setting setting = {.latency_ms = LATENCY_MS,
                                  .compensated = true,
                                  .lag_compensation_ms = 200}; // of 300 ms or more
    struct aim_result result = play(setting);
    ck_assert_uint_ge(result.limited,
                      result.inputs * 9 / 10); // the first ones show their first state
    ck_assert_double_le(share(result), 0.8);
}
END_TEST

START_TEST(server_limits_a_claim_of_older_ticks_than_the_client_can_show) {
    struct aim_result result = play((struct aim_setting){
        .latency_ms = 50, .compensated = true, .cheats = true, .lag_compensation_ms = 1000});
    // All inputs of one client of eight; the first ones come before its acks.
    ck_assert_uint_gt(result.unsent, result.inputs / 10);
    ck_assert_uint_lt(result.unsent, result.inputs / 8);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("aim");
    TCase *tests = tcase_create("aim");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, shots_hit_what_is_seen_however_far_the_shooter_is);
    tcase_add_test(tests, shots_at_predicted_players_miss_when_these_turn);
    tcase_add_test(tests, server_looks_back_no_further_than_its_bound);
    tcase_add_test(tests, server_limits_a_claim_of_older_ticks_than_the_client_can_show);
    return run_suite(suite);
}
