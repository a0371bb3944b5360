#include "tests/storm/told.h"

#include "proto/snapshot.h"
#include "server/told.h"
#include "tests/storm/held.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    REPORTS = 1024,       ///< DATA of a client that are remembered
    SNAPSHOTS = 512,      ///< DATA of the server that are
    WINDOW = 128,         ///< past ticks of each
    RANGES = 32,          ///< FORCED in each
    NEARLY_FULL = 1100,   ///< bytes of a datagram in which something may have been left out
    LOOK_EVERY = 4,       ///< of the server's ticks: whose past is remembered, to be compared
    CLOCKS_OFF_US = 2000, ///< by which two clocks differ over what a client waits, at most
};

/// What a client said in a DATA.
struct report {
    uint32_t seq, ack, ack_bits;
    bool has_input;
    hc_tick client_tick;
    uint32_t display_offset;
    uint64_t ack_delay_us;
};

struct range {
    hc_player player;
    hc_tick first;
    uint32_t count;
};

/// What the server said in a DATA.
struct snapshot {
    uint32_t seq, acked; ///< its number, and the newest that it knew to have arrived
    uint64_t sent_us;
    bool received, full;
    hc_tick as_of, tick;
    hc_tick from;             ///< what is shown from here on must be right; HC_NO_TICK: not known
    uint64_t digests[WINDOW]; ///< of the ticks in [from, tick), as they were then
    unsigned corrections, range_count;
    struct range ranges[RANGES];
};

/// A range of forced inputs that was told.
struct forced {
    struct range range;
    uint32_t seq; ///< the first that told it
};

/// One connection.
struct line {
    const struct storm_conn *conn;
    struct report reports[REPORTS];
    struct snapshot snapshots[SNAPSHOTS];
    uint8_t sent[STORM_SEQS], heard[STORM_SEQS]; ///< of the client's seqs: 1
    uint8_t acked[STORM_SEQS];                   ///< of the server's: it knows that it has arrived
    uint32_t newest_heard, newest_acked;
    bool in_order;     ///< the one before the newest heard was heard before it
    uint32_t full_seq; ///< newest datagram in which something may have been left out
    uint64_t rtt_us;   ///< at least what the server has measured; UINT64_MAX: nothing
    struct forced forced[RANGES];
    unsigned forced_next;
    uint8_t retracted[HC_OWN_PLAYERS_MAX][STORM_TICKS_MAX];
    uint64_t taken_corrections, taken_forced;
    struct storm_held *held;
};

struct storm_told {
    struct line *lines[STORM_CONNS_MAX];
    uint64_t corrections;
    struct hc_body body;
};

static void wrong(struct storm_match *match, const char *oracle, hc_tick tick, const char *text,
                  unsigned client) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u: %s", client, text);
}

struct storm_told *storm_told_create(const struct storm_match *match) {
    if (match->plan->seed % 4 != 1)
        return NULL;
    return calloc(1, sizeof(struct storm_told));
}

void storm_told_destroy(struct storm_told *told) {
    for (unsigned i = 0; told != NULL && i < STORM_CONNS_MAX; i++) {
        if (told->lines[i] != NULL)
            storm_held_destroy(told->lines[i]->held);
        free(told->lines[i]);
    }
    free(told);
}

/// The line of an honest connection; NULL: none.
static struct line *line_of(struct storm_match *match, unsigned client, uint32_t cid) {
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, cid);
    if (conn == NULL || !conn->honest)
        return NULL;
    struct line **line = &match->told->lines[conn - match->conns.conns];
    if (*line == NULL && (*line = calloc(1, sizeof **line)) != NULL) {
        (*line)->conn = conn;
        (*line)->rtt_us = UINT64_MAX;
        (*line)->held = storm_held_create(storm_truth_world(match->truth),
                                          (uint32_t)storm_match_get(match, STORM_history) + 1);
        if ((*line)->held == NULL)
            abort();
    }
    return *line;
}

// ---- Clients send -------------------------------------------------------------------------------

