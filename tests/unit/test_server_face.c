/// The public face of the server (hindcast/server.h), played by clients of the library.
#include "hindcast/arena.h"
#include "hindcast/client.h"
#include "hindcast/server.h"
#include "tests/run_suite.h"
#include "tests/unit/exchange.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_US = 5000, SECOND_US = 1000000, LIFE_S = 60 };
#define UNIX_US (UINT64_C(1700000000) * SECOND_US)

static struct hc_server_config config;
static struct hc_server *server;
static struct hc_server_event event;        ///< the newest of the server
static struct hc_client_event client_event; ///< the newest of the client
static unsigned events;                     ///< of the server, of the last run
static uint64_t now_us;

static const enum hc_deny_reason deny_reasons[] = {HC_DENY_REFUSED, HC_DENY_GAME,
                                                   HC_DENY_GAME_LAST};
static const enum hc_close_reason close_reasons[] = {HC_CLOSE_KICKED, HC_CLOSE_GAME,
                                                     HC_CLOSE_GAME_LAST};

/// The questions to `admit`, and its answer.
static struct {
    unsigned asked;
    struct hc_server_user user;
    enum hc_deny_reason answer;
} admission;

static enum hc_deny_reason admit(void *context, const struct hc_server_user *user,
                                 const struct hc_address *from) {
    ck_assert_ptr_eq(context, &admission);
    ck_assert_uint_eq(from->port, EXCHANGE_PORT);
    admission.asked++;
    admission.user = *user;
    return admission.answer;
}

static void set_up(void) {
    now_us = 5 * SECOND_US;
    memset(&admission, 0, sizeof admission);
    config = hc_server_config_default();
    config.game = &hc_arena;
    config.keys.count = 1;
    config.keys.keys[0].key[0] = 1;
    config.admit = admit;
    config.admit_context = &admission;
}

static void tear_down(void) {
    hc_server_destroy(server);
    server = NULL;
}

static struct hc_server_user ada(void) {
    struct hc_server_user user = {.client_id = 7, .players = 1};
    memcpy(user.name, "Ada", 3);
    user.user_data[0] = 9;
    return user;
}

/// A client of Ada's, with a token that the server issues.
static struct hc_client *create_client(void) {
    struct hc_client_config client = hc_client_config_default();
    struct hc_server_user user = ada();
    client.game = &hc_arena;
    ck_assert_int_eq(hc_server_issue(server, &user, LIFE_S, &client.credential, now_us), HC_OK);
    return hc_client_create(&client, now_us);
}

/// Runs both for a second.
static void run(struct hc_client *client) {
    struct hc_client_event next;
    events = 0;
    for (uint64_t end_us = now_us + SECOND_US; now_us < end_us; now_us += STEP_US) {
        exchange(client, server, now_us);
        while (hc_server_poll_event(server, &event))
            events++;
        while (hc_client_poll_event(client, &next))
            client_event = next;
    }
}

static void begin(void) {
    server = hc_server_create(&config, UNIX_US, now_us);
    ck_assert_ptr_nonnull(server);
}

START_TEST(server_hands_over_the_user_of_a_token_that_it_issued) {
    begin();
    struct hc_client *client = create_client();
    struct hc_server_user user = ada();
    run(client);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    ck_assert_uint_eq(admission.asked, 1);
    ck_assert_uint_eq(admission.user.client_id, 7);
    ck_assert_uint_eq(admission.user.players, 1);
    ck_assert(!admission.user.watch);
    ck_assert_mem_eq(admission.user.name, user.name, sizeof user.name);
    ck_assert_mem_eq(admission.user.user_data, user.user_data, sizeof user.user_data);
    ck_assert_uint_eq(events, 1);
    ck_assert_int_eq(event.kind, HC_SERVER_EVENT_JOINED);
    ck_assert_uint_eq(event.client_id, 7);
    ck_assert_mem_eq(event.name, user.name, sizeof user.name);
    ck_assert_mem_eq(event.user_data, user.user_data, sizeof user.user_data);
    ck_assert_uint_eq(event.player_count, 1);
    ck_assert_uint_eq(hc_server_clients(server), 1);
    hc_client_destroy(client);
}
END_TEST

