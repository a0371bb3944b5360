#include "tests/storm/conns.h"

#include "proto/datagram.h"
#include "proto/message.h"

#include <stdlib.h>
#include <string.h>

void storm_conns_init(struct storm_conns *conns, const struct hc_game *game,
                      struct storm_verdict *verdict) {
    conns->game = game;
    conns->verdict = verdict;
    conns->count = 0;
    for (unsigned i = 0; i < STORM_CLIENTS_MAX; i++)
        conns->newest[i] = -1;
}

void storm_conns_free(struct storm_conns *conns) {
    for (unsigned i = 0; i < conns->count; i++) {
        struct storm_sent *sent = conns->conns[i].sent;
        for (unsigned k = 0; k < STORM_SENT; k++) {
            free(sent[k].units); // with the others in one block
            free(sent[k].presence);
            free(sent[k].states);
        }
        free(sent);
        free(conns->conns[i].stamps);
        free(conns->conns[i].stamped);
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

struct storm_conn *storm_conns_named(struct storm_conns *conns, uint32_t cid) {
    for (unsigned i = conns->count; i-- > 0;)
        if (conns->conns[i].cid == cid)
            return &conns->conns[i];
    return NULL;
}

unsigned storm_conns_kept(const struct storm_conns *conns) {
    unsigned kept = 0;
    for (unsigned i = 0; i < conns->count; i++)
        kept += conns->conns[i].kept;
    return kept;
}

struct storm_conn *storm_conns_event(struct storm_conns *conns, const struct hc_sv_event *event,
                                     unsigned seat, bool honest, hc_tick head, uint64_t now_us) {
    bool resumed = event->kind == HC_SV_EVENT_RESUMED;
    struct storm_conn *before = NULL;
    bool took = false;
    if (event->kind != HC_SV_EVENT_JOINED) {
        before = storm_conns_find(conns, seat, resumed ? event->before : event->cid);
        if (event->kind == HC_SV_EVENT_MOVED)
            return before;
        took = before != NULL && (before->there || before->kept);
        if (before != NULL && before->there) {
            before->there = false;
            before->dropped_us = now_us;
        }
        if (before != NULL) {
            before->kept = event->kind == HC_SV_EVENT_LOST;
            *(before->kept ? &before->lost_us : &before->freed_us) = now_us;
        }
        if (!resumed)
            return before;
    }
    if (conns->count == STORM_CONNS_MAX)
        return NULL;
    struct storm_conn *conn = &conns->conns[conns->count];
    conns->newest[seat] = (int)conns->count++;
    *conn = (struct storm_conn){.cid = event->cid,
                                .seat = seat,
                                .honest = honest,
                                .there = true,
                                .before = before,
                                .took = took,
                                .client_id = event->client_id,
                                .begun = head,
                                .joined_us = now_us,
                                .received_us = now_us,
                                .sent_us = now_us,
                                .late_limit = HC_HISTORY_MAX,
                                .late_limit_before = HC_HISTORY_MAX,
                                .player_count = event->player_count,
                                .snapshot_head = HC_NO_TICK,
                                .sent = calloc(STORM_SENT, sizeof *conn->sent)};
    memcpy(conn->players, event->players, sizeof conn->players);
    if (honest && event->player_count > 0) {
        conn->stamps =
            calloc((size_t)STORM_TICKS_MAX * event->player_count, conns->game->input_size);
        conn->stamped = calloc(STORM_TICKS_MAX, 1);
    }
    return conn;
}

/// Remembers the stamps of one message.
static void note(struct storm_conns *conns, struct storm_conn *conn,
                 const struct hc_input_message *message, struct hc_input_run *run) {
    size_t size = conns->game->input_size;
    for (uint32_t i = 0; i < message->count; i++) {
        hc_tick tick = message->first + i;
        for (unsigned p = 0; p < conn->player_count; p++) {
            const uint8_t *input = hc_input_run_next(run);
            if (tick >= STORM_TICKS_MAX)
                continue;
            uint8_t *kept = conn->stamps + ((size_t)tick * conn->player_count + p) * size;
            if (!conn->stamped[tick])
                memcpy(kept, input, size);
            else if (memcmp(kept, input, size) != 0)
                storm_fail(conns->verdict, STORM_WRONG, "stamps", tick,
                           "client %u has rewritten its stamp of tick %u", conn->seat, tick);
        }
        if (tick < STORM_TICKS_MAX)
            conn->stamped[tick] = 1;
    }
}

void storm_conns_sent(struct storm_conns *conns, unsigned seat, hc_tick late_limit, uint64_t now_us,
                      const uint8_t *bytes, size_t size) {
    struct hc_data data;
    struct hc_input_message message;
    struct hc_input_run run;
    if (hc_datagram_kind(bytes, size) != HC_DATAGRAM_DATA ||
        hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    struct storm_conn *conn = storm_conns_find(conns, seat, data.cid);
    if (conn != NULL)
        conn->sent_us = now_us;
    if (conn == NULL || !conn->honest || conn->player_count == 0)
        return;
    if (hc_body_begin(&conns->body, data.body, data.body_size) != HC_OK ||
        hc_body_next(&conns->body) != HC_MESSAGE_INPUT)
        return;
    if (hc_message_get_input(&conns->body, conns->game, conn->player_count, &message, &run) !=
        HC_OK) {
        storm_fail(conns->verdict, STORM_WRONG, "wire", 0, "client %u sends a malformed INPUT",
                   seat);
        return;
    }
    if (message.count == 0)
        return;
    if (message.first < conn->begun)
        storm_fail(conns->verdict, STORM_WRONG, "stamps", message.first,
                   "client %u sends stamps of ticks before %u, at which it came", seat,
                   conn->begun);
    if (conn->first == conn->end)
        conn->first = conn->end = message.first;
    if (message.first > hc_tick_max(conn->end, late_limit))
        storm_fail(conns->verdict, STORM_WRONG, "stamps", conn->end,
                   "client %u has never sent its stamps of ticks %u to %u", seat, conn->end,
                   message.first - 1);
    // Nearly always only the newest stamp is news.
    note(conns, conn, &message, &run);
    conn->end = hc_tick_max(conn->end, message.first + message.count);
}

const uint8_t *storm_conn_stamp(const struct storm_conns *conns, const struct storm_conn *conn,
                                hc_player player, hc_tick tick) {
    for (unsigned p = 0; p < conn->player_count; p++)
        if (conn->players[p] == player && tick < STORM_TICKS_MAX && conn->stamped[tick])
            return conn->stamps + ((size_t)tick * conn->player_count + p) * conns->game->input_size;
    return NULL;
}
