#include "client/clock.h"
#include "client/session_internal.h"
#include "common/arena/map.h"
#include "tests/storm/inside.h"

#include <string.h>

enum {
    SECOND_US = 1000000,
    STRAGGLE_US = 50000 + 20000, ///< the longest that reordering holds a packet back, and more
    CLOCK_SAMPLES = 70,          ///< snapshots after which the clock filter has forgotten the storm
    REACT_TICKS = 60,
    NEW_TICKS = 30,
    RTT_OFF_US = 1000,
    TICKS_OFF = 3, ///< a client's head is that near to where it should be
    MARGIN = 5,    ///< ticks that depths may exceed what latency explains: one way's rounding each,
                   ///< one tick of the client, one of the server, one of the datagram
    RETRY_US = 250000,   ///< between two handshakes
    COOKIE_US = 2000000, ///< for which one is used
    DENIED_US = 2000000, ///< after which who was denied asks again
    LIVE_US = 1000000,   ///< an address must be silent so long before it can connect again
    AROUND = 8,          ///< snapshots in which all is told where there is not room for all in each
};

static uint64_t ms(const struct storm_match *match, unsigned client, enum storm_client_key key) {
    return (uint64_t)storm_client_get(match, client, key) * 1000;
}

static uint64_t rtt_us(const struct storm_match *match, unsigned client) {
    return ms(match, client, STORM_C_up_latency_ms) + ms(match, client, STORM_C_down_latency_ms);
}

static uint32_t ticks_of(const struct storm_match *match, uint64_t us) {
    return (uint32_t)((us + match->tick_us - 1) / match->tick_us);
}

/// How many ticks the storm lasts.
static int64_t storm_ticks(const struct storm_match *match) {
    return storm_plan_tick(match->plan, storm_match_get(match, STORM_ticks));
}

/// The most that waits for its turn on a link: nothing where any number of bytes may go at once.
static uint64_t queue_us(const struct storm_match *match, unsigned client,
                         enum storm_client_key rate, enum storm_client_key queue) {
    return storm_client_get(match, client, rate) != 0 ? ms(match, client, queue) : 0;
}

/// The most that the storm leaves behind on a link.
static uint64_t straggle_us(const struct storm_match *match, unsigned client) {
    uint64_t up = ms(match, client, STORM_C_up_latency_ms) +
                  ms(match, client, STORM_C_up_jitter_ms) +
                  queue_us(match, client, STORM_C_up_rate, STORM_C_up_queue_ms);
    uint64_t down = ms(match, client, STORM_C_down_latency_ms) +
                    ms(match, client, STORM_C_down_jitter_ms) +
                    queue_us(match, client, STORM_C_down_rate, STORM_C_down_queue_ms);
    int64_t worse =
        storm_plan_tick(match->plan, storm_client_get(match, client, STORM_C_worse_tick));
    uint64_t worse_us = 0;
    if (worse != 0 && worse < storm_ticks(match))
        worse_us = ms(match, client, STORM_C_worse_latency_ms);
    return (up > down ? up : down) + worse_us + STRAGGLE_US;
}

static uint64_t most(const struct storm_match *match,
                     uint64_t of(const struct storm_match *match, unsigned client)) {
    uint64_t most_us = 0;
    for (unsigned i = 0; i < match->clients; i++)
        most_us = of(match, i) > most_us ? of(match, i) : most_us;
    return most_us;
}

