/// Checks that at the calm nothing is stuck: every client that can be connected is, plays in step
/// with the server, and receives snapshots.
#include "client/link/clock.h"
#include "client/position.h"
#include "common/elapsed.h"
#include "tests/storm/checkers/checker.h"

enum {
    NEW_TICKS = 30,
    TICKS_OFF = 3,     ///< a client's head is that near to where it should be, when it has settled
    MARGIN = 5,        ///< ticks beyond the latency: roundings of either end
    RETRY_US = 250000, ///< between two handshakes
    COOKIE_US = 2000000, ///< for which a client uses a cookie
    DENIED_US = 2000000, ///< after which a denied client asks again
    LIVE_US = 1000000,   ///< an address must be silent so long before it can connect again
    HELD_US = 100000,    ///< A server sends each client something so often, however bad its path.
};

struct liveness {
    uint64_t stalls[STORM_CLIENTS_MAX]; ///< when the last part of the calm began
    bool jumped[STORM_CLIENTS_MAX]; ///< the client clock may still go by samples from before its
                                    ///< jump
};

static uint64_t ms(const struct storm_match *match, unsigned client, enum storm_client_key key) {
    return (uint64_t)storm_client_get(match, client, key) * 1000;
}

/// The longest that narrow links have held datagrams back.
static uint64_t dips_us(const struct storm_match *match, unsigned client) {
    uint64_t us = 0;
    if (storm_client_get(match, client, STORM_C_dip_tick) != 0)
        us += ms(match, client, STORM_C_dip_ms);
    if (storm_match_get(match, STORM_shared) != 0)
        us += (uint64_t)(storm_match_get(match, STORM_shared_dip_ms) +
                         storm_match_get(match, STORM_shared_queue_ms)) *
              1000;
    return us;
}

static uint32_t ticks_of(const struct storm_match *match, uint64_t us) {
    return (uint32_t)((us + match->tick_us - 1) / match->tick_us);
}

static struct storm_conn *connection(struct storm_match *match, unsigned client) {
    if (match->seats[client].cid == 0)
        return NULL;
    return storm_conns_find(&match->conns, client, match->seats[client].cid);
}

static void begin_last_part(struct storm_match *match, struct liveness *liveness) {
    for (unsigned i = 0; i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        uint64_t jumped_us = match->seats[i].jumped_us;
        liveness->stalls[i] = core != NULL ? hc_client_stats(core)->stalls : 0;
        liveness->jumped[i] =
            jumped_us != 0 && hc_sim_now(match->sim) <
                                  jumped_us + HC_CL_CLOCK_WINDOW_US + storm_calm_rtt_us(match, i);
    }
}

/// The greatest input delay and lead, as the server accepts them.
static uint32_t delay_of(const struct storm_match *match, unsigned client) {
    int64_t delay = storm_client_delay_max(match, client);
    int64_t future = storm_match_get(match, STORM_future);
    return (uint32_t)(delay < future ? delay : future);
}

static uint32_t lead_of(const struct storm_match *match, unsigned client) {
    int64_t lead = storm_client_lead_max(match, client);
    int64_t room = storm_match_get(match, STORM_future) - delay_of(match, client);
    return (uint32_t)(lead < room ? lead : room);
}

/// How far a client's head is ahead of the tick of a snapshot, on clean links, at most: by its own
/// inputs, which are a round trip old, or by half a round trip and its lead.
static uint32_t depth_of(const struct storm_match *match, unsigned client) {
    uint32_t rtt = ticks_of(match, storm_calm_rtt_us(match, client));
    return rtt + lead_of(match, client) + storm_calm_wait_ticks(match) + MARGIN;
}

/// Whether it was connected, or received its first snapshot, so late that it may still settle: its
/// first inputs are as late as its first snapshot was old.
static bool is_new(const struct storm_match *match, const struct storm_conn *conn) {
    uint64_t grace_us = 3 * storm_calm_rtt_us(match, conn->seat) +
                        (NEW_TICKS + MARGIN + 2 * storm_calm_wait_ticks(match)) * match->tick_us;
    uint64_t since_us = conn->first_us > conn->joined_us ? conn->first_us : conn->joined_us;
    return hc_sim_now(match->sim) < since_us + grace_us;
}

