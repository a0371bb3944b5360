// What a server keeps of what a client held when it was last heard.
#include "server/replication/pinned_values.h"
#include "tests/run_suite.h"
#include "tests/unit/small_game.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY = 12, LEAST = 16, BYTES_MAX = 256, UNITS_MAX = 16, OVERRUN = 40 };

static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_sent_values versions;
static struct hc_sv_sent_log *sent_log;
static struct hc_sv_pinned kept;
static uint8_t *memory, *kept_memory;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    ck_assert_uint_le(hc_unit_bytes(&world), BYTES_MAX);
    ck_assert_uint_le(hc_unit_total(&world), UNITS_MAX);
    struct hc_timeline_config config = hc_timeline_config_default();
    config.world = &world;
    config.history = HISTORY;
    timeline = hc_timeline_create(&config);
    ck_assert_ptr_nonnull(timeline);
    hc_timeline_start(timeline);
    memory = malloc(hc_sv_sent_values_layout(&versions, &world, HISTORY + 1, LEAST, NULL));
    hc_sv_sent_values_layout(&versions, &world, HISTORY + 1, LEAST, memory);
    hc_sv_sent_values_clear(&versions);
    sent_log = hc_sv_sent_log_init(&world, 64, malloc(hc_sv_sent_log_memory(&world, 64)));
    size_t bytes = hc_sv_pinned_layout(&kept, &world, NULL);
    kept_memory = malloc(bytes);
    memset(kept_memory, 0xa5, bytes);
    ck_assert_uint_eq(hc_sv_pinned_layout(&kept, &world, kept_memory), bytes);
    hc_sv_pinned_clear(&kept);
}

static void tear_down(void) {
    free(kept_memory);
    free(sent_log);
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static hc_sv_value_id version_now(hc_unit unit) {
    struct hc_sv_sent_values_row row =
        hc_sv_sent_values_row(&versions, timeline, hc_timeline_head(timeline));
    return hc_sv_sent_values_put(&row, unit);
}

/// Tells units 0, 2 and 3 of the timeline's head in a snapshot that is acknowledged.
static void tell(hc_tick as_of, uint32_t seq, hc_sv_value_id told[static UNITS_MAX]) {
    memset(told, 0, UNITS_MAX * sizeof *told);
    hc_sv_sent_log_begin(sent_log, as_of, seq);
    for (hc_unit unit = 0; unit <= 3; unit++) {
        if (unit == 1)
            continue;
        told[unit] = version_now(unit);
        ck_assert(hc_sv_sent_log_put(sent_log, unit, as_of, told[unit], false));
    }
    hc_sv_sent_log_acked(sent_log, seq);
}

/// Makes as many versions as take every place in their ring.
static void overrun(void) {
    for (uint32_t i = 0; i < OVERRUN; i++) {
        hc_timeline_advance(timeline);
        for (hc_unit unit = 0; unit <= 3; unit++)
            version_now(unit);
    }
}

START_TEST(what_the_newest_base_told_is_kept_when_its_versions_are_gone) {
    struct hc_unit_value value, was[UNITS_MAX];
    static uint8_t bytes[UNITS_MAX][BYTES_MAX];
    hc_sv_value_id told[UNITS_MAX], later[UNITS_MAX];
    tell(10, 1, told);
    for (hc_unit unit = 0; unit <= 3; unit++) {
        if (hc_sv_sent_values_get(&versions, told[unit], &value) == NULL)
            continue;
        was[unit] = value;
        hc_unit_place(&world, &was[unit], bytes[unit]);
        hc_unit_copy(&world, unit, &was[unit], &value);
        ck_assert_ptr_null(hc_sv_pinned_get(&kept, unit, told[unit], &value));
    }
    hc_sv_pinned_take(&kept, sent_log, &versions);
    overrun();
    hc_sv_pinned_take(&kept, sent_log, &versions); // of the same base: nothing happens
    for (hc_unit unit = 0; unit <= 4; unit++) {
        bool is = hc_sv_pinned_get(&kept, unit, told[unit], &value) != NULL;
        ck_assert_ptr_null(hc_sv_sent_values_get(&versions, told[unit], &was[4]));
        ck_assert_int_eq(is, told[unit] != 0);
        ck_assert(!is || (value.tick == was[unit].tick &&
                          hc_unit_equal(&world, unit, &value, &was[unit])));
        ck_assert_ptr_null(hc_sv_pinned_get(&kept, unit, told[unit] + 1, &value));
    }
    tell(11, 2, later);
    hc_sv_pinned_take(&kept, sent_log, &versions); // of another
    ck_assert_ptr_null(hc_sv_pinned_get(&kept, 2, told[2], &value));
    ck_assert_ptr_nonnull(hc_sv_pinned_get(&kept, 2, later[2], &value));
    hc_sv_pinned_clear(&kept);
    ck_assert_ptr_null(hc_sv_pinned_get(&kept, 2, later[2], &value));
}
END_TEST

START_TEST(of_what_the_versions_have_lost_nothing_is_kept) {
    struct hc_unit_value value;
    hc_sv_value_id told[UNITS_MAX];
    tell(10, 1, told);
    overrun();
    hc_sv_pinned_take(&kept, sent_log, &versions);
    for (hc_unit unit = 0; unit <= 3; unit++)
        ck_assert_ptr_null(hc_sv_pinned_get(&kept, unit, told[unit], &value));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server kept");
    TCase *tc = tcase_create("kept");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, what_the_newest_base_told_is_kept_when_its_versions_are_gone);
    tcase_add_test(tc, of_what_the_versions_have_lost_nothing_is_kept);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
