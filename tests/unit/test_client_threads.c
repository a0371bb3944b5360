/// Objects of the libraries in different threads: they share nothing. The thread sanitizer watches.
#include "hindcast/arena.h"
#include "hindcast/client.h"
#include "hindcast/server.h"
#include "tests/run_suite.h"
#include "tests/unit/exchange.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_US = 5000, SECOND_US = 1000000, RUN_US = 2 * SECOND_US, LIFE_S = 60 };
#define UNIX_US (UINT64_C(1700000000) * SECOND_US)

/// A server and its client, of one thread.
struct pair {
    pthread_t thread;
    struct hc_server *server;
    struct hc_client *client;
    uint64_t now_us;
};

static void *play(void *context) {
    struct pair *pair = context;
    static const uint8_t secret[HC_SERVER_SECRET_SIZE] = {1};
    struct hc_server_config server = hc_server_config_default();
    struct hc_client_config client = hc_client_config_default();
    struct hc_server_user user = {.client_id = 7, .players = 1};
    server.game = client.game = &hc_arena;
    server.keys.count = 1;
    server.secret = secret;
    pair->now_us = 5 * SECOND_US;
    pair->server = hc_server_create(&server, UNIX_US, pair->now_us);
    ck_assert_ptr_nonnull(pair->server);
    ck_assert_int_eq(hc_server_issue(pair->server, &user, LIFE_S, &client.credential, pair->now_us),
                     HC_OK);
    pair->client = hc_client_create(&client, pair->now_us);
    ck_assert_ptr_nonnull(pair->client);
    for (uint64_t end_us = pair->now_us + RUN_US; pair->now_us < end_us; pair->now_us += STEP_US) {
        struct hc_arena_input input = {.move_x = (int8_t)(pair->now_us / 100000 % 3) - 1};
        if (hc_client_state(pair->client) == HC_CLIENT_PLAYING)
            hc_client_set_input(pair->client, 0, &input);
        exchange(pair->client, pair->server, pair->now_us);
    }
    return NULL;
}

START_TEST(two_clients_in_two_threads_play_alike) {
    struct pair pairs[2] = {{.server = NULL}, {.server = NULL}};
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&pairs[i].thread, NULL, play, &pairs[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(pairs[i].thread, NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct hc_timeline *own = hc_server_timeline(pairs[i].server);
        ck_assert_int_eq(hc_client_state(pairs[i].client), HC_CLIENT_PLAYING);
        ck_assert_uint_ge(hc_timeline_head(own), 100);
        ck_assert_uint_eq(
            hc_timeline_hash(own, hc_timeline_head(own)),
            hc_timeline_hash(hc_server_timeline(pairs[0].server), hc_timeline_head(own)));
    }
    for (unsigned i = 0; i < 2; i++) {
        hc_client_destroy(pairs[i].client);
        hc_server_destroy(pairs[i].server);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("threads");
    TCase *tests = tcase_create("threads");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, two_clients_in_two_threads_play_alike);
    return run_suite(suite);
}
