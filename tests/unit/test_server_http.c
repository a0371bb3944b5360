/// Tests server/daemon/http: which connections end when there are too many.
#define _GNU_SOURCE

#include "server/daemon/http.h"
#include "server/daemon/http_request.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CROWD = 100, ///< connections that fit into a listener's queue, and are more than may be open
    IDLE_S = 600,
};

static struct event_base *base;
static struct hc_sv_http *http;
static struct sockaddr_in at;
static int crowd[CROWD];

static void answer(struct evhttp_request *request, void *context) {
    (void)context;
    hc_sv_http_reply(request, HTTP_OK, "here");
}

static void set_up(void) {
    const struct hc_sv_http_config config = {
        .methods = EVHTTP_REQ_GET, .idle_s = IDLE_S, .request = answer};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_storage opened;
    base = event_base_new();
    http = hc_sv_http_open(base, &config);
    ck_assert_ptr_nonnull(http);
    ck_assert(hc_sv_http_listen(http, (struct sockaddr *)&any, sizeof any));
    hc_sv_http_address(http, &opened);
    memcpy(&at, &opened, sizeof at);
}

static void tear_down(void) {
    hc_sv_http_close(http);
    event_base_free(base);
}

/// Connects from 127.0.0.`host`.
static int connect_from(uint8_t host) {
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + host)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(descriptor, (struct sockaddr *)&from, sizeof from), 0);
    ck_assert_int_eq(connect(descriptor, (struct sockaddr *)&at, sizeof at), 0);
    return descriptor;
}

static void request(int descriptor) {
    static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    ck_assert_int_eq((int)send(descriptor, text, strlen(text), MSG_NOSIGNAL), (int)strlen(text));
}

/// Runs the loop until bytes come on a connection, or its end; returns whether they are an answer.
static bool is_answered(int descriptor) {
    char text[512] = "";
    ssize_t size;
    while ((size = recv(descriptor, text, sizeof text - 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
        event_base_loop(base, EVLOOP_ONCE);
    return size > 0 && strncmp(text, "HTTP/1.1 200", 12) == 0;
}

static void open_crowd(void) {
    for (unsigned i = 0; i < CROWD; i++)
        crowd[i] = connect_from(1);
}

static void close_crowd(void) {
    for (unsigned i = 0; i < CROWD; i++)
        close(crowd[i]);
}

START_TEST(a_crowd_of_one_address_ends_none_of_another) {
    int other = connect_from(2);
    request(other);
    ck_assert(is_answered(other));
    for (unsigned round = 0; round < 3; round++) {
        open_crowd();
        request(crowd[CROWD - 1]);
        ck_assert(is_answered(crowd[CROWD - 1])); // so all of them were accepted
        close_crowd();
    }
    request(other);
    ck_assert(is_answered(other));
    close(other);
}
END_TEST

START_TEST(a_request_that_has_come_is_answered_before_others_that_come_with_it_end_it) {
    int asker = connect_from(1);
    request(asker);
    open_crowd();
    for (unsigned i = 0; i < CROWD; i++)
        ck_assert_int_eq((int)send(crowd[i], "G", 1, MSG_NOSIGNAL), 1);
    ck_assert(is_answered(asker));
    close_crowd();
    close(asker);
}
END_TEST

START_TEST(the_oldest_silent_connection_of_the_crowd_ends) {
    char byte;
    open_crowd();
    request(crowd[CROWD - 1]);
    ck_assert(is_answered(crowd[CROWD - 1]));
    while (recv(crowd[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
        event_base_loop(base, EVLOOP_ONCE);
    ck_assert_int_eq((int)recv(crowd[0], &byte, 1, MSG_DONTWAIT), 0);
    close_crowd();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server http");
    TCase *tests = tcase_create("connections");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_crowd_of_one_address_ends_none_of_another);
    tcase_add_test(tests,
                   a_request_that_has_come_is_answered_before_others_that_come_with_it_end_it);
    tcase_add_test(tests, the_oldest_silent_connection_of_the_crowd_ends);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
