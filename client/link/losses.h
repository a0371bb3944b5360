/// The recent losses of a connection, for a display.
#pragma once

#include "proto/ack.h"

/// Only losses.c writes to it. Zeros: nothing was lost.
struct hc_cl_losses {
    uint32_t up_ppm; ///< The share of the newest 64 or so datagrams sent that were lost.
};

/// Counts datagrams of the client that were acked, and that were lost.
void hc_cl_losses_count(struct hc_cl_losses *losses, uint32_t acked, uint32_t lost);

/// The share of the server's newest 64 datagrams that have not arrived, in millionths. Those that
/// may still come are left out.
uint32_t hc_cl_losses_down_ppm(const struct hc_received *received);