START_TEST(game_denies_a_user_with_its_reason) {
    begin();
    struct hc_client *client = create_client();
    admission.answer = deny_reasons[_i];
    run(client);
    ck_assert_uint_eq(admission.asked, 1);
    ck_assert_uint_eq(events, 0);
    ck_assert_int_eq(client_event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(client_event.deny, admission.answer);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_CLOSED);
    ck_assert_uint_eq(hc_server_stats(server)->denials[HC_DENY_REFUSED].count, 1);
    hc_client_destroy(client);
}
END_TEST

START_TEST(user_with_a_session_is_admitted_again_without_a_question) {
    begin();
    struct hc_client *client = create_client();
    run(client);
    uint32_t cid = event.cid;
    hc_client_destroy(client);
    now_us += config.timeout_us;
    client = create_client();
    run(client);
    ck_assert_int_eq(event.kind, HC_SERVER_EVENT_RECONNECTED);
    ck_assert_uint_eq(event.before, cid);
    ck_assert_uint_ne(event.cid, cid);
    ck_assert_uint_eq(event.user_data[0], 9);
    ck_assert_uint_eq(admission.asked, 1);
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_PLAYING);
    hc_client_destroy(client);
}
END_TEST

START_TEST(kicked_client_is_closed_with_the_reason) {
    begin();
    struct hc_client *client = create_client();
    run(client);
    uint32_t cid = event.cid;
    enum hc_close_reason reason = close_reasons[_i];
    ck_assert_int_eq(hc_server_kick(server, cid, HC_CLOSE_LEFT, now_us), HC_INVALID);
    ck_assert_int_eq(hc_server_kick(server, cid + 1, HC_CLOSE_KICKED, now_us), HC_UNEXPECTED);
    ck_assert_int_eq(hc_server_kick(server, cid, reason, now_us), HC_OK);
    ck_assert_int_eq(hc_server_kick(server, cid, HC_CLOSE_KICKED, now_us), HC_UNEXPECTED);
    run(client);
    ck_assert_int_eq(event.kind, HC_SERVER_EVENT_LEFT);
    ck_assert_int_eq(event.close, reason);
    ck_assert_int_eq(client_event.kind, HC_CLIENT_EVENT_CLOSED);
    ck_assert_int_eq(client_event.close, reason);
    ck_assert_uint_eq(hc_server_clients(server), 0);
    hc_client_destroy(client);
}
END_TEST

START_TEST(messages_arrive_in_order_both_ways) {
    struct hc_server_message received;
    const uint8_t *message;
    size_t size;
    begin();
    struct hc_client *client = create_client();
    run(client);
    for (uint8_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(hc_server_send_message(server, event.cid, &i, 1, now_us), HC_OK);
        ck_assert_int_eq(hc_client_send_message(client, &i, 1), HC_OK);
    }
    run(client);
    for (uint8_t i = 1; i <= 3; i++) {
        message = hc_server_next_message(server, &received);
        ck_assert(message != NULL && received.size == 1 && *message == i);
        ck_assert(received.cid == event.cid && received.client_id == 7);
        message = hc_client_next_message(client, &size);
        ck_assert(message != NULL && size == 1 && *message == i);
    }
    ck_assert_ptr_null(hc_server_next_message(server, &received));
    ck_assert_ptr_null(hc_client_next_message(client, &size));
    hc_client_destroy(client);
}
END_TEST

