#include "tests/storm/arrivals.h"

#include "tests/storm/inside.h"

#include <stdlib.h>

enum {
    SAID = 512, ///< DATA of a client that are remembered
    PORT_FIRST = 1024,
};
_Static_assert((int)STORM_ARRIVED_MAX == (int)STORM_CONNS_MAX, "each connection has its own");

struct said {
    uint32_t seq;
    hc_tick end; ///< nothing before it is to come any more
};

/// What came of one connection.
struct storm_arrived {
    uint32_t newest; ///< 0: nothing
    uint8_t taken[STORM_SEQS];
    struct said said[SAID];
};

void storm_arrivals_free(struct storm_arrivals *arrivals) {
    for (unsigned i = 0; i < STORM_ARRIVED_MAX; i++)
        free(arrivals->of[i]);
}

static struct storm_arrived *arrived_of(struct storm_match *match, const struct storm_conn *conn) {
    struct storm_arrived **of = &match->arrivals.of[conn - match->conns.conns];
    if (*of == NULL && (*of = calloc(1, sizeof **of)) == NULL)
        abort();
    return *of;
}

bool storm_arrivals_any(const struct storm_match *match, const struct storm_conn *conn) {
    const struct storm_arrived *arrived = match->arrivals.of[conn - match->conns.conns];
    return arrived != NULL && arrived->newest > 0;
}

static struct said said_of(uint32_t seq, const struct hc_input_message *message) {
    bool all = message->first == message->force_before;
    return (struct said){.seq = seq, .end = message->force_before + (all ? message->count : 0)};
}

void storm_arrivals_said(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                         const struct hc_input_message *message) {
    arrived_of(match, conn)->said[seq % SAID] = said_of(seq, message);
}

static void wrong(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                  const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "arrival", 0,
               "the server %s: client %u, connection %08x, number %u", text, conn->seat, conn->cid,
               seq);
}

/// The slots that a datagram has given up or filled are closed or known when it has been taken, as
/// far as the window goes.
static void check_done(struct storm_match *match, const struct storm_conn *conn,
                       const struct said *said) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(timeline);
    hc_tick end = hc_tick_min(said->end, head + (uint32_t)storm_match_get(match, STORM_future) + 1);
    for (unsigned i = 0; i < conn->player_count; i++)
        if (hc_timeline_inputs_through(timeline, conn->players[i]) + 1 < end)
            storm_fail(match->verdict, STORM_WRONG, "closed-at-once",
                       hc_timeline_inputs_through(timeline, conn->players[i]) + 1,
                       "client %u has filled or given up everything before %u, and the server "
                       "still waits",
                       conn->seat, said->end);
}

static void take(struct storm_match *match, const struct storm_conn *conn,
                 struct storm_arrived *arrived, uint32_t seq) {
    const struct said *said = &arrived->said[seq % SAID];
    if (arrived->taken[seq] != 0)
        wrong(match, conn, seq, "takes a datagram twice");
    if (seq < arrived->newest && arrived->newest - seq >= HC_REPLAY_WINDOW)
        wrong(match, conn, seq, "takes a datagram that is too old to be judged");
    arrived->taken[seq] = 1;
    if (seq > arrived->newest)
        arrived->newest = seq;
    // Once it has been sent a snapshot all of its players have joined.
    if (conn->there && conn->snapshot_head != HC_NO_TICK && said->seq == seq)
        check_done(match, conn, said);
}

/// What the server makes of a DATA of an honest connection.
static void judge(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                  bool closes, enum hc_status status) {
    struct storm_arrived *arrived = arrived_of(match, conn);
    if (status == HC_OK && !conn->there && !closes)
        wrong(match, conn, seq, "takes a datagram of a connection that has ended");
    if (status == HC_OK)
        take(match, conn, arrived, seq);
    else if (!conn->there)
        return;
    else if (status == HC_DUPLICATE && arrived->taken[seq] != 0)
        return;
    else if (status != HC_TOO_OLD || arrived->newest < seq ||
             arrived->newest - seq < HC_REPLAY_WINDOW)
        wrong(match, conn, seq, hc_status_text(status));
}

