/// Players without a client, which fill the world of a scenario.
///
/// Each has a slot, joins and presses keys. The server receives its inputs up to three ticks ahead
/// of the head or up to four behind it. It has no connection and is sent nothing, so a crowd costs
/// no more than its world; only players whose clients a test observes need a client.
#pragma once

#include "tests/scenario/scenario.h"

/// Gives every player slot of `host` from `first` on to a player without a client, which joins at
/// the next tick. At most `first` clients may connect, because the other peers stay free.
void clientless_join(struct hc_server *host, hc_player first);

/// The hook host_ticked that puts their inputs into the host's timeline.
void clientless_play(void *context, struct hc_sim *sim);
