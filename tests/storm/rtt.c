#include "tests/storm/rtt.h"

#include "client/clock.h"
#include "server/host_internal.h"
#include "tests/storm/inside.h"

#include <stdlib.h>

enum {
    PART = 1024,     ///< of a microsecond: so finely is added up here
    AHEAD_TICKS = 3, ///< that a client may be ahead of its clock without waiting, or AHEAD_US
    AHEAD_US = 50000,
    OFF_US = 12, ///< what rounding down at every step may add up to: 8 and 4 times 1 us
};

void storm_rtt_created(struct storm_match *match, unsigned client) {
    const struct hc_client *core = hc_sim_client(match->sim, client);
    match->seats[client].rtt =
        (struct storm_rtt){.earlier = core != NULL ? hc_client_stats(core)->rtt_us.count : 0};
}

// ---- Delays -------------------------------------------------------------------------------------

void storm_rtt_take(struct storm_wait *wait, uint32_t seq, uint64_t now_us) {
    if (seq > wait->seq)
        *wait = (struct storm_wait){.seq = seq, .at_us = now_us};
}

/// What is acknowledged as newest, and how long ago that came.
static void check_wait(struct storm_match *match, const char *who, unsigned client,
                       const struct storm_wait *wait, uint32_t ack, uint64_t sent_us,
                       uint64_t now_us) {
    uint64_t us = wait->seq == 0 ? 0 : now_us - wait->at_us;
    us = us < HC_ACK_DELAY_MAX_US ? us : HC_ACK_DELAY_MAX_US;
    if (ack != wait->seq || sent_us != us)
        storm_fail(match->verdict, STORM_WRONG, "ack-delay", 0,
                   "%s %u acknowledges %u after %lu us, the newest is %u, which came %lu us ago",
                   who, client, ack, (unsigned long)sent_us, wait->seq, (unsigned long)us);
}

void storm_rtt_shown(struct storm_match *match, const struct storm_conn *conn, const uint8_t *bytes,
                     size_t size) {
    struct hc_data data;
    struct hc_snapshot head;
    if (hc_datagram_get_data(bytes, size, &data) == HC_OK &&
        storm_counts_snapshot(bytes, size, match->tally.head, conn->player_count, &head))
        check_wait(match, "the server, to client", conn->seat, &conn->in, data.ack,
                   head.ack_delay_us, hc_sim_host_now(match->sim));
}

// ---- How late inputs may be ---------------------------------------------------------------------

bool storm_rtt_refuses(const struct storm_match *match) {
    return storm_match_get(match, STORM_slack) < storm_match_get(match, STORM_history);
}

uint32_t storm_rtt_late_limit(const struct storm_match *match, const struct storm_conn *conn) {
    struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_sv_peer *peer = conn == NULL ? NULL : hc_sv_host_peer(host, conn->cid);
    uint32_t history = (uint32_t)storm_match_get(match, STORM_history);
    return peer == NULL ? history : hc_sv_host_late_limit(host, peer);
}

static uint32_t rate_of(const struct storm_match *match) {
    return (uint32_t)storm_match_get(match, STORM_tick_rate);
}

// ---- Round trips --------------------------------------------------------------------------------

