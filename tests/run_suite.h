/// The end of every Check program's main(), and the case of its long tests.
#pragma once

#include <check.h>

/// A new case of `suite` for tests that take a second or more in release. `tests/run.sh` leaves
/// them out under the sanitizers, where shorter tests and storm run the same code.
static inline TCase *add_long_plays(Suite *suite) {
    TCase *tests = tcase_create("long plays");
    tcase_set_tags(tests, "long");
    tcase_set_timeout(tests, 600); // Check's own, of 4 s, would end them under the sanitizers
    suite_add_tcase(suite, tests);
    return tests;
}

/// Runs the suite as the environment says (CK_*) and frees it; main's exit status.
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
