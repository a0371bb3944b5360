#include "tests/storm/told.h"

#include "client/reader.h"
#include "server/ledger.h"
#include "tests/storm/held.h"
#include "tests/storm/inside.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    REPORTS = 1024,       ///< DATA of a client that are remembered
    SNAPSHOTS = 512,      ///< DATA of the server that are
    WINDOW = 128,         ///< past ticks of each
    RANGES = 64,          ///< forced in each
    LOOK_EVERY = 4,       ///< of the server's ticks: whose past is remembered, to be compared
    CLOCKS_OFF_US = 2000, ///< by which two clocks differ over what a client waits, at most
    HEADS = HC_SV_LEDGER_SNAPSHOTS, ///< for which the server remembers what it told
    ENTRIES = 4096,                 ///< values that it remembers at least
    LOOK = 8,                       ///< heads between two of its looks at what is in view
};

/// A set of units.
struct set {
    uint64_t bits[STORM_UNITS_MAX / 64];
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
    struct set told;          ///< of which units it had values
    struct set dropped;       ///< which units it told to forget
    struct set kept;          ///< of these, those of which the past must be right, too
    uint64_t digests[WINDOW]; ///< of the ticks in [from, tick), of those, as they were then
    unsigned corrections, range_count;
    struct range ranges[RANGES];
};

/// A range of forced inputs that was told.
struct forced {
    struct range range;
    uint32_t seq; ///< the first that told it
};

/// A unit, as the server must see it for a client.
struct seen {
    bool known;                ///< told, and not to be forgotten since, or that was lost
    uint32_t first_drop, drop; ///< the first and the newest datagram since then that told to forget
                               ///< it; 0: none, or one of them has arrived
    hc_tick acked;             ///< head of the newest snapshot with a value of it that has arrived
    hc_tick in, out; ///< head since which it is in view, or far out of it; HC_NO_TICK: it is not
};

/// One connection.
struct line {
    const struct storm_conn *conn;
    struct hc_cl_reader *reader;
    struct seen units[STORM_UNITS_MAX];
    hc_tick as_of;           ///< of the newest snapshot
    uint32_t entries[HEADS]; ///< by head: values told
    hc_tick entry_head[HEADS];
    struct report reports[REPORTS];
    struct snapshot snapshots[SNAPSHOTS];
    uint8_t sent[STORM_SEQS], heard[STORM_SEQS]; ///< of the client's seqs: 1
    uint8_t acked[STORM_SEQS];                   ///< of the server's: it knows that it has arrived
    uint32_t newest_heard, newest_acked;
    uint32_t unsure;   ///< up to this one what is not known to have arrived may be so to the server
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
    bool lost; ///< somebody's snapshots could not be read
    struct hc_body body;
};

static void add(struct set *set, hc_unit unit) {
    set->bits[unit / 64] |= UINT64_C(1) << unit % 64;
}

static bool has(const struct set *set, hc_unit unit) {
    return (set->bits[unit / 64] >> unit % 64 & 1) != 0;
}

static void wrong(struct storm_match *match, const char *oracle, hc_tick tick, const char *text,
                  unsigned client) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u: %s", client, text);
}

struct storm_told *storm_told_create(const struct storm_match *match) {
    if (storm_match_get(match, STORM_told) == 0)
        return NULL;
    return calloc(1, sizeof(struct storm_told));
}

void storm_told_destroy(struct storm_told *told) {
    for (unsigned i = 0; told != NULL && i < STORM_CONNS_MAX; i++) {
        if (told->lines[i] != NULL) {
            storm_held_destroy(told->lines[i]->held);
            hc_cl_reader_destroy(told->lines[i]->reader);
        }
        free(told->lines[i]);
    }
    free(told);
}

static struct line *line_create(const struct storm_match *match, const struct storm_conn *conn) {
    const struct hc_world *world = storm_truth_world(match->truth);
    struct line *line = calloc(1, sizeof *line);
    if (line == NULL)
        abort();
    line->conn = conn;
    line->rtt_us = UINT64_MAX;
    line->as_of = HC_NO_TICK;
    memset(line->entry_head, 0xff, sizeof line->entry_head);
    for (unsigned u = 0; u < STORM_UNITS_MAX; u++)
        line->units[u] = (struct seen){.acked = HC_NO_TICK, .in = HC_NO_TICK, .out = HC_NO_TICK};
    line->reader = hc_cl_reader_create(world, conn->player_count);
    line->held = storm_held_create(world, (uint32_t)storm_match_get(match, STORM_history) + 1);
    if (line->held == NULL || line->reader == NULL)
        abort();
    return line;
}

