#include "tests/storm/inside.h"

#include "client/session_internal.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "proto/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum {
    DATA_CID_AT = 1,
    PORT_FIRST = 1024,
    RESERVE = 16, ///< ticks that a client's ring keeps beyond what it must
};

static uint32_t cid_of(const uint8_t *bytes) {
    return (uint32_t)bytes[DATA_CID_AT] | (uint32_t)bytes[DATA_CID_AT + 1] << 8 |
           (uint32_t)bytes[DATA_CID_AT + 2] << 16 | (uint32_t)bytes[DATA_CID_AT + 3] << 24;
}

static void wrong(struct storm_match *match, const char *oracle, hc_tick tick, const char *text,
                  unsigned client) {
    storm_fail(match->verdict, STORM_WRONG, oracle, tick, "client %u: %s", client, text);
}

// ---- The server ---------------------------------------------------------------------------------

static void host_advances(void *context, struct hc_sim *sim) {
    struct storm_match *match = context;
    storm_truth_expect(match->truth, hc_sim_host(sim), hc_sim_host_now(sim));
    storm_slots_advances(match);
    storm_allowance_advances(match);
    storm_economy_advances(match);
}

/// A rewind goes back by the window at most, so many ticks at most are simulated again for each
/// that is new.
static void check_rewinds(struct storm_match *match, const struct hc_timeline *timeline) {
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    hc_tick head = hc_timeline_head(timeline);
    uint64_t again = stats->resimulated_ticks - match->host_resimulated;
    uint64_t most = (uint64_t)storm_match_get(match, STORM_history) * (head - match->host_head);
    if (again > most)
        storm_fail(match->verdict, STORM_WRONG, "bounds", head,
                   "%lu ticks were simulated again in %u advances of the server, at most %lu may",
                   (unsigned long)again, head - match->host_head, (unsigned long)most);
    // The newest tick of an advance is only simulated, not again.
    uint64_t forced = (uint64_t)storm_match_get(match, STORM_force_rewind);
    uint64_t window = (uint64_t)storm_match_get(match, STORM_history);
    forced = forced < window ? forced : window;
    forced = forced < head - 1 ? forced : head - 1;
    if (head > match->host_head && again < forced)
        storm_fail(match->verdict, STORM_WRONG, "bounds", head,
                   "%lu ticks were simulated again, the configuration demands %lu",
                   (unsigned long)again, (unsigned long)forced);
    if (head > match->host_head)
        match->ticked_us = hc_sim_host_now(match->sim);
    match->host_resimulated = stats->resimulated_ticks;
    match->host_head = head;
    if (match->last_part && stats->depth > match->rewind_max)
        match->rewind_max = stats->depth;
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct storm_match *match = context;
    struct hc_sv_host *host = hc_sim_host(sim);
    if (match->verdict->result != STORM_FINE)
        return;
    STORM_NOTE(match, "the server ticks, final %u, rewound %u", hc_sv_host_final(host, NULL),
               hc_timeline_stats(hc_sv_host_timeline(host))->depth);
    check_rewinds(match, hc_sv_host_timeline(host));
    storm_truth_note(match->truth, host);
    storm_stepped_host(match);
    storm_economy_ticked(match);
    storm_counts_host_ticked(match);
    storm_slots_ticked(match);
    storm_kept_ticked(match);
    storm_elsewhere_ticked(match);
    storm_talk_host(match);
}

