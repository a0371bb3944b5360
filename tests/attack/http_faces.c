/// Attacks on the HTTP faces of a real daemon: its token port and its admin face.
#define _GNU_SOURCE // SOCK_CLOEXEC

#include "common/programs/clock.h"
#include "tests/attack/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SECOND_US = 1000000,
    TOKEN_LIFE_S = 600,
    IDLE = 500,
    ANSWER_MAX = 1 << 16,
    PASSWORDS = 100000,
    BATCH = 100,    ///< passwords on one connection
    HALVES = 10000, ///< connections that are half open
    STRIDE = 100,   ///< connections until the next probe
};

// ---- Requests -----------------------------------------------------------------------------------

static int dial_admin(const struct loopback_server *server) {
    struct timeval patience = {.tv_sec = 60}; // only ends a wait that hangs
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    snprintf(to.sun_path, sizeof to.sun_path, "%.90s/admin", server->directory);
    if (connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// A connection to the admin face, if there is one, or else to the token port; -1: none.
static int dial(const struct loopback_server *server) {
    if (server->admin)
        return dial_admin(server);
    struct timeval patience = {.tv_sec = 60}; // only ends a wait that hangs
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(server->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&to, sizeof to) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// Sends `size` bytes and reads the answer as text; returns the HTTP status, 0 for none.
static unsigned ask(const struct loopback_server *server, const char *request, size_t size,
                    char answer[static ANSWER_MAX]) {
    size_t used = 0;
    int descriptor = dial(server);
    answer[0] = 0;
    if (descriptor < 0)
        return 0;
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(descriptor, request + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    shutdown(descriptor, SHUT_WR);
    for (ssize_t got; used < ANSWER_MAX - 1 &&
                      (got = recv(descriptor, answer + used, ANSWER_MAX - 1 - used, 0)) > 0;)
        used += (size_t)got;
    answer[used] = 0;
    close(descriptor);
    return strncmp(answer, "HTTP/1.", 7) == 0 ? (unsigned)strtoul(answer + 9, NULL, 10) : 0;
}

/// Sends a request with the port in the place of a `#`, and so many filling bytes in that of a `*`.
static unsigned ask_as(const struct loopback_server *server, const char *pattern, size_t filling,
                       char answer[static ANSWER_MAX]) {
    static char request[1 << 18];
    size_t used = 0;
    for (const char *c = pattern; *c != 0; c++) {
        if (*c == '#') {
            used += (size_t)snprintf(request + used, 8, "%u", server->port);
        } else if (*c == '*') {
            memset(request + used, 'a', filling);
            used += filling;
        } else {
            request[used++] = *c;
        }
    }
    return ask(server, request, used, answer);
}

/// Requests that must not get a token, and the status of the answer; 0: any refusal.
static const struct request {
    const char *pattern;
    size_t filling;
    unsigned status;
} requests[] = {
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nOrigin: http://evil.example\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: localhost:#\r\norigin: null\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: evil.example\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: evil.example:#\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 0, 403},
    {"POST http://evil.example/token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 403},
    {"POST /token HTTP/1.0\r\n\r\n", 0, 403},
    {"GET /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"PUT /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"OPTIONS /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"CONNECT 127.0.0.1:# HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 0},
    {"POST /token?count=0 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=4097 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=-1 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /token?count=99999999999999999999 HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 400},
    {"POST /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 404},
    {"POST / HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 0, 404},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nX: *\r\n\r\n", 9000, 0},
    {"POST /* HTTP/1.1\r\nHost: 127.0.0.1:#\r\n\r\n", 70000, 0},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: 70000\r\n\r\n*", 70000, 413},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: 9999999999\r\n\r\n*", 10, 413},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nContent-Length: -5\r\n\r\n", 0, 0},
    {"POST /token HTTP/1.1\r\nHost: 127.0.0.1:#\r\nTransfer-Encoding: chunked\r\n\r\n"
     "fffffff\r\n*",
     70000, 0},
    {"\x16\x03\x01\x02", 0, 0},
    {"*", 100000, 0},
};

/// Obtains tokens as a program of this machine; false: the server refuses.
static bool obtain(const struct loopback_server *server, struct hc_credential *credentials,
                   unsigned count) {
    static char answer[ANSWER_MAX];
    char pattern[96];
    snprintf(pattern, sizeof pattern, "POST /token?count=%u HTTP/1.0\r\nHost: 127.0.0.1:#\r\n\r\n",
             count);
    if (ask_as(server, pattern, 0, answer) != 200)
        return false;
    const char *line = strstr(answer, "\r\n\r\n");
    line = line != NULL ? line + 4 : "";
    for (unsigned i = 0; i < count; i++) {
        size_t length = strcspn(line, "\n");
        if (hc_token_read_credential(line, length, &credentials[i]) != HC_OK)
            return false;
        line += length + (line[length] == '\n');
    }
    return true;
}

/// Runs the clients while IDLE connections send half a request, or nothing.
static void idle_beside(struct attack *attack, const struct loopback_server *server,
                        struct loopback_clients *crowd) {
    static int descriptors[IDLE];
    unsigned open = 0;
    for (unsigned i = 0; i < IDLE; i++) {
        descriptors[i] = dial(server);
        open += descriptors[i] >= 0;
        if (i % 2 == 0 && descriptors[i] >= 0)
            (void)!send(descriptors[i], "POST /token HTTP/1.1\r\nX", 23, MSG_NOSIGNAL);
        if (i % 20 == 0)
            loopback_run(crowd, 1000);
    }
    attack_require(attack, open == IDLE, "only %u connections", open);
    loopback_run(crowd, 3 * SECOND_US);
    for (unsigned i = 0; i < IDLE; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
}

void attack_admin(struct attack *attack) {
    enum { HERE = 4 };
    struct loopback_server server = {.program = attack->daemon, .clients = HERE, .dev = true};
    static struct loopback_clients crowd;
    static char answer[ANSWER_MAX];
    struct hc_credential credentials[HERE];
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    for (unsigned i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        unsigned status = ask_as(&server, requests[i].pattern, requests[i].filling, answer);
        attack_try(attack, status == 200);
        attack_require(attack, requests[i].status == 0 || status == requests[i].status,
                       "request %u is answered by %u", i, status);
    }
    bool obtained = obtain(&server, credentials, HERE);
    attack_require(attack, obtained, "a program of this machine gets no tokens");
    for (unsigned i = 0; obtained && i < HERE; i++)
        loopback_join(attack, &crowd, &credentials[i], 1);
    loopback_await(&crowd, HERE);
    idle_beside(attack, &server, &crowd);
    attack_require(attack, loopback_playing(&crowd) == HERE, "only %u of %d play",
                   loopback_playing(&crowd), HERE);
    json_t *report = loopback_stop(attack, &server);
    double slip = loopback_judge_slip(attack, &crowd, report);
    json_int_t late = -1, missed = -1;
    json_unpack(report, "{s:{s:{s:I}, s:I}}", "server", "ticks_over_budget", "began_late", &late,
                "ticks_missed", &missed);
    attack_effect(attack,
                  "beside %d idle connections tick slip p99 %.2f ms, %lld ticks began late, %lld "
                  "missed",
                  IDLE, slip, (long long)late, (long long)missed);
    attack_require_none(attack, sizeof requests / sizeof requests[0]);
    json_decref(report);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

/// Requests without the password, whose answer is none of these. Status 0: any other one.
static const struct {
    const char *pattern;
    size_t filling;
    unsigned status;
} orders[] = {
    {"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 401},
    {"POST /restart HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 0, 401},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nuser=1", 0, 401},
    {"POST /drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nseconds=0", 0, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YWRtaW46\r\n\r\n", 0, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic *\r\n\r\n", 7000, 401},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer *\r\n\r\n", 32, 401},
    {"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 0, 403},
    {"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 403},
    {"GET /healthz HTTP/1.0\r\n\r\n", 0, 403},
    {"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 0, 405},
    {"PUT /restart HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: *\r\n\r\n", 9000, 0},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n*", 70000, 413},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n*",
     70000, 0},
    {"\x16\x03\x01\x02", 0, 0},
};

/// Sends as many requests on one connection, each with another wrong password, and reads the
/// answers. Adds them to `refused` (401) and `limited` (429); false: some had none.
static bool try_passwords(struct attack *attack, const struct loopback_server *server,
                          unsigned first, unsigned count, unsigned *refused, unsigned *limited) {
    static char batch[BATCH * 320], answers[BATCH * 512];
    size_t size = 0, used = 0;
    unsigned answered = 0;
    for (unsigned i = 0; i < count; i++) {
        char credentials[64], base64[128];
        int length = snprintf(credentials, sizeof credentials, "admin:%048u", first + i);
        sodium_bin2base64(base64, sizeof base64, (const uint8_t *)credentials, (size_t)length,
                          sodium_base64_VARIANT_ORIGINAL);
        size += (size_t)snprintf(batch + size, sizeof batch - size,
                                 "POST /restart HTTP/1.1\r\nHost: localhost\r\n%s"
                                 "Content-Length: 0\r\nAuthorization: Basic %s\r\n\r\n",
                                 i + 1 < count ? "" : "Connection: close\r\n", base64);
    }
    int descriptor = dial(server);
    bool sent = descriptor >= 0 && send(descriptor, batch, size, MSG_NOSIGNAL) == (ssize_t)size;
    for (ssize_t got; sent && used < sizeof answers - 1 &&
                      (got = recv(descriptor, answers + used, sizeof answers - 1 - used, 0)) > 0;)
        used += (size_t)got;
    answers[used] = 0;
    if (descriptor >= 0)
        close(descriptor);
    for (const char *at = answers; (at = strstr(at, "HTTP/1.")) != NULL; at += 9) {
        unsigned long status = strtoul(at + 9, NULL, 10);
        attack_try(attack, status / 100 == 2);
        answered++;
        *refused += status == 401;
        *limited += status == 429;
    }
    return answered == count;
}

/// Tries PASSWORDS passwords, in batches of one connection.
static void try_all(struct attack *attack, struct loopback_clients *crowd, unsigned *refused) {
    unsigned limited = 0, whole = 0;
    uint64_t from_us = hc_clock_us();
    for (unsigned i = 0; i < PASSWORDS; i += BATCH) {
        whole += try_passwords(attack, crowd->server, i, BATCH, refused, &limited);
        loopback_run(crowd, 1000);
    }
    uint64_t s = (hc_clock_us() - from_us) / SECOND_US;
    attack_require(attack, whole == PASSWORDS / BATCH && *refused + limited == PASSWORDS,
                   "%u of %d passwords are answered, in %u whole batches", *refused + limited,
                   PASSWORDS, whole);
    attack_require(attack, *refused <= 10 + s + 2, "%u passwords are looked at in %llu s", *refused,
                   (unsigned long long)s);
}

void attack_admin_face(struct attack *attack) {
    enum { PLAY = 4, ORDERS = sizeof orders / sizeof orders[0] };
    unsigned compared = 0;
    struct loopback_server server = {.program = attack->daemon, .clients = PLAY, .admin = true};
    static struct loopback_clients crowd;
    static char answer[ANSWER_MAX];
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    loopback_join_users(attack, &crowd, PLAY, TOKEN_LIFE_S);
    attack_require(attack, loopback_await(&crowd, PLAY), "the clients do not play");
    for (unsigned i = 0; i < ORDERS; i++) {
        unsigned status = ask_as(&server, orders[i].pattern, orders[i].filling, answer);
        attack_try(attack, status / 100 == 2);
        attack_require(attack, orders[i].status == 0 || status == orders[i].status,
                       "request %u is answered by %u", i, status);
        loopback_run(&crowd, SECOND_US / 100);
    }
    try_all(attack, &crowd, &compared);
    loopback_run(&crowd, SECOND_US / 10);
    idle_beside(attack, &server, &crowd);
    unsigned health =
        ask_as(&server, "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 0, answer);
    attack_require(attack, health == 200, "beside them /healthz is answered by %u", health);
    unsigned playing = loopback_playing(&crowd);
    attack_require(attack, playing == PLAY, "only %u of %d play", playing, PLAY);
    json_t *report = loopback_stop(attack, &server);
    double slip = loopback_judge_slip(attack, &crowd, report);
    attack_effect(attack,
                  "%u of %d passwords compared; beside them and %d idle connections tick slip "
                  "p99 %.2f ms",
                  compared, PASSWORDS, IDLE, slip);
    attack_require_none(attack, ORDERS + PASSWORDS);
    json_decref(report);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

// ---- Web pages and strangers --------------------------------------------------------------------

static const char *const hosts[] = {
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:80",
    "192.0.2.1",
    "[::2]",
    "localhost:x:y",
    "127.0.0.1@evil.example",
    "127.1",
    "0x7f000001",
    "localhost.evil",
    "localhost, evil",
    "",
};

static const char *const origins[] = {
    "http://evil.example",   "null",    "http://localhost.evil.example", "https://localhost",
    "http://localhost@evil", "file://", "http://localhost:12345",        "",
};

static const char *const orders_of_face[] = {"kick",  "ban",           "unban",  "reload",
                                             "drain", "snapshot-rate", "restart"};

/// Requests that no owner makes, of somebody who needs no password. Status 0: any refusal.
static const struct request strange[] = {
    {"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /..%2f..%2fstatus HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /..\\..\\status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET //status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET /status/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /status/../metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /status%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET /%c0%ae%c0%ae/status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 404},
    {"GET status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 403},
    {"GET /kick HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 405},
    {"GET /restart HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 405},
    {"POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 0, 405},
    {"TRACE /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"DELETE /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"BREW /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 0},
    {"GET /* HTTP/1.1\r\nHost: localhost\r\n\r\n", 70000, 0},
    {"GET /status HTTP/1.1\r\nHost: localhost\r\nX: *\r\n\r\n", 9000, 0},
    {"GET /status HTTP/1.1\r\nHost: *\r\n\r\n", 7000, 403},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n*", 70000, 413},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n*", 5000, 400},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 0, 0},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\nuser=1&user=2\n", 0, 400},
    {"POST /kick HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n*",
     70000, 0},
    {"\x16\x03\x01\x02\r\n\r\n", 0, 0},
    {"*", 100000, 0},
};

static void try_strange(struct attack *attack, const struct loopback_server *server,
                        const struct request *request) {
    static char answer[ANSWER_MAX];
    unsigned status = ask_as(server, request->pattern, request->filling, answer);
    attack_try(attack, status / 100 == 2);
    attack_require(attack, request->status == 0 || status == request->status,
                   "'%.60s' is answered by %u", request->pattern, status);
}

/// Tries all paths under other hosts, and all orders of other pages.
static void try_pages(struct attack *attack, const struct loopback_server *server) {
    static const char *const paths[] = {"status", "metrics", "healthz", "readyz", "nothing"};
    char pattern[256];
    struct request request = {.pattern = pattern, .status = 0};
    for (unsigned h = 0; h < sizeof hosts / sizeof *hosts; h++)
        for (unsigned p = 0; p < sizeof paths / sizeof *paths; p++) {
            snprintf(pattern, sizeof pattern, "GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n", paths[p],
                     hosts[h]);
            try_strange(attack, server, &request);
        }
    request.status = 403;
    for (unsigned o = 0; o < sizeof origins / sizeof *origins; o++)
        for (unsigned p = 0; p < sizeof orders_of_face / sizeof *orders_of_face; p++) {
            snprintf(pattern, sizeof pattern,
                     "POST /%s HTTP/1.1\r\nHost: localhost\r\nOrigin: %s\r\n"
                     "Content-Type: text/plain\r\nContent-Length: 6\r\n\r\nuser=1",
                     orders_of_face[p], origins[o]);
            try_strange(attack, server, &request);
        }
}

void attack_admin_pages(struct attack *attack) {
    enum { PLAY = 2 };
    struct loopback_server server = {
        .program = attack->daemon, .clients = PLAY, .admin = true, .open = true};
    static struct loopback_clients crowd;
    static char answer[ANSWER_MAX];
    crowd = (struct loopback_clients){.server = &server};
    if (!loopback_start(attack, &server, 0))
        return;
    loopback_join_users(attack, &crowd, PLAY, TOKEN_LIFE_S);
    attack_require(attack, loopback_await(&crowd, PLAY), "the clients do not play");
    try_pages(attack, &server);
    for (unsigned i = 0; i < sizeof strange / sizeof *strange; i++)
        try_strange(attack, &server, &strange[i]);
    loopback_run(&crowd, SECOND_US / 10);
    unsigned owner = ask_as(&server, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, answer);
    unsigned playing = loopback_playing(&crowd);
    attack_require(attack, owner == 200, "the owner is answered by %u", owner);
    attack_require(attack, playing == PLAY, "only %u of %d play", playing, PLAY);
    attack_effect(attack, "of %llu requests none read or ordered anything",
                  (unsigned long long)attack->tries);
    attack_require_none(attack, sizeof strange / sizeof *strange);
    json_decref(loopback_stop(attack, &server));
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}

// ---- Connections that ask nothing ---------------------------------------------------------------

/// Opens connection `i` of a crowd: silent, or with a part of a request, or with unread answers.
static int open_half(const struct loopback_server *server, unsigned i) {
    static const char *const parts[] = {
        "", "G", "GET /status HTTP/1.1\r\nHost: localhost\r\nX",
        "POST /kick HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nuser",
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nHost: "
        "localhost\r\n\r\n"};
    const char *part = parts[i % (sizeof parts / sizeof *parts)];
    int descriptor = dial(server);
    if (descriptor >= 0 && part[0] != 0)
        (void)!send(descriptor, part, strlen(part), MSG_NOSIGNAL);
    return descriptor;
}

/// Opens HALVES connections. After each STRIDE of them the older ones send another byte, and the
/// server must answer a probe. Returns how many could be opened.
static unsigned open_crowd(struct attack *attack, struct loopback_clients *crowd, int *halves) {
    static char answer[ANSWER_MAX];
    unsigned open = 0;
    for (unsigned i = 0; i < HALVES; i++) {
        halves[i] = open_half(crowd->server, i);
        open += halves[i] >= 0;
        if (i % STRIDE != 0)
            continue;
        for (unsigned older = i > 200 ? i - 200 : 0; older < i; older++)
            if (halves[older] >= 0)
                (void)!send(halves[older], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        unsigned status =
            ask_as(crowd->server, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, answer);
        attack_try(attack, status != 200);
        loopback_run(crowd, 1000);
    }
    return open;
}

void attack_admin_crowd(struct attack *attack) {
    enum { PLAY = 4, ALL = 8, MEMORY_MAX = 16 << 20 };
    struct loopback_server server = {
        .program = attack->daemon, .clients = ALL, .admin = true, .open = true};
    static struct loopback_clients crowd;
    static int halves[HALVES];
    struct rlimit files;
    crowd = (struct loopback_clients){.server = &server};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t before = files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    if (!loopback_start(attack, &server, 0))
        return;
    setrlimit(RLIMIT_NOFILE, &files);
    loopback_join_users(attack, &crowd, PLAY, TOKEN_LIFE_S);
    attack_require(attack, loopback_await(&crowd, PLAY), "the clients do not play");
    uint64_t memory = loopback_memory(&server);
    unsigned open = open_crowd(attack, &crowd, halves);
    attack_require(attack, open == HALVES, "only %u connections", open);
    memory = loopback_memory(&server) - memory;
    for (unsigned i = 0; i < ALL - PLAY; i++) {
        struct hc_credential credential = loopback_issue_token(1 + PLAY + i, NULL, TOKEN_LIFE_S);
        loopback_join(attack, &crowd, &credential, 1);
    }
    attack_require(attack, loopback_await(&crowd, ALL), "beside them not all join");
    for (unsigned i = 0; i < HALVES; i++)
        if (halves[i] >= 0)
            close(halves[i]);
    files.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &files);
    attack_require(attack, memory < MEMORY_MAX, "they take %llu bytes", (unsigned long long)memory);
    json_t *report = loopback_stop(attack, &server);
    double slip = loopback_judge_slip(attack, &crowd, report);
    attack_effect(attack,
                  "beside %u half-open connections %llu of %llu probes are answered, %d clients "
                  "join, memory grows by %llu kB, tick slip p99 %.2f ms",
                  open, (unsigned long long)(attack->tries - attack->accepted),
                  (unsigned long long)attack->tries, ALL - PLAY, (unsigned long long)memory / 1024,
                  slip);
    attack_require_none(attack, HALVES / STRIDE);
    json_decref(report);
    loopback_destroy_clients(&crowd);
    loopback_remove_files(&server);
}
