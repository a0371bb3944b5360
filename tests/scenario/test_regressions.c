/// Histories that once went wrong; each test names the rule that a player saw broken.
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "client/client.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

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
    return hc_timeline_head(hc_server_timeline(hc_sim_host(sim)));
}

START_TEST(a_fixed_redundancy_never_stalls_a_client_when_some_datagrams_are_lost) {
    // With so long a history no input is forced, so lost ones must be sent again.
    static const uint16_t rates[] = {10, 60};
    for (uint32_t i = 0; i < 12; i++) {
        struct hc_sim_config config =
            hc_sim_config_players(&hc_arena, 2, 30 + 40 * (i % 3), 201 + i);
        config.up.loss_ppm = config.down.loss_ppm = i % 2 == 0 ? 10000 : 50000;
        config.host.history = 512;
        config.host.tick_rate = rates[i / 6];
        config.client.input_redundancy = 1 + i % 4;
        struct hc_sim *sim = create(&config);
        ck_assert(hc_sim_connect_all(sim));
        hc_sim_run(sim, 20 * SECOND_US);
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

// ---- Reconnecting -------------------------------------------------------------------------------

START_TEST(a_client_that_restarts_on_its_port_joins_a_full_server_again) {
    for (uint16_t places = 1; places <= 2; places++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, places, 50, 220 + places);
        struct hc_sim *sim = create(&config);
        for (unsigned c = 0; c < places; c++) {
            hc_sim_setup(sim, c)->keeps_port = true;
            hc_sim_setup(sim, c)->user = c + 1;
            ck_assert(hc_sim_connect(sim, c));
        }
        for (uint64_t i = 0; i < 4; i++) {
            hc_sim_run(sim, (1700 + 7 * i) * MS_US);
            ck_assert(hc_sim_connect(sim, 0));
        }
        hc_sim_run(sim, 2 * SECOND_US);
        ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
        ck_assert_uint_eq(hc_sim_events(sim, 0)->count[HC_CLIENT_EVENT_DENIED], 0);
        ck_assert_uint_eq(hc_server_clients(hc_sim_host(sim)), places);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(a_close_frees_the_slots_for_a_client_that_connects_at_once) {
    for (uint32_t i = 0; i < 20; i++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 2, 2, 230 + i);
        config.client.players = 2;
        struct hc_sim *sim = create(&config);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, SECOND_US + i * MS_US);
        hc_sim_leave(sim, 0);
        ck_assert(hc_sim_connect(sim, 1)); // its CONNECT comes two round trips after the CLOSE
        hc_sim_run(sim, SECOND_US);
        REQUIRE(state_of(sim, 1) == HC_CLIENT_PLAYING, "seed %u", 230 + i);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(a_client_that_leaves_as_soon_as_it_joins_leaves_no_ghost_despite_reordering) {
    for (uint32_t seed = 250; seed < 290; seed++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 150, seed);
        config.up.jitter_us = config.down.jitter_us = 100 * MS_US;
        struct hc_sim *sim = create(&config);
        hc_sim_setup(sim, 0)->keeps_port = true;
        ck_assert(hc_sim_connect(sim, 0));
        for (int i = 0; i < 400; i++) {
            hc_sim_run(sim, 10 * MS_US);
            enum hc_client_state state = state_of(sim, 0);
            if (state != HC_CLIENT_CONNECTING && state < HC_CLIENT_LEAVING)
                hc_sim_leave(sim, 0);
        }
        REQUIRE(hc_server_stats(hc_sim_host(sim))->joins > 0, "seed %u: never let in", seed);
        REQUIRE(hc_server_clients(hc_sim_host(sim)) == 0, "seed %u: a ghost", seed);
        hc_sim_destroy(sim);
    }
}
END_TEST

START_TEST(an_older_connect_never_ends_the_newer_session_despite_reordering) {
    for (uint32_t seed = 300; seed < 400; seed++) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 250, seed);
        config.up.jitter_us = config.down.jitter_us = 250 * MS_US;
        config.up.duplicate_ppm = 300000;
        config.client.timeout_us = 4 * SECOND_US;
        struct hc_sim *sim = create(&config);
        hc_sim_setup(sim, 0)->keeps_port = true;
        hc_sim_setup(sim, 0)->user = 1;
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 700 * MS_US);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 10 * SECOND_US);
        REQUIRE(state_of(sim, 0) == HC_CLIENT_PLAYING, "seed %u: in state %d", seed,
                state_of(sim, 0));
        REQUIRE(hc_server_clients(hc_sim_host(sim)) == 1, "seed %u", seed);
        hc_sim_destroy(sim);
    }
}
END_TEST

// ---- The server's clock -------------------------------------------------------------------------