/// The longest that a client waits for a snapshot on clean links, or one tick: as its rate allows
/// one when it has lost all that it can lose, at each bad second a part, and as they are made.
static uint32_t wait_ticks(const struct storm_match *match) {
    enum { LEAST = 4000, NEEDED = 221 }; // bytes/s, bytes
    int64_t rate = storm_match_get(match, STORM_client_rate);
    int64_t ticks = storm_match_get(match, STORM_tick_rate);
    int64_t shown = storm_match_get(match, STORM_snapshot_rate);
    uint64_t bad_us =
        (uint64_t)storm_ticks(match) * match->tick_us + most(match, straggle_us) + SECOND_US;
    for (uint64_t s = 0; s <= bad_us / SECOND_US && rate > LEAST; s++)
        rate -= rate / 7 + 1;
    rate = rate > LEAST ? rate : LEAST;
    int64_t wait = (NEEDED * ticks + rate - 1) / rate;
    if (shown > 0 && shown < ticks)
        wait += (ticks + shown - 1) / shown - 1;
    return (uint32_t)wait;
}

/// How far ahead of a server that has left out ticks a client may be: by these, as far as it
/// predicts.
static uint64_t ahead_ticks(const struct storm_match *match) {
    int64_t stalled_ms =
        storm_match_get(match, STORM_host_stalls) * storm_match_get(match, STORM_host_stall_ms);
    uint64_t left_out = ticks_of(match, (uint64_t)stalled_ms * 1000), most_ticks = 0;
    for (unsigned i = 0; i < match->clients; i++) {
        uint64_t limit = storm_client_limit(match, i);
        most_ticks = limit > most_ticks ? limit : most_ticks;
    }
    return most_ticks < left_out ? most_ticks : left_out;
}

/// After what the storm has left on the links is through, and was answered.
uint64_t storm_calm_clean_us(const struct storm_match *match) {
    return most(match, straggle_us) + most(match, rtt_us);
}

/// RTT + W + 60 ticks, after what the storm has left on the links is through; not shorter than
/// what a client's clock filter remembers. Whoever is further than W ahead of a server that has
/// left out ticks waits for as many instead.
uint64_t storm_calm_us(const struct storm_match *match) {
    uint64_t history = (uint64_t)storm_match_get(match, STORM_history);
    uint64_t ahead = ahead_ticks(match);
    uint64_t ticks = (ahead > history ? ahead : history) + REACT_TICKS;
    if (ticks < CLOCK_SAMPLES * (uint64_t)wait_ticks(match))
        ticks = CLOCK_SAMPLES * (uint64_t)wait_ticks(match);
    return storm_calm_clean_us(match) + ticks * match->tick_us;
}

/// How long after a key is let go of no prediction at the server rests on it any more: the way
/// there, and the ticks by which inputs are stamped ahead. Of ways of different lengths the client
/// takes half the difference for a clock that is off.
static uint64_t let_go_us(const struct storm_match *match, unsigned client) {
    uint64_t up = ms(match, client, STORM_C_up_latency_ms);
    uint64_t down = ms(match, client, STORM_C_down_latency_ms);
    uint64_t ahead = (uint64_t)(storm_client_get(match, client, STORM_C_delay) +
                                storm_client_get(match, client, STORM_C_lead));
    return up + (up > down ? (up - down) / 2 : 0) + ahead * match->tick_us;
}

static uint64_t down_us(const struct storm_match *match, unsigned client) {
    return ms(match, client, STORM_C_down_latency_ms);
}

/// Until the server knows, until the clients are told, and W for the final tick to have been shown
/// only since; and, where there is not room for everything each time, until all has been told.
uint64_t storm_agree_us(const struct storm_match *match) {
    uint64_t wait = wait_ticks(match);
    uint64_t ticks = (uint64_t)storm_match_get(match, STORM_history) + MARGIN + wait - 1;
    if (wait > 1)
        ticks += wait * AROUND;
    return most(match, let_go_us) + most(match, down_us) + ticks * match->tick_us;
}

static uint32_t delay_of(const struct storm_match *match, unsigned client) {
    int64_t delay = storm_client_get(match, client, STORM_C_delay);
    int64_t future = storm_match_get(match, STORM_future);
    return (uint32_t)(delay < future ? delay : future);
}

