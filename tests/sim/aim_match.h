/// A match in which bots shoot at what they see, in virtual time: the share of shots that hit.
///
/// Bots run about and turn at random times. Every fifth of a second each aims at another player as
/// its client draws it and shoots; a shot is a line and hits at once. With lag compensation the
/// step compares the line with the world of the tick that the shooter was shown, by hc_scene_past;
/// without it, with the world of the input's own tick.
#pragma once

#include "hindcast/client.h"

struct aim_setting {
    uint32_t latency_ms;   ///< one way
    uint32_t jitter_ms;    ///< random, more or less
    uint32_t loss_ppm;     ///< of datagrams, each way
    enum hc_others others; ///< of all clients
    bool compensated;
    bool cheats;                  ///< client 0 shows very old ticks, and does not report that
    uint32_t lag_compensation_ms; ///< of the server; 0: its default
    uint32_t seconds;
    uint64_t seed;
};

struct aim_result {
    uint64_t shots, hits;
    uint64_t inputs, unsent, limited; ///< hc_server_stats.inputs_received, shown_ago_*
    uint64_t mismatches;              ///< hc_client_stats.hash_mismatches of all clients
    uint32_t others_ticks;            ///< the mean of hc_client_recent.others_ticks at the end
};

enum { AIM_RATE = 60, AIM_INPUT_DELAY = 3 };

/// Plays the match; false: the simulation cannot be created.
bool aim_match(const struct aim_setting *setting, struct aim_result *result);
