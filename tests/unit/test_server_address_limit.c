/// What server/rate promises: how often something may happen for each address.
#include "hindcast/rng.h"
#include "server/address_limit.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000, PER_S = 5 };

static struct hc_sv_address_limit rate;

static void set_up(void) {
    rate = (struct hc_sv_address_limit){.seed = 7};
}

static unsigned take_many(const struct hc_address *address, unsigned times, uint64_t now_us) {
    unsigned taken = 0;
    for (unsigned i = 0; i < times; i++)
        taken += hc_sv_address_limit_take(&rate, address, PER_S, now_us);
    return taken;
}

START_TEST(over_any_time_an_address_has_no_more_than_its_rate_and_a_second_saved_up) {
    struct hc_address address = hc_address_ipv4(192, 0, 2, 1, 1000);
    struct hc_rng rng = hc_rng_init(11, 0);
    uint64_t now_us = 5 * (uint64_t)SECOND_US, begun_us = now_us;
    unsigned taken = 0;
    for (unsigned i = 0; i < 20000; i++) {
        now_us += hc_rng_below(&rng, 20000);
        address.port = (uint16_t)hc_rng_next(&rng); // one owner, whatever the port
        taken += hc_sv_address_limit_take(&rate, &address, PER_S, now_us);
        ck_assert_uint_le(taken, PER_S + (now_us - begun_us) * PER_S / SECOND_US);
    }
    ck_assert_uint_ge(taken + 1, (now_us - begun_us) * PER_S / SECOND_US);
}
END_TEST

START_TEST(addresses_of_one_owner_share_and_others_do_not) {
    struct hc_address v4 = hc_address_ipv4(192, 0, 2, 1, 1),
                      other = hc_address_ipv4(192, 0, 2, 2, 1);
    struct hc_address v6 = {.ip = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 1}}, same = v6,
                      next = v6;
    same.ip[15] = 99; // of the same /64
    next.ip[7] = 2;
    ck_assert_uint_eq(take_many(&v4, 20, SECOND_US), PER_S);
    ck_assert_uint_eq(take_many(&other, 20, SECOND_US), PER_S);
    ck_assert_uint_eq(take_many(&v6, 20, SECOND_US), PER_S);
    ck_assert_uint_eq(take_many(&same, 20, SECOND_US), 0);
    ck_assert_uint_eq(take_many(&next, 20, SECOND_US), PER_S);
}
END_TEST

START_TEST(loopback_and_a_rate_of_nothing_are_not_limited) {
    struct hc_address loopback = hc_address_ipv4(127, 3, 2, 1, 1), loopback6 = {.ip = {[15] = 1}};
    struct hc_address other = hc_address_ipv4(192, 0, 2, 2, 1);
    ck_assert_uint_eq(take_many(&loopback, 1000, SECOND_US), 1000);
    ck_assert_uint_eq(take_many(&loopback6, 1000, SECOND_US), 1000);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(hc_sv_address_limit_take(&rate, &other, 0, SECOND_US));
}
END_TEST

START_TEST(a_crowd_of_addresses_cannot_make_a_busy_one_forgotten_while_there_are_idle_ones) {
    struct hc_address busy = hc_address_ipv4(192, 0, 2, 1, 1);
    ck_assert_uint_eq(take_many(&busy, 20, SECOND_US), PER_S);
    for (unsigned i = 0; i < 200; i++) { // far fewer than there is room for, once each
        struct hc_address one = hc_address_ipv4(10, 0, (uint8_t)(i / 250), (uint8_t)(i % 250), 1);
        ck_assert(hc_sv_address_limit_take(&rate, &one, PER_S, SECOND_US));
    }
    ck_assert_uint_eq(take_many(&busy, 20, SECOND_US), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_rate");
    TCase *tests = tcase_create("rate");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, over_any_time_an_address_has_no_more_than_its_rate_and_a_second_saved_up);
    tcase_add_test(tests, addresses_of_one_owner_share_and_others_do_not);
    tcase_add_test(tests, loopback_and_a_rate_of_nothing_are_not_limited);
    tcase_add_test(tests,
                   a_crowd_of_addresses_cannot_make_a_busy_one_forgotten_while_there_are_idle_ones);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