/// How far a client may still be off, in ticks: it may have been off by the most that it corrects
/// slowly when the calm began.
static int64_t off_ticks(const struct storm_match *match) {
    uint64_t corrected_us = storm_calm_us(match) * HC_CL_POSITION_SLEW_PPM / 1000000;
    return TICKS_OFF + ticks_of(match, hc_since(corrected_us, HC_CL_POSITION_JUMP_US));
}

/// Ways of different lengths look like a clock that is off by half the difference.
static void check_in_step(struct storm_match *match, unsigned client,
                          const struct hc_client *core) {
    hc_tick server = storm_match_head(match);
    int64_t up = (int64_t)ms(match, client, STORM_C_up_latency_ms);
    int64_t down = (int64_t)ms(match, client, STORM_C_down_latency_ms);
    // An attacker's copy of a datagram may arrive before the datagram.
    if (storm_match_attacked(match) &&
        hc_client_stats(core)->rtt_min_us < storm_calm_rtt_us(match, client))
        return;
    int64_t expected =
        (int64_t)server + lead_of(match, client) + (up - down) / 2 / (int64_t)match->tick_us;
    int64_t off = (int64_t)hc_timeline_head(hc_client_timeline(core)) - expected;
    // An automatic lead is anything from its minimum on, and may be changing.
    int64_t least = storm_client_get(match, client, STORM_C_lead) -
                    storm_client_get(match, client, STORM_C_lead_max);
    int64_t frame = ticks_of(match, ms(match, client, STORM_C_frame_ms));
    if (off < (least < 0 ? least : 0) - frame - off_ticks(match) || off > off_ticks(match))
        storm_fail(match->verdict, STORM_STUCK, "in-step", server,
                   "client %u is %ld ticks off: at tick %u with the server at %u", client,
                   (long)off, hc_timeline_head(hc_client_timeline(core)), server);
}

/// It has received a snapshot lately: as old as its way down, and as the wait for room, also on its
/// path. Where there was room for all, each unit that it knows is as new.
static void check_fresh(struct storm_match *match, const struct storm_conn *conn, hc_tick as_of) {
    const struct storm_seat *seat = &match->seats[conn->seat];
    hc_tick server = storm_match_head(match);
    uint32_t wait = storm_calm_wait_ticks(match);
    uint32_t old = ticks_of(match, ms(match, conn->seat, STORM_C_down_latency_ms) +
                                       ms(match, conn->seat, STORM_C_frame_ms)) +
                   wait;
    if (hc_server_stats(hc_sim_host(match->sim))->snapshots_held_back > 0)
        old += ticks_of(match, HELD_US);
    if (as_of + old + 1 < server)
        storm_fail(match->verdict, STORM_STUCK, "fresh", server,
                   "client %u knows nothing newer than %u, the server is at %u", conn->seat, as_of,
                   server);
    for (uint32_t u = 0; u < match->units.total && conn->full_head + wait + MARGIN < as_of; u++)
        if (seat->units[u].since != HC_NO_TICK && seat->units[u].as_of + wait + MARGIN < as_of)
            storm_fail(match->verdict, STORM_STUCK, "fresh", server,
                       "client %u knows nothing of unit %u newer than %u, the server is at %u",
                       conn->seat, u, seat->units[u].as_of, server);
}

static void check_player(struct storm_match *match, const struct liveness *liveness,
                         const struct storm_conn *conn, const struct hc_client *core) {
    unsigned client = conn->seat;
    hc_tick shown = 0, as_of = 0;
    bool stalled = hc_client_state(core) != HC_CLIENT_PLAYING ||
                   hc_client_stats(core)->stalls > liveness->stalls[client];
    // A limit that is too small for the latency stalls it again and again.
    if (!hc_client_snapshot(core, &shown, &as_of) ||
        storm_client_limit(match, client) < depth_of(match, client) ||
        (stalled && liveness->jumped[client]))
        return;
    if (stalled)
        storm_fail(match->verdict, STORM_STUCK, "stalls", storm_match_head(match),
                   "client %u stalls on a clean link: limit %u, needs %u; head %u, snapshot of %u "
                   "as of %u",
                   client, storm_client_limit(match, client), depth_of(match, client),
                   hc_timeline_head(hc_client_timeline(core)), shown, as_of);
    check_in_step(match, client, core);
    check_fresh(match, conn, as_of);
}

