#include "tests/storm/line.h"

#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    CLOCKS_OFF_US = 2000, ///< by which two clocks differ over what a client waits, at most
    ENTRIES = 4096,       ///< values that the server remembers at least
};

static struct storm_line *line_create(const struct storm_match *match,
                                      const struct storm_conn *conn) {
    const struct hc_world *world = storm_truth_world(match->truth);
    struct storm_line *line = calloc(1, sizeof *line);
    if (line == NULL)
        abort();
    line->conn = conn;
    line->rtt_us = UINT64_MAX;
    line->as_of = HC_NO_TICK;
    memset(line->entry_head, 0xff, sizeof line->entry_head);
    for (unsigned u = 0; u < STORM_UNITS_MAX; u++)
        line->units[u] = (struct storm_unit_seen){.acked = HC_NO_TICK, .in = HC_NO_TICK};
    line->reader = hc_cl_snapshot_reader_create(world, conn->player_count);
    line->held = storm_held_create(world, (uint32_t)storm_match_get(match, STORM_history) + 1);
    if (line->held == NULL || line->reader == NULL)
        abort();
    return line;
}

void storm_line_free(struct storm_line *line) {
    if (line == NULL)
        return;
    storm_held_destroy(line->held);
    hc_cl_snapshot_reader_destroy(line->reader);
    free(line);
}

struct storm_line *storm_line_any(struct storm_match *match, unsigned client, uint32_t cid) {
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, cid);
    if (conn == NULL)
        return NULL;
    struct storm_line **line = &match->told->lines[conn - match->conns.conns];
    if (*line == NULL)
        *line = line_create(match, conn);
    return *line;
}

struct storm_line *storm_line_of(struct storm_match *match, unsigned client, uint32_t cid) {
    struct storm_line *line = storm_line_any(match, client, cid);
    return line != NULL && line->conn->honest ? line : NULL;
}

// ---- What arrives -------------------------------------------------------------------------------

/// A datagram of the server's has arrived, and it knows that.
static void acknowledge(const struct storm_match *match, struct storm_line *line, uint32_t seq) {
    const struct storm_snapshot *snapshot = &line->snapshots[seq % STORM_LINE_SNAPSHOTS];
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    if (line->acked[seq] != 0)
        return;
    bool late = snapshot->seq != seq || storm_line_forgotten(match, line, snapshot->as_of, head);
    line->acked[seq] = late ? STORM_LINE_LATE : STORM_LINE_IN_TIME;
    if (seq == 0 || snapshot->seq != seq || line->as_of - snapshot->as_of >= STORM_LINE_HEADS)
        return;
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_tick *acked = &line->units[u].acked;
        if (storm_set_has(&snapshot->told, (hc_unit)u) &&
            (*acked == HC_NO_TICK || *acked < snapshot->as_of))
            *acked = snapshot->as_of;
    }
}

/// The server has taken this datagram of the client's, and what it acknowledges; `alone`: no other
/// since its own last one, so that it has measured a round trip by it.
static void hear(struct storm_match *match, struct storm_line *line, uint32_t seq, bool alone) {
    const struct storm_report *report = &line->reports[seq % STORM_LINE_REPORTS];
    uint64_t now_us = hc_sim_now(match->sim);
    line->heard[seq] = 1;
    if (report->seq != seq)
        return;
    const struct storm_snapshot *named = &line->snapshots[report->ack % STORM_LINE_SNAPSHOTS];
    if (alone && report->ack > 0 && !line->acked[report->ack] && named->seq == report->ack) {
        uint64_t rtt_us = now_us - named->sent_us;
        if (rtt_us > report->ack_delay_us + match->tick_us && rtt_us < line->rtt_us)
            line->rtt_us = rtt_us;
    }
    for (uint32_t i = 0; i < HC_ACKS_MAX && i < report->ack; i++)
        if (i == 0 || (report->ack_bits >> (i - 1) & 1) != 0)
            acknowledge(match, line, report->ack - i);
    if (report->ack > line->newest_acked)
        line->newest_acked = report->ack;
}

/// The server can have heard more than it can name: nobody knows what arrivals that has told it of.
static void skip(struct storm_line *line, const struct hc_data *data) {
    for (uint32_t seq = line->newest_heard + 1; seq + HC_ACKS_MAX <= data->ack; seq++) {
        const struct storm_report *report = &line->reports[seq % STORM_LINE_REPORTS];
        if (report->seq == seq && report->ack > line->unsure)
            line->unsure = report->ack;
    }
}

void storm_line_hear(struct storm_match *match, struct storm_line *line,
                     const struct hc_data *data) {
    uint32_t news[HC_ACKS_MAX], count = 0;
    skip(line, data);
    for (uint32_t i = 0; i < HC_ACKS_MAX && i < data->ack; i++)
        if ((i == 0 || (data->ack_bits >> (i - 1) & 1) != 0) && !line->heard[data->ack - i])
            news[count++] = data->ack - i;
    for (uint32_t i = count; i-- > 0;)
        hear(match, line, news[i], count == 1);
    if (data->ack > line->newest_heard) {
        line->in_order = data->ack == line->newest_heard + 1;
        line->newest_heard = data->ack;
    }
}

