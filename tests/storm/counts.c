#include "tests/storm/counts.h"

#include "tests/storm/inside.h"

#include <inttypes.h>
#include <string.h>

enum {
    LONG_ARRAY = 0xdc,    ///< begins one of more than 15 elements, with their number in two bytes
    CLOSING_US = 5000000, ///< longer than goodbyes are said
};

/// A number that `who` has counted must be the one that was seen from outside.
static void expect(struct storm_match *match, const char *who, unsigned client, const char *what,
                   uint64_t counted, uint64_t seen) {
    if (counted != seen)
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "%s %u counts %" PRIu64 " %s, there were %" PRIu64, who, client, counted, what,
                   seen);
}

// ---- Peeking ------------------------------------------------------------------------------------

/// One unsigned number of msgpack.
static bool take(const uint8_t **at, const uint8_t *end, uint64_t *number) {
    if (*at >= end)
        return false;
    uint8_t first = *(*at)++;
    *number = first;
    if (first < 0x80)
        return true;
    if (first < 0xcc || first > 0xcf || end - *at < 1 << (first - 0xcc))
        return false;
    *number = 0;
    for (int i = 0; i < 1 << (first - 0xcc); i++)
        *number = *number << 8 | *(*at)++;
    return true;
}

/// Where the type of a DATA's first message is: after the header of the body's array.
static size_t type_at(const uint8_t *bytes) {
    return HC_DATA_BODY_AT + (bytes[HC_DATA_BODY_AT] == LONG_ARRAY ? 3 : 1);
}

enum hc_message_type storm_counts_type(const uint8_t *bytes, size_t size) {
    return hc_datagram_kind(bytes, size) == HC_DATAGRAM_DATA &&
                   size > HC_DATA_BODY_AT + HC_TAG_SIZE && size > type_at(bytes) + HC_TAG_SIZE
               ? (enum hc_message_type)bytes[type_at(bytes)]
               : HC_MESSAGE_END;
}

bool storm_counts_peek(const uint8_t *bytes, size_t size, unsigned count, uint64_t *numbers) {
    const uint8_t *at = bytes + type_at(bytes) + 1, *end = bytes + size;
    for (unsigned i = 0; i < count; i++)
        if (!take(&at, end, &numbers[i]))
            return false;
    return true;
}

/// The `*packed_size` bytes of the SNAPSHOT that a DATA begins with; NULL: there is none.
static const uint8_t *packed_in(const uint8_t *bytes, size_t size, size_t *packed_size) {
    enum { SHORT = 0xc4, LONG = 0xc5 };
    const uint8_t *at = bytes + type_at(bytes) + 1, *end = bytes + size - HC_TAG_SIZE;
    if (storm_counts_type(bytes, size) != HC_MESSAGE_SNAPSHOT || end - at < 3 ||
        (at[0] != SHORT && at[0] != LONG))
        return NULL;
    *packed_size = at[0] == SHORT ? at[1] : (size_t)at[1] << 8 | at[2];
    at += at[0] == SHORT ? 2 : 3;
    return *packed_size <= (size_t)(end - at) ? at : NULL;
}

bool storm_counts_snapshot(const uint8_t *bytes, size_t size, hc_tick near, uint8_t own_count,
                           struct hc_snapshot *out) {
    size_t packed_size = 0;
    const uint8_t *packed = packed_in(bytes, size, &packed_size);
    if (packed == NULL)
        return false;
    struct hc_bits_reader bits = hc_bits_reader(packed, packed_size);
    hc_snapshot_get(&bits, near, own_count, out);
    return !bits.failed;
}

// ---- Clients ------------------------------------------------------------------------------------

static struct storm_client_tally *tally_of(struct storm_match *match, unsigned client) {
    return &match->seats[client].tally;
}

void storm_counts_created(struct storm_match *match, unsigned client) {
    struct storm_client_tally *tally = tally_of(match, client);
    *tally = (struct storm_client_tally){
        .head = HC_NO_TICK, .bytes = tally->bytes, .allocator = tally->allocator};
}

void storm_counts_again(struct storm_match *match, unsigned client) {
    struct storm_client_tally *tally = tally_of(match, client);
    tally->any = false;
    tally->head = HC_NO_TICK;
}

void storm_counts_sent(struct storm_match *match, unsigned client, size_t size) {
    struct storm_client_tally *tally = tally_of(match, client);
    tally->out++;
    tally->out_bytes += size;
}

