/// Game events are shown exactly once, however often their ticks are simulated, and the server's
/// list of what happened comes in the end.
#include "tests/scenario/scenario.h"

#include "hindcast/arena.h"
#include "proto/game_events.h"
#include "server/replication/listing.h"
#include "tests/run_suite.h"
#include "tests/sim/event_record.h"
#include "tests/sim/loud_arena.h"

#include <stdlib.h>

enum {
    CLIENTS = 6,
    EVENTS_MAX = 20000,
    SETTLED_S = 3,
    SHOUT_END = 300, ///< ticks
};

/// The events of the server and of each client.
struct seen {
    struct hc_server_game_event happened[EVENTS_MAX];
    uint32_t count;
    struct hc_event_record clients[CLIENTS];
    hc_tick begun[CLIENTS]; ///< the tick of the client's first snapshot; HC_NO_TICK: none yet
    bool own[EVENTS_MAX][CLIENTS]; ///< of those that happened: the client's player emits it
    uint32_t bits[EVENTS_MAX];     ///< bits that the event takes
    uint64_t left_out;             ///< by the server's count
};

static void host_ticked(void *context, struct hc_sim *sim) {
    struct seen *seen = context;
    struct hc_server_game_event event;
    while (hc_server_next_game_event(hc_sim_host(sim), &event)) {
        ck_assert_uint_lt(seen->count, EVENTS_MAX);
        ck_assert(seen->count == 0 || seen->happened[seen->count - 1].tick <= event.tick);
        ck_assert_uint_le(event.tick, hc_sv_host_final(hc_sim_host(sim), NULL));
        const struct hc_world *world = hc_server_world(hc_sim_host(sim));
        for (unsigned i = 0; i < CLIENTS; i++)
            seen->own[seen->count][i] =
                world->owner_of[event.entity] == hc_client_player(hc_sim_client(sim, i), 0);
        seen->bits[seen->count] = hc_game_events_bits(world, event.kind);
        seen->happened[seen->count++] = event;
    }
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct seen *seen = context;
    struct hc_client *core = hc_sim_client(sim, client);
    struct hc_client_game_event event;
    hc_tick shown, as_of;
    while (hc_client_next_game_event(core, hc_sim_client_now(sim, client), &event)) {
        const char *fault = hc_event_record_note(&seen->clients[client], &event, false);
        ck_assert_msg(fault == NULL, "client %u: event %u of entity %u at tick %u is %s", client,
                      event.kind, event.entity, event.tick, fault);
    }
    if (seen->begun[client] == HC_NO_TICK && hc_client_snapshot(core, &shown, &as_of))
        seen->begun[client] = shown;
}

/// A match over bad links. In the middle nothing comes from the last client for a while, and no
/// input is refused for that: the final tick stands still, and then leaps.
struct plan {
    uint32_t history;       ///< ticks
    uint16_t snapshot_rate; ///< Hz; 0: a snapshot at each tick
    unsigned seconds;
    unsigned silent_s; ///< less than the timeout
};

/// Sets the links of a client; `cut`: nothing passes.
static void set_links(struct scenario *scenario, unsigned client, bool cut) {
    struct hc_network_sim_config link = hc_sim_link(20 + 25 * client, cut ? 100 : 10);
    link.jitter_us = 20 * MS_US;
    hc_sim_set_link(scenario->sim, client, &link, &link);
}

