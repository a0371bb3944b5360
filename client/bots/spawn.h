/// A hindcastd that the load test starts on 127.0.0.1, and ends for its report.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A running server.
struct hc_cl_spawn {
    pid_t pid;
    int output; ///< descriptor of its standard output
    int report; ///< descriptor of its JSON report
    char port[6];
};

/// Starts a server of the plugin `game` (NULL: the arena) for `clients` clients with this `seed`,
/// and waits until it listens. It ends when this process ends. False: it did not start, and `why`
/// is a sentence; the server's own messages are on standard error.
bool hc_cl_spawn_start(struct hc_cl_spawn *server, const char *game, uint32_t clients,
                       uint64_t seed, char *why, size_t why_size);

/// Ends the server by SIGTERM and returns its report, which the caller releases. NULL: the server
/// wrote none or was killed, and `why` is a sentence.
json_t *hc_cl_spawn_stop(struct hc_cl_spawn *server, char *why, size_t why_size);