START_TEST(a_client_follows_a_server_that_stood_still_and_reports_each_stall) {
    enum { STEP = 5 * MS_US, LATENCY = 50, JITTER = 20, FROZEN_MAX_US = 100 * MS_US };
    for (uint32_t frozen_ms = 200; frozen_ms <= 1000; frozen_ms += 100) {
        struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, LATENCY, 340 + frozen_ms);
        config.up.jitter_us = config.down.jitter_us = JITTER * MS_US; // old samples may be better
        struct hc_sim *sim = create(&config);
        ck_assert(hc_sim_connect(sim, 0));
        hc_sim_run(sim, 5 * SECOND_US);
        hc_sim_freeze_host(sim, hc_sim_now(sim) + frozen_ms * MS_US);
        hc_sim_run(sim, frozen_ms * MS_US);
        // The first answer after the freeze carries the new time. If that differs by less than a
        // round trip, the client may stay ahead for a while; up to 250 ms it follows slowly.
        uint64_t trip_us = 2 * (LATENCY + JITTER) * MS_US, frozen_us = 0;
        uint64_t ahead_us = trip_us + HC_CL_POSITION_JUMP_US;
        hc_tick last = 0, ahead = hc_tick_at_us(ahead_us, config.host.tick_rate) + 1;
        for (uint64_t us = 0; us < 8 * SECOND_US; us += STEP) {
            hc_sim_run(sim, STEP);
            hc_tick head = hc_timeline_head(hc_client_timeline(hc_sim_client(sim, 0)));
            bool stalled = state_of(sim, 0) == HC_CLIENT_STALLED;
            frozen_us = head != last || stalled ? 0 : frozen_us + STEP;
            REQUIRE(us <= 2 * trip_us || head == last || head <= host_head(sim) + ahead,
                    "frozen for %u ms: %u ticks ahead and still predicting", frozen_ms,
                    (unsigned)(head - host_head(sim)));
            last = head;
            REQUIRE(frozen_us <= FROZEN_MAX_US, "frozen for %u ms: no tick for %u ms, unsaid",
                    frozen_ms, (unsigned)(frozen_us / MS_US));
        }
        hc_tick head = hc_timeline_head(hc_client_timeline(hc_sim_client(sim, 0)));
        REQUIRE(head + 2 >= host_head(sim) && head <= host_head(sim) + 2, "frozen for %u ms",
                frozen_ms);
        hc_sim_destroy(sim);
    }
}
END_TEST

// ---- Other players' inputs ----------------------------------------------------------------------

START_TEST(no_prediction_uses_an_input_of_the_slots_previous_player) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 3, 50, 11);
    config.host.clients = 2;
    struct hc_network_sim_config dead = config.down;
    dead.loss_ppm = HC_NETWORK_SIM_PPM;
    struct hc_sim *sim = create(&config);
    for (unsigned c = 0; c < 2; c++) {
        ck_assert(hc_sim_connect(sim, c));
        hc_sim_run(sim, SECOND_US);
    }
    hc_player slot = hc_client_player(hc_sim_client(sim, 1), 0);
    // The watcher receives nothing while the slot gets its new player, whose client then sends
    // nothing.
    hc_sim_set_link(sim, 0, NULL, &dead);
    hc_sim_leave(sim, 1);
    hc_sim_run(sim, 200 * MS_US);
    ck_assert(hc_sim_connect(sim, 2));
    hc_sim_run(sim, 170 * MS_US);
    hc_sim_set_link(sim, 2, &dead, NULL);
    hc_sim_run(sim, 100 * MS_US);
    hc_sim_set_link(sim, 0, NULL, &config.down);
    hc_sim_run(sim, 150 * MS_US);
    const struct hc_timeline *server = hc_server_timeline(hc_sim_host(sim));
    const struct hc_timeline *watcher = hc_client_timeline(hc_sim_client(sim, 0));
    uint8_t input[HC_INPUT_MAX];
    hc_tick known = 0;
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(sim))->joins, 3);
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

