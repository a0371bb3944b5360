/// Owns the hooks of the simulation: they follow connections and snapshots, and call the checkers.
#include "client/client.h"
#include "hindcast/rng.h"
#include "proto/datagram.h"
#include "server/state.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONG_ARRAY = 0xdc, ///< begins an array of more than 15 elements, with their number in two bytes
    /// A snapshot may have left out a unit or inputs if it has less room than ROOM_UNIT bytes and
    /// ROOM_PLAYER bytes for each player. At least ROOM_PLAYERS_LEAST players count.
    ROOM_UNIT = 200,
    ROOM_PLAYER = 8,
    ROOM_PLAYERS_LEAST = 13,
};

/// Calls a hook of all checkers as long as nothing is wrong.
#define EACH(match, hook, ...)                                                                     \
    for (unsigned i_ = 0; i_ < (match)->checkers && (match)->verdict->result == STORM_FINE; i_++)  \
        if (storm_checkers[i_]->hook != NULL)                                                      \
    storm_checkers[i_]->hook(__VA_ARGS__)
#define STATE match->states[i_]

void storm_observe_begin(struct storm_match *match) {
    _Static_assert((int)STORM_CHECKERS <= (int)STORM_CHECKERS_MAX, "each has a state");
    match->checkers = STORM_CHECKERS;
    for (unsigned i = 0; i < STORM_CHECKERS; i++)
        if (storm_checkers[i]->state_size > 0 &&
            (match->states[i] = calloc(1, storm_checkers[i]->state_size)) == NULL)
            abort();
}

/// The type of a DATA's first message, after the header of the body's array.
static enum hc_message_type type_of(const uint8_t *bytes, size_t size) {
    size_t at = HC_DATA_BODY_AT + (bytes[HC_DATA_BODY_AT] == LONG_ARRAY ? 3 : 1);
    return size > HC_DATA_BODY_AT + HC_TAG_SIZE && size > at + HC_TAG_SIZE
               ? (enum hc_message_type)bytes[at]
               : HC_MESSAGE_END;
}

static struct storm_datagram read_datagram(const uint8_t *bytes, size_t size) {
    struct storm_datagram datagram = {.bytes = bytes,
                                      .size = size,
                                      .kind = hc_datagram_kind(bytes, size),
                                      .type = HC_MESSAGE_END};
    datagram.is_data = datagram.kind == HC_DATAGRAM_DATA &&
                       hc_datagram_get_data(bytes, size, &datagram.data) == HC_OK;
    if (datagram.is_data)
        datagram.type = type_of(bytes, size);
    return datagram;
}

/// The same, of the client's connection.
static struct storm_datagram read_of(struct storm_match *match, unsigned client,
                                     const uint8_t *bytes, size_t size) {
    struct storm_datagram datagram = read_datagram(bytes, size);
    if (datagram.is_data)
        datagram.conn = storm_conns_find(&match->conns, client, datagram.data.cid);
    return datagram;
}

// ---- The server ---------------------------------------------------------------------------------

static void host_advances(void *context, struct hc_sim *sim) {
    struct storm_match *match = context;
    (void)sim;
    EACH(match, host_advances, match, STATE);
}

static void host_works(void *context, struct hc_sim *sim, enum hc_sim_work work, bool begins) {
    struct storm_match *match = context;
    (void)sim;
    if (work == HC_SIM_WORK_RECEIVE && begins)
        EACH(match, host_receives, match, STATE);
}

static void host_ticked(void *context, struct hc_sim *sim) {
    struct storm_match *match = context;
    const struct hc_server *host = hc_sim_host(sim);
    STORM_NOTE(match, "the server ticks, final %u, rewound %u", hc_sv_host_final(host, NULL),
               hc_timeline_stats(hc_server_timeline(host))->depth);
    EACH(match, host_ticked, match, STATE);
}

/// Counts joins of honest clients and the places that they are given, for the comparison with the
/// match without attacks.
static void count_join(struct storm_match *match, const struct hc_server_event *event,
                       unsigned seat) {
    struct storm_outcome *outcome = match->outcome;
    hc_player first = event->player_count > 0 ? event->players[0] : HC_NO_PLAYER;
    uint32_t given = event->player_count;
    for (unsigned i = 0; i < event->player_count; i++)
        given |= (uint32_t)storm_truth_leaves(match->truth, event->players[i]) << (8 + i);
    outcome->joins++;
    outcome->places = hc_random(outcome->places, seat, first, given);
}