void storm_counts_received(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size, enum hc_status status) {
    struct storm_client_tally *tally = tally_of(match, client);
    struct hc_snapshot head;
    tally->in++;
    tally->in_bytes += size;
    if (status != HC_OK)
        tally->rejected[status]++;
    if (status != HC_OK ||
        !storm_counts_snapshot(bytes, size, match->tally.head,
                               (uint8_t)storm_client_get(match, client, STORM_C_players), &head))
        return;
    tally->told++;
    if (tally->leaves)
        return;
    tally->applied++;
    if (tally->any && head.as_of <= tally->as_of)
        tally->stale++;
    tally->as_of = tally->any ? hc_tick_max(tally->as_of, head.as_of) : head.as_of;
    tally->any = true;
}

static uint64_t digest_of(const struct storm_match *match, const struct hc_timeline *timeline,
                          hc_tick tick) {
    return storm_world_digest(storm_truth_world(match->truth), hc_timeline_presence(timeline, tick),
                              hc_timeline_states(timeline, tick));
}

void storm_counts_left(struct storm_match *match, unsigned client) {
    struct storm_client_tally *tally = tally_of(match, client);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    if (hc_client_state(core) == HC_CLIENT_LEAVING && !tally->leaves) {
        tally->leaves = true;
        tally->left_head = HC_NO_TICK;
        if (!hc_client_snapshot(core, &tally->left_tick, &tally->left_as_of))
            return;
        tally->left_head = hc_timeline_head(timeline);
        tally->left_digest = digest_of(match, timeline, tally->left_head);
    }
}

/// Who leaves takes no snapshots and predicts no ticks.
static void check_left(struct storm_match *match, unsigned client,
                       const struct storm_client_tally *tally, const struct hc_client *core) {
    const struct hc_timeline *timeline = hc_client_timeline(core);
    hc_tick tick = 0, as_of = 0;
    bool any = hc_client_snapshot(core, &tick, &as_of);
    if (any != (tally->left_head != HC_NO_TICK) ||
        (any && (tick != tally->left_tick || as_of != tally->left_as_of ||
                 hc_timeline_head(timeline) != tally->left_head ||
                 digest_of(match, timeline, tally->left_head) != tally->left_digest)))
        storm_fail(match->verdict, STORM_WRONG, "leaving", tick,
                   "client %u has left at head %u, shown %u as of %u, and is now shown %u as of %u",
                   client, tally->left_head, tally->left_tick, tally->left_as_of, tick, as_of);
}

void storm_counts_changed(struct storm_match *match, unsigned client) {
    struct storm_client_tally *tally = tally_of(match, client);
    const struct hc_client *core = hc_sim_client(match->sim, client);
    const struct hc_timeline *timeline = hc_client_timeline(core);
    if (tally->leaves)
        check_left(match, client, tally, core);
    if (timeline == NULL || !hc_timeline_started(timeline))
        return;
    const struct hc_timeline_stats *stats = hc_timeline_stats(timeline);
    uint64_t restarts = hc_client_stats(core)->restarts;
    hc_tick head = hc_timeline_head(timeline), shown = 0, as_of;
    uint32_t limit = storm_client_limit(match, client);
    (void)hc_client_snapshot(core, &shown, &as_of);
    // A timeline that begins anew leaps.
    if (tally->head != HC_NO_TICK && restarts == tally->restarts)
        expect(match, "client", client, "ticks simulated", stats->advances - tally->advances,
               head - tally->head);
    else if (tally->head != HC_NO_TICK && shown <= tally->shown + limit)
        storm_fail(match->verdict, STORM_WRONG, "restart", shown,
                   "client %u begins anew at %u, and may predict %u ticks from %u", client, shown,
                   limit, tally->shown);
    tally->head = head;
    tally->shown = shown;
    tally->advances = stats->advances;
    tally->restarts = restarts;
}

/// Of its snapshots, each was found to match, rolled back or began anew.
static void expect_snapshots(struct storm_match *match, unsigned client,
                             const struct storm_client_tally *tally,
                             const struct hc_client_stats *stats) {
    expect(match, "client", client, "snapshots", stats->snapshots, tally->applied);
    expect(match, "client", client, "stale snapshots", stats->snapshots_stale, tally->stale);
    expect(match, "client", client, "checked hashes", stats->hash_checks, tally->told);
    expect(match, "client", client, "snapshots matched, rolled back or restarted",
           stats->snapshots_matched + stats->rollbacks + stats->restarts, tally->applied);
    expect(match, "client", client, "rollback depths", stats->rollback_depth.count,
           stats->rollbacks);
}

