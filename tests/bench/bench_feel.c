/// Measures how a game feels, in virtual time. Table "clock": how far a client's simulated time is
/// from the server's, beside the algorithm of netfox, a library for Godot, as its guide describes
/// it (foxssake.github.io/netfox, "NetworkTimeSynchronizer"), over the same round trips. Table
/// "taps": feel_taps.c; "delayed", "grid" and "steady": feel_grid.c; "laggard": feel_laggard.c;
/// "changes": feel_changes.c; "congestion": feel_congestion.c.
#include "common/elapsed.h"
#include "tests/bench/bench.h"
#include "tests/bench/feel_changes.h"
#include "tests/bench/feel_congestion.h"
#include "tests/bench/feel_grid.h"
#include "tests/bench/feel_laggard.h"
#include "tests/bench/feel_taps.h"
#include "tests/sim/clock_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECOND_US = 1000000,
    FRAME_US = 8333,
    SEEDS = 50,
    SETTLED_US = 5 * SECOND_US,
    END_US = 35 * SECOND_US,
    MOMENTS = 4, ///< after the join
};

static const uint64_t moments_us[MOMENTS] = {SECOND_US / 2, SECOND_US, 2 * SECOND_US,
                                             4 * SECOND_US};

// ---- netfox -------------------------------------------------------------------------------------

enum {
    SAMPLES = 8,              ///< "sync samples"
    INTERVAL_US = 250000,     ///< "sync interval"
    ADJUST_STEPS = 8,         ///< "sync adjust steps": a nudge is the offset divided by this
    PANIC_US = 2 * SECOND_US, ///< "recalibrate threshold"
};

static const double stretch_max = 1.25, ignored_us = 1000, tick_us = SECOND_US / 60.0;

/// A reference clock is nudged towards the server's; a simulation clock is stretched towards it.
struct netfox {
    struct {
        double rtt_us, offset_us; ///< offset: the server's time less the local one
    } samples[SAMPLES];
    unsigned count;
    uint64_t sampled_us;               ///< local time of the newest sample
    double reference_us, simulated_us; ///< reference: less the local time
    uint64_t now_us;
};

static void netfox_begin(struct netfox *netfox, const struct hc_exchange_sample *sample) {
    // The first timestamp is taken as it is.
    *netfox = (struct netfox){.reference_us = (double)hc_offset(sample->now_us, sample->server_us),
                              .simulated_us = (double)sample->server_us,
                              .now_us = sample->now_us};
}

static int by_first(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

/// The mean offset of the samples whose round trip is within a standard deviation of the median.
static double netfox_offset_us(const struct netfox *netfox) {
    unsigned count = netfox->count < SAMPLES ? netfox->count : SAMPLES, kept = 0;
    double sorted[SAMPLES][2], mean = 0, variance = 0, sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sorted[i][0] = netfox->samples[i].rtt_us;
        sorted[i][1] = netfox->samples[i].offset_us;
        mean += sorted[i][0] / count;
    }
    qsort(sorted, count, sizeof *sorted, by_first);
    for (unsigned i = 0; i < count; i++)
        variance += (sorted[i][0] - mean) * (sorted[i][0] - mean) / count;
    for (unsigned i = 0; i < count; i++)
        if (fabs(sorted[i][0] - sorted[count / 2][0]) <= sqrt(variance)) {
            sum += sorted[i][1];
            kept++;
        }
    return sum / kept;
}

static void netfox_take(struct netfox *netfox, const struct hc_exchange_sample *sample) {
    if (hc_since(netfox->sampled_us, sample->now_us) < INTERVAL_US)
        return;
    netfox->sampled_us = sample->now_us;
    unsigned at = netfox->count++ % SAMPLES;
    netfox->samples[at].rtt_us = (double)sample->rtt_us;
    netfox->samples[at].offset_us =
        (double)hc_offset(sample->now_us, sample->server_us) + (double)sample->rtt_us / 2;
    double off_us = netfox_offset_us(netfox) - netfox->reference_us;
    netfox->reference_us += fabs(off_us) > PANIC_US ? off_us : off_us / ADJUST_STEPS;
}

