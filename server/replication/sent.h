/// The world of a client: the entities in its view, as it was sent them.
#pragma once

#include "hindcast/server.h"
#include "server/replication/client.h"

/// See hc_server_list_sent.
uint32_t hc_sv_sent_list(const struct hc_sv_client *client, struct hc_server_sent *out,
                         uint32_t most);