static void host_event(void *context, struct hc_sim *sim, const struct hc_server_event *event) {
    static const char *const kinds[] = {
        "joins", "leaves", "times out", "is lost", "is connected again", "has moved"};
    struct storm_match *match = context;
    if (event->kind == HC_SERVER_EVENT_ROUND_ENDED)
        return;
    if (event->address.port < STORM_PORT_FIRST) {
        storm_fail(match->verdict, STORM_WRONG, "events", 0, "a stranger %s", kinds[event->kind]);
        return;
    }
    unsigned seat = (event->address.port - STORM_PORT_FIRST) % match->clients;
    STORM_NOTE(match, "client %u %s at the server, cid %08x, %u players from %u on", seat,
               kinds[event->kind], event->cid, event->player_count, event->players[0]);
    struct storm_conn *conn =
        storm_conns_event(&match->conns, event, seat, !match->seats[seat].hostile,
                          storm_match_head(match), hc_sim_now(sim));
    if (event->kind == HC_SERVER_EVENT_JOINED && !match->seats[seat].hostile)
        count_join(match, event, seat);
    EACH(match, host_event, match, STATE, event, conn);
    if (event->kind == HC_SERVER_EVENT_JOINED)
        storm_attackers_joined(match, event->address.port);
}

static void keep_world(struct storm_match *match, struct storm_sent *sent) {
    const struct hc_timeline *timeline = storm_match_timeline(match);
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

/// Whether the room that a snapshot has left is small enough that units were left out; or inputs of
/// the `ticks` up to the head.
static void look_at_room(const struct storm_match *match, const struct storm_conn *conn,
                         size_t size, uint32_t ticks, struct storm_sent *sent) {
    const struct hc_sv_peer *peer =
        hc_sv_clients_of_cid(&hc_sim_host(match->sim)->clients, conn->cid);
    int64_t players = storm_truth_world(match->truth)->players;
    int64_t margin =
        (players > ROOM_PLAYERS_LEAST ? players : ROOM_PLAYERS_LEAST) * ROOM_PLAYER + ROOM_UNIT;
    int64_t left = (int64_t)HC_DATAGRAM_MAX - (int64_t)size;
    int64_t far = ticks > ROOM_PLAYER ? (int64_t)ticks - ROOM_PLAYER : 0;
    if (peer == NULL || peer->replication.bandwidth.saved / 1000000 < left)
        left = peer == NULL ? 0 : peer->replication.bandwidth.saved / 1000000;
    int64_t body = (int64_t)size - (HC_DATAGRAM_MAX - HC_DATA_BODY_MAX);
    if (peer != NULL && peer->connection.room - body < left)
        left = peer->connection.room - body;
    sent->full = left < margin;
    sent->cut = left < margin + far * players;
}

/// Remembers the values that a snapshot must have. Its tick is the newest one before which all of
/// the client's own inputs are known or forced.
static void remember_snapshot(struct storm_match *match, struct storm_conn *conn, size_t size) {
    const struct hc_timeline *timeline = storm_match_timeline(match);
    hc_tick head = hc_timeline_head(timeline), tick = head;
    for (unsigned i = 0; i < conn->player_count; i++)
        tick = hc_tick_min(tick, hc_timeline_inputs_through(timeline, conn->players[i]) + 1);
    if (conn->snapshot_head == head)
        storm_wrong(match, "one-snapshot", head, conn->seat, "is sent two snapshots in one tick");
    conn->snapshot_head = head;
    struct storm_sent *sent = &conn->sent[head % STORM_SENT];
    sent->as_of = head;
    sent->tick = tick;
    look_at_room(match, conn, size, head - tick + 1, sent);
    if (sent->full)
        conn->full_head = head;
    storm_units_sent(match, conn, sent, tick);
    if (match->options->deep)
        keep_world(match, sent);
}

/// Whether an empty DATA answers a CLOSE that came from its address; each CLOSE has one answer.
static bool answers_close(struct storm_conn *conn, const struct storm_datagram *datagram,
                          uint16_t port) {
    for (unsigned i = 0; datagram->type == HC_MESSAGE_END && i < STORM_CLOSES; i++)
        if (conn->close_ports[i] == port) {
            conn->close_ports[i] = 0;
            return true;
        }
    return false;
}

/// Whether the datagram goes to an address that is not validated, as well as to the one that is.
static bool is_copy(const struct storm_match *match, const struct storm_datagram *datagram) {
    uint16_t port = hc_sim_port(match->sim);
    return datagram->conn != NULL && !answers_close(datagram->conn, datagram, port) &&
           datagram->type != HC_MESSAGE_PATH_CHALLENGE && port != datagram->conn->home_port;
}

/// The server answers a CLOSE of the connection that it accepts from a port.
static void note_close(struct storm_conn *conn, uint16_t port) {
    conn->close_ports[conn->closes++ % STORM_CLOSES] = port;
}

/// Until the server received a client's first DATA its address is where its ACCEPT goes.
static void follow_accept(struct storm_match *match, const uint8_t *bytes, size_t size) {
    struct hc_accept accept;
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    struct storm_conn *conn = storm_conns_any(&match->conns, accept.cid);
    if (conn != NULL && conn->home_port != 0 && !conn->received)
        conn->home_port = hc_sim_port(match->sim);
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    struct storm_match *match = context;
    (void)sim;
    follow_accept(match, bytes, size);
    match->outcome->datagrams++;
    struct storm_datagram datagram = read_of(match, client, bytes, size);
    if (datagram.is_data && datagram.conn == NULL) // an attacker's address
        datagram.conn = storm_conns_any(&match->conns, datagram.data.cid);
    bool copy = is_copy(match, &datagram), shows = datagram.type == HC_MESSAGE_SNAPSHOT;
    STORM_NOTE(match, "server > %u: kind %02x, message %u, %zu bytes", client, bytes[0],
               datagram.type, size);
    if (!copy && datagram.kind != HC_DATAGRAM_DATA)
        storm_attackers_answered(match, client, bytes, size);
    if (!copy && shows) {
        match->outcome->snapshots++;
        if (datagram.conn != NULL)
            remember_snapshot(match, datagram.conn, size);
        else if (match->conns.count < STORM_CONNS_MAX)
            storm_wrong(match, "events", 0, client, "is sent a snapshot, but never joined");
    }
    EACH(match, host_sent, match, STATE, client, &datagram, copy);
}

static void host_received(void *context, struct hc_sim *sim, unsigned client, uint16_t port,
                          const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    (void)client;
    struct storm_datagram datagram = read_datagram(bytes, size);
    if (datagram.is_data) // a copy counts wherever it comes from
        datagram.conn = storm_conns_any(&match->conns, datagram.data.cid);
    EACH(match, host_received, match, STATE, port, &datagram, status);
    struct storm_conn *conn = datagram.conn;
    if (conn == NULL || status != HC_OK || datagram.data.seq >= STORM_SEQS)
        return;
    conn->received = true;
    conn->received_us = hc_sim_now(sim);
    conn->accepted[datagram.data.seq] |= conn->honest;
    if (datagram.type == HC_MESSAGE_CLOSE)
        note_close(conn, port);
}

// ---- The clients --------------------------------------------------------------------------------

static bool tamper(void *context, struct hc_sim *sim, unsigned client, uint8_t *bytes,
                   size_t size) {
    struct storm_match *match = context;
    EACH(match, client_sends, match, STATE, client, size);
    if (storm_match_get(match, STORM_hostile) > 0)
        storm_attackers_tape(match, client, bytes, size, hc_sim_sealed(sim));
    if (!match->seats[client].hostile || match->options->tame || match->healed)
        return true;
    return storm_attackers_tamper(match, client, bytes, size);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct storm_match *match = context;
    match->outcome->datagrams++;
    STORM_NOTE(match, "%u > server: kind %02x, %zu bytes", client, bytes[0], size);
    struct storm_datagram datagram = read_of(match, client, bytes, size);
    if (datagram.conn != NULL)
        datagram.conn->sent_us = hc_sim_now(sim);
    EACH(match, client_sent, match, STATE, client, &datagram);
}

/// Forgets the values that the client held on the connection before.
static void begin_connection(struct storm_match *match, unsigned client) {
    struct storm_seat *seat = &match->seats[client];
    seat->cid = 0;
    seat->seen_as_of = HC_NO_TICK;
    memset(seat->taps, 0, sizeof seat->taps);
    storm_units_created(match, client);
}

/// Whether the client puts received values into its world.
static bool applies(const struct hc_client *core) {
    enum hc_client_state state = hc_client_state(core);
    return state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED;
}

static void client_received(void *context, struct hc_sim *sim, unsigned client,
                            const uint8_t *bytes, size_t size, enum hc_status status) {
    struct storm_match *match = context;
    struct storm_seat *seat = &match->seats[client];
    const struct hc_client *core = hc_sim_client(sim, client);
    struct storm_datagram datagram = read_of(match, client, bytes, size);
    struct hc_deny deny;
    STORM_NOTE(match, "client %u receives kind %02x, %zu bytes: %s", client, bytes[0], size,
               hc_status_text(status));
    if (status == HC_OK && datagram.is_data)
        seat->cid = datagram.data.cid;
    if (status == HC_OK && datagram.kind == HC_DATAGRAM_ACCEPT &&
        hc_client_stats(core)->reconnects > 0) {
        begin_connection(match, client);
        EACH(match, client_reconnected, match, STATE, client);
    }
    if (status == HC_OK && hc_datagram_get_deny(bytes, size, &deny) == HC_OK && deny.retry_ms > 0)
        seat->denied_us = hc_sim_now(sim);
    if (status == HC_OK && datagram.type == HC_MESSAGE_SNAPSHOT && applies(core)) {
        storm_units_taken(match, client);
        if (datagram.conn != NULL && datagram.conn->first_us == 0)
            datagram.conn->first_us = hc_sim_now(sim);
    }
    EACH(match, client_received, match, STATE, client, &datagram, status);
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct storm_match *match = context;
    hc_tick tick, as_of;
    EACH(match, client_changed, match, STATE, client);
    if (hc_client_snapshot(hc_sim_client(sim, client), &tick, &as_of))
        match->seats[client].seen_as_of = as_of;
}

/// Whether an event reports another player's join or leave. These depend on inputs of that player,
/// which may be hostile: they move it into view, and without a known one its join is sent again.
static bool is_of_others(const struct hc_client_event *event) {
    return event->kind == HC_CLIENT_EVENT_PLAYER_JOINED ||
           event->kind == HC_CLIENT_EVENT_PLAYER_LEFT ||
           event->kind == HC_CLIENT_EVENT_PLAYER_NAMED;
}

static void client_event(void *context, struct hc_sim *sim, unsigned client,
                         const struct hc_client_event *event) {
    static const char *const kinds[] = {"is accepted",
                                        "plays",
                                        "stalls",
                                        "resumes",
                                        "is denied",
                                        "is too old",
                                        "is closed",
                                        "times out",
                                        "is lost",
                                        "is connected again",
                                        "is told of a move",
                                        "computes another world",
                                        "hears of a join",
                                        "hears of a leave",
                                        "learns a name"};
    struct storm_match *match = context;
    STORM_NOTE(match, "client %u %s", client, kinds[event->kind]);
    match->seats[client].counts.events += !is_of_others(event);
    if (event->kind == HC_CLIENT_EVENT_LOST) {
        match->seats[client].lost_us = hc_sim_now(sim);
        match->seats[client].denied_us = 0;
    }
    EACH(match, client_event, match, STATE, client, event);
}

static void script(void *context, struct hc_sim *sim, unsigned client, unsigned index, hc_tick tick,
                   void *input) {
    (void)sim;
    storm_keys(context, client, index, tick, input);
}

struct hc_sim_hooks storm_observe_hooks(void) {
    return (struct hc_sim_hooks){.script = script,
                                 .host_works = host_works,
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

// ---- The match ----------------------------------------------------------------------------------

void storm_observe_created(struct storm_match *match, unsigned client) {
    match->seats[client].leaves = false;
    match->seats[client].lost_us = match->seats[client].denied_us = 0;
    begin_connection(match, client);
    EACH(match, client_created, match, STATE, client);
}

void storm_observe_leaves(struct storm_match *match, unsigned client) {
    match->seats[client].leaves =
        hc_client_state(hc_sim_client(match->sim, client)) == HC_CLIENT_LEAVING;
    EACH(match, client_leaves, match, STATE, client);
}

void storm_observe_ends(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    struct storm_client_counts *counts = &match->seats[client].counts;
    if (core == NULL)
        return;
    const struct hc_client_stats *stats = hc_client_stats(core);
    counts->stalls += stats->stalls;
    counts->stalled_ticks += stats->stalled_ticks;
    counts->inputs_sampled += stats->inputs_sampled;
    counts->inputs_forced += stats->inputs_forced;
    counts->restarts += stats->restarts;
    counts->snapshots += stats->snapshots;
    EACH(match, client_ends, match, STATE, client);
}

void storm_observe_last_part(struct storm_match *match) {
    match->last_part = true;
    EACH(match, calm, match, STATE, STORM_CALM_LAST_PART);
}

void storm_observe_calm(struct storm_match *match) {
    EACH(match, calm, match, STATE, STORM_CALM_CHECK);
    match->last_part = false;
}

void storm_observe_end(struct storm_match *match) {
    EACH(match, end, match, STATE);
    match->outcome->rewinds = hc_server_stats(hc_sim_host(match->sim))->rewind_depth.count;
    match->outcome->resimulated = hc_timeline_stats(storm_match_timeline(match))->resimulated_ticks;
}

void storm_observe_free(struct storm_match *match) {
    for (unsigned i = 0; i < STORM_CHECKERS; i++) {
        if (storm_checkers[i]->free != NULL && match->states[i] != NULL)
            storm_checkers[i]->free(match, match->states[i]);
        free(match->states[i]);
    }
}
