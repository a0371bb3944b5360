/// What cannot be had: configurations out of their ranges, and memory that runs short.
#pragma once

#include <stddef.h>

struct storm_match;

/// Memory of which one block cannot be had.
struct storm_purse {
    unsigned without; ///< which, from 0 on
    unsigned asked;   ///< blocks asked for
    int held;
};

/// For struct hc_allocator, whose context is the purse.
void *storm_purse_spend(void *context, size_t bytes);
void storm_purse_give_back(void *context, void *block);

/// After some matches, each of which must not go on then: creates cores that must not come to be.
void storm_limits_end(struct storm_match *match);