static uint32_t lead_of(const struct storm_match *match, unsigned client) {
    int64_t lead = storm_client_get(match, client, STORM_C_lead);
    int64_t room = storm_match_get(match, STORM_future) - delay_of(match, client);
    return (uint32_t)(lead < room ? lead : room);
}

/// How far a client's head is ahead of the tick that a snapshot shows it, on clean links. The
/// client takes its ways for equally long, so that half of the round trip counts each time.
static uint32_t depth_of(const struct storm_match *match, unsigned client) {
    uint32_t rtt = ticks_of(match, rtt_us(match, client));
    uint32_t half = (rtt + 1) / 2,
             own = rtt > delay_of(match, client) ? rtt - delay_of(match, client) : 0;
    uint32_t ahead = half + lead_of(match, client);
    bool plays = storm_client_get(match, client, STORM_C_players) > 0;
    return (plays && own > ahead ? own : ahead) + wait_ticks(match) - 1;
}

/// By how much a client's inputs are late at the server.
static uint32_t lateness_of(const struct storm_match *match, unsigned client) {
    uint32_t half = (ticks_of(match, rtt_us(match, client)) + 1) / 2;
    uint32_t early = delay_of(match, client) + lead_of(match, client);
    return half > early ? half - early : 0;
}

/// Whether the limit lets the client play on with its latency at all.
static bool limit_suffices(const struct storm_match *match, unsigned client) {
    return storm_client_limit(match, client) >= depth_of(match, client) + MARGIN;
}

static struct storm_conn *connection(struct storm_match *match, unsigned client) {
    if (match->seats[client].cid == 0)
        return NULL;
    return storm_conns_find(&match->conns, client, match->seats[client].cid);
}

void storm_calm_begin_last(struct storm_match *match) {
    match->last_part = true;
    for (unsigned i = 0; i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        struct storm_seat *seat = &match->seats[i];
        uint64_t forgets_us = seat->leapt_us + HC_CL_CLOCK_WINDOW_US + rtt_us(match, i);
        seat->leapt_lately = seat->leapt_us != 0 && hc_sim_now(match->sim) < forgets_us;
        seat->mark_stalls = core != NULL ? hc_client_stats(core)->stalls : 0;
    }
}

/// The server has let go of it: it has been told, or will give up when it has heard nothing for
/// its timeout.
static void check_dropped(struct storm_match *match, unsigned client,
                          const struct storm_conn *conn) {
    uint64_t timeout_us = (uint64_t)storm_match_get(match, STORM_timeout_ms) * 1000;
    uint64_t since_us = hc_sim_now(match->sim) - conn->dropped_us;
    // What was on its way when it was let go still counts as hearing, and waits for who does
    // nothing.
    timeout_us += ms(match, client, STORM_C_stall_ms);
    if (since_us > timeout_us + straggle_us(match, client) + match->tick_us * 2)
        storm_fail(match->verdict, STORM_STUCK, "dropped", 0,
                   "client %u plays on %lu ms after the server let go of it", client,
                   (unsigned long)(since_us / 1000));
}

static void check_in_step(struct storm_match *match, unsigned client,
                          const struct hc_client *core) {
    hc_tick server = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    int64_t up = (int64_t)ms(match, client, STORM_C_up_latency_ms);
    int64_t down = (int64_t)ms(match, client, STORM_C_down_latency_ms);
    // Ways of different lengths look like a clock that is off by half the difference.
    int64_t expected =
        (int64_t)server + lead_of(match, client) + (up - down) / 2 / (int64_t)match->tick_us;
    int64_t off = (int64_t)hc_timeline_head(hc_client_timeline(core)) - expected;
    if (off < -TICKS_OFF || off > TICKS_OFF)
        storm_fail(match->verdict, STORM_STUCK, "in-step", server,
                   "client %u is %ld ticks off: at tick %u with the server at %u", client,
                   (long)off, hc_timeline_head(hc_client_timeline(core)), server);
}