/// Whether the client's address ever changes; an attacker may say the same from all of its ports.
static bool moves(const struct storm_match *match, unsigned client) {
    return match->seats[client].hostile ||
           storm_client_get(match, client, STORM_C_rebind_ticks) != 0;
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_sv_event *event) {
    static const char *const kinds[] = {"joins",   "leaves",        "times out",
                                        "is lost", "is back again", "has moved"};
    struct storm_match *match = context;
    storm_counts_host_event(match, event);
    if (event->address.port < PORT_FIRST) {
        storm_fail(match->verdict, STORM_WRONG, "events", 0, "a stranger %s", kinds[event->kind]);
        return;
    }
    unsigned seat = (event->address.port - PORT_FIRST) % match->clients;
    STORM_NOTE(match, "client %u %s at the server, cid %08x, %u players from %u on", seat,
               kinds[event->kind], event->cid, event->player_count, event->players[0]);
    struct storm_conn *conn =
        storm_conns_event(&match->conns, event, seat, !match->seats[seat].hostile,
                          hc_timeline_head(hc_sv_host_timeline(hc_sim_host(sim))), hc_sim_now(sim));
    storm_elsewhere_event(conn, event);
    if (event->kind == HC_SV_EVENT_MOVED) {
        if (conn == NULL || !conn->there || !moves(match, seat))
            wrong(match, "events", 0, "has moved, as the server says", seat);
        storm_shakes_event(match, event);
        return;
    }
    if (event->kind == HC_SV_EVENT_JOINED && !match->seats[seat].hostile) {
        struct storm_outcome *outcome = match->outcome;
        hc_player first = event->player_count > 0 ? event->players[0] : HC_NO_PLAYER;
        uint32_t given = event->player_count;
        for (unsigned i = 0; i < event->player_count; i++)
            given |= (uint32_t)storm_truth_leaves(match->truth, event->players[i]) << (8 + i);
        outcome->joins++;
        outcome->places = hc_random(outcome->places, seat, first, given);
    }
    storm_kept_event(match, event, conn);
    storm_truth_event(match->truth, event, conn);
    storm_shakes_event(match, event);
    if (event->kind == HC_SV_EVENT_JOINED)
        storm_hostile_joined(match, event->address.port);
}

static void keep_world(struct storm_match *match, struct storm_sent *sent,
                       const struct hc_timeline *timeline) {
    const struct hc_world *world = storm_truth_world(match->truth);
    size_t bytes = (size_t)world->entities * world->stride;
    free(sent->presence);
    free(sent->states);
    sent->presence = malloc(world->entities);
    sent->states = malloc(bytes);
    if (sent->presence == NULL || sent->states == NULL)
        abort();
    memcpy(sent->presence, hc_timeline_presence(timeline, sent->tick), world->entities);
    memcpy(sent->states, hc_timeline_states(timeline, sent->tick), bytes);
}

/// Remembers what a snapshot has to show: T, by the rule, as the timeline stands now.
static void remember_snapshot(struct storm_match *match, struct storm_conn *conn, size_t size) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(timeline), tick = head;
    for (unsigned i = 0; i < conn->player_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, conn->players[i]) + 1);
    if (conn->snapshot_head == head)
        wrong(match, "one-snapshot", head, "is sent two snapshots in one tick", conn->seat);
    if (conn->snapshot_head == HC_NO_TICK)
        storm_arrivals_shown(match, conn, tick);
    conn->snapshot_head = head;
    struct storm_sent *sent = &conn->sent[head % STORM_SENT];
    sent->as_of = head;
    sent->tick = tick;
    sent->full = storm_allowance_sent(match, conn, size, head - tick + 1, &sent->cut);
    if (sent->full)
        conn->full_head = head;
    storm_units_sent(match, conn, sent, tick);
    if (match->options->deep)
        keep_world(match, sent, timeline);
}

