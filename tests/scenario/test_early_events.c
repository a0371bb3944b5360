/// Game events of others wait for no slow player: they come with the state that shows them, and the
/// final list confirms or cancels each of them once.
#include "tests/scenario/scenario.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "server/state.h"
#include "tests/run_suite.h"
#include "tests/sim/event_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLIENTS = 16,
    LAGGARD = CLIENTS - 1,
    GOOD_MS = 40,
    LAGGARD_MS = 400,
    LAGGARD_LOSS = 20, ///< percent
    PLAYED_S = 9,
    SETTLED_S = 3,
    TIMEOUT_S = 3,
    EVENTS_MAX = 20000,
    BEHIND_MAX = 64, ///< ticks from an event to its delivery that are told apart
};

/// The events of the server, and of each client as its game was told them.
struct match {
    struct hc_server_game_event happened[EVENTS_MAX];
    uint32_t count;
    struct hc_event_record record; ///< of these
    struct hc_event_record clients[CLIENTS];
    hc_tick begun[CLIENTS]; ///< the tick of the connection's first snapshot; HC_NO_TICK: none
    bool lost[CLIENTS];     ///< The client has lost a connection.
    uint32_t
        behind[BEHIND_MAX + 1];    ///< deliveries to good clients by the ticks of the server since
                                   ///< their event, of events of other good ones that happened
    uint64_t deliveries, waited;   ///< the sum of `behind`, and of its ticks
    uint64_t before_final;         ///< of the deliveries, those before the tick was final
    uint64_t cancelled, delivered; ///< of good clients, events of all others
    uint64_t final_only, bytes;    ///< events of such kinds told; bytes sent to all clients
};

static void host_ticked(void *context, struct hc_sim *sim) {
    struct match *match = context;
    struct hc_server_game_event event;
    while (hc_server_next_game_event(hc_sim_host(sim), &event)) {
        ck_assert_uint_lt(match->count, EVENTS_MAX);
        ck_assert(hc_event_record_add(&match->record, event.tick, event.entity, event.kind,
                                      event.number, HC_EVENT_HAPPENED));
        match->happened[match->count++] = event;
    }
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    (void)sim, (void)client, (void)bytes;
    ((struct match *)context)->bytes += size;
}

/// Notes a delivery of an event of another good player to a good client.
static void note_delivery(struct match *match, struct hc_sim *sim, unsigned client,
                          const struct hc_client_game_event *event) {
    struct hc_server *host = hc_sim_host(sim);
    const struct hc_world *world = hc_server_world(host);
    hc_player owner = world->owner_of[event->entity];
    hc_player own = hc_client_player(hc_sim_client(sim, client), 0);
    hc_player laggard = hc_client_player(hc_sim_client(sim, LAGGARD), 0);
    hc_tick head = hc_timeline_head(host->timeline);
    if (client == LAGGARD || owner == HC_NO_PLAYER || owner == own || owner == laggard)
        return;
    if (event->state == HC_CLIENT_GAME_EVENT_CANCELLED)
        match->cancelled++;
    if (event->state > HC_CLIENT_GAME_EVENT_LATE)
        return;
    hc_tick behind = head > event->tick ? head - event->tick : 0;
    match->delivered++;
    match->before_final += event->tick > hc_sv_host_final(host, NULL);
    match->behind[behind < BEHIND_MAX ? behind : BEHIND_MAX]++;
    match->deliveries++;
    match->waited += behind;
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct match *match = context;
    struct hc_client *core = hc_sim_client(sim, client);
    struct hc_client_game_event event;
    hc_tick shown, as_of;
    while (hc_client_next_game_event(core, hc_sim_client_now(sim, client), &event)) {
        const char *fault = hc_event_record_note(&match->clients[client], &event,
                                                 hc_client_stats(core)->losses > 0);
        ck_assert_msg(fault == NULL, "client %u: event %u of entity %u at tick %u is %s", client,
                      event.kind, event.entity, event.tick, fault);
        const struct hc_world *world = hc_client_world(core);
        if (world->game->event_kinds[event.kind].final_only) {
            ck_assert_int_eq(event.state, HC_CLIENT_GAME_EVENT_LATE);
            ck_assert_uint_le(event.tick, hc_sv_host_final(hc_sim_host(sim), NULL));
            match->final_only++;
        }
        note_delivery(match, sim, client, &event);
    }
    if (hc_client_stats(core)->losses > 0 && !match->lost[client]) {
        match->lost[client] = true;
        match->begun[client] = HC_NO_TICK; // the next connection begins anew
    }
    if (match->begun[client] == HC_NO_TICK && hc_client_state(core) == HC_CLIENT_PLAYING &&
        hc_client_snapshot(core, &shown, &as_of))
        match->begun[client] = shown;
}

