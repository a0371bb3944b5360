/// Clients by themselves, when a match is over: fresh ones are told what is not for them, are
/// accepted while memory runs short, and those that played say goodbye.
#pragma once

struct storm_match;

/// Everything; the clients are of no use afterwards.
void storm_newcomers(struct storm_match *match);
