/// The server's input slots, looked at before and after every advance: what came, came late, was
/// given up, came too late or was lost is counted here too.
///
/// Looking at all slots is dear: in a share of the matches.
#pragma once

#include "server/host.h"

struct storm_match;
struct storm_conn;
struct storm_slots;

/// NULL when this match is not one of those that are looked at.
struct storm_slots *storm_slots_create(const struct storm_match *match);
void storm_slots_destroy(struct storm_slots *slots);

/// The server is about to advance, or has advanced its head.
void storm_slots_advances(struct storm_match *match);
void storm_slots_ticked(struct storm_match *match);

/// An honest client sends inputs of ticks [first, first + count) in its DATA `seq`.
void storm_slots_stamped(struct storm_match *match, const struct storm_conn *conn, uint32_t seq,
                         hc_tick first, uint32_t count);

/// The server sends a DATA to the client in this seat, and so says what it has had from it.
void storm_slots_host_sent(struct storm_match *match, unsigned client, const uint8_t *bytes,
                           size_t size);

/// The match ends.
void storm_slots_end(struct storm_match *match);