void storm_told_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                     size_t size) {
    struct hc_data data;
    uint64_t numbers[3] = {0}; // client tick, display offset, ack delay
    if (match->told == NULL || hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct line *line = line_of(match, client, data.cid);
    if (line == NULL || data.seq >= STORM_SEQS)
        return;
    bool has_input = storm_counts_is(bytes, size, HC_MESSAGE_INPUT) &&
                     storm_counts_peek(bytes, size, 3, numbers);
    line->sent[data.seq] = 1;
    line->reports[data.seq % REPORTS] = (struct report){.seq = data.seq,
                                                        .ack = data.ack,
                                                        .ack_bits = data.ack_bits,
                                                        .has_input = has_input,
                                                        .client_tick = (hc_tick)numbers[0],
                                                        .display_offset = (uint32_t)numbers[1],
                                                        .ack_delay_us = numbers[2]};
}

// ---- The server sends ---------------------------------------------------------------------------

/// The server has taken this datagram of the client's, and what it acknowledges; `alone`: no other
/// since its own last one, so that it has measured a round trip by it.
static void hear(struct storm_match *match, struct line *line, uint32_t seq, bool alone) {
    const struct report *report = &line->reports[seq % REPORTS];
    uint64_t now_us = hc_sim_now(match->sim);
    line->heard[seq] = 1;
    if (report->seq != seq)
        return;
    const struct snapshot *named = &line->snapshots[report->ack % SNAPSHOTS];
    if (alone && report->ack > 0 && !line->acked[report->ack] && named->seq == report->ack) {
        uint64_t rtt_us = now_us - named->sent_us;
        if (rtt_us > report->ack_delay_us + match->tick_us && rtt_us < line->rtt_us)
            line->rtt_us = rtt_us;
    }
    for (uint32_t i = 0; i < HC_ACKS_MAX && i < report->ack; i++)
        if (i == 0 || (report->ack_bits >> (i - 1) & 1) != 0)
            line->acked[report->ack - i] = 1;
    if (report->ack > line->newest_acked)
        line->newest_acked = report->ack;
}

/// Takes in what the server says that it has heard since it said so last.
static void hear_all(struct storm_match *match, struct line *line, const struct hc_data *data) {
    uint32_t news[HC_ACKS_MAX], count = 0;
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

/// The first tick that the client may still show, by what it has reported last; HC_NO_TICK: it has
/// reported nothing.
static hc_tick window_of(const struct line *line) {
    const struct report *report = &line->reports[line->newest_heard % REPORTS];
    if (line->newest_heard == 0 || report->seq != line->newest_heard || !report->has_input)
        return HC_NO_TICK;
    return hc_tick_back(report->client_tick, report->display_offset + 1);
}

/// False when its two newest reports are of one tick.
static bool moves(const struct line *line) {
    const struct report *newest = &line->reports[line->newest_heard % REPORTS];
    const struct report *before = &line->reports[(line->newest_heard - 1) % REPORTS];
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

/// Ticks before this one the client is past when it hears, by its newest report and the shortest
/// way there and back that its links have; 0: that is not known. What the server has measured is no
/// less, and once it has measured anything it spares what would come too late.
static hc_tick past_before(const struct storm_match *match, const struct line *line,
                           unsigned client) {
    const struct report *newest = &line->reports[line->newest_heard % REPORTS];
    const struct report *before = &line->reports[(line->newest_heard - 1) % REPORTS];
    uint32_t rate = (uint32_t)storm_match_get(match, STORM_tick_rate);
    uint64_t least_us = way_us(match, client, true) + way_us(match, client, false);
    // A clock that leaps makes what the client has waited longer, and so the round trip shorter.
    if (line->rtt_us == UINT64_MAX || least_us < CLOCKS_OFF_US ||
        storm_client_get(match, client, STORM_C_jump_tick) != 0 || window_of(line) == HC_NO_TICK ||
        line->newest_heard < 2 || !line->in_order || before->seq + 1 != newest->seq ||
        !before->has_input || before->client_tick >= newest->client_tick)
        return 0;
    uint32_t under_way = hc_tick_back(hc_tick_at_us(least_us - CLOCKS_OFF_US, rate), 1);
    return hc_tick_back(newest->client_tick + under_way, newest->display_offset + 1);
}

/// A correction tells what the server has of that tick now, of a tick that the client may show.
static void check_correction(struct storm_match *match, const struct line *line,
                             const struct hc_snapshot_correction *said, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    const struct hc_world *world = storm_truth_world(match->truth);
    hc_tick window = window_of(line);
    if (said->tick < hc_timeline_oldest(server)) {
        wrong(match, "correction", said->tick, "is told of a tick that is out of the ring", client);
        return;
    }
    const uint8_t *state =
        hc_timeline_states(server, said->tick) + (size_t)said->entity * world->stride;
    if (said->presence != hc_timeline_presence(server, said->tick)[said->entity] ||
        (said->presence == HC_ALIVE &&
         memcmp(said->state, state, hc_world_kind(world, said->entity)->state_size) != 0))
        wrong(match, "correction", said->tick, "is told what is not so", client);
    if (window == HC_NO_TICK || said->tick < window)
        storm_fail(match->verdict, STORM_WRONG, "correction", said->tick,
                   "client %u is told of tick %u, and shows none before %u", client, said->tick,
                   window);
    else if (said->tick < past_before(match, line, client))
        storm_fail(match->verdict, STORM_WRONG, "correction", said->tick,
                   "client %u is told of tick %u, and will be past %u when it hears", client,
                   said->tick, past_before(match, line, client));
}

/// What was told just so, in a datagram that has arrived or cannot be given up yet, is not told
/// again.
static void check_news(struct storm_match *match, const struct line *line,
                       const struct hc_snapshot_correction *said, uint32_t seq, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    if (said->tick < hc_timeline_oldest(server))
        return; // check_correction fails
    uint32_t before = storm_held_correction(line->held, server, said->tick, said->entity, seq);
    if (before > 0 && seq - before < SNAPSHOTS &&
        (line->acked[before] != 0 || line->newest_acked < before + HC_SV_TOLD_REORDER))
        storm_fail(match->verdict, STORM_WRONG, "corrected-again", said->tick,
                   "client %u is told again of entity %u at %u, as it was in datagram %u: now in "
                   "%u, %u has arrived",
                   client, said->entity, said->tick, before, seq, line->newest_acked);
}

/// What is shown from `from` on, and was not told yet as it is now, is told as long as there is
/// room.
static void check_all_told(struct storm_match *match, const struct line *line,
                           const struct snapshot *snapshot, hc_tick from, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick tick;
    hc_entity entity;
    if (!snapshot->full && from < snapshot->tick &&
        storm_held_lacks(line->held, server, from, snapshot->tick, &tick, &entity))
        storm_fail(match->verdict, STORM_WRONG, "not-corrected", tick,
                   "client %u is not told of entity %u at %u, which it may show (from %u on), with "
                   "the snapshot of %u as of %u",
                   client, entity, tick, from, snapshot->tick, snapshot->as_of);
}

/// What a client is known to have heard is not told again.
static void check_forced(struct storm_match *match, struct line *line, const struct range *range,
                         uint32_t seq, unsigned client) {
    for (unsigned i = 0; i < RANGES; i++) {
        const struct forced *told = &line->forced[i];
        if (told->seq == 0 || told->range.player != range->player ||
            told->range.first != range->first || told->range.count != range->count)
            continue;
        if (line->acked[told->seq] && line->full_seq < told->seq)
            wrong(match, "forced-again", range->first,
                  "is told again of forced inputs, which it has acknowledged", client);
        return;
    }
    line->forced[line->forced_next++ % RANGES] = (struct forced){.range = *range, .seq = seq};
}

/// The first past tick that the client may show when it takes this snapshot; HC_NO_TICK: not known.
/// What the server takes for it is no later: while the client moves on it may add the ticks of the
/// least round trip that it has measured, less one.
static hc_tick shown_from(const struct storm_match *match, const struct line *line,
                          const struct snapshot *snapshot) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick from = window_of(line);
    if (from == HC_NO_TICK || (moves(line) && line->rtt_us == UINT64_MAX))
        return HC_NO_TICK;
    if (moves(line)) {
        uint32_t rate = (uint32_t)storm_match_get(match, STORM_tick_rate);
        from += hc_tick_back(hc_tick_at_us(line->rtt_us, rate), 1);
    }
    from = hc_tick_max(from, hc_timeline_oldest(server));
    return hc_tick_max(from, hc_tick_back(snapshot->tick, WINDOW));
}

/// Remembers these past ticks.
static void remember_past(struct storm_match *match, struct snapshot *snapshot, hc_tick from) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    snapshot->from = HC_NO_TICK;
    if (from == HC_NO_TICK || snapshot->as_of % LOOK_EVERY != 0)
        return;
    snapshot->from = from;
    for (hc_tick t = from; t < snapshot->tick; t++)
        snapshot->digests[t - from] = storm_watch_digest(match, server, t);
}

/// Reads what follows the SNAPSHOT in its datagram.
static void read_snapshot(struct storm_match *match, struct line *line, struct snapshot *snapshot,
                          const struct hc_data *data, unsigned client) {
    const struct hc_world *world = storm_truth_world(match->truth);
    struct hc_body *body = &match->told->body;
    enum hc_message_type type;
    if (hc_body_begin(body, data->body, data->body_size) != HC_OK)
        return;
    while ((type = hc_body_next(body)) != HC_MESSAGE_END) {
        struct hc_snapshot_correction correction;
        struct hc_snapshot_forced forced;
        if (type == HC_MESSAGE_CORRECTION &&
            hc_snapshot_get_correction(body, world, snapshot->tick, &correction) == HC_OK) {
            snapshot->corrections++;
            if (line == NULL)
                continue;
            check_correction(match, line, &correction, client);
            check_news(match, line, &correction, data->seq, client);
        }
        if (type == HC_MESSAGE_FORCED && line != NULL &&
            hc_snapshot_get_forced(body, world, snapshot->tick, &forced) == HC_OK) {
            struct range range = {forced.player, forced.first, forced.count};
            check_forced(match, line, &range, data->seq, client);
            if (snapshot->range_count < RANGES)
                snapshot->ranges[snapshot->range_count++] = range;
        }
    }
}

void storm_told_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size) {
    struct storm_told *told = match->told;
    struct snapshot any = {.seq = 0}, *snapshot = &any;
    struct hc_data data;
    uint64_t numbers[4]; // as_of, phase, ack delay, as_of - tick
    if (told == NULL || hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct line *line = line_of(match, client, data.cid);
    bool known = line != NULL && data.seq < STORM_SEQS && data.ack < STORM_SEQS;
    if (known)
        hear_all(match, line, &data);
    if (!storm_counts_is(bytes, size, HC_MESSAGE_SNAPSHOT) ||
        !storm_counts_peek(bytes, size, 4, numbers))
        return;
    if (known)
        snapshot = &line->snapshots[data.seq % SNAPSHOTS];
    *snapshot = (struct snapshot){.seq = data.seq,
                                  .acked = known ? line->newest_acked : 0,
                                  .sent_us = hc_sim_now(match->sim),
                                  .full = size >= NEARLY_FULL,
                                  .as_of = (hc_tick)numbers[0],
                                  .tick = (hc_tick)(numbers[0] - numbers[3])};
    if (known && snapshot->full)
        line->full_seq = data.seq;
    hc_tick from = known ? shown_from(match, line, snapshot) : HC_NO_TICK;
    // What is shown too, once it is past, may be corrected.
    if (known)
        storm_held_snapshot(line->held, hc_sv_host_timeline(hc_sim_host(match->sim)),
                            snapshot->tick, from <= snapshot->tick ? data.seq : 0);
    read_snapshot(match, known ? line : NULL, snapshot, &data, client);
    if (known) {
        check_all_told(match, line, snapshot, from, client);
        remember_past(match, snapshot, from);
    }
    told->corrections += snapshot->corrections;
}

// ---- Clients receive ----------------------------------------------------------------------------

/// Whether everything has arrived of which the server cannot know yet that it has not.
static bool nothing_under_way(const struct line *line, const struct snapshot *snapshot) {
    uint32_t first =
        snapshot->acked > HC_SV_TOLD_REORDER ? snapshot->acked - HC_SV_TOLD_REORDER + 1 : 1;
    if (snapshot->seq - first >= SNAPSHOTS)
        return false;
    for (uint32_t seq = first; seq < snapshot->seq; seq++)
        if (line->snapshots[seq % SNAPSHOTS].seq != seq ||
            !line->snapshots[seq % SNAPSHOTS].received)
            return false;
    return true;
}

/// What the client shows next must be what the server had of that tick when it sent this: all that
/// it did not hold was in it, or had been before.
static void check_held(struct storm_match *match, unsigned client, const struct line *line,
                       const struct snapshot *snapshot) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick shown, tick, as_of;
    uint32_t fraction;
    if (snapshot->from == HC_NO_TICK || snapshot->full ||
        !hc_client_snapshot(core, &tick, &as_of) || as_of != snapshot->as_of ||
        !hc_client_show_tick(core, hc_sim_client_now(match->sim, client), &shown, &fraction) ||
        !nothing_under_way(line, snapshot))
        return;
    hc_tick at = hc_tick_max(hc_tick_max(shown, snapshot->from), hc_timeline_oldest(own));
    if (at >= snapshot->tick)
        return;
    uint64_t digest =
        storm_world_digest(storm_truth_world(match->truth), hc_timeline_presence(own, at),
                           hc_timeline_states(own, at));
    if (digest != snapshot->digests[at - snapshot->from])
        storm_fail(match->verdict, STORM_WRONG, "held", at,
                   "client %u holds another tick %u than the server thinks, after the snapshot of "
                   "%u as of %u",
                   client, at, snapshot->tick, snapshot->as_of);
}

