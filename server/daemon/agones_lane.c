/// Owns the connections to the sidecar of Agones.
#include "server/daemon/agones_lane.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADERS_MAX = 16384,       ///< bytes of an answer's headers
    RATE_MAX = 512 * 1024,     ///< bytes read in a second
    BURST_MAX = 2 * (1 << 20), ///< bytes read at once after a pause
    SENT_MAX = 1 << 20,        ///< bytes sent in a second
};

bool hc_sv_agones_lane_open(struct hc_sv_agones_lane *lane, struct event_base *base, uint16_t port,
                            const struct hc_sv_agones_lane_reader *reader) {
    const struct timeval second = {.tv_sec = 1};
    lane->base = base;
    lane->port = port;
    lane->reader = *reader;
    lane->rate = ev_token_bucket_cfg_new(RATE_MAX, BURST_MAX, SENT_MAX, SENT_MAX, &second);
    lane->text = evbuffer_new();
    return lane->rate != NULL && lane->text != NULL;
}

// ---- Answers ------------------------------------------------------------------------------------

/// Ends the request with an answer.
static void answer(struct hc_sv_agones_lane *lane, const struct hc_sv_agones_answer *given) {
    lane->busy = false;
    lane->reader.answered(lane->reader.context, given);
}

static void fail(struct hc_sv_agones_lane *lane, const char *why) {
    lane->stale = true;
    answer(lane, &(struct hc_sv_agones_answer){.why = lane->why != NULL ? lane->why : why});
}

static void on_error(enum evhttp_request_error error, void *context) {
    struct hc_sv_agones_lane *lane = context;
    static const char *const reasons[] = {
        [EVREQ_HTTP_TIMEOUT] = "it answers too slowly",
        [EVREQ_HTTP_EOF] = "it ended the connection",
        [EVREQ_HTTP_INVALID_HEADER] = "its answer is no HTTP",
        [EVREQ_HTTP_BUFFER_ERROR] = "the connection failed",
        [EVREQ_HTTP_REQUEST_CANCEL] = "the request was cancelled",
        [EVREQ_HTTP_DATA_TOO_LONG] = "its answer is too long",
    };
    lane->why = (size_t)error < sizeof(reasons) / sizeof(reasons[0]) ? reasons[error] : NULL;
}

/// The answer is complete; `request` NULL: it failed, see on_error.
static void on_done(struct evhttp_request *request, void *context) {
    struct hc_sv_agones_lane *lane = context;
    int status = request == NULL ? 0 : evhttp_request_get_response_code(request);
    if (status == 0) {
        if (request != NULL) // there was no connection
            lane->tries_6 = !lane->tries_6;
        fail(lane, "nothing listens there");
        return;
    }
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    answer(lane, &(struct hc_sv_agones_answer){.status = status,
                                               .body = (const char *)evbuffer_pullup(body, -1),
                                               .size = evbuffer_get_length(body)});
}

/// A part of a body that goes on: gives its whole lines to the reader.
static void on_part(struct evhttp_request *request, void *context) {
    struct hc_sv_agones_lane *lane = context;
    char *line;
    size_t size;
    evbuffer_add_buffer(lane->text, evhttp_request_get_input_buffer(request));
    while (!lane->refuses && (line = evbuffer_readln(lane->text, &size, EVBUFFER_EOL_LF)) != NULL) {
        lane->refuses = evhttp_request_get_response_code(request) != HTTP_OK ||
                        !lane->reader.line(lane->reader.context, line, size);
        free(line);
    }
    if (lane->refuses || evbuffer_get_length(lane->text) > HC_SV_AGONES_BODY_MAX) {
        lane->refuses = true;
        evbuffer_drain(lane->text, evbuffer_get_length(lane->text));
    }
}

// ---- Requests -----------------------------------------------------------------------------------

/// A connection, the former one or another; NULL: no memory.
static struct evhttp_connection *connection_of(struct hc_sv_agones_lane *lane) {
    if (lane->connection != NULL && lane->stale) {
        evhttp_connection_free(lane->connection);
        lane->connection = NULL;
    }
    lane->stale = false;
    if (lane->connection != NULL)
        return lane->connection;
    lane->connection = evhttp_connection_base_new(lane->base, NULL,
                                                  lane->tries_6 ? "::1" : "127.0.0.1", lane->port);
    if (lane->connection == NULL)
        return NULL;
    evhttp_connection_set_max_headers_size(lane->connection, HEADERS_MAX);
    evhttp_connection_set_max_body_size(lane->connection, HC_SV_AGONES_BODY_MAX);
    bufferevent_set_rate_limit(evhttp_connection_get_bufferevent(lane->connection), lane->rate);
    return lane->connection;
}

/// A request with its headers and its body; NULL: no memory.
static struct evhttp_request *create(struct hc_sv_agones_lane *lane,
                                     const struct hc_sv_agones_request *asked) {
    struct evhttp_request *request = evhttp_request_new(on_done, lane);
    if (request == NULL)
        return NULL;
    char size[24]; // libevent says the size of POST and PUT, but not of PATCH
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    snprintf(size, sizeof(size), "%zu", asked->body != NULL ? strlen(asked->body) : 0);
    evhttp_request_set_error_cb(request, on_error);
    if (lane->reader.line != NULL)
        evhttp_request_set_chunked_cb(request, on_part);
    if (evhttp_add_header(headers, "Host", "localhost") == 0 &&
        (asked->body == NULL ||
         (evhttp_add_header(headers, "Content-Type", "application/json") == 0 &&
          evhttp_add_header(headers, "Content-Length", size) == 0 &&
          evbuffer_add(evhttp_request_get_output_buffer(request), asked->body,
                       strlen(asked->body)) == 0)))
        return request;
    evhttp_request_free(request);
    return NULL;
}

void hc_sv_agones_lane_ask(struct hc_sv_agones_lane *lane,
                           const struct hc_sv_agones_request *asked) {
    struct evhttp_connection *connection = connection_of(lane);
    struct evhttp_request *request = connection == NULL ? NULL : create(lane, asked);
    lane->busy = true;
    lane->refuses = false;
    lane->why = NULL;
    evbuffer_drain(lane->text, evbuffer_get_length(lane->text));
    // The answer may come during the call, if the connection is refused at once.
    if (request == NULL ||
        (evhttp_make_request(connection, request, asked->method, asked->path) != 0 && lane->busy))
        fail(lane, "no memory");
}

void hc_sv_agones_lane_cut(struct hc_sv_agones_lane *lane) {
    if (lane->connection != NULL)
        evhttp_connection_free(lane->connection);
    lane->connection = NULL;
    lane->busy = false;
}

void hc_sv_agones_lane_close(struct hc_sv_agones_lane *lane) {
    hc_sv_agones_lane_cut(lane);
    if (lane->text != NULL)
        evbuffer_free(lane->text);
    if (lane->rate != NULL)
        ev_token_bucket_cfg_free(lane->rate);
    lane->text = NULL;
    lane->rate = NULL;
}
