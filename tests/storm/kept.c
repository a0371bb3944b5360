#include "tests/storm/kept.h"

#include "tests/storm/inside.h"

#include <string.h>

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
    storm_fail(match->verdict, STORM_WRONG, "kept",
               hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim))),
               "client %u, connection %08x, %s", client, cid, text);
}

// ---- The server ---------------------------------------------------------------------------------

/// Whether anything of the session that the connection is of has been taken.
static bool was_met(const struct storm_conn *conn) {
    for (; conn != NULL; conn = conn->before)
        if (conn->heard)
            return true;
    return false;
}

/// Whether all of its players have joined, as it, or one before it, has been shown a tick.
static bool has_joined(const struct storm_conn *conn) {
    for (; conn != NULL; conn = conn->before)
        if (conn->snapshot_head != HC_NO_TICK)
            return true;
    return false;
}

/// None of its inputs of ticks before the head is waited for.
static void check_forced(struct storm_match *match, const struct storm_conn *conn,
                         const char *text) {
    const struct hc_timeline *timeline = hc_sv_host_timeline(hc_sim_host(match->sim));
    hc_tick head = hc_timeline_head(timeline);
    for (unsigned i = 0; has_joined(conn) && i < conn->player_count; i++)
        if (hc_timeline_inputs_through(timeline, conn->players[i]) + 1 < head)
            wrong(match, conn->seat, conn->cid, text);
}

static void check_resumed(struct storm_match *match, const struct hc_sv_event *event,
                          const struct storm_conn *conn) {
    const struct storm_conn *before = conn->before;
    if (before == NULL) {
        wrong(match, conn->seat, conn->cid, "takes the place of one that never was");
        return;
    }
    if (!conn->took)
        wrong(match, conn->seat, conn->cid, "takes the place of one that is gone");
    if (before->client_id != event->client_id)
        wrong(match, conn->seat, conn->cid, "takes the place of another's");
    if (before->player_count != conn->player_count ||
        memcmp(before->players, conn->players, conn->player_count * sizeof conn->players[0]) != 0)
        wrong(match, conn->seat, conn->cid, "comes back to other players");
    check_forced(match, conn, "comes back, and inputs from before that are waited for");
}

static void check_joined(struct storm_match *match, const struct hc_sv_event *event,
                         const struct storm_conn *conn) {
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *other = &match->conns.conns[i];
        if (other != conn && (other->there || other->kept) && other->client_id == event->client_id)
            wrong(match, conn->seat, conn->cid, "joins, and has players already");
    }
}

void storm_kept_event(struct storm_match *match, const struct hc_sv_event *event,
                      const struct storm_conn *conn) {
    uint64_t now_us = hc_sim_now(match->sim);
    if (conn == NULL)
        return;
    bool silent = now_us - conn->received_us >= timeout_us(match);
    bool was_lost = conn->lost_us != 0 && event->kind != HC_SV_EVENT_LOST;
    if (event->kind == HC_SV_EVENT_RESUMED)
        check_resumed(match, event, conn);
    else if (event->kind == HC_SV_EVENT_JOINED)
        check_joined(match, event, conn);
    else if (event->kind == HC_SV_EVENT_LOST && (!silent || keep_us(match) == 0))
        wrong(match, conn->seat, conn->cid, "is lost without need");
    else if (event->kind == HC_SV_EVENT_LOST && !was_met(conn))
        wrong(match, conn->seat, conn->cid, "is kept, and never said a word");
    else if (event->kind == HC_SV_EVENT_TIMEOUT && was_lost &&
             now_us - conn->lost_us < keep_us(match))
        wrong(match, conn->seat, conn->cid, "is not kept for as long as it must be");
    else if (event->kind == HC_SV_EVENT_TIMEOUT && !was_lost && !silent)
        wrong(match, conn->seat, conn->cid, "is given up too soon");
    else if (event->kind == HC_SV_EVENT_TIMEOUT && !was_lost && keep_us(match) > 0 && was_met(conn))
        wrong(match, conn->seat, conn->cid, "is given up, and should be kept");
}

