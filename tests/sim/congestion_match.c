/// Owns matches over narrow links, and measures their round trips and bytes.
#include "tests/sim/congestion_match.h"

#include "common/elapsed.h"
#include "hindcast/arena.h"

#include <stdlib.h>

enum {
    BIN_US = 50 * MS_US,     ///< over which bytes are counted
    BINS = 120 * 20,         ///< of a play of two minutes
    SECOND_BINS = 20,        ///< of a second
    LATENCY_MS = 20,         ///< of all links, one way
    QUEUE_BYTES = 64 * 1024, ///< before a narrow link
    WIDE = 10000000,         ///< bytes a second of a link that is not narrow
    DIP_BYTES_PER_S = 1000,
    DIP_SHARED = 10, ///< times as much if all share a link
    AGAIN_US = HC_CONGESTION_AGAIN_MS * MS_US,
    QUEUE_US = HC_CONGESTION_QUEUE_MS * MS_US,
};

const struct hc_congestion_case hc_congestion_cases[HC_CONGESTION_NARROW] = {
    {"8 kB/s up", 8, false, 8000, HC_CONGESTION_UP, 0, 0},
    {"8 kB/s down", 8, false, 8000, HC_CONGESTION_DOWN, 0, 0},
    {"8 kB/s", 8, false, 8000, HC_CONGESTION_BOTH, 0, 0},
    {"16 kB/s, queue of 500 ms", 8, false, 16000, HC_CONGESTION_BOTH, 500, 0},
    {"32 kB/s, 5 % loss", 8, false, 32000, HC_CONGESTION_BOTH, 0, 5},
    {"64 kB/s", 8, false, 64000, HC_CONGESTION_BOTH, 0, 0},
    {"64 kB/s for ten clients", 10, true, 64000, HC_CONGESTION_BOTH, 0, 0},
};

const struct hc_network_sim_config hc_congestion_free[HC_CONGESTION_FREE] = {
    {.latency_us = 0},
    {.latency_us = 5000, .loss_ppm = 50000},
    {.latency_us = 20000, .jitter_us = 2000},
    {.latency_us = 50000, .jitter_us = 10000, .loss_ppm = 10000},
    {.latency_us = 80000, .jitter_us = 20000, .loss_ppm = 50000},
    {.latency_us = 50000, .jitter_us = 50000, .loss_ppm = 50000},
    {.latency_us = 150000, .loss_ppm = 50000},
};

const uint32_t hc_congestion_dips_ms[HC_CONGESTION_DIPS] = {500, 1000, 3000};

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

struct hc_congestion {
    struct hc_sim *sim;
    struct client_play clients[HC_CONGESTION_CLIENTS_MAX];
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
    struct hc_congestion *play = context;
    uint32_t bin = (uint32_t)(hc_sim_now(sim) / BIN_US);
    for (; play->bin < bin && play->bin < BINS; play->bin++)
        for (int w = 0; w < 2; w++) {
            if (play->shares)
                end_bin(&play->shared[w], play->bin, play->bytes_per_s[w]);
            for (unsigned i = 0; !play->shares && i < hc_sim_clients(sim); i++)
                end_bin(&play->clients[i].ways[w], play->bin, play->bytes_per_s[w]);
        }
}

static void count_sent(struct hc_congestion *play, unsigned client, int w, size_t size) {
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
static void take_round_trip(struct hc_congestion *play, struct client_play *own, uint64_t rtt_us) {
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
    struct hc_congestion *play = context;
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
static uint32_t queue_percentile(const struct hc_congestion *play, uint32_t percent) {
    uint64_t count = 0;
    uint32_t ms = 0;
    while (ms < 999 && (count += play->queues[ms]) * 100 < play->queue_count * percent)
        ms++;
    return ms;
}

// ---- Playing ------------------------------------------------------------------------------------

struct hc_congestion *hc_congestion_begin(const struct hc_sim_config *config, uint32_t up,
                                          uint32_t down) {
    struct hc_congestion *play = calloc(1, sizeof *play);
    if (play == NULL)
        return NULL;
    play->shares = config->shares;
    play->bytes_per_s[0] = up;
    play->bytes_per_s[1] = down;
    play->sim = hc_sim_create(config);
    if (play->sim == NULL) {
        free(play);
        return NULL;
    }
    const struct hc_sim_hooks hooks = {.host_ticked = tick,
                                       .client_changed = client_changed,
                                       .host_sent = host_sent,
                                       .client_sent = client_sent};
    hc_sim_observe(play->sim, &hooks, play);
    return play;
}

void hc_congestion_end(struct hc_congestion *play) {
    hc_sim_destroy(play->sim);
    free(play);
}

struct hc_sim *hc_congestion_sim(struct hc_congestion *play) {
    return play->sim;
}

uint64_t hc_congestion_held(const struct hc_congestion *play) {
    uint64_t held = hc_server_stats(hc_sim_host(play->sim))->snapshots_held_back;
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        held += hc_client_stats(hc_sim_client(play->sim, i))->held_back;
    return held;
}

uint64_t hc_congestion_sent_down(const struct hc_congestion *play, unsigned client) {
    return sum_of(play->clients[client].ways[1].sent, play->bin);
}

static void set_rates(struct hc_congestion *play, const struct hc_network_sim_config links[2]) {
    tick(play, play->sim);
    play->bytes_per_s[0] = links[0].bytes_per_s;
    play->bytes_per_s[1] = links[1].bytes_per_s;
    if (play->shares)
        hc_sim_set_shared(play->sim, &links[0], &links[1]);
    for (unsigned i = 0; !play->shares && i < hc_sim_clients(play->sim); i++)
        hc_sim_set_link(play->sim, i, &links[0], &links[1]);
}

static uint32_t over_most(const struct hc_congestion *play) {
    uint32_t most = 0;
    for (int w = 0; w < 2; w++) {
        if (play->shares && play->shared[w].over_most > most)
            most = play->shared[w].over_most;
        for (unsigned i = 0; !play->shares && i < HC_CONGESTION_CLIENTS_MAX; i++)
            if (play->clients[i].ways[w].over_most > most)
                most = play->clients[i].ways[w].over_most;
    }
    return most;
}

/// How long after now, at most, all clients began to play with short round trips, in milliseconds;
/// UINT32_MAX: not within 6 s.
static uint32_t again_ms(struct hc_congestion *play) {
    uint64_t from_us = hc_sim_now(play->sim), most_us = 0;
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++)
        play->clients[i].again_us = 0;
    hc_sim_run(play->sim, AGAIN_US + SECOND_US);
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        const struct client_play *own = &play->clients[i];
        if (own->again_us == 0)
            return UINT32_MAX;
        uint64_t us = hc_since(from_us, own->again_us);
        most_us = us > most_us ? us : most_us;
    }
    return (uint32_t)(most_us / MS_US);
}

