/// The work of a timeline on a track of a trace: rewinds with their causes, and new ticks.
#pragma once

#include "common/programs/trace.h"
#include "hindcast/rewind.h"
#include "hindcast/timeline.h"

/// The spans of a timeline. All zeros, but for what the caller sets.
struct hc_rewind_trace {
    struct hc_trace_track *track;
    const struct hc_rewind_log *log; ///< of the timeline
    const char *rewind, *step;       ///< the names of the spans, such as "rewind" and "step"
    bool named_later; ///< a server adds the clients after a rewind, before the next tick

    hc_trace_span span; ///< the open rewind, or the one that waits for its clients
    uint64_t known;     ///< rewinds of the log that are on the track
};

/// A hc_timeline_watch, whose context is a struct hc_rewind_trace. Its spans are within a root.
void hc_rewind_trace_watch(void *context, enum hc_timeline_work work, bool ends);
