/// Measures the work of a client's tick by phases: one client of a recorded match is given its
/// datagrams and inputs again, alone, and the floor is measured in between.
#include "tests/bench/floor.h"
#include "tests/bench/replay.h"

#include <stdio.h>

enum phase { OPEN, APPLY, ADVANCE, SEND, SEAL, PHASES };
static const char *const phase_names[PHASES] = {"open", "apply", "advance", "send", "seal"};

/// Times of one replay: of all measured ticks, ns.
struct pass {
    uint64_t receive_ns, advance_ns, send_ns;
};

struct replay {
    const struct bench_recording *recording;
    struct hc_client *client;
    struct bench_floor *floor;
    bool fills_floor; ///< the floor still needs the datagrams
    struct pass pass;
    uint64_t sent;
};

static uint64_t total_ns(const struct pass *pass) {
    return pass->receive_ns + pass->advance_ns + pass->send_ns;
}

static void drain(struct replay *replay, uint64_t at_us, bool measures) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_client_event event;
    size_t size;
    while ((size = hc_client_send(replay->client, bytes, at_us)) > 0) {
        replay->sent = bench_sent_hash(replay->sent, bytes, size);
        if (replay->fills_floor && measures)
            bench_floor_sends(replay->floor, bytes, size);
    }
    while (hc_client_poll_event(replay->client, &event))
        ;
}

static void run_event(struct replay *replay, const struct bench_event *event) {
    const uint8_t *bytes = replay->recording->client.bytes + event->offset;
    bool measures = event->at_us >= replay->recording->client_from_us;
    struct pass ignored, *pass = measures ? &replay->pass : &ignored;
    uint64_t begun = bench_cpu_ns();
    if (event->kind == BENCH_EVENT_RECEIVE) {
        (void)hc_client_receive(replay->client, bytes, event->size, event->at_us);
        pass->receive_ns += bench_cpu_ns() - begun;
        if (replay->fills_floor && measures)
            bench_floor_receives(replay->floor, bytes, event->size);
        return;
    }
    if (event->size > 0)
        hc_client_set_input(replay->client, 0, bytes);
    hc_client_advance(replay->client, event->at_us);
    uint64_t advanced = bench_cpu_ns();
    drain(replay, event->at_us, measures);
    pass->send_ns += bench_cpu_ns() - advanced;
    pass->advance_ns += advanced - begun;
}

/// Runs the whole recording on a new client. False: no memory, or the client did other work than
/// the recorded one.
static bool run_pass(struct replay *replay) {
    const struct bench_recording *recording = replay->recording;
    struct hc_client_config config = recording->client_config;
    config.game = &recording->game; // the recorded match is freed, and its game with it
    config.entropy = recording->entropy;
    replay->client = hc_client_create(&config, recording->client_begun_us);
    replay->pass = (struct pass){0};
    replay->sent = 0;
    if (replay->client == NULL)
        return false;
    for (size_t i = 0; i < recording->client.count; i++)
        run_event(replay, &recording->client.events[i]);
    hc_client_destroy(replay->client);
    return replay->sent == recording->client.sent;
}

/// Replays the recording several times, in turn with its floor; the best of each counts.
static bool measure(const struct bench_recording *recording, struct bench_floor *floor,
                    struct pass *best) {
    struct replay replay = {.recording = recording, .floor = floor, .fills_floor = true};
    bool ok = run_pass(&replay); // it also copies the datagrams, and does not count
    replay.fills_floor = false;
    for (unsigned i = 0; ok && i < BENCH_REPLAYS; i++) {
        ok = run_pass(&replay) && bench_floor_run(floor);
        if (i == 0 || total_ns(&replay.pass) < total_ns(best))
            *best = replay.pass;
    }
    return ok;
}

static json_t *report(const struct bench_replay_row *row, const struct bench_match_result *match,
                      const struct bench_floor *floor, const struct pass *pass) {
    double open = (double)floor->open_ns, seal = (double)floor->seal_ns, sum = 0;
    const double ns[PHASES] = {[OPEN] = open,
                               [APPLY] = (double)pass->receive_ns - open,
                               [ADVANCE] = (double)pass->advance_ns,
                               [SEND] = (double)pass->send_ns - seal,
                               [SEAL] = seal};
    json_t *phases = json_object();
    printf("%7u %7.1f %6.1f", row->clients, match->in_view, match->down_kbit);
    for (unsigned i = 0; i < PHASES; i++) {
        double us = ns[i] / row->ticks / 1000;
        printf(" %6.2f %2.0f%%", us, 100 * ns[i] / (double)total_ns(pass));
        json_object_set_new(phases, phase_names[i], json_real(us));
        sum += us;
    }
    double floor_us = (open + seal) / row->ticks / 1000;
    printf(" %7.2f %6.2f %6.1fx\n", sum, floor_us, sum / floor_us);
    return json_pack("{s:i, s:f, s:f, s:o, s:f, s:f, s:f}", "clients", row->clients, "in_view",
                     match->in_view, "down_kbit", match->down_kbit, "us_per_tick", phases, "sum_us",
                     sum, "floor_us", floor_us, "ratio", sum / floor_us);
}

static json_t *replay_match(const struct bench_replay_row *row,
                            const struct bench_recording *recording,
                            const struct bench_match_result *match) {
    struct bench_floor floor;
    struct pass best;
    json_t *figures = NULL;
    if (bench_floor_init(&floor) && measure(recording, &floor, &best))
        figures = report(row, match, &floor, &best);
    bench_floor_free(&floor);
    return figures;
}

bool bench_client(const struct bench_options *options, json_t *json) {
    printf("A client's work for each tick, us, and the shares of its phases; the match is that of "
           "`hc_bench server`,\nand the client is in the middle of its latencies. Apply decodes "
           "snapshots and rolls back. The floor opens\nand seals the same datagrams. The best of "
           "%d replays.\n\nclients in view kbit/s",
           BENCH_REPLAYS);
    for (unsigned i = 0; i < PHASES; i++)
        printf(" %10s", phase_names[i]);
    printf(" %7s %6s %7s\n", "sum", "floor", "ratio");
    return bench_replay_matches(options, json, replay_match);
}
