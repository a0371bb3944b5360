/// Prints the queues of narrow links, and when all play again after a dip.
#include "tests/bench/feel_congestion.h"

#include "tests/bench/feel_bound.h"
#include "tests/sim/congestion_match.h"

#include "hindcast/arena.h"

#include <stdio.h>

enum { SEED = 5, FREE_CLIENTS = 8, FREE_SECONDS = 20 };

static bool failed(void) {
    printf("congestion: a match could not be played\n");
    return false;
}

static bool is_held(const struct hc_congestion_result *result) {
    bool again = true;
    for (unsigned i = 0; i < HC_CONGESTION_DIPS; i++)
        again = again && result->again_ms[i] <= HC_CONGESTION_AGAIN_MS;
    return again && result->queue_p95_ms <= HC_CONGESTION_QUEUE_MS &&
           result->over_ms <= HC_CONGESTION_OVER_MS && result->lost == 0;
}

static bool is_near(const struct hc_congestion_result *result) {
    bool near = true;
    for (unsigned i = 0; i < HC_CONGESTION_DIPS; i++)
        near = near && feel_is_near(result->again_ms[i], HC_CONGESTION_AGAIN_MS);
    return near && feel_is_near(result->queue_p95_ms, HC_CONGESTION_QUEUE_MS) &&
           feel_is_near(result->over_ms, HC_CONGESTION_OVER_MS) && result->lost == 0;
}

static bool play_narrow(unsigned at, json_t *json) {
    const struct hc_congestion_case *of = &hc_congestion_cases[at];
    struct hc_congestion_result result;
    if (!hc_congestion_dips(of, SEED + at, &result))
        return failed();
    printf("%-26s %6u %6u | %6u %6u %6u | %6u | %6lu %6lu | %6lu %6lu %6lu%s\n", of->name,
           (unsigned)result.queue_p50_ms, (unsigned)result.queue_p95_ms,
           (unsigned)result.again_ms[0], (unsigned)result.again_ms[1], (unsigned)result.again_ms[2],
           (unsigned)result.over_ms, (unsigned long)result.lost, (unsigned long)result.forced,
           (unsigned long)result.held_back, (unsigned long)result.snapshots_least,
           (unsigned long)result.snapshots_most, is_held(&result) ? "" : "   NOT HELD");
    json_array_append_new(
        json, json_pack("{s:s,s:s,s:i,s:i,s:i,s:[i,i,i],s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:b}", "table",
                        "congestion", "link", of->name, "queue_ms_p50", (int)result.queue_p50_ms,
                        "queue_ms_p95", (int)result.queue_p95_ms, "queue_ms_most",
                        (int)HC_CONGESTION_QUEUE_MS, "again_ms", (int)result.again_ms[0],
                        (int)result.again_ms[1], (int)result.again_ms[2], "again_ms_most",
                        (int)HC_CONGESTION_AGAIN_MS, "over_ms", (int)result.over_ms, "lost",
                        (json_int_t)result.lost, "forced", (json_int_t)result.forced, "held_back",
                        (json_int_t)result.held_back, "snapshots_least",
                        (json_int_t)result.snapshots_least, "snapshots_most",
                        (json_int_t)result.snapshots_most, "held", (int)is_held(&result)));
    return is_near(&result);
}

/// Plays on a free link. With nothing held back, both ends send what they send without a bound.
static bool play_free(unsigned at, json_t *json) {
    const struct hc_network_sim_config *link = &hc_congestion_free[at];
    struct hc_sim_config config = hc_sim_config_players(&hc_arena, FREE_CLIENTS, 0, SEED + at);
    config.up = config.down = *link;
    struct hc_congestion *play = hc_congestion_begin(&config, 0, 0);
    if (play == NULL)
        return failed();
    bool joined = hc_sim_join_all(hc_congestion_sim(play));
    if (joined)
        hc_sim_run(hc_congestion_sim(play), (uint64_t)FREE_SECONDS * SECOND_US);
    uint64_t held = hc_congestion_held(play);
    hc_congestion_end(play);
    if (!joined)
        return failed();
    unsigned way_ms = link->latency_us / MS_US, jitter_ms = link->jitter_us / MS_US,
             loss = link->loss_ppm / (HC_NETWORK_SIM_PPM / 100);
    printf("%3u ms +- %2u each way, %2u %% loss: %lu datagrams held back%s\n", way_ms, jitter_ms,
           loss, (unsigned long)held, held == 0 ? "" : "   NOT HELD");
    json_array_append_new(json, json_pack("{s:s,s:i,s:i,s:i,s:I}", "table", "congestion", "way_ms",
                                          (int)way_ms, "jitter_ms", (int)jitter_ms, "loss_percent",
                                          (int)loss, "held_back", (json_int_t)held));
    return held == 0;
}

bool feel_congestion(json_t *json) {
    bool near = true;
    printf("players of the arena in one view; 20 ms each way, a queue of 64 kB; dips to 1 kB/s "
           "for each. queue: ms of round trips\nabove the least; again: ms from the end of a dip "
           "until all play with such round trips; over: ms in a row that more\nthan twice the "
           "offer of a second was sent; held back: datagrams of all; snapshots: least and most of "
           "a client\n");
    printf("%-26s %6s %6s | %6s %6s %6s | %6s | %6s %6s | %6s %13s\n", "link each way", "queue",
           "p95", "0.5 s", "1 s", "3 s", "over", "lost", "forced", "held", "snapshots");
    printf("%-26s %6s %6d | %6d %6d %6d | %6d | %6d\n", "  at most", "", HC_CONGESTION_QUEUE_MS,
           HC_CONGESTION_AGAIN_MS, HC_CONGESTION_AGAIN_MS, HC_CONGESTION_AGAIN_MS,
           HC_CONGESTION_OVER_MS, 0);
    for (unsigned i = 0; i < HC_CONGESTION_NARROW; i++)
        near = play_narrow(i, json) && near;
    printf("free links, %d players, %d s; at most 0: each byte is sent as without a bound\n",
           FREE_CLIENTS, FREE_SECONDS);
    for (unsigned i = 0; i < HC_CONGESTION_FREE; i++)
        near = play_free(i, json) && near;
    return near;
}
