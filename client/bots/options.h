/// The command lines of hindcast-bot, hindcast-load and hindcast-view, which share most of their
/// options.
#pragma once

#include "client/bots/tokens.h"
#include "hindcast/network_sim.h"
#include "common/programs/plugin.h"
#include "hindcast/client.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_CL_OPTIONS_CLIENTS_MAX = 4096, HC_CL_OPTIONS_PROCESSES_MAX = 256 };

enum hc_cl_options_program { HC_CL_OPTIONS_BOT, HC_CL_OPTIONS_LOAD, HC_CL_OPTIONS_VIEW };

struct hc_cl_options {
    char host[256]; ///< of the server; empty with --spawn
    char port[6];
    bool spawn;
    uint32_t clients;
    uint32_t processes;                         ///< 0: one for each core
    uint64_t duration_us;                       ///< of play, after the ramp; 0: until a signal
    uint64_t ramp_us;                           ///< from the first client's start to the last one's
    uint32_t input_delay, display_offset, lead; ///< ticks
    enum hc_others others;
    enum hc_extrapolation extrapolation; ///< the best that the clients offer
    struct hc_network_sim_config link;   ///< of each direction
    const char *link_name;               ///< of an unchanged preset; else NULL
    uint32_t latency_to_us; ///< latencies are spread from the link's up to this one; 0: not spread
    uint64_t seed;          ///< of the network simulations and the bots
    const char *token;      ///< path of the tokens' file; NULL: the server issues them
    uint32_t token_first;   ///< tokens of the file that were used before
    struct hc_cl_tokens_wish wish; ///< of the tokens that the server issues
    const char *json;        ///< path of the final report, "-" for standard output; NULL: none
    const char *game;        ///< path of the plugin; NULL: the arena
    struct hc_plugin plugin; ///< the loaded game

    // Of hindcast-load alone.
    const char *server_args; ///< of --spawn; NULL: none
    uint32_t light;          ///< light clients
    uint32_t sources;        ///< their source addresses on loopback; 0: one for each
    uint32_t activity;       ///< percentage of the time in which users press keys
    uint32_t churn_mhz;      ///< clients that leave and join again; thousandths a second
    uint32_t storm;          ///< clients that leave and join again at once, halfway
    uint32_t snapshot_rate;  ///< Hz, that is due to each client; 0: the tick rate
    uint32_t step;           ///< light clients that each step adds; 0: one run
    uint32_t until;          ///< clients of the last step; 0: the first step that is not held
    const char *report;      ///< path of the page; NULL: none

    // Of hindcast-view alone; its `clients` are 2 with --split, else 1.
    bool bot;                                ///< bots play instead of people
    bool overlay, keys;                      ///< shown at the start
    uint32_t width, height;                  ///< of the window, pixels
    uint32_t frames;                         ///< of play, without a display; 0: until it is closed
    const char *screenshot;                  ///< path of the picture; NULL: none
    const char *drawing;                     ///< path of the game's drawing; NULL: none
    struct hc_network_sim_config right_link; ///< each direction of the right client's
    const char *right_link_name;             ///< as `link_name`
};

/// Parses the arguments over the program's defaults. On --help and --version it prints and exits
/// with 0. On an error it names the option, the value and the allowed range, and exits with 2.
void hc_cl_options_parse(struct hc_cl_options *options, enum hc_cl_options_program program,
                         int argc, char **argv);
