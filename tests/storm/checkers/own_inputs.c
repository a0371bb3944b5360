/// Checks that a client sends each of its inputs, always the same one, and uses it itself; and that
/// it gives up an input exactly when the server does without it.
#include "client/client.h"
#include "server/inputs.h"
#include "tests/storm/checkers/checker.h"
#include "tests/storm/checkers/truth.h"

#include <string.h>

enum {
    ONE_IN = 4,  ///< matches in which all slots are looked at
    RANGES = 32, ///< of forced inputs that a server remembers at least
};

/// How late inputs may be that the server still waits for.
static uint32_t late_limit_of(const struct storm_match *match, const struct storm_conn *conn) {
    struct hc_server *host = hc_sim_host(match->sim);
    const struct hc_sv_peer *peer = hc_sv_clients_of_cid(&host->clients, conn->cid);
    return peer == NULL ? (uint32_t)storm_match_get(match, STORM_history)
                        : hc_sv_inputs_late_limit(host, peer);
}

/// The server has all inputs of the client before this tick; some are of its former connection.
static hc_tick known_before(const struct storm_match *match, const struct storm_conn *conn) {
    hc_tick known = HC_NO_TICK;
    for (unsigned own = 0; own < conn->player_count; own++)
        known = hc_tick_min(
            known, hc_timeline_inputs_through(storm_match_timeline(match), conn->players[own]) + 1);
    return known;
}

/// The input is the one that it sent before, and the one that it predicts itself with.
static void check_input(struct storm_match *match, struct storm_conn *conn, unsigned own,
                        hc_tick tick, const uint8_t *input) {
    const struct hc_timeline *used = hc_client_timeline(hc_sim_client(match->sim, conn->seat));
    hc_player player = conn->players[own];
    enum hc_slot slot = hc_timeline_slot(used, player, tick);
    if (!storm_conn_add_input(&match->conns, conn, own, tick, input))
        storm_wrong(match, "own-inputs", tick, conn->seat, "sends another input than before");
    if (tick <= hc_timeline_oldest(used) || slot == HC_SLOT_RETRACTED)
        return;
    if (slot != HC_SLOT_KNOWN ||
        memcmp(input, hc_timeline_input(used, player, tick), match->conns.game->input_size) != 0)
        storm_wrong(match, "own-inputs", tick, conn->seat, "sends another input than it uses");
}

static void client_sent(struct storm_match *match, void *state, unsigned client,
                        const struct storm_datagram *datagram) {
    struct storm_conn *conn = datagram->conn;
    struct hc_body *body = &match->conns.body;
    struct hc_input_message message;
    struct hc_input_run run;
    (void)state;
    if (conn == NULL || !conn->honest || conn->player_count == 0 ||
        datagram->type != HC_MESSAGE_INPUT)
        return;
    if (hc_body_begin(body, datagram->data.body, datagram->data.body_size) != HC_OK ||
        hc_body_next(body) != HC_MESSAGE_INPUT ||
        hc_message_get_input(body, match->conns.game, conn->player_count, &message, &run) !=
            HC_OK) {
        storm_wrong(match, "wire", 0, client, "sends a malformed INPUT");
        return;
    }
    if (message.count == 0)
        return;
    hc_tick refused = hc_tick_back(storm_match_head(match), late_limit_of(match, conn));
    if (message.first < conn->begun)
        storm_wrong(match, "own-inputs", message.first, client,
                    "sends inputs of ticks before its connection");
    if (conn->first == conn->end)
        conn->first = conn->end = message.first;
    // An input that the server would refuse, or has, may be left out.
    if (message.first > hc_tick_max(hc_tick_max(conn->end, refused), known_before(match, conn)))
        storm_wrong(match, "own-inputs", conn->end, client, "has left out an input");
    for (uint32_t i = 0; i < message.count; i++)
        for (unsigned own = 0; own < conn->player_count; own++)
            check_input(match, conn, own, message.first + i, hc_input_run_next(&run));
    conn->end = hc_tick_max(conn->end, message.first + message.count);
}