/// Plays a match of `game`, then until all ticks are listed.
static struct seen *play(const struct hc_game *game, struct plan plan) {
    struct seen *seen = calloc(1, sizeof *seen);
    ck_assert_ptr_nonnull(seen);
    for (unsigned i = 0; i < CLIENTS; i++)
        seen->begun[i] = HC_NO_TICK;
    struct hc_sim_config config = hc_sim_config_players(game, CLIENTS, 40, 5);
    config.host.history = plan.history;
    config.host.snapshot_rate = plan.snapshot_rate;
    config.host.late_margin = plan.silent_s > 0 ? HC_HISTORY_MAX : config.host.late_margin;
    struct scenario *scenario = scenario_create(&config);
    hc_sim_observe(
        scenario->sim,
        &(struct hc_sim_hooks){.host_ticked = host_ticked, .client_changed = client_changed}, seen);
    for (unsigned i = 0; i < CLIENTS; i++)
        set_links(scenario, i, false);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, (uint64_t)plan.seconds * SECOND_US);
    set_links(scenario, CLIENTS - 1, plan.silent_s > 0);
    hc_sim_run(scenario->sim, (uint64_t)plan.silent_s * SECOND_US);
    set_links(scenario, CLIENTS - 1, false);
    hc_sim_release_keys(scenario->sim);
    hc_sim_run(scenario->sim, (uint64_t)SETTLED_S * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(hc_sim_client_state(scenario->sim, i), HC_CLIENT_PLAYING);
    seen->left_out = hc_server_stats(hc_sim_host(scenario->sim))->game_events_left_out;
    scenario_destroy(scenario);
    return seen;
}

static void end(struct seen *seen) {
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_event_record_free(&seen->clients[i]);
    free(seen);
}

/// Checks a client that sees everything: what happened, and nothing else, is confirmed or late. At
/// least `least` events happened.
static void check_all(const struct seen *seen, unsigned client, uint64_t least) {
    const struct hc_event_record *record = &seen->clients[client];
    uint64_t happened = 0;
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct hc_server_game_event *event = &seen->happened[i];
        uint8_t flags =
            hc_event_record_get(record, event->tick, event->entity, event->kind, event->number);
        if (event->tick <= seen->begun[client])
            continue;
        happened++;
        ck_assert_msg(flags == HC_EVENT_LATE || flags == (HC_EVENT_PREDICTED | HC_EVENT_CONFIRMED),
                      "client %u: event %u of entity %u at tick %u, which happened, has %u", client,
                      event->kind, event->entity, event->tick, flags);
    }
    ck_assert_uint_eq(record->confirmed + record->late, happened);
    ck_assert_uint_eq(record->confirmed + record->late + record->cancelled, record->shown);
    ck_assert_uint_ge(happened, least);
}

START_TEST(client_that_sees_everything_shows_each_event_once) {
    struct hc_game everywhere = hc_arena;
    everywhere.view = 0;
    struct seen *seen = play(&everywhere, (struct plan){.history = 64, .seconds = 10});
    uint64_t late = 0, cancelled = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        check_all(seen, i, 100);
        late += seen->clients[i].late;
        cancelled += seen->clients[i].cancelled;
    }
    // Unless some are predicted wrongly, and some not at all, this shows nothing.
    ck_assert_uint_gt(late, 20);
    ck_assert_uint_gt(cancelled, 20);
    end(seen);
}
END_TEST

START_TEST(events_arrive_with_rare_snapshots_and_without_rewinds) {
    struct hc_game everywhere = hc_arena;
    everywhere.view = 0;
    struct seen *seen = play(&everywhere, (struct plan){.snapshot_rate = 10, .seconds = 7});
    for (unsigned i = 0; i < CLIENTS; i++)
        check_all(seen, i, 20);
    end(seen);
}
END_TEST

START_TEST(events_arrive_after_the_final_tick_leaps_by_hundreds_of_ticks) {
    const struct plan plans[] = {{512, 0, 2, 7}, {512, 10, 2, 7}};
    struct hc_game everywhere = hc_arena;
    everywhere.view = 0;
    struct seen *seen = play(&everywhere, plans[_i]);
    uint32_t leapt = 0;
    for (uint32_t i = 0; i < seen->count; i++)
        leapt += seen->happened[i].tick > 150 && seen->happened[i].tick < 500;
    ck_assert_uint_gt(leapt, 50);
    for (unsigned i = 0; i < CLIENTS - 1; i++)
        check_all(seen, i, leapt);
    ck_assert_uint_eq(seen->left_out, 0);
    end(seen);
}
END_TEST