/// The links of a case, up and down, and those of its dips.
static void make_links(const struct hc_congestion_case *of, struct hc_network_sim_config wide[2],
                       struct hc_network_sim_config dip[2]) {
    for (int w = 0; w < 2; w++) {
        bool is_narrow = (of->ways >> w & 1) != 0;
        wide[w] = hc_sim_link(of->shares ? 1 : LATENCY_MS, of->loss_percent);
        wide[w].bytes_per_s = is_narrow ? of->bytes_per_s : WIDE;
        wide[w].queue_bytes = of->queue_ms > 0 ? 0 : QUEUE_BYTES;
        wide[w].queue_us = of->queue_ms * MS_US;
        dip[w] = wide[w];
        if (is_narrow)
            dip[w].bytes_per_s = DIP_BYTES_PER_S * (of->shares ? DIP_SHARED : 1);
    }
}

static void sum_up(const struct hc_congestion *play, struct hc_congestion_result *result) {
    const struct hc_server_stats *server = hc_server_stats(hc_sim_host(play->sim));
    result->queue_p50_ms = queue_percentile(play, 50);
    result->queue_p95_ms = queue_percentile(play, 95);
    result->round_trips = play->queue_count;
    result->over_ms = over_most(play) * (BIN_US / MS_US);
    result->lost = server->inputs_lost;
    result->forced = server->inputs_forced;
    result->held_back = hc_congestion_held(play);
    result->snapshots_least = UINT64_MAX;
    for (unsigned i = 0; i < hc_sim_clients(play->sim); i++) {
        const struct hc_client_stats *stats = hc_client_stats(hc_sim_client(play->sim, i));
        uint64_t snapshots = stats->snapshots;
        result->mismatches += stats->hash_mismatches;
        if (snapshots < result->snapshots_least)
            result->snapshots_least = snapshots;
        if (snapshots > result->snapshots_most)
            result->snapshots_most = snapshots;
    }
}

bool hc_congestion_dips(const struct hc_congestion_case *of, uint64_t seed,
                        struct hc_congestion_result *result) {
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, of->clients, LATENCY_MS, seed);
    struct hc_network_sim_config wide[2], dip[2];
    make_links(of, wide, dip);
    config.shares = of->shares;
    if (of->shares) {
        config.shared_up = wide[0];
        config.shared_down = wide[1];
    } else {
        config.up = wide[0];
        config.down = wide[1];
    }
    struct hc_congestion *play =
        hc_congestion_begin(&config, wide[0].bytes_per_s, wide[1].bytes_per_s);
    if (play == NULL)
        return false;
    *result = (struct hc_congestion_result){.lost = 0};
    bool joined = hc_sim_join_all(play->sim);
    if (joined) {
        hc_sim_run(play->sim, 5 * SECOND_US);
        play->steady = true;
        hc_sim_run(play->sim, 15 * SECOND_US);
        play->steady = false;
        for (unsigned i = 0; i < HC_CONGESTION_DIPS; i++) {
            set_rates(play, dip);
            hc_sim_run(play->sim, hc_congestion_dips_ms[i] * MS_US);
            set_rates(play, wide);
            result->again_ms[i] = again_ms(play);
        }
        sum_up(play, result);
    }
    hc_congestion_end(play);
    return joined;
}
