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

enum { HC_SV_HTTP_TEXT_SIZE = 512 }; ///< bytes of a parameter that is a text, and its end

/// A parameter of a body.
struct hc_sv_http_parameter {
    const char *name;
    bool is_text, optional;          ///< false: a whole number; needed
    bool given;                      ///< false at first
    uint64_t number;                 ///< if it is one
    char text[HC_SV_HTTP_TEXT_SIZE]; ///< as it was given; empty: not at all
};

struct hc_sv_http_parameters {
    unsigned count;
    struct hc_sv_http_parameter *list; ///< [count]
};

/// Reads the parameters of a body, a form or a JSON object. False: one is missing, unknown, or
/// wrong, and `why` is a sentence.
bool hc_sv_http_read(struct evhttp_request *request, const struct hc_sv_http_parameters *parameters,
                     char *why, size_t why_size);

/// Answers with `size` bytes of a type.
void hc_sv_http_reply_bytes(struct evhttp_request *request, int code, const char *type,
                            const char *bytes, size_t size);

/// Answers with a line.
void hc_sv_http_reply(struct evhttp_request *request, int code, const char *line);
