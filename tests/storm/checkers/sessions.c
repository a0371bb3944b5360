/// Checks the end of connections: either end takes one for lost after its timeout and no sooner,
/// players linger as long as they must, no tick waits for their inputs, and a client that
/// reconnects in time has the same players again.
#include "proto/message.h"
#include "tests/storm/checkers/checker.h"

#include <string.h>

/// A client's connection, by its own clock.
struct life {
    bool received;         ///< the client has received a datagram just now
    uint8_t received_kind; ///< kind of that datagram, if the client accepted it; else 0
    bool lost;
    uint64_t begun_us, received_us, lost_us;
    hc_player players[HC_OWN_PLAYERS_MAX]; ///< players that the client was given last
};

struct sessions {
    struct life lives[STORM_CLIENTS_MAX];
};

static uint64_t timeout_us(const struct storm_match *match) {
    return (uint64_t)storm_match_get(match, STORM_timeout_ms) * 1000;
}

static uint64_t keep_us(const struct storm_match *match) {
    return (uint64_t)storm_match_get(match, STORM_keep_ms) * 1000;
}

static uint64_t reconnect_us(const struct storm_match *match, unsigned client) {
    return (uint64_t)storm_client_get(match, client, STORM_C_reconnect_ms) * 1000;
}

static void wrong(struct storm_match *match, unsigned client, uint32_t cid, const char *text) {
    storm_fail(match->verdict, STORM_WRONG, "session", storm_match_head(match),
               "client %u, connection %08x, %s", client, cid, text);
}

// ---- The server ---------------------------------------------------------------------------------

/// Whether the server has accepted a datagram of the session.
static bool was_received(const struct storm_conn *conn) {
    for (; conn != NULL; conn = conn->previous)
        if (conn->received)
            return true;
    return false;
}

/// Whether all players of the session have joined, as it has been sent a snapshot.
static bool has_joined(const struct storm_conn *conn) {
    for (; conn != NULL; conn = conn->previous)
        if (conn->snapshot_head != HC_NO_TICK)
            return true;
    return false;
}

/// No input of a tick before the head is waited for.
static void check_forced(struct storm_match *match, const struct storm_conn *conn,
                         const char *text) {
    const struct hc_timeline *timeline = storm_match_timeline(match);
    for (unsigned i = 0; has_joined(conn) && i < conn->player_count; i++)
        if (hc_timeline_inputs_through(timeline, conn->players[i]) + 1 < hc_timeline_head(timeline))
            wrong(match, conn->seat, conn->cid, text);
}

static void check_resumed(struct storm_match *match, const struct hc_server_event *event,
                          const struct storm_conn *conn) {
    const struct storm_conn *previous = conn->previous;
    if (previous == NULL || !conn->took_over)
        wrong(match, conn->seat, conn->cid, "resumes a session that is gone");
    else if (previous->client_id != event->client_id)
        wrong(match, conn->seat, conn->cid, "resumes another client's session");
    else if (previous->player_count != conn->player_count ||
             memcmp(previous->players, conn->players,
                    conn->player_count * sizeof conn->players[0]) != 0)
        wrong(match, conn->seat, conn->cid, "resumes a session with other players");
    check_forced(match, conn, "resumes a session, and inputs from before are waited for");
}

static void check_joined(struct storm_match *match, const struct hc_server_event *event,
                         const struct storm_conn *conn) {
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *other = &match->conns.conns[i];
        if (other != conn && (other->connected || other->lingering) &&
            other->client_id == event->client_id)
            wrong(match, conn->seat, conn->cid, "joins, and has players already");
    }
}

static void host_event(struct storm_match *match, void *state, const struct hc_server_event *event,
                       struct storm_conn *conn) {
    uint64_t now_us = hc_sim_now(match->sim);
    (void)state;
    if (conn == NULL)
        return;
    bool silent = now_us - conn->received_us >= timeout_us(match);
    bool was_lost = conn->lost_us != 0 && event->kind != HC_SERVER_EVENT_LOST;
    if (event->kind == HC_SERVER_EVENT_RECONNECTED)
        check_resumed(match, event, conn);
    else if (event->kind == HC_SERVER_EVENT_JOINED)
        check_joined(match, event, conn);
    else if (event->kind == HC_SERVER_EVENT_LOST && (!silent || keep_us(match) == 0))
        wrong(match, conn->seat, conn->cid, "is lost without need");
    else if (event->kind == HC_SERVER_EVENT_LOST && !was_received(conn))
        wrong(match, conn->seat, conn->cid, "lingers, and never sent anything");
    else if (event->kind == HC_SERVER_EVENT_TIMEOUT && was_lost &&
             now_us - conn->lost_us < keep_us(match))
        wrong(match, conn->seat, conn->cid, "lingers for less than it must");
    else if (event->kind == HC_SERVER_EVENT_TIMEOUT && !was_lost && !silent)
        wrong(match, conn->seat, conn->cid, "times out too soon");
    else if (event->kind == HC_SERVER_EVENT_TIMEOUT && !was_lost && keep_us(match) > 0 &&
             was_received(conn))
        wrong(match, conn->seat, conn->cid, "times out, and should linger");
}

