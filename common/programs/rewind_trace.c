/// Owns what a trace says about rewinds.
#include "common/programs/rewind_trace.h"

/// Adds the moment of a cause.
static void add_cause(struct hc_trace_track *track, const struct hc_rewind *rewind,
                      const struct hc_rewind_cause *cause) {
    static const char *const names[HC_REWIND_CAUSE_KINDS] = {
        [HC_REWIND_INPUT] = "late input",     [HC_REWIND_UNTOLD] = "other prediction",
        [HC_REWIND_ROSTER] = "join or leave", [HC_REWIND_STATE] = "received state",
        [HC_REWIND_ORDER] = "order",
    };
    hc_trace_span moment = hc_trace_moment(track, names[cause->kind]);
    hc_trace_number(track, moment, "tick", cause->tick);
    hc_trace_number(track, moment, "late_ticks", rewind->head - cause->tick);
    if (cause->player != HC_NO_PLAYER)
        hc_trace_number(track, moment, "player", cause->player);
    if (cause->kind == HC_REWIND_STATE)
        hc_trace_number(track, moment, "entity", cause->entity);
    if (cause->cid == 0)
        return;
    hc_trace_number(track, moment, "client", cause->client_id);
    hc_trace_number(track, moment, "cid", cause->cid);
}

/// Adds what the log knows of the rewind of the open span; it may have stepped nothing again.
static void describe(struct hc_rewind_trace *trace) {
    struct hc_trace_track *track = trace->track;
    uint64_t count = hc_rewind_log_count(trace->log);
    const struct hc_rewind *rewind =
        count > trace->known ? hc_rewind_log_get(trace->log, count - 1) : NULL;
    trace->known = count;
    if (rewind == NULL)
        return;
    hc_trace_number(track, trace->span, "head", rewind->head);
    hc_trace_number(track, trace->span, "from", rewind->from);
    hc_trace_number(track, trace->span, "depth", rewind->head - rewind->from);
    hc_trace_number(track, trace->span, "ticks", rewind->ticks);
    hc_trace_number(track, trace->span, "steps", rewind->steps);
    hc_trace_number(track, trace->span, "changed_states", rewind->changed);
    hc_trace_number(track, trace->span, "changed_entities", rewind->entities);
    hc_trace_text(track, trace->span, "more_causes", rewind->more_causes ? "yes" : "no");
    for (uint32_t i = 0; i < rewind->cause_count; i++)
        add_cause(track, rewind, &rewind->causes[i]);
}

void hc_rewind_trace_watch(void *context, enum hc_timeline_work work, bool ends) {
    struct hc_rewind_trace *trace = context;
    struct hc_trace_track *track = trace->track;
    if (work == HC_TIMELINE_REWIND && !ends) {
        trace->span = hc_trace_begin(track, trace->rewind);
    } else if (work == HC_TIMELINE_REWIND) {
        if (!trace->named_later)
            describe(trace);
        hc_trace_end(track, trace->span);
    } else if (!ends) {
        if (trace->named_later)
            describe(trace);
        trace->span = hc_trace_begin(track, trace->step);
    } else {
        hc_trace_end(track, trace->span);
    }
}
