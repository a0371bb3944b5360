/// The world as a client shows it, for bots: whole ticks, without corrections that fade.
#pragma once

#include "hindcast/client.h"

/// Writes the tick at which the own players are shown when the next input is sampled to `*tick`,
/// and sets `*presence` and `*states` to all entities as they are shown then; valid until the next
/// call for this client. The client has received a state, and is not light.
void hc_cl_shown_world(struct hc_client *client, hc_tick *tick, const uint8_t **presence,
                       const uint8_t **states);