hc_tick storm_line_window(const struct storm_line *line) {
    const struct storm_report *report = &line->reports[line->newest_heard % STORM_LINE_REPORTS];
    if (line->newest_heard == 0 || report->seq != line->newest_heard || !report->has_input)
        return HC_NO_TICK;
    return hc_tick_back(report->client_tick, report->display_offset + 1);
}

/// False when its two newest reports are of one tick.
static bool moves(const struct storm_line *line) {
    const struct storm_report *newest = &line->reports[line->newest_heard % STORM_LINE_REPORTS];
    const struct storm_report *before =
        &line->reports[(line->newest_heard - 1) % STORM_LINE_REPORTS];
    return line->newest_heard < 2 || !line->heard[line->newest_heard - 1] ||
           before->seq + 1 != newest->seq || !before->has_input ||
           before->client_tick != newest->client_tick;
}

/// The shortest that one way takes.
static uint64_t way_us(const struct storm_match *match, unsigned client, bool up) {
    int64_t latency_ms =
        storm_client_get(match, client, up ? STORM_C_up_latency_ms : STORM_C_down_latency_ms);
    int64_t jitter_ms =
        storm_client_get(match, client, up ? STORM_C_up_jitter_ms : STORM_C_down_jitter_ms);
    return latency_ms > jitter_ms ? (uint64_t)(latency_ms - jitter_ms) * 1000 : 0;
}

hc_tick storm_line_past_before(const struct storm_match *match, const struct storm_line *line,
                               unsigned client) {
    const struct storm_report *newest = &line->reports[line->newest_heard % STORM_LINE_REPORTS];
    const struct storm_report *before =
        &line->reports[(line->newest_heard - 1) % STORM_LINE_REPORTS];
    uint32_t rate = (uint32_t)storm_match_get(match, STORM_tick_rate);
    uint64_t least_us = way_us(match, client, true) + way_us(match, client, false);
    // A clock that leaps makes round trips shorter, and so does a thief whose copies are quicker.
    if ((storm_match_get(match, STORM_hostile) > 0 && !match->options->tame) ||
        line->rtt_us == UINT64_MAX || least_us < CLOCKS_OFF_US ||
        storm_client_get(match, client, STORM_C_jump_tick) != 0 ||
        storm_line_window(line) == HC_NO_TICK || line->newest_heard < 2 || !line->in_order ||
        before->seq + 1 != newest->seq || !before->has_input ||
        before->client_tick >= newest->client_tick)
        return 0;
    uint32_t under_way = hc_tick_back(hc_tick_at_us(least_us - CLOCKS_OFF_US, rate), 1);
    return hc_tick_back(newest->client_tick + under_way, newest->display_offset + 1);
}

// ---- What is lost -------------------------------------------------------------------------------

bool storm_line_lost(const struct storm_line *line, uint32_t seq) {
    return line->acked[seq] == 0 && line->newest_acked >= seq + HC_SV_SENT_LOG_REORDER;
}

bool storm_line_forgotten(const struct storm_match *match, const struct storm_line *line,
                          hc_tick as_of, hc_tick head) {
    uint32_t entries = 0, most = STORM_LINE_HEADS * match->units.total;
    for (unsigned i = 0; i < STORM_LINE_HEADS; i++)
        if (line->entry_head[i] != HC_NO_TICK && head - line->entry_head[i] < STORM_LINE_HEADS)
            entries += line->entries[i];
    return head - as_of >= STORM_LINE_HEADS || entries >= (most > ENTRIES ? most : ENTRIES);
}

bool storm_line_old(const struct storm_match *match, const struct storm_line *line, uint32_t seq,
                    const struct storm_snapshot *now) {
    const struct storm_snapshot *earlier = &line->snapshots[seq % STORM_LINE_SNAPSHOTS];
    return earlier->seq != seq || storm_line_forgotten(match, line, earlier->as_of, now->as_of);
}

hc_tick storm_line_shown_from(const struct storm_match *match, const struct storm_line *line,
                              const struct storm_snapshot *snapshot) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick from = storm_line_window(line);
    if (from == HC_NO_TICK || (moves(line) && line->rtt_us == UINT64_MAX))
        return HC_NO_TICK;
    if (moves(line)) {
        uint32_t rate = (uint32_t)storm_match_get(match, STORM_tick_rate);
        from += hc_tick_back(hc_tick_at_us(line->rtt_us, rate), 1);
    }
    from = hc_tick_max(from, hc_timeline_oldest(server));
    from = hc_tick_max(from, hc_tick_back(snapshot->as_of, STORM_LINE_HEADS - 1));
    return hc_tick_max(from, hc_tick_back(snapshot->tick, STORM_LINE_WINDOW));
}
