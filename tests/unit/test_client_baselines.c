/// Compares the baselines of a client with a plain list of every value put.
#include "client/world/baselines.h"
#include "hindcast/rng.h"
#include "tests/unit/small_game.h"
#include "tests/run_suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLAYERS = 6, SNAPSHOTS = 400, VALUES = 24, LIVES = 25, GETS = 40, BYTES_MAX = 256 };

static struct hc_world world;
static struct hc_cl_baselines baselines;
static uint8_t *memory;

/// Room for `capacity` values, in memory that only clear prepares.
static void open_room(uint32_t capacity) {
    size_t bytes = hc_cl_baselines_layout(&baselines, &world, capacity, NULL);
    memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    ck_assert_uint_eq(hc_cl_baselines_layout(&baselines, &world, capacity, memory), bytes);
    hc_cl_baselines_clear(&baselines);
}

static void set_up(void) {
    ck_assert_int_eq(hc_world_init(&world, &small_game, PLAYERS, 60, 1, NULL), HC_OK);
    ck_assert_uint_le(hc_unit_bytes(&world), BYTES_MAX);
}

static void tear_down(void) {
    free(memory);
    hc_world_free(&world);
}

/// A value that depends on its arguments alone, in a buffer of its own.
static const struct hc_unit_value *value_of(hc_unit unit, hc_tick tick, uint32_t salt) {
    static uint8_t buffer[BYTES_MAX];
    static struct hc_unit_value value;
    memset(&value, 0, sizeof value);
    memset(buffer, 0, sizeof buffer);
    struct hc_rng rng = hc_rng_init(salt, unit);
    value.tick = tick;
    value.known = hc_rng_below(&rng, 3) == 0 ? HC_NO_TICK : hc_rng_below(&rng, 100);
    value.input[0] = (uint8_t)hc_rng_next(&rng);
    value.input[1] = (uint8_t)hc_rng_next(&rng);
    hc_unit_place(&world, &value, buffer);
    for (uint32_t i = 0; i < hc_unit_count(&world, unit); i++) {
        value.presence[i] = (uint8_t)hc_rng_below(&rng, 3);
        uint32_t size =
            hc_world_kind(&world, (hc_entity)(hc_unit_first(&world, unit) + i))->state_size;
        for (uint32_t b = 0; value.presence[i] == HC_ALIVE && b < size; b++)
            value.states[i * world.stride + b] = (uint8_t)hc_rng_next(&rng);
    }
    return &value;
}

/// Whether the baseline of (as_of, unit, tick) is the value of `salt`.
static bool holds(hc_tick as_of, hc_unit unit, hc_tick tick, uint32_t salt) {
    struct hc_unit_value got;
    const struct hc_unit_value *put = value_of(unit, tick, salt);
    uint32_t count = hc_unit_count(&world, unit);
    return hc_cl_baselines_get(&baselines, as_of, unit, tick, &got) && got.tick == tick &&
           got.known == put->known && memcmp(got.input, put->input, HC_INPUT_MAX) == 0 &&
           memcmp(got.presence, put->presence, count) == 0 &&
           memcmp(got.states, put->states, (size_t)count * world.stride) == 0;
}

static bool has(hc_tick as_of, hc_unit unit, hc_tick tick) {
    struct hc_unit_value got;
    return hc_cl_baselines_get(&baselines, as_of, unit, tick, &got);
}

static void put(hc_tick as_of, hc_unit unit, hc_tick tick, uint32_t salt) {
    hc_cl_baselines_put(&baselines, as_of, unit, value_of(unit, tick, salt));
}

static uint32_t base_alone; ///< how often a value was here only because of its base

/// The plain model: every snapshot ever begun, with all its values.
static struct {
    hc_tick as_of, tick;
    uint32_t count, salt; ///< the n-th value is of salt + n, which is its number too
    hc_unit units[VALUES];
    hc_tick ticks[VALUES];
} snapshots[SNAPSHOTS];
static uint32_t snapshot_count;
static uint32_t base;  ///< the newest base of the server among them; SNAPSHOTS: none
static uint32_t moved; ///< the newest base that would have been dropped otherwise, or that a much
                       ///< newer one replaced

static hc_tick model_newest(void) {
    hc_tick newest = HC_NO_TICK;
    for (uint32_t s = 0; s < snapshot_count; s++)
        if (newest == HC_NO_TICK || newest < snapshots[s].as_of)
            newest = snapshots[s].as_of;
    return newest;
}

