/// Owns the records of a client in a trace.
#include "client/programs/runner_trace.h"

#include "client/session.h"

/// Makes the log for the client's world, once it has one; false: there is none.
static bool make_log(struct hc_cl_runner_trace *trace, const struct hc_world *world) {
    if (world == NULL)
        return false;
    if (trace->log != NULL && trace->entities == world->entities)
        return true;
    hc_rewind_log_destroy(trace->log);
    trace->log = hc_rewind_log_create(world, NULL);
    trace->entities = world->entities;
    trace->work = (struct hc_rewind_trace){
        .track = trace->track, .log = trace->log, .rewind = "rollback", .step = "predicted tick"};
    return trace->log != NULL;
}

void hc_cl_runner_trace_begin(struct hc_cl_runner_trace *trace, struct hc_client *client) {
    if (trace->track == NULL)
        return;
    trace->turn = hc_trace_root(trace->track, "turn");
    // A reconnect may have made another world in the same place.
    if (make_log(trace, hc_client_world(client)))
        (void)hc_cl_session_watch(client, trace->log, hc_rewind_trace_watch, &trace->work);
}

void hc_cl_runner_trace_end(struct hc_cl_runner_trace *trace, const struct hc_client *client,
                            bool ran) {
    hc_tick head, shown, as_of;
    if (trace->turn == 0)
        return;
    if (!ran) {
        hc_trace_cancel(trace->track, trace->turn);
        return;
    }
    if (hc_cl_session_head(client, &head))
        hc_trace_number(trace->track, trace->turn, "predicted", head);
    if (hc_client_snapshot(client, &shown, &as_of)) {
        hc_trace_number(trace->track, trace->turn, "newest_snapshot", shown);
        hc_trace_number(trace->track, trace->turn, "server_tick", as_of);
    }
    hc_trace_end(trace->track, trace->turn);
}

void hc_cl_runner_trace_leave(struct hc_cl_runner_trace *trace) {
    hc_rewind_log_destroy(trace->log);
    trace->log = NULL;
    trace->turn = 0;
}
