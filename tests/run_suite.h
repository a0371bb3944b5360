/// The end of every Check program's main().
#pragma once

#include <check.h>

/// Runs the suite as the environment says (CK_*) and frees it; main's exit status.
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