void storm_kept_ticked(struct storm_match *match) {
    uint64_t now_us = hc_sim_now(match->sim);
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        if (conn->there && now_us - conn->received_us >= timeout_us(match))
            wrong(match, conn->seat, conn->cid, "is silent, and counts as there");
        if (!conn->kept)
            continue;
        if (now_us - conn->lost_us >= keep_us(match))
            wrong(match, conn->seat, conn->cid, "is kept for too long");
        check_forced(match, conn, "is lost, and its inputs are waited for");
    }
}

/// Whether who names this connection goes on with what was said to it: it is the one whose place is
/// taken, or one that this went on with, as long as nothing came since.
static bool goes_on(const struct storm_conn *before, uint32_t named) {
    for (; before != NULL && named != 0; before = before->before) {
        if (before->cid == named)
            return true;
        if (before->heard || !before->goes_on)
            return false;
    }
    return false;
}

/// A RESET carries the token by which its client knows it.
static void check_reset(struct storm_match *match, unsigned client, const struct hc_reset *reset) {
    const struct storm_conn *conn = storm_conns_find(&match->conns, client, reset->cid);
    if (conn != NULL && conn->welcomed && conn->port == hc_sim_port(match->sim) &&
        memcmp(conn->reset_token, reset->token, HC_RESET_TOKEN_SIZE) != 0)
        wrong(match, client, reset->cid, "is reset by another token than it was given");
}

void storm_kept_answered(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size) {
    struct hc_body *body = &match->conns.body;
    struct hc_accept accept;
    struct hc_welcome welcome;
    struct hc_reset reset;
    if (hc_datagram_get_reset(bytes, size, &reset) == HC_OK)
        check_reset(match, client, &reset);
    if (hc_datagram_get_accept(bytes, size, &accept) != HC_OK)
        return;
    struct storm_conn *conn = storm_conns_find(&match->conns, client, accept.cid);
    if (conn == NULL || conn->welcomed || hc_body_begin(body, accept.body, accept.body_size) ||
        hc_body_next(body) != HC_MESSAGE_WELCOME ||
        hc_message_get_welcome(body, match->conns.game, &welcome) != HC_OK)
        return;
    conn->welcomed = true;
    conn->goes_on = welcome.resumed;
    memcpy(conn->reset_token, welcome.reset_token, HC_RESET_TOKEN_SIZE);
    conn->port = hc_sim_port(match->sim);
    if (welcome.own_count != conn->player_count ||
        memcmp(welcome.own, conn->players, conn->player_count * sizeof conn->players[0]) != 0)
        wrong(match, client, conn->cid, "is welcomed with other players than it has");
    if (welcome.tick != conn->begun)
        wrong(match, client, conn->cid, "is welcomed at another tick than it came");
    const struct storm_shake *handshake = storm_shakes_of(match, client, accept.client_nonce);
    if (handshake != NULL && welcome.resumed != goes_on(conn->before, handshake->connect.continues))
        wrong(match, client, conn->cid,
              welcome.resumed ? "is told that it goes on with what it does not name"
                              : "is not told that it goes on with what it names");
}

// ---- The clients --------------------------------------------------------------------------------

static struct storm_life *life_of(struct storm_match *match, unsigned client) {
    return &match->seats[client].life;
}

void storm_kept_created(struct storm_match *match, unsigned client) {
    *life_of(match, client) =
        (struct storm_life){.begun_us = hc_sim_client_now(match->sim, client)};
}

void storm_kept_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                         size_t size, enum hc_status status) {
    struct storm_life *life = life_of(match, client);
    enum hc_datagram_kind kind = hc_datagram_kind(bytes, size);
    struct hc_deny deny;
    life->handed = true;
    life->handed_kind = status == HC_OK ? (uint8_t)kind : 0;
    if (status == HC_OK && (kind == HC_DATAGRAM_DATA || kind == HC_DATAGRAM_ACCEPT))
        life->received_us = hc_sim_client_now(match->sim, client);
    if (status == HC_OK && hc_datagram_get_deny(bytes, size, &deny) == HC_OK && deny.retry_ms > 0)
        life->denied_at_us = hc_sim_now(match->sim);
}