/// Whether it came so late, or heard so late that it had, that it may not have measured its round
/// trip yet.
static bool is_new(const struct storm_match *match, const struct storm_conn *conn) {
    uint64_t grace_us =
        2 * rtt_us(match, conn->seat) + (NEW_TICKS + 2 * wait_ticks(match)) * match->tick_us;
    uint64_t since_us = conn->shown_us > conn->joined_us ? conn->shown_us : conn->joined_us;
    return hc_sim_now(match->sim) < since_us + grace_us;
}

/// Whether what it stamped before it had measured its round trip may have come in the last part:
/// its first snapshot was answered so recently, and that answer by the server.
static bool has_begun_late(const struct storm_match *match, const struct storm_conn *conn) {
    uint64_t grace_us = rtt_us(match, conn->seat) + ms(match, conn->seat, STORM_C_up_latency_ms) +
                        (NEW_TICKS + MARGIN) * match->tick_us;
    return conn->shown_us > 0 && conn->player_count > 0 &&
           hc_sim_now(match->sim) < conn->shown_us + grace_us;
}

/// By how much the inputs of one that has begun late are late at most. It predicts from the first
/// tick T that it is shown: its first stamp is T + D, and comes when the server is a round trip
/// ahead of where it was when it showed T. Its guess at the clock may be behind by the way of a
/// snapshot, which makes the next stamps as late, less its lead. Before T + D it stamps that
/// nothing is pressed, which is news only of players that it takes over.
static uint32_t lateness_of_first(const struct storm_match *match, const struct storm_conn *conn) {
    uint32_t late = conn->shown_back + ticks_of(match, rtt_us(match, conn->seat));
    uint32_t early = conn->before == NULL ? delay_of(match, conn->seat) : 0;
    return late > early ? late - early : 0;
}

/// By how much anybody's inputs are late at the server. Who stalls again and again as its limit is
/// too small has inputs as late as its stalls are long; what a hostile one did may still be on its
/// way: W at most.
static uint32_t lateness_of_any(struct storm_match *match) {
    uint32_t most_late = 0;
    for (unsigned i = 0; i < match->clients; i++) {
        const struct storm_conn *conn = connection(match, i);
        if (match->seats[i].hostile || !limit_suffices(match, i))
            return (uint32_t)storm_match_get(match, STORM_history);
        uint32_t late = conn != NULL && has_begun_late(match, conn) ? lateness_of_first(match, conn)
                                                                    : lateness_of(match, i);
        most_late = late > most_late ? late : most_late;
    }
    return most_late;
}

/// Whether it may have waited in the last part for what it stamped before it had measured its round
/// trip. That takes one from its first snapshot on. Then its head is where it belongs, but the tick
/// that it is shown is as late as those stamps, which its limit need not be for, until the server
/// has heard one by the clock that it has measured, and it of that: another round trip.
static bool may_have_waited(const struct storm_match *match, const struct storm_conn *conn) {
    uint32_t wait = wait_ticks(match), half = (ticks_of(match, rtt_us(match, conn->seat)) + 1) / 2;
    uint32_t deepest =
        half + lead_of(match, conn->seat) + lateness_of_first(match, conn) + wait - 1 + MARGIN;
    uint64_t grace_us =
        2 * rtt_us(match, conn->seat) + (NEW_TICKS + 2 * wait + MARGIN) * match->tick_us;
    return conn->shown_us > 0 && conn->player_count > 0 &&
           storm_client_limit(match, conn->seat) < deepest &&
           hc_sim_now(match->sim) < conn->shown_us + grace_us;
}

/// Whether its clock may still look at a round trip from before the links were clean: where one
/// takes just as long as some ticks do, not every snapshot brings another.
static bool may_remember(const struct storm_match *match, unsigned client) {
    const struct storm_rtt *rtt = &match->seats[client].rtt;
    uint64_t from = rtt->count > STORM_RTT_TAKEN ? rtt->count - STORM_RTT_TAKEN : 0;
    uint64_t age_us =
        hc_sim_client_now(match->sim, client) - rtt->taken[from % STORM_RTT_TAKEN].at_us;
    return rtt->count > 0 && age_us > storm_calm_us(match) &&
           HC_CL_CLOCK_WINDOW_US > storm_calm_us(match);
}