/// An honest client is told that the server is full only when it is: what was let go of in this
/// very moment may have been there when the answer was written.
static void check_denied(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size) {
    const struct storm_conns *conns = &match->conns;
    uint64_t now_us = hc_sim_now(match->sim);
    unsigned places = hc_sim_config(match->sim)->host.clients, connected = 0;
    unsigned players = (unsigned)storm_client_get(match, client, STORM_C_players);
    struct hc_deny deny;
    if (match->seats[client].hostile || conns->count == STORM_CONNS_MAX ||
        hc_datagram_get_deny(bytes, size, &deny) != HC_OK || deny.reason != HC_DENY_FULL)
        return;
    match->outcome->denials++;
    for (unsigned i = 0; i < conns->count; i++) {
        const struct storm_conn *conn = &conns->conns[i];
        if (!conn->there && !conn->kept && conn->freed_us + match->tick_us < now_us)
            continue;
        connected++;
        players += conn->player_count;
    }
    if (connected < places && players <= places)
        wrong(match, "denied", 0, "is denied for a full server, which is not full", client);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct storm_match *match = context;
    (void)sim;
    bool copy = storm_elsewhere_sent(match, client, bytes, size);
    match->outcome->datagrams++;
    storm_counts_host_sent(match, client, bytes, size, copy);
    if (copy)
        return;
    storm_slots_host_sent(match, client, bytes, size);
    if (size > HC_DATAGRAM_MAX || size == 0)
        wrong(match, "bounds", 0, "is sent a datagram too large", client);
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA) {
        STORM_NOTE(match, "server > %u: kind %02x, %zu bytes", client, bytes[0], size);
        storm_beside_door(match, client, bytes, size);
        storm_shakes_answered(match, client, bytes, size);
        storm_hostile_answered(match, client, bytes, size);
        storm_kept_answered(match, client, bytes, size);
        check_denied(match, client, bytes, size);
        return;
    }
    enum hc_message_type type = storm_counts_type(bytes, size);
    STORM_NOTE(match, "server > %u: cid %08x, message %u, %zu bytes", client, cid_of(bytes), type,
               size);
    struct storm_conn *conn = storm_conns_find(&match->conns, client, cid_of(bytes));
    // Whoever is asked whether it is the client, that is of nobody's share.
    bool is_question = type == HC_MESSAGE_PATH_CHALLENGE;
    bool is_snapshot = type == HC_MESSAGE_SNAPSHOT;
    match->outcome->snapshots += is_snapshot;
    if (is_snapshot && conn != NULL) {
        remember_snapshot(match, conn, size);
        storm_rtt_shown(match, conn, bytes, size);
    } else if (!is_snapshot && !is_question && conn != NULL && conn->there) {
        storm_allowance_news(match, conn, type, size);
    } else if (is_snapshot && match->conns.count < STORM_CONNS_MAX) {
        wrong(match, "events", 0, "is sent a snapshot, but never joined", client);
    }
    storm_told_host_sent(match, client, bytes, size);
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    (void)sim, (void)client;
    storm_arrivals_received(match, port, bytes, size, status);
    storm_shakes_received(match, port, bytes, size, status);
    storm_elsewhere_received(match, port, bytes, size, status);
}

// ---- The clients --------------------------------------------------------------------------------

static bool tamper(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                   size_t size) {
    struct storm_match *match = context;
    storm_counts_sent(match, client, size);
    storm_broken_note(match, &match->seats[client].last_up, bytes, size);
    if (storm_match_get(match, STORM_hostile) > 0)
        storm_hostile_tape(match, client, bytes, size, hc_sim_sealed(sim));
    if (!match->seats[client].hostile || match->options->tame || match->healed)
        return true;
    return storm_hostile_tamper(match, client, bytes, size);
}

/// A client that was lost is accepted again: of what it held nothing is left.
static void begin_again(struct storm_match *match, unsigned client) {
    struct storm_seat *seat = &match->seats[client];
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    storm_told_gone(match, client);
    seat->earlier_corrections = stats->corrections;
    seat->earlier_forced = stats->inputs_forced;
    seat->cid = 0;
    seat->seen_as_of = HC_NO_TICK;
    seat->rewinds = 0;
    seat->stamps.begun = seat->stamps.any = false;
    memset(seat->stamps.last, 0, sizeof seat->stamps.last);
    storm_counts_again(match, client);
    storm_units_created(match, client);
    storm_rtt_created(match, client);
}

static void check_stamps(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size) {
    struct hc_data data;
    struct hc_input_message message;
    struct hc_input_run run;
    struct hc_body *body = &match->conns.body;
    if (match->seats[client].hostile || bytes[0] != HC_DATAGRAM_DATA)
        return;
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, cid_of(bytes));
    if (conn != NULL && conn->player_count > 0 &&
        hc_datagram_get_data(bytes, size, &data) == HC_OK &&
        hc_body_begin(body, data.body, data.body_size) == HC_OK &&
        hc_body_next(body) == HC_MESSAGE_INPUT &&
        hc_message_get_input(body, match->conns.game, conn->player_count, &message, &run) ==
            HC_OK &&
        message.count > 0) {
        storm_slots_stamped(match, conn, data.seq, message.first, message.count);
        storm_arrivals_said(match, conn, data.seq, &message);
        storm_beside_stamps(match, client, conn, &message, &run);
    }
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct storm_match *match = context;
    match->outcome->datagrams++;
    STORM_NOTE(match, "%u > server: kind %02x, %zu bytes", client, bytes[0], size);
    if (size > HC_DATAGRAM_MAX)
        wrong(match, "bounds", 0, "sends a datagram too large", client);
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(sim)));
    const struct storm_conn *conn = bytes[0] == HC_DATAGRAM_DATA
                                        ? storm_conns_find(&match->conns, client, cid_of(bytes))
                                        : NULL;
    storm_conns_sent(&match->conns, client, hc_tick_back(head, storm_rtt_late_limit(match, conn)),
                     hc_sim_now(sim), bytes, size);
    check_stamps(match, client, bytes, size);
    storm_rtt_sent(match, client, bytes, size);
    storm_told_sent(match, client, bytes, size);
}

