/// Owns the records of a match in a trace.
#include "server/daemon/match_trace.h"

#include "proto/datagram.h"

/// Watches a server, whose rewinds are logged from now on.
static void watch(struct hc_sv_match_trace *trace, struct hc_server *server,
                  struct hc_rewind_log *log) {
    trace->server = server;
    trace->work = (struct hc_rewind_trace){.track = trace->track,
                                           .log = log,
                                           .rewind = "rewind",
                                           .step = "step",
                                           .named_later = true,
                                           .known = hc_rewind_log_count(log)};
    hc_server_log_rewinds(server, log);
    hc_server_watch(server, hc_rewind_trace_watch, &trace->work);
}

/// Watches no server any more.
static void leave(struct hc_sv_match_trace *trace, struct hc_server *server) {
    if (trace->server == NULL)
        return;
    if (trace->server == server) {
        hc_server_log_rewinds(server, NULL);
        hc_server_watch(server, NULL, NULL);
    }
    trace->server = NULL;
}

void hc_sv_match_trace_begin(struct hc_sv_match_trace *trace, struct hc_trace_track *track,
                             struct hc_server *server, struct hc_rewind_log *log,
                             uint64_t late_us) {
    trace->track = track;
    trace->part = 0;
    trace->tick = hc_trace_root(track, "tick");
    if (trace->tick == 0) {
        leave(trace, server);
        return;
    }
    if (trace->server != server)
        watch(trace, server, log);
    hc_trace_number(track, trace->tick, "late_us", late_us);
}

void hc_sv_match_trace_part(struct hc_sv_match_trace *trace, const char *name) {
    if (trace->tick == 0)
        return;
    hc_trace_end(trace->track, trace->part);
    trace->part = name != NULL ? hc_trace_begin(trace->track, name) : 0;
}

size_t hc_sv_match_trace_send(struct hc_sv_match_trace *trace, struct hc_server *server,
                              struct hc_address *to, uint8_t out[static HC_DATAGRAM_MAX],
                              uint64_t now_us) {
    const struct hc_server_stats *stats = hc_server_stats(server);
    if (trace->tick == 0)
        return hc_server_send(server, to, out, now_us);
    uint64_t snapshots = stats->snapshots, rewound = stats->snapshots_rewound;
    uint32_t cid, seq;
    hc_trace_span span = hc_trace_begin(trace->track, "datagram");
    size_t size = hc_server_send(server, to, out, now_us);
    if (size == 0) {
        hc_trace_cancel(trace->track, span);
        return 0;
    }
    hc_trace_number(trace->track, span, "bytes", size);
    if (hc_datagram_get_data_clear(out, size, &cid, &seq) == HC_OK)
        hc_trace_number(trace->track, span, "cid", cid);
    if (stats->snapshots > snapshots) {
        hc_trace_rename(trace->track, span, "snapshot");
        hc_trace_text(trace->track, span, "of",
                      stats->snapshots_rewound > rewound ? "a tick stepped again" : "a new tick");
    }
    hc_trace_end(trace->track, span);
    return size;
}

void hc_sv_match_trace_end(struct hc_sv_match_trace *trace, const struct hc_server *server,
                           bool ticked) {
    if (trace->tick == 0)
        return;
    if (!ticked)
        hc_trace_rename(trace->track, trace->tick, "turn");
    hc_trace_number(trace->track, trace->tick, "tick",
                    hc_timeline_head(hc_server_timeline(server)));
    hc_trace_number(trace->track, trace->tick, "clients", hc_server_clients(server));
    hc_trace_end(trace->track, trace->tick);
    trace->tick = trace->part = 0;
}