/// The line of a connection; NULL: it is not followed.
static struct line *any_line_of(struct storm_match *match, unsigned client, uint32_t cid) {
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, cid);
    if (conn == NULL)
        return NULL;
    struct line **line = &match->told->lines[conn - match->conns.conns];
    if (*line == NULL)
        *line = line_create(match, conn);
    return *line;
}

/// The line of an honest connection; NULL: none.
static struct line *line_of(struct storm_match *match, unsigned client, uint32_t cid) {
    struct line *line = any_line_of(match, client, cid);
    return line != NULL && line->conn->honest ? line : NULL;
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

/// A datagram of the server's has arrived, and it knows that.
static void acknowledge(const struct storm_match *match, struct line *line, uint32_t seq) {
    const struct snapshot *snapshot = &line->snapshots[seq % SNAPSHOTS];
    if (line->acked[seq] != 0)
        return;
    line->acked[seq] = 1;
    if (seq == 0 || snapshot->seq != seq || line->as_of - snapshot->as_of >= HEADS)
        return;
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_tick *acked = &line->units[u].acked;
        if (has(&snapshot->told, (hc_unit)u) && (*acked == HC_NO_TICK || *acked < snapshot->as_of))
            *acked = snapshot->as_of;
    }
}

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
            acknowledge(match, line, report->ack - i);
    if (report->ack > line->newest_acked)
        line->newest_acked = report->ack;
}

/// The server can have heard more than it can name: nobody knows what arrivals that has told it of.
static void skip(struct line *line, const struct hc_data *data) {
    for (uint32_t seq = line->newest_heard + 1; seq + HC_ACKS_MAX <= data->ack; seq++) {
        const struct report *report = &line->reports[seq % REPORTS];
        if (report->seq == seq && report->ack > line->unsure)
            line->unsure = report->ack;
    }
}

/// Takes in what the server says that it has heard since it said so last.
static void hear_all(struct storm_match *match, struct line *line, const struct hc_data *data) {
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
    // A clock that leaps makes round trips shorter, and so does a thief whose copies are quicker.
    if ((storm_match_get(match, STORM_hostile) > 0 && !match->options->tame) ||
        line->rtt_us == UINT64_MAX || least_us < CLOCKS_OFF_US ||
        storm_client_get(match, client, STORM_C_jump_tick) != 0 || window_of(line) == HC_NO_TICK ||
        line->newest_heard < 2 || !line->in_order || before->seq + 1 != newest->seq ||
        !before->has_input || before->client_tick >= newest->client_tick)
        return 0;
    uint32_t under_way = hc_tick_back(hc_tick_at_us(least_us - CLOCKS_OFF_US, rate), 1);
    return hc_tick_back(newest->client_tick + under_way, newest->display_offset + 1);
}

static uint64_t digest_of(const struct storm_match *match, const struct hc_cl_told *told) {
    const struct hc_world *world = match->units.world;
    uint32_t count = hc_unit_count(world, told->unit);
    uint64_t digest = told->unit;
    for (uint32_t e = 0; e < count; e++)
        digest = digest * 4 + told->value.presence[e];
    return XXH3_64bits_withSeed(told->value.states, (size_t)count * world->stride, digest);
}

