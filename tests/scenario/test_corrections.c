/// With a sufficient display offset a client shows the server's final states, to the byte.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 6, SLOWEST = CLIENTS - 1, WATCHER = 0 };

/// One-way latency of each client, in ms.
static const uint32_t latency_ms[CLIENTS] = {50, 20, 80, 100, 33, 150};

/// The states that the watcher has shown, by tick.
struct drawn {
    const struct scenario *scenario;
    size_t row;
    uint8_t *rows; ///< [SCENARIO_TICKS_MAX] presence and states of all entities
    hc_tick first, end;
};

/// Fails the test unless the shown fields are those of the shown tick or on the way to the next.
static void check_fields(const struct scenario *scenario, hc_entity entity, hc_tick tick,
                         uint32_t fraction) {
    const struct hc_world *world = record_world(scenario->record);
    const struct hc_client *core = hc_sim_client(scenario->sim, WATCHER);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    const struct hc_kind *kind = hc_world_kind(world, entity);
    const uint8_t *now = hc_timeline_states(timeline, tick) + (size_t)entity * world->stride;
    struct hc_client_shown shown;
    bool visible = hc_client_show(core, hc_sim_client_now(scenario->sim, WATCHER), entity, &shown);
    REQUIRE(visible == (hc_timeline_presence(timeline, tick)[entity] == HC_ALIVE),
            "entity %u at %u is %s", entity, tick, visible ? "visible" : "not visible");
    for (unsigned f = 0; visible && f < kind->field_count; f++) {
        const struct hc_field *field = &kind->fields[f];
        double value = (double)hc_field_get(field, now);
        double drawn = hc_client_shown_value(&shown, kind->state_size, field->offset);
        if (field->interpolate == HC_HOLD || fraction == 0)
            REQUIRE(drawn == value, "entity %u, %s at %u: %g is shown, not %g", entity, field->name,
                    tick, drawn, value);
    }
}

static void draw(void *context, struct hc_sim *sim, unsigned client) {
    struct drawn *drawn = context;
    const struct scenario *scenario = drawn->scenario;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_world *world = record_world(scenario->record);
    hc_tick tick;
    uint32_t fraction;
    if (client != WATCHER ||
        !hc_client_show_tick(core, hc_sim_client_now(sim, client), &tick, &fraction))
        return;
    const struct hc_timeline *timeline = hc_client_timeline(core);
    REQUIRE(tick >= hc_timeline_oldest(timeline) && tick <= hc_timeline_head(timeline),
            "the shown tick %u is not in the ring", tick);
    for (uint32_t e = 0; e < world->entities; e++)
        check_fields(scenario, (hc_entity)e, tick, fraction);
    if (drawn->first != HC_NO_TICK && tick < drawn->end)
        return;
    if (drawn->first == HC_NO_TICK)
        drawn->first = tick;
    else
        ck_assert_uint_eq(tick, drawn->end);
    drawn->end = tick + 1;
    uint8_t *row = drawn->rows + tick * drawn->row;
    memcpy(row, hc_timeline_presence(timeline, tick), world->entities);
    memcpy(row + world->entities, hc_timeline_states(timeline, tick),
           (size_t)world->entities * world->stride);
}

/// Plays 20 s and counts the shown ticks that differ from the server's final states.
static uint32_t count_wrong(uint32_t display_offset, uint32_t input_delay, uint64_t seed,
                            uint32_t *ticks, uint64_t *corrections) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 0, seed);
    hc_sim_fix_delays(&config.client, input_delay, 0);
    config.client.smoothing_us = 0;
    struct scenario *scenario = scenario_create(&config);
    const struct hc_world *world = record_world(scenario->record);
    struct drawn drawn = {.scenario = scenario,
                          .row = (size_t)world->entities * (world->stride + 1u),
                          .first = HC_NO_TICK};
    drawn.rows = calloc(SCENARIO_TICKS_MAX, drawn.row);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_network_sim_config link = hc_sim_link(latency_ms[i], 0);
        hc_sim_set_link(scenario->sim, i, &link, &link);
    }
    hc_sim_setup(scenario->sim, WATCHER)->config.display_offset = display_offset;
    ck_assert(hc_sim_join_all(scenario->sim));
    // The first ticks are older than any correction.
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    hc_sim_observe(scenario->sim, &(struct hc_sim_hooks){.client_changed = draw}, &drawn);
    hc_sim_run(scenario->sim, 20 * SECOND_US);
    uint32_t wrong = 0;
    ck_assert_uint_gt(drawn.end - drawn.first, 19 * 60);
    *ticks = 0;
    for (hc_tick tick = drawn.first; tick < drawn.end; tick++) {
        if (tick > record_final(scenario->record))
            break;
        const uint8_t *row = drawn.rows + tick * drawn.row;
        ++*ticks;
        wrong += memcmp(row, record_presence(scenario->record, tick), world->entities) != 0 ||
                 memcmp(row + world->entities, record_states(scenario->record, tick),
                        (size_t)world->entities * world->stride) != 0;
    }
    *corrections = hc_client_stats(hc_sim_client(scenario->sim, WATCHER))->corrections;
    scenario_check_hashes(scenario);
    free(drawn.rows);
    scenario_destroy(scenario);
    return wrong;
}

/// A latency in ticks of 60 Hz, rounded up.
static uint32_t ticks_of(uint32_t ms) {
    return (ms * 60 + 999) / 1000;
}

START_TEST(a_sufficient_display_offset_shows_only_final_states) {
    for (uint32_t delay = 0; delay <= 6; delay += 3) {
        uint32_t offset = ticks_of(latency_ms[SLOWEST]) + ticks_of(latency_ms[WATCHER]) - delay + 2;
        uint32_t ticks;
        uint64_t corrections;
        uint32_t wrong = count_wrong(offset, delay, 31 + delay, &ticks, &corrections);
        printf("D %u, display offset %u: %u of %u ticks drawn wrong, %lu corrections\n", delay,
               offset, wrong, ticks, (unsigned long)corrections);
        ck_assert_uint_gt(ticks, 18 * 60);
        ck_assert_uint_gt(corrections, 0);
        ck_assert_uint_eq(wrong, 0);
    }
}
END_TEST

START_TEST(no_display_offset_shows_wrong_predictions) {
    uint32_t ticks;
    uint64_t corrections;
    uint32_t wrong = count_wrong(0, 0, 31, &ticks, &corrections);
    printf("D 0, display offset 0: %u of %u ticks drawn wrong\n", wrong, ticks);
    ck_assert_uint_gt(wrong * 10, ticks);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("corrections");
    TCase *tests = tcase_create("corrections");
    tcase_add_test(tests, no_display_offset_shows_wrong_predictions);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, a_sufficient_display_offset_shows_only_final_states);
    return run_suite(suite);
}
