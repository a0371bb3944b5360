/// Tests how often server/address_limit lets something happen for one address.
#include "hindcast/rng.h"
#include "server/address_limit.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_US = 1000000, PER_S = 5 };

static struct hc_sv_address_limit limit;

static void set_up(void) {
    limit = (struct hc_sv_address_limit){.seed = 7};
}

static unsigned take_many(const struct hc_address *address, unsigned times, uint64_t now_us) {
    unsigned taken = 0;
    for (unsigned i = 0; i < times; i++)
        taken += hc_sv_address_limit_take(&limit, address, PER_S, now_us);
    return taken;
}

START_TEST(address_takes_at_most_its_rate_and_one_saved_second) {
    struct hc_address address = hc_address_ipv4(192, 0, 2, 1, 1000);
    struct hc_rng rng = hc_rng_init(11, 0);
    uint64_t now_us = 5 * (uint64_t)SECOND_US, begun_us = now_us;
    unsigned taken = 0;
    for (unsigned i = 0; i < 20000; i++) {
        now_us += hc_rng_below(&rng, 20000);
        address.port = (uint16_t)hc_rng_next(&rng); // the port does not count
        taken += hc_sv_address_limit_take(&limit, &address, PER_S, now_us);
        ck_assert_uint_le(taken, PER_S + (now_us - begun_us) * PER_S / SECOND_US);
    }
    ck_assert_uint_ge(taken + 1, (now_us - begun_us) * PER_S / SECOND_US);
}
END_TEST

START_TEST(addresses_of_one_owner_share_a_limit) {
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

START_TEST(loopback_and_a_rate_of_zero_have_no_limit) {
    struct hc_address loopback = hc_address_ipv4(127, 3, 2, 1, 1), loopback6 = {.ip = {[15] = 1}};
    struct hc_address other = hc_address_ipv4(192, 0, 2, 2, 1);
    ck_assert_uint_eq(take_many(&loopback, 1000, SECOND_US), 1000);
    ck_assert_uint_eq(take_many(&loopback6, 1000, SECOND_US), 1000);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(hc_sv_address_limit_take(&limit, &other, 0, SECOND_US));
}
END_TEST

START_TEST(many_idle_addresses_do_not_replace_a_busy_one) {
    struct hc_address busy = hc_address_ipv4(192, 0, 2, 1, 1);
    ck_assert_uint_eq(take_many(&busy, 20, SECOND_US), PER_S);
    for (unsigned i = 0; i < 200; i++) { // far fewer than have room, once each
        struct hc_address one = hc_address_ipv4(10, 0, (uint8_t)(i / 250), (uint8_t)(i % 250), 1);
        ck_assert(hc_sv_address_limit_take(&limit, &one, PER_S, SECOND_US));
    }
    ck_assert_uint_eq(take_many(&busy, 20, SECOND_US), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server_address_limit");
    TCase *tests = tcase_create("address_limit");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, address_takes_at_most_its_rate_and_one_saved_second);
    tcase_add_test(tests, addresses_of_one_owner_share_a_limit);
    tcase_add_test(tests, loopback_and_a_rate_of_zero_have_no_limit);
    tcase_add_test(tests, many_idle_addresses_do_not_replace_a_busy_one);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
