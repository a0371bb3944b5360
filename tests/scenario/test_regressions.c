/// Whole histories that once went wrong: each names what a player would have noticed.
#include "tests/scenario/play.h"
#include "tests/scenario/require.h"

#include "client/session_internal.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

enum { MS = PLAY_MS, SECOND = PLAY_S };

static struct hc_sim *create(const struct hc_sim_config *config) {
    struct hc_sim *sim = hc_sim_create(config);
    ck_assert(sim != NULL);
    return sim;
}

static enum hc_client_state state_of(struct hc_sim *sim, unsigned client) {
    struct hc_client *core = hc_sim_client(sim, client);
    return core == NULL ? HC_CLIENT_CLOSED : hc_client_state(core);
}

static hc_tick host_head(struct hc_sim *sim) {
    return hc_timeline_head(hc_sv_host_timeline(hc_sim_host(sim)));
}

START_TEST(a_fixed_redundancy_never_stalls_a_client_whose_datagrams_are_lost_now_and_then) {
    // With a history as long as this nothing is ever forced: what was lost must be sent again.
    static const uint16_t rates[] = {10, 60};
    for (uint32_t i = 0; i < 12; i++) {
        struct hc_sim_config config = play_config_bare(2, 30 + 40 * (i % 3), 201 + i);
        config.up.loss_ppm = config.down.loss_ppm = i % 2 == 0 ? 10000 : 50000;
        config.host.history = 512;
        config.host.tick_rate = rates[i / 6];
        config.client.input_redundancy = 1 + i % 4;
        struct hc_sim *sim = create(&config);
        for (unsigned c = 0; c < 2; c++)
            ck_assert(hc_sim_connect(sim, c));
        hc_sim_run(sim, 20 * SECOND);
        for (unsigned c = 0; c < 2; c++) {
            REQUIRE(state_of(sim, c) == HC_CLIENT_PLAYING, "seed %u: client %u is in state %d",
                    201 + i, c, state_of(sim, c));
            REQUIRE(hc_client_stats(hc_sim_client(sim, c))->stalls == 0,
                    "seed %u: client %u has stalled", 201 + i, c);
        }
        REQUIRE(hc_sim_up_stats(sim, 0).lost > 0, "seed %u: nothing was lost", 201 + i);
        hc_sim_destroy(sim);
    }
}
END_TEST

// ---- Coming back --------------------------------------------------------------------------------

