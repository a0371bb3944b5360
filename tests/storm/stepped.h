/// Whether a tick follows from the one before it, also where it is not final yet: the server's last
/// word is looked at by truth.h, but clients are shown what it thinks until then, and predict.
///
/// And what that has cost: a change spreads until it dies out, and nothing but changes does.
#pragma once

#include <stdint.h>

struct storm_match;

/// What the server's timeline had counted when it was looked at last.
struct storm_steps {
    uint64_t late, steps, ticks, changed;
};

/// The server has advanced: what was stepped again is what late inputs explain. In a quarter of all
/// matches one tick, of those that were simulated again, must be what a plain step makes of the
/// tick before.
void storm_stepped_host(struct storm_match *match);

/// The same for a client that has been rolled back, of the ticks after its newest snapshot's.
void storm_stepped_client(struct storm_match *match, unsigned client);

/// Frees what the looking took.
void storm_stepped_free(struct storm_match *match);