/// Everything told is what the server has, and what a player did last before is too.
static void check_value(struct storm_match *match, const struct hc_cl_told *told, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    const struct hc_world *world = match->units.world;
    hc_player player = hc_unit_player(world, told->unit);
    hc_tick tick = told->value.tick, known = HC_NO_TICK;
    const char *oracle = told->correction ? "correction" : "told";
    uint8_t input[HC_INPUT_MAX] = {0};
    if (tick < hc_timeline_oldest(server)) {
        wrong(match, oracle, tick, "is told of a tick that is out of the ring", client);
        return;
    }
    if (digest_of(match, told) != storm_units_row(match, tick)[told->unit])
        storm_fail(match->verdict, STORM_WRONG, oracle, tick,
                   "client %u is told of unit %u at %u what is not so", client, told->unit, tick);
    if (player == HC_NO_PLAYER)
        return;
    if (!hc_timeline_newest_input(server, player, tick, &known, input))
        known = HC_NO_TICK;
    if (told->value.known != known ||
        (known != HC_NO_TICK && memcmp(told->value.input, input, world->game->input_size) != 0))
        storm_fail(match->verdict, STORM_WRONG, oracle, tick,
                   "client %u is told that player %u was known at %u before %u, which was at %u",
                   client, player, told->value.known, tick, known);
}

/// A correction is of a tick that the client may show.
static void check_window(struct storm_match *match, const struct line *line,
                         const struct hc_cl_told *told, unsigned client) {
    hc_tick window = window_of(line), tick = told->value.tick;
    if (window == HC_NO_TICK || tick < window)
        storm_fail(match->verdict, STORM_WRONG, "correction", tick,
                   "client %u is told of tick %u, and shows none before %u", client, tick, window);
    else if (tick < past_before(match, line, client))
        storm_fail(match->verdict, STORM_WRONG, "correction", tick,
                   "client %u is told of tick %u, and will be past %u when it hears", client, tick,
                   past_before(match, line, client));
}

/// Whether the server knows, or must think, that the datagram has not arrived.
static bool is_lost(const struct line *line, uint32_t seq) {
    return line->acked[seq] == 0 && line->newest_acked >= seq + HC_SV_LEDGER_REORDER;
}

/// Whether the server may have forgotten what it told at that head: it is long ago, or there was
/// too much since.
static bool is_forgotten(const struct storm_match *match, const struct line *line, hc_tick as_of,
                         hc_tick head) {
    uint32_t entries = 0, most = HEADS * match->units.total;
    for (unsigned i = 0; i < HEADS; i++)
        if (line->entry_head[i] != HC_NO_TICK && head - line->entry_head[i] < HEADS)
            entries += line->entries[i];
    return head - as_of >= HEADS || entries >= (most > ENTRIES ? most : ENTRIES);
}

/// Whether the server may have forgotten what datagram `seq` told.
static bool is_old(const struct storm_match *match, const struct line *line, uint32_t seq,
                   const struct snapshot *now) {
    const struct snapshot *earlier = &line->snapshots[seq % SNAPSHOTS];
    return earlier->seq != seq || is_forgotten(match, line, earlier->as_of, now->as_of);
}

/// What was told just so, in a datagram that has arrived or cannot be given up yet, is not told
/// again, as long as the server remembers; with few snapshots nothing is that was not told before.
/// (What was told before a drop may be, once the unit is back in view.)
static void check_news(struct storm_match *match, const struct line *line,
                       const struct snapshot *snapshot, const struct hc_cl_told *told,
                       unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick tick = told->value.tick;
    if (tick < hc_timeline_oldest(server))
        return; // check_value fails
    uint32_t last = 0;
    (void)storm_held_lacks(line->held, server, tick, told->unit, &last);
    if (last == 0 && storm_match_sparse(match) && match->units.world->game->view == 0)
        storm_fail(match->verdict, STORM_WRONG, "correction", tick,
                   "client %u is told of unit %u at %u, of which it was told nothing then", client,
                   told->unit, tick);
    uint32_t before = storm_held_told(line->held, server, tick, told->unit, snapshot->seq);
    const struct snapshot *earlier = &line->snapshots[before % SNAPSHOTS];
    if (before > 0 && earlier->seq == before && !is_lost(line, before) &&
        !is_forgotten(match, line, earlier->as_of, snapshot->as_of))
        storm_fail(match->verdict, STORM_WRONG, "corrected-again", tick,
                   "client %u is told again of unit %u at %u, as it was in datagram %u as of %u: "
                   "now in %u as of %u, %u has arrived",
                   client, told->unit, tick, before, earlier->as_of, snapshot->seq, snapshot->as_of,
                   line->newest_acked);
}

