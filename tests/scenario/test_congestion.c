/// Narrow links: the bound on the bytes in flight keeps queues short, and free links are free.
#include "tests/scenario/require.h"
#include "tests/sim/players.h"
#include "tests/sim/sim.h"

#include "common/elapsed.h"
#include "proto/limits.h"
#include "hindcast/arena.h"
#include "tests/run_suite.h"

#include <stdlib.h>

enum {
    CLIENTS_MAX = 10,
    BIN_US = 50 * MS_US,     ///< over which bytes are counted
    BINS = 120 * 20,         ///< of a play of two minutes
    SECOND_BINS = 20,        ///< of a second
    LATENCY_MS = 20,         ///< of all links, one way
    QUEUE_BYTES = 64 * 1024, ///< before a narrow link
    DIP_BYTES_PER_S = 1000,
    SOON_US = 5 * SECOND_US, ///< all play again so long after a dip
    QUEUE_US = 100 * MS_US,  ///< of the round trip, at most
};

/// The bytes of one direction of the link of a client, or of all clients.
struct way {
    uint64_t sent[BINS], offered[BINS]; ///< bytes
    uint32_t over;                      ///< bins in a row at which twice the offer was exceeded
    uint32_t over_most;                 ///< the most of them
};

struct client_play {
    struct way ways[2]; ///< up, down
    uint64_t rtt_sum_us, rtt_count;
    uint64_t rtt_us;     ///< the newest round trip
    uint64_t rtt_min_us; ///< the least one
    uint64_t good_us;    ///< since when it plays with short round trips; 0: it does not
    uint64_t again_us;   ///< since when it did so for a second, after a dip; 0: it did not
};

struct play {
    struct hc_sim *sim;
    struct client_play clients[CLIENTS_MAX];
    struct way shared[2];
    uint32_t bytes_per_s[2]; ///< of each client's link, or of the shared one
    bool shares;
    uint32_t bin;          ///< the newest
    uint64_t queues[1000]; ///< round trips by their queue in ms
    uint64_t queue_count;
    bool steady; ///< round trips are measured
};

// ---- Measuring ----------------------------------------------------------------------------------

static uint64_t sum_of(const uint64_t *bins, uint32_t end) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SECOND_BINS && i < end; i++)
        sum += bins[end - 1 - i];
    return sum;
}

/// Ends a bin: whether more than twice the offer of the last second was sent in it.
static void end_bin(struct way *way, uint32_t bin, uint32_t bytes_per_s) {
    way->offered[bin] = bytes_per_s * (uint64_t)BIN_US / SECOND_US;
    bool over =
        bin >= SECOND_BINS && sum_of(way->sent, bin + 1) > 2 * sum_of(way->offered, bin + 1);
    way->over = over ? way->over + 1 : 0;
    if (way->over > way->over_most)
        way->over_most = way->over;
}

static void tick(void *context, struct hc_sim *sim) {
    struct play *play = context;
    uint32_t bin = (uint32_t)(hc_sim_now(sim) / BIN_US);
    for (; play->bin < bin && play->bin < BINS; play->bin++)
        for (int w = 0; w < 2; w++) {
            if (play->shares)
                end_bin(&play->shared[w], play->bin, play->bytes_per_s[w]);
            for (unsigned i = 0; !play->shares && i < hc_sim_clients(sim); i++)
                end_bin(&play->clients[i].ways[w], play->bin, play->bytes_per_s[w]);
        }
}

static void count_sent(struct play *play, unsigned client, int w, size_t size) {
    uint32_t bin = (uint32_t)(hc_sim_now(play->sim) / BIN_US);
    if (bin >= BINS)
        return;
    play->clients[client].ways[w].sent[bin] += size;
    play->shared[w].sent[bin] += size;
}

static void host_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                      size_t size) {
    (void)sim, (void)bytes;
    count_sent(context, client, 1, size);
}

static void client_sent(void *context, struct hc_sim *sim, unsigned client, const uint8_t *bytes,
                        size_t size) {
    (void)sim, (void)bytes;
    count_sent(context, client, 0, size);
}

