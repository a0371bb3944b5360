/// The look: the step before a client's snapshot. It fixes the tick that is shown, the units that
/// the client sees there, their values, and how far the inputs of their players may be sent. The
/// snapshot reads all of this from the client's slots.
#pragma once

#include "server/replication/client.h"
#include "server/replication/replicator.h"

/// T: the tick that a snapshot for the client shows now.
hc_tick hc_sv_look_tick(const struct hc_sv_replicator *replicator,
                        const struct hc_sv_client *client);

/// Looks at the present head for the client; after the timeline has advanced, and at most once at
/// each head.
void hc_sv_look(struct hc_sv_replicator *replicator, struct hc_sv_client *client);

/// Hides what is out of a client's sight at `tick`.
typedef void hc_sv_look_hide(void *context, const struct hc_sv_interest_sight *sight, hc_tick tick);

/// Calls `hide` with what the client's players see at each tick of [first, end), ascending, up to
/// one at which they see everything.
void hc_sv_look_walk(const struct hc_sv_client *client, const struct hc_timeline *timeline,
                     hc_tick first, hc_tick end, hc_sv_look_hide *hide, void *context);
