/// A port with several matches in a storm: clients that the placement gives to one of them, users
/// who are never admitted, and restarts to one world and back to matches.
///
/// A plan with `matches` is played with these checks in place of those of checkers/, which follow
/// one server:
///
///   - no user has sessions in two matches, and nobody who is barred has one;
///   - an honest client is denied for want of room only if no match has room for it, and else for
///     no reason but the user's own other connection;
///   - once links heal, an honest client that is not denied gets in within a second and its
///     handshake, plays until the end, and has the chain hash of its match;
///   - no snapshot differs from its hash;
///   - in the end all leave, and as many of the matches' places are free as before.
#pragma once

#include "tests/storm/match_internal.h"

struct storm_matches;

/// Whether the plan is of a port with matches.
bool storm_matches_planned(const struct storm_plan *plan);

/// Allocates the state. Then the match's simulation is created with hc_sim_config.matches of the
/// plan, and so many clients for each match.
void storm_matches_begin(struct storm_match *match);
void storm_matches_free(struct storm_match *match);

/// Clients that one match has room for: those of the plan, or enough for all clients of all.
uint16_t storm_matches_room(const struct storm_match *match);

/// The hooks of its simulation.
struct hc_sim_hooks storm_matches_hooks(void);

/// Sets up a client that differs from those of one server, before its first connect.
void storm_matches_set_up_client(struct storm_match *match, unsigned client);

/// The client begins to connect.
void storm_matches_connects(struct storm_match *match, unsigned client);

/// Whether the client tries again and again, and is never admitted.
bool storm_matches_barred(const struct storm_match *match, unsigned client);

/// The program of the matches says that it restarts, in every second case; and is started again.
void storm_matches_announce(struct storm_match *match);
void storm_matches_restart(struct storm_match *match);

/// Connects the honest clients that have given up.
void storm_matches_retry(struct storm_match *match);

/// The links have been healed for long: all honest clients play.
void storm_matches_check(struct storm_match *match);

/// All clients leave; no session is left, and others fill the matches; each has a place or is
/// denied one for want of room.
void storm_matches_leave(struct storm_match *match);
void storm_matches_fill(struct storm_match *match);
void storm_matches_end(struct storm_match *match);
