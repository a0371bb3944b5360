#include "tests/storm/told.h"

#include "tests/storm/inside.h"
#include "tests/storm/line.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    LOOK_EVERY = 4, ///< of the server's ticks: whose past is remembered, to be compared
    LOOK = 8,       ///< heads between two of its looks at what is in view
};

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
    for (unsigned i = 0; told != NULL && i < STORM_CONNS_MAX; i++)
        storm_line_free(told->lines[i]);
    free(told);
}

// ---- Clients send -------------------------------------------------------------------------------

void storm_told_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                     size_t size) {
    struct hc_data data;
    uint64_t numbers[3] = {0}; // client tick, display offset, ack delay
    if (match->told == NULL || hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct storm_line *line = storm_line_of(match, client, data.cid);
    if (line == NULL || data.seq >= STORM_SEQS)
        return;
    bool has_input = storm_counts_type(bytes, size) == HC_MESSAGE_INPUT &&
                     storm_counts_peek(bytes, size, 3, numbers);
    line->sent[data.seq] = 1;
    line->reports[data.seq % STORM_LINE_REPORTS] =
        (struct storm_report){.seq = data.seq,
                              .ack = data.ack,
                              .ack_bits = data.ack_bits,
                              .has_input = has_input,
                              .client_tick = (hc_tick)numbers[0],
                              .display_offset = (uint32_t)numbers[1],
                              .ack_delay_us = numbers[2]};
}

// ---- The server sends ---------------------------------------------------------------------------

static uint64_t digest_of(const struct storm_match *match,
                          const struct hc_cl_received_value *told) {
    const struct hc_world *world = match->units.world;
    uint32_t count = hc_unit_count(world, told->unit);
    uint64_t digest = told->unit;
    for (uint32_t e = 0; e < count; e++)
        digest = digest * 4 + told->value.presence[e];
    return XXH3_64bits_withSeed(told->value.states, (size_t)count * world->stride, digest);
}

/// Everything told is what the server has, and what a player did last before is too.
static void check_value(struct storm_match *match, const struct hc_cl_received_value *told,
                        unsigned client) {
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
static void check_window(struct storm_match *match, const struct storm_line *line,
                         const struct hc_cl_received_value *told, unsigned client) {
    hc_tick window = storm_line_window(line), tick = told->value.tick;
    if (window == HC_NO_TICK || tick < window)
        storm_fail(match->verdict, STORM_WRONG, "correction", tick,
                   "client %u is told of tick %u, and shows none before %u", client, tick, window);
    else if (tick < storm_line_past_before(match, line, client))
        storm_fail(match->verdict, STORM_WRONG, "correction", tick,
                   "client %u is told of tick %u, and will be past %u when it hears", client, tick,
                   storm_line_past_before(match, line, client));
}

/// What was told just so, in a datagram that has arrived or cannot be given up yet, is not told
/// again, as long as the server remembers; with few snapshots nothing is that was not told before.
/// (What was told before a drop may be, once the unit is back in view.)
static void check_news(struct storm_match *match, const struct storm_line *line,
                       const struct storm_snapshot *snapshot,
                       const struct hc_cl_received_value *told, unsigned client) {
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
    const struct storm_snapshot *earlier = &line->snapshots[before % STORM_LINE_SNAPSHOTS];
    if (before > 0 && earlier->seq == before && !storm_line_lost(line, before) &&
        !storm_line_forgotten(match, line, earlier->as_of, snapshot->as_of))
        storm_fail(match->verdict, STORM_WRONG, "corrected-again", tick,
                   "client %u is told again of unit %u at %u, as it was in datagram %u as of %u: "
                   "now in %u as of %u, %u has arrived",
                   client, told->unit, tick, before, earlier->as_of, snapshot->seq, snapshot->as_of,
                   line->newest_acked);
}

/// What is shown from `from` on of the units told, if the client is known to know them, and was not
/// told yet as it is now, is told as long as there is room. What was told otherwise, or to be
/// forgotten, and is lost may leave it with what was told before, which may be just so. With few
/// snapshots only what was told of a tick, and is not forgotten, has to be right.
static void check_all_told(struct storm_match *match, const struct storm_line *line,
                           const struct storm_snapshot *snapshot, hc_tick from, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    uint32_t seq = 0;
    if (snapshot->full)
        return;
    for (hc_tick t = from; t < snapshot->tick; t++)
        for (uint32_t u = 0; u < match->units.total; u++)
            if (storm_set_has(&snapshot->kept, (hc_unit)u) &&
                !storm_unit_may_be_hidden(match, line->conn, (hc_unit)u, t) &&
                storm_held_lacks(line->held, server, t, (hc_unit)u, &seq) &&
                (seq == 0 ? !storm_match_sparse(match) : !storm_line_lost(line, seq)) &&
                !(storm_match_sparse(match) && storm_line_old(match, line, seq, snapshot))) {
                storm_fail(match->verdict, STORM_WRONG, "not-corrected", t,
                           "client %u is not told of unit %u at %u, which it may show (from %u "
                           "on), with the snapshot of %u as of %u",
                           client, u, t, from, snapshot->tick, snapshot->as_of);
                return;
            }
}

/// What a client is known to have heard is not told again.
static void check_forced(struct storm_match *match, struct storm_line *line,
                         const struct storm_range *range, uint32_t seq, unsigned client) {
    for (unsigned i = 0; i < STORM_LINE_RANGES; i++) {
        const struct storm_forced *told = &line->forced[i];
        if (told->seq == 0 || told->range.player != range->player ||
            told->range.first != range->first || told->range.count != range->count)
            continue;
        if (line->acked[told->seq] == STORM_LINE_IN_TIME && line->full_seq < told->seq)
            wrong(match, "forced-again", range->first,
                  "is told again of forced inputs, which it has acknowledged", client);
        return;
    }
    line->forced[line->forced_next++ % STORM_LINE_RANGES] =
        (struct storm_forced){.range = *range, .seq = seq};
}

/// Remembers these past ticks, of the units whose past must be right: 0 for one at which a unit may
/// have been out of view.
static void remember_past(struct storm_match *match, const struct storm_line *line,
                          struct storm_snapshot *snapshot, hc_tick from) {
    snapshot->from = HC_NO_TICK;
    if (from == HC_NO_TICK || snapshot->as_of % LOOK_EVERY != 0 || storm_match_sparse(match))
        return;
    snapshot->from = from;
    for (hc_tick t = from; t < snapshot->tick; t++) {
        const uint64_t *row = storm_units_row(match, t);
        uint64_t *digest = &snapshot->digests[t - from];
        bool hidden = false;
        *digest = 0;
        for (uint32_t u = 0; u < match->units.total; u++)
            if (storm_set_has(&snapshot->kept, (hc_unit)u)) {
                *digest += row[u];
                hidden |= storm_unit_may_be_hidden(match, line->conn, (hc_unit)u, t);
            }
        *digest = hidden ? 0 : *digest;
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
static void look_at_drops(struct storm_line *line, hc_unit unit) {
    struct storm_unit_seen *seen = &line->units[unit];
    bool under_way = false;
    for (uint32_t seq = seen->drop; seq > 0 && seq >= seen->first_drop; seq--) {
        const struct storm_snapshot *snapshot = &line->snapshots[seq % STORM_LINE_SNAPSHOTS];
        if (seq != seen->drop && (snapshot->seq != seq || !storm_set_has(&snapshot->dropped, unit)))
            continue;
        if (line->acked[seq] != 0) {
            seen->known = false;
            seen->first_drop = seen->drop = 0;
            return;
        }
        under_way |= !storm_line_lost(line, seq) || seq <= line->unsure;
    }
    if (seen->drop != 0)
        seen->known = !under_way;
}

/// As long as there is room, a snapshot tells of all that the client knows, if only that it is to
/// forget it, which is said again when it was lost, and of all that has been in view since before
/// the server looked last.
static void check_view(struct storm_match *match, struct storm_line *line,
                       const struct storm_snapshot *snapshot, const struct storm_set *named,
                       unsigned client) {
    hc_tick head = snapshot->as_of;
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_unit unit = (hc_unit)u;
        struct storm_unit_seen *seen = &line->units[u];
        int64_t view = match->units.world->game->view;
        int64_t away = storm_unit_distance(match, line->conn, unit, snapshot->tick);
        bool always = storm_unit_always_seen(match, line->conn, unit);
        since(&seen->in, away >= 0 && away <= view, head);
        bool in = always || (seen->in != HC_NO_TICK && head - seen->in >= LOOK);
        if (in && !snapshot->full && !storm_set_has(&snapshot->told, unit))
            storm_fail(match->verdict, STORM_WRONG, "untold", snapshot->tick,
                       "client %u is not told of unit %u, which has been in view since %u: %u as "
                       "of %u",
                       client, u, seen->in, snapshot->tick, head);
        look_at_drops(line, unit);
        if (seen->known && !snapshot->full && !storm_set_has(named, unit))
            storm_fail(match->verdict, STORM_WRONG, "untold", snapshot->tick,
                       "client %u is told nothing of unit %u, which it knows: %u as of %u", client,
                       u, snapshot->tick, head);
        if (!storm_set_has(named, unit))
            continue;
        seen->known = storm_set_has(&snapshot->told, unit);
        seen->drop = seen->known ? 0 : snapshot->seq;
        if (seen->known || seen->first_drop == 0)
            seen->first_drop = seen->drop;
    }
}

// ---- A snapshot ---------------------------------------------------------------------------------

static void check_head(struct storm_match *match, const struct storm_line *line,
                       const struct hc_snapshot *head, unsigned client) {
    const struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_timeline *server = hc_sv_host_timeline(host);
    hc_tick as_of = hc_timeline_head(server);
    uint64_t chain;
    hc_tick final = hc_sv_host_final(host, &chain);
    if (head->as_of != as_of || head->final != final || (head->has_chain && head->chain != chain) ||
        head->late_limit != hc_tick_back(as_of, storm_rtt_late_limit(match, line->conn)))
        wrong(match, "head", as_of, "is told another head, final tick or bound", client);
    for (unsigned i = 0; i < line->conn->player_count; i++)
        if (head->complete[i] != hc_timeline_inputs_through(server, line->conn->players[i]))
            wrong(match, "head", as_of, "is told otherwise what has come of its inputs", client);
}

/// Nothing is sent of a unit at a tick at which it is farther away than the view and a quarter of
/// it.
static void check_hidden(struct storm_match *match, const struct storm_line *line,
                         const struct hc_cl_received *said, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(server), oldest = hc_timeline_oldest(server);
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->told[i];
        if (!told->dropped && told->value.tick >= oldest &&
            storm_unit_hidden(match, line->conn, told->unit, told->value.tick))
            wrong(match, "interest", told->value.tick, "is told of a unit out of view", client);
    }
    for (uint32_t i = 0; i < said->input_count; i++) {
        hc_tick tick = hc_tick_min(said->inputs[i].tick, head);
        if (storm_unit_hidden(match, line->conn, (hc_unit)(1 + said->inputs[i].player), tick))
            wrong(match, "interest", tick, "is told an input of a unit out of view", client);
    }
    for (uint32_t i = 0; i < said->roster_count; i++) {
        hc_tick tick = hc_tick_min(said->roster_changes[i].tick + 1, head);
        tick = hc_tick_max(tick, said->head.tick);
        if (storm_unit_hidden(match, line->conn, (hc_unit)(1 + said->roster_changes[i].player),
                              tick))
            wrong(match, "interest", tick, "is told a join or leave out of view", client);
    }
}

/// Inputs, joins and leaves that are told are the server's.
static void check_beside(struct storm_match *match, const struct hc_cl_received *said,
                         unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    size_t size = match->units.world->game->input_size;
    for (uint32_t i = 0; i < said->input_count; i++) {
        const struct hc_cl_received_input *input = &said->inputs[i];
        if (hc_timeline_slot(server, input->player, input->tick) != HC_SLOT_KNOWN ||
            memcmp(input->input, hc_timeline_input(server, input->player, input->tick), size) != 0)
            wrong(match, "told", input->tick, "is told an input that is not so", client);
    }
    for (uint32_t i = 0; i < said->roster_count; i++) {
        const struct hc_snapshot_roster *roster_change = &said->roster_changes[i];
        if (roster_change->tick >
                hc_tick_back(said->head.as_of, (uint32_t)storm_match_get(match, STORM_history)) &&
            hc_timeline_roster(server, roster_change->player, roster_change->tick) !=
                roster_change->roster_change)
            wrong(match, "told", roster_change->tick, "is told of a join or leave that is none",
                  client);
    }
}

/// What joined or left before the tick shown is not told again once one of the snapshots that told
/// it in a row is known to have arrived. (A join of long ago is as long as its player has done
/// nothing since.)
static void take_roster(struct storm_match *match, struct storm_line *line,
                        const struct storm_snapshot *snapshot,
                        const struct hc_snapshot_roster *roster_change, unsigned client) {
    uint32_t future = (uint32_t)storm_match_get(match, STORM_future);
    struct storm_control *told = NULL;
    for (unsigned i = 0; i < STORM_LINE_CONTROLS && told == NULL; i++)
        if (line->roster_changes[i].since != 0 && line->roster_changes[i].last == line->newest &&
            line->roster_changes[i].roster_change.player == roster_change->player &&
            line->roster_changes[i].roster_change.tick == roster_change->tick)
            told = &line->roster_changes[i];
    if (told == NULL) {
        told = &line->roster_changes[line->controls_next++ % STORM_LINE_CONTROLS];
        *told = (struct storm_control){.roster_change = *roster_change, .since = snapshot->seq};
    }
    told->last = snapshot->seq;
    bool heard = false;
    for (uint32_t seq = told->since; seq < snapshot->seq && !heard; seq++)
        heard = line->acked[seq] == STORM_LINE_IN_TIME &&
                line->snapshots[seq % STORM_LINE_SNAPSHOTS].seq == seq;
    if (heard && roster_change->tick < snapshot->tick &&
        roster_change->tick >= hc_tick_back(snapshot->tick, future))
        wrong(match, "control-again", roster_change->tick,
              "is told again of a join or leave, which it has acknowledged", client);
}

/// Takes in, and looks at, what one snapshot says of units.
static void take_units(struct storm_match *match, struct storm_line *line,
                       struct storm_snapshot *snapshot, const struct hc_cl_received *said,
                       unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    struct storm_set named = {{0}};
    for (uint32_t i = 0; i < said->value_count; i++) {
        const struct hc_cl_received_value *told = &said->told[i];
        snapshot->corrections += told->correction;
        if (!told->dropped)
            check_value(match, told, client);
        if (!told->correction)
            storm_set_add(&named, told->unit);
        if (told->dropped) {
            storm_set_add(&snapshot->dropped, told->unit);
            storm_held_dropped(line->held, snapshot->tick, told->unit,
                               storm_match_sparse(match) ? 0 : snapshot->seq);
        }
        if (told->correction || told->dropped)
            continue;
        storm_set_add(&snapshot->told, told->unit);
        storm_held_told(line->held, server, snapshot->tick, told->unit, snapshot->seq);
        hc_tick acked = line->units[told->unit].acked;
        if (acked != HC_NO_TICK && !storm_line_forgotten(match, line, acked, snapshot->as_of))
            storm_set_add(&snapshot->kept, told->unit);
    }
    if (snapshot->corrections == HC_SNAPSHOT_CORRECTIONS_MAX)
        snapshot->full = true;
    for (uint32_t i = 0; i < said->value_count && line->conn->honest; i++)
        if (said->told[i].correction) {
            check_window(match, line, &said->told[i], client);
            check_news(match, line, snapshot, &said->told[i], client);
        }
    check_view(match, line, snapshot, &named, client);
}

static void take_ranges(struct storm_match *match, struct storm_line *line,
                        struct storm_snapshot *snapshot, const struct hc_cl_received *said,
                        unsigned client) {
    for (uint32_t i = 0; i < said->forced_count && line->conn->honest; i++) {
        const struct hc_snapshot_forced *forced = &said->forced[i];
        struct storm_range range = {line->conn->players[forced->own], forced->first, forced->count};
        check_forced(match, line, &range, snapshot->seq, client);
        if (snapshot->range_count < STORM_LINE_RANGES)
            snapshot->ranges[snapshot->range_count++] = range;
    }
}

/// Reads the snapshot in a datagram, as whoever has had all before it; NULL: there is none.
static const struct hc_cl_received *read_snapshot(struct storm_match *match,
                                                  struct storm_line *line,
                                                  const struct hc_data *data, unsigned client) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    struct hc_body *body = &match->told->body;
    const struct hc_cl_received *said = NULL;
    enum hc_status status = hc_body_begin(body, data->body, data->body_size);
    if (status == HC_OK && hc_body_next(body) != HC_MESSAGE_SNAPSHOT)
        return NULL;
    if (status == HC_OK)
        status = hc_cl_snapshot_reader_read(line->reader, body, hc_timeline_head(server), &said);
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
    struct storm_line *line = storm_line_any(match, client, data.cid);
    if (line == NULL || data.seq >= STORM_SEQS || data.ack >= STORM_SEQS) {
        told->lost = true;
        return;
    }
    storm_line_hear(match, line, &data);
    const struct hc_cl_received *said = read_snapshot(match, line, &data, client);
    if (said == NULL)
        return;
    struct storm_snapshot *snapshot = &line->snapshots[data.seq % STORM_LINE_SNAPSHOTS];
    hc_tick head = said->head.as_of;
    *snapshot = (struct storm_snapshot){.seq = data.seq,
                                        .acked = line->newest_acked,
                                        .sent_us = hc_sim_now(match->sim),
                                        .full = line->conn->sent[head % STORM_SENT].full,
                                        .as_of = head,
                                        .tick = said->head.tick};
    if (snapshot->full)
        line->full_seq = data.seq;
    line->as_of = head;
    line->entry_head[head % STORM_LINE_HEADS] = head;
    line->entries[head % STORM_LINE_HEADS] = said->value_count;
    hc_tick from = line->conn->honest ? storm_line_shown_from(match, line, snapshot) : HC_NO_TICK;
    check_head(match, line, &said->head, client);
    check_beside(match, said, client);
    check_hidden(match, line, said, client);
    for (uint32_t i = 0; i < said->roster_count && line->conn->honest; i++)
        take_roster(match, line, snapshot, &said->roster_changes[i], client);
    line->newest = data.seq;
    take_units(match, line, snapshot, said, client);
    take_ranges(match, line, snapshot, said, client);
    if (from != HC_NO_TICK)
        check_all_told(match, line, snapshot, from, client);
    remember_past(match, line, snapshot, from);
    told->corrections += snapshot->corrections;
}

// ---- Clients receive ----------------------------------------------------------------------------

/// Whether everything has arrived of which the server cannot know yet that it has not.
static bool nothing_under_way(const struct storm_line *line,
                              const struct storm_snapshot *snapshot) {
    uint32_t first =
        snapshot->acked > HC_SV_SENT_LOG_REORDER ? snapshot->acked - HC_SV_SENT_LOG_REORDER + 1 : 1;
    if (snapshot->seq - first >= STORM_LINE_SNAPSHOTS)
        return false;
    for (uint32_t seq = first; seq < snapshot->seq; seq++)
        if (line->snapshots[seq % STORM_LINE_SNAPSHOTS].seq != seq ||
            !line->snapshots[seq % STORM_LINE_SNAPSHOTS].received)
            return false;
    return true;
}

/// What the client shows next must be what the server had of that tick when it sent this: all that
/// it did not hold was in it, or had been before.
static void check_held(struct storm_match *match, unsigned client, const struct storm_line *line,
                       const struct storm_snapshot *snapshot) {
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
        if (storm_set_has(&snapshot->kept, (hc_unit)u))
            digest += storm_unit_digest(match->units.world, (hc_unit)u,
                                        hc_timeline_presence(own, at), hc_timeline_states(own, at));
    uint64_t wanted = snapshot->digests[at - snapshot->from];
    if (wanted != 0 && digest != wanted)
        storm_fail(match->verdict, STORM_WRONG, "held", at,
                   "client %u holds another tick %u than the server thinks, after the snapshot of "
                   "%u as of %u",
                   client, at, snapshot->tick, snapshot->as_of);
}

static void take_forced(struct storm_line *line, const struct hc_timeline *own,
                        const struct storm_range *range) {
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
    struct storm_line *line = storm_line_of(match, client, data.cid);
    if (line == NULL || line->snapshots[data.seq % STORM_LINE_SNAPSHOTS].seq != data.seq)
        return;
    struct storm_snapshot *snapshot = &line->snapshots[data.seq % STORM_LINE_SNAPSHOTS];
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
    const struct storm_line *line = storm_line_of(match, client, match->seats[client].cid);
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
