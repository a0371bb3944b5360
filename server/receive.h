/// Receives the DATA of clients.
#pragma once

#include "server/state.h"

/// Takes a DATA of a client. HC_OK or the cause of the refusal; then nothing changed.
enum hc_status hc_sv_receive_data(struct hc_server *server, const struct hc_address *from,
                                  const uint8_t *bytes, size_t size, uint64_t now_us);
