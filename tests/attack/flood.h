/// HELLOs from addresses that are nobody's, as many a second as are wanted, to a port of loopback.
///
/// Fifty leave in one system call, which says that it is so many datagrams (UDP_SEGMENT); all of
/// the call have one source address in 127.0.0.0/8, and each has a nonce of its own. What reads
/// them gets them one by one, as from a network. Who sends them are processes of this one, and die
/// with it.
#pragma once

#include "tests/attack/attack.h"

#include <sys/types.h>

enum {
    FLOOD_SENDERS_MAX = 8,
    FLOOD_SENDER_RATE = 250000, ///< HELLOs a second for which one process is enough
};

struct flood {
    pid_t senders[FLOOD_SENDERS_MAX];
    unsigned count;
    int said; ///< what they tell when they have ended
};

/// What was done.
struct flood_told {
    uint64_t sent;    ///< HELLOs that the system took
    uint64_t refused; ///< those that it did not
    uint64_t cpu_us;  ///< processor time of the senders
};

/// Sends `rate` HELLOs a second to `port` for `us`. False: the attack has failed.
bool flood_begin(struct attack *attack, struct flood *flood, uint16_t port, uint32_t rate,
                 uint64_t us);

/// Waits for its end.
struct flood_told flood_end(struct flood *flood);