void storm_counts_gone(struct storm_match *match, unsigned client) {
    const struct storm_client_tally *tally = tally_of(match, client);
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(match->sim, client));
    expect(match, "client", client, "datagrams received", stats->datagrams_in, tally->in);
    expect(match, "client", client, "bytes received", stats->bytes_in, tally->in_bytes);
    expect(match, "client", client, "datagrams sent", stats->datagrams_out, tally->out);
    expect(match, "client", client, "bytes sent", stats->bytes_out, tally->out_bytes);
    expect(match, "client", client, "stalls", stats->stalls, tally->stalls);
    for (unsigned s = 0; s < HC_STATUS_COUNT; s++)
        expect(match, "client", client, hc_status_text((enum hc_status)s), stats->rejected[s],
               tally->rejected[s]);
    if (!match->seats[client].hostile) // what was forged in its name may be acknowledged to it
        expect_snapshots(match, client, tally, stats);
    expect(match, "client", client, "bytes of memory", stats->memory_bytes, tally->bytes);
}

// ---- The server ---------------------------------------------------------------------------------

void storm_counts_host_event(struct storm_match *match, const struct hc_sv_event *event) {
    struct storm_host_tally *tally = &match->tally;
    tally->events[event->kind]++;
    // While it does nothing goodbyes wait.
    uint64_t stalled_us = (uint64_t)(storm_match_get(match, STORM_host_stalls) *
                                     storm_match_get(match, STORM_host_stall_ms)) *
                          1000;
    if (event->kind == HC_SV_EVENT_TIMEOUT || event->kind == HC_SV_EVENT_LOST)
        tally->closing_until_us = hc_sim_now(match->sim) + CLOSING_US + stalled_us;
}

/// Every bit of a snapshot is counted for what it was spent on.
static void count_bits(struct storm_match *match, size_t packed_size) {
    const struct hc_sv_snapshot_bits *bits = &hc_sv_host_stats(hc_sim_host(match->sim))->bits;
    uint64_t all = bits->head + bits->names + bits->own + bits->others + bits->unowned +
                   bits->inputs + bits->corrections;
    expect(match, "server", 0, "bytes of a snapshot's bits", (all - match->tally.bits + 7) / 8,
           packed_size);
    match->tally.bits = all;
}

void storm_counts_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                            size_t size, bool copy) {
    struct storm_host_tally *tally = &match->tally;
    struct hc_snapshot head;
    tally->out++;
    tally->out_bytes += size;
    tally->copies += copy;
    if (copy)
        return;
    enum hc_datagram_kind kind = hc_datagram_kind(bytes, size);
    if (kind != HC_DATAGRAM_DATA && kind != HC_DATAGRAM_RESET) { // to what was refused
        tally->answers++;
        tally->denials += hc_datagram_kind(bytes, size) == HC_DATAGRAM_DENY;
    }
    if (!storm_counts_snapshot(bytes, size, tally->head,
                               (uint8_t)storm_client_get(match, client, STORM_C_players), &head))
        return;
    size_t packed_size = 0;
    packed_in(bytes, size, &packed_size);
    count_bits(match, packed_size);
    tally->snapshots++;
    tally->rewound += head.tick >= tally->rewound_from && head.tick < tally->head;
}

/// The clock: ticks come when they are due, those that cannot be made up for are left out, and the
/// next one is always to come.
static void check_time(struct storm_match *match, const struct hc_sv_host *host, hc_tick head) {
    const struct storm_host_tally *tally = &match->tally;
    const struct hc_sv_host_config *config = &hc_sim_config(match->sim)->host;
    uint64_t now_us = hc_sim_host_now(match->sim), deadline_us = hc_sv_host_deadline(host);
    uint64_t passed = hc_tick_at_us(hc_sim_now(match->sim), config->tick_rate);
    uint64_t gone = head + hc_sv_host_stats(host)->ticks_missed;
    if (head - tally->head > config->ticks_per_advance)
        storm_fail(match->verdict, STORM_WRONG, "time", head,
                   "the server does %u ticks at once, %u at most were allowed", head - tally->head,
                   config->ticks_per_advance);
    if (deadline_us > now_us + match->tick_us)
        storm_fail(match->verdict, STORM_WRONG, "time", head, "the next tick is %lu us away",
                   (unsigned long)(deadline_us - now_us));
    if (deadline_us <= now_us && hc_sim_now(match->sim) > tally->closing_until_us)
        storm_fail(match->verdict, STORM_WRONG, "time", head,
                   "the server has done what is due, and the next tick was due %lu us ago",
                   (unsigned long)(now_us - deadline_us));
    if (gone > passed + 1 || gone + 1 < passed)
        storm_fail(match->verdict, STORM_WRONG, "time", head,
                   "the server is at tick %u and has missed %lu, but %lu have passed", head,
                   (unsigned long)(gone - head), (unsigned long)passed);
}