static void take_forced(struct line *line, const struct hc_timeline *own,
                        const struct range *range) {
    unsigned player = 0;
    while (player < line->conn->player_count && line->conn->players[player] != range->player)
        player++;
    for (hc_tick t = range->first; player < line->conn->player_count &&
                                   t < range->first + range->count && t < STORM_TICKS_MAX;
         t++) {
        if (line->retracted[player][t] != 0 ||
            hc_timeline_slot(own, range->player, t) != HC_SLOT_RETRACTED)
            continue;
        line->retracted[player][t] = 1;
        line->taken_forced++;
    }
}

void storm_told_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    enum hc_client_state state = hc_client_state(core);
    struct hc_data data;
    if (match->told == NULL || (state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED) ||
        hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct line *line = line_of(match, client, data.cid);
    if (line == NULL || line->snapshots[data.seq % SNAPSHOTS].seq != data.seq)
        return;
    struct snapshot *snapshot = &line->snapshots[data.seq % SNAPSHOTS];
    snapshot->received = true;
    line->taken_corrections += snapshot->corrections;
    for (unsigned i = 0; i < snapshot->range_count; i++)
        take_forced(line, hc_client_timeline(core), &snapshot->ranges[i]);
    check_held(match, client, line, snapshot);
}

// ---- Counters -----------------------------------------------------------------------------------

