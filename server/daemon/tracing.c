/// Owns the trace of the daemon.
#include "server/daemon/tracing.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    CLOSE_MS = 1000,
    OWN_RECORDS = 4096, ///< room of the control thread, and of a worker
    TICKS_KEPT = 16,    ///< ticks of a match for which its track has room
    TICK_RECORDS = 32,  ///< records of a tick beside those of its clients
    OF_CLIENT = 2,      ///< records of a tick for a client
    WORKERS_FROM = 1,   ///< numbers of tracks
    MATCHES_FROM = 100,
};

/// Logs what happened to the file.
static void on_report(void *context, const struct hc_trace_report *report) {
    struct hc_sv_log *log = context;
    json_t *counts =
        json_pack("{s:s, s:I, s:I, s:I}", "file", report->path, "bytes", (json_int_t)report->bytes,
                  "records", (json_int_t)report->records, "dropped", (json_int_t)report->dropped);
    switch (report->kind) {
    case HC_TRACE_REPORT_BEGAN:
        hc_sv_log_event(log, HC_SV_LOG_INFO, "trace-begun",
                        json_pack("{s:s}", "file", report->path));
        break;
    case HC_TRACE_REPORT_FAILED:
        hc_sv_log_event(log, HC_SV_LOG_ERROR, "trace-failed",
                        json_pack("{s:s}", "why", report->why));
        break;
    case HC_TRACE_REPORT_LATE:
        hc_sv_log_event(log, HC_SV_LOG_WARN, "trace-incomplete",
                        json_pack("{s:s, s:s}", "file", report->path, "why",
                                  "the file takes records too slowly, and some are left out"));
        break;
    case HC_TRACE_REPORT_FULL:
        hc_sv_log_event(log, HC_SV_LOG_WARN, "trace-full", json_incref(counts));
        break;
    case HC_TRACE_REPORT_ENDED:
        hc_sv_log_event(log, HC_SV_LOG_INFO, "trace-ended", json_incref(counts));
        break;
    }
    json_decref(counts);
}

/// Room for some ticks of a match, a power of two.
static uint32_t match_records(const struct hc_sv_options *options) {
    uint32_t clients = (uint32_t)options->clients + options->spectators, records = 1;
    while (records < TICKS_KEPT * (TICK_RECORDS + OF_CLIENT * clients))
        records *= 2;
    return records;
}

/// Adds a track; false: no memory.
static bool add(struct hc_sv_tracing *tracing, hc_sv_tracing_track *track, uint32_t number,
                uint32_t capacity, const char *name) {
    struct hc_trace_track *made = hc_trace_add(tracing->trace, number, capacity, name);
    atomic_store_explicit(track, made, memory_order_release);
    return made != NULL;
}

/// Makes the trace with its tracks; false: no memory or no thread.
static bool make(struct hc_sv_tracing *tracing) {
    const struct hc_sv_options *options = tracing->options;
    const struct hc_trace_config config = {.program = "hindcastd",
                                           .version = tracing->version,
                                           .reported = on_report,
                                           .context = tracing->log};
    char name[HC_TRACE_NAME_MAX];
    tracing->trace = hc_trace_open(&config);
    bool good =
        tracing->trace != NULL && add(tracing, &tracing->control, 0, OWN_RECORDS, "control thread");
    for (uint32_t i = 0; good && i < options->workers; i++) {
        snprintf(name, sizeof(name), "worker %" PRIu32, i + 1);
        good = add(tracing, &tracing->workers[i], WORKERS_FROM + i, OWN_RECORDS, name);
    }
    for (uint32_t i = 0; good && i < options->matches; i++) {
        snprintf(name, sizeof(name), "match %" PRIu32, i + 1);
        good = add(tracing, &tracing->matches[i], MATCHES_FROM + i, match_records(options), name);
    }
    return good;
}

/// Makes the trace if there is none; false: no memory or no thread.
static bool prepare(struct hc_sv_tracing *tracing) {
    return tracing->trace != NULL || make(tracing);
}

static uint64_t limit_of(const struct hc_sv_tracing *tracing) {
    return (uint64_t)tracing->options->trace_limit_mb * HC_TRACE_MEGABYTE;
}

bool hc_sv_tracing_open(struct hc_sv_tracing *tracing, char why[static HC_TRACE_WHY_MAX]) {
    const struct hc_sv_options *options = tracing->options;
    tracing->matches = calloc(options->matches, sizeof(*tracing->matches));
    if (tracing->matches == NULL || (options->trace != NULL && !prepare(tracing))) {
        snprintf(why, HC_TRACE_WHY_MAX, "no memory or no thread for a trace");
        return false;
    }
    if (options->trace == NULL)
        return true;
    return hc_trace_begin_at(tracing->trace, options->trace, limit_of(tracing), why);
}

bool hc_sv_tracing_begin(struct hc_sv_tracing *tracing, const char *path) {
    if (!prepare(tracing))
        return false;
    hc_trace_begin_file(tracing->trace, path, -1, limit_of(tracing));
    return true;
}

void hc_sv_tracing_end(struct hc_sv_tracing *tracing) {
    if (tracing->trace != NULL)
        hc_trace_end_file(tracing->trace);
}

void hc_sv_tracing_close(struct hc_sv_tracing *tracing) {
    if (!hc_trace_close(tracing->trace, CLOSE_MS))
        return;
    free(tracing->matches);
    tracing->matches = NULL;
    tracing->trace = NULL;
}
