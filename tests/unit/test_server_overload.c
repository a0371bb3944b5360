/// Tests server/overload with the modelled work of a server, in virtual time.
#include "hindcast/rng.h"
#include "server/overload.h"
#include "tests/run_suite.h"

#include <string.h>

enum { TICK_US = 16667, SECOND = 60, CLIENTS = 60, FAR = 20, HISTORY = 64 };

static struct hc_sv_overload overload;
static uint64_t now_us, ticks, sent[CLIENTS];
static unsigned least_sent; ///< snapshots of one tick

/// Work of one tick, us: for each snapshot, and for everything else.
struct load {
    uint64_t snapshot_us, rewind_us, other_us;
};

static void set_up(void) {
    now_us = 1000000;
    ticks = 0;
    memset(sent, 0, sizeof sent);
    hc_sv_overload_init(&overload, HISTORY);
}

static bool is_far(unsigned client) {
    return client < FAR;
}

/// Plays a tick; returns its work.
static uint64_t tick(const struct load *load) {
    unsigned count = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        bool sends = (ticks + i) % hc_sv_overload_every(&overload, is_far(i)) == 0;
        sent[i] += sends;
        count += sends;
    }
    least_sent = count < least_sent ? count : least_sent;
    struct hc_sv_work work = {.send_us = count * load->snapshot_us,
                              .rewind_us = load->rewind_us,
                              .other_us = load->other_us};
    uint64_t work_us = work.send_us + work.rewind_us + work.other_us;
    ticks++;
    hc_sv_overload_tick(&overload, CLIENTS - FAR, FAR);
    now_us += work_us > TICK_US ? work_us : TICK_US;
    hc_sv_overload_note(&overload, &work, now_us);
    return work_us;
}

/// Plays `count` ticks; returns how many of them worked longer than a tick.
static unsigned play(unsigned count, const struct load *load) {
    unsigned long_ticks = 0;
    memset(sent, 0, sizeof sent);
    least_sent = CLIENTS;
    for (unsigned i = 0; i < count; i++)
        long_ticks += tick(load) > TICK_US;
    return long_ticks;
}

/// A load whose snapshots and other work take these permille of each tick.
static struct load load_of(uint64_t snapshots, uint64_t other) {
    return (struct load){.snapshot_us = TICK_US * snapshots / 1000 / CLIENTS,
                         .other_us = TICK_US * other / 1000};
}

START_TEST(below_three_quarters_of_the_time_nothing_is_left_out) {
    struct load load = load_of(500, 200);
    play(20 * SECOND, &load);
    ck_assert_uint_eq(least_sent, CLIENTS);
    ck_assert_int_eq(overload.level, HC_SERVER_OVERLOAD_NONE);
}
END_TEST

START_TEST(a_burst_of_a_quarter_of_a_second_leaves_nothing_out_unless_it_takes_all_of_the_time) {
    struct load usual = load_of(400, 200), burst = load_of(700, 200), storm = load_of(900, 200);
    play(SECOND, &usual);
    for (int i = 0; i < 20; i++) {
        play(SECOND / 5, &burst);
        ck_assert_uint_eq(least_sent, CLIENTS);
        play(SECOND, &usual);
        ck_assert_uint_eq(least_sent, CLIENTS);
    }
    play(SECOND / 2, &storm);
    ck_assert_uint_lt(least_sent, CLIENTS);
}
END_TEST

START_TEST(far_and_idle_clients_lose_snapshots_before_all_others) {
    struct load load = load_of(700, 100);
    play(SECOND, &load);
    ck_assert_int_gt(overload.level, HC_SERVER_OVERLOAD_NONE);
    ck_assert_int_le(overload.level, HC_SERVER_OVERLOAD_FAR_QUARTER);
    play(SECOND, &load);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (is_far(i))
            ck_assert_uint_lt(sent[i], SECOND);
        else
            ck_assert_uint_eq(sent[i], SECOND);
}
END_TEST

START_TEST(one_and_a_half_times_the_capacity_keeps_the_ticks_and_refuses_nobody) {
    struct load load = load_of(1300, 200);
    play(SECOND, &load); // finds the level
    ck_assert_uint_eq(play(30 * SECOND, &load), 0);
    ck_assert_int_lt(overload.level, HC_SERVER_OVERLOAD_REFUSE);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_uint_ge(sent[i], 30 * SECOND / 6);
}
END_TEST