/// The model's snapshot of `as_of`, if it is recent enough; SNAPSHOTS: none.
static uint32_t model_find(hc_tick as_of) {
    for (uint32_t s = 0; s < snapshot_count; s++)
        if (snapshots[s].as_of == as_of && as_of + HC_SNAPSHOT_BASELINE_TICKS > model_newest())
            return s;
    return SNAPSHOTS;
}

/// Whether a value of the model's snapshot `s` has left a ring of `capacity`.
static bool is_gone(uint32_t s, uint32_t capacity, uint32_t put_count) {
    return snapshots[s].count > 0 && snapshots[s].salt + capacity < put_count;
}

static bool is_moved(hc_tick as_of) {
    return moved < SNAPSHOTS && snapshots[moved].as_of == as_of;
}

/// Whether the units of the snapshot of `as_of` are those of the model, or missing if the snapshot
/// or some of it is.
static bool units_are_right(hc_tick as_of, uint32_t capacity, uint32_t put_count) {
    hc_unit units[VALUES];
    uint32_t count = 0, n = 0, found = is_moved(as_of) ? moved : model_find(as_of);
    bool here = hc_cl_baselines_units(&baselines, as_of, units, VALUES, &count);
    if (found == SNAPSHOTS || (!is_moved(as_of) && is_gone(found, capacity, put_count)))
        return !here;
    for (uint32_t i = 0; i < snapshots[found].count; i++)
        if (snapshots[found].ticks[i] == snapshots[found].tick &&
            (n >= count || units[n++] != snapshots[found].units[i]))
            return false;
    return here && n == count;
}

/// The salt of the baseline that must be here for (as_of, unit, tick); UINT32_MAX: none.
static uint32_t model_get(hc_tick as_of, hc_unit unit, hc_tick tick, uint32_t capacity,
                          uint32_t put_count) {
    uint32_t found = is_moved(as_of) ? moved : model_find(as_of), salt = UINT32_MAX;
    for (uint32_t i = 0; found < SNAPSHOTS && i < snapshots[found].count; i++) {
        bool in_ring =
            snapshots[found].salt + i + capacity >= put_count && model_find(as_of) == found;
        bool beside = found == moved && snapshots[found].ticks[i] == snapshots[found].tick;
        if (snapshots[found].units[i] == unit && snapshots[found].ticks[i] == tick &&
            (in_ring || beside))
            salt = snapshots[found].salt + i;
    }
    return salt;
}

/// Gets a value that was put, or one near it; true: it is here.
static bool check_get(struct hc_rng *rng, uint32_t capacity, uint32_t put_count, uint32_t life) {
    uint32_t s = snapshot_count - 1 - hc_rng_below(rng, snapshot_count < 90 ? snapshot_count : 90);
    uint32_t n = hc_rng_below(rng, VALUES);
    if (moved < SNAPSHOTS && hc_rng_below(rng, 8) == 0)
        s = moved;
    bool off = hc_rng_below(rng, 8) == 0;
    hc_tick as_of = snapshots[s].as_of + (off ? hc_rng_below(rng, 3) : 0);
    hc_unit unit = snapshots[s].units[n];
    hc_tick tick = snapshots[s].ticks[n] + (hc_rng_below(rng, 8) == 0);
    uint32_t found = is_moved(as_of) ? moved : model_find(as_of);
    uint32_t salt = model_get(as_of, unit, tick, capacity, put_count);
    hc_tick shown = found < SNAPSHOTS ? snapshots[found].tick : HC_NO_TICK;
    bool right = salt == UINT32_MAX ? !has(as_of, unit, tick) : holds(as_of, unit, tick, salt);
    right &= units_are_right(as_of, capacity, put_count);
    base_alone += salt != UINT32_MAX && is_moved(as_of) &&
                  (model_find(as_of) == SNAPSHOTS || salt + capacity < put_count);
    if (!right || hc_cl_baselines_tick(&baselines, as_of) != shown)
        ck_abort_msg("life %u, %u snapshots: as_of %u, unit %u, tick %u", life, snapshot_count,
                     as_of, unit, tick);
    return salt != UINT32_MAX;
}