struct plan {
    const struct hc_game *game;
    enum hc_others others;
    bool lags;              ///< The last client is the laggard.
    uint16_t snapshot_rate; ///< Hz; 0: a snapshot at each tick
    bool quiet;             ///< Nobody presses a key.
    bool reconnects;        ///< The first client loses its connection in the middle.
};

/// Makes the links of all clients bad in every way.
static void worsen(struct hc_sim *sim) {
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct hc_network_sim_config link = hc_sim_link(20 + 15 * i, 10);
        link.jitter_us = 30 * MS_US;
        link.duplicate_ppm = link.reorder_ppm = 50000;
        hc_sim_set_link(sim, i, &link, &link);
    }
}

/// The first client plays for a while, and nothing passes its links for longer than its timeout.
static void break_connection(struct scenario *scenario) {
    struct hc_network_sim_config none = hc_sim_link(GOOD_MS, 100), good = hc_sim_link(GOOD_MS, 10);
    scenario_drop_stamps(scenario);
    hc_sim_run(scenario->sim, 3 * SECOND_US);
    hc_sim_set_link(scenario->sim, 0, &none, &none);
    hc_sim_run(scenario->sim, (TIMEOUT_S + 1) * SECOND_US);
    hc_sim_set_link(scenario->sim, 0, &good, &good);
}

/// Plays a match, over bad links if `bad`, then until all ticks are listed.
static struct match *play(struct plan plan, bool bad) {
    struct match *match = calloc(1, sizeof *match);
    ck_assert_ptr_nonnull(match);
    for (unsigned i = 0; i < CLIENTS; i++)
        match->begun[i] = HC_NO_TICK;
    struct hc_sim_config config = hc_sim_config_players(plan.game, CLIENTS, GOOD_MS, 7);
    hc_sim_fix_delays(&config.client, 3, 0); // matches are compared tick by tick
    config.host.snapshot_rate = plan.snapshot_rate;
    config.client.others = plan.others;
    config.client.timeout_us = TIMEOUT_S * SECOND_US;
    struct scenario *scenario = scenario_create(&config);
    struct hc_sim *sim = scenario->sim;
    hc_sim_observe(sim,
                   &(struct hc_sim_hooks){.host_ticked = host_ticked,
                                          .host_sent = host_sent,
                                          .client_changed = client_changed},
                   match);
    if (plan.quiet)
        hc_sim_release_keys(sim);
    if (bad)
        worsen(sim);
    ck_assert(hc_sim_join_all(sim));
    struct hc_network_sim_config slow = hc_sim_link(LAGGARD_MS, LAGGARD_LOSS);
    if (plan.lags)
        hc_sim_set_link(sim, LAGGARD, &slow, &slow);
    if (plan.reconnects)
        break_connection(scenario);
    hc_sim_run(sim, (uint64_t)PLAYED_S * SECOND_US);
    hc_sim_release_keys(sim);
    hc_sim_set_links(sim, hc_sim_link(GOOD_MS, 0));
    hc_sim_run(sim, (uint64_t)SETTLED_S * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(hc_sim_client_state(sim, i), HC_CLIENT_PLAYING);
    scenario_check_hashes(scenario);
    scenario_destroy(scenario);
    return match;
}

static void end(struct match *match) {
    for (unsigned i = 0; i < CLIENTS; i++)
        hc_event_record_free(&match->clients[i]);
    hc_event_record_free(&match->record);
    free(match);
}

/// The ticks within which a share of the deliveries came, in percent.
static uint32_t percentile(const struct match *match, unsigned percent) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= BEHIND_MAX; i++)
        if ((sum += match->behind[i]) * 100 >= match->deliveries * percent)
            return i;
    return BEHIND_MAX;
}

