/// Traces: what a program does and when, as spans on tracks, which a thread writes to a file
/// (common/programs/trace_file.h) for Perfetto or chrome://tracing.
///
/// A track belongs to one thread at a time, such as that of a match. It keeps records in a ring, so
/// that a thread neither waits nor allocates: if the writer lags behind, records are dropped and
/// counted. While its trace is off, a track costs a read of a flag for each root.
///
/// Calls belong in this order, those of a track by its thread:
///
///   1. hc_trace_track_open;
///   2. any number of spans, one within the other: hc_trace_begin, hc_trace_moment, and
///      hc_trace_number or hc_trace_text about what is open, hc_trace_end;
///   3. hc_trace_track_close, after the writer has ended.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HC_TRACE_ARGUMENTS_MAX = 8, ///< of a record
    HC_TRACE_DEPTH_MAX = 8,     ///< spans that are open at once
    HC_TRACE_NAME_MAX = 64,     ///< bytes of a track's name with its terminator
};

/// A part of a record beside its name and its time.
struct hc_trace_argument {
    const char *key, *text; ///< `text` NULL: it is a number
    uint64_t number;
};

/// A span, or a moment.
struct hc_trace_record {
    uint64_t begin_ns, duration_ns;
    const char *name;
    bool is_moment;
    uint8_t count;
    struct hc_trace_argument arguments[HC_TRACE_ARGUMENTS_MAX]; ///< [count]
};

struct hc_trace_track {
    char name[HC_TRACE_NAME_MAX];
    const atomic_bool *on; ///< of the trace
    uint32_t capacity;     ///< of `records`, a power of two
    struct hc_trace_record *records;

    // Of the track's thread: records up to `reserved` are being made.
    uint64_t reserved;
    uint64_t open[HC_TRACE_DEPTH_MAX]; ///< [depth] the records of open spans
    unsigned depth;

    // Of both threads.
    atomic_uint_fast64_t published; ///< records before it are made
    atomic_uint_fast64_t written;   ///< records before it may be overwritten
    atomic_uint_fast64_t dropped;   ///< records without room
};

/// A span or a moment on a track; 0: none, because the trace is off or there was no room.
typedef uint64_t hc_trace_span;

/// Makes an empty track with room for `capacity` records, a power of two, of a trace that is `on`
/// or not. False: no memory.
bool hc_trace_track_open(struct hc_trace_track *track, const atomic_bool *on, uint32_t capacity,
                         const char *name);

/// Frees the records.
void hc_trace_track_close(struct hc_trace_track *track);

/// Begins a span within those that are open; without any it is a root, if the trace is on. `name`
/// is a constant, and so are all keys and texts. `track` NULL is allowed: there is no trace.
hc_trace_span hc_trace_begin(struct hc_trace_track *track, const char *name);

/// The same after the end of all open spans, which a thread may have left behind.
hc_trace_span hc_trace_root(struct hc_trace_track *track, const char *name);

/// Ends a span, and those within it that are open. At the end of a root all are for the writer.
void hc_trace_end(struct hc_trace_track *track, hc_trace_span span);

/// Forgets a span that was just begun, as if it had not been.
void hc_trace_cancel(struct hc_trace_track *track, hc_trace_span span);

/// Gives a span whose root is open another name.
void hc_trace_rename(struct hc_trace_track *track, hc_trace_span span, const char *name);

/// Adds a moment within the open spans; none if there is no root.
hc_trace_span hc_trace_moment(struct hc_trace_track *track, const char *name);

/// Adds a number to a span or a moment whose root is open.
void hc_trace_number(struct hc_trace_track *track, hc_trace_span span, const char *key,
                     uint64_t number);

/// Adds a text, which is a constant.
void hc_trace_text(struct hc_trace_track *track, hc_trace_span span, const char *key,
                   const char *text);

/// The oldest record that is not written yet, for the writer; NULL: there is none.
const struct hc_trace_record *hc_trace_track_next(struct hc_trace_track *track);

/// Gives back the record of hc_trace_track_next.
void hc_trace_track_take(struct hc_trace_track *track);