/// Advances the simulation clock to the local time.
static void netfox_frame(struct netfox *netfox, uint64_t now_us) {
    double elapsed_us = (double)hc_since(netfox->now_us, now_us);
    double off_us = netfox->reference_us + (double)now_us - netfox->simulated_us - elapsed_us;
    double past_us = fabs(off_us) > ignored_us ? fabs(off_us) - ignored_us : 0;
    double part = (1 + copysign(past_us, off_us) / tick_us) / 2;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    netfox->simulated_us += elapsed_us * (1 / stretch_max + part * (stretch_max - 1 / stretch_max));
    netfox->now_us = now_us;
}

// ---- Runs ---------------------------------------------------------------------------------------

/// The conditions of a run.
static const struct condition {
    const char *name;
    uint32_t jitter_us;
    int32_t ppm;
    int64_t up_us;  ///< by so much the leg up is longer from 10 s on
    int64_t set_us; ///< the server's clock is set by so much at 10 s
    bool suspends;  ///< the client does nothing from 10 s to 13 s
} conditions[] = {
    {.name = "jitter 20 ms a leg", .jitter_us = 20000},
    {.name = "and +100 ppm", .jitter_us = 20000, .ppm = 100},
    {.name = "and -100 ppm", .jitter_us = 20000, .ppm = -100},
    {.name = "no jitter", .jitter_us = 0},
    {.name = "jitter 5 ms, a suspend of 3 s", .jitter_us = 5000, .suspends = true},
    {.name = "jitter 5 ms, server set back 50 ms", .jitter_us = 5000, .set_us = -50000},
    {.name = "jitter 5 ms, way up 40 ms longer", .jitter_us = 5000, .up_us = 40000},
};

/// The errors of one clock under a condition, over all seeds.
struct errors {
    double squares, most_us;
    unsigned count;
    double at_us[MOMENTS][SEEDS];
    double slowest, fastest; ///< of the rates after it has settled, without suspends
    double last_us, last_true_us;
};

static void note(struct errors *errors, unsigned seed, uint64_t joined_us, uint64_t true_us,
                 double position_us, double error_us) {
    for (unsigned i = 0; i < MOMENTS; i++)
        if (true_us <= joined_us + moments_us[i])
            errors->at_us[i][seed] = fabs(error_us);
    double elapsed_us = (double)true_us - errors->last_true_us;
    double rate = (position_us - errors->last_us) / elapsed_us;
    errors->last_us = position_us;
    errors->last_true_us = (double)true_us;
    if (true_us < joined_us + SETTLED_US)
        return;
    errors->squares += error_us * error_us;
    errors->count++;
    errors->most_us = fmax(errors->most_us, fabs(error_us));
    if (elapsed_us < 2 * FRAME_US) {
        errors->slowest = fmin(errors->slowest, rate);
        errors->fastest = fmax(errors->fastest, rate);
    }
}

static void change(struct hc_exchange *exchange, const struct condition *condition) {
    exchange->config.up_us += (uint64_t)condition->up_us;
    exchange->set_us += condition->set_us;
}

