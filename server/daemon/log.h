/// The daemon's log: writes one line for each event, as text or as JSON, to a descriptor.
///
/// Any thread may write lines between open and close. It never waits for its reader, and no client
/// can make it grow without bound. Each kind of line (the name of its event) has a rate, in all and
/// for each client:
///
///                 in all                      a client
///     error to info   256, then 4 a second    8, then 3 a minute
///     debug           512, then 64 a second   64, then 8 a second
///
/// The log suppresses lines beyond the rate, and counts them every 10 s in a line `log-suppressed
/// kind=... count=...`. It drops lines while 64 KiB wait for the reader; `log-dropped count=...`
/// takes their place.
#pragma once

#include "server/daemon/log_limit.h"
#include "server/daemon/log_output.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

enum hc_sv_log_level { HC_SV_LOG_ERROR, HC_SV_LOG_WARN, HC_SV_LOG_INFO, HC_SV_LOG_DEBUG };

enum hc_sv_log_format {
    HC_SV_LOG_TEXT, ///< text: time, level, event, and any key=value
    HC_SV_LOG_JSON, ///< one object: time, level, event, and the fields
};

enum { HC_SV_LOG_LINE_MAX = 8192 }; ///< bytes; a longer line loses its fields

struct hc_sv_log {
    atomic_uint level; ///< events of a higher enum hc_sv_log_level are not logged
    enum hc_sv_log_format format;
    bool has_priorities; ///< the output is the journal of systemd
    struct hc_sv_log_output output;
    struct hc_sv_log_limit limit;
    pthread_mutex_t lock;   ///< any thread may write lines
    uint64_t suppressed_us; ///< when suppressed lines were last counted in the log
};

/// Whether the descriptor is the journal's, whose device and inode $JOURNAL_STREAM has.
bool hc_sv_log_is_journal(int descriptor);

/// Opens a log on `descriptor`, which the caller still owns. It is the journal if $JOURNAL_STREAM
/// names it.
void hc_sv_log_open(struct hc_sv_log *log, enum hc_sv_log_level level, enum hc_sv_log_format format,
                    int descriptor);

/// Writes a line: the name of the event, and `fields`, an object that is released here (NULL:
/// none), without the keys `time`, `level` and `event`. Strings that are not plain are escaped as
/// in JSON, so each event is one line. The first of the fields `user`, `client_id`, `cid` and
/// `address` names the line's client.
void hc_sv_log_event(struct hc_sv_log *log, enum hc_sv_log_level level, const char *event,
                     json_t *fields);

/// Logs lines of this level and of more urgent ones from now on.
void hc_sv_log_set_level(struct hc_sv_log *log, enum hc_sv_log_level level);

/// Whether lines of a level are logged.
static inline bool hc_sv_log_takes(const struct hc_sv_log *log, enum hc_sv_log_level level) {
    return level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

/// Writes to another descriptor from now on, also what the one before has not taken.
void hc_sv_log_redirect(struct hc_sv_log *log, int descriptor);

/// Whether another report may be written into the log now: 4 at once, and then one a second. The
/// others are counted as suppressed lines of the kind `report`.
bool hc_sv_log_takes_report(struct hc_sv_log *log);

/// Writes `size` bytes of text unchanged, at any level and rate; `size` is at most
/// HC_SV_LOG_BUFFER. False: the text is dropped as a whole, and counted as one line.
bool hc_sv_log_text(struct hc_sv_log *log, const char *text, size_t size);

/// Writes buffered lines, and the counts of suppressed lines when they are due. Call it often.
void hc_sv_log_advance(struct hc_sv_log *log);

/// Waits at most 0.2 s for the reader, and writes the counts of dropped and suppressed lines.
void hc_sv_log_finish(struct hc_sv_log *log);

/// Finishes the log and closes it; no other thread uses it any more.
void hc_sv_log_close(struct hc_sv_log *log);