static void check_player(struct storm_match *match, const struct storm_conn *conn,
                         const struct hc_client *core) {
    unsigned client = conn->seat;
    const struct storm_seat *seat = &match->seats[client];
    hc_tick server = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    hc_tick shown = 0, as_of = 0;
    hc_client_snapshot(core, &shown, &as_of);
    if (!limit_suffices(match, client))
        return;
    bool waited = hc_client_state(core) != HC_CLIENT_PLAYING ||
                  hc_client_stats(core)->stalls > seat->mark_stalls;
    // Ahead by a leap that no round trip refuted it waits when that is forgotten, which takes long
    // where little has been heard since.
    if (waited && (seat->leapt_lately || may_have_waited(match, conn)))
        return;
    if (waited)
        storm_fail(match->verdict, STORM_STUCK, "stalls", server,
                   "client %u stalls on a clean link: limit %ld, needs %u; head %u, shown %u as of "
                   "%u",
                   client, (long)storm_client_get(match, client, STORM_C_limit),
                   depth_of(match, client), hc_timeline_head(hc_client_timeline(core)), shown,
                   as_of);
    check_in_step(match, client, core);
    const struct hc_client_stats *stats = hc_client_stats(core);
    uint64_t rtt = rtt_us(match, client),
             off_us = stats->rtt_min_us > rtt ? stats->rtt_min_us - rtt : rtt - stats->rtt_min_us;
    if ((off_us > RTT_OFF_US && !may_remember(match, client)) || stats->jitter_us > RTT_OFF_US)
        storm_fail(match->verdict, STORM_STUCK, "rtt", server,
                   "client %u measures a round trip of %lu us, which takes %lu, and %lu of jitter",
                   client, (unsigned long)stats->rtt_min_us, (unsigned long)rtt,
                   (unsigned long)stats->jitter_us);
    // Others' inputs from before the tick shown, as late as they are, change the ticks before it.
    uint32_t explained = depth_of(match, client) + lateness_of_any(match) + MARGIN;
    if (storm_client_get(match, client, STORM_C_display) > 0) // past ticks may be corrected too
        explained += (uint32_t)storm_client_get(match, client, STORM_C_display);
    if (seat->depth_max > explained)
        storm_fail(match->verdict, STORM_STUCK, "rollbacks", server,
                   "client %u rolls back %u ticks, latency explains %u", client, seat->depth_max,
                   explained);
}

/// Whoever has said nothing for the timeout is no longer there.
static void check_silent(struct storm_match *match) {
    // What a thief holds back and brings later is a word of the client's, too.
    if (storm_match_get(match, STORM_hostile) > 0 && !match->options->tame)
        return;
    // What came while the server did nothing is heard when that ends; one stall may pass into the
    // next.
    int64_t stalls = storm_match_get(match, STORM_host_stalls);
    uint64_t timeout_us = (uint64_t)(storm_match_get(match, STORM_timeout_ms) +
                                     storm_match_get(match, STORM_host_stall_ms) * stalls) *
                          1000;
    for (unsigned i = 0; i < match->conns.count; i++) {
        const struct storm_conn *conn = &match->conns.conns[i];
        uint64_t silent_us = hc_sim_now(match->sim) - conn->sent_us;
        if (conn->there && !match->seats[conn->seat].hostile &&
            silent_us > timeout_us + straggle_us(match, conn->seat) + 2 * match->tick_us)
            storm_fail(match->verdict, STORM_STUCK, "silent", 0,
                       "the server keeps client %u, which has said nothing for %lu ms", conn->seat,
                       (unsigned long)(silent_us / 1000));
    }
}

