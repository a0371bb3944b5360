/// Owns the connections of a match, as both the server's events and the datagrams show them.
#include "tests/storm/connections.h"

#include <stdlib.h>
#include <string.h>

void storm_conns_init(struct storm_conns *conns, const struct hc_game *game) {
    conns->game = game;
    conns->count = 0;
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        conns->newest[i] = -1;
}

void storm_conns_free(struct storm_conns *conns) {
    for (unsigned i = 0; i < conns->count; i++) {
        struct storm_sent *sent = conns->conns[i].sent;
        for (unsigned k = 0; k < STORM_SENT; k++) {
            free(sent[k].units); // with the other digests in one block
            free(sent[k].presence);
            free(sent[k].states);
        }
        free(sent);
        free(conns->conns[i].inputs);
        free(conns->conns[i].has_input);
        free(conns->conns[i].accepted);
    }
    conns->count = 0;
}

struct storm_conn *storm_conns_find(struct storm_conns *conns, unsigned seat, uint32_t cid) {
    int newest = conns->newest[seat];
    if (newest >= 0 && conns->conns[newest].cid == cid)
        return &conns->conns[newest];
    for (unsigned i = conns->count; i-- > 0;)
        if (conns->conns[i].cid == cid && conns->conns[i].seat == seat)
            return &conns->conns[i];
    return NULL;
}

struct storm_conn *storm_conns_any(struct storm_conns *conns, uint32_t cid) {
    for (unsigned i = conns->count; i-- > 0;)
        if (conns->conns[i].cid == cid)
            return &conns->conns[i];
    return NULL;
}

unsigned storm_conns_lingering(const struct storm_conns *conns) {
    unsigned lingering = 0;
    for (unsigned i = 0; i < conns->count; i++)
        lingering += conns->conns[i].lingering;
    return lingering;
}

/// A connection ends, or begins to linger.
static void end_conn(struct storm_conn *conn, bool lingers, uint64_t now_us) {
    if (conn->connected) {
        conn->connected = false;
        conn->dropped_us = now_us;
    }
    conn->lingering = lingers;
    *(lingers ? &conn->lost_us : &conn->freed_us) = now_us;
}

struct storm_conn *storm_conns_event(struct storm_conns *conns, const struct hc_server_event *event,
                                     unsigned seat, bool honest, hc_tick head, uint64_t now_us) {
    bool resumed = event->kind == HC_SERVER_EVENT_RECONNECTED, took_over = false;
    struct storm_conn *previous = NULL;
    if (event->kind != HC_SERVER_EVENT_JOINED)
        previous = storm_conns_find(conns, seat, resumed ? event->before : event->cid);
    if (event->kind == HC_SERVER_EVENT_MOVED) {
        if (previous != NULL)
            previous->home_port = event->address.port;
        return previous;
    }
    if (previous != NULL) {
        took_over = previous->connected || previous->lingering;
        end_conn(previous, event->kind == HC_SERVER_EVENT_LOST, now_us);
    }
    if (event->kind != HC_SERVER_EVENT_JOINED && !resumed)
        return previous;
    if (conns->count == STORM_CONNS_MAX)
        return NULL;
    struct storm_conn *conn = &conns->conns[conns->count];
    conns->newest[seat] = (int)conns->count++;
    *conn = (struct storm_conn){.cid = event->cid,
                                .seat = seat,
                                .honest = honest,
                                .connected = true,
                                .previous = previous,
                                .took_over = took_over,
                                .home_port = event->address.port,
                                .client_id = event->client_id,
                                .begun = head,
                                .joined_us = now_us,
                                .received_us = now_us,
                                .sent_us = now_us,
                                .player_count = event->player_count,
                                .snapshot_head = HC_NO_TICK,
                                .sent = calloc(STORM_SENT, sizeof *conn->sent),
                                .accepted = calloc(STORM_SEQS, 1)};
    memcpy(conn->players, event->players, sizeof conn->players);
    if (honest && event->player_count > 0) {
        conn->inputs =
            calloc((size_t)STORM_TICKS_MAX * event->player_count, conns->game->input_size);
        conn->has_input = calloc(STORM_TICKS_MAX, 1);
    }
    return conn;
}

bool storm_conn_add_input(const struct storm_conns *conns, struct storm_conn *conn, unsigned own,
                          hc_tick tick, const uint8_t *input) {
    size_t size = conns->game->input_size;
    if (tick >= STORM_TICKS_MAX)
        return true;
    uint8_t *held = conn->inputs + ((size_t)tick * conn->player_count + own) * size;
    if (conn->has_input[tick])
        return memcmp(held, input, size) == 0;
    memcpy(held, input, size);
    if (own + 1 == conn->player_count)
        conn->has_input[tick] = 1;
    return true;
}

const uint8_t *storm_conn_input(const struct storm_conns *conns, const struct storm_conn *conn,
                                hc_player player, hc_tick tick) {
    for (unsigned p = 0; p < conn->player_count; p++)
        if (conn->players[p] == player && tick < STORM_TICKS_MAX && conn->has_input[tick])
            return conn->inputs + ((size_t)tick * conn->player_count + p) * conns->game->input_size;
    return NULL;
}
