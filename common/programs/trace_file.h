/// The file of a trace: an array of events in the Trace Event Format, which Perfetto and
/// chrome://tracing read. A thread of its own writes it, so that a full disk or a hanging file
/// system delays nobody. A file that ends early, because the process was killed, can be read too.
///
/// Calls belong in this order, all in one thread:
///
///   1. hc_trace_open;
///   2. hc_trace_add for each track, before the first file begins;
///   3. hc_trace_begin_file, and hc_trace_end_file, any number of times;
///   4. hc_trace_close.
#pragma once

#include "common/programs/trace.h"

enum {
    HC_TRACE_WHY_MAX = 4400,     ///< bytes of a sentence with a path
    HC_TRACE_MEGABYTE = 1000000, ///< of --trace-limit
    HC_TRACE_LIMIT_MB_MAX = 1000000,
    HC_TRACE_LIMIT_MB = 100, ///< unless it is given
};

enum hc_trace_report_kind {
    HC_TRACE_REPORT_BEGAN,  ///< the file is being written
    HC_TRACE_REPORT_FAILED, ///< the file cannot be written, or no more; `why` is a sentence
    HC_TRACE_REPORT_FULL,   ///< the file has reached its limit, and is complete
    HC_TRACE_REPORT_ENDED,  ///< the file was ordered to end, and is complete
    HC_TRACE_REPORT_LATE,   ///< the file takes records too slowly, and some are dropped; once
};

/// The state of the file.
struct hc_trace_report {
    enum hc_trace_report_kind kind;
    const char *path; ///< borrowed for the call
    const char *why;  ///< of FAILED; else NULL
    uint64_t bytes, records, dropped;
};

struct hc_trace_config {
    const char *program, *version; ///< borrowed
    /// Reports the state of the file whenever it changes, in the writer's thread; NULL: reports
    /// nothing.
    void (*reported)(void *context, const struct hc_trace_report *report);
    void *context;
};

struct hc_trace;

/// Makes a trace without a file, and its thread. NULL: no memory or no thread.
struct hc_trace *hc_trace_open(const struct hc_trace_config *config);

/// Adds a track with room for `capacity` records, a power of two, and a number of its own by which
/// tracks are sorted. Owned by the trace. NULL: no memory.
struct hc_trace_track *hc_trace_add(struct hc_trace *trace, uint32_t number, uint32_t capacity,
                                    const char *name);

/// Opens the regular file `path`, or makes it, for hc_trace_begin_file. `overwrites`: it may exist
/// already. Returns its descriptor; -1: `why` is a sentence.
int hc_trace_create_file(const char *path, bool overwrites, char why[static HC_TRACE_WHY_MAX]);

/// Ends the present file, and begins another one, of at most `limit` bytes. `descriptor`, which is
/// taken over, is of hc_trace_create_file; -1: the thread creates the file, which must not exist.
void hc_trace_begin_file(struct hc_trace *trace, const char *path, int descriptor, uint64_t limit);

/// Begins the file of an option --trace, which may exist already. False: `why` is a sentence.
bool hc_trace_begin_at(struct hc_trace *trace, const char *path, uint64_t limit,
                       char why[static HC_TRACE_WHY_MAX]);

/// Reports for a program with such an option, whose name is `context`, on standard error.
void hc_trace_print_report(void *context, const struct hc_trace_report *report);

/// Ends the file, if there is one.
void hc_trace_end_file(struct hc_trace *trace);

/// Ends the file and the thread, and frees all. Waits at most `wait_ms`; false: the file hangs, and
/// nothing was freed. NULL is allowed.
bool hc_trace_close(struct hc_trace *trace, unsigned wait_ms);
