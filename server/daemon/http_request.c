/// Owns the checks of a request, its parameter, and the form of an answer.
#define _GNU_SOURCE // strcasecmp

#include "server/daemon/http_request.h"

#include "common/decimal.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    TEXT_MAX = 256,  ///< bytes of an answer of one line
    BODY_MAX = 4096, ///< bytes of a body with a parameter
    NUMBER_MAX = 24, ///< bytes of a number
};

// ---- Permission ---------------------------------------------------------------------------------

/// Writes the host at which the connection of the request arrived, as a request names it.
static void local_host(struct evhttp_request *request, char text[static INET6_ADDRSTRLEN + 2]) {
    struct bufferevent *connection =
        evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    const struct sockaddr_in *ipv4 = (const void *)&address;
    const struct sockaddr_in6 *ipv6 = (const void *)&address;
    char number[INET6_ADDRSTRLEN] = "";
    text[0] = '\0';
    if (getsockname(bufferevent_getfd(connection), (struct sockaddr *)&address, &size) != 0)
        return;
    if (address.ss_family == AF_INET)
        inet_ntop(AF_INET, &ipv4->sin_addr, text, INET6_ADDRSTRLEN);
    if (address.ss_family != AF_INET6)
        return;
    if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
        inet_ntop(AF_INET, &ipv6->sin6_addr.s6_addr[12], text, INET6_ADDRSTRLEN);
    else if (inet_ntop(AF_INET6, &ipv6->sin6_addr, number, sizeof(number)) != NULL)
        snprintf(text, INET6_ADDRSTRLEN + 2, "[%s]", number);
}

bool hc_sv_http_is_for_us(struct evhttp_request *request) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    const char *host = evhttp_request_get_host(request);
    char local[INET6_ADDRSTRLEN + 2];
    if (host == NULL)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    local_host(request, local);
    return local[0] != '\0' && strcasecmp(host, local) == 0;
}

bool hc_sv_http_is_of_own_page(struct evhttp_request *request) {
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const char *origin = evhttp_find_header(headers, "Origin");
    const char *host = evhttp_find_header(headers, "Host");
    static const char scheme[] = "http://";
    return origin == NULL || (host != NULL && strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
                              strcasecmp(origin + sizeof(scheme) - 1, host) == 0);
}

// ---- Parameters ---------------------------------------------------------------------------------

/// Copies the only parameter of a form; false: it is another one, or there are several.
static bool read_form(const char *body, const char *name, char text[static NUMBER_MAX]) {
    struct evkeyvalq values = {0};
    bool good = evhttp_parse_query_str(body, &values) == 0;
    const struct evkeyval *first = good ? values.tqh_first : NULL;
    good = first != NULL && first->next.tqe_next == NULL && strcmp(first->key, name) == 0 &&
           strlen(first->value) < NUMBER_MAX;
    if (good)
        snprintf(text, NUMBER_MAX, "%s", first->value);
    evhttp_clear_headers(&values);
    return good;
}

/// Copies the only member of a JSON object, a number or a string; false: it is another one, or
/// there are several.
static bool read_json(const char *body, const char *name, char text[static NUMBER_MAX]) {
    json_t *object = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    const json_t *value = json_object_get(object, name);
    bool good = json_object_size(object) == 1 && value != NULL;
    if (good && json_is_integer(value))
        snprintf(text, NUMBER_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (good && json_is_string(value) && json_string_length(value) < NUMBER_MAX)
        snprintf(text, NUMBER_MAX, "%s", json_string_value(value));
    else
        good = false;
    json_decref(object);
    return good;
}

bool hc_sv_http_number(struct evhttp_request *request, const char *name, uint64_t *number) {
    struct evbuffer *input = evhttp_request_get_input_buffer(request);
    const char *type =
        evhttp_find_header(evhttp_request_get_input_headers(request), "Content-Type");
    static const char json[] = "application/json";
    char body[BODY_MAX], text[NUMBER_MAX];
    size_t size = evbuffer_get_length(input);
    if (size >= sizeof(body) || evbuffer_remove(input, body, size) != (int)size)
        return false;
    body[size] = '\0';
    bool is_json = type != NULL && strncasecmp(type, json, sizeof(json) - 1) == 0;
    if (strlen(body) != size ||
        !(is_json ? read_json(body, name, text) : read_form(body, name, text)))
        return false;
    return hc_decimal_parse(text, 0, number) == HC_OK;
}

// ---- Answers ------------------------------------------------------------------------------------

void hc_sv_http_reply_bytes(struct evhttp_request *request, int code, const char *type,
                            const char *bytes, size_t size) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    struct evbuffer *body = evbuffer_new();
    char length[24];
    snprintf(length, sizeof(length), "%zu", size);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Content-Length", length);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    if (body != NULL && evhttp_request_get_command(request) != EVHTTP_REQ_HEAD)
        evbuffer_add(body, bytes, size);
    evhttp_send_reply(request, code, NULL, body);
    if (body != NULL)
        evbuffer_free(body);
}

void hc_sv_http_reply(struct evhttp_request *request, int code, const char *line) {
    char text[TEXT_MAX];
    int size = snprintf(text, sizeof(text), "%s\n", line);
    hc_sv_http_reply_bytes(request, code, "text/plain; charset=utf-8", text, (size_t)size);
}