/// How long a client on clean links may shake hands.
static uint64_t patience_us(const struct storm_match *match, unsigned client) {
    uint64_t patience_us = 4 * rtt_us(match, client) + 3 * RETRY_US + LIVE_US;
    if (storm_client_get(match, client, STORM_C_rebind_ticks) != 0)
        patience_us += COOKIE_US + 2 * RETRY_US; // it was one for another address
    return patience_us;
}

/// Who was lost is back, unless it was lost, or denied, lately.
static void check_back(struct storm_match *match, unsigned client) {
    const struct storm_life *life = &match->seats[client].life;
    uint64_t now_us = hc_sim_now(match->sim), since_us = now_us - storm_calm_us(match);
    uint64_t may_us = patience_us(match, client);
    since_us = since_us > life->lost_at_us ? since_us : life->lost_at_us;
    if (life->denied_at_us != 0 && since_us < life->denied_at_us + DENIED_US)
        since_us = life->denied_at_us + DENIED_US;
    if (now_us > since_us + may_us)
        storm_fail(match->verdict, STORM_STUCK, "back", 0,
                   "client %u is not back %lu ms after it could be", client,
                   (unsigned long)((now_us - since_us) / 1000));
}

void storm_calm_check(struct storm_match *match) {
    check_silent(match);
    uint32_t lateness = lateness_of_any(match);
    for (unsigned i = 0; i < match->clients; i++) {
        const struct hc_client *core = hc_sim_client(match->sim, i);
        struct storm_conn *conn = connection(match, i);
        if (core == NULL || match->seats[i].hostile)
            continue;
        enum hc_client_state state = hc_client_state(core);
        if (state == HC_CLIENT_CONNECTING || state == HC_CLIENT_JOINING) {
            if (storm_calm_us(match) > patience_us(match, i))
                storm_fail(match->verdict, STORM_STUCK, "connecting", 0,
                           "client %u is still shaking hands (state %d)", i, (int)state);
        } else if (state == HC_CLIENT_RECONNECTING) {
            check_back(match, i);
        } else if (state == HC_CLIENT_PLAYING || state == HC_CLIENT_STALLED) {
            if (conn != NULL && !conn->there)
                check_dropped(match, i, conn);
            else if (conn != NULL && !is_new(match, conn))
                check_player(match, conn, core);
        }
    }
    hc_tick head = hc_timeline_head(hc_sv_host_timeline(hc_sim_host(match->sim)));
    if (storm_match_get(match, STORM_force_rewind) == 0 && match->rewind_max > lateness + MARGIN)
        storm_fail(match->verdict, STORM_STUCK, "rewinds", head,
                   "the server rewinds %u ticks, latency explains %u", match->rewind_max,
                   lateness + MARGIN);
}

/// Whether a snapshot that the client has taken told the unit at just this tick.
static bool was_told(const struct storm_match *match, unsigned client,
                     const struct storm_conn *conn, hc_unit unit, hc_tick tick) {
    for (hc_tick head = tick; head < tick + STORM_SENT && head <= conn->snapshot_head; head++) {
        const struct storm_sent *sent = &conn->sent[head % STORM_SENT];
        if (sent->as_of == head && sent->tick == tick &&
            storm_units_told(match, client, head, unit))
            return true;
    }
    return false;
}

/// Whether the client knows of all that was there, and of every player whether it was: else it does
/// not step the referee.
static bool knows_all(const struct storm_match *match, const struct hc_timeline *own,
                      hc_tick tick) {
    const struct hc_timeline *server = hc_sv_host_timeline(hc_sim_host(match->sim));
    const struct hc_world *world = storm_truth_world(match->truth);
    if (tick < hc_timeline_oldest(server))
        return false;
    for (uint32_t e = 0; e < world->entities; e++)
        if (hc_timeline_presence(server, tick)[e] == HC_ALIVE &&
            hc_timeline_presence(own, tick)[e] == HC_UNKNOWN)
            return false;
    for (hc_player p = 0; p < world->players; p++)
        if (hc_timeline_presence(own, tick)[hc_world_player(world, p)] == HC_UNKNOWN)
            return false;
    return true;
}