START_TEST(whoever_restarts_on_its_port_comes_back_to_a_full_server) {
    for (uint16_t places = 1; places <= 2; places++) {
        struct hc_sim_config config = play_config_bare(places, 50, 220 + places);
        struct hc_sim *sim = create(&config);
        for (unsigned c = 0; c < places; c++) {
            hc_sim_setup(sim, c)->keeps_port = true;
            hc_sim_setup(sim, c)->user = c + 1;
            ck_assert(hc_sim_connect(sim, c));
        }
        for (uint64_t i = 0; i < 4; i++) {
            hc_sim_run(sim, (1700 + 7 * i) * MS);
            ck_assert(hc_sim_connect(sim, 0));
        }
        hc_sim_run(sim, 2 * SECOND);
        ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_sim_events(sim, 0)->count[HC_CLIENT_EVENT_DENIED], 0);
        ck_assert_uint_eq(hc_sv_host_clients(hc_sim_host(sim)), places);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(a_goodbye_makes_room_for_whoever_connects_at_once) {
    for (uint32_t i = 0; i < 20; i++) {
        struct hc_sim_config config = play_config_bare(2, 2, 230 + i);
        config.client.players = 2;
        struct hc_sim *sim = create(&config);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, SECOND + i * MS);
        hc_sim_leave(sim, 0);
        ck_assert(hc_sim_connect(sim, 1)); // its CONNECT comes two round trips after the CLOSE
        hc_sim_run(sim, SECOND);
        REQUIRE(state_of(sim, 1) == HC_CLIENT_PLAYING, "seed %u", 230 + i);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(whoever_leaves_as_soon_as_it_is_let_in_leaves_no_ghost_however_datagrams_overtake) {
    for (uint32_t seed = 250; seed < 290; seed++) {
        struct hc_sim_config config = play_config_bare(1, 150, seed);
        config.up.jitter_us = config.down.jitter_us = 100 * MS;
        struct hc_sim *sim = create(&config);
        hc_sim_setup(sim, 0)->keeps_port = true;
        ck_assert(hc_sim_connect(sim, 0));
        for (int i = 0; i < 400; i++) {
            hc_sim_run(sim, 10 * MS);
            enum hc_client_state state = state_of(sim, 0);
            if (state != HC_CLIENT_CONNECTING && state < HC_CLIENT_LEAVING)
                hc_sim_leave(sim, 0);
        }
        REQUIRE(hc_sv_host_stats(hc_sim_host(sim))->joins > 0, "seed %u: never let in", seed);
        REQUIRE(hc_sv_host_clients(hc_sim_host(sim)) == 0, "seed %u: a ghost", seed);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(an_older_connect_never_ends_the_session_that_followed_however_datagrams_overtake) {
    for (uint32_t seed = 300; seed < 400; seed++) {
        struct hc_sim_config config = play_config_bare(1, 250, seed);
        config.up.jitter_us = config.down.jitter_us = 250 * MS;
        config.up.duplicate_ppm = 300000;
        config.client.timeout_us = 4 * SECOND;
        struct hc_sim *sim = create(&config);
        hc_sim_setup(sim, 0)->keeps_port = true;
        hc_sim_setup(sim, 0)->user = 1;
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 700 * MS);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 10 * SECOND);
        REQUIRE(state_of(sim, 0) == HC_CLIENT_PLAYING, "seed %u: in state %d", seed,
                state_of(sim, 0));
        REQUIRE(hc_sv_host_clients(hc_sim_host(sim)) == 1, "seed %u", seed);
        hc_sim_destroy(sim);
    }
}
END_TEST

// ---- The server's clock -------------------------------------------------------------------------

START_TEST(a_server_that_stood_still_is_followed_at_once_and_waiting_for_it_is_said) {
    enum { STEP = 5 * MS, LATENCY = 50, JITTER = 20, SILENT_MAX = 100 * MS };
    for (uint32_t frozen_ms = 200; frozen_ms <= 1000; frozen_ms += 100) {
        struct hc_sim_config config = play_config_bare(1, LATENCY, 340 + frozen_ms);
        config.up.jitter_us = config.down.jitter_us = JITTER * MS; // old samples may be better
        struct hc_sim *sim = create(&config);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 5 * SECOND);
        hc_sim_freeze_host(sim, hc_sim_now(sim) + frozen_ms * MS);
        hc_sim_run(sim, frozen_ms * MS);
        // The first answer to what the client says after the freeze tells it the new time, unless
        // the clock was set by less than a round trip: so far ahead it may run on for a while.
        uint64_t trip_us = 2 * (LATENCY + JITTER) * MS, silent_us = 0;
        hc_tick last = 0, trip = hc_tick_at_us(trip_us, config.host.tick_rate) + 1;
        for (uint64_t us = 0; us < 3 * SECOND; us += STEP) {
            hc_sim_run(sim, STEP);
            hc_tick head = hc_timeline_head(hc_client_timeline(hc_sim_client(sim, 0)));
            bool said = state_of(sim, 0) == HC_CLIENT_STALLED;
            silent_us = head != last || said ? 0 : silent_us + STEP;
            REQUIRE(us <= 2 * trip_us || head == last || head <= host_head(sim) + trip,
                    "frozen for %u ms: %u ticks ahead and running on", frozen_ms,
                    (unsigned)(head - host_head(sim)));
            last = head;
            REQUIRE(silent_us <= SILENT_MAX, "frozen for %u ms: no tick for %u ms, unsaid",
                    frozen_ms, (unsigned)(silent_us / MS));
        }
        hc_tick head = hc_timeline_head(hc_client_timeline(hc_sim_client(sim, 0)));
        REQUIRE(head + 2 >= host_head(sim) && head <= host_head(sim) + 2, "frozen for %u ms",
                frozen_ms);
        hc_sim_destroy(sim);
    }
}
END_TEST

// ---- Other players' inputs ----------------------------------------------------------------------

START_TEST(no_prediction_starts_from_an_input_of_whoever_had_the_slot_before) {
    struct hc_sim_config config = play_config_bare(3, 50, 11);
    config.host.clients = 2;
    struct hc_network_sim_config dead = config.down;
    dead.loss_ppm = HC_NETWORK_SIM_PPM;
    struct hc_sim *sim = create(&config);
    for (unsigned c = 0; c < 2; c++) {
        ck_assert(hc_sim_connect(sim, c));
        hc_sim_run(sim, SECOND);
    }
    hc_player slot = hc_client_player(hc_sim_client(sim, 1), 0);
    // The watcher hears nothing while the slot changes hands, and the newcomer is mute afterwards.
    hc_sim_set_link(sim, 0, NULL, &dead);
    hc_sim_leave(sim, 1);
    hc_sim_run(sim, 200 * MS);
    ck_assert(hc_sim_connect(sim, 2));
    hc_sim_run(sim, 170 * MS);
    hc_sim_set_link(sim, 2, &dead, NULL);
    hc_sim_run(sim, 100 * MS);
    hc_sim_set_link(sim, 0, NULL, &config.down);
    hc_sim_run(sim, 150 * MS);
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(sim));
    const struct hc_timeline *watcher = hc_client_timeline(hc_sim_client(sim, 0));
    uint8_t input[HC_INPUT_MAX];
    hc_tick known = 0;
    ck_assert_uint_eq(hc_sv_host_stats(hc_sim_host(sim))->joins, 3);
    ck_assert_uint_eq(hc_client_player(hc_sim_client(sim, 2), 0), slot);
    ck_assert(!hc_timeline_newest_input(server, slot, host_head(sim), &known, input));
    ck_assert(!hc_timeline_newest_input(watcher, slot, host_head(sim), &known, input));
    hc_sim_destroy(sim);
}
END_TEST