/// The server calls a snapshot its newest base, which is not always here or newer.
static void refer(struct hc_rng *rng, uint32_t capacity, uint32_t put_count) {
    uint32_t s = snapshot_count - 1 - hc_rng_below(rng, snapshot_count < 40 ? snapshot_count : 40);
    hc_tick as_of = snapshots[s].as_of;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < snapshots[s].count; i++)
        shown += snapshots[s].ticks[i] == snapshots[s].tick;
    hc_cl_baselines_refer(&baselines, as_of);
    if (model_find(as_of) == s && !is_gone(s, capacity, put_count) &&
        shown <= hc_unit_total(&world) && (base == SNAPSHOTS || as_of > snapshots[base].as_of)) {
        if (base < SNAPSHOTS && as_of - snapshots[base].as_of >= HC_SNAPSHOT_BASELINE_TICKS / 2)
            moved = base;
        base = s;
    }
}

/// Puts a snapshot of a server tick near `head`; returns `put_count` plus its values.
static uint32_t put_snapshot(struct hc_rng *rng, hc_tick head, uint32_t put_count, uint32_t life) {
    hc_tick as_of = head;
    if (hc_rng_below(rng, 4) == 0) // overtaken, or far too old
        as_of = hc_tick_back(head, hc_rng_below(rng, 2 * HC_SNAPSHOT_BASELINE_TICKS));
    hc_tick newest = model_newest();
    bool old = newest != HC_NO_TICK && as_of + HC_SNAPSHOT_BASELINE_TICKS <= newest;
    bool fresh = !old && model_find(as_of) == SNAPSHOTS;
    hc_tick shown = hc_tick_back(as_of, hc_rng_below(rng, 3));
    if (hc_cl_baselines_begin(&baselines, as_of, shown) != fresh)
        ck_abort_msg("life %u, %u snapshots: as_of %u must begin", life, snapshot_count, as_of);
    if (!fresh)
        return put_count;
    uint32_t s = snapshot_count++;
    snapshots[s].as_of = as_of;
    snapshots[s].tick = shown;
    snapshots[s].salt = put_count;
    snapshots[s].count = hc_rng_below(rng, VALUES + 1);
    uint32_t ascending = hc_rng_below(rng, hc_unit_total(&world) + 1);
    for (uint32_t i = 0; i < VALUES; i++) {
        snapshots[s].units[i] = (hc_unit)hc_rng_below(rng, hc_unit_total(&world));
        snapshots[s].ticks[i] = hc_tick_back(as_of, hc_rng_below(rng, 6));
        if (i < ascending) { // as a server sends them
            snapshots[s].units[i] = (hc_unit)i;
            snapshots[s].ticks[i] = shown;
        }
        if (i < snapshots[s].count)
            put(as_of, snapshots[s].units[i], snapshots[s].ticks[i], put_count + i);
    }
    put_count += snapshots[s].count;
    return put_count;
}

START_TEST(baselines_equal_a_plain_list_of_recent_values) {
    uint32_t found = 0, missed = 0;
    base_alone = 0;
    for (uint32_t life = 0; life < LIVES; life++) {
        struct hc_rng rng = hc_rng_init(61, life);
        // From rings that one snapshot overruns to rings with room for everything.
        uint32_t capacity = 1 + hc_rng_below(&rng, life % 3 == 0 ? 20 : 3000), put_count = 0;
        hc_tick head = hc_rng_below(&rng, 3) * 1000;
        open_room(capacity);
        snapshot_count = 0;
        base = moved = SNAPSHOTS;
        for (uint32_t step = 0; step < SNAPSHOTS; step++) {
            head += hc_rng_below(&rng, 60) == 0 ? hc_rng_below(&rng, 300) : hc_rng_below(&rng, 4);
            if (snapshot_count > 0 && hc_rng_below(&rng, 1 + life % 60) == 0)
                refer(&rng, capacity, put_count);
            put_count = put_snapshot(&rng, head, put_count, life);
            if (base < SNAPSHOTS && (model_find(snapshots[base].as_of) == SNAPSHOTS ||
                                     is_gone(base, capacity, put_count)))
                moved = base;
            for (uint32_t i = 0; i < GETS && snapshot_count > 0; i++) {
                bool here = check_get(&rng, capacity, put_count, life);
                found += here;
                missed += !here;
            }
        }
        free(memory);
        memory = NULL;
    }
    ck_assert_uint_gt(found, 10000);
    ck_assert_uint_gt(missed, 10000);
    ck_assert_uint_gt(base_alone, 500);
}
END_TEST

