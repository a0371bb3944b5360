/// Plays fifteen clients near each other, without and with one that is far away.
#include "tests/bench/feel_laggard.h"

#include "tests/bench/feel_bound.h"
#include "tests/sim/feel_match.h"

#include <stdio.h>

enum { GOOD = 15, TRIP_MS = 100, JITTER_MS = 3, FAR_TRIP_MS = 400, FAR_LOSS = 20, SECONDS = 30 };

static double ms(const struct hc_histogram *times, uint32_t permille) {
    return (double)hc_histogram_percentile(times, permille) / MS_US;
}

static double px(const struct hc_histogram *distances, uint32_t permille) {
    return (double)hc_histogram_percentile(distances, permille) / HC_FEEL_PX;
}

static void print_row(const char *preset, const char *name, const struct hc_feel_result *result,
                      json_t *json) {
    double client_s = (double)result->ticks / HC_FEEL_RATE * GOOD;
    double cancelled = 100.0 * (double)result->cancelled / (double)result->shots;
    printf("%-8s %-8s %6.0f %6.0f %6.0f %6.0f %8.2f%% | %6.1f %6.1f %6.0f %6.0f | %8.2f %8.2f\n",
           preset, name, ms(&result->delivered_us, 500), ms(&result->delivered_us, 950),
           ms(&result->behind_us, 500), ms(&result->behind_us, 950), cancelled,
           px(&result->pop, 500), px(&result->pop, 950), ms(&result->right_us, 500),
           ms(&result->right_us, 950), (double)result->rollbacks / client_s,
           (double)result->corrections / client_s);
    json_array_append_new(
        json, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "table",
                        "laggard", "preset", preset, "match", name, "delivered_ms_p50",
                        ms(&result->delivered_us, 500), "delivered_ms_p95",
                        ms(&result->delivered_us, 950), "behind_ms_p50",
                        ms(&result->behind_us, 500), "behind_ms_p95", ms(&result->behind_us, 950),
                        "cancelled_percent", cancelled, "pop_px_p50", px(&result->pop, 500),
                        "pop_px_p95", px(&result->pop, 950), "right_ms_p50",
                        ms(&result->right_us, 500), "right_ms_p95", ms(&result->right_us, 950),
                        "rollbacks_per_s", (double)result->rollbacks / client_s,
                        "corrections_per_s", (double)result->corrections / client_s));
}

/// Plays both matches with a preset.
static bool play(const char *preset, json_t *json) {
    static struct hc_feel_result results[2];
    struct hc_network_sim_config far = hc_sim_link(FAR_TRIP_MS / 2, FAR_LOSS);
    struct hc_feel_config config = {
        .clients = GOOD, .measured = GOOD, .seconds = SECONDS, .seed = 7, .shoots = true};
    hc_client_timing_preset(preset, &config.timing);
    config.up = config.down = hc_sim_link(TRIP_MS / 2, 0);
    config.up.jitter_us = config.down.jitter_us = JITTER_MS * MS_US;
    bool played = hc_feel_match(&config, &results[0]);
    config.clients++;
    config.last = &far;
    if (!played || !hc_feel_match(&config, &results[1])) {
        printf("laggard: a match could not be played\n");
        return false;
    }
    print_row(preset, "alone", &results[0], json);
    print_row(preset, "with it", &results[1], json);
    double more_ms[2] = {((double)hc_histogram_mean(&results[1].delivered_us) -
                          (double)hc_histogram_mean(&results[0].delivered_us)) /
                             MS_US,
                         ms(&results[1].delivered_us, 950) - ms(&results[0].delivered_us, 950)};
    const struct feel_bound bounds[] = {
        {"laggard", "events later than alone, mean", "ms", more_ms[0], 4},
        {"laggard", "events later than alone, p95", "ms", more_ms[1], 17},
    };
    return feel_bounds(bounds, 2, json);
}

bool feel_laggard(json_t *json) {
    printf("%d clients with a round trip of %d ms +- %d each way, alone and with another of %d ms "
           "and %d %% loss.\ngiven: ms from a trigger to the event of the shot on the screens of "
           "the others of the %d; behind: ms from the shown shot\nto its event; cancelled: events "
           "that were taken back; pop in px; right: ms from a key until it is shown right\n",
           GOOD, TRIP_MS, JITTER_MS, FAR_TRIP_MS, FAR_LOSS, GOOD);
    printf("%-8s %-8s %6s %6s %6s %6s %9s | %6s %6s %6s %6s | %8s %8s\n", "preset", "", "given",
           "p95", "behind", "p95", "cancelled", "pop", "p95", "right", "p95", "rollb./s",
           "corr./s");
    bool rewind = play("rewind", json);
    return play("balanced", json) && rewind;
}