/// The client gives up the inputs that the server has forced.
static void client_received(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    enum hc_client_state now = hc_client_state(core);
    const struct storm_conn *conn = datagram->conn;
    (void)state;
    if (match->seats[client].hostile || status != HC_OK || conn == NULL || !conn->connected ||
        datagram->type != HC_MESSAGE_SNAPSHOT ||
        (now != HC_CLIENT_PLAYING && now != HC_CLIENT_STALLED))
        return;
    const struct hc_timeline *own = hc_client_timeline(core);
    const struct hc_timeline *server = storm_match_timeline(match);
    const struct hc_cl_received *received = hc_cl_snapshot_reader_newest(core->world->reader);
    for (uint32_t i = 0; i < received->forced_count; i++) {
        const struct hc_snapshot_forced *forced = &received->forced[i];
        hc_player player = conn->players[forced->own];
        if (forced->first < conn->begun)
            storm_wrong(match, "forced", forced->first, client,
                        "is sent forced inputs from before its connection");
        for (hc_tick t = forced->first; t < forced->first + forced->count; t++) {
            if (hc_timeline_slot(own, player, t) == HC_SLOT_KNOWN)
                storm_wrong(match, "forced", t, client, "keeps an input that was forced");
            if (hc_timeline_slot(server, player, t) == HC_SLOT_KNOWN)
                storm_wrong(match, "forced", t, client, "is sent as forced an input that is known");
        }
    }
}

/// The ranges of the client's inputs that the server has forced since the connection began.
static unsigned forced_ranges(const struct storm_match *match, const struct storm_conn *conn) {
    unsigned count = 0;
    for (unsigned own = 0; own < conn->player_count; own++) {
        bool before = false;
        for (hc_tick t = conn->begun; t < storm_truth_final(match->truth); t++) {
            bool forced = storm_truth_slot(match->truth, conn->players[own], t) == HC_SLOT_FORCED;
            count += forced && !before;
            before = forced;
        }
    }
    return count;
}

/// A client has given up all own inputs that are finally forced when it receives a snapshot with a
/// later final tick, unless they are more ranges than a server must remember.
static void client_changed(struct storm_match *match, void *state, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct storm_seat *seat = &match->seats[client];
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, seat->cid);
    const struct hc_timeline *own = hc_client_timeline(core);
    hc_tick tick, as_of, final;
    (void)state;
    if (seat->hostile || own == NULL || conn == NULL || match->plan->seed % ONE_IN != 3 ||
        !hc_client_snapshot(core, &tick, &as_of) || as_of == seat->seen_as_of ||
        !hc_client_final(core, &final, NULL))
        return;
    final = hc_tick_min(final, storm_truth_final(match->truth));
    for (unsigned p = 0; p < conn->player_count; p++)
        for (hc_tick t = hc_timeline_oldest(own); t < final; t++)
            if (storm_truth_slot(match->truth, conn->players[p], t) == HC_SLOT_FORCED &&
                hc_timeline_slot(own, conn->players[p], t) == HC_SLOT_KNOWN &&
                forced_ranges(match, conn) < RANGES) {
                storm_wrong(match, "forced", t, client, "does not know that its input was forced");
                return;
            }
}

/// No input is forced that arrives in time.
static void end(struct storm_match *match, void *state) {
    const struct hc_server_stats *stats = hc_server_stats(hc_sim_host(match->sim));
    bool redundancy = false;
    (void)state;
    for (unsigned i = 0; i < match->clients; i++)
        redundancy |= storm_client_get(match, i, STORM_C_redundancy) != 0;
    if (!redundancy && !storm_match_attacked(match) && stats->inputs_lost > 0)
        storm_fail(match->verdict, STORM_WRONG, "lost", 0,
                   "%lu inputs were forced, and arrived in time",
                   (unsigned long)stats->inputs_lost);
}

const struct storm_checker storm_check_own_inputs = {.name = "own inputs",
                                                     .client_sent = client_sent,
                                                     .client_received = client_received,
                                                     .client_changed = client_changed,
                                                     .end = end};
