/// The same game played alone: a client's own predicted states against a plain simulation that is
/// given its stamped inputs at once, as if there were no network.
#pragma once

#include "tests/scenario/play.h"

struct alone;

/// For `client`, with one local player, from the tick at which it joins.
struct alone *alone_create(const struct play *play, unsigned client);

void alone_destroy(struct alone *alone);

/// Begins anew at the newest final tick, of which the server's state is taken over; what happened
/// before is no longer looked at, and the counts start at 0.
void alone_restart(struct alone *alone, const struct play *play);

/// Compares what the client holds now; to be called whenever it has changed.
void alone_compare(struct alone *alone, const struct play *play);

/// How many ticks were predicted; how many of those were wrong when they were first predicted; how
/// many looks were taken at them later, and how many showed a wrong state.
struct alone_count {
    uint64_t predicted, predicted_wrong, looks, looks_wrong;
    hc_tick first_wrong; ///< HC_NO_TICK: none
};
struct alone_count alone_count(const struct alone *alone);
