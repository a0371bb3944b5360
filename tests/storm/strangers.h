/// A stranger at the door of a server whose match is over: who shakes hands by PROTOCOL.md is
/// answered as it says, who does not is not let in. Then the server goes away and says so.
#pragma once

#include "proto/address.h"
#include "proto/datagram.h"

struct storm_match;

/// Lets the server say all that it has to say at `now_us`. The size of what it says to `to`, which
/// is in `out`; 0: nothing.
size_t storm_strangers_answer(struct storm_match *match, const struct hc_address *to,
                              uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);

/// Everything; the server is of no use afterwards.
void storm_strangers(struct storm_match *match);
