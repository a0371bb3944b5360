#include "tests/storm/allowance.h"

#include "server/host_internal.h"
#include "tests/storm/inside.h"

enum {
    MICRO = 1000000,
    BURST_MS = 100,     ///< that may be saved up, by budget.h
    UNDER = 28,         ///< bytes of IPv4 and UDP
    FLOOR = 4000,       ///< bytes/s below which no loss puts a client
    QUIET_US = 500000,  ///< whoever is not heard for so long acknowledges nothing
    RISES_US = 2500000, ///< two windows, each of which ends only with the next DATA heard
    FALL = 7,           ///< the part of the rate that a bad second takes
    SECOND_US = 1000000,
    HEADERS = 61,           ///< bytes around a body: IPv4, UDP, DATA
    NEEDED = 160 + HEADERS, ///< bytes without which a snapshot waits, headers included
    /// Of a datagram that was filled so many bytes may be empty: inputs are taken for a byte each,
    /// eight at most of each player (of later ones as many as fit are told, by that), and what did
    /// not fit may have been as large as a player.
    INPUTS_BYTES = 8,
    UNHEARD_MOST = 16,  ///< DATA on a connection of which nothing has been heard
    PLAYERS_LEAST = 13, ///< that are reckoned with
    PLAYER_BYTES = 200,
};

static int64_t late_margin(const struct storm_match *match) {
    int64_t players = storm_truth_world(match->truth)->players;
    return (players > PLAYERS_LEAST ? players : PLAYERS_LEAST) * INPUTS_BYTES + PLAYER_BYTES;
}

/// The rate that it has at least, by then.
static int64_t least_rate(const struct storm_match *match, const struct storm_conn *conn,
                          uint64_t now_us) {
    int64_t rate = storm_match_get(match, STORM_client_rate);
    uint64_t seconds = (now_us - conn->allowance.begun_us) / SECOND_US + 1;
    for (; seconds > 0 && rate > FLOOR; seconds--)
        rate -= rate / FALL + 1;
    return rate > FLOOR ? rate : FLOOR;
}

static int64_t fill(int64_t saved, int64_t rate, uint64_t passed_us) {
    int64_t full = rate * BURST_MS * 1000;
    int64_t more = (int64_t)(passed_us < 10 * SECOND_US ? passed_us : 10 * SECOND_US) * rate;
    return saved + more < full ? saved + more : full;
}

static void bring_up(struct storm_match *match, struct storm_conn *conn) {
    struct storm_allowance *allowance = &conn->allowance;
    uint64_t now_us = hc_sim_host_now(match->sim);
    int64_t rate = storm_match_get(match, STORM_client_rate);
    if (!allowance->begun)
        *allowance = (struct storm_allowance){.begun = true,
                                              .at_us = now_us,
                                              .begun_us = now_us,
                                              .most = rate * BURST_MS * 1000,
                                              .least = rate * BURST_MS * 1000};
    allowance->most = fill(allowance->most, rate, now_us - allowance->at_us);
    allowance->least =
        fill(allowance->least, least_rate(match, conn, now_us), now_us - allowance->at_us);
    allowance->at_us = now_us;
}

static void count_unheard(struct storm_match *match, struct storm_conn *conn) {
    if (!conn->heard && ++conn->allowance.unheard > UNHEARD_MOST)
        storm_fail(match->verdict, STORM_WRONG, "unheard", conn->snapshot_head,
                   "client %u is sent %u datagrams before it is heard", conn->seat,
                   conn->allowance.unheard);
}

/// Whether the server may have left a snapshot out because it had not heard the client yet.
static bool is_held(struct storm_conn *conn) {
    struct storm_allowance *allowance = &conn->allowance;
    bool held = !allowance->heard && allowance->unheard >= UNHEARD_MOST;
    allowance->heard = conn->heard;
    return held;
}

bool storm_allowance_sent(struct storm_match *match, struct storm_conn *conn, size_t size,
                          uint32_t ticks, bool *cut) {
    struct storm_allowance *allowance = &conn->allowance;
    bring_up(match, conn);
    count_unheard(match, conn);
    int64_t bytes = (int64_t)size + UNDER, room = allowance->least / MICRO;
    room = room < HC_DATAGRAM_MAX + UNDER ? room : HC_DATAGRAM_MAX + UNDER;
    bool full = bytes + late_margin(match) > room;
    int64_t far = ticks > INPUTS_BYTES ? (int64_t)ticks - INPUTS_BYTES : 0;
    *cut = bytes + late_margin(match) + far * storm_truth_world(match->truth)->players > room;
    allowance->said = allowance->waits = false;
    allowance->most -= bytes * MICRO;
    allowance->least -= bytes * MICRO;
    if (allowance->least < 0) // it had more than the least, then
        allowance->least = 0;
    if (allowance->most < 0)
        storm_fail(match->verdict, STORM_WRONG, "rate", conn->snapshot_head,
                   "client %u is sent %ld bytes more than its rate of %ld bytes/s allows",
                   conn->seat, (long)(-allowance->most / MICRO + 1),
                   (long)storm_match_get(match, STORM_client_rate));
    return full;
}

