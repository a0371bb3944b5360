/// Measures the work of a server's tick by phases. Complete clients play a match in virtual time
/// once; then a host alone is given the recorded datagrams and does the same work, and the floor is
/// measured in between.
#include "server/state.h"
#include "tests/bench/floor.h"
#include "tests/bench/replay.h"

#include <stdio.h>
#include <stdlib.h>

enum phase { OPEN, APPLY, REWIND, STEP, SNAPSHOT, SEAL, PHASES };
static const char *const phase_names[PHASES] = {"open", "apply",    "rewind",
                                                "step", "snapshot", "seal"};

/// Times of one replay: of all measured ticks, ns.
struct pass {
    uint64_t receive_ns, rewind_ns, advance_ns, send_ns;
    struct hc_histogram tick_ns;
};

struct replay {
    const struct bench_recording *recording;
    struct hc_server *host;
    struct bench_floor *floor;
    bool fills_floor; ///< the floor still needs the datagrams
    struct pass pass;
    uint64_t sent;
};

struct result {
    double us[PHASES], floor_us; ///< of each client and tick
    double tick_p50_ms, tick_p99_ms, memory_kb;
};

static uint64_t total_ns(const struct pass *pass) {
    return pass->receive_ns + pass->rewind_ns + pass->advance_ns + pass->send_ns;
}

/// Takes all datagrams that are due.
static void drain(struct replay *replay, uint64_t at_us, bool measures) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    struct hc_server_event event;
    size_t size;
    while ((size = hc_server_send(replay->host, &to, bytes, at_us)) > 0) {
        replay->sent = bench_sent_hash(replay->sent, bytes, size);
        if (replay->fills_floor && measures)
            bench_floor_sends(replay->floor, bytes, size);
    }
    while (hc_server_poll_event(replay->host, &event))
        ;
}

static void receive(struct replay *replay, const struct bench_event *event) {
    struct hc_address from = hc_address_ipv4(127, 0, 0, 1, event->port);
    (void)hc_server_receive(replay->host, &from, replay->recording->host.bytes + event->offset,
                            event->size, event->at_us);
}

/// Receives the run of datagrams at `index` as one batch; returns its number.
static size_t receive_batch(struct replay *replay, size_t index) {
    const struct bench_events *events = &replay->recording->host;
    size_t end = index;
    uint64_t begun = bench_cpu_ns();
    for (; end < events->count && events->events[end].kind == BENCH_EVENT_RECEIVE; end++)
        receive(replay, &events->events[end]);
    replay->pass.receive_ns += bench_cpu_ns() - begun;
    for (size_t i = index; replay->fills_floor && i < end; i++)
        bench_floor_receives(replay->floor, events->bytes + events->events[i].offset,
                             events->events[i].size);
    return end - index;
}

/// Memory that is read before each tick, as other programs do between the ticks of a daemon: what
/// the host needs is no longer in the processor's caches then.
static volatile uint8_t *other_memory;
static size_t other_bytes;

static void evict(void) {
    for (size_t at = 0; at < other_bytes; at += 64)
        other_memory[at]++;
}

/// Runs a tick. The late inputs are resimulated apart from the new tick, which the host would do in
/// one call.
static void run_tick(struct replay *replay, uint64_t at_us) {
    struct pass *pass = &replay->pass;
    uint64_t begun = bench_cpu_ns();
    hc_timeline_resimulate(replay->host->timeline);
    uint64_t rewound = bench_cpu_ns();
    hc_server_advance(replay->host, at_us);
    uint64_t advanced = bench_cpu_ns();
    drain(replay, at_us, true);
    uint64_t sent = bench_cpu_ns();
    pass->rewind_ns += rewound - begun;
    pass->advance_ns += advanced - rewound;
    pass->send_ns += sent - advanced;
}

static void *obtain(void *context, size_t bytes) {
    (void)context;
    return malloc(bytes);
}

static void give_back(void *context, void *block) {
    (void)context;
    free(block);
}

/// Its blocks are zeroed when the host obtains them, and so they are in memory before the ticks are
/// measured, as those of a daemon that has run for minutes.
static const struct hc_allocator touched = {.allocate = obtain, .release = give_back};

/// Runs the whole recording on a new host. False: no memory, or the host did other work than the
/// recorded one.
static bool run_pass(struct replay *replay, struct result *result) {
    const struct bench_recording *recording = replay->recording;
    const struct bench_events *events = &recording->host;
    struct hc_server_config config = recording->host_config;
    config.game = &recording->game;
    config.secret = recording->host_secret;
    config.allocator = &touched;
    replay->host = hc_sv_host_create(&config, &recording->host_test, HC_TEST_UNIX_US,
                                     recording->host_begun_us);
    replay->pass = (struct pass){0};
    replay->sent = 0;
    if (replay->host == NULL)
        return false;
    uint64_t before_ns = 0;
    for (size_t i = 0; i < events->count;) {
        const struct bench_event *event = &events->events[i];
        bool measures = event->at_us >= recording->host_from_us;
        if (measures && event->kind == BENCH_EVENT_RECEIVE) {
            evict();
            i += receive_batch(replay, i);
            continue;
        }
        i++;
        if (measures) {
            run_tick(replay, event->at_us);
            hc_histogram_record(&replay->pass.tick_ns, total_ns(&replay->pass) - before_ns);
            before_ns = total_ns(&replay->pass);
            continue;
        }
        if (event->kind == BENCH_EVENT_RECEIVE)
            receive(replay, event);
        else
            hc_server_advance(replay->host, event->at_us);
        drain(replay, event->at_us, false);
    }
    drain(replay, recording->host_from_us, true); // what the last batch answered
    result->memory_kb = (double)hc_server_stats(replay->host)->memory_bytes / 1000 / config.clients;
    hc_server_destroy(replay->host);
    return replay->sent == events->sent;
}

