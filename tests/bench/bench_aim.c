/// Prints the share of shots that hit, of bots that shoot at what they see, over the latency: with
/// and without lag compensation.
#include "tests/bench/bench.h"
#include "tests/sim/aim_match.h"

#include <stdio.h>

enum { SECONDS = 30, LOSS_PPM = 20000, JITTER_MS = 4 };

static double share(const struct aim_result *result) {
    return result->shots > 0 ? (double)result->hits / (double)result->shots : 0;
}

bool bench_aim(const struct bench_options *options, json_t *json) {
    static const uint32_t latencies[] = {0, 50, 100, 150};
    static const enum hc_others others[] = {HC_OTHERS_PREDICTED, HC_OTHERS_BY_GAME};
    double first[2][2] = {{0}};
    (void)options;
    printf("8 bots at 60 Hz, input delay %d, 2 %% loss and %d ms of jitter each way, %d s\n",
           AIM_INPUT_DELAY, JITTER_MS, SECONDS);
    printf("%-24s %10s %14s %14s %9s %8s\n", "others shown", "one way", "uncompensated",
           "compensated", "limited", "ticks");
    for (unsigned behind = 0; behind < 2; behind++) {
        for (unsigned i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
            struct aim_result results[2];
            for (unsigned compensated = 0; compensated < 2; compensated++) {
                struct aim_setting setting = {
                    .latency_ms = latencies[i],
                    .jitter_ms = latencies[i] > 0 ? JITTER_MS : 0,
                    .loss_ppm = latencies[i] > 0 ? LOSS_PPM : 0,
                    .others = others[behind],
                    .compensated = compensated,
                    .seconds = SECONDS,
                    .seed = 1,
                };
                if (!aim_match(&setting, &results[compensated]))
                    return false;
                if (i == 0)
                    first[behind][compensated] = share(&results[compensated]);
            }
            printf("%-24s %7u ms %8.3f %4.2fx %8.3f %4.2fx %4lu %4lu %8u\n",
                   behind ? "as received (default)" : "predicted", (unsigned)latencies[i],
                   share(&results[0]), share(&results[0]) / first[behind][0], share(&results[1]),
                   share(&results[1]) / first[behind][1], (unsigned long)results[1].unsent,
                   (unsigned long)results[1].limited, (unsigned)results[1].others_ticks);
            json_array_append_new(json,
                                  json_pack("{s:b, s:i, s:f, s:f, s:I, s:i}", "behind", (int)behind,
                                            "latency_ms", (int)latencies[i], "uncompensated",
                                            share(&results[0]), "compensated", share(&results[1]),
                                            "shots", (json_int_t)results[1].shots, "others_ticks",
                                            (int)results[1].others_ticks));
        }
    }
    return true;
}