/// What is shown from `from` on of the units told, if the client is known to know them, and was not
/// told yet as it is now, is told as long as there is room. What was told otherwise and is lost may
/// leave it with what was told before, which may be just so. With few snapshots only what was told
/// of a tick, and is not forgotten, has to be right.
static void check_all_told(struct storm_match *match, const struct line *line,
                           const struct snapshot *snapshot, hc_tick from, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    uint32_t seq = 0;
    if (snapshot->full)
        return;
    for (hc_tick t = from; t < snapshot->tick; t++)
        for (uint32_t u = 0; u < match->units.total; u++)
            if (has(&snapshot->kept, (hc_unit)u) &&
                storm_held_lacks(line->held, server, t, (hc_unit)u, &seq) &&
                (seq == 0 ? !storm_match_sparse(match) : !is_lost(line, seq)) &&
                !(storm_match_sparse(match) && is_old(match, line, seq, snapshot))) {
                storm_fail(match->verdict, STORM_WRONG, "not-corrected", t,
                           "client %u is not told of unit %u at %u, which it may show (from %u "
                           "on), with the snapshot of %u as of %u",
                           client, u, t, from, snapshot->tick, snapshot->as_of);
                return;
            }
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

/// Remembers these past ticks, of the units whose past must be right.
static void remember_past(struct storm_match *match, struct snapshot *snapshot, hc_tick from) {
    snapshot->from = HC_NO_TICK;
    if (from == HC_NO_TICK || snapshot->as_of % LOOK_EVERY != 0 || storm_match_sparse(match))
        return;
    snapshot->from = from;
    for (hc_tick t = from; t < snapshot->tick; t++) {
        const uint64_t *row = storm_units_row(match, t);
        snapshot->digests[t - from] = 0;
        for (uint32_t u = 0; u < match->units.total; u++)
            if (has(&snapshot->kept, (hc_unit)u))
                snapshot->digests[t - from] += row[u];
    }
}

// ---- What is in view ----------------------------------------------------------------------------

static void since(hc_tick *from, bool so, hc_tick head) {
    if (!so)
        *from = HC_NO_TICK;
    else if (*from == HC_NO_TICK)
        *from = head;
}

/// A unit is forgotten when any of the datagrams that told so has arrived, even one that was
/// thought to be lost and was said again since; it is known again when all of them surely are lost.
static void look_at_drops(struct line *line, hc_unit unit) {
    struct seen *seen = &line->units[unit];
    bool under_way = false;
    for (uint32_t seq = seen->drop; seq > 0 && seq >= seen->first_drop; seq--) {
        const struct snapshot *snapshot = &line->snapshots[seq % SNAPSHOTS];
        if (seq != seen->drop && (snapshot->seq != seq || !has(&snapshot->dropped, unit)))
            continue;
        if (line->acked[seq] != 0) {
            seen->known = false;
            seen->first_drop = seen->drop = 0;
            return;
        }
        under_way |= !is_lost(line, seq) || seq <= line->unsure;
    }
    if (seen->drop != 0)
        seen->known = !under_way;
}

/// As long as there is room, a snapshot tells of all that the client knows, if only that it is to
/// forget it, which is said again when it was lost, and of all that has been in view since before
/// the server looked last. Nothing is told of what has been farther away than the view and a
/// quarter of it for so long.
static void check_view(struct storm_match *match, struct line *line,
                       const struct snapshot *snapshot, const struct set *named, unsigned client) {
    hc_tick head = snapshot->as_of;
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_unit unit = (hc_unit)u;
        struct seen *seen = &line->units[u];
        int64_t view = match->units.world->game->view;
        int64_t away = storm_unit_distance(match, line->conn, unit, snapshot->tick);
        bool always = storm_unit_always_seen(match, line->conn, unit);
        since(&seen->in, away >= 0 && away <= view, head);
        since(&seen->out, !always && away > view + view / 4, head);
        bool in = always || (seen->in != HC_NO_TICK && head - seen->in >= LOOK);
        if (in && !snapshot->full && !has(&snapshot->told, unit))
            storm_fail(match->verdict, STORM_WRONG, "untold", snapshot->tick,
                       "client %u is not told of unit %u, which has been in view since %u: %u as "
                       "of %u",
                       client, u, seen->in, snapshot->tick, head);
        look_at_drops(line, unit);
        if (seen->known && !snapshot->full && !has(named, unit))
            storm_fail(match->verdict, STORM_WRONG, "untold", snapshot->tick,
                       "client %u is told nothing of unit %u, which it knows: %u as of %u", client,
                       u, snapshot->tick, head);
        if (seen->out != HC_NO_TICK && head - seen->out >= LOOK && has(&snapshot->told, unit))
            storm_fail(match->verdict, STORM_WRONG, "interest", snapshot->tick,
                       "client %u is told of unit %u, which has been out of view since %u: %u as "
                       "of %u",
                       client, u, seen->out, snapshot->tick, head);
        if (!has(named, unit))
            continue;
        seen->known = has(&snapshot->told, unit);
        seen->drop = seen->known ? 0 : snapshot->seq;
        if (seen->known || seen->first_drop == 0)
            seen->first_drop = seen->drop;
    }
}

