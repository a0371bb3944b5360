/// What a rewind of the server may cost: exactly the steps that DESIGN names. An entity is stepped
/// again at a tick where its player's input, its own state or one of the same owner, or something
/// within reach of it has changed, by its old or its new state; the referee also where a reduction
/// has. All that is looked up in what the server held before and holds after, without its help.
///
/// Who reads which part of the referee is not seen from outside: where the referee has changed,
/// everybody may have been stepped.
#pragma once

struct storm_match;
struct storm_economy;

/// NULL unless this match is looked at.
struct storm_economy *storm_economy_create(const struct storm_match *match);
void storm_economy_destroy(struct storm_economy *economy);

/// The server is about to advance, and has advanced.
void storm_economy_advances(struct storm_match *match);
void storm_economy_ticked(struct storm_match *match);

/// While all is calm a client sends a datagram each tick, and hardly any more: from one call to the
/// other.
void storm_economy_count(struct storm_match *match);
void storm_economy_counted(struct storm_match *match);
