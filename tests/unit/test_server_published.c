/// Tests server/daemon/published: another thread reads whole values while they are written.
#define _GNU_SOURCE // sched_yield

#include "server/daemon/published.h"
#include "tests/run_suite.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { WORDS = 512, VALUES = 20000 };

struct value {
    size_t words[WORDS];
};

static struct hc_sv_published published;
static atomic_bool written;

static void set_up(void) {
    memset(&published, 0, sizeof published);
    ck_assert(hc_sv_published_open(&published, sizeof(struct value)));
    atomic_store(&written, false);
}

static void tear_down(void) {
    hc_sv_published_close(&published);
}

/// Writes values whose words are all equal, and ascend.
static void *write_values(void *context) {
    struct value value;
    (void)context;
    for (size_t i = 1; i <= VALUES; i++) {
        for (unsigned w = 0; w < WORDS; w++)
            value.words[w] = i;
        hc_sv_published_write(&published, &value);
    }
    atomic_store(&written, true);
    return NULL;
}

START_TEST(value_is_zeros_until_one_is_written) {
    struct value value = {{1}};
    hc_sv_published_read(&published, &value);
    for (unsigned w = 0; w < WORDS; w++)
        ck_assert_uint_eq(value.words[w], 0);
}
END_TEST

START_TEST(reader_sees_whole_values_in_their_order) {
    pthread_t writer;
    struct value value;
    size_t before = 0;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_values, NULL), 0);
    for (bool last = false; !last;) {
        last = atomic_load(&written);
        hc_sv_published_read(&published, &value);
        for (unsigned w = 1; w < WORDS; w++)
            ck_assert_uint_eq(value.words[w], value.words[0]);
        ck_assert_uint_ge(value.words[0], before);
        before = value.words[0];
    }
    ck_assert_uint_eq(before, VALUES);
    pthread_join(writer, NULL);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("published");
    TCase *tests = tcase_create("published");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, value_is_zeros_until_one_is_written);
    tcase_add_test(tests, reader_sees_whole_values_in_their_order);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