static void set_result(struct result *result, const struct pass *best,
                       const struct bench_floor *floor, unsigned clients) {
    double client_ticks = (double)best->tick_ns.count * clients * 1000;
    double open = (double)floor->open_ns, seal = (double)floor->seal_ns;
    const double ns[PHASES] = {[OPEN] = open,
                               [APPLY] = (double)best->receive_ns - open,
                               [REWIND] = (double)best->rewind_ns,
                               [STEP] = (double)best->advance_ns,
                               [SNAPSHOT] = (double)best->send_ns - seal,
                               [SEAL] = seal};
    for (unsigned i = 0; i < PHASES; i++)
        result->us[i] = ns[i] / client_ticks;
    result->floor_us = result->us[OPEN] + result->us[SEAL];
    result->tick_p50_ms = (double)hc_histogram_percentile(&best->tick_ns, 500) / 1e6;
    result->tick_p99_ms = (double)hc_histogram_percentile(&best->tick_ns, 990) / 1e6;
}

/// Replays the recording several times, in turn with its floor; the best of each counts.
static bool measure(const struct bench_recording *recording, struct bench_floor *floor,
                    unsigned clients, struct result *result) {
    static struct pass best;
    static struct replay replay; // histograms are too large for the stack
    replay = (struct replay){.recording = recording, .floor = floor, .fills_floor = true};
    bool ok = run_pass(&replay, result); // it also copies the datagrams, and does not count
    replay.fills_floor = false;
    for (unsigned i = 0; ok && i < BENCH_REPLAYS; i++) {
        ok = run_pass(&replay, result) && bench_floor_run(floor);
        if (i == 0 || total_ns(&replay.pass) < total_ns(&best))
            best = replay.pass;
    }
    if (ok)
        set_result(result, &best, floor, clients);
    return ok;
}

static double sum_of(const struct result *result) {
    double sum = 0;
    for (unsigned i = 0; i < PHASES; i++)
        sum += result->us[i];
    return sum;
}

static void print(const struct bench_replay_row *row, unsigned places,
                  const struct bench_match_result *match, const struct result *result) {
    static double filled_us; ///< the sum of the world with a place for each client
    double sum = sum_of(result);
    printf("%7u %6u %7.1f %6.1f", row->clients, places, match->in_view, match->down_kbit);
    for (unsigned i = 0; i < PHASES; i++)
        printf(" %6.2f %2.0f%%", result->us[i], 100 * result->us[i] / sum);
    printf(" %6.2f %6.2f %5.1fx %6.2f %6.2f %7.0f\n", sum, result->floor_us, sum / result->floor_us,
           result->tick_p50_ms, result->tick_p99_ms, result->memory_kb);
    if (places > row->clients)
        printf("%7s %u empty places: %.2f times the work of a client-tick\n", "",
               places - row->clients, sum / filled_us);
    else
        filled_us = sum;
}

static void print_head(void) {
    printf("A server's work for each client and tick, us, and the shares of its phases: arena, %d "
           "Hz and as many\nsnapshots, latencies of %d..%d ms, %d %% loss each way, no kernel. The "
           "floor opens and seals the same\ndatagrams. The work of a tick is in ms, the memory of "
           "a client in kB. The best of %d replays.\n\n",
           BENCH_TICK_RATE, BENCH_REPLAY_NEAR_US / 1000, BENCH_REPLAY_FAR_US / 1000,
           BENCH_REPLAY_LOSS_PPM / 10000, BENCH_REPLAYS);
    printf("clients places in view kbit/s");
    for (unsigned i = 0; i < PHASES; i++)
        printf(" %10s", phase_names[i]);
    printf(" %6s %6s %6s %6s %6s %7s\n", "sum", "floor", "ratio", "p50", "p99", "memory");
}

static json_t *replay_match(const struct bench_replay_row *row,
                            const struct bench_recording *recording,
                            const struct bench_match_result *match) {
    struct result result;
    struct bench_floor floor;
    bool ok = bench_floor_init(&floor) && measure(recording, &floor, row->clients, &result);
    bench_floor_free(&floor);
    if (!ok)
        return NULL;
    unsigned places = recording->host_config.clients;
    print(row, places, match, &result);
    json_t *phases = json_object();
    for (unsigned i = 0; i < PHASES; i++)
        json_object_set_new(phases, phase_names[i], json_real(result.us[i]));
    return json_pack("{s:i, s:i, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f}", "clients",
                     row->clients, "places", (int)places, "in_view", match->in_view, "down_kbit",
                     match->down_kbit, "us_per_client_tick", phases, "sum_us", sum_of(&result),
                     "floor_us", result.floor_us, "ratio", sum_of(&result) / result.floor_us,
                     "tick_p50_ms", result.tick_p50_ms, "tick_p99_ms", result.tick_p99_ms,
                     "memory_kb_per_client", result.memory_kb);
}

bool bench_server(const struct bench_options *options, json_t *json) {
    other_bytes = (size_t)options->evict_kb * 1024;
    other_memory = malloc(other_bytes + 1);
    if (other_memory == NULL)
        return false;
    print_head();
    bool ok = bench_replay_matches(options, json, replay_match);
    free((void *)other_memory);
    return ok;
}