START_TEST(events_in_view_arrive_while_the_final_tick_is_at_the_end_of_the_history) {
    struct hc_game far = hc_arena; // its clients see everything, but have a view
    far.view = 1 << 28;
    struct seen *seen =
        play(&far, (struct plan){.history = 64, .snapshot_rate = 10, .seconds = 2, .silent_s = 7});
    uint32_t checked = 0;
    for (uint32_t k = 0; k < seen->count; k++) {
        const struct hc_server_game_event *event = &seen->happened[k];
        if (event->tick < 200) // some players joined out of sight
            continue;
        checked++;
        for (unsigned i = 0; i < CLIENTS - 1; i++) {
            uint8_t flags = hc_event_record_get(&seen->clients[i], event->tick, event->entity,
                                                event->kind, event->number);
            ck_assert((flags & (HC_EVENT_LATE | HC_EVENT_CONFIRMED)) != 0);
        }
    }
    ck_assert_uint_gt(checked, 50);
    ck_assert_uint_eq(seen->left_out, 0);
    end(seen);
}
END_TEST

/// Whether a client that saw everything learned in the end that an event happened. It has been told
/// of each event that it predicted.
static bool learned(const struct seen *seen, unsigned client, uint32_t i) {
    const struct hc_server_game_event *event = &seen->happened[i];
    uint8_t flags = hc_event_record_get(&seen->clients[client], event->tick, event->entity,
                                        event->kind, event->number);
    bool happened = flags == HC_EVENT_LATE || flags == (HC_EVENT_PREDICTED | HC_EVENT_CONFIRMED);
    ck_assert(happened || flags == 0 || flags == (HC_EVENT_PREDICTED | HC_EVENT_CANCELLED));
    return happened;
}

/// Checks the events from `first` on of one tick: the client has all of its own and of the others
/// as many as fit. Adds the number of the rest to `*left_out`; returns the end of the tick.
static uint32_t check_tick(const struct seen *seen, unsigned client, uint32_t first,
                           uint64_t *left_out) {
    uint32_t bits = 0, least = UINT32_MAX, i = first;
    for (; i < seen->count && seen->happened[i].tick == seen->happened[first].tick; i++) {
        if (learned(seen, client, i)) {
            bits += seen->bits[i];
            continue;
        }
        ck_assert(!seen->own[i][client]);
        least = seen->bits[i] < least ? seen->bits[i] : least;
        ++*left_out;
    }
    ck_assert_uint_le(bits, HC_SV_LISTING_BITS);
    ck_assert(least == UINT32_MAX || bits + least > HC_SV_LISTING_BITS);
    return i;
}

START_TEST(events_beyond_the_limit_of_a_tick_are_left_out_and_own_ones_are_not) {
    struct hc_loud_arena loud;
    uint64_t left_out = 0;
    hc_loud_arena_init(&loud, SHOUT_END);
    struct seen *seen = play(&loud.game, (struct plan){.history = 64, .seconds = 5});
    for (unsigned client = 0; client < CLIENTS; client++)
        for (uint32_t i = 0; i < seen->count;)
            if (seen->happened[i].tick <= seen->begun[client])
                i++;
            else
                i = check_tick(seen, client, i, &left_out);
    // Each client lacks some of the shouts of others, at each of these ticks.
    ck_assert_uint_ge(left_out, CLIENTS * SHOUT_END / HC_LOUD_EVERY * HC_LOUD_SHOUTS);
    ck_assert_uint_eq(seen->left_out, left_out); // each once, however often its tick is sent
    end(seen);
}
END_TEST