// ---- A client on its own ------------------------------------------------------------------------

struct sent {
    uint64_t from_us; ///< when counting began
    unsigned at_once, data;
};

static void count_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                       size_t size) {
    struct sent *sent = context;
    (void)client;
    if (sent->from_us == 0 || hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA)
        return;
    sent->data++;
    sent->at_once += hc_sim_now(sim) == sent->from_us;
}

START_TEST(goodbye_is_said_at_once_to_a_caller_that_keeps_to_the_deadline) {
    struct sent sent = {0};
    struct hc_sim_config config = play_config_bare(1, 0, 360);
    config.hooks.client_sent = count_sent;
    config.context = &sent;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND);
    sent.from_us = hc_sim_now(sim);
    hc_sim_leave(sim, 0);
    ck_assert_uint_le(hc_client_deadline(hc_sim_client(sim, 0)), hc_sim_client_now(sim, 0));
    hc_sim_run(sim, SECOND);
    ck_assert_uint_eq(sent.at_once, 3);
    ck_assert_uint_eq(sent.data, 10);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(at_one_tick_a_second_a_client_still_speaks_ten_times_a_second) {
    struct sent sent = {0};
    struct hc_sim_config config = play_config_bare(1, 20, 361);
    config.host.tick_rate = 1;
    config.hooks.client_sent = count_sent;
    config.context = &sent;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, 5 * SECOND);
    ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
    sent.from_us = hc_sim_now(sim);
    hc_sim_run(sim, 10 * SECOND);
    ck_assert_uint_ge(sent.data, 99);
    ck_assert_uint_le(sent.data, 125);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(whatever_a_game_says_into_a_blackout_the_world_is_shown_all_the_while) {
    enum { WORDS = 60, DARK_S = 3, SHOWN_EACH_S = 5 };
    static const uint8_t word[HC_EVENTS_SIZE_MAX];
    struct hc_sim_config config = play_config_bare(1, 50, 363);
    config.host.client_rate = HC_SV_CLIENT_RATE_MIN;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND);
    struct hc_client *core = hc_sim_client(sim, 0);
    const struct hc_client_stats *stats = hc_client_stats(core);
    for (unsigned i = 0; i < WORDS; i++)
        ck_assert_int_eq(hc_sv_host_send_message(hc_sim_host(sim), core->connection.cid, word,
                                                 sizeof word, hc_sim_host_now(sim)),
                         HC_OK);
    struct hc_network_sim_config dark = config.up;
    dark.loss_ppm = 1000000; // so that what is said is said again and again
    hc_sim_set_link(sim, 0, &dark, &config.down);
    for (unsigned s = 0; s < DARK_S; s++) {
        uint64_t before = stats->snapshots;
        hc_sim_run(sim, SECOND);
        REQUIRE(stats->snapshots >= before + SHOWN_EACH_S, "second %u: %u snapshots", s,
                (unsigned)(stats->snapshots - before));
    }
    hc_sim_set_link(sim, 0, &config.up, &config.down);
    hc_sim_run(sim, 10 * SECOND);
    unsigned heard = 0;
    for (size_t size; hc_client_next_message(core, &size) != NULL;)
        heard++;
    ck_assert_uint_eq(heard, WORDS);
    ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(few_snapshots_do_not_keep_a_game_from_what_it_says) {
    enum { WORDS = 60, WITHIN_S = 6 }; // 60 of 255 bytes, and snapshots, at 4000 bytes/s
    static const uint8_t word[HC_EVENTS_SIZE_MAX];
    struct hc_sim_config config = play_config_bare(1, 50, 364);
    config.host.client_rate = HC_SV_CLIENT_RATE_MIN;
    config.host.snapshot_rate = 1;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, 3 * SECOND);
    struct hc_client *core = hc_sim_client(sim, 0);
    for (unsigned i = 0; i < WORDS; i++)
        ck_assert_int_eq(hc_sv_host_send_message(hc_sim_host(sim), core->connection.cid, word,
                                                 sizeof word, hc_sim_host_now(sim)),
                         HC_OK);
    hc_sim_run(sim, WITHIN_S * SECOND);
    unsigned heard = 0;
    for (size_t size; hc_client_next_message(core, &size) != NULL;)
        heard++;
    ck_assert_uint_eq(heard, WORDS);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(the_final_tick_can_be_had_without_its_hash) {
    struct hc_sim_config config = play_config_bare(1, 20, 362);
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND);
    hc_tick tick = 0, same = 0;
    uint64_t chain = 0;
    ck_assert(hc_client_final(hc_sim_client(sim, 0), &same, &chain));
    ck_assert(hc_client_final(hc_sim_client(sim, 0), &tick, NULL));
    ck_assert_uint_gt(tick, 0);
    ck_assert_uint_eq(tick, same);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_lead_that_would_stall_for_good_is_refused) {
    for (uint32_t lead = 0; lead <= HC_LEAD_MAX; lead++) {
        for (uint32_t limit = 1; limit <= 2 * HC_LEAD_MAX; limit++) {
            struct hc_client_config config = hc_client_config_default();
            config.game = &hc_arena;
            config.lead = lead;
            config.prediction_limit = limit;
            REQUIRE((hc_client_config_check(&config) == NULL) == (lead < limit),
                    "lead %u, prediction limit %u", lead, limit);
        }
    }
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests,
                   a_fixed_redundancy_never_stalls_a_client_whose_datagrams_are_lost_now_and_then);
    tcase_add_test(tests, whoever_restarts_on_its_port_comes_back_to_a_full_server);
    tcase_add_test(tests, a_goodbye_makes_room_for_whoever_connects_at_once);
    tcase_add_test(
        tests, whoever_leaves_as_soon_as_it_is_let_in_leaves_no_ghost_however_datagrams_overtake);
    tcase_add_test(
        tests, an_older_connect_never_ends_the_session_that_followed_however_datagrams_overtake);
    tcase_add_test(tests, a_server_that_stood_still_is_followed_at_once_and_waiting_for_it_is_said);
    tcase_add_test(tests, no_prediction_starts_from_an_input_of_whoever_had_the_slot_before);
    tcase_add_test(tests, goodbye_is_said_at_once_to_a_caller_that_keeps_to_the_deadline);
    tcase_add_test(tests, at_one_tick_a_second_a_client_still_speaks_ten_times_a_second);
    tcase_add_test(tests, whatever_a_game_says_into_a_blackout_the_world_is_shown_all_the_while);
    tcase_add_test(tests, few_snapshots_do_not_keep_a_game_from_what_it_says);
    tcase_add_test(tests, the_final_tick_can_be_had_without_its_hash);
    tcase_add_test(tests, a_lead_that_would_stall_for_good_is_refused);
}

int main(void) {
    Suite *suite = suite_create("regressions");
    TCase *tests = tcase_create("regressions");
    add_all(tests);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
