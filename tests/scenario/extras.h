/// Extras: players without a client, who only fill the world.
///
/// Each has a slot, joins, and holds keys like everybody else, of which the server hears up to
/// three ticks ahead of its head or up to four behind it; it has no connection and is sent nothing.
/// So a crowd costs what its world does, and only those whose play is looked at need a client.
#pragma once

#include "tests/scenario/play.h"

/// Gives every player slot of `host` from `first` on to an extra, who joins at the next tick. The
/// places of the connections with the same numbers stay free: at most `first` clients may connect.
void extras_join(struct hc_sv_host *host, hc_player first);

/// Tells the host what the extras have done, in the hook host_ticked.
void extras_play(struct play *play);
