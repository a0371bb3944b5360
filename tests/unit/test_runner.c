/// Tests client/programs/runner: the turns of a client over a real socket, in virtual time.
#define _GNU_SOURCE

#include "client/programs/runner.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    LATENCY_US = 20000, ///< of the link, each way
    PROTOCOL_ID = 7,    ///< of the server's build, another one
    TURNS = 1000,       ///< a client ends long before
};

static int server; ///< its socket, to which nobody listens but the tests
static struct sockaddr_storage client_at;
static struct hc_cl_next_server search;
static struct hc_cl_runner runner;
static uint64_t now_us;
static unsigned advances, dues, versions;

static void on_advances(void *owner, bool due, uint64_t at_us) {
    ck_assert_ptr_eq(owner, &runner);
    ck_assert_uint_eq(at_us, now_us);
    advances++;
    dues += due;
}

static void on_event(void *owner, const struct hc_client_event *event, uint64_t at_us) {
    ck_assert_ptr_eq(owner, &runner);
    ck_assert_uint_eq(at_us, now_us);
    versions += event->kind == HC_CLIENT_EVENT_VERSION;
}

static const struct hc_cl_runner_calls calls = {.advances = on_advances, .event = on_event};

static void begin(void) {
    struct hc_client_config config = hc_client_config_default();
    config.game = &hc_arena;
    ck_assert(hc_cl_runner_begin(&runner, &config, false, now_us));
}

static void set_up(void) {
    char why[256];
    struct hc_cl_udp_peer peer = {.length = sizeof(struct sockaddr_in)};
    struct sockaddr_in *at = (struct sockaddr_in *)&peer.address;
    const struct hc_network_sim_config link = {.latency_us = LATENCY_US};
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(bind(server, (struct sockaddr *)at, sizeof *at), 0);
    ck_assert_int_eq(getsockname(server, (struct sockaddr *)at, &peer.length), 0);
    now_us = 1000000;
    advances = dues = versions = 0;
    search = (struct hc_cl_next_server){.is_over = false};
    runner = (struct hc_cl_runner){.udp = hc_cl_udp_open(&peer, &link, 1, why, sizeof why),
                                   .calls = &calls,
                                   .owner = &runner,
                                   .search = &search};
    ck_assert_ptr_nonnull(runner.udp);
    begin();
}

static void tear_down(void) {
    hc_cl_runner_end(&runner);
    hc_cl_udp_close(runner.udp);
    close(server);
}

/// Receives a datagram of the client into `out`; returns its size, 0: there is none.
static size_t receive(uint8_t out[static HC_DATAGRAM_MAX]) {
    socklen_t length = sizeof client_at;
    ssize_t size = recvfrom(server, out, HC_DATAGRAM_MAX, MSG_DONTWAIT,
                            (struct sockaddr *)&client_at, &length);
    return size > 0 ? (size_t)size : 0;
}

START_TEST(datagram_reaches_the_server_when_it_has_passed_the_link) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    ck_assert_uint_eq(hc_cl_runner_turn(&runner, now_us), now_us + LATENCY_US);
    ck_assert_uint_eq(receive(bytes), 0);
    ck_assert_uint_eq(advances, 1);
    now_us += LATENCY_US;
    uint64_t next_us = hc_cl_runner_turn(&runner, now_us);
    ck_assert_uint_eq(receive(bytes), HC_DATAGRAM_HELLO_SIZE);
    ck_assert_uint_eq(advances, 1); // the client itself had nothing to do
    ck_assert_uint_eq(next_us, runner.due_us);
    ck_assert_uint_gt(next_us, now_us);
    now_us = next_us;
    hc_cl_runner_turn(&runner, now_us);
    ck_assert_uint_eq(dues, 2);
}
END_TEST

/// Answers the client's HELLO with VERSION, and gives the client its turns until it is closed.
static void turn_away(void) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_hello hello;
    hc_cl_runner_turn(&runner, now_us);
    now_us += LATENCY_US;
    hc_cl_runner_turn(&runner, now_us);
    size_t size = receive(bytes);
    ck_assert_int_eq(hc_datagram_get_hello(bytes, size, &hello), HC_OK);
    struct hc_version version = {.protocol_id = PROTOCOL_ID};
    memcpy(version.client_nonce, hello.client_nonce, sizeof version.client_nonce);
    size = hc_datagram_put_version(&version, bytes);
    ck_assert_int_eq(
        sendto(server, bytes, size, 0, (struct sockaddr *)&client_at, sizeof(struct sockaddr_in)),
        (ssize_t)size);
    hc_cl_udp_receive(runner.udp, now_us);
    for (unsigned i = 0; i < TURNS && now_us != UINT64_MAX && versions == 0; i++) {
        uint64_t next_us = hc_cl_runner_turn(&runner, now_us);
        now_us = versions == 0 ? next_us : now_us;
    }
    ck_assert_uint_eq(versions, 1);
    ck_assert_int_eq(hc_client_state(runner.client), HC_CLIENT_CLOSED);
    ck_assert_uint_eq(hc_client_attempt(runner.client).protocol_id, PROTOCOL_ID);
    ck_assert_uint_eq(runner.connected_us, 0); // it had no connection
    ck_assert_uint_eq(search.connected_us, 0);
}

START_TEST(client_of_another_build_is_stranded_while_the_search_goes_on) {
    turn_away();
    ck_assert(runner.stranded);
    hc_cl_runner_end(&runner);
    ck_assert(!runner.stranded);
    begin();
    ck_assert_int_eq(hc_client_state(runner.client), HC_CLIENT_CONNECTING);
    advances = 0;
    hc_cl_runner_turn(&runner, now_us);
    ck_assert_uint_eq(advances, 1); // nothing of the client before is left
}
END_TEST

START_TEST(client_of_another_build_is_not_stranded_when_the_search_has_failed) {
    search.is_over = true;
    turn_away();
    ck_assert(!runner.stranded);
}
END_TEST

START_TEST(client_that_left_has_turns_until_its_link_is_empty) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    hc_cl_runner_turn(&runner, now_us);
    hc_cl_runner_leave(&runner, now_us);
    ck_assert_uint_eq(hc_cl_runner_deadline(&runner), 0);
    ck_assert_uint_eq(hc_cl_runner_turn(&runner, now_us), now_us + LATENCY_US);
    ck_assert_int_eq(hc_client_state(runner.client), HC_CLIENT_CLOSED);
    now_us += LATENCY_US;
    ck_assert_uint_eq(hc_cl_runner_turn(&runner, now_us), UINT64_MAX);
    ck_assert_uint_eq(receive(bytes), HC_DATAGRAM_HELLO_SIZE);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("runner");
    TCase *tc = tcase_create("turns");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, datagram_reaches_the_server_when_it_has_passed_the_link);
    tcase_add_test(tc, client_of_another_build_is_stranded_while_the_search_goes_on);
    tcase_add_test(tc, client_of_another_build_is_not_stranded_when_the_search_has_failed);
    tcase_add_test(tc, client_that_left_has_turns_until_its_link_is_empty);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
