/// A hindcastd that a program starts on 127.0.0.1, and ends for its report.
#pragma once

#include "client/programs/words.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/// The options of the server.
struct hc_cl_spawn_config {
    const char *program;                 ///< the name of this program, in messages
    const struct hc_cl_words *arguments; ///< more of the server's; NULL: none
    const char *game;                    ///< path of the plugin; NULL: the arena
    uint32_t clients;                    ///< --max-clients
    uint32_t snapshot_rate;              ///< Hz; 0: the server's default
    uint64_t seed;
    bool keeps_log; ///< keep the log, with a status each second, instead of printing it
};

/// A running server.
struct hc_cl_spawn {
    pid_t pid;
    FILE *log;  ///< NULL: the server prints it
    int output; ///< descriptor of its standard output
    int report; ///< descriptor of its JSON report
    char port[6];
};

/// Writes the path of hindcastd, beside this program's own file; false: it is not known.
bool hc_cl_spawn_path(char *path, size_t size);

/// Starts a server, and waits until it listens. It ends when this process ends. False: it did not
/// start, and `why` is a sentence; the server's own messages are on standard error.
bool hc_cl_spawn_start(struct hc_cl_spawn *server, const struct hc_cl_spawn_config *config,
                       char *why, size_t why_size);

/// Ends the server by SIGTERM and returns its report, which the caller releases. NULL: the server
/// wrote none or was killed, and `why` is a sentence.
json_t *hc_cl_spawn_stop(struct hc_cl_spawn *server, char *why, size_t why_size);

/// After hc_cl_spawn_stop: the status lines of the kept log as an array of objects, which the
/// caller releases; prints warnings and errors. NULL: no log was kept.
json_t *hc_cl_spawn_status(struct hc_cl_spawn *server);
