/// Why a client was not admitted, for people.
#pragma once

#include "client/bots/udp.h"
#include "hindcast/client.h"

/// Writes to `text` why an attempt to connect failed, as far as the attempt and the counts of its
/// socket show it. `over`: the client has given up, and has not just been stopped. `expired`: by
/// this machine's clock its token has expired.
void hc_cl_failure_text(char *text, size_t size, const struct hc_client_attempt *attempt, bool over,
                        bool expired, const struct hc_cl_udp_stats *udp);
