/// Notices of a server reach each client once and in order, whatever the network loses.
#include "tests/sim/players.h"

#include "hindcast/arena.h"
#include "hindcast/rng.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <string.h>

enum { CLIENTS = 6, NOTICES = 200 };

/// The notices that were sent to one client, and those that came: their numbers, which their texts
/// have.
struct received {
    unsigned sent[NOTICES], sent_count, came[2 * NOTICES], came_count;
    struct hc_notice last;
};

struct match {
    struct hc_sim *sim;
    struct received received[CLIENTS];
    unsigned number;
};

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    struct match *match = context;
    struct received *received = &match->received[client];
    (void)sim;
    ck_assert((event->kind == HC_CLIENT_EVENT_NOTICE) == (event->notice != NULL));
    if (event->notice == NULL)
        return;
    unsigned number;
    ck_assert_int_eq(sscanf(event->notice->text, "notice %u", &number), 1);
    ck_assert_uint_lt(received->came_count, 2 * NOTICES);
    received->came[received->came_count++] = number;
    received->last = *event->notice;
}

static void begin(struct match *match, uint64_t seed, uint32_t loss_percent) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, CLIENTS, 60, seed);
    memset(match, 0, sizeof *match);
    config.up = config.down = hc_sim_link(60, loss_percent);
    config.up.jitter_us = config.down.jitter_us = 50 * MS_US;
    config.host.timeout_us = config.client.timeout_us = 3 * SECOND_US;
    config.hooks.client_event = client_event;
    config.context = match;
    match->sim = hc_sim_create(&config);
    ck_assert_ptr_nonnull(match->sim);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert(hc_sim_connect(match->sim, i));
    hc_sim_run(match->sim, 3 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(hc_client_state(hc_sim_client(match->sim, i)), HC_CLIENT_PLAYING);
}

/// The number by which the server calls a client now.
static uint32_t cid_of(const struct match *match, unsigned client) {
    struct hc_server_client list[CLIENTS];
    hc_player player = hc_client_player(hc_sim_client(match->sim, client), 0);
    uint32_t count =
        hc_server_list_clients(hc_sim_host(match->sim), list, CLIENTS, hc_sim_now(match->sim));
    for (uint32_t i = 0; i < count; i++)
        if (list[i].players[0] == player)
            return list[i].session.cid;
    ck_abort_msg("client %u has no session", client);
}

/// Sends the next notice to `client`, or (CLIENTS) to all.
static void notify(struct match *match, unsigned client) {
    struct hc_notice notice = {.kind = HC_NOTICE_OPERATOR};
    uint32_t cid = client == CLIENTS ? 0 : cid_of(match, client);
    snprintf(notice.text, sizeof notice.text, "notice %u \xe2\x82\xac", ++match->number);
    ck_assert_int_eq(
        hc_server_notify(hc_sim_host(match->sim), cid, &notice, hc_sim_host_now(match->sim)),
        HC_OK);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (client == CLIENTS || client == i)
            match->received[i].sent[match->received[i].sent_count++] = match->number;
}

/// Each client has what was sent to it from its `first` notice on.
static void check_received(const struct match *match, unsigned client, unsigned first) {
    const struct received *received = &match->received[client];
    ck_assert_uint_eq(received->came_count, received->sent_count - first);
    for (unsigned i = 0; i < received->came_count; i++)
        ck_assert_uint_eq(received->came[i], received->sent[first + i]);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(match->sim, client))->notices,
                      received->came_count);
}

START_TEST(each_notice_comes_once_and_in_order_though_a_third_of_all_datagrams_is_lost) {
    static struct match match;
    struct hc_rng rng = hc_rng_init(7, 1);
    begin(&match, 7, 33);
    for (unsigned i = 0; i < 60; i++) {
        notify(&match, hc_rng_chance(&rng, 500000) ? CLIENTS : hc_rng_below(&rng, CLIENTS));
        hc_sim_run(match.sim, hc_rng_below(&rng, 1200 * MS_US));
    }
    hc_sim_run(match.sim, 30 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_uint_gt(match.received[i].came_count, 10);
        check_received(&match, i, 0);
    }
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(match.sim))->notices, 60);
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(match.sim))->notices_missed, 0);
    hc_sim_destroy(match.sim);
}
END_TEST

START_TEST(a_client_that_was_lost_receives_after_its_return_what_was_sent_meanwhile) {
    static struct match match;
    struct hc_network_sim_config dead = hc_sim_link(60, 100), alive = hc_sim_link(60, 0);
    begin(&match, 8, 0);
    notify(&match, 0);
    hc_sim_set_link(match.sim, 0, &dead, &dead);
    notify(&match, CLIENTS); // this one is on its way when the connection is lost
    hc_sim_run(match.sim, 6 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(match.sim, 0)), HC_CLIENT_RECONNECTING);
    notify(&match, CLIENTS);
    notify(&match, 1);
    hc_sim_set_link(match.sim, 0, &alive, &alive);
    hc_sim_run(match.sim, 6 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(match.sim, 0)), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(hc_client_stats(hc_sim_client(match.sim, 0))->reconnects, 1);
    for (unsigned i = 0; i < CLIENTS; i++)
        check_received(&match, i, 0);
    hc_sim_destroy(match.sim);
}
END_TEST