/// Takes a round trip that the client has measured.
static void take_round_trip(struct play *play, struct client_play *own, uint64_t rtt_us) {
    own->rtt_us = rtt_us;
    if (own->rtt_min_us == 0 || rtt_us < own->rtt_min_us)
        own->rtt_min_us = rtt_us;
    uint64_t queue_us = hc_since(own->rtt_min_us, rtt_us);
    if (!play->steady)
        return;
    play->queues[queue_us / MS_US < 999 ? queue_us / MS_US : 999]++;
    play->queue_count++;
}

static void client_changed(void *context, struct hc_sim *sim, unsigned client) {
    struct play *play = context;
    struct client_play *own = &play->clients[client];
    const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(sim, client));
    if (stats->rtt_us.count > own->rtt_count)
        take_round_trip(play, own, stats->rtt_us.sum - own->rtt_sum_us);
    own->rtt_count = stats->rtt_us.count;
    own->rtt_sum_us = stats->rtt_us.sum;
    bool good = hc_client_state(hc_sim_client(sim, client)) == HC_CLIENT_PLAYING &&
                own->rtt_us <= own->rtt_min_us + QUEUE_US;
    if (!good)
        own->good_us = 0;
    else if (own->good_us == 0)
        own->good_us = hc_sim_now(sim);
    else if (own->again_us == 0 && hc_since(own->good_us, hc_sim_now(sim)) >= SECOND_US)
        own->again_us = own->good_us;
}

/// The queue that so many percent of the steady round trips do not exceed, ms.
static uint32_t queue_percentile(const struct play *play, uint32_t percent) {
    uint64_t count = 0;
    uint32_t ms = 0;
    while (ms < 999 && (count += play->queues[ms]) * 100 < play->queue_count * percent)
        ms++;
    return ms;
}

// ---- Playing ------------------------------------------------------------------------------------

static struct hc_network_sim_config narrow(uint32_t bytes_per_s) {
    struct hc_network_sim_config link = hc_sim_link(LATENCY_MS, 0);
    link.bytes_per_s = bytes_per_s;
    link.queue_bytes = QUEUE_BYTES;
    return link;
}

static struct play *play_begin(struct hc_sim_config *config, uint32_t up, uint32_t down) {
    struct play *play = calloc(1, sizeof *play);
    ck_assert_ptr_nonnull(play);
    play->shares = config->shares;
    play->bytes_per_s[0] = up;
    play->bytes_per_s[1] = down;
    config->trace_worlds = false;
    play->sim = hc_sim_create(config);
    ck_assert_ptr_nonnull(play->sim);
    const struct hc_sim_hooks hooks = {.host_ticked = tick,
                                       .client_changed = client_changed,
                                       .host_sent = host_sent,
                                       .client_sent = client_sent};
    hc_sim_observe(play->sim, &hooks, play);
    return play;
}

static void play_end(struct play *play) {
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        ck_assert_uint_eq(hc_client_stats(hc_sim_client(play->sim, i))->hash_mismatches, 0);
    hc_sim_destroy(play->sim);
    free(play);
}

static void set_rates(struct play *play, const struct hc_network_sim_config *up,
                      const struct hc_network_sim_config *down) {
    tick(play, play->sim);
    play->bytes_per_s[0] = up->bytes_per_s;
    play->bytes_per_s[1] = down->bytes_per_s;
    if (play->shares)
        hc_sim_set_shared(play->sim, up, down);
    for (unsigned i = 0; !play->shares && i < hc_sim_clients(play->sim); i++)
        hc_sim_set_link(play->sim, i, up, down);
}

/// Datagrams that waited because of the bound.
static uint64_t held_back(const struct play *play) {
    uint64_t held = hc_server_stats(hc_sim_host(play->sim))->snapshots_held_back;
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        held += hc_client_stats(hc_sim_client(play->sim, i))->held_back;
    return held;
}

static uint32_t over_most(const struct play *play) {
    uint32_t most = 0;
    for (int w = 0; w < 2; w++) {
        if (play->shares && play->shared[w].over_most > most)
            most = play->shared[w].over_most;
        for (unsigned i = 0; !play->shares && i < CLIENTS_MAX; i++)
            if (play->clients[i].ways[w].over_most > most)
                most = play->clients[i].ways[w].over_most;
    }
    return most;
}