/// An attacker's DATA has been taken: what it gives up is closed as well. (Honest clients hardly
/// ever give up what the window has not closed.)
static void judge_hostile(struct storm_match *match, const struct storm_conn *conn,
                          const struct hc_data *data) {
    struct hc_body *body = &match->conns.body;
    struct hc_input_message message;
    struct hc_input_run run;
    if (!conn->there || conn->snapshot_head == HC_NO_TICK ||
        hc_body_begin(body, data->body, data->body_size) != HC_OK ||
        hc_body_next(body) != HC_MESSAGE_INPUT ||
        hc_message_get_input(body, match->conns.game, conn->player_count, &message, &run) != HC_OK)
        return;
    struct said said = said_of(data->seq, &message);
    check_done(match, conn, &said);
}

void storm_arrivals_received(struct storm_match *match, uint16_t port, const uint8_t *bytes,
                             size_t size, enum hc_status status) {
    struct storm_arrivals *arrivals = &match->arrivals;
    struct hc_data data;
    arrivals->count++;
    arrivals->bytes += size;
    arrivals->rejected[status] += status != HC_OK;
    (void)port; // whoever sends a copy, from wherever: it counts
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA ||
        hc_datagram_get_data(bytes, size, &data) != HC_OK || data.seq >= STORM_SEQS)
        return;
    struct storm_conn *conn = storm_conns_named(&match->conns, data.cid);
    if (conn != NULL && status == HC_OK) {
        conn->heard = true;
        conn->received_us = hc_sim_now(match->sim);
        storm_rtt_take(&conn->in, data.seq, hc_sim_host_now(match->sim));
    }
    if (conn != NULL && conn->honest)
        judge(match, conn, data.seq, storm_counts_type(bytes, size) == HC_MESSAGE_CLOSE, status);
    else if (conn != NULL && status == HC_OK)
        judge_hostile(match, conn, &data);
}

void storm_arrivals_shown(struct storm_match *match, const struct storm_conn *conn, hc_tick tick) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    uint32_t history = (uint32_t)storm_match_get(match, STORM_history);
    hc_tick head = hc_timeline_head(timeline), oldest = hc_tick_back(head, history);
    // Its join has left the window already where so many ticks came before there was a snapshot for
    // it, or room for one.
    bool certain = conn->begun >= oldest;
    hc_tick first = HC_NO_TICK;
    if (conn->before != NULL)
        return;
    for (unsigned i = 0; i < conn->player_count; i++) {
        hc_tick t = head;
        while (t > oldest && hc_timeline_roster(timeline, conn->players[i], t) == HC_ROSTER_NONE)
            t--;
        enum hc_roster roster_change = hc_timeline_roster(timeline, conn->players[i], t);
        if (roster_change == HC_ROSTER_LEAVE || (roster_change == HC_ROSTER_NONE && certain))
            storm_fail(match->verdict, STORM_WRONG, "first-snapshot", tick,
                       "client %u is shown tick %u, and its player %u has not joined", conn->seat,
                       tick, conn->players[i]);
        first = hc_tick_min(first, roster_change == HC_ROSTER_JOIN ? t : 0);
    }
    if (conn->player_count > 0 && tick <= first && first > 0)
        storm_fail(match->verdict, STORM_WRONG, "first-snapshot", tick,
                   "client %u is shown tick %u, and joins at %u", conn->seat, tick, first);
}

bool storm_arrivals_taken(struct storm_match *match, uint32_t cid, uint32_t seq) {
    const struct storm_conn *conn = storm_conns_named(&match->conns, cid);
    return conn != NULL && seq < STORM_SEQS && arrived_of(match, conn)->taken[seq] != 0;
}