/// Plays one seed for both clocks, each over an exchange of its own with the same round trips.
static void play(const struct condition *condition, unsigned seed, struct errors errors[2]) {
    struct hc_exchange_config config = {.seed = seed + 1,
                                        .rate = 60,
                                        .up_us = 30000,
                                        .down_us = 30000,
                                        .jitter_us = condition->jitter_us,
                                        .ppm = condition->ppm};
    static struct hc_clock_match ours;
    static struct hc_exchange exchange;
    static struct netfox netfox;
    struct hc_exchange_sample sample;
    hc_clock_match_begin(&ours, &config);
    uint64_t joined_us = ours.true_us, change_us = joined_us + 10 * SECOND_US;
    hc_exchange_begin(&exchange, &config);
    for (bool begun = false; hc_exchange_next(&exchange, joined_us, &sample); begun = true)
        if (begun)
            netfox_take(&netfox, &sample);
        else
            netfox_begin(&netfox, &sample);
    bool changed = false;
    for (uint64_t us = joined_us + FRAME_US; us < joined_us + END_US; us += FRAME_US) {
        if (!changed && us >= change_us) {
            change(&ours.exchange, condition);
            change(&exchange, condition);
            us += condition->suspends ? 3 * SECOND_US : 0;
            changed = true;
        }
        int64_t error_us = hc_clock_match_frame(&ours, us);
        note(&errors[0], seed, joined_us, us, (double)hc_clock_match_position(&ours, us),
             (double)error_us);
        while (hc_exchange_next(&exchange, us, &sample))
            netfox_take(&netfox, &sample);
        netfox_frame(&netfox, hc_exchange_local_us(&exchange, us));
        note(&errors[1], seed, joined_us, us, netfox.simulated_us,
             netfox.simulated_us - (double)us - (double)exchange.set_us);
    }
}

static void report(const struct condition *condition, const char *name, struct errors *errors,
                   json_t *json) {
    double p95_ms[MOMENTS], rms_ms = sqrt(errors->squares / errors->count) / 1000;
    for (unsigned i = 0; i < MOMENTS; i++) {
        qsort(errors->at_us[i], SEEDS, sizeof errors->at_us[i][0], by_first);
        p95_ms[i] = errors->at_us[i][SEEDS * 95 / 100] / 1000;
    }
    printf("%-36s %-8s %7.2f %7.2f %9.2f %7.2f %7.2f %7.2f %8.3f %7.3f\n", condition->name, name,
           rms_ms, errors->most_us / 1000, p95_ms[0], p95_ms[1], p95_ms[2], p95_ms[3],
           errors->slowest, errors->fastest);
    json_array_append_new(
        json, json_pack("{s:s,s:s,s:s,s:f,s:f,s:[f,f,f,f],s:f,s:f}", "table", "clock", "condition",
                        condition->name, "algorithm", name, "rms_ms", rms_ms, "max_ms",
                        errors->most_us / 1000, "p95_ms", p95_ms[0], p95_ms[1], p95_ms[2],
                        p95_ms[3], "rate_min", errors->slowest, "rate_max", errors->fastest));
}

static void bench_clock(json_t *json) {
    static const char *const names[2] = {"hindcast", "netfox"};
    static struct errors errors[2];
    printf("simulated time less the server's, in ms; 60 Hz, 30 ms and exponential jitter each way, "
           "%d seeds of %d s\n",
           SEEDS, END_US / SECOND_US);
    printf("%-36s %-8s %7s %7s %35s %16s\n", "", "", "5 s to the end", "", "p95, s after the join",
           "rate");
    printf("%-36s %-8s %7s %7s %9s %7s %7s %7s %8s %7s\n", "condition", "", "rms", "max", "0.5",
           "1", "2", "4", "least", "most");
    for (unsigned i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        memset(errors, 0, sizeof errors);
        errors[0].slowest = errors[1].slowest = HUGE_VAL;
        for (unsigned seed = 0; seed < SEEDS; seed++)
            play(&conditions[i], seed, errors);
        for (unsigned a = 0; a < 2; a++)
            report(&conditions[i], names[a], &errors[a], json);
    }
}

bool bench_feel(const struct bench_options *options, json_t *json) {
    bool good = true;
    if (bench_wants(options, "clock", 0))
        bench_clock(json);
    if (bench_wants(options, "delayed", 0))
        good = feel_delayed(json) && good;
    if (bench_wants(options, "grid", 0))
        good = feel_grid(options->full, json) && good;
    if (bench_wants(options, "steady", 0))
        good = feel_steady(json) && good;
    if (bench_wants(options, "laggard", 0))
        good = feel_laggard(json) && good;
    if (bench_wants(options, "changes", 0))
        good = feel_changes(json) && good;
    if (bench_wants(options, "congestion", 0))
        good = feel_congestion(json) && good;
    if (bench_wants(options, "taps", 0))
        good = feel_taps(json) && good;
    return good;
}
