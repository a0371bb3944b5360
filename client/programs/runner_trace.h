/// The records of a client on its track of a trace: its turns, the ticks that it predicts, and its
/// rollbacks with their causes.
#pragma once

#include "common/programs/rewind_trace.h"
#include "hindcast/client.h"

/// All zeros, but for `track`.
struct hc_cl_runner_trace {
    struct hc_trace_track *track; ///< NULL: there is no trace
    hc_trace_span turn;
    struct hc_rewind_log *log; ///< owned; of a world with so many `entities`
    uint32_t entities;
    struct hc_rewind_trace work;
};

/// Begins a turn of the client.
void hc_cl_runner_trace_begin(struct hc_cl_runner_trace *trace, struct hc_client *client);

/// Ends it; `ran`: there was something to do.
void hc_cl_runner_trace_end(struct hc_cl_runner_trace *trace, const struct hc_client *client,
                            bool ran);

/// Frees what belongs to a client, before it is destroyed.
void hc_cl_runner_trace_leave(struct hc_cl_runner_trace *trace);
