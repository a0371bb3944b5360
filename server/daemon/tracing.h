/// The trace of the daemon: its tracks, the file of --trace or of the admin face, and the log lines
/// about it.
///
/// Calls belong in this order, in the control thread:
///     1. hc_sv_tracing_open
///     2. any number of hc_sv_tracing_begin and hc_sv_tracing_end
///     3. hc_sv_tracing_close, after the workers' threads
#pragma once

#include "common/programs/trace_file.h"
#include "server/daemon/log.h"
#include "server/daemon/options.h"

/// A track, which other threads find once there is a first file.
typedef _Atomic(struct hc_trace_track *) hc_sv_tracing_track;

struct hc_sv_tracing {
    const char *version; ///< of the daemon; borrowed
    const struct hc_sv_options *options;
    struct hc_sv_log *log;
    struct hc_trace *trace; ///< NULL: there was no file yet
    hc_sv_tracing_track control, workers[HC_SV_WORKERS_MAX];
    hc_sv_tracing_track *matches; ///< [options->matches]
};

/// Opens a tracing that has its version, options and log, and else is all zeros; begins the file of
/// --trace. False: `why` is a sentence.
bool hc_sv_tracing_open(struct hc_sv_tracing *tracing, char why[static HC_TRACE_WHY_MAX]);

/// Begins the file `path`, which must not exist, in place of the present one; the log has the
/// result. False: no memory.
bool hc_sv_tracing_begin(struct hc_sv_tracing *tracing, const char *path);

/// Ends the file, if there is one.
void hc_sv_tracing_end(struct hc_sv_tracing *tracing);

/// Writes what is left, and frees all, unless the file hangs.
void hc_sv_tracing_close(struct hc_sv_tracing *tracing);

/// The present track; NULL: there was no file yet.
static inline struct hc_trace_track *hc_sv_tracing_get(hc_sv_tracing_track *track) {
    return atomic_load_explicit(track, memory_order_acquire);
}
