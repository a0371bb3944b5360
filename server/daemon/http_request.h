/// Requests to a small HTTP server (server/daemon/http.h): where they come from, their parameters,
/// and the answers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evhttp_request;

/// Whether the request names this host: a web page may give its own name this address.
bool hc_sv_http_is_for_us(struct evhttp_request *request);

/// Whether the request is of no web page, or of one of this server itself.
bool hc_sv_http_is_of_own_page(struct evhttp_request *request);

/// Reads the one parameter of a body, a form or a JSON object, as a whole number. False: the body
/// has another parameter, or more, or no such number.
bool hc_sv_http_number(struct evhttp_request *request, const char *name, uint64_t *number);

/// Answers with `size` bytes of a type.
void hc_sv_http_reply_bytes(struct evhttp_request *request, int code, const char *type,
                            const char *bytes, size_t size);

/// Answers with a line.
void hc_sv_http_reply(struct evhttp_request *request, int code, const char *line);
