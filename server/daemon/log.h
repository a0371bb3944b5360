/// The daemon's log: one line an event, as text or as JSON, to a descriptor.
///
/// It never waits for its reader, and nobody can make it grow without bound. Every kind of line (an
/// event's word) has a rate, in all and for each client:
///
///                 in all                      a client
///     error to info   256, then 4 a second    8, then 3 a minute
///     debug           512, then 64 a second   64, then 8 a second
///
/// Lines beyond are counted, and named every 10 s by `log-suppressed kind=... count=...`. Lines
/// that find 64 KiB waiting for the reader are dropped, and `log-dropped count=...` stands where
/// they are missing.
#pragma once

#include "server/daemon/log_limit.h"
#include "server/daemon/log_output.h"

#include <jansson.h>

enum hc_sv_log_level { HC_SV_LOG_ERROR, HC_SV_LOG_WARN, HC_SV_LOG_INFO, HC_SV_LOG_DEBUG };

enum hc_sv_log_format {
    HC_SV_LOG_TEXT, ///< time level event key=value ...
    HC_SV_LOG_JSON, ///< one object: time, level, event, and the fields
};

enum { HC_SV_LOG_LINE_MAX = 8192 }; ///< bytes; a longer line keeps none of its fields

struct hc_sv_log {
    enum hc_sv_log_level level; ///< events that matter less are left out
    enum hc_sv_log_format format;
    struct hc_sv_log_output output;
    struct hc_sv_log_limit limit;
    uint64_t suppressed_us; ///< when what the rates left out was last named
};

/// Begins a log on `descriptor`, which stays the caller's.
void hc_sv_log_open(struct hc_sv_log *log, enum hc_sv_log_level level, enum hc_sv_log_format format,
                    int descriptor);

/// Writes `event`, a word, with `fields`, an object that is released here; NULL: none. Whatever a
/// string holds, it stays one line: what is not plain is escaped as JSON does. The line is about
/// the client that one of the fields `user`, `client_id`, `cid` and `address` names, in this order.
void hc_sv_log_event(struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                     json_t *fields);

/// Writes `size` bytes of text as they are, at any level and rate: at most HC_SV_LOG_BUFFER. False:
/// they are dropped as a whole, and counted as one line.
bool hc_sv_log_text(struct hc_sv_log *log, const char *text, size_t size);

/// Writes what waits, and names what was left out when that is due: to be called often.
void hc_sv_log_advance(struct hc_sv_log *log);

/// Names what was left out, and waits at most 0.2 s for the reader.
void hc_sv_log_close(struct hc_sv_log *log);
