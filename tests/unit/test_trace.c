/// Tests common/programs/trace: spans in a ring between a thread and the writer.
#include "common/programs/trace.h"

#include "tests/run_suite.h"

#include <string.h>

enum { CAPACITY = 8 };

static struct hc_trace_track track;
static atomic_bool on;

static void set_up(void) {
    atomic_store(&on, true);
    ck_assert(hc_trace_track_open(&track, &on, CAPACITY, "track"));
}

static void tear_down(void) {
    hc_trace_track_close(&track);
}

/// Takes the next record, whose name is given.
static struct hc_trace_record take(const char *name) {
    const struct hc_trace_record *next = hc_trace_track_next(&track);
    ck_assert_ptr_nonnull(next);
    ck_assert_str_eq(next->name, name);
    struct hc_trace_record record = *next;
    hc_trace_track_take(&track);
    return record;
}

static bool is_empty(void) {
    return hc_trace_track_next(&track) == NULL;
}

START_TEST(spans_are_for_the_writer_at_the_end_of_their_root_in_the_order_of_their_begins) {
    hc_trace_span root = hc_trace_begin(&track, "root");
    hc_trace_span child = hc_trace_begin(&track, "child");
    hc_trace_number(&track, hc_trace_moment(&track, "moment"), "n", 7);
    hc_trace_end(&track, child);
    hc_trace_text(&track, child, "later", "text"); // while the root is open
    ck_assert(is_empty());
    hc_trace_end(&track, root);
    struct hc_trace_record first = take("root"), second = take("child"), third = take("moment");
    ck_assert(is_empty());
    ck_assert_uint_le(first.begin_ns, second.begin_ns);
    ck_assert_uint_le(second.begin_ns, third.begin_ns);
    ck_assert_uint_ge(first.begin_ns + first.duration_ns, second.begin_ns + second.duration_ns);
    ck_assert(third.is_moment && !second.is_moment);
    ck_assert_uint_eq(third.arguments[0].number, 7);
    ck_assert_str_eq(second.arguments[0].text, "text");
    ck_assert_uint_eq(first.count, 0);
}
END_TEST

START_TEST(the_end_of_a_span_ends_those_within_it_that_a_crash_has_left_open) {
    hc_trace_span root = hc_trace_begin(&track, "root");
    (void)hc_trace_begin(&track, "left");
    (void)hc_trace_begin(&track, "left too");
    hc_trace_end(&track, root);
    take("root");
    take("left");
    take("left too");
    (void)hc_trace_begin(&track, "of a thread that never came back");
    hc_trace_end(&track, hc_trace_root(&track, "next"));
    take("of a thread that never came back");
    take("next");
    hc_trace_end(&track, root); // it has ended: nothing more
    ck_assert(is_empty());
}
END_TEST

START_TEST(a_full_track_drops_spans_and_counts_them_and_the_others_stay_nested) {
    hc_trace_span root = hc_trace_begin(&track, "root");
    for (unsigned i = 0; i < CAPACITY + 2; i++)
        hc_trace_end(&track, hc_trace_begin(&track, "child"));
    hc_trace_number(&track, hc_trace_moment(&track, "dropped"), "n", 1);
    hc_trace_end(&track, root);
    ck_assert_uint_eq(atomic_load(&track.dropped), 4);
    take("root");
    hc_trace_end(&track, hc_trace_begin(&track, "into the free place"));
    for (unsigned i = 0; i < CAPACITY - 1; i++)
        take("child");
    take("into the free place");
    ck_assert(is_empty());
}
END_TEST

START_TEST(a_span_that_is_cancelled_leaves_nothing) {
    hc_trace_span root = hc_trace_begin(&track, "root");
    hc_trace_cancel(&track, hc_trace_begin(&track, "cancelled"));
    hc_trace_span kept = hc_trace_begin(&track, "kept");
    hc_trace_rename(&track, kept, "renamed");
    hc_trace_end(&track, root);
    hc_trace_cancel(&track, hc_trace_begin(&track, "cancelled root"));
    hc_trace_cancel(&track, 0);
    take("root");
    take("renamed");
    ck_assert(is_empty());
}
END_TEST

START_TEST(a_trace_that_is_off_records_only_what_is_open) {
    hc_trace_span root = hc_trace_begin(&track, "root");
    atomic_store(&on, false);
    hc_trace_end(&track, hc_trace_begin(&track, "child"));
    hc_trace_end(&track, root);
    take("root");
    take("child");
    ck_assert_uint_eq(hc_trace_begin(&track, "off"), 0);
    ck_assert_uint_eq(hc_trace_moment(&track, "off"), 0);
    ck_assert_uint_eq(hc_trace_root(NULL, "no trace"), 0);
    hc_trace_number(&track, 0, "n", 1);
    ck_assert(is_empty());
    ck_assert_uint_eq(atomic_load(&track.dropped), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("trace");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests,
                   spans_are_for_the_writer_at_the_end_of_their_root_in_the_order_of_their_begins);
    tcase_add_test(tests, the_end_of_a_span_ends_those_within_it_that_a_crash_has_left_open);
    tcase_add_test(tests, a_full_track_drops_spans_and_counts_them_and_the_others_stay_nested);
    tcase_add_test(tests, a_span_that_is_cancelled_leaves_nothing);
    tcase_add_test(tests, a_trace_that_is_off_records_only_what_is_open);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
