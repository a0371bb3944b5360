/// An observer that records the newest datagrams of each direction.
#pragma once

#include "tests/sim/sim.h"

enum { HC_SIM_TAPE_MAX = 1024 };

/// A datagram that was sent.
struct hc_sim_taped {
    unsigned client; ///< of its sender or its receiver
    uint64_t sent_us;
    size_t size;                     ///< 0: none
    uint8_t opened[HC_DATAGRAM_MAX]; ///< as it was before it was sealed
    uint8_t sealed[HC_DATAGRAM_MAX]; ///< as it was on the wire
};

/// Two rings. The n-th datagram, from 0 on, is at n % `length`.
struct hc_sim_tape {
    unsigned length; ///< of each ring, [1, HC_SIM_TAPE_MAX]
    unsigned ups, downs;
    struct hc_sim_taped up[HC_SIM_TAPE_MAX], down[HC_SIM_TAPE_MAX];
};

/// Makes the tape empty, and records on it from now on.
void hc_sim_tape_begin(struct hc_sim_tape *tape, struct hc_sim *sim, unsigned length);