/// A client that plays on after the server let go of it gives up after its timeout.
static void check_dropped(struct storm_match *match, unsigned client,
                          const struct storm_conn *conn) {
    uint64_t timeout_us = (uint64_t)storm_match_get(match, STORM_timeout_ms) * 1000;
    uint64_t since_us = hc_sim_now(match->sim) - conn->dropped_us;
    // A datagram that was on its way then still counts, and waits for a client that does nothing.
    timeout_us += ms(match, client, STORM_C_stall_ms) + dips_us(match, client);
    if (since_us > timeout_us + storm_calm_straggle_us(match, client) + match->tick_us * 2)
        storm_fail(match->verdict, STORM_STUCK, "dropped", 0,
                   "client %u plays on %lu ms after the server let go of it", client,
                   (unsigned long)(since_us / 1000));
}

/// The server drops a client that sends nothing for the timeout; datagrams that arrive while it
/// does nothing count when that ends.
static void check_silent(struct storm_match *match) {
    int64_t stalls = storm_match_get(match, STORM_host_stalls);
    uint64_t timeout_us = (uint64_t)(storm_match_get(match, STORM_timeout_ms) +
                                     storm_match_get(match, STORM_host_stall_ms) * stalls) *
                          1000;
    if (storm_match_attacked(match)) // an attacker may bring a client's datagram later
        return;
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        uint64_t silent_us = hc_sim_now(match->sim) - conn->sent_us;
        if (conn->connected && !match->seats[conn->seat].hostile &&
            silent_us > timeout_us + dips_us(match, conn->seat) +
                            storm_calm_straggle_us(match, conn->seat) + 2 * match->tick_us)
            storm_fail(match->verdict, STORM_STUCK, "silent", 0,
                       "the server keeps client %u, which has sent nothing for %lu ms", conn->seat,
                       (unsigned long)(silent_us / 1000));
    }
}

/// How long a client on clean links may shake hands.
static uint64_t handshake_us(const struct storm_match *match, unsigned client) {
    uint64_t most_us = 4 * storm_calm_rtt_us(match, client) + 3 * RETRY_US + LIVE_US;
    if (storm_client_get(match, client, STORM_C_rebind_ticks) != 0)
        most_us += COOKIE_US + 2 * RETRY_US; // its cookie was for another address
    return most_us;
}

/// A client that connects, or was lost, gets into the match, unless it was denied lately.
static void check_handshake(struct storm_match *match, unsigned client) {
    const struct storm_seat *seat = &match->seats[client];
    uint64_t now_us = hc_sim_now(match->sim), since_us = now_us - storm_calm_us(match);
    since_us = since_us > seat->lost_us ? since_us : seat->lost_us;
    if (seat->denied_us != 0 && since_us < seat->denied_us + DENIED_US)
        since_us = seat->denied_us + DENIED_US;
    if (now_us > since_us + handshake_us(match, client))
        storm_fail(match->verdict, STORM_STUCK, "connecting", 0,
                   "client %u is not connected %lu ms after it could be", client,
                   (unsigned long)((now_us - since_us) / 1000));
}

static void check_client(struct storm_match *match, const struct liveness *liveness,
                         unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct storm_conn *conn = connection(match, client);
    if (core == NULL || match->seats[client].hostile)
        return;
    enum hc_client_state now = hc_client_state(core);
    if (now == HC_CLIENT_CONNECTING || now == HC_CLIENT_JOINING || now == HC_CLIENT_RECONNECTING) {
        check_handshake(match, client);
    } else if (now == HC_CLIENT_PLAYING || now == HC_CLIENT_STALLED) {
        if (conn != NULL && !conn->connected)
            check_dropped(match, client, conn);
        else if (conn != NULL && !is_new(match, conn))
            check_player(match, liveness, conn, core);
    }
}

static void calm(struct storm_match *match, void *state, enum storm_calm part) {
    if (part == STORM_CALM_LAST_PART) {
        begin_last_part(match, state);
        return;
    }
    check_silent(match);
    for (unsigned i = 0; i < match->clients; i++)
        check_client(match, state, i);
}

const struct storm_checker storm_check_liveness = {
    .name = "liveness", .state_size = sizeof(struct liveness), .calm = calm};
