/// The ends of connections reach the other side over bad links, and a restart is one of them.
#include "hindcast/arena.h"
#include "tests/scenario/scenario.h"
#include "tests/scenario/require.h"

#include "tests/run_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = SCENARIO_CLIENTS_MAX };

static const char *const links[] = {"bad", "awful"};

/// How often all clients end: HC_LONG_PLAYS (tests/run.sh) asks for more.
static unsigned rounds(void) {
    const char *longer = getenv("HC_LONG_PLAYS");
    return longer != NULL && strcmp(longer, "yes") == 0 ? 8 : 1;
}

/// A simulation in which all clients play over this link.
static struct hc_sim *begin(const char *link, uint64_t seed) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 0, seed);
    ck_assert(hc_network_sim_preset(link, &config.up));
    config.down = config.up;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(sim != NULL);
    for (unsigned c = 0; c < CLIENTS; c++) {
        hc_sim_setup(sim, c)->user = c + 1;
        ck_assert(hc_sim_connect(sim, c));
    }
    unsigned playing = 0;
    while (playing < CLIENTS) {
        hc_sim_run(sim, 100 * MS_US);
        for (unsigned c = playing = 0; c < CLIENTS; c++)
            playing += hc_client_state(hc_sim_client(sim, c)) == HC_CLIENT_PLAYING;
    }
    return sim;
}

static unsigned datagrams; ///< with a CLOSE, from the host

START_TEST(every_client_learns_over_any_link_that_the_server_ends) {
    unsigned missed = 0;
    for (unsigned round = 0; round < rounds(); round++) {
        struct hc_sim *sim = begin(links[_i], 700 + round);
        hc_sim_shutdown(sim);
        hc_sim_run(sim, 3 * SECOND_US);
        for (unsigned c = 0; c < CLIENTS; c++)
            missed += hc_sim_events(sim, c)->last.close != HC_CLOSE_SHUTDOWN;
        ck_assert(hc_server_closed(hc_sim_host(sim)));
        hc_sim_destroy(sim);
    }
    printf("%s: %u of %u ends were missed\n", links[_i], missed, CLIENTS * rounds());
    ck_assert_uint_eq(missed, 0);
}
END_TEST

START_TEST(server_learns_over_any_link_that_a_client_leaves) {
    for (unsigned round = 0; round < rounds(); round++) {
        struct hc_sim *sim = begin(links[_i], 800 + round);
        for (unsigned c = 0; c < CLIENTS; c++)
            hc_sim_leave(sim, c);
        hc_sim_run(sim, 3 * SECOND_US);
        ck_assert_uint_eq(hc_server_stats(hc_sim_host(sim))->leaves, CLIENTS);
        for (unsigned c = 0; c < CLIENTS; c++)
            ck_assert_int_eq(hc_client_state(hc_sim_client(sim, c)), HC_CLIENT_CLOSED);
        hc_sim_destroy(sim);
    }
}
END_TEST

/// Counts the datagrams that the host sends.
static void count_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                       size_t size) {
    (void)context, (void)sim, (void)client, (void)bytes, (void)size;
    datagrams++;
}

START_TEST(server_stops_sending_closes_when_they_are_acked) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 20, 900);
    config.hooks.host_sent = count_sent;
    struct hc_sim *sim = hc_sim_create(&config);
    ck_assert(hc_sim_connect_all(sim));
    hc_sim_run(sim, SECOND_US);
    datagrams = 0;
    hc_sim_shutdown(sim);
    hc_sim_run(sim, 100 * MS_US);
    ck_assert(hc_server_closed(hc_sim_host(sim)));
    ck_assert_uint_eq(datagrams, CLIENTS * HC_CLOSES_AT_ONCE); // the ack came before the fourth
    hc_sim_destroy(sim);
}
END_TEST

START_TEST(all_clients_of_a_planned_restart_wait_and_play_again) {
    enum { SECONDS = 2 };
    struct hc_sim *sim = begin(links[_i], 950);
    hc_sim_announce_restart(sim, SECONDS);
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert(hc_server_closed(hc_sim_host(sim)));
    for (unsigned c = 0; c < CLIENTS; c++) {
        const struct hc_client_event *last = &hc_sim_events(sim, c)->last;
        ck_assert_int_eq(last->kind, HC_CLIENT_EVENT_LOST);
        ck_assert_int_eq(last->loss, HC_CLIENT_LOSS_RESTART);
        ck_assert_uint_ge(last->retry_ms, SECONDS * 1000);
    }
    ck_assert(hc_sim_restart_host(sim));
    unsigned back = 0;
    for (unsigned n = 0; back < CLIENTS && n < 250; n++) {
        hc_sim_run(sim, 100 * MS_US);
        for (unsigned c = back = 0; c < CLIENTS; c++)
            back += hc_client_state(hc_sim_client(sim, c)) == HC_CLIENT_PLAYING;
    }
    ck_assert_uint_eq(back, CLIENTS);
    hc_sim_destroy(sim);
}
END_TEST

/// Puts the farewells of the host's clients on the downlink of each; a client takes its own alone.
static void send_farewells(struct hc_sim *sim, bool restarts) {
    struct hc_server_farewell farewells[CLIENTS];
    ck_assert_uint_eq(hc_server_farewells(hc_sim_host(sim), farewells, CLIENTS), CLIENTS);
    for (unsigned c = 0; c < CLIENTS; c++)
        for (unsigned f = 0; f < CLIENTS; f++)
            hc_sim_relay(sim, c, farewells[f].bytes[restarts], farewells[f].sizes[restarts]);
}