void storm_rtt_sent(struct storm_match *match, unsigned client, const uint8_t *bytes, size_t size) {
    struct hc_data data;
    uint64_t numbers[3]; // client tick, display offset, ack delay
    if (hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    if (!match->seats[client].hostile && storm_counts_type(bytes, size) == HC_MESSAGE_INPUT &&
        storm_counts_peek(bytes, size, 3, numbers))
        check_wait(match, "client", client, &match->seats[client].rtt.in, data.ack, numbers[2],
                   hc_sim_client_now(match->sim, client));
    match->seats[client].rtt.sent[data.seq % STORM_RTT_SENT] =
        (struct storm_rtt_sent){.seq = data.seq, .at_us = hc_sim_client_now(match->sim, client)};
}

static uint64_t apart(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/// RFC 6298, section 2: alpha 1/8, beta 1/4.
static void smooth(struct storm_rtt *rtt, uint64_t rtt_us) {
    uint64_t r = rtt_us * PART;
    rtt->rttvar = rtt->count == 0 ? r / 2 : (rtt->rttvar * 3 + apart(rtt->srtt, r)) / 4;
    rtt->srtt = rtt->count == 0 ? r : (rtt->srtt * 7 + r) / 8;
    rtt->count++;
}

/// Whether the newest stamp, true when it was sent and at most a round trip old, shows that the
/// server's clock is not where `sample` has it.
static bool refuted(const struct storm_rtt *rtt, const struct storm_rtt_taken *sample) {
    const struct storm_rtt_taken *newest = &rtt->taken[(rtt->count - 1) % STORM_RTT_TAKEN];
    int64_t least_us = (int64_t)(rtt->stamp_us - newest->at_us);
    int64_t most_us = least_us + (int64_t)newest->rtt_us;
    return sample->offset_us < least_us - HC_CL_CLOCK_SLACK_US ||
           sample->offset_us > most_us + HC_CL_CLOCK_SLACK_US;
}

/// The least of those that the client's clock may still look at. When the newest refutes it the
/// server's clock was set, and only the newest counts from then on; of several that are the least
/// one may be refuted and another not, then `says_us` tells which it has gone by.
static uint64_t least_of(struct storm_rtt *rtt, uint64_t now_us, uint64_t says_us) {
    const struct storm_rtt_taken *newest = &rtt->taken[(rtt->count - 1) % STORM_RTT_TAKEN];
    uint64_t least_us = UINT64_MAX, from = rtt->first;
    bool all = true, any = false;
    if (rtt->count - from > STORM_RTT_TAKEN)
        from = rtt->count - STORM_RTT_TAKEN;
    for (uint64_t i = from; i < rtt->count; i++) {
        const struct storm_rtt_taken *sample = &rtt->taken[i % STORM_RTT_TAKEN];
        if (now_us - sample->at_us > HC_CL_CLOCK_WINDOW_US || sample->rtt_us > least_us)
            continue;
        bool is_refuted = refuted(rtt, sample), less = sample->rtt_us < least_us;
        all = is_refuted && (all || less);
        any = is_refuted || (any && !less);
        least_us = sample->rtt_us;
    }
    // The newest cannot be refuted by itself.
    if (least_us == newest->rtt_us || (!all && !(any && says_us == newest->rtt_us)))
        return least_us;
    rtt->first = rtt->count - 1;
    return newest->rtt_us;
}

static void check(struct storm_match *match, unsigned client, uint64_t newest_us) {
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    struct storm_rtt *rtt = &match->seats[client].rtt;
    uint64_t least_us = least_of(rtt, hc_sim_client_now(match->sim, client), stats->rtt_min_us);
    if (stats->rtt_us.count != rtt->earlier + rtt->count ||
        apart(stats->jitter_us, rtt->rttvar / PART) > OFF_US)
        storm_fail(match->verdict, STORM_WRONG, "round-trip", rtt->as_of,
                   "client %u has taken %lu round trips with a deviation of %lu us, there were %lu "
                   "with %lu",
                   client, (unsigned long)stats->rtt_us.count, (unsigned long)stats->jitter_us,
                   (unsigned long)rtt->count, (unsigned long)(rtt->rttvar / PART));
    if (stats->rtt_min_us != least_us)
        storm_fail(match->verdict, STORM_WRONG, "round-trip", rtt->as_of,
                   "client %u says %lu us for its least round trip, which is %lu, the newest %lu",
                   client, (unsigned long)stats->rtt_min_us, (unsigned long)least_us,
                   (unsigned long)newest_us);
}

void storm_rtt_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                        size_t size) {
    struct storm_rtt *rtt = &match->seats[client].rtt;
    struct hc_data data;
    struct hc_snapshot head;
    uint64_t now_us = hc_sim_client_now(match->sim, client);
    if (hc_datagram_get_data(bytes, size, &data) != HC_OK)
        return;
    storm_rtt_take(&rtt->in, data.seq, now_us);
    if (match->seats[client].tally.leaves ||
        !storm_counts_snapshot(bytes, size, match->tally.head,
                               (uint8_t)storm_client_get(match, client, STORM_C_players), &head) ||
        (rtt->any && head.as_of <= rtt->as_of))
        return;
    rtt->any = true;
    rtt->as_of = head.as_of;
    const struct storm_rtt_sent *sent = &rtt->sent[data.ack % STORM_RTT_SENT];
    if (data.ack <= rtt->measured || sent->seq != data.ack)
        return;
    rtt->measured = data.ack;
    uint64_t took_us = now_us - sent->at_us;
    uint64_t rtt_us = took_us > head.ack_delay_us ? took_us - head.ack_delay_us : 0;
    rtt->stamp_us = hc_tick_due_us(rtt->as_of, rate_of(match)) + head.phase_us;
    rtt->taken[rtt->count % STORM_RTT_TAKEN] =
        (struct storm_rtt_taken){.at_us = now_us,
                                 .rtt_us = rtt_us,
                                 .offset_us = (int64_t)(rtt->stamp_us + rtt_us / 2 - now_us)};
    smooth(rtt, rtt_us);
    check(match, client, rtt_us);
}

void storm_rtt_handed(struct storm_match *match, unsigned client) {
    match->seats[client].rtt.handed = true;
}

/// D and lead are cut to what the server accepts.
static uint32_t lead_of(const struct storm_match *match, unsigned client) {
    int64_t delay = storm_client_get(match, client, STORM_C_delay);
    int64_t lead = storm_client_get(match, client, STORM_C_lead);
    int64_t future = storm_match_get(match, STORM_future);
    int64_t room = future - (delay < future ? delay : future);
    return (uint32_t)(lead < room ? lead : room);
}

void storm_rtt_changed(struct storm_match *match, unsigned client) {
    struct storm_rtt *rtt = &match->seats[client].rtt;
    const struct hc_client *core = hc_sim_client(match->sim, client);
    bool handed = rtt->handed;
    rtt->handed = false;
    if (handed || rtt->count == 0 || hc_client_state(core) != HC_CLIENT_PLAYING)
        return;
    // The stamp is as old as the way that it took, of which the round trip is the most.
    const struct storm_rtt_taken *newest = &rtt->taken[(rtt->count - 1) % STORM_RTT_TAKEN];
    uint64_t since_us = hc_sim_client_now(match->sim, client) - newest->at_us;
    uint64_t least_us = rtt->stamp_us + since_us, most_us = least_us + newest->rtt_us;
    least_us = least_us > HC_CL_CLOCK_SLACK_US ? least_us - HC_CL_CLOCK_SLACK_US : 0;
    uint32_t rate = rate_of(match), lead = lead_of(match, client);
    hc_tick least = hc_tick_at_us(least_us, rate) + lead;
    hc_tick most = hc_tick_at_us(most_us + HC_CL_CLOCK_SLACK_US, rate) + lead;
    hc_tick head = hc_timeline_head(hc_client_timeline(core));
    most += hc_tick_max(AHEAD_TICKS, hc_tick_at_us(AHEAD_US, rate) + 1);
    if (head < least || head > most)
        storm_fail(match->verdict, STORM_WRONG, "clock", head,
                   "client %u plays at %u, by the server's stamps it should be at %u to %u", client,
                   head, least, most);
}