START_TEST(joins_are_refused_when_fewer_snapshots_do_not_suffice) {
    struct load load = load_of(300, 900);
    bool third = false;
    for (unsigned i = 0; i < 2 * SECOND; i++) {
        tick(&load);
        third |= overload.level == HC_SERVER_OVERLOAD_THIRD;
        ck_assert(third || overload.level < HC_SERVER_OVERLOAD_REFUSE);
    }
    ck_assert_int_eq(overload.level, HC_SERVER_OVERLOAD_REFUSE);
}
END_TEST

START_TEST(a_short_storm_of_joins_refuses_none_of_them) {
    struct load storm = load_of(300, 900), calm = load_of(300, 100);
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned t = 0; t < SECOND; t++) {
            tick(&storm);
            ck_assert_int_lt(overload.level, HC_SERVER_OVERLOAD_REFUSE);
        }
        play(2 * SECOND, &calm);
    }
}
END_TEST

START_TEST(nothing_is_left_out_two_seconds_after_the_load_has_ended) {
    static const uint64_t loads[][2] = {{1300, 200}, {300, 900}, {700, 100}, {3000, 500}};
    struct load calm = load_of(300, 100);
    for (unsigned i = 0; i < 4 * 4; i++) {
        struct load load = load_of(loads[i % 4][0], loads[i % 4][1]);
        play(5 * SECOND + i, &load);
        ck_assert_int_gt(overload.level, HC_SERVER_OVERLOAD_NONE);
        play(2 * SECOND, &calm);
        ck_assert_int_eq(overload.level, HC_SERVER_OVERLOAD_NONE);
    }
}
END_TEST

START_TEST(level_of_a_steady_load_does_not_swing) {
    for (uint64_t permille = 100; permille <= 2500; permille += 25) {
        struct load load = load_of(permille, 100);
        unsigned changes = 0;
        set_up();
        play(2 * SECOND, &load);
        for (unsigned i = 0; i < 60 * SECOND; i++) {
            enum hc_server_overload_level before = overload.level;
            tick(&load);
            changes += overload.level != before;
        }
        ck_assert_uint_eq(changes, 0);
    }
}
END_TEST

START_TEST(many_rewinds_shorten_how_late_inputs_may_be_down_to_a_minimum) {
    struct load storm = {.rewind_us = TICK_US / 2, .other_us = TICK_US / 10};
    struct load calm = {.rewind_us = TICK_US / 10, .other_us = TICK_US / 10};
    play(2 * SECOND, &storm);
    ck_assert_uint_eq(overload.late_most, HC_SV_OVERLOAD_LATE_MIN);
    for (unsigned i = 0; i < 3 * SECOND; i++) {
        uint32_t before = overload.late_most;
        tick(&calm);
        ck_assert_uint_ge(overload.late_most, before);
        ck_assert_uint_le(overload.late_most, before + 1);
    }
    ck_assert_uint_eq(overload.late_most, HISTORY);
}
END_TEST

START_TEST(late_limit_rises_after_as_many_windows_with_few_rewinds_as_promised) {
    struct load storm = {.rewind_us = TICK_US / 2}, calm = {.rewind_us = 0};
    unsigned calm_ticks = 0;
    play(2 * SECOND, &storm);
    while (overload.work.rewind_us != 0) // to the end of a window
        tick(&storm);
    for (; overload.late_target < HISTORY && calm_ticks < 10 * SECOND; calm_ticks++)
        tick(&calm);
    uint64_t window_ticks = (HC_SV_OVERLOAD_WINDOW_US + TICK_US - 1) / TICK_US;
    ck_assert_uint_eq(calm_ticks, HC_SV_OVERLOAD_WAIT_MAX * window_ticks);
}
END_TEST

START_TEST(a_shorter_history_than_the_minimum_stays) {
    struct load storm = {.rewind_us = TICK_US};
    hc_sv_overload_init(&overload, 8);
    play(2 * SECOND, &storm);
    ck_assert_uint_eq(overload.late_most, 8);
}
END_TEST

START_TEST(snapshots_become_linear_above_a_third_of_the_time_and_stay_so_at_half_of_that) {
    struct load small = load_of(200, 100), much = load_of(300, 100), half = load_of(120, 40);
    play(20 * SECOND, &small);
    ck_assert(!overload.linear);
    play(SECOND, &much);
    ck_assert(overload.linear);
    ck_assert_uint_eq(least_sent, CLIENTS); // it leaves nothing out
    play(20 * SECOND, &half);
    ck_assert(overload.linear);
}
END_TEST