START_TEST(a_client_that_acks_nothing_for_long_misses_the_oldest_notices_alone) {
    static struct match match;
    struct hc_network_sim_config dead = hc_sim_link(60, 100), alive = hc_sim_link(60, 0);
    begin(&match, 9, 0);
    hc_sim_set_link(match.sim, 0, &dead, &dead);
    for (unsigned i = 0; i < 40; i++)
        notify(&match, i % 2 == 0 ? CLIENTS : 1);
    hc_sim_run(match.sim, 2 * SECOND_US);
    hc_sim_set_link(match.sim, 0, &alive, &alive);
    hc_sim_run(match.sim, 20 * SECOND_US);
    check_received(&match, 0, 4); // of the first eight, four were for it
    check_received(&match, 2, 4);
    ck_assert_uint_gt(hc_server_stats(hc_sim_host(match.sim))->notices_missed, 0);
    hc_sim_destroy(match.sim);
}
END_TEST

START_TEST(a_client_that_joins_receives_nothing_that_was_sent_before) {
    static struct match match;
    begin(&match, 10, 0);
    hc_sim_leave(match.sim, 0);
    hc_sim_run(match.sim, SECOND_US);
    for (unsigned i = 0; i < 5; i++)
        notify(&match, CLIENTS);
    match.received[0].sent_count = 0;
    ck_assert(hc_sim_connect(match.sim, 0));
    hc_sim_run(match.sim, 3 * SECOND_US);
    notify(&match, CLIENTS);
    hc_sim_run(match.sim, 3 * SECOND_US);
    for (unsigned i = 0; i < CLIENTS; i++)
        check_received(&match, i, 0);
    hc_sim_destroy(match.sim);
}
END_TEST

START_TEST(the_seconds_of_a_notice_are_those_left_when_it_is_sent) {
    static struct match match;
    struct hc_network_sim_config dead = hc_sim_link(60, 100), alive = hc_sim_link(60, 0);
    struct hc_notice notice = {.kind = HC_NOTICE_ENDING, .seconds = 60};
    snprintf(notice.where, sizeof notice.where, "example.net:40000");
    snprintf(notice.text, sizeof notice.text, "notice 1");
    begin(&match, 11, 0);
    hc_sim_set_link(match.sim, 0, &dead, &dead);
    ck_assert_int_eq(
        hc_server_notify(hc_sim_host(match.sim), 0, &notice, hc_sim_host_now(match.sim)), HC_OK);
    hc_sim_run(match.sim, 2 * SECOND_US + 500 * MS_US);
    hc_sim_set_link(match.sim, 0, &alive, &alive);
    hc_sim_run(match.sim, 5 * SECOND_US);
    const struct hc_notice *late = &match.received[0].last, *soon = &match.received[1].last;
    ck_assert_int_eq(late->kind, HC_NOTICE_ENDING);
    ck_assert_str_eq(late->where, notice.where);
    ck_assert_uint_eq(soon->seconds, 60);
    ck_assert_uint_ge(late->seconds, 56);
    ck_assert_uint_le(late->seconds, 58);
    hc_sim_destroy(match.sim);
}
END_TEST

START_TEST(a_notice_that_cannot_be_shown_or_has_no_client_changes_nothing) {
    static struct match match;
    struct hc_notice good = {.kind = HC_NOTICE_OPERATOR, .text = "words"};
    struct hc_notice bad = {.kind = HC_NOTICE_OPERATOR, .text = "a bell \a"};
    begin(&match, 12, 0);
    struct hc_server *host = hc_sim_host(match.sim);
    ck_assert_int_eq(hc_server_notify(host, 0, &bad, hc_sim_host_now(match.sim)), HC_INVALID);
    ck_assert_int_eq(hc_server_notify(host, 77, &good, hc_sim_host_now(match.sim)), HC_UNEXPECTED);
    hc_sim_run(match.sim, 2 * SECOND_US);
    ck_assert_uint_eq(hc_server_stats(host)->notices, 0);
    for (unsigned i = 0; i < CLIENTS; i++)
        check_received(&match, i, 0);
    hc_sim_destroy(match.sim);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("notices");
    TCase *tests = tcase_create("notices");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests,
                   each_notice_comes_once_and_in_order_though_a_third_of_all_datagrams_is_lost);
    tcase_add_test(tests, a_client_that_was_lost_receives_after_its_return_what_was_sent_meanwhile);
    tcase_add_test(tests, a_client_that_acks_nothing_for_long_misses_the_oldest_notices_alone);
    tcase_add_test(tests, a_client_that_joins_receives_nothing_that_was_sent_before);
    tcase_add_test(tests, the_seconds_of_a_notice_are_those_left_when_it_is_sent);
    tcase_add_test(tests, a_notice_that_cannot_be_shown_or_has_no_client_changes_nothing);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
