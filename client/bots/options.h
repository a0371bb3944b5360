/// The command lines of hindcast-bot and hindcast-load, which share most of their options.
#pragma once

#include "common/network_sim.h"
#include "common/programs/plugin.h"
#include "hindcast/client.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_CL_OPTIONS_CLIENTS_MAX = 4096, HC_CL_OPTIONS_PROCESSES_MAX = 256 };

enum hc_cl_options_program { HC_CL_OPTIONS_BOT, HC_CL_OPTIONS_LOAD };

struct hc_cl_options {
    char host[256]; ///< of the server; empty with --spawn
    char port[6];
    bool spawn;
    uint32_t clients;
    uint32_t processes;                         ///< 0: one for each core
    uint64_t duration_us;                       ///< of play, after the ramp; 0: until a signal
    uint64_t ramp_us;                           ///< from the first client's start to the last one's
    uint32_t input_delay, display_offset, lead; ///< ticks
    struct hc_network_sim_config link;          ///< of each direction
    const char *link_name;                      ///< of an unchanged preset; else NULL
    uint64_t seed;                              ///< of the network simulations and the bots
    const char *token;       ///< path of the tokens' file; NULL: the server issues them
    const char *json;        ///< path of the final report, "-" for standard output; NULL: none
    const char *game;        ///< path of the plugin; NULL: the arena
    struct hc_plugin plugin; ///< the loaded game
};

/// Parses the arguments over the program's defaults. On --help and --version it prints and exits
/// with 0. On an error it names the option, the value and the allowed range, and exits with 2.
void hc_cl_options_parse(struct hc_cl_options *options, enum hc_cl_options_program program,
                         int argc, char **argv);
