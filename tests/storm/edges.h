/// What no match comes to: messages whose numbers are at the ends of their ranges, datagrams with
/// hardly any room, a clock about its beginning, guesses of the referee, a server's cookie against
/// the standard and whom it lets in from one address; and a random history of a timeline alone,
/// tests/exact's, with what no server ever tells a client.
#pragma once

struct storm_match;

/// After some matches, each of which must not go on then.
void storm_edges_end(struct storm_match *match);