START_TEST(unreliable_messages_arrive_once_both_ways_and_only_while_connected) {
    struct hc_server_message received;
    const uint8_t *message;
    size_t size;
    begin();
    struct hc_client *client = create_client();
    ck_assert_int_eq(hc_client_send_unreliable(client, "a", 1), HC_UNEXPECTED);
    run(client);
    ck_assert_int_eq(hc_server_send_unreliable(server, event.cid + 1, "s", 1), HC_UNEXPECTED);
    ck_assert_int_eq(hc_server_send_unreliable(server, event.cid, "s", 0), HC_INVALID);
    ck_assert_int_eq(hc_server_send_unreliable(server, event.cid, "s", 1), HC_OK);
    ck_assert_int_eq(hc_client_send_unreliable(client, "c", 1), HC_OK);
    run(client);
    message = hc_server_next_unreliable(server, &received);
    ck_assert(message != NULL && received.size == 1 && *message == 'c');
    ck_assert(received.cid == event.cid && received.client_id == 7);
    message = hc_client_next_unreliable(client, &size);
    ck_assert(message != NULL && size == 1 && *message == 's');
    ck_assert_ptr_null(hc_server_next_unreliable(server, &received));
    ck_assert_ptr_null(hc_client_next_unreliable(client, &size));
    ck_assert_uint_eq(hc_server_stats(server)->unreliable_received, 1);
    ck_assert_uint_eq(hc_client_stats(client)->unreliable_received, 1);
    hc_client_destroy(client);
}
END_TEST

START_TEST(an_unreliable_message_without_room_is_dropped_and_counted) {
    uint8_t message[HC_MESSAGE_SIZE_MAX] = {1};
    begin();
    struct hc_client *client = create_client();
    run(client);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(hc_server_send_unreliable(server, event.cid, message, sizeof message),
                         HC_OK);
        ck_assert_int_eq(hc_client_send_unreliable(client, message, sizeof message), HC_OK);
    }
    ck_assert_int_eq(hc_server_send_unreliable(server, event.cid, message, 1), HC_FULL);
    ck_assert_int_eq(hc_client_send_unreliable(client, message, 1), HC_FULL);
    ck_assert_uint_eq(hc_server_stats(server)->unreliable_dropped, 1);
    ck_assert_uint_eq(hc_client_stats(client)->unreliable_dropped, 1);
    run(client);
    ck_assert_uint_eq(hc_server_stats(server)->unreliable_received, 4);
    ck_assert_uint_eq(hc_client_stats(client)->unreliable_received, 4);
    // The unread ones of a client that leaves are gone.
    struct hc_server_message received;
    ck_assert_int_eq(hc_server_kick(server, event.cid, HC_CLOSE_KICKED, now_us), HC_OK);
    ck_assert_ptr_null(hc_server_next_unreliable(server, &received));
    hc_client_destroy(client);
}
END_TEST

START_TEST(refused_users_are_closed_and_an_unordered_list_changes_nothing) {
    const uint64_t ordered[] = {6, 7, 7}, unordered[] = {7, 6};
    begin();
    struct hc_client *client = create_client();
    run(client);
    ck_assert_int_eq(hc_server_set_refused(server, unordered, 2, 0, now_us), HC_INVALID);
    ck_assert_uint_eq(hc_server_clients(server), 1);
    ck_assert_int_eq(hc_server_set_refused(server, ordered, 3, 0, now_us), HC_OK);
    ck_assert_uint_eq(hc_server_clients(server), 0);
    run(client);
    ck_assert_int_eq(client_event.close, HC_CLOSE_REFUSED);
    ck_assert_int_eq(event.close, HC_CLOSE_REFUSED);
    ck_assert(!event.by_client);
    hc_client_destroy(client);
}
END_TEST

START_TEST(session_from_before_the_owners_instant_is_over) {
    begin();
    struct hc_client *client = create_client();
    run(client);
    ck_assert_int_eq(hc_server_set_refused(server, NULL, 0, UNIX_US / SECOND_US + 60, now_us),
                     HC_OK);
    run(client);
    ck_assert_int_eq(client_event.close, HC_CLOSE_SESSION_OVER);
    ck_assert_int_eq(event.close, HC_CLOSE_SESSION_OVER);
    hc_client_destroy(client);
}
END_TEST