// ---- A snapshot ---------------------------------------------------------------------------------

static void check_head(struct storm_match *match, const struct line *line,
                       const struct hc_snapshot *head, unsigned client) {
    const struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_timeline *server = hc_sv_host_timeline(host);
    hc_tick as_of = hc_timeline_head(server);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain);
    if (head->as_of != as_of || head->final != final || (head->has_chain && head->chain != chain) ||
        head->refusal != hc_tick_back(as_of, (uint32_t)storm_match_get(match, STORM_history)))
        wrong(match, "head", as_of, "is told another head, final tick or bound", client);
    for (unsigned i = 0; i < line->conn->player_count; i++)
        if (head->complete[i] != hc_timeline_complete(server, line->conn->players[i]))
            wrong(match, "head", as_of, "is told otherwise what has come of its inputs", client);
}

/// Inputs, joins and leaves that are told are the server's.
static void check_beside(struct storm_match *match, const struct hc_cl_said *said,
                         unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    size_t size = match->units.world->game->input_size;
    for (uint32_t i = 0; i < said->input_count; i++) {
        const struct hc_cl_heard_input *input = &said->inputs[i];
        if (hc_timeline_slot(server, input->player, input->tick) != HC_SLOT_KNOWN ||
            memcmp(input->input, hc_timeline_input(server, input->player, input->tick), size) != 0)
            wrong(match, "told", input->tick, "is told an input that is not so", client);
    }
    for (uint32_t i = 0; i < said->control_count; i++) {
        const struct hc_snapshot_control *control = &said->controls[i];
        if (control->tick >
                hc_tick_back(said->head.as_of, (uint32_t)storm_match_get(match, STORM_history)) &&
            hc_timeline_control(server, control->player, control->tick) != control->control)
            wrong(match, "told", control->tick, "is told of a join or leave that is none", client);
    }
}

/// Takes in, and looks at, what one snapshot says of units.
static void take_units(struct storm_match *match, struct line *line, struct snapshot *snapshot,
                       const struct hc_cl_said *said, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    struct set named = {{0}};
    for (uint32_t i = 0; i < said->told_count; i++) {
        const struct hc_cl_told *told = &said->told[i];
        snapshot->corrections += told->correction;
        if (!told->dropped)
            check_value(match, told, client);
        if (!told->correction)
            add(&named, told->unit);
        if (told->dropped) {
            add(&snapshot->dropped, told->unit);
            storm_held_dropped(line->held, snapshot->tick, told->unit);
        }
        if (told->correction || told->dropped)
            continue;
        add(&snapshot->told, told->unit);
        storm_held_told(line->held, server, snapshot->tick, told->unit, snapshot->seq);
        hc_tick acked = line->units[told->unit].acked;
        if (acked != HC_NO_TICK && !is_forgotten(match, line, acked, snapshot->as_of))
            add(&snapshot->kept, told->unit);
    }
    if (snapshot->corrections == HC_SNAPSHOT_CORRECTIONS_MAX)
        snapshot->full = true;
    for (uint32_t i = 0; i < said->told_count && line->conn->honest; i++)
        if (said->told[i].correction) {
            check_window(match, line, &said->told[i], client);
            check_news(match, line, snapshot, &said->told[i], client);
        }
    check_view(match, line, snapshot, &named, client);
}

