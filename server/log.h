/// The daemon's log: one line an event on standard error, as text or as JSON.
#pragma once

#include <jansson.h>

enum hc_sv_log_level { HC_SV_LOG_ERROR, HC_SV_LOG_WARN, HC_SV_LOG_INFO, HC_SV_LOG_DEBUG };

enum hc_sv_log_format {
    HC_SV_LOG_TEXT, ///< time level event key=value ...
    HC_SV_LOG_JSON, ///< one object: time, level, event, and the fields
};

struct hc_sv_log {
    enum hc_sv_log_level level; ///< events that matter less are left out
    enum hc_sv_log_format format;
};

/// Writes `event`, a word, with `fields`, an object that is released here; NULL: none. Whatever a
/// string holds, it stays one line: what is not plain is escaped as JSON does.
void hc_sv_log_event(const struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                     json_t *fields);