/// Own inputs that the server says it did without must be gone from the client, and none of them
/// known to the server.
static void check_forced(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *own = hc_client_timeline(core);
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    const struct storm_conn *conn =
        storm_conns_find(&match->conns, client, match->seats[client].cid);
    const struct hc_cl_received *said = hc_cl_snapshot_reader_newest(core->reader);
    if (conn == NULL || !conn->there)
        return;
    for (uint32_t i = 0; i < said->forced_count; i++) {
        const struct hc_snapshot_forced *forced = &said->forced[i];
        hc_player player = conn->players[forced->own];
        if (forced->first < conn->begun)
            wrong(match, "retracted", forced->first, "is told of inputs from before it came",
                  client);
        for (hc_tick t = forced->first; t < forced->first + forced->count; t++) {
            if (hc_timeline_slot(own, player, t) == HC_SLOT_KNOWN)
                wrong(match, "retracted", t, "keeps an input that the server did without", client);
            if (hc_timeline_slot(server, player, t) == HC_SLOT_KNOWN)
                wrong(match, "retracted", t, "is told of a forced input that is known", client);
        }
    }
}

/// Whether it puts what it is told into its world.
static bool applies(const struct hc_client *core) {
    enum hc_client_state state = hc_client_state(core);
    return state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED;
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    storm_rtt_handed(match, client);
    storm_kept_received(match, client, bytes, size, status);
    STORM_NOTE(match, "client %u takes kind %02x, %zu bytes: %s", client, bytes[0], size,
               hc_status_text(status));
    if (status == HC_OK && hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA)
        match->seats[client].cid = cid_of(bytes);
    if (status == HC_OK && hc_datagram_kind(bytes, size) == HC_DATAGRAM_ACCEPT &&
        hc_client_stats(hc_sim_client(sim, client))->reconnects > 0)
        begin_again(match, client);
    if (status == HC_OK)
        storm_broken_note(match, &match->seats[client].last_down, bytes, size);
    storm_counts_received(match, client, bytes, size, status);
    const struct hc_client *core = hc_sim_client(sim, client);
    if (status == HC_OK && storm_counts_type(bytes, size) == HC_MESSAGE_SNAPSHOT && applies(core))
        storm_units_taken(match, client);
    // Nothing that a server sends is broken, and nobody else sends in its name. (A hostile client
    // may have been told of datagrams that were forged in its own.)
    if (match->seats[client].hostile)
        return;
    storm_beside_answered(match, client, bytes, size, status);
    if (status == HC_OK) {
        storm_rtt_received(match, client, bytes, size);
        storm_told_received(match, client, bytes, size);
    }
    if (status == HC_OK && storm_counts_type(bytes, size) == HC_MESSAGE_SNAPSHOT && applies(core))
        check_forced(match, client);
    // All that it is told against it has acknowledged, and so has: only what comes very late is too
    // old.
    if (status == HC_MALFORMED || status == HC_TRUNCATED || status == HC_INVALID)
        storm_fail(match->verdict, STORM_WRONG, "wire", 0,
                   "client %u refuses what the server sent: %s", client, hc_status_text(status));
}

/// What the client holds of what the snapshot that it has just applied tells must be what the
/// server held: it was shown the tick that it had to be shown, and every unit told is as it was
/// there at sending; what it was told to forget is unknown.
static void check_snapshot(struct storm_match *match, unsigned client,
                           const struct hc_timeline *timeline, hc_tick tick, hc_tick as_of) {
    struct storm_conn *conn = storm_conns_find(&match->conns, client, match->seats[client].cid);
    if (conn == NULL)
        return;
    if (conn->shown_us == 0) {
        conn->shown_us = hc_sim_now(match->sim);
        conn->shown_back = as_of - tick;
    }
    const struct storm_sent *sent = &conn->sent[as_of % STORM_SENT];
    if (sent->as_of != as_of || sent->tick != tick) {
        storm_fail(match->verdict, STORM_WRONG, "agreement", tick,
                   "client %u was shown (%u, %u), the rule gives (%u, %u)", client, tick, as_of,
                   sent->tick, sent->as_of);
        return;
    }
    if (tick < hc_timeline_oldest(timeline) || tick > hc_timeline_head(timeline)) {
        storm_fail(match->verdict, STORM_WRONG, "agreement", tick,
                   "client %u does not hold tick %u, which it has just been sent", client, tick);
        return;
    }
    hc_unit unit;
    if (!storm_units_differ(match, client, sent, &unit))
        return;
    char who[64];
    snprintf(who, sizeof who, "client %u after the snapshot of head %u", client, as_of);
    if (match->seats[client].units[unit].dropped)
        storm_fail(match->verdict, STORM_WRONG, "dropped", tick,
                   "%s still knows unit %u, which it was told to forget", who, unit);
    storm_units_fail(match, "agreement", tick, unit, who, timeline, sent->presence, sent->states);
}