START_TEST(values_of_the_base_stay_until_a_newer_base_must_stay) {
    hc_unit units[VALUES];
    uint32_t count;
    open_room(10);
    ck_assert(hc_cl_baselines_begin(&baselines, 50, 49));
    put(50, 1, 49, 1);
    put(50, 3, 49, 3);
    put(50, 1, 48, 2);                     // a correction
    hc_cl_baselines_refer(&baselines, 49); // not here
    hc_cl_baselines_refer(&baselines, 50);
    for (uint32_t i = 1; i <= 2 * HC_SNAPSHOT_BASELINE_TICKS; i++) {
        ck_assert(hc_cl_baselines_begin(&baselines, 50 + i, 50 + i));
        put(50 + i, 1, 50 + i, 100 + i);
        ck_assert(holds(50, 1, 49, 1) && holds(50, 3, 49, 3) && !has(50, 2, 49));
        ck_assert(hc_cl_baselines_units(&baselines, 50, units, VALUES, &count));
        ck_assert(count == 2 && units[0] == 1 && units[1] == 3);
        ck_assert_uint_eq(hc_cl_baselines_tick(&baselines, 50), 49);
    }
    ck_assert(!has(50, 1, 48));
    hc_tick newer = 50 + 2 * HC_SNAPSHOT_BASELINE_TICKS; // an overtaken snapshot may refer to 50
    hc_cl_baselines_refer(&baselines, newer);
    for (uint32_t i = 1; i <= 2 * HC_SNAPSHOT_BASELINE_TICKS; i++) {
        ck_assert_int_eq(has(50, 1, 49), i <= HC_SNAPSHOT_BASELINE_TICKS);
        ck_assert(hc_cl_baselines_begin(&baselines, newer + i, newer + i));
        ck_assert(holds(newer, 1, newer, 100 + newer - 50));
    }
    ck_assert(!has(50, 1, 49) && !hc_cl_baselines_units(&baselines, 50, units, VALUES, &count));
    ck_assert_uint_eq(hc_cl_baselines_tick(&baselines, 50), HC_NO_TICK);
    hc_cl_baselines_clear(&baselines);
    ck_assert(!has(newer, 1, newer));
}
END_TEST

START_TEST(snapshot_stays_for_as_many_ticks_as_there_are_rows) {
    const hc_tick last = HC_NO_TICK - 1; // the last of all ticks
    open_room(100);
    ck_assert(!hc_cl_baselines_begin(&baselines, HC_NO_TICK, 7));
    ck_assert(!has(HC_NO_TICK, 1, 0));
    ck_assert(hc_cl_baselines_begin(&baselines, last - HC_SNAPSHOT_BASELINE_TICKS, 7));
    put(last - HC_SNAPSHOT_BASELINE_TICKS, 1, 7, 1);
    ck_assert(hc_cl_baselines_begin(&baselines, last - 1, 7));
    ck_assert(holds(last - HC_SNAPSHOT_BASELINE_TICKS, 1, 7, 1));
    ck_assert(!hc_cl_baselines_begin(&baselines, last - 1, 7)); // it is here
    ck_assert(!hc_cl_baselines_begin(&baselines, last - 1 - HC_SNAPSHOT_BASELINE_TICKS, 7));
    ck_assert(hc_cl_baselines_begin(&baselines, last, 7));
    ck_assert(!has(last - HC_SNAPSHOT_BASELINE_TICKS, 1, 7));
    ck_assert(!hc_cl_baselines_begin(&baselines, last - HC_SNAPSHOT_BASELINE_TICKS, 7));
    hc_cl_baselines_clear(&baselines);
    ck_assert(hc_cl_baselines_begin(&baselines, 0, 7));
    ck_assert_uint_eq(hc_cl_baselines_tick(&baselines, 0), 7); // without values, too
}
END_TEST

int main(void) {
    Suite *suite = suite_create("client baselines");
    TCase *tc = tcase_create("baselines");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, baselines_equal_a_plain_list_of_recent_values);
    tcase_add_test(tc, values_of_the_base_stay_until_a_newer_base_must_stay);
    tcase_add_test(tc, snapshot_stays_for_as_many_ticks_as_there_are_rows);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
