/// The limit of wrong passwords.
#include "server/daemon/password_limit.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <string.h>
#include <sys/un.h>

static struct hc_sv_password_limit limit;
static const uint64_t begin_us = 3600000000;

static void set_up(void) {
    ck_assert_int_ge(sodium_init(), 0);
    hc_sv_password_limit_init(&limit);
}

static struct hc_sv_http_peer peer_of(const char *text) {
    struct sockaddr_storage address = {.ss_family = AF_UNIX};
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&address;
    if (inet_pton(AF_INET, text, &ipv4->sin_addr) == 1)
        address.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &ipv6->sin6_addr) == 1)
        address.ss_family = AF_INET6;
    return hc_sv_http_peer(&address);
}

static struct hc_sv_http_peer stranger(uint32_t i) {
    struct sockaddr_storage address = {.ss_family = AF_INET};
    ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(0x0a000000 + i);
    return hc_sv_http_peer(&address);
}

static bool try_one(const struct hc_sv_http_peer *peer, uint64_t now_us) {
    if (hc_sv_password_limit_is_reached(&limit, peer, now_us))
        return false;
    hc_sv_password_limit_count(&limit, peer, now_us);
    return true;
}

START_TEST(an_address_tries_ten_passwords_at_once_and_one_a_second) {
    struct hc_sv_http_peer peer = peer_of("192.0.2.1");
    unsigned compared = 0;
    for (uint64_t i = 0; i < 100000; i++) // for 100 s
        compared += try_one(&peer, begin_us + 1000 * i);
    ck_assert_uint_ge(compared, 10 + 99);
    ck_assert_uint_le(compared, 10 + 101);
}
END_TEST

START_TEST(asking_without_a_wrong_password_uses_nothing_up) {
    struct hc_sv_http_peer peer = peer_of("192.0.2.1");
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(!hc_sv_password_limit_is_reached(&limit, &peer, begin_us));
}
END_TEST

START_TEST(addresses_of_one_user_share_the_limit_and_others_do_not) {
    struct hc_sv_http_peer here = peer_of("2001:db8:1:2::1"), near = peer_of("2001:db8:1:2::9");
    struct hc_sv_http_peer other = peer_of("2001:db8:1:3::1"), ipv4 = peer_of("192.0.2.1");
    struct hc_sv_http_peer mapped = peer_of("::ffff:192.0.2.1"), local = peer_of("unix");
    ck_assert_mem_eq(&here, &near, sizeof here);
    ck_assert_mem_eq(&ipv4, &mapped, sizeof ipv4);
    while (try_one(&here, begin_us)) {
    }
    ck_assert(hc_sv_password_limit_is_reached(&limit, &near, begin_us));
    ck_assert(!hc_sv_password_limit_is_reached(&limit, &other, begin_us));
    ck_assert(!hc_sv_password_limit_is_reached(&limit, &ipv4, begin_us));
    ck_assert(!hc_sv_password_limit_is_reached(&limit, &local, begin_us));
}
END_TEST

START_TEST(a_hundred_strangers_hardly_limit_anybody_else) {
    unsigned limited = 0;
    for (uint32_t i = 0; i < 100; i++) {
        struct hc_sv_http_peer peer = stranger(i);
        while (try_one(&peer, begin_us)) {
        }
    }
    for (uint32_t i = 0; i < 10000; i++) {
        struct hc_sv_http_peer peer = stranger(1000 + i);
        limited += hc_sv_password_limit_is_reached(&limit, &peer, begin_us);
    }
    ck_assert_uint_lt(limited, 10000 / 25); // about 1 % are expected
}
END_TEST

int main(void) {
    Suite *suite = suite_create("password limit");
    TCase *tests = tcase_create("password limit");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, an_address_tries_ten_passwords_at_once_and_one_a_second);
    tcase_add_test(tests, asking_without_a_wrong_password_uses_nothing_up);
    tcase_add_test(tests, addresses_of_one_user_share_the_limit_and_others_do_not);
    tcase_add_test(tests, a_hundred_strangers_hardly_limit_anybody_else);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