/// Whether players do not see everything: a view that reaches across the map hides nothing.
static bool hides(const struct hc_world *world) {
    uint32_t across = (uint32_t)hc_arena_side(world) * HC_ARENA_TILE;
    return world->game->view != 0 && world->game->view < across;
}

/// Whether it knows all, and where players do not see everything has known all since all was told
/// again: whom it did not know may have moved others, whom it then predicts from where they were
/// not. Where all are in one place these move yet others, for as long as there is not room to tell
/// all at once.
static bool has_known_all(const struct storm_match *match, const struct storm_conn *conn,
                          const struct hc_timeline *own, hc_tick final) {
    bool hidden = hides(storm_truth_world(match->truth));
    hc_tick since = hidden ? hc_tick_back(final, AROUND * wait_ticks(match)) : final;
    bool spreads =
        hidden && storm_match_get(match, STORM_fray_crowd) != 0 && conn->full_head >= since;
    bool all = since >= hc_timeline_oldest(own) && !spreads;
    for (hc_tick t = since; t <= final && all; t++)
        all = knows_all(match, own, t);
    return all;
}

/// Whether anybody has appeared so lately that the client may not have been told where, or may have
/// predicted others as if nobody were there.
static bool has_foretold_all(const struct storm_match *match, hc_tick final) {
    return storm_truth_appeared(match->truth) < hc_tick_back(final, AROUND * wait_ticks(match));
}

/// Of all units that it knows, a client holds at the final tick what the server does. What it was
/// not told at that very tick it has predicted, which is exact if there was nobody whom it did not
/// know, and nobody appeared.
///
/// A client whose ring is shorter than F lags behind (somebody silent holds F back by W) cannot
/// hold it: nothing is compared then. One that stalls as its limit is too small lags in the same
/// way.
void storm_calm_agree(struct storm_match *match, unsigned client) {
    const struct hc_world *world = storm_truth_world(match->truth);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    struct storm_conn *conn = connection(match, client);
    enum hc_client_state state = hc_client_state(core);
    hc_tick final = core->newest.snapshot.final;
    if ((state != HC_CLIENT_PLAYING && state != HC_CLIENT_STALLED) || conn == NULL ||
        !conn->there || final < hc_timeline_oldest(timeline) ||
        final > hc_timeline_head(timeline) || final > storm_truth_final(match->truth))
        return;
    // A client whose server has left out ticks has stamped keys far ahead, and one that was not
    // heard for long, by what it did to its own connection, lets go of them late: what was forced
    // meanwhile is no base. What is predicted from a key counts until the next stamp is known, up
    // to a head of that + W, which still is shown so: that tick may be final before it is shown
    // again.
    if (final <= storm_truth_news(match->truth) + (hc_tick)storm_match_get(match, STORM_history))
        return;
    bool all = has_known_all(match, conn, timeline, final) && has_foretold_all(match, final);
    const uint8_t *presence = hc_timeline_presence(timeline, final);
    const uint8_t *states = hc_timeline_states(timeline, final);
    for (uint32_t u = 0; u < match->units.total; u++) {
        hc_unit unit = (hc_unit)u;
        if (!storm_unit_known(world, unit, presence) ||
            storm_unit_digest(world, unit, presence, states) ==
                storm_truth_unit(match->truth, unit, final) ||
            (!all && !was_told(match, client, conn, unit, final)))
            continue;
        char who[64];
        snprintf(who, sizeof who, "client %u at the final tick %u", client, final);
        storm_units_fail(match, "settled", final, unit, who, timeline,
                         storm_truth_presence(match->truth, final),
                         storm_truth_states(match->truth, final));
        return;
    }
}
