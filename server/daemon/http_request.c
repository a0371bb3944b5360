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

/// The parameter of that name; NULL: there is none, or it is given already.
static struct hc_sv_http_parameter *find(const struct hc_sv_http_parameters *parameters,
                                         const char *name) {
    for (unsigned i = 0; i < parameters->count; i++)
        if (strcmp(parameters->list[i].name, name) == 0)
            return parameters->list[i].given ? NULL : &parameters->list[i];
    return NULL;
}

/// Takes a parameter; false: `why` is a sentence.
static bool take(const struct hc_sv_http_parameters *parameters, const char *name, const char *text,
                 char *why, size_t why_size) {
    struct hc_sv_http_parameter *parameter = find(parameters, name);
    if (parameter == NULL) {
        snprintf(why, why_size, "'%.32s': no such parameter, or it comes twice", name);
        return false;
    }
    if (parameter->is_text && strlen(text) >= sizeof(parameter->text)) {
        snprintf(why, why_size, "%s: must be at most %zu bytes", name, sizeof(parameter->text) - 1);
        return false;
    }
    if (!parameter->is_text && hc_decimal_parse(text, 0, &parameter->number) != HC_OK) {
        snprintf(why, why_size, "%s='%.32s': must be a whole number", name, text);
        return false;
    }
    parameter->given = true;
    snprintf(parameter->text, sizeof(parameter->text), "%.*s", (int)sizeof(parameter->text) - 1,
             text);
    return true;
}

static bool read_form(const char *body, const struct hc_sv_http_parameters *parameters, char *why,
                      size_t why_size) {
    struct evkeyvalq values = {0};
    bool good = body[0] == '\0' || evhttp_parse_query_str(body, &values) == 0;
    if (!good)
        snprintf(why, why_size, "the body must be a form, such as name=value, or JSON");
    for (const struct evkeyval *value = values.tqh_first; good && value != NULL;
         value = value->next.tqe_next)
        good = take(parameters, value->key, value->value, why, why_size);
    evhttp_clear_headers(&values);
    return good;
}

static bool read_json(const char *body, const struct hc_sv_http_parameters *parameters, char *why,
                      size_t why_size) {
    json_t *object = json_loads(body, JSON_REJECT_DUPLICATES, NULL), *value;
    bool good = json_is_object(object);
    const char *name;
    char number[NUMBER_MAX];
    snprintf(why, why_size, "the body must be a JSON object of numbers and strings");
    json_object_foreach(object, name, value) {
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        good = good && (json_is_integer(value) || json_is_string(value)) &&
               take(parameters, name, json_is_string(value) ? json_string_value(value) : number,
                    why, why_size);
    }
    json_decref(object);
    return good;
}

bool hc_sv_http_read(struct evhttp_request *request, const struct hc_sv_http_parameters *parameters,
                     char *why, size_t why_size) {
    struct evbuffer *input = evhttp_request_get_input_buffer(request);
    const char *type =
        evhttp_find_header(evhttp_request_get_input_headers(request), "Content-Type");
    static const char json[] = "application/json";
    char body[BODY_MAX];
    size_t size = evbuffer_get_length(input);
    snprintf(why, why_size, "the body must be text of at most %d bytes", BODY_MAX - 1);
    if (size >= sizeof(body) || evbuffer_remove(input, body, size) != (int)size)
        return false;
    body[size] = '\0';
    if (strlen(body) != size)
        return false;
    bool is_json = type != NULL && strncasecmp(type, json, sizeof(json) - 1) == 0;
    if (!(is_json ? read_json : read_form)(body, parameters, why, why_size))
        return false;
    for (unsigned i = 0; i < parameters->count; i++)
        if (!parameters->list[i].given && !parameters->list[i].optional) {
            snprintf(why, why_size, "the body must have %s=%s, or {\"%s\": ...}",
                     parameters->list[i].name, parameters->list[i].is_text ? "TEXT" : "NUMBER",
                     parameters->list[i].name);
            return false;
        }
    return true;
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
