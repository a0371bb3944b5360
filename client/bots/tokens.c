/// Owns the parse of a token file and the HTTP request to a token port.
#define _GNU_SOURCE // getaddrinfo

#include "client/bots/tokens.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    LINE_SIZE = HC_CREDENTIAL_TEXT_SIZE + 1, ///< including the line feed
    HEADERS_MAX = 1024,
    COUNT_MAX = 4096, ///< tokens of one request
    ANSWER_S = 5,     ///< longest time of an answer
    PAUSE_US = 250000,
};

bool hc_cl_tokens_read(const char *path, uint32_t first, struct hc_credential *tokens,
                       uint32_t count, char *why, size_t why_size) {
    char line[LINE_SIZE + 2];
    FILE *file = fopen(path, "r");
    uint32_t read = 0;
    if (file == NULL) {
        snprintf(why, why_size, "--token '%s': %s", path, strerror(errno));
        return false;
    }
    bool more = true, good = true;
    for (uint32_t i = 0; more && i < first; i++)
        more = fgets(line, sizeof(line), file) != NULL;
    while (more && good && read < count && (more = fgets(line, sizeof(line), file) != NULL)) {
        good = hc_token_read_credential(line, strlen(line), &tokens[read]) == HC_OK;
        read += good;
    }
    fclose(file);
    if (read == count)
        return true;
    if (!more)
        snprintf(why, why_size,
                 "--token '%s': has %u tokens, but each session needs one of its own", path,
                 first + read);
    else
        snprintf(why, why_size,
                 "--token '%s': line %u is no token: it has %zu characters, and a token %d", path,
                 first + read + 1, strcspn(line, "\r\n"), HC_CREDENTIAL_TEXT_SIZE);
    return false;
}

/// Connects to the token port of a server on loopback; -1: failed, with errno.
static int connect_to(struct hc_cl_udp_peer server) {
    struct timeval timeout = {.tv_sec = ANSWER_S};
    // It listens at 127.0.0.1 and ::1, also if the server has another address of 127.0.0.0/8.
    if (server.address.ss_family == AF_INET)
        ((struct sockaddr_in *)&server.address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(server.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (connect(descriptor, (const struct sockaddr *)&server.address, server.length) == 0)
        return descriptor;
    int cause = errno;
    close(descriptor);
    errno = cause;
    return -1;
}

/// Reads to the end, at most `size - 1` bytes, and terminates the text.
static void read_all(int descriptor, char *text, size_t size) {
    size_t length = 0;
    ssize_t got = 1;
    while (length + 1 < size && got > 0) {
        got = read(descriptor, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
}

uint32_t hc_cl_tokens_parse(const char *answer, struct hc_credential *tokens, uint32_t count) {
    static const char end[] = "\r\n\r\n";
    const char *line = strstr(answer, end);
    uint32_t taken = 0;
    if (line == NULL || strncmp(answer, "HTTP/1.", 7) != 0 || strncmp(answer + 8, " 200 ", 5) != 0)
        return 0;
    line += sizeof(end) - 1;
    while (taken < count) {
        const char *feed = strchr(line, '\n');
        if (feed == NULL ||
            hc_token_read_credential(line, (size_t)(feed - line), &tokens[taken]) != HC_OK)
            break;
        taken++;
        line = feed + 1;
    }
    return taken;
}

/// Writes a value of a query: every byte as %XX.
static void put_value(const char *value, char *out, size_t size) {
    *out = '\0';
    for (size_t at = 0; *value != '\0'; value++, at += 3)
        snprintf(out + at, size - at, "%%%02X", (unsigned)(unsigned char)*value);
}

int hc_cl_tokens_write_request(const struct hc_cl_tokens_wish *wish, uint32_t count,
                               char out[static HC_CL_TOKENS_REQUEST_SIZE]) {
    char name[3 * HC_CL_TOKENS_NAME_MAX + 1];
    put_value(wish->name != NULL ? wish->name : "", name, sizeof(name));
    return snprintf(out, HC_CL_TOKENS_REQUEST_SIZE,
                    "POST /token?count=%u&match=%u%s%s HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n",
                    count, wish->match, name[0] != '\0' ? "&name=" : "", name);
}

/// Sends one request and reads the answer; false: it has too few tokens.
static bool request_tokens(int descriptor, const struct hc_cl_tokens_wish *wish,
                           struct hc_credential *tokens, uint32_t count) {
    size_t size = HEADERS_MAX + (size_t)count * LINE_SIZE;
    char request[HC_CL_TOKENS_REQUEST_SIZE], *answer = malloc(size);
    int length = hc_cl_tokens_write_request(wish, count, request);
    if (answer == NULL)
        return false;
    bool good = write(descriptor, request, (size_t)length) == length;
    if (good) {
        read_all(descriptor, answer, size);
        good = hc_cl_tokens_parse(answer, tokens, count) == count;
    }
    free(answer);
    return good;
}

bool hc_cl_tokens_request(const struct hc_cl_udp_peer *server, const char *name,
                          const struct hc_cl_tokens_wish *wish, struct hc_credential *tokens,
                          uint32_t count, uint64_t patience_us, char *why, size_t why_size) {
    uint64_t begun_us = hc_clock_us();
    int descriptor;
    if (!hc_cl_sockets_is_loopback(server)) {
        snprintf(why, why_size,
                 "--token FILE is needed for the server at %s, which is not on this machine; "
                 "`hindcastd token` there makes one",
                 name);
        return false;
    }
    bool good = true;
    for (uint32_t done = 0; good && done < count;) {
        uint32_t some = count - done < COUNT_MAX ? count - done : COUNT_MAX;
        while ((descriptor = connect_to(*server)) < 0) {
            int cause = errno;
            if (hc_since(begun_us, hc_clock_us()) >= patience_us) {
                snprintf(why, why_size,
                         "no server answers at %s within %.0f s to issue tokens (%s): one with "
                         "--dev does, for others give --token FILE",
                         name, (double)patience_us / 1e6, strerror(cause));
                return false;
            }
            hc_clock_sleep(PAUSE_US);
        }
        good = request_tokens(descriptor, wish, tokens + done, some);
        close(descriptor);
        done += some;
    }
    if (!good)
        snprintf(why, why_size,
                 "the program that listens at TCP %s issues no tokens%s: give --token FILE", name,
                 wish->match != 0 ? " of this --match" : "");
    return good;
}
