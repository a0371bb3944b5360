/// The records of a match on its track of a trace: ticks, rewinds, and what clients are sent.
#pragma once

#include "common/programs/rewind_trace.h"
#include "hindcast/server.h"

/// The open spans of a match. All zeros before the first tick.
struct hc_sv_match_trace {
    struct hc_trace_track *track; ///< NULL: there is no trace
    hc_trace_span tick, part;     ///< open ones; 0: none
    struct hc_rewind_trace work;
    const struct hc_server *server; ///< the one that `work` watches
};

/// Begins a tick of `server` that began `late_us` after it was due, with the rewinds that `log`
/// keeps. `track` NULL: there is no trace.
void hc_sv_match_trace_begin(struct hc_sv_match_trace *trace, struct hc_trace_track *track,
                             struct hc_server *server, struct hc_rewind_log *log, uint64_t late_us);

/// Begins the next part of a tick, and ends the one before; NULL: begins none.
void hc_sv_match_trace_part(struct hc_sv_match_trace *trace, const char *name);

/// Calls hc_server_send, and records it.
size_t hc_sv_match_trace_send(struct hc_sv_match_trace *trace, struct hc_server *server,
                              struct hc_address *to, uint8_t out[static HC_DATAGRAM_MAX],
                              uint64_t now_us);

/// Ends the tick; `ticked`: there was one, otherwise the match had only something to send.
void hc_sv_match_trace_end(struct hc_sv_match_trace *trace, const struct hc_server *server,
                           bool ticked);
