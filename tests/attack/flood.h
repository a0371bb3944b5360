/// Floods a port of loopback with datagrams from spoofed addresses, at a given rate.
///
/// One system call sends fifty datagrams (UDP_SEGMENT) from one source address in 127.0.0.0/8, each
/// with a nonce of its own; the receiver gets them one by one. Child processes send them, and end
/// with this one.
#pragma once

#include "tests/attack/attack.h"

#include <sys/types.h>

enum {
    FLOOD_SENDERS_MAX = 8,
    FLOOD_SENDER_RATE = 250000, ///< datagrams a second for which one process is enough
};

enum flood_kind {
    FLOOD_HELLO,
    FLOOD_DATA, ///< short, of connections that do not exist
};

struct flood {
    pid_t senders[FLOOD_SENDERS_MAX];
    unsigned count;
    int results; ///< a pipe with each sender's result
};

/// The datagrams that were sent, and their cost.
struct flood_result {
    uint64_t sent;    ///< datagrams that the system took
    uint64_t refused; ///< datagrams that the system did not take
    uint64_t cpu_us;  ///< processor time of the senders
};

/// Sends `rate` datagrams a second to `port` for `us`. False: the attack has failed.
bool flood_begin(struct attack *attack, struct flood *flood, enum flood_kind kind, uint16_t port,
                 uint32_t rate, uint64_t us);

/// Waits for its end, and adds up the results.
struct flood_result flood_end(struct flood *flood);