START_TEST(nothing_is_left_out_where_linear_snapshots_suffice) {
    struct load by_steps = load_of(850, 50), linear = load_of(450, 50);
    for (unsigned i = 0; i < SECOND && !overload.linear; i++)
        tick(&by_steps);
    ck_assert(overload.linear);
    ck_assert_int_eq(overload.level, HC_SERVER_OVERLOAD_NONE);
    play(20 * SECOND, &linear);
    ck_assert_uint_eq(least_sent, CLIENTS);
}
END_TEST

START_TEST(snapshots_are_by_steps_again_within_two_seconds_of_little_work) {
    struct load much = load_of(300, 100), little = load_of(70, 30);
    play(SECOND, &much);
    play(SECOND, &little);
    ck_assert(overload.linear);
    play(SECOND, &little);
    ck_assert(!overload.linear);
}
END_TEST

START_TEST(advances_are_split_into_rewinds_and_the_rest_by_the_new_steps) {
    struct hc_sv_work work = hc_sv_overload_split(&overload, 300, 100, 800);
    ck_assert_uint_eq(work.rewind_us, 200);
    ck_assert_uint_eq(work.other_us, 600);
    work = hc_sv_overload_split(&overload, 350, 150, 800);
    ck_assert_uint_eq(work.rewind_us, 400);
    work = hc_sv_overload_split(&overload, 350, 150, 800); // no new steps
    ck_assert_uint_eq(work.rewind_us, 0);
    ck_assert_uint_eq(work.other_us, 800);
    ck_assert_uint_eq(work.send_us, 0);
}
END_TEST

START_TEST(any_load_keeps_the_invariants) {
    struct hc_rng rng = hc_rng_init(5, 0);
    for (unsigned i = 0; i < 3000; i++) {
        struct load load = load_of(hc_rng_below(&rng, 3000), hc_rng_below(&rng, 1500));
        load.rewind_us = hc_rng_below(&rng, 2 * TICK_US);
        uint32_t before = overload.late_most;
        unsigned count = 1 + hc_rng_below(&rng, SECOND);
        play(count, &load);
        ck_assert_int_lt(overload.level, HC_SERVER_OVERLOAD_LEVELS);
        ck_assert_uint_ge(overload.late_most, HC_SV_OVERLOAD_LATE_MIN);
        ck_assert_uint_le(overload.late_most, HISTORY);
        ck_assert_uint_le(overload.late_most, before + count);
        ck_assert_str_ne(hc_server_overload_text(overload.level), "");
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server overload");
    TCase *tests = tcase_create("overload");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, below_three_quarters_of_the_time_nothing_is_left_out);
    tcase_add_test(
        tests, a_burst_of_a_quarter_of_a_second_leaves_nothing_out_unless_it_takes_all_of_the_time);
    tcase_add_test(tests, far_and_idle_clients_lose_snapshots_before_all_others);
    tcase_add_test(tests, one_and_a_half_times_the_capacity_keeps_the_ticks_and_refuses_nobody);
    tcase_add_test(tests, joins_are_refused_when_fewer_snapshots_do_not_suffice);
    tcase_add_test(tests, a_short_storm_of_joins_refuses_none_of_them);
    tcase_add_test(tests, nothing_is_left_out_two_seconds_after_the_load_has_ended);
    tcase_add_test(tests, level_of_a_steady_load_does_not_swing);
    tcase_add_test(tests, many_rewinds_shorten_how_late_inputs_may_be_down_to_a_minimum);
    tcase_add_test(tests, late_limit_rises_after_as_many_windows_with_few_rewinds_as_promised);
    tcase_add_test(tests, a_shorter_history_than_the_minimum_stays);
    tcase_add_test(tests,
                   snapshots_become_linear_above_a_third_of_the_time_and_stay_so_at_half_of_that);
    tcase_add_test(tests, nothing_is_left_out_where_linear_snapshots_suffice);
    tcase_add_test(tests, snapshots_are_by_steps_again_within_two_seconds_of_little_work);
    tcase_add_test(tests, advances_are_split_into_rewinds_and_the_rest_by_the_new_steps);
    tcase_add_test(tests, any_load_keeps_the_invariants);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
