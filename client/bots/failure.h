/// The sentences for people on why a client was not admitted, or lost its connection.
#pragma once

#include "client/bots/udp.h"
#include "hindcast/client.h"

/// Writes to `text` why an attempt to connect failed, by the attempt and its socket's counts.
/// `gave_up`: the client no longer tries; otherwise it was stopped. `expired`: its token has
/// expired by this machine's clock.
void hc_cl_failure_text(char *text, size_t size, const struct hc_client_attempt *attempt,
                        bool gave_up, bool expired, const struct hc_cl_udp_stats *udp);

/// Describes why a connection was lost; in static storage.
const char *hc_cl_failure_loss(enum hc_client_loss loss);