static void host_ticked(struct storm_match *match, void *state) {
    uint64_t now_us = hc_sim_now(match->sim);
    (void)state;
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        if (conn->connected && now_us - conn->received_us >= timeout_us(match))
            wrong(match, conn->seat, conn->cid, "is silent, and counts as connected");
        if (!conn->lingering)
            continue;
        if (now_us - conn->lost_us >= keep_us(match))
            wrong(match, conn->seat, conn->cid, "lingers for too long");
        check_forced(match, conn, "lingers, and its inputs are waited for");
    }
}

/// A RESET carries the token that its connection's WELCOME had.
static void check_reset(struct storm_match *match, unsigned client, const struct hc_reset *reset) {
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, reset->cid);
    if (conn != NULL && conn->welcomed && conn->welcome_port == hc_sim_port(match->sim) &&
        memcmp(conn->reset_token, reset->token, HC_RESET_TOKEN_SIZE) != 0)
        wrong(match, client, reset->cid, "is reset by another token than it was given");
}

static void host_sent(struct storm_match *match, void *state, unsigned client,
                      const struct storm_datagram *datagram, bool copy) {
    struct hc_body *body = &match->conns.body;
    struct hc_accept accept;
    struct hc_welcome welcome;
    struct hc_reset reset;
    (void)state, (void)copy;
    if (hc_datagram_get_reset(datagram->bytes, datagram->size, &reset) == HC_OK)
        check_reset(match, client, &reset);
    if (hc_datagram_get_accept(datagram->bytes, datagram->size, &accept) != HC_OK)
        return;
    struct storm_conn *conn = storm_conns_find(&match->conns, client, accept.cid);
    if (conn == NULL || conn->welcomed || hc_body_begin(body, accept.body, accept.body_size) ||
        hc_body_next(body) != HC_MESSAGE_WELCOME ||
        hc_message_get_welcome(body, match->conns.game, &welcome) != HC_OK)
        return;
    conn->welcomed = true;
    conn->resumed = welcome.resumed;
    memcpy(conn->reset_token, welcome.reset_token, HC_RESET_TOKEN_SIZE);
    conn->welcome_port = hc_sim_port(match->sim);
    if (welcome.own_count != conn->player_count ||
        memcmp(welcome.own, conn->players, conn->player_count * sizeof conn->players[0]) != 0)
        wrong(match, client, conn->cid, "is welcomed with other players than it has");
    if (welcome.tick != conn->begun)
        wrong(match, client, conn->cid, "is welcomed at another tick than the server's");
    if (welcome.resumed && conn->previous == NULL)
        wrong(match, client, conn->cid, "resumes nothing");
}

// ---- The clients --------------------------------------------------------------------------------

static struct life *life_of(void *state, unsigned client) {
    return &((struct sessions *)state)->lives[client];
}

static void client_created(struct storm_match *match, void *state, unsigned client) {
    *life_of(state, client) = (struct life){.begun_us = hc_sim_client_now(match->sim, client)};
}

static void client_received(struct storm_match *match, void *state, unsigned client,
                            const struct storm_datagram *datagram, enum hc_status status) {
    struct life *life = life_of(state, client);
    life->received = true;
    life->received_kind = status == HC_OK ? (uint8_t)datagram->kind : 0;
    if (status == HC_OK &&
        (datagram->kind == HC_DATAGRAM_DATA || datagram->kind == HC_DATAGRAM_ACCEPT))
        life->received_us = hc_sim_client_now(match->sim, client);
}