void storm_allowance_news(struct storm_match *match, struct storm_conn *conn,
                          enum hc_message_type type, size_t size) {
    struct storm_allowance *allowance = &conn->allowance;
    bool says = type == HC_MESSAGE_EVENTS || type == HC_MESSAGE_TICKET;
    bring_up(match, conn);
    count_unheard(match, conn);
    if (says && allowance->waits && allowance->said)
        storm_fail(match->verdict, STORM_WRONG, "turns", conn->snapshot_head,
                   "client %u is sent news again before the snapshot that waits for room",
                   conn->seat);
    allowance->said |= says;
    if (allowance->most <= HEADERS * MICRO)
        storm_fail(match->verdict, STORM_WRONG, "rate", conn->snapshot_head,
                   "client %u is sent news although its rate of %ld bytes/s is used up", conn->seat,
                   (long)storm_match_get(match, STORM_client_rate));
    allowance->most -= ((int64_t)size + UNDER) * MICRO;
    allowance->least -= ((int64_t)size + UNDER) * MICRO;
}

/// After each second in which nothing is lost of what the client acknowledges the rate has risen,
/// if the calm lasts so long.
static void check_rate(struct storm_match *match, struct storm_conn *conn) {
    struct storm_allowance *allowance = &conn->allowance;
    const struct hc_sv_peer *peer = hc_sv_host_peer(hc_sim_host(match->sim), conn->cid);
    uint64_t now_us = hc_sim_now(match->sim);
    // Whoever moves loses what is sent to where it was, until it is asked.
    if (peer == NULL || !conn->honest || now_us > conn->received_us + QUIET_US ||
        storm_client_get(match, conn->seat, STORM_C_rebind_ticks) != 0) {
        allowance->rate = 0;
        return;
    }
    uint32_t rate = peer->replication.bandwidth.rate, cap = peer->replication.bandwidth.cap;
    if (allowance->rate != 0 && rate < allowance->rate)
        storm_fail(match->verdict, STORM_STUCK, "rate", 0,
                   "client %u may be sent %u bytes/s, and before %u, though nothing is lost",
                   conn->seat, rate, allowance->rate);
    if (allowance->rate == 0 || rate > allowance->rate || rate == cap)
        allowance->rose_us = now_us;
    else if (now_us > allowance->rose_us + RISES_US)
        storm_fail(match->verdict, STORM_STUCK, "rate", 0,
                   "client %u may still be sent no more than %u bytes/s, though nothing is lost",
                   conn->seat, rate);
    allowance->rate = rate;
}

/// Whether snapshots are made of this head: as many a second as configured, evenly spread.
static bool is_due(const struct storm_match *match, hc_tick head) {
    uint64_t ticks = (uint64_t)storm_match_get(match, STORM_tick_rate);
    uint64_t rate = (uint64_t)storm_match_get(match, STORM_snapshot_rate);
    return rate == 0 || rate >= ticks || head * rate / ticks > (head - 1) * rate / ticks;
}

void storm_allowance_advances(struct storm_match *match) {
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    // What the storm has lost is known when something newer has come back, and counted with what is
    // heard in the second after.
    uint64_t clean_us = match->healed_us + storm_calm_clean_us(match) + 2 * SECOND_US;
    for (unsigned i = 0; i < match->clients && match->healed; i++) {
        int newest = match->conns.newest[i];
        struct storm_conn *conn = newest < 0 ? NULL : &match->conns.conns[newest];
        if (conn != NULL && conn->there && hc_sim_now(match->sim) > clean_us)
            check_rate(match, conn);
    }
    if (head == 0 || !is_due(match, head))
        return;
    for (unsigned i = 0; i < match->clients; i++) {
        int newest = match->conns.newest[i];
        struct storm_conn *conn = newest < 0 ? NULL : &match->conns.conns[newest];
        // Once it was sent one all of its players have joined.
        if (conn == NULL || !conn->there || conn->snapshot_head == HC_NO_TICK ||
            conn->snapshot_head == head || is_held(conn))
            continue;
        conn->allowance.waits = true;
        // Of whoever was sent something since it is no longer known what was saved up at the tick.
        if (conn->allowance.least < (int64_t)NEEDED * MICRO ||
            conn->allowance.at_us > match->ticked_us)
            continue;
        storm_fail(match->verdict, STORM_WRONG, "no-snapshot", head,
                   "client %u was sent no snapshot at %u, the last one at %u", i, head,
                   conn->snapshot_head);
    }
}
