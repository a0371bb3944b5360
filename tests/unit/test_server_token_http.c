/// Tests server/daemon/token_http: any load of requests takes little of the event loop.
#define _GNU_SOURCE

#include "server/daemon/token_http.h"
#include "server/daemon/http.h"
#include "server/daemon/key_file.h"
#include "server/daemon/wall_clock.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINE = HC_CREDENTIAL_TEXT_SIZE + 1,
    SLICE_BYTES = HC_SV_TOKEN_HTTP_SLICE * LINE,
    HEADERS = 512, ///< bytes of an answer's HTTP headers, at most
    CROWD = 300,
    TICK_US = 10000,
    PROTOCOL_ID = 0x1234,
};

/// The port, and a timer that ends idle turns of the loop.
struct port {
    struct hc_sv_wall_clock wall_clock;
    struct event_base *base;
    struct event *tick;
    struct hc_sv_token_http *http;
    uint16_t number;
    unsigned failures, ticks;
};

static void on_failed(void *context, const char *why) {
    struct port *port = context;
    ck_assert_ptr_nonnull(why);
    port->failures++;
}

static void on_tick(evutil_socket_t descriptor, short events, void *context) {
    struct port *port = context;
    (void)descriptor, (void)events;
    port->ticks++;
}

/// A TCP port that is free now.
static uint16_t free_number(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(descriptor, (struct sockaddr *)&at, sizeof at), 0);
    ck_assert_int_eq(getsockname(descriptor, (struct sockaddr *)&at, &length), 0);
    close(descriptor);
    return ntohs(at.sin_port);
}

static void open_port(struct port *port) {
    const struct timeval each = {.tv_usec = TICK_US};
    char why[256] = "";
    ck_assert_int_ge(sodium_init(), 0);
    *port = (struct port){.base = event_base_new()};
    hc_sv_wall_clock_open(&port->wall_clock);
    struct hc_sv_token_http_issuer issuer = {.key = hc_sv_key_file_random().keys[0],
                                             .protocol_id = PROTOCOL_ID,
                                             .game = &hc_arena,
                                             .wall_clock = &port->wall_clock,
                                             .failed = on_failed,
                                             .context = port};
    for (unsigned i = 0; i < 16 && port->http == NULL; i++) {
        port->number = free_number();
        port->http = hc_sv_token_http_open(port->base, port->number, &issuer, why, sizeof why);
    }
    ck_assert_msg(port->http != NULL, "%s", why);
    port->tick = event_new(port->base, -1, EV_PERSIST, on_tick, port);
    event_add(port->tick, &each);
}

static void close_port(struct port *port) {
    hc_sv_token_http_close(port->http);
    event_free(port->tick);
    event_base_free(port->base);
    hc_sv_wall_clock_close(&port->wall_clock);
}

/// Begins a connection.
static int connect_to(const struct port *port) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port->number),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(descriptor, 0);
    int failed = connect(descriptor, (struct sockaddr *)&to, sizeof to);
    ck_assert(failed == 0 || errno == EINPROGRESS);
    return descriptor;
}

static void request_tokens(int descriptor, unsigned count) {
    char request[128];
    int size = snprintf(request, sizeof request,
                        "POST /token?count=%u HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        "Content-Length: 0\r\n\r\n",
                        count);
    ck_assert_int_eq(send(descriptor, request, (size_t)size, MSG_NOSIGNAL), size);
}

/// Reads all available bytes and returns their number. `*ended`: the connection has ended.
static size_t take(int descriptor, char *out, size_t size, bool *ended) {
    size_t used = 0;
    for (;;) {
        ssize_t got = recv(descriptor, out + used, size - used, 0);
        if (got <= 0) {
            *ended = got == 0 || errno != EAGAIN;
            return used;
        }
        used += (size_t)got;
        ck_assert_uint_lt(used, size);
    }
}

static unsigned tokens_in(const char *answer) {
    const char *line = strstr(answer, "\r\n\r\n");
    struct hc_credential credential;
    unsigned count = 0;
    ck_assert(strncmp(answer, "HTTP/1.1 200 ", 13) == 0 && line != NULL);
    for (line += 4; *line != 0; line += LINE, count++)
        ck_assert(line[LINE - 1] == '\n' &&
                  hc_token_read_credential(line, LINE - 1, &credential) == HC_OK);
    return count;
}

START_TEST(many_tokens_are_issued_in_slices_with_loop_turns_between) {
    enum { COUNT = 4096 };
    static char answer[HEADERS + (COUNT + 1) * LINE];
    struct port port;
    size_t used = 0, most = 0;
    unsigned turns = 0;
    bool ended = false;
    open_port(&port);
    int descriptor = connect_to(&port);
    request_tokens(descriptor, COUNT);
    while (!ended) {
        event_base_loop(port.base, EVLOOP_ONCE);
        size_t got = take(descriptor, answer + used, sizeof answer - used, &ended);
        used += got;
        most = got > most ? got : most;
        turns += got > 0;
    }
    answer[used] = 0;
    ck_assert_uint_eq(tokens_in(answer), COUNT);
    ck_assert_msg(most <= 2 * SLICE_BYTES + HEADERS, "%zu bytes in a turn", most);
    ck_assert_uint_ge(turns, COUNT / HC_SV_TOKEN_HTTP_SLICE / 2);
    close(descriptor);
    close_port(&port);
}
END_TEST