static void check_lost(struct storm_match *match, const struct life *life, unsigned client,
                       enum hc_client_loss loss) {
    uint64_t silent_us = hc_sim_client_now(match->sim, client) - life->received_us;
    uint32_t cid = match->seats[client].cid;
    uint8_t kind = life->received ? life->received_kind : 0;
    if (reconnect_us(match, client) == 0)
        wrong(match, client, cid, "is lost, and is not to reconnect");
    else if (loss == HC_CLIENT_LOSS_RENEWAL ||
             (loss == HC_CLIENT_LOSS_SILENCE && silent_us < timeout_us(match)) ||
             (loss == HC_CLIENT_LOSS_RESET && kind != HC_DATAGRAM_RESET) ||
             (loss == HC_CLIENT_LOSS_TIMEOUT && kind != HC_DATAGRAM_DATA))
        wrong(match, client, cid, "is lost without need");
}

/// A client gives up after the timeout, or the time that it has to reconnect.
static bool may_give_up(struct storm_match *match, const struct life *life, unsigned client) {
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    if (match->seats[client].leaves)
        return true;
    if (life->lost)
        return now_us - life->lost_us >= reconnect_us(match, client);
    if (life->received_us == 0)
        return now_us - life->begun_us >= timeout_us(match);
    bool reset = life->received && life->received_kind == HC_DATAGRAM_RESET;
    return reconnect_us(match, client) == 0 &&
           (reset || now_us - life->received_us >= timeout_us(match));
}

static void client_event(struct storm_match *match, void *state, unsigned client,
                         const struct hc_client_event *event) {
    struct life *life = life_of(state, client);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    bool again = event->kind == HC_CLIENT_EVENT_RECONNECTED;
    if (match->seats[client].hostile)
        return;
    if (event->kind == HC_CLIENT_EVENT_TIMEOUT && !may_give_up(match, life, client))
        wrong(match, client, match->seats[client].cid, "gives up too soon");
    if (event->kind == HC_CLIENT_EVENT_LOST) {
        check_lost(match, life, client, event->loss);
        life->lost = true;
        life->lost_us = hc_sim_client_now(match->sim, client);
    }
    if (!again && event->kind != HC_CLIENT_EVENT_ACCEPTED)
        return;
    if (again != life->lost)
        wrong(match, client, match->seats[client].cid, "has reconnected, and was not lost");
    life->lost = false;
    for (unsigned i = 0; i < (unsigned)storm_client_get(match, client, STORM_C_players); i++) {
        if (again && event->resumed && hc_client_player(core, i) != life->players[i])
            wrong(match, client, match->seats[client].cid, "resumes with other players");
        life->players[i] = hc_client_player(core, i);
    }
}

/// When the client has to do something about its silence.
static uint64_t due_us(struct storm_match *match, const struct life *life, unsigned client,
                       enum hc_client_state now) {
    switch (now) {
    case HC_CLIENT_CONNECTING:
        return life->begun_us + timeout_us(match);
    case HC_CLIENT_RECONNECTING:
        return life->lost_us + reconnect_us(match, client);
    case HC_CLIENT_JOINING:
    case HC_CLIENT_PLAYING:
    case HC_CLIENT_STALLED:
    case HC_CLIENT_LEAVING:
        return life->received_us + timeout_us(match);
    case HC_CLIENT_CLOSED:
        break;
    }
    return UINT64_MAX;
}

static void client_changed(struct storm_match *match, void *state, unsigned client) {
    struct life *life = life_of(state, client);
    enum hc_client_state now = hc_client_state(hc_sim_client(match->sim, client));
    bool received = life->received;
    life->received = false;
    if (match->seats[client].hostile)
        return;
    if (received && life->received_kind == HC_DATAGRAM_RESET && now != HC_CLIENT_RECONNECTING &&
        now != HC_CLIENT_CLOSED)
        wrong(match, client, match->seats[client].cid, "accepts a RESET, and goes on");
    // At a datagram it does not look at its clock.
    if (!received && hc_sim_client_now(match->sim, client) >= due_us(match, life, client, now))
        wrong(match, client, match->seats[client].cid, "waits for longer than it may");
}

const struct storm_checker storm_check_sessions = {.name = "sessions",
                                                   .state_size = sizeof(struct sessions),
                                                   .host_event = host_event,
                                                   .host_ticked = host_ticked,
                                                   .host_sent = host_sent,
                                                   .client_created = client_created,
                                                   .client_received = client_received,
                                                   .client_event = client_event,
                                                   .client_changed = client_changed};
