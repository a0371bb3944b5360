/// Plays walkers over many links, and prints what is shown to whom and when.
#include "tests/bench/feel_grid.h"

#include "tests/bench/feel_bound.h"
#include "tests/sim/feel_match.h"

#include <stdio.h>
#include <string.h>

enum { CLIENTS = 4, SEED = 37, PRESETS = 3, SECONDS = 20, OFF_MOST = 2 };

static const char *const presets[PRESETS] = {"rewind", "balanced", "ahead"};

/// Conditions of a link, the same each way.
struct link {
    unsigned round_trip_ms, jitter_ms, loss; ///< jitter: each way, more or less; loss: percent
};

static struct hc_feel_config config_of(const char *preset, struct link link, unsigned seconds) {
    struct hc_feel_config config = {.clients = CLIENTS, .seconds = seconds, .seed = SEED};
    hc_client_timing_preset(preset, &config.timing);
    config.up = hc_sim_link(0, link.loss);
    config.up.latency_us = link.round_trip_ms * MS_US / 2;
    config.up.jitter_us = link.jitter_ms * MS_US;
    config.down = config.up;
    return config;
}

static double ms(const struct hc_histogram *times, uint32_t permille) {
    return (double)hc_histogram_percentile(times, permille) / MS_US;
}

static double px(const struct hc_histogram *distances, uint32_t permille) {
    return (double)hc_histogram_percentile(distances, permille) / HC_FEEL_PX;
}

static double of_width(double px) {
    return 100 * px / HC_FEEL_WIDTH_PX;
}

static void print_head(void) {
    printf("%-9s %5s %5s %4s | %5s %4s | %6s %5s %5s | %5s %5s %5s %5s | %5s %5s | %5s %8s | %5s "
           "%8s | %6s\n",
           "", "round", "", "", "input", "", "own", "first", "", "pop", "", "right", "", "", "leap",
           "re-", "depth", "roll-", "depth", "");
    printf("%-9s %5s %5s %4s | %5s %4s | %6s %5s %5s | %5s %5s %5s %5s | %5s %5s | %5s %8s | %5s "
           "%8s | %6s\n",
           "preset", "trip", "+-", "loss", "delay", "lead", "ticks", "seen", "p95", "%p50", "p95",
           "ms", "p95", "wrong", "px", "winds", "p50/p99", "backs", "p50/p99", "forced");
}

static void print_row(const char *preset, struct link link, const struct hc_feel_result *result,
                      json_t *json) {
    const double tick_us = 1000000.0 / HC_FEEL_RATE;
    double own_ticks = (double)hc_histogram_mean(&result->own_us) / tick_us;
    double seconds = (double)result->ticks / HC_FEEL_RATE;
    double rewinds = (double)result->rewinds / seconds;
    double rollbacks = (double)result->rollbacks / seconds / CLIENTS;
    double forced = 100 * (double)result->forced / (double)(result->inputs + result->forced);
    unsigned rewound[2] = {(unsigned)hc_histogram_percentile(&result->rewind_depth, 500),
                           (unsigned)hc_histogram_percentile(&result->rewind_depth, 990)};
    unsigned rolled[2] = {(unsigned)hc_histogram_percentile(&result->rollback_depth, 500),
                          (unsigned)hc_histogram_percentile(&result->rollback_depth, 990)};
    double wrong_ms = (double)hc_histogram_mean(&result->wrong_us) / MS_US;
    printf("%-9s %5u %5u %3u%% | %5.1f %4.1f | %6.2f %5.0f %5.0f | %5.2f %5.2f %5.0f %5.0f | %5.0f "
           "%5.1f | %5.1f %4u/%-3u | %5.1f %4u/%-3u | %5.2f%%\n",
           preset, link.round_trip_ms, link.jitter_ms, link.loss, result->input_delay, result->lead,
           own_ticks, ms(&result->seen_us, 500), ms(&result->seen_us, 950),
           of_width(px(&result->pop, 500)), of_width(px(&result->pop, 950)),
           ms(&result->right_us, 500), ms(&result->right_us, 950), wrong_ms,
           px(&result->leap, 1000), rewinds, rewound[0], rewound[1], rollbacks, rolled[0],
           rolled[1], forced);
    json_array_append_new(
        json,
        json_pack(
            "{s:s,s:s,s:i,s:i,s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:i,s:i,"
            "s:f,s:i,s:i,s:f}",
            "table", "grid", "preset", preset, "round_trip_ms", (int)link.round_trip_ms,
            "jitter_ms", (int)link.jitter_ms, "loss_percent", (int)link.loss, "input_delay_ticks",
            result->input_delay, "lead_ticks", result->lead, "own_ticks", own_ticks, "seen_ms_p50",
            ms(&result->seen_us, 500), "seen_ms_p95", ms(&result->seen_us, 950), "pop_percent_p50",
            of_width(px(&result->pop, 500)), "pop_percent_p95", of_width(px(&result->pop, 950)),
            "own_pop_percent_p95", of_width(px(&result->own_pop, 950)), "right_ms_p50",
            ms(&result->right_us, 500), "right_ms_p95", ms(&result->right_us, 950), "wrong_ms",
            wrong_ms, "leap_px_max", px(&result->leap, 1000), "rewinds_per_s", rewinds,
            "rewind_depth_p50", (int)rewound[0], "rewind_depth_p99", (int)rewound[1],
            "rollbacks_per_s", rollbacks, "rollback_depth_p50", (int)rolled[0],
            "rollback_depth_p99", (int)rolled[1], "forced_percent", forced));
}