/// How long after now, at most, all clients began to play with short round trips.
static uint64_t again_us(struct play *play) {
    uint64_t from_us = hc_sim_now(play->sim), most_us = 0;
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        play->clients[i].again_us = 0;
    hc_sim_run(play->sim, SOON_US + SECOND_US);
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        const struct client_play *own = &play->clients[i];
        uint64_t us = own->again_us == 0 ? UINT64_MAX : hc_since(from_us, own->again_us);
        most_us = us > most_us ? us : most_us;
    }
    return most_us;
}

/// Plays on narrow links, then through three dips, and checks the bounds.
static void play_dips(struct play *play, const struct hc_network_sim_config wide[2],
                      const struct hc_network_sim_config dip[2]) {
    static const uint32_t dips_ms[] = {500, 1000, 3000};
    ck_assert(hc_sim_join_all(play->sim));
    hc_sim_run(play->sim, 5 * SECOND_US);
    play->steady = true;
    hc_sim_run(play->sim, 15 * SECOND_US);
    play->steady = false;
    ck_assert_uint_gt(play->queue_count, 1000);
    REQUIRE(queue_percentile(play, 95) * MS_US <= QUEUE_US,
            "the queues of round trips are %u ms, and %u at 95 %%", queue_percentile(play, 50),
            queue_percentile(play, 95));
    for (size_t i = 0; i < sizeof dips_ms / sizeof dips_ms[0]; i++) {
        set_rates(play, &dip[0], &dip[1]);
        hc_sim_run(play->sim, dips_ms[i] * MS_US);
        set_rates(play, &wide[0], &wide[1]);
        uint64_t us = again_us(play);
        REQUIRE(us <= SOON_US, "after a dip of %u ms all play again after %u ms", dips_ms[i],
                (unsigned)(us / MS_US));
    }
    REQUIRE(over_most(play) <= SECOND_BINS, "twice the offer was exceeded for %u ms",
            over_most(play) * (BIN_US / MS_US));
    ck_assert_uint_eq(hc_server_stats(hc_sim_host(play->sim))->inputs_lost, 0);
    ck_assert_uint_gt(held_back(play), 0);
}

START_TEST(narrow_links_and_dips_keep_queues_short) {
    enum { UP = 1, DOWN = 2, WIDE = 10000000 };
    static const struct {
        uint32_t bytes_per_s, ways, queue_ms, loss_percent;
    } cases[] = {{8000, UP, 0, 0},           {8000, DOWN, 0, 0},       {8000, UP | DOWN, 0, 0},
                 {16000, UP | DOWN, 500, 0}, {32000, UP | DOWN, 0, 5}, {64000, UP | DOWN, 0, 0}};
    const size_t at = (size_t)_i;
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 8, LATENCY_MS, 5 + at);
    struct hc_network_sim_config wide[2], dip[2];
    for (int w = 0; w < 2; w++) {
        bool is_narrow = (cases[at].ways >> w & 1) != 0;
        wide[w] = narrow(is_narrow ? cases[at].bytes_per_s : WIDE);
        wide[w].loss_ppm = cases[at].loss_percent * (HC_NETWORK_SIM_PPM / 100);
        if (cases[at].queue_ms > 0)
            wide[w].queue_bytes = 0;
        wide[w].queue_us = cases[at].queue_ms * MS_US;
        dip[w] = wide[w];
        dip[w].bytes_per_s = is_narrow ? DIP_BYTES_PER_S : WIDE;
    }
    config.up = wide[0];
    config.down = wide[1];
    struct play *play = play_begin(&config, wide[0].bytes_per_s, wide[1].bytes_per_s);
    play_dips(play, wide, dip);
    play_end(play);
}
END_TEST