void storm_counts_host_ticked(struct storm_match *match) {
    struct storm_host_tally *tally = &match->tally;
    const struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(host);
    const struct hc_timeline *timeline = hc_sv_host_timeline(host);
    const struct hc_timeline_stats *simulated = hc_timeline_stats(timeline);
    hc_tick head = hc_timeline_head(timeline);
    check_time(match, host, head);
    // Of several ticks at once nobody sees which ones went back.
    if (head == tally->head + 1)
        expect(match, "server", 0, "rewinds", stats->rewind_depth.count,
               tally->rewinds + (simulated->resimulated_ticks > tally->resimulated));
    expect(match, "server", 0, "rewinds of its timeline", stats->rewind_depth.count,
           simulated->rewinds);
    expect(match, "server", 0, "ticks simulated", simulated->advances, head);
    expect(match, "server", 0, "times of ticks", stats->lateness.count, head);
    tally->head = head;
    tally->rewinds = stats->rewind_depth.count;
    tally->resimulated = simulated->resimulated_ticks;
    tally->rewound_from = head - simulated->depth;
}

/// Everything that came was refused, was answered, or was a DATA that was taken.
static void check_delivered(struct storm_match *match, const struct hc_sv_host_stats *stats) {
    uint64_t delivered = 0, refused = 0;
    for (unsigned i = 0; i < match->clients; i++)
        delivered += hc_sim_up_stats(match->sim, i).delivered;
    expect(match, "server", 0, "datagrams received", stats->datagrams_in, delivered);
    expect(match, "server", 0, "datagrams handed to it", delivered, match->arrivals.count);
    expect(match, "server", 0, "bytes received", stats->bytes_in, match->arrivals.bytes);
    for (unsigned s = 0; s < HC_STATUS_COUNT; s++) {
        expect(match, "server", 0, hc_status_text((enum hc_status)s), stats->rejected[s],
               match->arrivals.rejected[s]);
        refused += stats->rejected[s];
    }
    if (storm_match_get(match, STORM_hostile) > 0)
        return; // anything may have come
    uint64_t taken = match->tally.answers + storm_told_heard(match->told);
    uint64_t unheard = storm_told_unheard(match->told);
    if (match->told != NULL &&
        (refused + taken > delivered || refused + taken + unheard < delivered))
        storm_fail(match->verdict, STORM_WRONG, "counters", 0,
                   "of %lu datagrams the server refuses %lu and takes %lu, of %lu nothing is known",
                   (unsigned long)delivered, (unsigned long)refused, (unsigned long)taken,
                   (unsigned long)unheard);
}

void storm_counts_end(struct storm_match *match) {
    const struct storm_host_tally *tally = &match->tally;
    const struct hc_sv_host *host = hc_sim_host(match->sim);
    const struct hc_sv_host_stats *stats = hc_sv_host_stats(host);
    uint64_t stranger_bytes, strangers = hc_sim_strangers(match->sim, &stranger_bytes);
    expect(match, "server", 0, "datagrams sent", stats->datagrams_out, tally->out + strangers);
    expect(match, "server", 0, "bytes sent", stats->bytes_out, tally->out_bytes + stranger_bytes);
    expect(match, "server", 0, "joins", stats->joins, tally->events[HC_SV_EVENT_JOINED]);
    expect(match, "server", 0, "leaves", stats->leaves, tally->events[HC_SV_EVENT_LEFT]);
    expect(match, "server", 0, "connections in the place of others", stats->resumed,
           tally->events[HC_SV_EVENT_RESUMED]);
    expect(match, "server", 0, "copies", stats->copies, tally->copies);
    expect(match, "server", 0, "changes of address", stats->moved,
           tally->events[HC_SV_EVENT_MOVED]);
    expect(match, "server", 0, "timeouts", stats->timeouts, tally->events[HC_SV_EVENT_TIMEOUT]);
    expect(match, "server", 0, "lost connections", stats->lost, tally->events[HC_SV_EVENT_LOST]);
    expect(match, "server", 0, "clients", hc_sv_host_clients(host),
           stats->joins - stats->leaves - stats->timeouts - storm_conns_kept(&match->conns));
    check_delivered(match, stats);
    expect(match, "server", 0, "denials", stats->denied, tally->denials);
    expect(match, "server", 0, "snapshots", stats->snapshots, tally->snapshots);
    expect(match, "server", 0, "snapshots of rewound ticks", stats->snapshots_rewound,
           tally->rewound);
}

void storm_counts_freed(struct storm_match *match) {
    expect(match, "server", 0, "bytes of memory freed", 0, match->host_bytes);
    for (unsigned i = 0; i < match->clients; i++)
        expect(match, "client", i, "bytes of memory freed", 0, tally_of(match, i)->bytes);
}