START_TEST(clients_take_a_farewell_for_the_end_of_the_server_or_its_restart) {
    struct hc_sim *sim = begin("good", 970);
    bool restarts = _i == 1;
    send_farewells(sim, restarts);
    hc_sim_run(sim, 500 * MS_US);
    for (unsigned c = 0; c < CLIENTS; c++) {
        const struct hc_client_event *last = &hc_sim_events(sim, c)->last;
        if (restarts) {
            ck_assert_int_eq(last->kind, HC_CLIENT_EVENT_LOST);
            ck_assert_int_eq(last->loss, HC_CLIENT_LOSS_RESTART);
            ck_assert_uint_ge(last->retry_ms, 1000);
        } else {
            ck_assert_int_eq(last->close, HC_CLOSE_SHUTDOWN);
        }
    }
    ck_assert(hc_sim_restart_host(sim));
    hc_sim_run(sim, 5 * SECOND_US);
    for (unsigned c = 0; c < CLIENTS; c++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(sim, c)),
                         restarts ? HC_CLIENT_PLAYING : HC_CLIENT_CLOSED);
    hc_sim_destroy(sim);
}
END_TEST

/// The fates of some clients in a planned restart; the others come back.
enum fate {
    KICKED,        ///< kicked before the server says that it restarts
    REFUSED,       ///< refused before the server says that it restarts
    REFUSED_AFTER, ///< refused after that, and again when the server is back
    KICKED_AFTER,  ///< kicked after that, too late: its session has ended
    FATES
};

/// The server reads the list of refused users again.
static void refuse(struct hc_sim *sim, uint32_t count) {
    const uint64_t users[] = {REFUSED + 1, REFUSED_AFTER + 1};
    struct hc_server *host = hc_sim_host(sim);
    ck_assert_int_eq(hc_server_set_refused(host, users, count, 0, hc_sim_host_now(sim)), HC_OK);
}

static enum hc_status kick(struct hc_sim *sim, unsigned client) {
    struct hc_server_session sessions[CLIENTS];
    uint32_t count = hc_server_sessions(hc_sim_host(sim), sessions, CLIENTS), cid = 0;
    for (uint32_t i = 0; i < count; i++)
        cid = sessions[i].client_id == client + 1 ? sessions[i].cid : cid;
    return hc_server_kick(hc_sim_host(sim), cid, HC_CLOSE_KICKED, hc_sim_host_now(sim));
}

/// Checks how often each kind of end was reported to the client.
static void check_ends(struct hc_sim *sim, unsigned client, unsigned closed, unsigned lost,
                       unsigned denied, unsigned back) {
    const uint32_t *count = hc_sim_events(sim, client)->count;
    ck_assert_uint_eq(count[HC_CLIENT_EVENT_CLOSED], closed);
    ck_assert_uint_eq(count[HC_CLIENT_EVENT_LOST], lost);
    ck_assert_uint_eq(count[HC_CLIENT_EVENT_DENIED], denied);
    ck_assert_uint_eq(count[HC_CLIENT_EVENT_RECONNECTED], back);
    ck_assert_int_eq(hc_client_state(hc_sim_client(sim, client)),
                     back > 0 ? HC_CLIENT_PLAYING : HC_CLIENT_CLOSED);
}

START_TEST(clients_put_out_during_a_planned_restart_are_closed_or_denied_once) {
    struct hc_sim *sim = begin(links[_i], 970);
    ck_assert_int_eq(kick(sim, KICKED), HC_OK);
    refuse(sim, 1);
    hc_sim_announce_restart(sim, 2);
    refuse(sim, 2);
    ck_assert_int_eq(kick(sim, KICKED_AFTER), HC_UNEXPECTED);
    hc_sim_run(sim, 3 * SECOND_US);
    ck_assert(hc_server_closed(hc_sim_host(sim)));
    ck_assert_int_eq(hc_sim_events(sim, KICKED)->last.close, HC_CLOSE_KICKED);
    ck_assert_int_eq(hc_sim_events(sim, REFUSED)->last.close, HC_CLOSE_REFUSED);
    ck_assert(hc_sim_restart_host(sim));
    refuse(sim, 2);
    hc_sim_run(sim, 25 * SECOND_US);
    check_ends(sim, KICKED, 1, 0, 0, 0);
    check_ends(sim, REFUSED, 1, 0, 0, 0);
    check_ends(sim, REFUSED_AFTER, 0, 1, 1, 0);
    ck_assert_int_eq(hc_sim_events(sim, REFUSED_AFTER)->last.deny, HC_DENY_REFUSED);
    for (unsigned c = KICKED_AFTER; c < CLIENTS; c++)
        check_ends(sim, c, 0, 1, 0, 1);
    ck_assert_uint_eq(hc_server_sessions(hc_sim_host(sim), NULL, 0), CLIENTS - 3);
    hc_sim_destroy(sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("close");
    TCase *acks = tcase_create("close");
    tcase_add_test(acks, server_stops_sending_closes_when_they_are_acked);
    suite_add_tcase(suite, acks);
    TCase *tests = add_long_plays(suite);
    tcase_add_loop_test(tests, every_client_learns_over_any_link_that_the_server_ends, 0, 2);
    tcase_add_loop_test(tests, server_learns_over_any_link_that_a_client_leaves, 0, 2);
    tcase_add_loop_test(tests, all_clients_of_a_planned_restart_wait_and_play_again, 0, 2);
    tcase_add_loop_test(tests, clients_take_a_farewell_for_the_end_of_the_server_or_its_restart, 0,
                        2);
    tcase_add_loop_test(tests, clients_put_out_during_a_planned_restart_are_closed_or_denied_once,
                        0, 2);
    return run_suite(suite);
}