static void check_lost(struct storm_match *match, unsigned client, enum hc_client_loss loss) {
    const struct storm_life *life = life_of(match, client);
    uint64_t silent_us = hc_sim_client_now(match->sim, client) - life->received_us;
    uint32_t cid = match->seats[client].cid;
    uint8_t kind = life->handed ? life->handed_kind : 0;
    if (reconnect_us(match, client) == 0)
        wrong(match, client, cid, "is lost, and is not to come back");
    else if (loss == HC_CLIENT_LOSS_RENEWAL ||
             (loss == HC_CLIENT_LOSS_SILENCE && silent_us < timeout_us(match)) ||
             (loss == HC_CLIENT_LOSS_RESET && kind != HC_DATAGRAM_RESET) ||
             (loss == HC_CLIENT_LOSS_TIMEOUT && kind != HC_DATAGRAM_DATA))
        wrong(match, client, cid, "is lost without need");
}

/// It gives up when nobody has answered for as long as it asks, or when it has lost its connection
/// and is not to come back.
static bool may_give_up(struct storm_match *match, unsigned client) {
    const struct storm_life *life = life_of(match, client);
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    if (match->seats[client].tally.leaves)
        return true;
    if (life->lost)
        return now_us - life->lost_us >= reconnect_us(match, client);
    if (life->received_us == 0)
        return now_us - life->begun_us >= timeout_us(match);
    bool reset = life->handed && life->handed_kind == HC_DATAGRAM_RESET;
    return reconnect_us(match, client) == 0 &&
           (reset || now_us - life->received_us >= timeout_us(match));
}

void storm_kept_client_event(struct storm_match *match, unsigned client,
                             const struct hc_client_event *event) {
    struct storm_life *life = life_of(match, client);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    bool again = event->kind == HC_CLIENT_EVENT_RECONNECTED;
    if (event->kind == HC_CLIENT_EVENT_TIMEOUT && !may_give_up(match, client))
        wrong(match, client, match->seats[client].cid, "gives up too soon");
    if (event->kind == HC_CLIENT_EVENT_LOST) {
        check_lost(match, client, event->loss);
        life->lost = true;
        life->lost_us = hc_sim_client_now(match->sim, client);
        life->lost_at_us = hc_sim_now(match->sim);
        life->denied_at_us = 0;
    }
    if (!again && event->kind != HC_CLIENT_EVENT_ACCEPTED)
        return;
    if (again != life->lost)
        wrong(match, client, match->seats[client].cid, "is back, and was not lost");
    life->lost = false;
    for (unsigned i = 0; i < (unsigned)storm_client_get(match, client, STORM_C_players); i++) {
        if (again && event->resumed && hc_client_player(core, i) != life->players[i])
            wrong(match, client, match->seats[client].cid, "goes on with other players");
        life->players[i] = hc_client_player(core, i);
    }
}

void storm_kept_changed(struct storm_match *match, unsigned client) {
    struct storm_life *life = life_of(match, client);
    uint64_t now_us = hc_sim_client_now(match->sim, client), due_us = UINT64_MAX;
    enum hc_client_state state = hc_client_state(hc_sim_client(match->sim, client));
    bool handed = life->handed;
    life->handed = false;
    if (handed && life->handed_kind == HC_DATAGRAM_RESET && state != HC_CLIENT_RECONNECTING &&
        state != HC_CLIENT_CLOSED)
        wrong(match, client, match->seats[client].cid, "takes a RESET, and goes on");
    if (handed) // it has not looked at its clock
        return;
    switch (state) {
    case HC_CLIENT_CLOSED:
        break;
    case HC_CLIENT_CONNECTING:
        due_us = life->begun_us + timeout_us(match);
        break;
    case HC_CLIENT_RECONNECTING:
        due_us = life->lost_us + reconnect_us(match, client);
        break;
    case HC_CLIENT_JOINING:
    case HC_CLIENT_PLAYING:
    case HC_CLIENT_STALLED:
    case HC_CLIENT_LEAVING:
        due_us = life->received_us + timeout_us(match);
        break;
    }
    if (now_us >= due_us)
        wrong(match, client, match->seats[client].cid, "waits for longer than it may");
}
