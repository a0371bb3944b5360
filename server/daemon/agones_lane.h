/// A connection to the sidecar of Agones, for one HTTP request at a time.
///
/// The sidecar listens on the loopback of the pod: on 127.0.0.1, or on ::1 where there is no IPv4.
/// Memory is bounded whatever it answers: a body or a line has at most HC_SV_AGONES_BODY_MAX bytes,
/// and the lane reads at most 512 KiB a second.
///
/// Calls belong in this order, none of them in a callback but hc_sv_agones_lane_is_busy:
///     1. hc_sv_agones_lane_open
///     2. any number of hc_sv_agones_lane_ask and hc_sv_agones_lane_cut
///     3. hc_sv_agones_lane_close
#pragma once

#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HC_SV_AGONES_BODY_MAX = 1 << 20 };

/// The answer to a request, borrowed for the call.
struct hc_sv_agones_answer {
    int status;       ///< of HTTP; 0: there was no answer
    const char *body; ///< [size] empty if it came in lines
    size_t size;
    const char *why; ///< without an answer, the reason
};

/// The reader of a lane's answers. `line` is NULL for a lane whose bodies are taken whole.
struct hc_sv_agones_lane_reader {
    void (*answered)(void *context, const struct hc_sv_agones_answer *answer);
    /// A line of a body that goes on. False: no more is read of it.
    bool (*line)(void *context, const char *line, size_t size);
    void *context;
};

struct hc_sv_agones_request {
    enum evhttp_cmd_type method;
    const char *path;
    const char *body; ///< JSON; NULL: none
};

struct event_base;
struct evbuffer;
struct ev_token_bucket_cfg;

struct hc_sv_agones_lane {
    struct event_base *base;
    uint16_t port;
    struct hc_sv_agones_lane_reader reader;
    struct evhttp_connection *connection; ///< NULL: there is none yet
    struct ev_token_bucket_cfg *rate;
    struct evbuffer *text; ///< the begin of a line
    bool busy;             ///< a request waits for its answer
    bool refuses;          ///< no more is read of it
    bool tries_6;          ///< the next connection is to ::1
    bool stale;            ///< the next request needs another connection
    const char *why;       ///< the newest failure; NULL: none of this request
};

/// Opens a lane that is all zeros. False: no memory.
bool hc_sv_agones_lane_open(struct hc_sv_agones_lane *lane, struct event_base *base, uint16_t port,
                            const struct hc_sv_agones_lane_reader *reader);

/// Sends a request on a lane that is not busy. Its answer comes by the reader, perhaps at once.
void hc_sv_agones_lane_ask(struct hc_sv_agones_lane *lane,
                           const struct hc_sv_agones_request *request);

/// Ends the request of a busy lane without an answer, and the connection.
void hc_sv_agones_lane_cut(struct hc_sv_agones_lane *lane);

/// Whether a request waits for its answer.
static inline bool hc_sv_agones_lane_is_busy(const struct hc_sv_agones_lane *lane) {
    return lane->busy;
}

/// Frees all; one that is all zeros is allowed.
void hc_sv_agones_lane_close(struct hc_sv_agones_lane *lane);