START_TEST(client_with_a_view_shows_its_own_events_and_none_that_did_not_happen) {
    struct seen *seen = play(&hc_arena, (struct plan){.history = 64, .seconds = 8});
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct hc_event_record *record = &seen->clients[i];
        uint64_t matched = 0;
        for (uint32_t k = 0; k < seen->count; k++) {
            const struct hc_server_game_event *event = &seen->happened[k];
            uint8_t flags =
                hc_event_record_get(record, event->tick, event->entity, event->kind, event->number);
            matched += (flags & (HC_EVENT_LATE | HC_EVENT_CONFIRMED)) != 0;
        }
        ck_assert_uint_eq(matched, record->confirmed + record->late);
        ck_assert_uint_eq(matched + record->cancelled, record->shown);
        ck_assert_uint_gt(record->confirmed, 10);
    }
    end(seen);
}
END_TEST

// ---- Delivery -----------------------------------------------------------------------------------

enum { WATCHERS = 3, FRAME_US = 6944, FRAMES = 1400, LATENCY_MS = 75, DELIVERED_MIN = 30 };

/// The events that a client's timeline had at the frame before, and those that it delivered.
struct watched {
    struct hc_event_record known;
    hc_tick own, others; ///< The players were shown at these ticks in the frame before.
    /// Events of others that were delivered, and ticks: from theirs to the one that was shown next,
    /// and from theirs to the head.
    uint64_t of_others, distance, behind;
    uint64_t own_shots, own_at_head; ///< Own shots, and those delivered at the head's tick.
};

static hc_tick shown_tick(const struct hc_client *core, uint64_t now_us, hc_entity entity) {
    hc_tick tick;
    uint32_t fraction;
    ck_assert(hc_client_show_tick_of(core, now_us, entity, &tick, &fraction));
    return tick;
}

static void watch_event(struct watched *watched, const struct hc_client *core, uint64_t now_us,
                        const struct hc_client_game_event *event) {
    const struct hc_world *world = hc_client_world(core);
    hc_tick now = shown_tick(core, now_us, event->entity);
    hc_tick head = hc_timeline_head(hc_client_timeline(core));
    bool own = world->owner_of[event->entity] == hc_client_player(core, 0);
    bool first = event->tick > (own ? watched->own : watched->others) + 1;
    bool known = hc_event_record_get(&watched->known, event->tick, event->entity, event->kind,
                                     event->number) != 0;
    ck_assert_uint_le(event->tick, now + 1); // never before it is shown
    // Of the events that were predicted before, none is delivered in a later frame.
    ck_assert(first || !known || event->state == HC_CLIENT_GAME_EVENT_LATE);
    watched->of_others += !own;
    watched->distance += own ? 0 : now + 1 - event->tick;
    watched->behind += own ? 0 : head - event->tick;
    watched->own_shots += own && event->kind == HC_ARENA_EVENT_SHOT;
    watched->own_at_head += own && event->kind == HC_ARENA_EVENT_SHOT && event->tick == head;
}

static void note_known(struct watched *watched, const struct hc_client *core) {
    const struct hc_timeline *timeline = hc_client_timeline(core);
    uint32_t entities = hc_client_world(core)->entities, count;
    for (hc_tick t = hc_timeline_oldest(timeline); t <= hc_timeline_head(timeline); t++)
        for (uint32_t e = 0; e < entities; e++) {
            const hc_game_event *events = hc_timeline_events(timeline, t, (hc_entity)e, &count);
            for (uint32_t i = 0; i < count; i++)
                ck_assert(hc_event_record_add(&watched->known, t, (hc_entity)e,
                                              (uint8_t)hc_game_event_kind(events[i]),
                                              hc_game_event_number(events[i]), HC_EVENT_HAPPENED));
        }
}

/// A frame of a client.
static void watch(struct watched *watched, struct hc_sim *sim, unsigned client, bool counts) {
    struct hc_client *core = hc_sim_client(sim, client);
    struct hc_client_game_event event;
    uint64_t now_us = hc_sim_client_now(sim, client);
    const struct hc_world *world = hc_client_world(core);
    hc_player own = hc_client_player(core, 0);
    while (hc_client_next_game_event(core, now_us, &event))
        if (counts && event.state <= HC_CLIENT_GAME_EVENT_LATE)
            watch_event(watched, core, now_us, &event);
    note_known(watched, core);
    watched->own = shown_tick(core, now_us, hc_world_player(world, own));
    watched->others =
        shown_tick(core, now_us, hc_world_player(world, (hc_player)((own + 1) % WATCHERS)));
}

