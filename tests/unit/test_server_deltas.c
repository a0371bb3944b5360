/// Stored deltas: a delta is found as it was put, or not at all.
#include "common/bits.h"
#include "hindcast/rng.h"
#include "server/replication/deltas.h"
#include "tests/run_suite.h"
#include "tests/unit/small_game.h"

#include <stdlib.h>
#include <string.h>

enum {
    EACH = 32,  ///< entries for a unit
    KEYS = 200, ///< more than fit, so that most puts replace another
    ROUNDS = 20000,
    BITS_MAX = 8 * HC_SV_DELTA_STORED,
};

static struct hc_sv_deltas table;
static struct hc_world world;
static uint8_t *memory;

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, 3, 60, 1, NULL), HC_OK);
    size_t bytes = hc_sv_deltas_layout(&table, &world, EACH, NULL);
    memory = calloc(1, bytes);
    hc_sv_deltas_layout(&table, &world, EACH, memory);
    hc_sv_deltas_begin(&table);
}

static void tear_down(void) {
    free(memory);
    hc_world_free(&world);
}

/// A delta of its own for every number; the unused bits of the last byte are not zeros.
static struct delta {
    struct hc_sv_delta_key key;
    uint32_t bits;
    uint8_t data[HC_SV_DELTA_STORED + 8];
} deltas[KEYS];

/// Keys that are nearly equal: any two differ in one number only, by as little as 1.
static void make_deltas(struct hc_rng *rng) {
    for (uint32_t i = 0; i < KEYS; i++) {
        deltas[i].key = (struct hc_sv_delta_key){.base = 5 + (i % 4 == 0 ? i : 0),
                                                 .value = 5 + (i % 4 == 1 ? i : 0),
                                                 .referee = 5 + (i % 4 == 2 ? i : 0),
                                                 .unit = (hc_unit)(5 + (i % 4 == 3 ? i : 0))};
        // Few are too long, some are empty, some fill an entry.
        uint32_t kind = hc_rng_below(rng, 8);
        deltas[i].bits = kind == 0   ? 0
                         : kind == 1 ? BITS_MAX
                         : kind == 2 ? BITS_MAX + 1 + hc_rng_below(rng, 60)
                                     : hc_rng_below(rng, BITS_MAX);
        for (size_t b = 0; b < sizeof deltas[i].data; b++)
            deltas[i].data[b] = (uint8_t)hc_rng_next(rng);
    }
    deltas[0].key.base = 0;
}

static bool is_stored(const struct delta *delta) {
    return delta->bits <= BITS_MAX;
}

/// The entry appends the bits of the delta, after some others.
static void check_bits(const struct hc_sv_delta_entry *entry, const struct delta *delta,
                       unsigned before) {
    uint8_t is[HC_SV_DELTA_STORED + 8] = {0}, wanted[HC_SV_DELTA_STORED + 8] = {0};
    struct hc_bits_writer writer = hc_bits_writer(is, sizeof is);
    struct hc_bits_writer plain = hc_bits_writer(wanted, sizeof wanted);
    hc_bits_put(&writer, 0, before);
    hc_bits_put(&plain, 0, before);
    hc_bits_append(&writer, entry->data, entry->bits);
    for (uint32_t i = 0; i < delta->bits; i++)
        hc_bits_put(&plain, (uint32_t)(delta->data[i / 8] >> i % 8) & 1u, 1);
    ck_assert_uint_eq(hc_bits_written(&writer), hc_bits_written(&plain));
    ck_assert_uint_eq(hc_bits_finish(&writer), hc_bits_finish(&plain));
    ck_assert_mem_eq(is, wanted, sizeof is);
}

START_TEST(an_entry_is_found_as_it_was_put_and_the_newest_two_are_always_found) {
    struct hc_rng rng = hc_rng_init(1, 1);
    uint32_t newest = KEYS, second = KEYS; // put, fitting, different
    bool put[KEYS] = {false};
    uint64_t hits = 0, finds = 0;
    make_deltas(&rng);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t i = hc_rng_below(&rng, KEYS);
        if (hc_rng_chance(&rng, 300000)) {
            hc_sv_deltas_put(&table, &deltas[i].key, deltas[i].data, deltas[i].bits);
            put[i] = true;
            if (is_stored(&deltas[i]) && i != newest) {
                second = newest;
                newest = i;
            }
        }
        const uint32_t wanted[] = {newest, second, hc_rng_below(&rng, KEYS)};
        for (unsigned n = 0; n < 3; n++) {
            if (wanted[n] == KEYS)
                continue;
            const struct delta *delta = &deltas[wanted[n]];
            const struct hc_sv_delta_entry *entry = hc_sv_deltas_find(&table, &delta->key);
            finds++;
            hits += entry != NULL;
            ck_assert_msg(n == 2 || entry != NULL, "round %u: %u is gone", round, wanted[n]);
            ck_assert(entry == NULL || (put[wanted[n]] && is_stored(delta)));
            if (entry != NULL)
                check_bits(entry, delta, round % 33);
        }
    }
    ck_assert_uint_gt(hits, 0);
    ck_assert_uint_lt(hits, finds);
}
END_TEST

START_TEST(the_table_is_filled_nearly_to_its_size_which_grows_with_the_units) {
    hc_sv_value_id value = 1;
    for (uint32_t units = 1; units <= 4; units *= 2) {
        uint32_t entries = EACH * units, found = 0;
        hc_sv_deltas_serve(&table, units);
        hc_sv_deltas_serve(&table, 1); // it does not shrink
        hc_sv_value_id end = value + 4 * entries;
        for (hc_sv_value_id at = value; at < end; at++) {
            struct hc_sv_delta_key key = {.base = at, .value = at + 1, .referee = 1, .unit = 3};
            hc_sv_deltas_put(&table, &key, (const uint8_t *)"", 1);
        }
        for (; value < end; value++) {
            struct hc_sv_delta_key key = {
                .base = value, .value = value + 1, .referee = 1, .unit = 3};
            found += hc_sv_deltas_find(&table, &key) != NULL;
        }
        ck_assert_uint_le(found, entries);
        ck_assert_uint_ge(found, entries * 3 / 4);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server deltas");
    TCase *tc = tcase_create("deltas");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, an_entry_is_found_as_it_was_put_and_the_newest_two_are_always_found);
    tcase_add_test(tc, the_table_is_filled_nearly_to_its_size_which_grows_with_the_units);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
