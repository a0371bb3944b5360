/// Tests of common/decimal.h.
#include "common/decimal.h"

#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(every_printed_number_reads_back) {
    struct hc_rng rng = hc_rng_init(1, 0);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned places = hc_rng_below(&rng, HC_DECIMAL_PLACES_MAX + 1);
        uint64_t scale = 1;
        for (unsigned k = 0; k < places; k++)
            scale *= 10;
        uint64_t wanted = hc_rng_next(&rng) >> hc_rng_below(&rng, 64), value = 0;
        char text[64];
        if (places == 0)
            snprintf(text, sizeof(text), "%" PRIu64, wanted);
        else
            snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64, wanted / scale, (int)places,
                     wanted % scale);
        ck_assert_msg(hc_decimal_parse(text, places, &value) == HC_OK, "%s, %u places", text,
                      places);
        ck_assert_msg(value == wanted, "%s, %u places: %" PRIu64, text, places, value);
    }
}
END_TEST

START_TEST(missing_places_count_as_zeros) {
    uint64_t value = 0;
    ck_assert(hc_decimal_parse("2", 3, &value) == HC_OK && value == 2000);
    ck_assert(hc_decimal_parse("2.5", 3, &value) == HC_OK && value == 2500);
    ck_assert(hc_decimal_parse("0.025", 3, &value) == HC_OK && value == 25);
}
END_TEST

START_TEST(text_other_than_a_plain_number_is_refused_and_changes_nothing) {
    static const char *const malformed[] = {"",      " 1",  "1 ",  "-1",     "+1",
                                            "0x10",  "1e3", ".5",  "5.",     "1,5",
                                            "1.2.3", "nan", "inf", "1.2345", "1ms"};
    uint64_t value = 77;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        ck_assert_msg(hc_decimal_parse(malformed[i], 3, &value) == HC_MALFORMED, "'%s'",
                      malformed[i]);
    ck_assert(hc_decimal_parse("1.5", 0, &value) == HC_MALFORMED);
    ck_assert(hc_decimal_parse("18446744073709551616", 0, &value) == HC_INVALID);
    ck_assert(hc_decimal_parse("18446744073709551615", 1, &value) == HC_INVALID);
    ck_assert_uint_eq(value, 77);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("decimal");
    TCase *tests = tcase_create("decimal");
    tcase_add_test(tests, every_printed_number_reads_back);
    tcase_add_test(tests, missing_places_count_as_zeros);
    tcase_add_test(tests, text_other_than_a_plain_number_is_refused_and_changes_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
