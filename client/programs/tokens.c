/// Owns the parse of token files and of a token port's answers, and the wait for these.
#include "client/programs/tokens.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_SIZE = HC_CREDENTIAL_TEXT_SIZE + 1, ///< including the line feed
    PAUSE_US = 250000,                       ///< from a vain request to the next
    STEP_US = 2000,                          ///< from a turn of a request to the next
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

/// Copies the value of a header line of an answer; an absent one is empty.
static void find_header(const char *answer, const char *name, char *out, size_t size) {
    const char *end = strstr(answer, "\r\n\r\n");
    *out = '\0';
    for (const char *line = answer; end != NULL && (line = strstr(line, "\r\n")) < end;) {
        line += 2;
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        line += strlen(name);
        snprintf(out, size, "%.*s", (int)strcspn(line, "\r"), line);
        return;
    }
}

struct hc_cl_tokens_issuer hc_cl_tokens_parse_issuer(const char *answer) {
    struct hc_cl_tokens_issuer issuer;
    char number[24];
    find_header(answer, "Hindcast-Process: ", number, sizeof(number));
    issuer.process = strtoull(number, NULL, 16);
    find_header(answer, "Hindcast-Protocol-Id: ", number, sizeof(number));
    issuer.protocol_id = strtoull(number, NULL, 16);
    find_header(answer, "Hindcast-Game: ", issuer.game, sizeof(issuer.game));
    return issuer;
}

/// Makes one request, and repeats it while no program listens, until `end_us`.
static enum hc_cl_token_ask_state await_answer(struct hc_cl_token_ask *ask,
                                               const struct hc_cl_tokens_port *port, uint32_t count,
                                               uint64_t end_us) {
    for (;;) {
        enum hc_cl_token_ask_state state = HC_CL_TOKEN_ASK_WAITS;
        hc_cl_token_ask_begin(ask, &port->server, port->wish, count, hc_clock_us());
        while (state == HC_CL_TOKEN_ASK_WAITS) {
            state = hc_cl_token_ask_turn(ask, hc_clock_us());
            if (state == HC_CL_TOKEN_ASK_WAITS)
                hc_clock_sleep(STEP_US);
        }
        if (state != HC_CL_TOKEN_ASK_UNREACHED || hc_clock_us() >= end_us)
            return state;
        hc_clock_sleep(PAUSE_US);
    }
}

bool hc_cl_tokens_request(const struct hc_cl_tokens_port *port, struct hc_credential *tokens,
                          uint32_t count, uint64_t patience_us, struct hc_cl_tokens_issuer *issuer,
                          char *why, size_t why_size) {
    struct hc_cl_token_ask ask = {.size = 0};
    uint64_t end_us = hc_clock_us() + patience_us;
    bool good = true;
    *issuer = (struct hc_cl_tokens_issuer){.process = 0};
    if (!hc_cl_sockets_is_loopback(&port->server)) {
        snprintf(why, why_size,
                 "--token FILE is needed for the server at %s, which is not on this machine; "
                 "`hindcastd token` there makes one",
                 port->name);
        return false;
    }
    for (uint32_t done = 0; good && done < count;) {
        uint32_t some =
            count - done < HC_CL_TOKEN_ASK_COUNT_MAX ? count - done : HC_CL_TOKEN_ASK_COUNT_MAX;
        enum hc_cl_token_ask_state state = await_answer(&ask, port, some, end_us);
        if (state == HC_CL_TOKEN_ASK_ANSWERED)
            *issuer = hc_cl_tokens_parse_issuer(ask.answer);
        good = state == HC_CL_TOKEN_ASK_ANSWERED &&
               hc_cl_tokens_parse(ask.answer, tokens + done, some) == some;
        done += some;
        if (state == HC_CL_TOKEN_ASK_UNREACHED)
            snprintf(why, why_size,
                     "no server answers at %s within %.0f s to issue tokens (%s): one with --dev "
                     "does, for others give --token FILE",
                     port->name, (double)patience_us / 1e6, strerror(ask.cause));
        else if (!good)
            snprintf(why, why_size,
                     "the program that listens at TCP %s issues no tokens%s: give --token FILE",
                     port->name, port->wish->match != 0 ? " of this --match" : "");
    }
    hc_cl_token_ask_end(&ask);
    return good;
}
