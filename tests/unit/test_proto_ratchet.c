/// Tests proto/ratchet: known answers, and draws that reveal nothing of each other.
#include "proto/ratchet.h"
#include "tests/run_suite.h"
#include "tests/unit/count_up.h"
#include "tests/unit/secure_vectors.h"

#include <sodium.h>
#include <string.h>

static struct hc_ratchet known_ratchet(void) {
    struct hc_ratchet ratchet;
    uint8_t key[HC_RATCHET_SIZE];
    count_up(key, sizeof key, 0x60);
    hc_ratchet_init(&ratchet, key);
    return ratchet;
}

START_TEST(draws_equal_those_of_an_independent_implementation) {
    struct hc_ratchet ratchet = known_ratchet();
    uint8_t drawn[sizeof vector_draws];
    for (size_t at = 0; at < sizeof drawn; at += HC_RATCHET_SIZE)
        hc_ratchet_draw(&ratchet, drawn + at, HC_RATCHET_SIZE);
    ck_assert_mem_eq(drawn, vector_draws, sizeof drawn);
}
END_TEST

START_TEST(a_short_draw_is_the_beginning_of_a_long_one) {
    for (size_t size = 1; size <= HC_RATCHET_SIZE; size++) {
        struct hc_ratchet ratchet = known_ratchet();
        uint8_t drawn[HC_RATCHET_SIZE + 1] = {0};
        hc_ratchet_draw(&ratchet, drawn, size);
        ck_assert_mem_eq(drawn, vector_draws, size);
        ck_assert(sodium_is_zero(drawn + size, sizeof drawn - size));
        hc_ratchet_draw(&ratchet, drawn, HC_RATCHET_SIZE);
        ck_assert_mem_eq(drawn, vector_draws + HC_RATCHET_SIZE, HC_RATCHET_SIZE);
    }
}
END_TEST

START_TEST(a_state_holds_neither_the_last_draw_nor_the_last_key) {
    struct hc_ratchet ratchet = known_ratchet();
    for (unsigned i = 0; i < 1000; i++) {
        struct hc_ratchet before = ratchet;
        uint8_t drawn[HC_RATCHET_SIZE];
        hc_ratchet_draw(&ratchet, drawn, sizeof drawn);
        ck_assert_mem_ne(ratchet.key, before.key, sizeof before.key);
        ck_assert_mem_ne(ratchet.key, drawn, sizeof drawn);
        ck_assert_mem_ne(before.key, drawn, sizeof drawn);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("proto ratchet");
    TCase *tests = tcase_create("ratchet");
    tcase_add_test(tests, draws_equal_those_of_an_independent_implementation);
    tcase_add_test(tests, a_short_draw_is_the_beginning_of_a_long_one);
    tcase_add_test(tests, a_state_holds_neither_the_last_draw_nor_the_last_key);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