START_TEST(ten_clients_share_a_link) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 10, LATENCY_MS, 5);
    struct hc_network_sim_config wide[2], dip[2];
    for (int w = 0; w < 2; w++) {
        dip[w] = wide[w] = narrow(64000);
        wide[w].latency_us = dip[w].latency_us = MS_US;
        dip[w].bytes_per_s = 10 * DIP_BYTES_PER_S;
    }
    config.shares = true;
    config.shared_up = wide[0];
    config.shared_down = wide[1];
    struct play *play = play_begin(&config, wide[0].bytes_per_s, wide[1].bytes_per_s);
    play_dips(play, wide, dip);
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < 10; i++) {
        uint64_t snapshots = hc_client_stats(hc_sim_client(play->sim, i))->snapshots;
        least = snapshots < least ? snapshots : least;
        most = snapshots > most ? snapshots : most;
    }
    REQUIRE(least * 5 >= most * 4, "one client received %u snapshots, another %u", (unsigned)least,
            (unsigned)most);
    play_end(play);
}
END_TEST

/// Jitter and random losses are no congestion: no datagram waits, from the first on.
START_TEST(a_free_link_has_no_bound) {
    static const struct hc_network_sim_config links[] = {
        {.latency_us = 0},
        {.latency_us = 5000, .loss_ppm = 50000},
        {.latency_us = 20000, .jitter_us = 2000},
        {.latency_us = 50000, .jitter_us = 10000, .loss_ppm = 10000},
        {.latency_us = 80000, .jitter_us = 20000, .loss_ppm = 50000},
        {.latency_us = 50000, .jitter_us = 50000, .loss_ppm = 50000},
        {.latency_us = 150000, .loss_ppm = 50000}};
    struct hc_sim_config config =
        hc_sim_config_players(&hc_arena, 8, LATENCY_MS, 50 + (uint64_t)_i);
    config.up = config.down = links[_i];
    struct play *play = play_begin(&config, 0, 0);
    ck_assert(hc_sim_join_all(play->sim));
    hc_sim_run(play->sim, 20 * SECOND_US);
    ck_assert_uint_eq(held_back(play), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct hc_client_recent recent;
        ck_assert(hc_client_recent(hc_sim_client(play->sim, i), &recent));
        ck_assert_uint_eq(recent.in_flight_bound_bytes, 0);
        ck_assert_uint_gt(recent.in_flight_bytes, 0);
    }
    play_end(play);
}
END_TEST

static uint64_t sent_down(const struct play *play, unsigned client) {
    return sum_of(play->clients[client].ways[1].sent, play->bin);
}

/// Without acks snapshots have old baselines and would be larger.
START_TEST(a_client_whose_acks_are_old_is_sent_no_more_bytes) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, 8, LATENCY_MS, 7);
    struct play *play = play_begin(&config, 0, 0);
    struct hc_network_sim_config dead = hc_sim_link(LATENCY_MS, 100),
                                 good = hc_sim_link(LATENCY_MS, 0);
    ck_assert(hc_sim_join_all(play->sim));
    hc_sim_run(play->sim, 5 * SECOND_US);
    const uint64_t fewer = 60 - 10; // datagrams, whose headers of IP and UDP are not counted here
    uint64_t before = sent_down(play, 0) + fewer * HC_FLIGHT_OVERHEAD;
    hc_sim_set_link(play->sim, 0, &dead, &good);
    hc_sim_run(play->sim, SECOND_US); // in which the server learns that
    for (int second = 1; second < 4; second++) {
        hc_sim_run(play->sim, SECOND_US);
        REQUIRE(sent_down(play, 0) <= before, "%u bytes a second after %u",
                (unsigned)sent_down(play, 0), (unsigned)before);
    }
    ck_assert_uint_ge(sent_down(play, 0), 10 * 30); // it is still sent a DATA each 100 ms
    hc_sim_set_link(play->sim, 0, &good, &good);
    hc_sim_run(play->sim, 2 * SECOND_US);
    ck_assert_int_eq(hc_client_state(hc_sim_client(play->sim, 0)), HC_CLIENT_PLAYING);
    play_end(play);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("congestion");
    TCase *tests = add_long_plays(suite), *brief = tcase_create("congestion");
    suite_add_tcase(suite, brief);
    tcase_set_timeout(brief, 600);
    tcase_add_test(brief, a_client_whose_acks_are_old_is_sent_no_more_bytes);
    tcase_add_loop_test(tests, narrow_links_and_dips_keep_queues_short, 0, 6);
    tcase_add_test(tests, ten_clients_share_a_link);
    tcase_add_loop_test(tests, a_free_link_has_no_bound, 0, 7);
    return run_suite(suite);
}
