/// Pinned values, after the ring of sent values has replaced them.
#include "server/replication/pinned_values.h"
#include "tests/run_suite.h"
#include "tests/unit/small_game.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY = 12, LEAST = 16, BYTES_MAX = 256, UNITS_MAX = 16, OVERRUN = 40 };

static struct hc_world world;
static struct hc_timeline *timeline;
static struct hc_sv_sent_values sent_values;
static struct hc_sv_sent_log *sent_log;
static struct hc_sv_pinned pinned;
static uint8_t *memory, *pinned_memory;

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
    memory = malloc(hc_sv_sent_values_layout(&sent_values, &world, HISTORY + 1, LEAST, NULL));
    hc_sv_sent_values_layout(&sent_values, &world, HISTORY + 1, LEAST, memory);
    hc_sv_sent_values_clear(&sent_values);
    sent_log = hc_sv_sent_log_init(&world, 64, malloc(hc_sv_sent_log_memory(&world, 64)));
    size_t bytes = hc_sv_pinned_layout(&pinned, &world, NULL);
    pinned_memory = malloc(bytes);
    memset(pinned_memory, 0xa5, bytes);
    ck_assert_uint_eq(hc_sv_pinned_layout(&pinned, &world, pinned_memory), bytes);
    hc_sv_pinned_clear(&pinned);
}

static void tear_down(void) {
    free(pinned_memory);
    free(sent_log);
    free(memory);
    hc_timeline_destroy(timeline);
    hc_world_free(&world);
}

static hc_sv_value_id value_now(hc_unit unit) {
    struct hc_sv_sent_values_row row =
        hc_sv_sent_values_row(&sent_values, timeline, hc_timeline_head(timeline));
    return hc_sv_sent_values_put(&row, unit);
}

/// Sends units 0, 2 and 3 of the timeline's head in a snapshot that is acked.
static void send(hc_tick as_of, uint32_t seq, hc_sv_value_id sent[static UNITS_MAX]) {
    memset(sent, 0, UNITS_MAX * sizeof *sent);
    hc_sv_sent_log_begin(sent_log, as_of, seq);
    for (hc_unit unit = 0; unit <= 3; unit++) {
        if (unit == 1)
            continue;
        sent[unit] = value_now(unit);
        ck_assert(hc_sv_sent_log_put(sent_log, unit, as_of, sent[unit], false));
    }
    hc_sv_sent_log_acked(sent_log, seq);
}

/// Stores so many values that they take every place in the ring.
static void overrun(void) {
    for (uint32_t i = 0; i < OVERRUN; i++) {
        hc_timeline_advance(timeline);
        for (hc_unit unit = 0; unit <= 3; unit++)
            value_now(unit);
    }
}

START_TEST(pinned_values_of_the_newest_base_outlive_the_sent_values) {
    struct hc_unit_value was[UNITS_MAX];
    static uint8_t bytes[UNITS_MAX][BYTES_MAX];
    hc_sv_value_id sent[UNITS_MAX], later[UNITS_MAX];
    send(10, 1, sent);
    for (hc_unit unit = 0; unit <= 3; unit++) {
        const struct hc_unit_value *value = hc_sv_sent_values_get(&sent_values, sent[unit]);
        if (value == NULL)
            continue;
        hc_unit_place(&world, &was[unit], bytes[unit]);
        hc_unit_copy(&world, unit, &was[unit], value);
        ck_assert_ptr_null(hc_sv_pinned_get(&pinned, unit, sent[unit]));
    }
    hc_sv_pinned_take(&pinned, sent_log, &sent_values);
    overrun();
    hc_sv_pinned_take(&pinned, sent_log, &sent_values); // the same base: nothing happens
    for (hc_unit unit = 0; unit <= 4; unit++) {
        const struct hc_unit_value *value = hc_sv_pinned_get(&pinned, unit, sent[unit]);
        ck_assert_ptr_null(hc_sv_sent_values_get(&sent_values, sent[unit]));
        ck_assert_int_eq(value != NULL, sent[unit] != 0);
        ck_assert(value == NULL || (value->tick == was[unit].tick &&
                                    hc_unit_equal(&world, unit, value, &was[unit])));
        ck_assert_ptr_null(hc_sv_pinned_get(&pinned, unit, sent[unit] + 1));
    }
    send(11, 2, later);
    hc_sv_pinned_take(&pinned, sent_log, &sent_values); // another base
    ck_assert_ptr_null(hc_sv_pinned_get(&pinned, 2, sent[2]));
    ck_assert_ptr_nonnull(hc_sv_pinned_get(&pinned, 2, later[2]));
    hc_sv_pinned_clear(&pinned);
    ck_assert_ptr_null(hc_sv_pinned_get(&pinned, 2, later[2]));
}
END_TEST

START_TEST(a_replaced_value_is_not_pinned) {
    hc_sv_value_id sent[UNITS_MAX];
    send(10, 1, sent);
    overrun();
    hc_sv_pinned_take(&pinned, sent_log, &sent_values);
    for (hc_unit unit = 0; unit <= 3; unit++)
        ck_assert_ptr_null(hc_sv_pinned_get(&pinned, unit, sent[unit]));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server pinned values");
    TCase *tc = tcase_create("pinned values");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, pinned_values_of_the_newest_base_outlive_the_sent_values);
    tcase_add_test(tc, a_replaced_value_is_not_pinned);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