START_TEST(restarting_server_is_closed_when_its_clients_know_and_denies_for_as_long) {
    begin();
    struct hc_client *client = create_client();
    run(client);
    hc_server_restart(server, 7, now_us);
    ck_assert(!hc_server_closed(server));
    exchange(client, server, now_us); // CLOSE
    exchange(client, server, now_us); // and its answer
    ck_assert(hc_server_closed(server));
    ck_assert_int_eq(hc_client_state(client), HC_CLIENT_RECONNECTING);
    struct hc_client *other = create_client();
    run(other);
    ck_assert_int_eq(client_event.kind, HC_CLIENT_EVENT_DENIED);
    ck_assert_int_eq(client_event.deny, HC_DENY_SHUTDOWN);
    ck_assert_uint_eq(client_event.retry_ms, 7000);
    hc_client_destroy(other);
    hc_client_destroy(client);
}
END_TEST

START_TEST(server_issues_no_token_that_it_would_deny) {
    struct hc_credential credential;
    struct hc_server_user user = ada();
    begin();
    user.players = HC_OWN_PLAYERS_MAX + 1;
    ck_assert_int_eq(hc_server_issue(server, &user, LIFE_S, &credential, now_us), HC_INVALID);
    user = ada();
    user.name[0] = '\n';
    ck_assert_int_eq(hc_server_issue(server, &user, LIFE_S, &credential, now_us), HC_INVALID);
    memset(user.name, 0, sizeof user.name);
    ck_assert_int_eq(hc_server_issue(server, &user, LIFE_S, &credential, now_us), HC_OK);
    ck_assert_uint_eq(hc_token_expire_s(&credential), UNIX_US / SECOND_US + LIFE_S);
}
END_TEST

START_TEST(server_of_another_version_refuses_the_configuration) {
    char why[200];
    ck_assert_ptr_null(hc_server_config_check(&config, why, sizeof why));
    const size_t sizes[] = {offsetof(struct hc_server_config, admit_context), sizeof config + 1};
    for (unsigned i = 0; i < 2; i++) {
        config.size = (uint32_t)sizes[i];
        ck_assert_ptr_nonnull(hc_server_config_check(&config, why, sizeof why));
        ck_assert_ptr_nonnull(strstr(why, "size is "));
        ck_assert_ptr_null(hc_server_create(&config, UNIX_US, now_us));
    }
}
END_TEST

START_TEST(defaults_fill_the_size_that_the_program_knows) {
    struct {
        struct hc_server_config config;
        uint64_t after;
    } known = {.after = 5};
    uint32_t shorter = sizeof known.config - 8;
    memset(&known.config, 0xee, sizeof known.config);
    hc_server_config_init(&known.config, shorter);
    ck_assert_uint_eq(known.config.size, shorter);
    ck_assert_uint_eq(known.config.tick_rate, 60);
    ck_assert_uint_eq(((const uint8_t *)&known.config)[shorter], 0xee);
    hc_server_config_init(&known.config, sizeof known);
    ck_assert_uint_eq(known.config.size, sizeof known);
    ck_assert_uint_eq(known.after, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server face");
    TCase *tests = tcase_create("face");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, server_hands_over_the_user_of_a_token_that_it_issued);
    tcase_add_loop_test(tests, game_denies_a_user_with_its_reason, 0, 3);
    tcase_add_test(tests, user_with_a_session_is_admitted_again_without_a_question);
    tcase_add_loop_test(tests, kicked_client_is_closed_with_the_reason, 0, 3);
    tcase_add_test(tests, messages_arrive_in_order_both_ways);
    tcase_add_test(tests, unreliable_messages_arrive_once_both_ways_and_only_while_connected);
    tcase_add_test(tests, an_unreliable_message_without_room_is_dropped_and_counted);
    tcase_add_test(tests, refused_users_are_closed_and_an_unordered_list_changes_nothing);
    tcase_add_test(tests, session_from_before_the_owners_instant_is_over);
    tcase_add_test(tests, restarting_server_is_closed_when_its_clients_know_and_denies_for_as_long);
    tcase_add_test(tests, server_issues_no_token_that_it_would_deny);
    tcase_add_test(tests, server_of_another_version_refuses_the_configuration);
    tcase_add_test(tests, defaults_fill_the_size_that_the_program_knows);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