/// The inputs of whoever is told go along: the newest known one before the tick shown always, those
/// from it on as far as there is room.
static void check_inputs(struct storm_match *match, unsigned client,
                         const struct storm_sent *sent) {
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_timeline *own = hc_client_timeline(hc_sim_client(match->sim, client));
    for (hc_player p = 0; p < world->players; p++) {
        if (sent->bases[p] == 0 || !storm_units_told(match, client, sent->as_of, (hc_unit)(1 + p)))
            continue;
        if (storm_unit_base(world, own, p, sent->tick) != sent->bases[p])
            storm_fail(match->verdict, STORM_WRONG, "bases", sent->tick,
                       "client %u predicts player %u from another input before %u than the server "
                       "did at %u",
                       client, p, sent->tick, sent->as_of);
        if (!sent->cut && sent->beside[p] != 0 &&
            storm_beside_digest(world, own, p, sent->tick, sent->as_of) != sent->beside[p])
            storm_fail(match->verdict, STORM_WRONG, "beside", sent->tick,
                       "client %u does not know the inputs of player %u from %u on as the server "
                       "did at %u",
                       client, p, sent->tick, sent->as_of);
    }
}

/// What the client was told of the final tick must be true.
static void check_final(struct storm_match *match, unsigned client, const struct hc_client *core) {
    hc_tick final;
    uint64_t chain;
    if (!hc_client_final(core, &final, &chain))
        return;
    if (final > storm_truth_final(match->truth))
        wrong(match, "final", final, "knows a final tick that is none yet", client);
    else if (chain != storm_truth_chain(match->truth, final))
        wrong(match, "chain", final, "was told another chain hash", client);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct storm_match *match = context;
    const struct hc_client *core = hc_sim_client(sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    struct storm_seat *seat = &match->seats[client];
    hc_tick tick, as_of;
    if (match->verdict->result == STORM_FINE)
        storm_counts_changed(match, client);
    if (match->verdict->result == STORM_FINE)
        storm_talk_client(match, client);
    if (match->verdict->result == STORM_FINE && !seat->hostile) {
        storm_kept_changed(match, client);
        storm_rtt_changed(match, client);
        storm_stamps_changed(match, client);
    }
    if (match->verdict->result == STORM_FINE && !seat->hostile)
        storm_show_look(match, client);
    if (match->verdict->result != STORM_FINE || timeline == NULL ||
        !hc_client_snapshot(core, &tick, &as_of))
        return;
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    // Who waits, as the server has left out ticks, is rolled back by as many; and whose player
    // comes into view may have done what it did last long ago, which is known from then on.
    if (match->last_part && stats->depth > seat->depth_max && seat->heard_once != as_of &&
        hc_client_state(core) == HC_CLIENT_PLAYING)
        seat->depth_max = stats->depth;
    storm_stepped_client(match, client);
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, seat->cid);
    if (conn != NULL && conn->sent[as_of % STORM_SENT].as_of == as_of && !seat->hostile)
        storm_beside_taken(match, client, conn, &conn->sent[as_of % STORM_SENT],
                           as_of != seat->seen_as_of);
    if (as_of != seat->seen_as_of) {
        seat->seen_as_of = as_of;
        check_snapshot(match, client, timeline, tick, as_of);
        if (match->verdict->result == STORM_FINE && conn != NULL)
            check_inputs(match, client, &conn->sent[as_of % STORM_SENT]);
        check_final(match, client, core);
    }
    if (match->settled && !seat->hostile)
        storm_calm_agree(match, client);
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    static const char *const kinds[] = {
        "is accepted",          "plays",     "stalls",    "resumes", "is denied",
        "is too old",           "is closed", "times out", "is lost", "is back again",
        "is said to have moved"};
    struct storm_match *match = context;
    (void)sim;
    STORM_NOTE(match, "client %u %s", client, kinds[event->kind]);
    match->seats[client].counts.events++;
    match->seats[client].tally.stalls += event->kind == HC_CLIENT_EVENT_STALLED;
    if (match->seats[client].hostile)
        return;
    storm_kept_client_event(match, client, event);
    storm_talk_event(match, client, event);
    if (event->kind == HC_CLIENT_EVENT_VERSION ||
        (event->kind == HC_CLIENT_EVENT_CLOSED && event->close == HC_CLOSE_ERROR))
        wrong(match, "closed", 0, "gives up for an error that is none of its own", client);
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    (void)sim;
    storm_keys(context, client, index, tick, input);
    storm_stamps_given(context, client, index, input);
}