/// Checks that what a client was delivered, without what was cancelled, is what happened after its
/// first tick, each event once: it sees everything.
static void check_balance(const struct match *match, unsigned client) {
    const struct hc_event_record *record = &match->clients[client];
    uint64_t happened = 0;
    for (uint32_t i = 0; i < match->count; i++) {
        const struct hc_server_game_event *event = &match->happened[i];
        uint8_t flags =
            hc_event_record_get(record, event->tick, event->entity, event->kind, event->number);
        if (event->tick <= match->begun[client] &&
            (flags & (HC_EVENT_LATE | HC_EVENT_CONFIRMED)) == 0)
            continue; // the connection has no snapshot before it
        happened++;
        ck_assert_msg(flags == HC_EVENT_LATE || flags == (HC_EVENT_PREDICTED | HC_EVENT_CONFIRMED),
                      "client %u: event %u of entity %u at tick %u, which happened, has %u", client,
                      event->kind, event->entity, event->tick, flags);
    }
    ck_assert_uint_eq(record->shown - record->cancelled, happened);
    ck_assert_uint_ge(happened, 200);
}

static struct hc_game seen_by_all(void) {
    struct hc_game game = hc_arena;
    game.view = 0;
    return game;
}

static void print_figures(const char *name, const struct match *match) {
    printf("%-17s  %" PRIu64 " events, ticks behind: mean %.2f, p50 %u, p90 %u, p99 %u; cancelled "
           "%.1f %%; %" PRIu64 " bytes\n",
           name, match->deliveries, (double)match->waited / (double)match->deliveries,
           percentile(match, 50), percentile(match, 90), percentile(match, 99),
           100.0 * (double)match->cancelled / (double)match->delivered, match->bytes);
}

START_TEST(events_of_good_players_come_as_early_as_without_a_laggard) {
    const enum hc_others others[] = {HC_OTHERS_PREDICTED, HC_OTHERS_AS_RECEIVED};
    struct hc_game game = seen_by_all();
    struct plan plan = {.game = &game, .others = others[_i]};
    struct match *without = play(plan, false);
    plan.lags = true;
    struct match *with = play(plan, false);
    print_figures("without a laggard", without);
    print_figures("with a laggard", with);
    ck_assert_uint_gt(without->deliveries, 2000);
    ck_assert_uint_eq(without->before_final, 0);
    ck_assert_uint_gt(with->before_final * 10, with->deliveries * 9); // the laggard holds F back
    ck_assert_uint_le(percentile(with, 90), percentile(without, 90));
    ck_assert_uint_le(percentile(with, 99), percentile(without, 99) + 1);
    // On average an event comes a tenth of a tick later at most.
    ck_assert_uint_le(with->waited * 10 * without->deliveries,
                      (without->waited * 10 + without->deliveries) * with->deliveries);
    // Of a hundred events two more are cancelled at most.
    ck_assert_uint_le(with->cancelled * 100 * without->delivered,
                      (without->cancelled * 100 + 2 * without->delivered) * with->delivered);
    for (unsigned i = 0; i < CLIENTS; i++) {
        check_balance(without, i);
        check_balance(with, i);
    }
    end(without);
    end(with);
}
END_TEST

/// Checks a match over links that lose, duplicate and reorder, and with a laggard.
static void check_bad(struct plan plan) {
    struct match *match = play(plan, true);
    for (unsigned i = 0; i < CLIENTS; i++)
        check_balance(match, i);
    ck_assert(match->lost[0] == plan.reconnects);
    ck_assert_uint_gt(match->before_final, 1000);
    end(match);
}