static void take_ranges(struct storm_match *match, struct line *line, struct snapshot *snapshot,
                        const struct hc_cl_said *said, unsigned client) {
    for (uint32_t i = 0; i < said->forced_count && line->conn->honest; i++) {
        const struct hc_snapshot_forced *forced = &said->forced[i];
        struct range range = {line->conn->players[forced->own], forced->first, forced->count};
        check_forced(match, line, &range, snapshot->seq, client);
        if (snapshot->range_count < RANGES)
            snapshot->ranges[snapshot->range_count++] = range;
    }
}

/// Reads the snapshot in a datagram, as whoever has had all before it; NULL: there is none.
static const struct hc_cl_said *read_snapshot(struct storm_match *match, struct line *line,
                                              const struct hc_data *data, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    struct hc_body *body = &match->told->body;
    const struct hc_cl_said *said = NULL;
    enum hc_status status = hc_body_begin(body, data->body, data->body_size);
    if (status == HC_OK && hc_body_next(body) != HC_MESSAGE_SNAPSHOT)
        return NULL;
    if (status == HC_OK)
        status = hc_cl_reader_read(line->reader, body, hc_timeline_head(server), &said);
    if (status != HC_OK)
        storm_fail(match->verdict, STORM_WRONG, "told", hc_timeline_head(server),
                   "client %u is sent a snapshot that cannot be read: %s", client,
                   hc_status_text(status));
    return status == HC_OK ? said : NULL;
}

void storm_told_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                          size_t size) {
    struct storm_told *told = match->told;
    struct hc_data data;
    if (told == NULL || hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct line *line = any_line_of(match, client, data.cid);
    if (line == NULL || data.seq >= STORM_SEQS || data.ack >= STORM_SEQS) {
        told->lost = true;
        return;
    }
    hear_all(match, line, &data);
    const struct hc_cl_said *said = read_snapshot(match, line, &data, client);
    if (said == NULL)
        return;
    struct snapshot *snapshot = &line->snapshots[data.seq % SNAPSHOTS];
    hc_tick head = said->head.as_of;
    *snapshot = (struct snapshot){.seq = data.seq,
                                  .acked = line->newest_acked,
                                  .sent_us = hc_sim_now(match->sim),
                                  .full = line->conn->sent[head % STORM_SENT].full,
                                  .as_of = head,
                                  .tick = said->head.tick};
    if (snapshot->full)
        line->full_seq = data.seq;
    line->as_of = head;
    line->entry_head[head % HEADS] = head;
    line->entries[head % HEADS] = said->told_count;
    hc_tick from = line->conn->honest ? shown_from(match, line, snapshot) : HC_NO_TICK;
    check_head(match, line, &said->head, client);
    check_beside(match, said, client);
    take_units(match, line, snapshot, said, client);
    take_ranges(match, line, snapshot, said, client);
    if (from != HC_NO_TICK)
        check_all_told(match, line, snapshot, from, client);
    remember_past(match, snapshot, from);
    told->corrections += snapshot->corrections;
}

// ---- Clients receive ----------------------------------------------------------------------------

/// Whether everything has arrived of which the server cannot know yet that it has not.
static bool nothing_under_way(const struct line *line, const struct snapshot *snapshot) {
    uint32_t first =
        snapshot->acked > HC_SV_LEDGER_REORDER ? snapshot->acked - HC_SV_LEDGER_REORDER + 1 : 1;
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
    uint64_t digest = 0;
    for (uint32_t u = 0; u < match->units.total; u++)
        if (has(&snapshot->kept, (hc_unit)u))
            digest += storm_unit_digest(match->units.world, (hc_unit)u,
                                        hc_timeline_presence(own, at), hc_timeline_states(own, at));
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
    uint64_t corrections = stats->corrections - match->seats[client].earlier_corrections;
    uint64_t forced = stats->inputs_forced - match->seats[client].earlier_forced;
    if (corrections != line->taken_corrections)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "client %u counts %lu corrections, there were %lu", client,
                   (unsigned long)corrections, (unsigned long)line->taken_corrections);
    if (forced != line->taken_forced)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "client %u counts %lu forced inputs, there were %lu", client,
                   (unsigned long)forced, (unsigned long)line->taken_forced);
}

void storm_told_end(struct storm_match *match) {
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(match->sim));
    if (match->told != NULL && !match->told->lost && stats->corrections != match->told->corrections)
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
