/// Owns the HTTP request to a token port.
#define _GNU_SOURCE // SOCK_CLOEXEC

#include "client/programs/token_ask.h"

#include "common/elapsed.h"
#include "hindcast/check.h"
#include "hindcast/credential.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADERS_MAX = 1024,
    REQUEST_MAX = 320,
    ANSWER_US = 5000000, ///< longest time of an answer
};

/// Begins to connect to the token port of a server; -1: failed, with errno.
static int connect_to(struct hc_cl_udp_peer server) {
    // It listens at 127.0.0.1 and ::1, also if the server has another address of 127.0.0.0/8.
    if (server.address.ss_family == AF_INET)
        ((struct sockaddr_in *)&server.address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor =
        socket(server.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0 ||
        connect(descriptor, (const struct sockaddr *)&server.address, server.length) == 0 ||
        errno == EINPROGRESS)
        return descriptor;
    int cause = errno;
    close(descriptor);
    errno = cause;
    return -1;
}

void hc_cl_token_ask_begin(struct hc_cl_token_ask *ask, const struct hc_cl_udp_peer *server,
                           const struct hc_cl_tokens_wish *wish, uint32_t count, uint64_t now_us) {
    HC_ASSERT(count >= 1 && count <= HC_CL_TOKEN_ASK_COUNT_MAX);
    hc_cl_token_ask_end(ask);
    *ask = (struct hc_cl_token_ask){.descriptor = connect_to(*server),
                                    .wish = wish,
                                    .count = count,
                                    .begun_us = now_us,
                                    .size = HEADERS_MAX +
                                            (size_t)count * (HC_CREDENTIAL_TEXT_SIZE + 1) + 1};
    ask->cause = ask->descriptor < 0 ? errno : 0;
    ask->answer = malloc(ask->size);
    if (ask->answer != NULL)
        ask->answer[0] = '\0';
}

bool hc_cl_token_ask_is_active(const struct hc_cl_token_ask *ask) {
    return ask->size > 0;
}

/// Writes a value of a query: every byte as %XX.
static void put_value(const char *value, char *out, size_t size) {
    *out = '\0';
    for (size_t at = 0; *value != '\0'; value++, at += 3)
        snprintf(out + at, size - at, "%%%02X", (unsigned)(unsigned char)*value);
}

static size_t write_request(const struct hc_cl_token_ask *ask, char out[static REQUEST_MAX]) {
    const struct hc_cl_tokens_wish *wish = ask->wish;
    char name[3 * HC_CL_TOKENS_NAME_MAX + 1];
    put_value(wish->name != NULL ? wish->name : "", name, sizeof(name));
    return (size_t)snprintf(out, REQUEST_MAX,
                            "POST /token?count=%u&match=%u%s%s HTTP/1.1\r\nHost: localhost\r\n"
                            "Content-Length: 0\r\nConnection: close\r\n\r\n",
                            ask->count, wish->match, name[0] != '\0' ? "&name=" : "", name);
}

/// Sends the request once the port has accepted.
static enum hc_cl_token_ask_state send_request(struct hc_cl_token_ask *ask) {
    char request[REQUEST_MAX];
    size_t size = write_request(ask, request);
    ssize_t done = send(ask->descriptor, request, size, MSG_NOSIGNAL);
    if (done < 0 && (errno == EAGAIN || errno == EINTR))
        return HC_CL_TOKEN_ASK_WAITS;
    ask->cause = done < 0 ? errno : 0;
    if (done < 0)
        return HC_CL_TOKEN_ASK_UNREACHED;
    ask->sent = (size_t)done == size; // a new socket has room for it
    return ask->sent ? HC_CL_TOKEN_ASK_WAITS : HC_CL_TOKEN_ASK_FAILED;
}

/// Reads all that has come of the answer.
static enum hc_cl_token_ask_state read_answer(struct hc_cl_token_ask *ask) {
    while (ask->length + 1 < ask->size) {
        ssize_t got =
            recv(ask->descriptor, ask->answer + ask->length, ask->size - 1 - ask->length, 0);
        if (got == 0)
            return HC_CL_TOKEN_ASK_ANSWERED;
        if (got < 0)
            return errno == EAGAIN || errno == EINTR ? HC_CL_TOKEN_ASK_WAITS
                                                     : HC_CL_TOKEN_ASK_FAILED;
        ask->length += (size_t)got;
        ask->answer[ask->length] = '\0';
    }
    return HC_CL_TOKEN_ASK_ANSWERED; // what is longer is no answer of such a port
}

enum hc_cl_token_ask_state hc_cl_token_ask_turn(struct hc_cl_token_ask *ask, uint64_t now_us) {
    enum hc_cl_token_ask_state state = HC_CL_TOKEN_ASK_WAITS;
    if (ask->answer == NULL)
        return HC_CL_TOKEN_ASK_FAILED;
    if (ask->descriptor < 0)
        return HC_CL_TOKEN_ASK_UNREACHED;
    if (!ask->sent)
        state = send_request(ask);
    if (ask->sent)
        state = read_answer(ask);
    if (state == HC_CL_TOKEN_ASK_WAITS && hc_since(ask->begun_us, now_us) > ANSWER_US)
        return HC_CL_TOKEN_ASK_FAILED;
    return state;
}

void hc_cl_token_ask_end(struct hc_cl_token_ask *ask) {
    if (!hc_cl_token_ask_is_active(ask))
        return;
    if (ask->descriptor >= 0)
        close(ask->descriptor);
    free(ask->answer);
    *ask = (struct hc_cl_token_ask){.size = 0};
}