START_TEST(a_leaving_client_sends_close_at_once) {
    struct sent sent = {0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 0, 360);
    config.hooks.client_sent = count_sent;
    config.context = &sent;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND_US);
    sent.from_us = hc_sim_now(sim);
    hc_sim_leave(sim, 0);
    ck_assert_uint_le(hc_client_deadline(hc_sim_client(sim, 0)), hc_sim_client_now(sim, 0));
    hc_sim_run(sim, SECOND_US);
    ck_assert_uint_eq(sent.at_once, 3);
    ck_assert_uint_eq(sent.data, 3); // the server has acknowledged them
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_sends_ten_times_a_second_at_one_tick_a_second) {
    struct sent sent = {0};
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 20, 361);
    config.host.tick_rate = 1;
    config.hooks.client_sent = count_sent;
    config.context = &sent;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, 5 * SECOND_US);
    ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
    sent.from_us = hc_sim_now(sim);
    hc_sim_run(sim, 10 * SECOND_US);
    ck_assert_uint_ge(sent.data, 99);
    ck_assert_uint_le(sent.data, 125);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(messages_during_a_blackout_do_not_displace_snapshots) {
    enum { MESSAGES = 60, BLACKOUT_S = 3, SHOWN_EACH_S = 5 };
    static const uint8_t message[HC_MESSAGE_SIZE_MAX];
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 50, 363);
    config.host.client_rate = HC_SERVER_CLIENT_RATE_MIN;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND_US);
    struct hc_client *core = hc_sim_client(sim, 0);
    const struct hc_client_stats *stats = hc_client_stats(core);
    for (unsigned i = 0; i < MESSAGES; i++)
        ck_assert_int_eq(hc_server_send_message(hc_sim_host(sim), core->link.connection.cid,
                                                message, sizeof message, hc_sim_host_now(sim)),
                         HC_OK);
    struct hc_network_sim_config blackout = config.up;
    blackout.loss_ppm = 1000000; // so that the messages are sent repeatedly
    hc_sim_set_link(sim, 0, &blackout, &config.down);
    for (unsigned s = 0; s < BLACKOUT_S; s++) {
        uint64_t before = stats->snapshots;
        hc_sim_run(sim, SECOND_US);
        REQUIRE(stats->snapshots >= before + SHOWN_EACH_S, "second %u: %u snapshots", s,
                (unsigned)(stats->snapshots - before));
    }
    hc_sim_set_link(sim, 0, &config.up, &config.down);
    hc_sim_run(sim, 10 * SECOND_US);
    unsigned received = 0;
    for (size_t size; hc_client_next_message(core, &size) != NULL;)
        received++;
    ck_assert_uint_eq(received, MESSAGES);
    ck_assert_int_eq(state_of(sim, 0), HC_CLIENT_PLAYING);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_low_snapshot_rate_does_not_delay_messages) {
    enum { MESSAGES = 60, WITHIN_S = 6 }; // 60 of 255 bytes, and snapshots, at 4000 bytes/s
    static const uint8_t message[HC_MESSAGE_SIZE_MAX];
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 50, 364);
    config.host.client_rate = HC_SERVER_CLIENT_RATE_MIN;
    config.host.snapshot_rate = 1;
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, 3 * SECOND_US);
    struct hc_client *core = hc_sim_client(sim, 0);
    for (unsigned i = 0; i < MESSAGES; i++)
        ck_assert_int_eq(hc_server_send_message(hc_sim_host(sim), core->link.connection.cid,
                                                message, sizeof message, hc_sim_host_now(sim)),
                         HC_OK);
    hc_sim_run(sim, WITHIN_S * SECOND_US);
    unsigned received = 0;
    for (size_t size; hc_client_next_message(core, &size) != NULL;)
        received++;
    ck_assert_uint_eq(received, MESSAGES);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_client_returns_its_final_tick_without_the_hash) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 1, 20, 362);
    struct hc_sim *sim = create(&config);
    ck_assert(hc_sim_connect(sim, 0));
    hc_sim_run(sim, SECOND_US);
    hc_tick tick = 0, same = 0;
    uint64_t chain = 0;
    ck_assert(hc_client_final(hc_sim_client(sim, 0), &same, &chain));
    ck_assert(hc_client_final(hc_sim_client(sim, 0), &tick, NULL));
    ck_assert_uint_gt(tick, 0);
    ck_assert_uint_eq(tick, same);
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(a_lead_that_would_stall_forever_is_refused) {
    for (uint32_t lead = 0; lead <= HC_LEAD_MAX; lead++) {
        for (uint32_t limit = 1; limit <= 2 * HC_LEAD_MAX; limit++) {
            struct hc_client_config config = hc_client_config_default();
            config.game = &hc_arena;
            config.lead = lead;
            config.lead_max = 0;
            config.prediction_limit = limit;
            REQUIRE((hc_client_config_check(&config) == NULL) == (lead < limit),
                    "lead %u, prediction limit %u", lead, limit);
        }
    }
}
END_TEST

static void add_all(TCase *tests) {
    tcase_add_test(tests, a_fixed_redundancy_never_stalls_a_client_when_some_datagrams_are_lost);
    tcase_add_test(tests, a_client_that_restarts_on_its_port_joins_a_full_server_again);
    tcase_add_test(tests, a_close_frees_the_slots_for_a_client_that_connects_at_once);
    tcase_add_test(tests,
                   a_client_that_leaves_as_soon_as_it_joins_leaves_no_ghost_despite_reordering);
    tcase_add_test(tests, a_client_follows_a_server_that_stood_still_and_reports_each_stall);
    tcase_add_test(tests, no_prediction_uses_an_input_of_the_slots_previous_player);
    tcase_add_test(tests, a_leaving_client_sends_close_at_once);
    tcase_add_test(tests, a_client_sends_ten_times_a_second_at_one_tick_a_second);
    tcase_add_test(tests, messages_during_a_blackout_do_not_displace_snapshots);
    tcase_add_test(tests, a_low_snapshot_rate_does_not_delay_messages);
    tcase_add_test(tests, a_client_returns_its_final_tick_without_the_hash);
    tcase_add_test(tests, a_lead_that_would_stall_forever_is_refused);
}

int main(void) {
    Suite *suite = suite_create("regressions");
    TCase *tests = tcase_create("regressions");
    add_all(tests);
    suite_add_tcase(suite, tests);
    TCase *long_plays = add_long_plays(suite);
    tcase_add_test(long_plays, an_older_connect_never_ends_the_newer_session_despite_reordering);
    return run_suite(suite);
}
