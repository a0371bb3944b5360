/// Owns the tracks of a trace: spans in a ring between one thread and the writer.
#include "common/programs/trace.h"

#include "common/programs/clock.h"
#include "hindcast/check.h"

#include <stdio.h>
#include <stdlib.h>

bool hc_trace_track_open(struct hc_trace_track *track, const atomic_bool *on, uint32_t capacity,
                         const char *name) {
    HC_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    *track = (struct hc_trace_track){.on = on, .capacity = capacity};
    snprintf(track->name, sizeof(track->name), "%s", name);
    track->records = calloc(capacity, sizeof(*track->records));
    return track->records != NULL;
}

void hc_trace_track_close(struct hc_trace_track *track) {
    free(track->records);
    track->records = NULL;
}

static struct hc_trace_record *record_at(const struct hc_trace_track *track, uint64_t index) {
    return &track->records[index & (track->capacity - 1)];
}

/// Takes the next place for a record that begins now. 0: there is no room.
static hc_trace_span reserve(struct hc_trace_track *track, const char *name) {
    uint64_t written = atomic_load_explicit(&track->written, memory_order_acquire);
    if (track->reserved - written >= track->capacity) {
        atomic_fetch_add_explicit(&track->dropped, 1, memory_order_relaxed);
        return 0;
    }
    struct hc_trace_record *record = record_at(track, track->reserved);
    record->begin_ns = hc_clock_ns();
    record->duration_ns = 0;
    record->name = name;
    record->is_moment = false;
    record->count = 0;
    return ++track->reserved;
}

/// Ends the innermost spans until `depth` are open.
static void end_to(struct hc_trace_track *track, unsigned depth) {
    uint64_t now_ns = hc_clock_ns();
    while (track->depth > depth) {
        struct hc_trace_record *record = record_at(track, track->open[--track->depth]);
        record->duration_ns = now_ns - record->begin_ns;
    }
    if (depth == 0)
        atomic_store_explicit(&track->published, track->reserved, memory_order_release);
}

hc_trace_span hc_trace_root(struct hc_trace_track *track, const char *name) {
    if (track != NULL && track->depth > 0)
        end_to(track, 0);
    return hc_trace_begin(track, name);
}

hc_trace_span hc_trace_begin(struct hc_trace_track *track, const char *name) {
    if (track == NULL ||
        (track->depth == 0 && !atomic_load_explicit(track->on, memory_order_relaxed)))
        return 0;
    HC_ASSERT(track->depth < HC_TRACE_DEPTH_MAX);
    hc_trace_span span = reserve(track, name);
    if (span != 0)
        track->open[track->depth++] = span - 1;
    return span;
}

void hc_trace_end(struct hc_trace_track *track, hc_trace_span span) {
    if (span == 0)
        return;
    for (unsigned depth = track->depth; depth-- > 0;)
        if (track->open[depth] == span - 1) {
            end_to(track, depth);
            return;
        }
}

void hc_trace_cancel(struct hc_trace_track *track, hc_trace_span span) {
    if (span == 0)
        return;
    HC_ASSERT(span == track->reserved && track->depth > 0 &&
              track->open[track->depth - 1] == span - 1);
    track->depth--;
    track->reserved--;
}

void hc_trace_rename(struct hc_trace_track *track, hc_trace_span span, const char *name) {
    if (span != 0)
        record_at(track, span - 1)->name = name;
}

hc_trace_span hc_trace_moment(struct hc_trace_track *track, const char *name) {
    hc_trace_span moment = track != NULL && track->depth > 0 ? reserve(track, name) : 0;
    if (moment != 0)
        record_at(track, moment - 1)->is_moment = true;
    return moment;
}

static void add(struct hc_trace_track *track, hc_trace_span span,
                const struct hc_trace_argument *argument) {
    if (span == 0)
        return;
    struct hc_trace_record *record = record_at(track, span - 1);
    HC_ASSERT(record->count < HC_TRACE_ARGUMENTS_MAX && track->depth > 0);
    record->arguments[record->count++] = *argument;
}

void hc_trace_number(struct hc_trace_track *track, hc_trace_span span, const char *key,
                     uint64_t number) {
    const struct hc_trace_argument argument = {.key = key, .number = number};
    add(track, span, &argument);
}

void hc_trace_text(struct hc_trace_track *track, hc_trace_span span, const char *key,
                   const char *text) {
    const struct hc_trace_argument argument = {.key = key, .text = text};
    add(track, span, &argument);
}

const struct hc_trace_record *hc_trace_track_next(struct hc_trace_track *track) {
    uint64_t written = atomic_load_explicit(&track->written, memory_order_relaxed);
    bool any = written < atomic_load_explicit(&track->published, memory_order_acquire);
    return any ? record_at(track, written) : NULL;
}

void hc_trace_track_take(struct hc_trace_track *track) {
    atomic_fetch_add_explicit(&track->written, 1, memory_order_release);
}
