/// Cadences: when a client is sent a snapshot, and which of them are bases.
#include "hindcast/rng.h"
#include "server/overload.h"
#include "server/replication/cadence.h"
#include "tests/run_suite.h"

START_TEST(a_tick_shown_that_advances_by_one_is_sent_at_the_cadence) {
    for (uint32_t snapshots = 1; snapshots <= 60; snapshots++)
        for (uint32_t every = 1; every <= 6; every++) {
            struct hc_sv_cadence cadence = {
                .snapshots = snapshots, .period = 60 * every, .phase = snapshots % 7};
            hc_tick shown = HC_NO_TICK;
            int32_t credit = 0;
            uint32_t sent = 0, periods = 4;
            for (hc_tick t = 1; t <= cadence.period * periods; t++) {
                hc_tick before = shown;
                if (!hc_sv_cadence_sends(&cadence, shown, t, &credit))
                    continue;
                sent++;
                shown = t;
                ck_assert(before == HC_NO_TICK || hc_sv_cadence_number(&cadence, before) <
                                                      hc_sv_cadence_number(&cadence, t));
            }
            ck_assert_uint_le(sent, periods * snapshots + 1);
            ck_assert_uint_ge(sent, periods * snapshots - 1);
        }
}
END_TEST

START_TEST(a_tick_shown_that_stalls_and_leaps_is_sent_as_often) {
    struct hc_rng rng = hc_rng_init(3, 1);
    struct hc_sv_cadence cadence = {.snapshots = 20, .period = 60, .phase = 1};
    int32_t credit = 0;
    uint32_t sent = 0, heads = 30000;
    hc_tick shown = HC_NO_TICK, tick = 1;
    for (uint32_t head = 1; head <= heads; head++) {
        if (hc_rng_below(&rng, 20) == 0)
            tick = head;
        if (hc_sv_cadence_sends(&cadence, shown, tick, &credit)) {
            shown = tick;
            sent++;
        }
        ck_assert_int_le(credit, 120);
        ck_assert_int_ge(credit, -60);
    }
    ck_assert_uint_le(sent, heads / 3 + 2);
    ck_assert_uint_ge(sent, heads / 3 - 2);
}
END_TEST

START_TEST(bases_are_ticks_that_the_client_is_shown_and_lie_eight_apart_at_most) {
    for (hc_tick tick = 100; tick < 148; tick++)
        for (uint32_t whole = 1; whole <= HC_SV_WHOLE_EVERY; whole++)
            for (uint32_t every = 0; every <= 6; every++) {
                if (every != 0 && !hc_sv_cadence_shares_bases(every))
                    continue;
                struct hc_sv_cadence bases = hc_sv_cadence_of_bases(tick, whole, every);
                hc_tick first = tick;
                while (!hc_sv_cadence_begins(&bases, first))
                    first++;
                ck_assert_uint_le(bases.period, HC_SV_BASE_EVERY);
                ck_assert_uint_eq(first % whole, tick % whole);
                ck_assert(every == 0 || first % every == tick % every);
                ck_assert(every != 0 || first == tick);
            }
}
END_TEST

START_TEST(clients_share_bases_at_every_level_of_overload) {
    struct hc_sv_overload overload;
    hc_sv_overload_init(&overload, 64);
    for (int level = 0; level < HC_SERVER_OVERLOAD_LEVELS; level++)
        for (unsigned far = 0; far < 2; far++) {
            overload.level = (enum hc_server_overload_level)level;
            ck_assert(hc_sv_cadence_shares_bases(hc_sv_overload_every(&overload, far != 0)));
        }
    ck_assert(!hc_sv_cadence_shares_bases(0) && !hc_sv_cadence_shares_bases(5));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server cadence");
    TCase *tc = tcase_create("cadence");
    tcase_add_test(tc, a_tick_shown_that_advances_by_one_is_sent_at_the_cadence);
    tcase_add_test(tc, a_tick_shown_that_stalls_and_leaps_is_sent_as_often);
    tcase_add_test(tc, bases_are_ticks_that_the_client_is_shown_and_lie_eight_apart_at_most);
    tcase_add_test(tc, clients_share_bases_at_every_level_of_overload);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