struct hc_sim_hooks storm_watch_hooks(void) {
    return (struct hc_sim_hooks){.script = script,
                                 .host_advances = host_advances,
                                 .host_ticked = host_ticked,
                                 .client_changed = client_changed,
                                 .client_received = client_received,
                                 .host_received = host_received,
                                 .host_sent = host_sent,
                                 .tamper = tamper,
                                 .client_sent = client_sent,
                                 .host_event = host_event,
                                 .client_event = client_event};
}

// ---- The end ------------------------------------------------------------------------------------

void storm_watch_count(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    struct storm_client_counts *counts = &match->seats[client].counts;
    if (core == NULL)
        return;
    storm_counts_gone(match, client);
    storm_told_gone(match, client);
    const struct hc_client_stats *stats = hc_client_stats(core);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    counts->stalls += stats->stalls;
    counts->stalled_ticks += stats->stalled_ticks;
    counts->inputs_sampled += stats->inputs_sampled;
    counts->inputs_forced += stats->inputs_forced;
    counts->restarts += stats->restarts;
    counts->snapshots += stats->snapshots;
    if (stats->hash_mismatches > 0)
        wrong(match, "hash", 0, "found snapshots that do not have their hash", client);
    uint32_t ring = storm_client_limit(match, client) +
                    (uint32_t)storm_client_get(match, client, STORM_C_display) + RESERVE;
    if (timeline != NULL && hc_timeline_stats(timeline)->depth_max > ring)
        wrong(match, "bounds", hc_timeline_stats(timeline)->depth_max,
              "has rolled back farther than its ring", client);
}

void storm_watch_end(struct storm_match *match) {
    storm_counts_end(match);
    storm_told_end(match);
    storm_slots_end(match);
    storm_talk_end(match);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(hc_sim_host(match->sim));
    bool redundancy = false, hostile = storm_match_get(match, STORM_hostile) > 0;
    bool rebound = false; // a cookie is then for another address
    for (unsigned i = 0; i < match->clients; i++) {
        redundancy |= storm_client_get(match, i, STORM_C_redundancy) != 0;
        rebound |= storm_client_get(match, i, STORM_C_rebind_ticks) != 0;
    }
    hostile = hostile && !match->options->tame;
    if (!redundancy && !hostile && stats->inputs_lost > 0)
        storm_fail(match->verdict, STORM_WRONG, "lost", 0,
                   "%lu inputs were delivered in time, but had been forced",
                   (unsigned long)stats->inputs_lost);
    for (unsigned s = 0; s < HC_STATUS_COUNT && !hostile && !rebound; s++)
        if ((s == HC_MALFORMED || s == HC_TRUNCATED || s == HC_INVALID) && stats->rejected[s] > 0)
            storm_fail(match->verdict, STORM_WRONG, "wire", 0,
                       "the server refuses %lu honest datagrams: %s",
                       (unsigned long)stats->rejected[s], hc_status_text((enum hc_status)s));
    if (match->host_bytes > 0 && match->host_bytes != stats->memory_bytes)
        storm_fail(match->verdict, STORM_WRONG, "memory", 0,
                   "the server has obtained %zu bytes and says %zu", match->host_bytes,
                   stats->memory_bytes);
    match->outcome->rewinds = stats->rewind_depth.count;
    match->outcome->resimulated = match->host_resimulated;
}