void storm_told_gone(struct storm_match *match, unsigned client) {
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    if (match->told == NULL || match->seats[client].cid == 0)
        return;
    const struct line *line = line_of(match, client, match->seats[client].cid);
    if (line == NULL)
        return;
    if (stats->corrections != line->taken_corrections)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "client %u counts %lu corrections, there were %lu", client,
                   (unsigned long)stats->corrections, (unsigned long)line->taken_corrections);
    if (stats->inputs_forced != line->taken_forced)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "client %u counts %lu forced inputs, there were %lu", client,
                   (unsigned long)stats->inputs_forced, (unsigned long)line->taken_forced);
}

void storm_told_end(struct storm_match *match) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(match->sim));
    if (match->told != NULL && stats->corrections != match->told->corrections)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "the server counts %lu corrections, there were %lu",
                   (unsigned long)stats->corrections, (unsigned long)match->told->corrections);
}

uint64_t storm_told_heard(const struct storm_told *told) {
    uint64_t count = 0;
    for (unsigned i = 0; told != NULL && i < STORM_CONNS_MAX; i++)
        for (uint32_t seq = 0; told->lines[i] != NULL && seq < STORM_SEQS; seq++)
            count += told->lines[i]->heard[seq];
    return count;
}

uint64_t storm_told_unheard(const struct storm_told *told) {
    uint64_t count = 0;
    for (unsigned i = 0; told != NULL && i < STORM_CONNS_MAX; i++)
        for (uint32_t seq = 0; told->lines[i] != NULL && seq < STORM_SEQS; seq++)
            count += told->lines[i]->sent[seq] && !told->lines[i]->heard[seq];
    return count;
}