static bool failed(const char *table) {
    printf("%s: a match could not be played\n", table);
    return false;
}

bool feel_grid(bool full, json_t *json) {
    static const unsigned trips[] = {0, 50, 100, 150, 200, 250, 300}, jitters[] = {0, 5, 20, 50},
                          losses[] = {0, 2, 5, 20};
    printf("%d walkers, 60 Hz; round trip in ms; jitter and loss each way. From a key: own, ticks "
           "until the own screen\nmoves; seen, ms until another's does; right, ms until that one "
           "shows the walker within a pixel for good, and\nwrong, how long of that it does not. "
           "pop: farthest that a walker is shown off after a key, percent of the\nscreen's width; "
           "leap: the greatest false motion in a tick. Rewinds and rollbacks a second\n",
           CLIENTS);
    print_head();
    for (unsigned j = 0; j < 4; j++)
        for (unsigned l = 0; l < 4; l++)
            for (unsigned t = 0; t < 7; t++)
                for (unsigned p = 0; p < PRESETS; p++) {
                    // The slice: the latency alone, and all conditions at some latencies.
                    bool corner = t % 2 == 0 && (j == 0 || j == 2) && (l == 0 || l == 2);
                    if (!full && (j > 0 || l > 0) && !corner)
                        continue;
                    static struct hc_feel_result result;
                    struct link link = {trips[t], jitters[j], losses[l]};
                    struct hc_feel_config config = config_of(presets[p], link, SECONDS);
                    if (!hc_feel_match(&config, &result))
                        return failed("grid");
                    print_row(presets[p], link, &result, json);
                }
    return true;
}

/// Ways in which a client shows the others.
static const struct way {
    const char *name;
    enum hc_others others;
    bool at_once;
} ways[] = {
    {"received", HC_OTHERS_AS_RECEIVED, false},
    {"predicted, corrections at once", HC_OTHERS_PREDICTED, true},
    {"predicted, corrections fade", HC_OTHERS_PREDICTED, false},
};

static bool play_delayed(const struct way *way, json_t *json) {
    static struct hc_feel_result result;
    struct hc_feel_config config = config_of("balanced", (struct link){70, 0, 0}, 60);
    config.others = way->others;
    config.at_once = way->at_once;
    config.held_ppm = HC_NETWORK_SIM_PPM / 10;
    config.held_us = 50 * MS_US;
    if (!hc_feel_match(&config, &result))
        return failed("delayed");
    printf("%-32s %5.1f %6.0f %6.0f %6.0f | %6.1f %6.1f %6.1f | %6u %5d | %6u %5d%s\n", way->name,
           result.input_delay, ms(&result.seen_us, 500), ms(&result.right_us, 500),
           ms(&result.right_us, 950), px(&result.pop, 500), px(&result.pop, 950),
           px(&result.leap, 1000), (unsigned)result.off_ticks, OFF_MOST,
           (unsigned)result.frozen_ticks, OFF_MOST,
           result.off_ticks > OFF_MOST || result.frozen_ticks > OFF_MOST ? "   NOT HELD" : "");
    json_array_append_new(
        json, json_pack("{s:s,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:i,s:i,s:i}", "table", "delayed",
                        "others", way->name, "input_delay_ticks", result.input_delay, "seen_ms_p50",
                        ms(&result.seen_us, 500), "right_ms_p50", ms(&result.right_us, 500),
                        "right_ms_p95", ms(&result.right_us, 950), "pop_px_p50",
                        px(&result.pop, 500), "pop_px_p95", px(&result.pop, 950), "leap_px_max",
                        px(&result.leap, 1000), "off_ticks", (int)result.off_ticks, "frozen_ticks",
                        (int)result.frozen_ticks, "ticks_most", OFF_MOST));
    return feel_is_near(result.off_ticks, OFF_MOST) && feel_is_near(result.frozen_ticks, OFF_MOST);
}

bool feel_delayed(json_t *json) {
    bool near = true;
    printf(
        "round trip 70 ms, 10 %% of the datagrams each way take 50 ms longer; balanced, %d "
        "walkers of %d px a tick, in px and ms.\noff: most ticks in a row that a walker is shown "
        "farther off than a tick's travel; rest: that it is shown at rest and runs\n",
        CLIENTS, HC_FEEL_TRAVEL_PX);
    printf("%-32s %5s %6s %6s %6s | %6s %6s %6s | %6s %5s | %6s %5s\n", "others", "delay", "seen",
           "right", "p95", "pop", "p95", "leap", "off", "must", "rest", "must");
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
        near = play_delayed(&ways[i], json) && near;
    return near;
}

bool feel_steady(json_t *json) {
    static struct hc_feel_result result;
    struct hc_feel_config config = config_of("balanced", (struct link){100, 5, 0}, 60);
    if (!hc_feel_match(&config, &result))
        return failed("steady");
    printf(
        "round trip 100 ms, jitter 5 ms, no loss; balanced, input delay %.2f, %d walkers, %u s\n",
        result.input_delay, CLIENTS, (unsigned)config.seconds);
    const struct feel_bound bounds[] = {
        {"steady", "ticks simulated again, of the server's", "%",
         100.0 * (double)result.resimulated_ticks / (double)result.ticks, 2},
        {"steady", "inputs forced", "", (double)result.forced, 0},
        {"steady", "inputs refused", "", (double)result.refused, 0},
    };
    return feel_bounds(bounds, 3, json);
}