/// Plays frame by frame, over a round trip of 150 ms.
static void watch_all(struct watched watched[WATCHERS], enum hc_others others, uint32_t offset) {
    struct hc_game everywhere = hc_arena;
    everywhere.view = 0;
    struct hc_sim_config config = hc_sim_config_players(&everywhere, WATCHERS, 60, 9);
    config.host.history = 64;
    config.client.others = others;
    config.client.display_offset = offset;
    config.up.latency_us = config.down.latency_us = LATENCY_MS * MS_US;
    struct scenario *scenario = scenario_create(&config);
    ck_assert(hc_sim_join_all(scenario->sim));
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    for (unsigned f = 0; f < FRAMES; f++) {
        hc_sim_run(scenario->sim, FRAME_US);
        for (unsigned i = 0; i < WATCHERS; i++)
            watch(&watched[i], scenario->sim, i, f > 0);
    }
    for (unsigned i = 0; i < WATCHERS; i++)
        hc_event_record_free(&watched[i].known);
    scenario_destroy(scenario);
}

START_TEST(events_are_delivered_in_the_first_frame_that_shows_their_tick) {
    struct watched watched[WATCHERS] = {{.own = 0}};
    watch_all(watched, HC_OTHERS_AS_RECEIVED, 0);
    for (unsigned i = 0; i < WATCHERS; i++) {
        ck_assert_uint_gt(watched[i].of_others, DELIVERED_MIN);
        ck_assert_uint_eq(watched[i].distance, 0);
        ck_assert_uint_gt(watched[i].behind, 5 * watched[i].of_others); // they are seen in the past
        ck_assert_uint_gt(watched[i].own_shots, 10);
        ck_assert_uint_eq(watched[i].own_at_head, watched[i].own_shots);
    }
}
END_TEST

START_TEST(events_of_predicted_others_are_delivered_when_they_are_predicted) {
    struct watched watched[WATCHERS] = {{.own = 0}};
    watch_all(watched, HC_OTHERS_PREDICTED, 0);
    for (unsigned i = 0; i < WATCHERS; i++) {
        ck_assert_uint_eq(watched[i].behind, watched[i].distance); // the head is on the way
        ck_assert_uint_gt(watched[i].own_shots, 10);
        ck_assert_uint_eq(watched[i].own_at_head, watched[i].own_shots);
    }
}
END_TEST

START_TEST(own_events_wait_for_the_display_offset) {
    struct watched watched[WATCHERS] = {{.own = 0}};
    watch_all(watched, HC_OTHERS_PREDICTED, 4);
    for (unsigned i = 0; i < WATCHERS; i++) {
        ck_assert_uint_gt(watched[i].own_shots, 10);
        ck_assert_uint_eq(watched[i].own_at_head, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("game events");
    TCase *tests = tcase_create("game events");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, client_that_sees_everything_shows_each_event_once);
    tcase_add_test(tests, events_arrive_with_rare_snapshots_and_without_rewinds);
    tcase_add_loop_test(tests, events_arrive_after_the_final_tick_leaps_by_hundreds_of_ticks, 0, 2);
    tcase_add_test(tests, events_in_view_arrive_while_the_final_tick_is_at_the_end_of_the_history);
    tcase_add_test(tests, events_beyond_the_limit_of_a_tick_are_left_out_and_own_ones_are_not);
    tcase_add_test(tests, client_with_a_view_shows_its_own_events_and_none_that_did_not_happen);
    tcase_add_test(tests, events_are_delivered_in_the_first_frame_that_shows_their_tick);
    tcase_add_test(tests, events_of_predicted_others_are_delivered_when_they_are_predicted);
    tcase_add_test(tests, own_events_wait_for_the_display_offset);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
