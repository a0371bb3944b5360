/// Sends clients their DATA.
#pragma once

#include "server/state.h"

/// Writes the next DATA, ACCEPT or CLOSE that is due for a client, and its destination; returns its
/// size, 0: none is due. The outbox's cursor tells which client is the next.
size_t hc_sv_send_next(struct hc_server *server, struct hc_address *to,
                       uint8_t out[static HC_DATAGRAM_MAX], uint64_t now_us);
