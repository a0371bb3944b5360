/// Tests common/programs/crash: a thread that is watched ends as any other.
#define _GNU_SOURCE // stack_t

#include "common/programs/crash.h"
#include "tests/run_suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

static stack_t stack_of(void) {
    stack_t stack = {.ss_size = 0};
    ck_assert_int_eq(sigaltstack(NULL, &stack), 0);
    return stack;
}

/// Is watched, and ends by a return or, with a context, by pthread_exit.
static void *end(void *context) {
    const void *before = stack_of().ss_sp;
    hc_crash_watch_thread();
    stack_t stack = stack_of();
    ck_assert((stack.ss_flags & SS_DISABLE) == 0 && stack.ss_sp != before);
    if (context != NULL)
        pthread_exit(context);
    return context;
}

// A sanitizer finds a stack that was not freed, or that is not its own when the thread ends.
START_TEST(watched_thread_ends_with_the_stack_that_it_began_with) {
    for (unsigned i = 0; i < 8; i++) {
        pthread_t thread;
        bool exits = i % 2 != 0;
        ck_assert_int_eq(pthread_create(&thread, NULL, end, exits ? &thread : NULL), 0);
        void *result;
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_eq(result, exits ? &thread : NULL);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("crash");
    TCase *tests = tcase_create("crash");
    tcase_add_test(tests, watched_thread_ends_with_the_stack_that_it_began_with);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
