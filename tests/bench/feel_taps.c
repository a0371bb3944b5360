/// Prints the presses that the server knows, over the length of taps and the frames of clients.
#include "tests/bench/feel_taps.h"

#include "tests/sim/tap_match.h"

#include <stdio.h>

/// The ways in which a client is given its button.
static const struct way {
    const char *name;
    enum hc_sampling sampling;
    bool at_frames;
} ways[] = {
    {"latched, each event as it comes", HC_LATCH, false},
    {"latched, all events at each frame", HC_LATCH, true},
    {"newest value, each event as it comes", HC_NEWEST, false},
};

static bool print_row(const struct way *way, uint32_t tap_ms, json_t *json) {
    struct hc_tap_match_config config = {
        .tap_us = tap_ms * 1000, .sampling = way->sampling, .at_frames = way->at_frames};
    struct hc_tap_match_count counts[HC_TAP_MATCH_CLIENTS];
    if (!hc_tap_match_play(&config, counts)) {
        printf("taps: the match could not be played\n");
        return false;
    }
    printf("%-36s %5u ms", way->name, tap_ms);
    for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++) {
        printf(" %6u", counts[c].presses);
        json_array_append_new(
            json, json_pack("{s:s,s:s,s:i,s:i,s:i,s:i}", "table", "taps", "way", way->name,
                            "tap_ms", (int)tap_ms, "frames_per_second", (int)hc_tap_match_rates[c],
                            "taps", (int)HC_TAP_MATCH_TAPS, "presses", (int)counts[c].presses));
    }
    printf("\n");
    return true;
}

bool feel_taps(json_t *json) {
    static const uint32_t taps_ms[] = {4, 8, 12, 20};
    printf("presses that the server knows, of %d taps of a button; 60 Hz, 30 ms each way\n",
           (int)HC_TAP_MATCH_TAPS);
    printf("%-36s %8s", "", "tap");
    for (unsigned c = 0; c < HC_TAP_MATCH_CLIENTS; c++)
        printf(" %2s%4u", "", hc_tap_match_rates[c]);
    printf(" frames/s\n");
    for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++)
        for (unsigned t = 0; t < sizeof taps_ms / sizeof *taps_ms; t++)
            if (!print_row(&ways[w], taps_ms[t], json))
                return false;
    return true;
}
