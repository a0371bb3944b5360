/// Sends clients the names of the players that they see: what is sent and acked is hc_sv_names'.
#pragma once

#include "server/clients.h"
#include "server/replication/replicator.h"

/// Appends to the peer's next DATA the names that it lacks of the players that it sees, if it is
/// time for some.
void hc_sv_naming_put(const struct hc_sv_clients *clients,
                      const struct hc_sv_replicator *replicator, struct hc_sv_peer *peer,
                      struct hc_writer *body, uint64_t now_us);
