/// The command line of hindcastd.
#pragma once

#include "common/programs/plugin.h"
#include "hindcast/server.h"
#include "server/daemon/log.h"

#include <stdbool.h>
#include <stdint.h>

enum { HC_SV_WORKERS_MAX = 64 };

struct hc_sv_options {
    bool dev;             ///< random key, and tokens for every program on loopback
    const char *key_file; ///< NULL if `dev`
    uint64_t audience;
    uint16_t connects_per_address, clients_per_address; ///< 0: any number
    uint16_t players_per_client, spectators;
    uint32_t timeout_s, linger_s;
    uint32_t session_life_s; ///< 0: unlimited
    uint32_t remembered_users;
    uint32_t restart_s;  ///< that the clients are told on SIGUSR2
    const char *refused; ///< path of the refused users' file; NULL: none
    const char *bind;    ///< numeric address; "::" is every address, of IPv4 too
    uint16_t port;       ///< 0: any
    uint16_t tick_rate, clients, npcs;
    uint16_t matches, workers;   ///< [1, HC_MATCH_MAX], [1, HC_SV_WORKERS_MAX]
    uint16_t force_rewind_match; ///< the only match of `force_rewind`; 0: all
    uint32_t history;            ///< ticks
    uint32_t late_margin;        ///< ticks
    uint32_t force_rewind;       ///< ticks, at most `history`
    uint32_t lag_compensation_ms;
    uint16_t snapshot_rate; ///< Hz, at most `tick_rate`; 0: a snapshot at every tick
    uint32_t client_rate;   ///< bytes/s
    uint32_t view;          ///< units of the game; 0: everything
    bool view_given;        ///< otherwise it is the game's
    uint64_t seed;
    bool seed_given;
    uint32_t ticks;           ///< stop after this many; 0: never
    bool verdict;             ///< the exit status is that of the report's verdict
    uint64_t status_every_us; ///< interval of status lines; 0: none
    enum hc_sv_log_level level;
    enum hc_sv_log_format format;
    const char *json;        ///< path of the final report, "-" for standard output; NULL: none
    const char *game;        ///< path of the plugin; NULL: the arena
    struct hc_plugin plugin; ///< the loaded game
};

/// Parses the arguments over the defaults. On --help and --version it prints and exits with 0. On
/// an error it names the option, the value and the allowed range, and exits with 2.
void hc_sv_options_parse(struct hc_sv_options *options, int argc, char **argv);

/// Copies the options to the members of a server's configuration that they name.
void hc_sv_options_configure(const struct hc_sv_options *options, struct hc_server_config *config);