START_TEST(concurrent_requests_share_the_slices_and_all_are_answered) {
    enum { CLIENTS = 20, COUNT = 100 };
    static char answers[CLIENTS][HEADERS + (COUNT + 1) * LINE];
    struct port port;
    size_t used[CLIENTS] = {0}, most = 0;
    int descriptors[CLIENTS];
    unsigned left = CLIENTS;
    open_port(&port);
    for (unsigned i = 0; i < CLIENTS; i++) {
        descriptors[i] = connect_to(&port);
        request_tokens(descriptors[i], COUNT);
    }
    while (left > 0) {
        size_t all = 0;
        event_base_loop(port.base, EVLOOP_ONCE);
        for (unsigned i = 0; i < CLIENTS; i++) {
            bool ended = false;
            if (descriptors[i] < 0)
                continue;
            size_t got =
                take(descriptors[i], answers[i] + used[i], sizeof answers[i] - used[i], &ended);
            used[i] += got;
            all += got;
            if (!ended)
                continue;
            ck_assert_uint_eq(tokens_in(answers[i]), COUNT);
            close(descriptors[i]);
            descriptors[i] = -1;
            left--;
        }
        most = all > most ? all : most;
    }
    ck_assert_msg(most <= 2 * SLICE_BYTES + CLIENTS * HEADERS, "%zu bytes in a turn", most);
    close_port(&port);
}
END_TEST

START_TEST(surplus_connections_end_the_oldest_and_requests_are_answered) {
    static char answer[HEADERS + 8 * LINE];
    int descriptors[CROWD];
    struct port port;
    unsigned open = 0;
    bool ended = false;
    open_port(&port);
    for (unsigned i = 0; i < CROWD; i++) {
        descriptors[i] = connect_to(&port);
        event_base_loop(port.base, EVLOOP_NONBLOCK);
    }
    for (unsigned i = port.ticks + 20; port.ticks < i;)
        event_base_loop(port.base, EVLOOP_ONCE);
    for (unsigned i = 0; i < CROWD; i++) {
        char byte;
        ssize_t got = recv(descriptors[i], &byte, 1, 0);
        open += got < 0 && errno == EAGAIN;
        ck_assert(i + HC_SV_HTTP_CONNECTIONS < CROWD || (got < 0 && errno == EAGAIN));
    }
    ck_assert_uint_eq(open, HC_SV_HTTP_CONNECTIONS);
    int client = connect_to(&port);
    request_tokens(client, 4);
    size_t used = 0;
    while (!ended) {
        event_base_loop(port.base, EVLOOP_ONCE);
        used += take(client, answer + used, sizeof answer - used, &ended);
    }
    ck_assert_uint_eq(tokens_in(answer), 4);
    for (unsigned i = 0; i < CROWD; i++)
        close(descriptors[i]);
    close(client);
    close_port(&port);
}
END_TEST

START_TEST(without_descriptors_the_port_pauses_and_the_loop_does_not_spin) {
    enum { TICKS = 40, OPEN = 20 };
    static char answer[HEADERS + 8 * LINE];
    int descriptors[OPEN];
    struct rlimit before, none;
    struct port port;
    unsigned turns = 0;
    size_t used = 0;
    bool ended = false;
    open_port(&port);
    for (unsigned i = 0; i < OPEN; i++)
        descriptors[i] = connect_to(&port);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)descriptors[OPEN - 1] + 1;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (; port.ticks < TICKS; turns++)
        event_base_loop(port.base, EVLOOP_ONCE);
    ck_assert_uint_eq(port.failures, 1);
    ck_assert_msg(turns <= 2 * TICKS, "%u turns of the loop for %d ticks", turns, TICKS);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    request_tokens(descriptors[0], 4); // with descriptors the port resumes
    while (!ended) {
        event_base_loop(port.base, EVLOOP_ONCE);
        used += take(descriptors[0], answer + used, sizeof answer - used, &ended);
    }
    ck_assert_uint_eq(tokens_in(answer), 4);
    for (unsigned i = 0; i < OPEN; i++)
        close(descriptors[i]);
    close_port(&port);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("server token port");
    TCase *tests = tcase_create("token port");
    tcase_add_test(tests, many_tokens_are_issued_in_slices_with_loop_turns_between);
    tcase_add_test(tests, concurrent_requests_share_the_slices_and_all_are_answered);
    tcase_add_test(tests, surplus_connections_end_the_oldest_and_requests_are_answered);
    tcase_add_test(tests, without_descriptors_the_port_pauses_and_the_loop_does_not_spin);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