START_TEST(each_event_is_delivered_once_and_the_final_list_stands_over_bad_links) {
    struct hc_game game = seen_by_all();
    const struct plan plans[] = {
        {.game = &game, .lags = true},
        {.game = &game, .lags = true, .others = HC_OTHERS_AS_RECEIVED},
        {.game = &game, .lags = true, .others = HC_OTHERS_AS_RECEIVED, .snapshot_rate = 10},
        {.game = &game, .lags = true, .reconnects = true},
    };
    check_bad(plans[_i]);
}
END_TEST

START_TEST(event_that_was_in_view_is_not_cancelled_because_its_unit_has_left) {
    struct hc_game near = hc_arena;
    near.view = 1500;
    struct match *match = play((struct plan){.game = &near, .lags = true}, false);
    uint64_t confirmed = 0, revoked = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        for (uint32_t k = 0; k < match->count; k++) {
            const struct hc_server_game_event *event = &match->happened[k];
            uint8_t flags = hc_event_record_get(&match->clients[i], event->tick, event->entity,
                                                event->kind, event->number);
            confirmed += (flags & HC_EVENT_CONFIRMED) != 0;
            revoked += (flags & HC_EVENT_CANCELLED) != 0;
        }
    ck_assert_uint_gt(confirmed, 300);
    ck_assert_uint_le(revoked * 200, confirmed);
    end(match);
}
END_TEST

/// The arena, in which a hit, and what follows from it, waits until its tick is final.
static struct hc_game with_final_hits(struct hc_game_event_kind kinds[HC_EVENT_KINDS_MAX]) {
    struct hc_game game = seen_by_all();
    memcpy(kinds, game.event_kinds, game.event_kind_count * sizeof *kinds);
    kinds[HC_ARENA_EVENT_HIT].final_only = true;
    kinds[HC_ARENA_EVENT_KILL].final_only = kinds[HC_ARENA_EVENT_KILL].at_once = true;
    game.event_kinds = kinds;
    return game;
}

START_TEST(event_of_a_kind_that_waits_comes_once_and_when_its_tick_is_final) {
    struct hc_game_event_kind kinds[HC_EVENT_KINDS_MAX];
    struct hc_game game = with_final_hits(kinds);
    struct match *match = play((struct plan){.game = &game, .lags = true}, false);
    uint64_t hits = 0;
    for (uint32_t i = 0; i < match->count; i++)
        hits += kinds[match->happened[i].kind].final_only;
    for (unsigned i = 0; i < CLIENTS; i++)
        check_balance(match, i);
    ck_assert_uint_gt(hits, 10);
    ck_assert_uint_gt(match->final_only, hits * (CLIENTS - 1));
    ck_assert_uint_le(match->final_only, hits * CLIENTS);
    end(match);
}
END_TEST

START_TEST(match_without_events_takes_no_byte_for_early_ones) {
    struct hc_game early = seen_by_all(), final;
    struct hc_game_event_kind kinds[HC_EVENT_KINDS_MAX];
    final = early;
    memcpy(kinds, final.event_kinds, final.event_kind_count * sizeof *kinds);
    for (unsigned i = 0; i < final.event_kind_count; i++)
        kinds[i].final_only = true;
    final.event_kinds = kinds;
    struct match *without = play((struct plan){.game = &final, .lags = true, .quiet = true}, false);
    struct match *with = play((struct plan){.game = &early, .lags = true, .quiet = true}, false);
    ck_assert_uint_eq(with->count, 0);
    ck_assert_uint_gt(without->bytes, 100000);
    ck_assert_uint_eq(with->bytes, without->bytes);
    end(without);
    end(with);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("early events");
    TCase *tests = tcase_create("early events");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(
        tests, each_event_is_delivered_once_and_the_final_list_stands_over_bad_links, 0, 4);
    tcase_add_test(tests, event_that_was_in_view_is_not_cancelled_because_its_unit_has_left);
    tcase_add_test(tests, event_of_a_kind_that_waits_comes_once_and_when_its_tick_is_final);
    tcase_add_test(tests, match_without_events_takes_no_byte_for_early_ones);
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(add_long_plays(suite),
                        events_of_good_players_come_as_early_as_without_a_laggard, 0, 2);
    return run_suite(suite);
}
