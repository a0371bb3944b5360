/// A hindcastd of one's own: started next to this program on 127.0.0.1, asked for its report, and
/// ended.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A server that runs.
struct hc_cl_spawn {
    pid_t pid;
    int output; ///< its standard output
    int report; ///< where its JSON report comes from
    char port[6];
};

/// Starts a server for `clients` clients, its world drawn from `seed`, and waits until it listens.
/// It ends with this process. False: it did not start, and `why` says why; what the server itself
/// had to say stands on standard error.
bool hc_cl_spawn_start(struct hc_cl_spawn *server, uint32_t clients, uint64_t seed, char *why,
                       size_t why_size);

/// Ends the server in good order and returns its report, which the caller releases; NULL, and `why`
/// says why, when it gave none or was killed.
json_t *hc_cl_spawn_stop(struct hc_cl_spawn *server, char *why, size_t why_size);
