#define _GNU_SOURCE // strcasecmp

#include "server/admin.h"

#include "common/decimal.h"
#include "server/admin_keys.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    HEADERS_MAX = 8192, ///< bytes
    BODY_MAX = 65536,
    IDLE_S = 5,
    COUNT_MAX = 4096,
    LIFE_S = 3600, ///< bots may take a while to start
};

struct hc_sv_admin {
    struct evhttp *http;
    struct hc_sv_admin_issuer issuer;
};

/// Whether the request means this host by its own names.
static bool is_for_us(struct evhttp_request *request) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    const char *host = evhttp_request_get_host(request);
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    return false;
}

/// How many are wanted; 0: that is no number of tokens.
static uint64_t count_of(struct evhttp_request *request) {
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    struct evkeyvalq values = {0};
    uint64_t count = 1;
    if (query == NULL)
        return 1;
    if (evhttp_parse_query_str(query, &values) != 0)
        return 0;
    const char *text = evhttp_find_header(&values, "count");
    if (text != NULL && (hc_decimal_parse(text, 0, &count) != HC_OK || count > COUNT_MAX))
        count = 0;
    evhttp_clear_headers(&values);
    return count;
}

static void issue(const struct hc_sv_admin *admin, struct evbuffer *out) {
    char text[HC_CREDENTIAL_TEXT_SIZE + 1];
    struct hc_token token = {.expire_s = hc_sv_admin_keys_now_us() / 1000000 + LIFE_S,
                             .issued_s = hc_sv_admin_keys_now_us() / 1000000,
                             .players = HC_OWN_PLAYERS_MAX,
                             .watch = true,
                             .audience = admin->issuer.audience};
    randombytes_buf(&token.client_id, sizeof(token.client_id));
    hc_sv_admin_keys_issue(&admin->issuer.key, admin->issuer.protocol_id, &token, text);
    evbuffer_add_printf(out, "%s\n", text);
    sodium_memzero(text, sizeof(text));
}

static void on_token(struct evhttp_request *request, void *context) {
    uint64_t count = count_of(request);
    struct evbuffer *out = evbuffer_new();
    const char *origin = evhttp_find_header(evhttp_request_get_input_headers(request), "Origin");
    if (out == NULL || !is_for_us(request) || origin != NULL) {
        evhttp_send_error(request, out == NULL ? 500 : 403, NULL);
    } else if (count == 0) {
        evhttp_send_error(request, HTTP_BADREQUEST, NULL);
    } else {
        for (uint64_t i = 0; i < count; i++)
            issue(context, out);
        evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "text/plain");
        evhttp_send_reply(request, HTTP_OK, NULL, out);
    }
    if (out != NULL)
        evbuffer_free(out);
}

struct hc_sv_admin *hc_sv_admin_open(struct event_base *base, uint16_t port,
                                     const struct hc_sv_admin_issuer *issuer, char *why,
                                     size_t why_size) {
    struct hc_sv_admin *admin = calloc(1, sizeof(*admin));
    snprintf(why, why_size, "no memory for the port that issues tokens");
    if (admin == NULL)
        return NULL;
    admin->issuer = *issuer;
    admin->http = evhttp_new(base);
    if (admin->http == NULL) {
        free(admin);
        return NULL;
    }
    evhttp_set_allowed_methods(admin->http, EVHTTP_REQ_POST);
    evhttp_set_max_headers_size(admin->http, HEADERS_MAX);
    evhttp_set_max_body_size(admin->http, BODY_MAX);
    evhttp_set_timeout(admin->http, IDLE_S);
    evhttp_set_cb(admin->http, "/token", on_token, admin);
    if (evhttp_bind_socket(admin->http, "127.0.0.1", port) != 0) {
        snprintf(why, why_size, "--dev: TCP port %u of 127.0.0.1, for tokens: %s", port,
                 strerror(errno));
        hc_sv_admin_close(admin);
        return NULL;
    }
    (void)evhttp_bind_socket(admin->http, "::1", port); // where there is IPv6
    return admin;
}

void hc_sv_admin_close(struct hc_sv_admin *admin) {
    if (admin == NULL)
        return;
    evhttp_free(admin->http);
    sodium_memzero(admin, sizeof(*admin));
    free(admin);
}
